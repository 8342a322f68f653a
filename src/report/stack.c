// The host stack of a finding, without the frames outside of main.
#include "report/internal.h"

const RunFrame *report_stack(Run *r, RunStack *s, uint32_t *n) {
  *n = 0;
  if (!s) return NULL;
  const RunFrame *frames = run_stack_frames(r, s, n);
  for (uint32_t i = 0; i < *n; i++)
    if (frames[i].function && strcmp(frames[i].function, "main") == 0) *n = i + 1;
  return frames;
}

RunStack *report_host_stack(const RunFinding *f) {
  return f->launch && f->launch->stack ? f->launch->stack : f->stack;
}
