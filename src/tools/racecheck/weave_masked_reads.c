// Reads whose value only a guarded store uses. Triton lets all threads load a scalar, and one of
// them store the result. The values read by the other threads are thrown away, so it does not
// matter whether they read before or after the store. Such a read is checked at the store, in the
// threads that store. If a thread loads the scalar once for each element it holds, loads with
// unused values are not checked.
#include "tools/racecheck/internal.h"

enum { NO_READER = IR_NONE, SEVERAL_BLOCKS = IR_NONE - 1 };

typedef struct Search {
  const IrCfg *cfg;
  IrDefs *defs;
  uint32_t *reader;     // by register: the block that reads it, NO_READER or SEVERAL_BLOCKS
  uint32_t block;       // of the function, or of the load
  bool *tainted;        // by register: it holds the value, or something computed from it
  const PtxInstr *use;  // the first store; NULL: none yet
  bool reads, escapes;  // a tainted register is read; one is read in other blocks
} Search;

static void note_reader(void *user, PtxReg **r, bool is_def) {
  Search *s = user;
  uint32_t *reader = &s->reader[(*r)->id];
  if (is_def) return;
  *reader = *reader == NO_READER || *reader == s->block ? s->block : SEVERAL_BLOCKS;
}
static void find_readers(Search *s) {
  for (uint32_t i = 0; i < s->cfg->func->nregs; i++) s->reader[i] = NO_READER;
  for (uint32_t i = 0; i < s->cfg->ninstrs; i++) {
    s->block = s->cfg->block_of[i];
    ptx_visit_regs(s->cfg->instrs[i], note_reader, s);
  }
}

static void note_read(void *user, PtxReg **r, bool is_def) {
  Search *s = user;
  if (!is_def && s->tainted[(*r)->id]) s->reads = true;
}
static bool reads_tainted(Search *s, PtxInstr *in) {
  s->reads = false;
  ptx_visit_regs(in, note_read, s);
  return s->reads;
}
static void taint(void *user, PtxReg **r, bool is_def) {
  Search *s = user;
  if (!is_def) return;
  uint32_t reader = s->reader[(*r)->id];
  s->tainted[(*r)->id] = true;
  s->escapes |= reader != NO_READER && reader != s->block;
}

static bool has_tainted(const Search *s, const PtxOperand *o) {
  if (o->kind == OPD_REG) return s->tainted[o->reg->id];
  for (unsigned i = 0; i < o->nlist; i++)
    if (has_tainted(s, &o->list[i])) return true;
  return false;
}

// A guarded store that stores the value, under the same guard as the first one.
static bool is_masked_use(const Search *s, const PtxInstr *in) {
  if (in->op != OP_ST || !in->guard || s->tainted[in->guard->id] || has_tainted(s, &in->ops[0]))
    return false;
  return !s->use || (s->use->guard == in->guard && s->use->guard_negated == in->guard_negated);
}

static bool is_written(const IrCfg *c, const PtxReg *reg, uint32_t from, uint32_t to) {
  for (uint32_t i = from; i < to; i++)
    if (race_writes_register(c->instrs[i], reg)) return true;
  return false;
}

static void note_used(void *user, PtxReg **r, bool is_def) {
  Search *s = user;
  s->reads |= is_def && s->reader[(*r)->id] != NO_READER;
}
// Whether no instruction of the function reads the load's result.
static bool is_unused(Search *s, uint32_t load) {
  s->reads = false;
  ptx_visit_regs(s->cfg->instrs[load], note_used, s);
  return !s->reads;
}

// Follows the value through its block. Returns the first store that uses it; IR_NONE: something
// else uses it.
static uint32_t follow(Search *s, uint32_t load) {
  const IrCfg *c = s->cfg;
  const IrBlock *b = &c->blocks[c->block_of[load]];
  uint32_t first = IR_NONE, last = load;
  memset(s->tainted, 0, sizeof *s->tainted * c->func->nregs);
  s->use = NULL;
  s->escapes = false;
  s->block = c->block_of[load];
  ptx_visit_regs(c->instrs[load], taint, s);
  for (uint32_t i = load + 1; i < b->end && !s->escapes; i++) {
    PtxInstr *in = c->instrs[i];
    if (!reads_tainted(s, in)) continue;
    if (ptx_op_is_arith(in->op)) {
      ptx_visit_regs(in, taint, s);
      continue;
    }
    if (!is_masked_use(s, in)) return IR_NONE;
    if (!s->use) {
      s->use = in;
      first = i;
    }
    last = i;
  }
  if (s->escapes || first == IR_NONE) return IR_NONE;
  for (uint32_t i = b->first; i <= load; i++)  // the block may be a loop
    if (reads_tainted(s, c->instrs[i])) return IR_NONE;
  return is_written(c, s->use->guard, first, last) ? IR_NONE : first;
}

// Whether p implies q: p is q, or the conjunction of q and something.
static bool implies(const IrDefs *d, const PtxReg *p, const PtxReg *q, unsigned depth) {
  const PtxInstr *def = depth ? ir_single_def(d, p) : NULL;
  if (p == q) return true;
  if (!def || def->op != OP_AND || def->guard || def->nops != 3) return false;
  for (unsigned o = 1; o < 3; o++)
    if (def->ops[o].kind == OPD_REG && !def->ops[o].negated &&
        implies(d, def->ops[o].reg, q, depth - 1))
      return true;
  return false;
}

// Whether all threads that store have executed the load.
static bool guard_fits(const IrDefs *d, const PtxInstr *load, const PtxInstr *store) {
  return !load->guard || (!load->guard_negated && !store->guard_negated &&
                          implies(d, store->guard, load->guard, 4));
}

static bool may_move(const Search *s, const RaceAccess *a, uint32_t to) {
  const IrCfg *c = s->cfg;
  const PtxInstr *load = c->instrs[a->instr], *store = c->instrs[to];
  if (load->space != store->space || !guard_fits(s->defs, load, store) ||
      is_written(c, a->address->list[0].reg, a->instr, to) ||
      (load->guard && is_written(c, load->guard, a->instr, to)))
    return false;
  for (uint32_t i = a->instr; i < to; i++)
    if (race_is_order(c->instrs[i])) return false;
  return true;
}

// Whether an earlier load in the same block, under the same guard, reads the same bytes.
static bool repeats(const RaceCheck *k, uint32_t n) {
  const IrCfg *c = k->body->cfg;
  const RaceAccess *a = &k->accesses.data[n];
  const PtxInstr *load = c->instrs[a->instr];
  uint32_t from = c->blocks[c->block_of[a->instr]].first;
  for (uint32_t i = a->instr; i > from; i--)
    if (race_is_order(c->instrs[i - 1])) from = i;
  while (n-- > 0 && k->accesses.data[n].instr >= from) {
    const RaceAccess *b = &k->accesses.data[n];
    const PtxInstr *in = c->instrs[b->instr];
    if (in->op == OP_LD && in->space == load->space && in->guard == load->guard &&
        in->guard_negated == load->guard_negated && b->bytes == a->bytes &&
        b->address->nlist == 1 && b->address->list[0].kind == OPD_REG && race_same_address(a, b))
      return !is_written(c, a->address->list[0].reg, b->instr, a->instr);
  }
  return false;
}

static void move(RaceCheck *k, uint32_t from, uint32_t to) {
  RaceAccess a = k->accesses.data[from];
  a.source = a.instr;
  a.instr = to;
  for (; from + 1 < k->accesses.len && k->accesses.data[from + 1].instr < to; from++)
    k->accesses.data[from] = k->accesses.data[from + 1];
  k->accesses.data[from] = a;
}

void race_move_masked_reads(RaceCheck *k) {
  const IrCfg *c = k->body->cfg;
  Arena *scratch = &k->body->program->scratch;
  uint32_t n = c->func->nregs + 1;
  if (!k->accesses.len) return;
  Search s = {.cfg = c,
              .defs = ir_defs_build(c),
              .reader = ARENA_ARRAY(scratch, uint32_t, n),
              .tainted = ARENA_ARRAY(scratch, bool, n)};
  find_readers(&s);
  for (uint32_t i = k->accesses.len; i-- > 0;) {  // a moved access then comes after the others
    RaceAccess *a = &k->accesses.data[i];
    if (c->instrs[a->instr]->op != OP_LD || a->flags & WG_RACE_STRONG || a->address->nlist != 1 ||
        a->address->list[0].kind != OPD_REG)
      continue;
    a->gone = is_unused(&s, a->instr) && repeats(k, i);
    uint32_t to = a->gone ? IR_NONE : follow(&s, a->instr);
    if (to != IR_NONE && may_move(&s, a, to)) move(k, i, to);
  }
  ir_defs_free(s.defs);
}
