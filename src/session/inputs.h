// --record=inputs, inside session/.
#ifndef WG_SESSION_INPUTS_H
#define WG_SESSION_INPUTS_H

#include "session/internal.h"

enum { SESSION_INPUTS_ALL = 1000000 };  // MB a second
void session_inputs_launched(void);
// it is asked for: what it writes is not what was kept
void session_inputs_copy(const SessionCopy *c);
// it has been made, and session_inputs_on_host said so
void session_inputs_contents(const SessionCopy *c);

// --- inputs_pages.c ---
// what it brought; part->forget: pages that are not as they were kept
void session_pages_told(const SessionCopy *c, const SessionPart *part);

#endif
