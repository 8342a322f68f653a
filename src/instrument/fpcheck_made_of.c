// What a register was computed from, in some way and by whichever instruction; what is loaded was computed elsewhere.
#include "instrument/fpcheck.h"

enum { MOST_REGISTERS = 128 };
typedef struct Walk { const FpFlow *flow; const IrCfg *cfg; bool *seen; uint32_t left; bool through_predicates, found; FpIsIt *is_it; const void *wanted; } Walk;

static void walk(Walk *w, const PtxReg *r);
static void visit_source(void *ctx, PtxReg **reg, bool is_def) {
  if (!is_def) walk(ctx, *reg);
}
typedef struct Writes { const PtxReg *r; bool yes; } Writes;
static void visit_write(void *ctx, PtxReg **reg, bool is_def) {
  Writes *w = ctx;
  w->yes |= is_def && *reg == w->r;
}

static void walk(Walk *w, const PtxReg *r) {
  w->found = w->found || w->is_it(w->flow, r, w->wanted);
  if (w->found || r->id >= w->flow->nregs || w->seen[r->id] || !w->left || (r->type == TYPE_PRED && !w->through_predicates)) return;
  w->seen[r->id] = true;
  w->left--;
  for (uint32_t i = 0; i < w->cfg->ninstrs && !w->found; i++) {
    Writes writes = {r, false};
    if (ptx_op_classes(w->cfg->instrs[i]) & CLASS_LOAD) continue;
    ptx_visit_regs(w->cfg->instrs[i], visit_write, &writes);
    if (writes.yes) ptx_visit_regs(w->cfg->instrs[i], visit_source, w);
  }
}

bool fp_made_of(const FpFlow *f, const IrCfg *cfg, const PtxReg *r, bool through_predicates, FpIsIt *is_it, const void *wanted, bool *whole) {
  Walk w = {.flow = f, .cfg = cfg, .left = MOST_REGISTERS, .through_predicates = through_predicates, .is_it = is_it, .wanted = wanted};
  w.seen = mem_alloc(sizeof(bool) * (f->nregs + 1));
  walk(&w, r);
  free(w.seen);
  if (whole) *whole = w.left;
  return w.found;
}
