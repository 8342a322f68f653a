#include "session/internal.h"

void session_end(void) { session_send(EVENT_END, &(EventEnd){session_now_ns()}); }
