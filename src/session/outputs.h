// Shared by outputs.c, order.c and those who tell them of writes.
#ifndef WG_SESSION_OUTPUTS_H
#define WG_SESSION_OUTPUTS_H

#include "base/dump_option.h"
#include "probe/hash_abi.h"
#include "session/internal.h"

// --- order.c: a place in the order of a stream ---
typedef struct SessionMoment {
  uint32_t slot, index;
} SessionMoment;
bool session_wants_order(void);
bool session_order_concurrent(void);
// its next operation; false: too many streams
bool session_order_step(const void *stream, SessionMoment *out);
bool session_order_now(const void *stream, SessionMoment *out);  // its last one
// it comes before the last operation of that stream
bool session_order_before(SessionMoment m, const void *stream);

// --- outputs.c ---
void session_outputs_variable(const char *name, uint64_t base);
uint64_t session_outputs_variable_at(const char *name);  // 0: there is none
void session_outputs_copy(const SessionCopy *c);

// --- reach.c: the addresses that its stores lie between; false: not known ---
bool session_reach(const WovenKernel *code, const WeaveWrite *w, const SessionParams *p,
                   const SessionLaunch *l, uint64_t *from, uint64_t *to);

// --- dump.c ---
const DumpOption *session_dump_option(void);         // NULL: nothing is asked for
bool session_dump_selects(const SessionOutputs *o);  // counts: once for each launch
void session_dump_end(void);                         // the process ends

#endif
