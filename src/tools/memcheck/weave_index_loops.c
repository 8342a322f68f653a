// A loop whose checks are hoisted has a copy without checks (weave_loops.c). Index tests whose
// guard is loop-invariant are evaluated once before the loop, and the copy omits them.
#include "tools/memcheck/internal.h"

enum { DEEPEST = 6, MOST_KNOWN = 32 };

typedef struct Hoist {
  Memcheck *m;
  Code *code;
  bool *written;  // by PtxReg.id: in the loop
  // loop-invariant registers that the loop writes, and their copies computed before the loop
  const PtxReg *of[MOST_KNOWN];
  PtxReg *is[MOST_KNOWN];
  unsigned n;
} Hoist;

static void mark_written(void *ctx, PtxReg **reg, bool is_def) {
  if (is_def) ((bool *)ctx)[(*reg)->id] = true;
}

// The instruction that computes the register, if it can be repeated before the loop; else NULL.
static const PtxInstr *computes(const Hoist *h, const PtxReg *r) {
  const PtxInstr *in = ir_single_def(h->m->defs, r);
  return in && early_is_pure(in) ? in : NULL;
}

static bool is_known_before(const Hoist *h, const PtxReg *r, unsigned depth) {
  if (!h->written[r->id]) return true;
  const PtxInstr *in = depth < DEEPEST ? computes(h, r) : NULL;
  for (unsigned k = 1; in && k < in->nops; k++)
    if (in->ops[k].kind == OPD_REG && !is_known_before(h, in->ops[k].reg, depth + 1)) return false;
  return in;
}

static PtxReg *value_before(void *user, PtxReg *r) {
  Hoist *h = user;
  if (!h->written[r->id]) return r;
  for (unsigned i = 0; i < h->n; i++)
    if (h->of[i] == r) return h->is[i];
  PtxReg *to = code_recompute(h->code, computes(h, r), value_before, h);
  if (h->n < MOST_KNOWN) {
    h->of[h->n] = r;
    h->is[h->n++] = to;
  }
  return to;
}

// At one instruction, code that the copy keeps runs before code that it omits. A check that stays
// in the copy could therefore branch past an index test that is omitted: then none is hoisted.
static bool all_hoisted(const Memcheck *m, uint32_t loop) {
  const IrCfg *cfg = m->body->cfg;
  for (uint32_t i = 0; i < m->nchecks; i++)
    if (!m->checks[i].hoisted && ir_in_loop(cfg, cfg->block_of[m->checks[i].instr], loop))
      return false;
  return true;
}

static void hoist_block(Hoist *h, const IrBlock *block, PtxReg *safe) {
  Memcheck *m = h->m;
  for (uint32_t i = block->first; i < block->end; i++) {
    const PtxInstr *in = m->body->cfg->instrs[i];
    if (!in->guard || !memcheck_is_index_test(in) || !is_known_before(h, in->guard, 0)) continue;
    PtxReg *guard = value_before(h, in->guard);
    EMIT(h->code, "and.pred", opd_reg(safe), opd_reg(safe),
         in->guard_negated ? opd_reg(guard) : opd_not(guard));
    m->hoisted_tests[i] = true;
  }
}

void memcheck_hoist_index_tests(Memcheck *m, uint32_t loop, Code *c, PtxReg *safe) {
  if (!all_hoisted(m, loop)) return;
  const IrCfg *cfg = m->body->cfg;
  const IrLoop *l = &cfg->loops[loop];
  Arena *a = &m->body->program->scratch;
  Hoist h = {.m = m, .code = c, .written = ARENA_ARRAY(a, bool, m->body->func->nregs + 1)};
  for (uint32_t i = 0; i < l->nblocks; i++)
    for (uint32_t k = cfg->blocks[l->blocks[i]].first; k < cfg->blocks[l->blocks[i]].end; k++)
      ptx_visit_regs(cfg->instrs[k], mark_written, h.written);
  for (uint32_t i = 0; i < l->nblocks; i++) hoist_block(&h, &cfg->blocks[l->blocks[i]], safe);
}
