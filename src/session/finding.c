// Sends findings of the host to the command.
#include "session/internal.h"

void session_finding(const SessionFinding *f) {
  if (!session_tools()) return;
  const Kind *kind = kind_named(f->kind);
  CHECK(kind);
  // a launch has its stack already
  uint64_t stack = f->stack                   ? f->stack
                   : f->launch || f->no_stack ? 0
                                              : session_stack(),
           places[64 * 4];
  uint32_t n = MIN(f->nplaces, 64u);
  pthread_mutex_lock(&session_lock);
  if (f->kernel) session_announce_kernel(f->kernel);
  session_places(f->places, n, places);
  bool sent = session_send(
      EVENT_FINDING,
      &(EventFinding){
          kind->number, f->text, f->kernel ? f->kernel->id : 0, f->launch,
          (f->has_thread ? FINDING_HAS_THREAD : 0) | (f->has_address ? FINDING_HAS_ADDRESS : 0),
          f->block[0], f->block[1], f->block[2], f->thread[0], f->thread[1], f->thread[2],
          f->address, f->size, stack, f->related, f->other_title, f->other_stack, places, n * 4});
  pthread_mutex_unlock(&session_lock);
  if (!sent) log_error("%s: %s", f->kind, f->text);
}

bool session_assertion(SessionKernel *k, uint32_t launch, const SessionAssertion *a) {
  SitePlace place = {.file = a->file, .line = a->line};
  SessionFinding f = {.kind = "assert",
                      .text = a->text,
                      .kernel = k,
                      .launch = launch,
                      .places = &place,
                      .nplaces = a->file ? 1 : 0,
                      .has_thread = true};
  memcpy(f.block, a->block, sizeof f.block);
  memcpy(f.thread, a->thread, sizeof f.thread);
  session_finding(&f);
  return session_tools() != 0;
}
