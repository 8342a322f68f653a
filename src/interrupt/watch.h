// watch.c inside interrupt/: see there.
#ifndef WG_INTERRUPT_WATCH_H
#define WG_INTERRUPT_WATCH_H

#include "base/base.h"

typedef struct HandlerWatch {
  const char *name, *kernel;
  const char *file;  // of the first call; NULL: not known
  unsigned line;
  size_t count;       // callers
  uint64_t limit_ns;  // 0: no limit
  uint64_t since;
  bool said;
  struct HandlerWatch *next;
} HandlerWatch;

void handler_begins(HandlerWatch *w);
void handler_ends(HandlerWatch *w);

#endif
