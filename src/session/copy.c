#include "session/internal.h"

void session_copy_check(const SessionCopy *c) {}

void session_copy_runs(SessionDevice *d, const SessionCopy *c) {}
