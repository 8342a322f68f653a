// decides: finds the registers that decide whether a loop continues.
//
// Follows the operands of its branches back inside the loop to everything they are computed from,
// including the addresses of loads. If at some place these registers and memory are as they were
// there before, the loop repeats what it did in between, and never ends.
#include "ir/internal.h"

typedef struct Marks {
  bool *decides;
  bool uses, changed;
} Marks;

static void ask(void *ctx, PtxReg **reg, bool is_def) {
  Marks *m = ctx;
  m->uses |= is_def && m->decides[(*reg)->id];
}

static void mark_uses(void *ctx, PtxReg **reg, bool is_def) {
  Marks *m = ctx;
  if (is_def || m->decides[(*reg)->id]) return;
  m->decides[(*reg)->id] = m->changed = true;
}

static bool is_poll(const PtxInstr *in) {
  return ptx_has(in, MOD_VOLATILE) || ptx_has(in, MOD_RELAXED) || ptx_has(in, MOD_ACQUIRE);
}

// Clocks advance whatever the loop does; the scheduler decides which lanes run together.
static bool reads_time(const PtxInstr *in) {
  bool found = in->op == OP_ACTIVEMASK;
  for (unsigned k = 1; k < in->nops; k++)
    found |= in->ops[k].kind == OPD_SREG &&
             (in->ops[k].sreg == SREG_CLOCK || in->ops[k].sreg == SREG_CLOCK_HI ||
              in->ops[k].sreg == SREG_CLOCK64 || in->ops[k].sreg == SREG_GLOBALTIMER ||
              in->ops[k].sreg == SREG_GLOBALTIMER_LO || in->ops[k].sreg == SREG_GLOBALTIMER_HI);
  return found;
}

// Marks the deciding registers. *reads: some depend on loads. false: other threads matter, too.
static bool mark(const IrCfg *c, uint32_t loop, Marks *m, bool *reads) {
  const IrLoop *l = &c->loops[loop];
  bool meets = false;  // other threads, or the loop itself, may change memory while it runs
  do {
    m->changed = false;
    for (uint32_t b = l->nblocks; b-- > 0;)
      for (uint32_t i = c->blocks[l->blocks[b]].end; i-- > c->blocks[l->blocks[b]].first;) {
        PtxInstr *in = c->instrs[i];
        unsigned classes = ptx_op_classes(in);
        m->uses = false;
        ptx_visit_regs(in, ask, m);
        meets |= classes & (CLASS_ATOMIC | CLASS_SYNC | CLASS_ASYNC | CLASS_CALL);
        if (m->uses && (classes & (CLASS_ATOMIC | CLASS_SYNC | CLASS_ASYNC | CLASS_CALL |
                                   CLASS_TEXTURE | CLASS_SURFACE) ||
                        (classes & CLASS_LOAD && is_poll(in)) || reads_time(in)))
          return false;
        *reads |= m->uses && classes & CLASS_LOAD;
        if (m->uses || classes & (CLASS_BRANCH | CLASS_RETURN)) ptx_visit_regs(in, mark_uses, m);
      }
  } while (m->changed);
  return !*reads || !meets;
}

typedef struct Live {
  uint64_t *set;
  bool defs;
} Live;
static void change_live(void *ctx, PtxReg **reg, bool is_def) {
  Live *l = ctx;
  uint64_t *word = &l->set[(*reg)->id / 64], bit = 1ull << (*reg)->id % 64;
  if (l->defs && is_def) *word &= ~bit;
  if (!l->defs && !is_def) *word |= bit;
}

// The registers that are live before an instruction: goes back from the end of its block. A guarded
// write does not end a live range.
static void live_before(const IrCfg *c, uint32_t at, const IrLiveness *all, uint64_t *set) {
  uint32_t block = c->block_of[at];
  memcpy(set, all->live_out[block], all->words * sizeof *set);
  for (uint32_t i = c->blocks[block].end; i-- > at;) {
    if (!c->instrs[i]->guard) ptx_visit_regs(c->instrs[i], change_live, &(Live){set, true});
    ptx_visit_regs(c->instrs[i], change_live, &(Live){set, false});
  }
}

bool ir_loop_decides(const IrCfg *c, uint32_t loop, uint32_t at, Arena *arena, IrDeciding *d) {
  Arena a = {0};
  Marks m = {.decides = ARENA_ARRAY(&a, bool, c->func->nregs + 1)};
  *d = (IrDeciding){0};
  bool known = mark(c, loop, &m, &d->reads);
  if (known) {
    IrLiveness *all = ir_liveness_build(c);
    uint64_t *live = ARENA_ARRAY(&a, uint64_t, all->words + 1);
    live_before(c, at, all, live);
    d->regs = ARENA_ARRAY(arena, PtxReg *, c->func->nregs + 1);
    for (uint32_t i = 0; i < c->func->nregs; i++)
      if (m.decides[c->func->regs[i]->id] &&
          live[c->func->regs[i]->id / 64] >> c->func->regs[i]->id % 64 & 1)
        d->regs[d->n++] = c->func->regs[i];
    ir_liveness_free(all);
  }
  arena_free(&a);
  return known;
}
