// Shared by outputs.c and those who tell it of writes.
#ifndef WG_SESSION_OUTPUTS_H
#define WG_SESSION_OUTPUTS_H

#include "base/dump_option.h"
#include "probe/hash_abi.h"
#include "session/internal.h"
#include "session/order.h"

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
