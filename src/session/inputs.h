// --record=inputs, inside session/.
#ifndef WG_SESSION_INPUTS_H
#define WG_SESSION_INPUTS_H

#include "session/internal.h"

enum { SESSION_INPUTS_ALL = 1000000 };     // MB a second
void session_inputs_launched(void);
void session_inputs_copy(const SessionCopy *c);          // it is asked for: what it writes is not what was kept

#endif
