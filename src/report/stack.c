#include "report/internal.h"

static bool is_launch_stub(const char *function) {
  static const char *const stubs[] = {"__cudaLaunchKernel", "__device_stub__", "cudaLaunchKernel", "cudaError cudaLaunchKernel"};
  for (size_t i = 0; function && i < ARRAY_LEN(stubs); i++)
    if (strncmp(function, stubs[i], strlen(stubs[i])) == 0) return true;
  return false;
}

// Its inline functions only pass a call on.
static bool is_cuda_header(const char *file) {
  const char *slash = file ? strrchr(file, '/') : NULL;
  return slash && (strcmp(slash, "/cuda_runtime.h") == 0 || strcmp(slash, "/cuda_runtime_api.h") == 0);
}

const RunFrame *report_stack(Run *r, RunStack *s, uint32_t *n) {
  *n = 0;
  if (!s) return NULL;
  const RunFrame *frames = run_stack_frames(r, s, n);
  while (*n > 1 && (is_launch_stub(frames->function) || is_cuda_header(frames->file))) frames++, --*n;
  for (uint32_t i = 0; i < *n; i++)
    if (frames[i].function && strcmp(frames[i].function, "main") == 0) *n = i + 1;
  return frames;
}

RunStack *report_host_stack(const RunFinding *f) { return f->launch && f->launch->stack ? f->launch->stack : f->stack; }
