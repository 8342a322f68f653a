// New names for every register and label. Registers declared as one range stay one range.
#include "ptx/ptx.h"

static void rename_func(PtxModule *m, PtxFunc *f, uint32_t number) {
  bool *in_range = mem_alloc(f->nregs + 1);
  uint32_t group = 0;
  for (uint32_t i = 0; i < f->nstmts; i++) {
    if (f->stmts[i].kind != STMT_REGS) continue;
    PtxReg *first = f->stmts[i].regs.first;
    for (uint32_t k = 0; k < f->stmts[i].regs.count; k++) {
      first[k].name = arena_printf(&m->arena, "%%wg%u_%u", group, k);
      in_range[first[k].id] = true;
    }
    group++;
  }
  for (uint32_t i = 0; i < f->nregs; i++)   // .reg parameters
    if (!in_range[i]) f->regs[i]->name = arena_printf(&m->arena, "%%wgp%u", i);
  free(in_range);
  for (uint32_t i = 0; i < f->nlabels; i++) f->labels[i]->name = arena_printf(&m->arena, "$WG_%u_%u", number, i);
}

void ptx_rename_all(PtxModule *m) {
  for (uint32_t i = 0; i < m->nfuncs; i++) rename_func(m, m->funcs[i], i);
}
