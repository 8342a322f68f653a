// --record: what the files of this folder share.
#ifndef WG_SESSION_TRACE_H
#define WG_SESSION_TRACE_H

#include "tools/record/abi.h"
#include "session/internal.h"

typedef struct TraceRings {  // of one context
  ChannelTrace rings;
  uint64_t memory;  // device memory: a WgTrace and the heads
  WgTrace trace;
  uint32_t generation;  // of the process: a forked child must not use them
  uint32_t buffers;     // version of those that the device knows
  bool open, failed;
} TraceRings;
// Fills what a launch needs to be recorded; nothing where it is not to be. Without the lock.
void session_trace_launch(TraceRings *t, const SessionDeviceOps *ops, void *user, int ordinal,
                          SessionKernel *k, const SessionParams *params, WgLaunch *r, void *record);
// These launches of the context have ended (n 0: all have): tells the command how far it must read
// to have all of their records. Without the lock.
void session_trace_ended(TraceRings *t, const SessionDeviceOps *ops, void *user,
                         const uint64_t *launches, uint32_t n);
// with the lock held
void session_trace_close(TraceRings *t, const SessionDeviceOps *ops, void *user, bool alive);
// --- trace_buffers.c: --buffer ---
void session_buffer_comes(uint64_t base, uint64_t size, const char *name);  // behind its event
void session_buffer_goes(uint64_t base);
void session_buffers_choose(WgTrace *t);
uint32_t session_buffers_version(void);  // changes with what is chosen; 0: everything is
// --- trace_values.c ---
// the word of facts of a launch
uint32_t session_trace_values(const WovenKernel *code, const SessionParams *params);
void session_trace_unknown(void);  // something wrote to device memory that is not recorded
// --- tensor.c ---
// describes them in the record; false: one is not known
bool session_tensor_maps(const WovenKernel *code, const SessionParams *params, void *record);
// --- launch.c ---
uint32_t session_launch_number(const SessionLaunch *l);  // of one execution of a captured launch
// --- trace_step.c ---
// a captured launch runs: the number of this execution; 0: it is not known
uint32_t session_step_again(uint32_t captured);
// pages of memory as they are before the next launch
void session_step_inputs(const SessionInputs *in);
// what a copy from the host brought, as contents of its step
void session_step_rows(const SessionCopy *c);
uint32_t session_step_last(void);
// --- order.c ---
enum { STEP_STREAMS = 64 };
// the host waits for it, or may hear of it; it may begin before the launch before it has ended
typedef struct StepHow {
  bool host_knows, overlaps, in_graph;
} StepHow;
bool session_order_host_waits(const SessionCopy *c);
// Steps it comes after directly, by number; true: after everything that was noted. beside: the one
// it overlaps. in_graph: what comes next in the stream does not come after it yet.
bool session_order_note(const void *stream, uint32_t step, StepHow how,
                        uint32_t after[STEP_STREAMS], uint32_t *n, uint32_t *beside);
// a graph of which this is the last step has been noted
void session_order_graph(const void *stream, uint32_t last);
// --- step_order.c ---
void session_step_ordered(uint32_t step, const void *stream, StepHow how);  // in front of its event
// What of the calling thread's last launch is recorded; as it stands in the run file.
// BUFFERS: all that it does with those that --buffer names
typedef enum { RECORDED_IN_PART, RECORDED_ALL, RECORDED_BUFFERS } Recorded;
void session_trace_marks(Recorded recorded);

#endif
