// The PTX of launched kernels, as it arrives, and in the run file.
#include "run/internal.h"

enum { CODE_MOST = 64 << 20 };

static RunKernel *launched_kernel(const RunProcess *p, uint64_t launch) {
  uint64_t kept = MIN(p->nlaunches, (uint64_t)RUN_LAUNCHES_KEPT);
  for (uint64_t i = 0; i < kept; i++) {
    const RunLaunch *l = &p->launches[(p->nlaunches - 1 - i) % RUN_LAUNCHES_KEPT];
    if (l->number == launch) return u64map_get(&p->kernels, l->kernel);
  }
  return NULL;
}

// Saves the text that has arrived since the last piece; `line`: its first line in the module.
static void save_piece(Run *r, RunKernel *k, uint32_t line) {
  size_t n = k->code.len - k->piece;
  Str packed = {0};
  run_pack(k->code.data + k->piece, n, &packed);
  run_save(r, TABLE_kernel_ptx, "iiib", (int64_t)k->id, (int64_t)line, (int64_t)n, packed.data,
           packed.len);
  str_free(&packed);
  str_addc(&k->code, '\n');
  k->piece = k->code.len;
}

void run_take_code(Run *r, RunProcess *p, const EventKernelCode *e) {
  RunKernel *k = launched_kernel(p, e->launch);
  if (!k || !e->text || k->code.len > CODE_MOST) return;
  if (!e->line) {
    if (!k->frames.len) str_add(&k->frames, e->text);
    return;
  }
  str_add(&k->code, e->text);
  if (e->more) return;
  save_piece(r, k, (uint32_t)e->line);
}

void run_keep_code(Run *r, RunKernel *k, uint32_t line, const char *text, size_t n) {
  if (k->code.len || n > CODE_MOST) return;  // it is kept already
  str_addn(&k->code, text, n);
  save_piece(r, k, line);
}
