// Asynchronous copies to and from memory that is not page-locked. The driver makes them
// synchronous, or copies the memory first: the program gains nothing, and what it believes to
// happen in the background does not. Where it waits for the stream at once it knows that.
#include "session/internal.h"

typedef struct Pending {
  bool is;
  const char *text;
  uint64_t stack;
  const void *stream;
} Pending;
static _Thread_local Pending pending;

static void say(const Pending *p) {
  session_finding(&(SessionFinding){.kind = "api-advice", .text = p->text, .stack = p->stack});
}

void session_pageable_check(const SessionCopy *c, bool to, bool from) {
  if (!c->async || c->captured || (!to && !from)) return;
  pending = (Pending){true,
                      to ? "asynchronous copy to pageable host memory: it does not run in the "
                           "background (cudaMallocHost or cudaHostRegister make it so)"
                         : "asynchronous copy from pageable host memory: it does not run in the "
                           "background (cudaMallocHost or cudaHostRegister make it so)",
                      session_stack(), c->stream};
}

void session_pageable_other(void) {
  if (__builtin_expect(!pending.is, 1)) return;
  pending.is = false;
  say(&pending);
}

void session_synchronised(const void *stream) {
  session_order_host_saw(stream);
  if (pending.is && pending.stream == stream) pending.is = false;
}

void session_synchronised_all(void) {
  session_order_host_saw_all();
  pending.is = false;
}
