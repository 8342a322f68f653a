// Declarations that written_buffers.c, hash_buffers.c and dump_buffers.c share.
#ifndef WG_SESSION_WRITTEN_BUFFERS_H
#define WG_SESSION_WRITTEN_BUFFERS_H

#include "base/dump_option.h"
#include "probe/hash_abi.h"
#include "session/internal.h"
#include "session/order.h"

// --- written_buffers.c ---
enum { OUTPUTS_MOST = 512 };  // buffers of one launch
// A kernel of ours can read this memory. certain: the launch stores through a pointer to it; else
// it may be mapped without access.
bool session_outputs_readable(const HeapRange *r, int device, bool certain);
void session_outputs_variable(const char *name, uint64_t base);
uint64_t session_outputs_variable_at(const char *name);  // 0: there is none
void session_outputs_copy(const SessionCopy *c);

// --- reach.c: the addresses that its stores lie between; false: not known ---
bool session_reach(const WovenKernel *code, const WeaveWrite *w, const SessionParams *p,
                   const SessionLaunch *l, uint64_t *from, uint64_t *to);

// --- hash_buffers.c ---
void session_hash_ready(const SessionOutputs *o, SessionIsThere *is_there);

// --- dump_buffers.c ---
const DumpOption *session_dump_option(void);  // NULL: no option was given
void session_dump_choose(SessionOutputs *o);  // fills o->dumped, if the launch is chosen
// what parameters point to: buffers that are only read have a type, too
void session_dump_note_pointers(SessionOutputs *o, const SessionParams *p, SessionParamInfo *info,
                                void *user);
void session_dump_end(void);  // the process ends

#endif
