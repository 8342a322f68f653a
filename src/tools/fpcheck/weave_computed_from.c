// The registers that a register was computed from, by any instruction. Loads end the search: the
// loaded value was computed elsewhere.
#include "tools/fpcheck/internal.h"

enum { MOST_REGISTERS = 128 };
typedef struct Walk {
  const FpFlow *flow;
  const IrCfg *cfg;
  uint32_t seen[MOST_REGISTERS], left;
  bool through_predicates, found;
  FpIsIt *is_it;
  const void *wanted;
} Walk;

static void walk(Walk *w, const PtxReg *r);
static void visit_source(void *ctx, PtxReg **reg, bool is_def) {
  if (!is_def) walk(ctx, *reg);
}

static void walk(Walk *w, const PtxReg *r) {
  w->found = w->found || w->is_it(w->flow, r, w->wanted);
  if (w->found || r->id >= w->flow->nregs || !w->left ||
      (r->type == TYPE_PRED && !w->through_predicates))
    return;
  for (uint32_t i = w->left; i < MOST_REGISTERS; i++)
    if (w->seen[i] == r->id) return;
  w->seen[--w->left] = r->id;
  const FpIndex *writes = &w->flow->writes;
  for (uint32_t n = 0; n < writes->n[r->id] && !w->found; n++) {
    PtxInstr *in = w->cfg->instrs[writes->instr[writes->start[r->id] + n]];
    if (!(ptx_op_classes(in) & CLASS_LOAD)) ptx_visit_regs(in, visit_source, w);
  }
}

bool fp_made_of(const FpFlow *f, const IrCfg *cfg, const PtxReg *r, FpSearch *search) {
  Walk w = {.flow = f,
            .cfg = cfg,
            .left = MOST_REGISTERS,
            .through_predicates = search->through_predicates,
            .is_it = search->is_it,
            .wanted = search->wanted};
  walk(&w, r);
  search->whole = w.left;
  return w.found;
}
