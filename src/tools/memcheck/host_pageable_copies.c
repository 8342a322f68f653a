// Advice about asynchronous copies to and from pageable host memory: the driver makes them
// synchronous or stages the data first, so nothing happens in the background. A program that waits
// for the stream right after the copy loses nothing and gets no advice.
#include "tools/memcheck/host.h"

typedef struct Pending {
  bool exists;
  const char *text;
  uint64_t stack;
  const void *stream;
} Pending;
static _Thread_local Pending pending;  // advice about the thread's last copy

void pageable_copy(const SessionCopy *c, bool to, bool from) {
  // OpenCL has no other host memory
  if (!c->async || c->captured || (!to && !from) || session_api() == API_OPENCL) return;
  pending = (Pending){true,
                      to ? "asynchronous copy to pageable host memory: it does not run in the "
                           "background (cudaMallocHost or cudaHostRegister make it so)"
                         : "asynchronous copy from pageable host memory: it does not run in the "
                           "background (cudaMallocHost or cudaHostRegister make it so)",
                      session_stack(), c->stream};
}

void pageable_next_copy(void) {
  if (__builtin_expect(!pending.exists, 1)) return;
  pending.exists = false;
  session_finding(
      &(SessionFinding){.kind = "api-advice", .text = pending.text, .stack = pending.stack});
}

void pageable_launch(const SessionLaunch *l) { pageable_next_copy(); }

void pageable_synchronised(const void *stream, bool all) {
  if (all || pending.stream == stream) pending.exists = false;
}
