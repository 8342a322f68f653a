// order.c: the happens-before order of launches and copies, for files that compare or record them.
#ifndef WG_SESSION_ORDER_H
#define WG_SESSION_ORDER_H

#include "session/internal.h"

bool session_order_concurrent(void);  // there are streams that do not wait for each other
bool session_order_host_waits(const SessionCopy *c);

// --- a place in the order of a stream ---
typedef struct SessionMoment {
  uint32_t slot, index;
} SessionMoment;
// adds an operation to the stream; false: too many streams
bool session_order_step(const void *stream, SessionMoment *out);
bool session_order_now(const void *stream, SessionMoment *out);  // its last operation
// m happens before the last operation of that stream
bool session_order_before(SessionMoment m, const void *stream);

// --- steps: launches, copies and sets that have numbers ---
enum { STEP_STREAMS = 64 };
typedef struct StepHow {
  bool host_knows;  // the host waits for it, or can learn that it is done before the graph ends
  bool overlaps;    // it may begin before the stream's previous launch has ended
  bool in_graph;    // the stream's next operation does not come after it yet
} StepHow;
// Notes a step. after: numbers of the steps that it comes directly after. true: it comes after all
// steps noted so far. beside: the step that it may overlap.
bool session_order_note(const void *stream, uint32_t step, StepHow how,
                        uint32_t after[STEP_STREAMS], uint32_t *n, uint32_t *beside);
void session_order_graph(const void *stream, uint32_t last);  // last: the graph's last step

// --- launches and copies that a tool has numbered: finds the unordered ones ---
enum { SESSION_UNORDERED = 7 };
typedef struct SessionUnordered {
  uint32_t n, number[SESSION_UNORDERED];
  bool one_thread;  // all launches were made by one thread
} SessionUnordered;
void session_order_uses(const void *stream);  // a launch is about to be made on it
// number 0: later calls do not find it. overlaps: it may begin before the stream's previous launch
// has ended. tells_host: the host may see its effects before it ends.
void session_order_launch(SessionDevice *d, const void *stream, uint32_t number, bool overlaps,
                          bool tells_host, SessionUnordered *out);
void session_order_copy(const SessionCopy *c);  // the program makes the call
// gives the calling thread's last session_order_copy a number
void session_order_number_copy(SessionDevice *d, uint32_t number, SessionUnordered *out);
void session_order_forget(SessionDevice *d, uint32_t from, uint32_t to);  // numbers of the device

#endif
