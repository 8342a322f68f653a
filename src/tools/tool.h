// A tool's part in the program, in addition to its weaving (weave/pass.h). The session calls these
// functions for the tools that run: those that --tool names, and those whose options request it
// (Tool.configure). Each may be NULL. A tool with such a part defines `const Tool tool_<name>` in
// src/tools/<name>/host.c.
#ifndef WG_TOOLS_TOOL_H
#define WG_TOOLS_TOOL_H

#include "session/session.h"

typedef struct ToolDevice {  // a context, as one tool sees it
  SessionDevice *device;
  const SessionDeviceOps *ops;
  void *user;  // for access to its memory
  int ordinal;
  void *state;  // Tool.device_bytes bytes of the tool's own, zero at first
} ToolDevice;

typedef struct ToolLaunch {
  SessionKernel *kernel;
  const SessionParams *params;
  WgLaunch *record;    // the part of the launch record that all kernels have
  void *whole_record;  // all of it: tools have reserved room of their own after that part
  // NULL: a launch of a graph that may run more than once with this record
  const SessionLaunch *shape;
  bool refreshed;  // a captured launch whose graph is launched (again)
  // The tool's number for it, by which SessionBeside names it to other nodes of its graph; 0: none
  uint32_t number;
} ToolLaunch;

typedef struct ToolSetup {  // for Tool.configure
  const struct Options *options;
  bool named;      // --tool names it
  bool keeps_run;  // there is a run file
  WeavePlan *plan;
  unsigned wants;  // additional SESSION_WANTS_…
  bool runs;       // it takes part although --tool does not name it
} ToolSetup;

typedef struct Tool {
  size_t device_bytes;
  unsigned wants;  // SESSION_WANTS_…: events that have a cost, requested if --tool names the tool
  // Reads the tool's options, once, before any other function of the tool is called.
  void (*configure)(ToolSetup *s);
  // its counts grow so fast that threads would contend for one word each (WgSpread)
  bool spreads_counts;
  bool only_counts;  // it sends no findings
  bool patches;      // src/tools/<name>/patch.h looks at kernels that are machine code only
  // --- kernels that are machine code only, without patches ---
  // Why the tool cannot check launches of a kernel with these stores; NULL: it can.
  const char *(*refuses_closed)(SessionKernel *k, const SassStores *stores);
  // It only compares such launches with others, without their inner accesses: they do not count as
  // checked.
  bool only_compares_closed;
  void (*closed_begins)(ToolDevice *d, const SessionClosedLaunch *l);
  void (*closed_ends)(ToolDevice *d, const SessionClosedLaunch *l);
  void (*contents_kept)(uint64_t base);  // before allocated
  void (*launch_unseen)(void);           // any other launch: it may have written anywhere
  // --- devices and launches ---
  void (*device_open)(ToolDevice *d);  // before the first launch. Without session_lock
  // Called for the first checked launch, to allocate device memory for the tool's data there. May
  // change the fields that kernels find. With session_lock held
  void (*reports_open)(ToolDevice *d, const WgChannel *channel, WgReports *reports);
  void (*reports_ready)(ToolDevice *d, const WgChannel *channel);  // afterwards, without it
  // A launch that is to be checked is about to begin: fills the tool's fields of the launch record.
  // false: it cannot be checked.
  bool (*launch)(ToolDevice *d, ToolLaunch *l);
  // A captured launch runs (again), with this record.
  void (*captured_launch)(ToolDevice *d, ToolLaunch *l);
  // The launch is about to get the table of allocations, which the tool may change. shape: as in
  // ToolLaunch. Not for a launch that is being captured; again each time its graph is launched.
  void (*before_table)(ToolDevice *d, SessionKernel *k, const SessionLaunch *shape);
  // … and has got it: fills the tool's facts. Also for a launch that is being captured, which has
  // no table.
  void (*facts)(ToolDevice *d, ToolLaunch *l);
  // Whether a launch with this record needs no check, if the tool runs alone. may_settle: some
  // launches of the kernel may need none.
  bool (*is_settled)(SessionKernel *k, const void *record);
  bool (*may_settle)(const WovenKernel *code);
  void (*launch_done)(ToolDevice *d, const WgLaunch *record);  // it has ended, or never will begin
  bool (*leaves_out)(SessionKernel *k);        // the tool runs alone and need not check this launch
  void (*launch_taken)(const SessionCall *c);  // by the driver, after session_launch_tell
  void (*launch_asked)(const SessionLaunch *l);     // the program makes the call
  void (*launch_refused)(const SessionRefusal *r);  // by the driver
  // The device ended a launch: returns the kind of its finding; NULL: it is none of this tool's
  const char *(*fault_kind)(const SessionFault *f);
  void (*launch_ran)(uint32_t launch, const SessionTimes *t);
  void (*copy_ran)(uint64_t timed_as, const SessionTimes *t);
  void (*graph_launched)(const void *stream);
  void (*node_ran)(const SessionNode *n);  // of a graph
  void (*stalled)(const SessionStall *s);
  // These launches have ended, with all their writes; n 0: all so far.
  void (*launches_ended)(ToolDevice *d, const uint64_t *launches, uint32_t n);
  // Reads data that kernels of a module left in device memory, before it is unloaded. With
  // session_lock held.
  void (*collect)(ToolDevice *d, SessionModule *m);
  void (*device_closing)(ToolDevice *d);  // its memory is about to go. Without session_lock
  // alive: its memory can still be read and freed. With session_lock held
  void (*device_close)(ToolDevice *d, bool alive);
  // --- memory before a launch ---
  // The memory that the device must search; NULL: none. inputs_told: the command knows the launch.
  SessionInputs *(*inputs)(const SessionCall *c);
  void (*inputs_told)(const SessionInputs *in);
  // The launch begins now, and device memory is the process's own.
  void (*inputs_ready)(const SessionInputs *in, SessionIsThere *is_there);
  void (*unknown_writes)(const void *stream);  // work in it may write anywhere
  // --- contents of device memory, for SESSION_WANTS_CONTENTS ---
  void (*memory_event)(const SessionMemoryEvent *e);
  void (*unchecked_writes)(SessionDevice *d, const void *stream);
  void (*copy_runs)(SessionDevice *d, const SessionCopy *c);
  void (*launch_begins)(SessionDevice *d, const void *stream, SessionRun *r);
  void (*launch_ends)(SessionDevice *d, const void *stream, SessionRun *r);
  bool (*sees_graph_writes)(SessionKernel *k);           // session_sees_graph_writes
  bool (*is_initialised)(uint64_t address, uint64_t n);  // wg_is_initialized of the host
  // --- device memory of the tool ---
  unsigned memory_percent;                // of the program's allocations: the tool's need
  bool (*release_memory)(ToolDevice *d);  // session_release_memory
  // --- memory ---
  void (*allocated)(uint64_t base, uint64_t size, const char *name);  // the command knows it
  // in_order: freed in stream order, and no wait for the stream has ended yet
  void (*freed)(uint64_t base, bool in_order);
  void (*pitched)(uint64_t base, uint64_t pitch);  // after allocated: the distance of its rows
  void (*variable_loaded)(const SessionVariable *v);
  void (*interrupt_served)(const SessionInterrupt *i);
  void (*annotated)(SessionAnnotation what, uint64_t address, uint64_t bytes);
  void (*texture_asked)(const char *call, const struct CUDA_RESOURCE_DESC *d);
  // --- frees that are wrong (session.h) ---
  void (*invalid_free)(const char *call, uint64_t pointer, unsigned kinds);
  bool (*second_free)(const char *call, uint64_t pointer, unsigned kinds);
  void (*handle_created)(const void *handle);  // of an object without an address
  void (*handle_gone)(const void *handle);
  void (*invalid_handle)(const char *call, const void *handle);
  // --- freed memory that is not given back yet (session.h), for SESSION_WANTS_QUARANTINE ---
  void (*quarantine_open)(int device, uint64_t device_memory);
  bool (*quarantine_hold)(const SessionHeld *h, SessionRelease *release);
  bool (*quarantine_release)(int device, const void *owner, SessionRelease *release);
  uint64_t (*quarantine_bytes)(int device);
  // --- handles, errors and waits (session.h) ---
  void (*destroyed)(const char *what, const void *handle);  // SESSION_…_GONE; before it is done
  void (*created)(const void *handle);
  bool (*used)(const char *what, const void *handle);  // true: it was destroyed before; reported
  void (*error_raised)(const char *text);              // an error that a call cannot return
  void (*errors_seen)(void);                           // the thread has asked for its errors
  void (*stream_created)(const void *stream, bool non_blocking);
  // The program waits for a stream, or for all of them.
  void (*synchronised)(const void *stream, bool all);
  void (*wait_ended)(const SessionHostWait *w);  // … and goes on; also after waits for events
  void (*range_ended)(const SessionRange *r);    // on the thread that ends it
  void (*process_ends)(void);
  // --- copies and sets ---
  void (*copy_asked)(const SessionCopy *c);       // the program makes the call
  void (*copy_refused)(const SessionCopy *c);     // the driver did, after copy_asked
  bool (*reads_source)(const SessionCopy *c);     // on the host: SessionCopy.on_host
  uint32_t (*copy_number)(const SessionCopy *c);  // SessionCopy.step; after copy_asked
  void (*copy_taken)(const SessionCopy *c);       // by the driver
  void (*copy_contents)(const SessionCopy *c);    // its source memory now holds the bytes it copies
  // Copies to the host, after they have finished: the host's memory is as they left it.
  bool (*wants_copy)(const SessionCopy *c);
  void (*copied)(const SessionCopy *c);
  // --- calls of CUDA's mathematical libraries (session.h) ---
  void (*library_asked)(LibraryCall *c, SessionDevice *on);
  void (*library_found)(const LibraryCall *c, const Operand *o, uint32_t n);
  void (*library_begins)(const LibraryCall *c, const Operand *o, uint32_t n);
  void (*library_wrong)(const LibraryCall *c, const char *why);
  void (*library_ran)(const LibraryCall *c);
  void (*library_done)(const LibraryCall *c);
  void (*library_refused)(const char *call, const char *why);
  // --- order (session.h) ---
  uint64_t (*copy_tag)(void);  // of the calling thread's last copy_asked; 0: none
  void (*copy_begins)(uint64_t tag);
  void (*host_waited)(void);
  uint64_t (*graph_copy)(ToolDevice *d, const SessionCopy *c, const SessionBeside *beside,
                         uint32_t *number);
  void (*graph_copy_ran)(SessionDevice *d, const SessionCopy *c);
  void (*graph_copies_unordered)(const SessionCopy *a, const SessionCopy *b);
  // --- graphs: the nodes of a graph that is launched, in order. Calls between two calls of
  // graph_node belong to the first; child graphs are nested. ---
  void (*graph_begin)(const SessionBranches *b, uint32_t nodes, const void *stream);
  void (*graph_node)(uint32_t place);
  void (*graph_end)(void);
  // --- modules ---
  bool (*wants_code)(const SessionModule *m);
  void (*code)(const SessionModule *m, const SessionCode *units, uint32_t n);
  // Functions of its device-side code that the virtual device runs as C. Called for all tools.
  void (*add_natives)(void);
  // --- hangs ---
  // The watchdog looks for launches without progress for `patience` nanoseconds, and reports them.
  // Returns true if the place of some waiting warp is known.
  bool (*find_stuck)(uint64_t now, uint64_t patience, bool asked);
} Tool;

// host.c; NULL: the tool has nothing to do inside the program
extern const Tool *const tool_table[TOOL_COUNT_];

// The tool with this ToolId if it runs and has something to do inside the program, else NULL.
static inline const Tool *tool_running(unsigned t) {
  return session_running() >> t & 1 ? tool_table[t] : NULL;
}
// for each of them: t is its ToolId
#define EACH_RUNNING_TOOL(t, tool) \
  for (unsigned left_ = session_running(); left_; left_ &= left_ - 1) \
    for (unsigned t = (unsigned)__builtin_ctz(left_), once_ = 1; once_; once_ = 0) \
      for (const Tool *tool = tool_table[t]; tool; tool = NULL)

#endif
