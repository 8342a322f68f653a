// Reads whose value only a guarded store uses. Triton lets all threads load a scalar, and one of
// them store what comes of it: what the others have read is thrown away, so that it does not matter
// whether they read before or after the store. Such a read is looked at where the store stands, in
// the threads that store. Of several loads of the scalar, one for each element that a thread holds,
// those whose value nothing uses are not looked at.
#include "tools/racecheck/internal.h"

typedef struct Search {
  const IrCfg *cfg;
  bool *tainted;        // by register: it holds the value, or something computed from it
  const PtxInstr *use;  // the first store; NULL: none yet
  bool reads;
} Search;

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
  if (is_def) ((Search *)user)->tainted[(*r)->id] = true;
}

static bool has_tainted(const Search *s, const PtxOperand *o) {
  if (o->kind == OPD_REG) return s->tainted[o->reg->id];
  for (unsigned i = 0; i < o->nlist; i++)
    if (has_tainted(s, &o->list[i])) return true;
  return false;
}

// A guarded store that takes it as the value, under the guard of the first one.
static bool is_masked_use(const Search *s, const PtxInstr *in) {
  if (in->op != OP_ST || !in->guard || s->tainted[in->guard->id] || has_tainted(s, &in->ops[0]))
    return false;
  return !s->use || (s->use->guard == in->guard && s->use->guard_negated == in->guard_negated);
}

typedef struct Written {
  const PtxReg *reg;
  bool yes;
} Written;
static void note_write(void *user, PtxReg **r, bool is_def) {
  Written *w = user;
  w->yes |= is_def && *r == w->reg;
}
static bool is_written(const IrCfg *c, const PtxReg *reg, uint32_t from, uint32_t to) {
  Written w = {.reg = reg};
  for (uint32_t i = from; i < to; i++) ptx_visit_regs(c->instrs[i], note_write, &w);
  return w.yes;
}

// Nothing in the function reads what the load writes.
static bool is_unused(Search *s, uint32_t load) {
  const IrCfg *c = s->cfg;
  ptx_visit_regs(c->instrs[load], taint, s);
  for (uint32_t i = 0; i < c->ninstrs; i++)
    if (i != load && reads_tainted(s, c->instrs[i])) return false;
  return true;
}

// Follows the value through its block. The first store that uses it; IR_NONE: something else uses
// it.
static uint32_t follow(Search *s, uint32_t load) {
  const IrCfg *c = s->cfg;
  uint32_t end = c->blocks[c->block_of[load]].end, first = IR_NONE, last = load;
  ptx_visit_regs(c->instrs[load], taint, s);
  for (uint32_t i = load + 1; i < end; i++) {
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
  for (uint32_t i = 0; i < c->ninstrs && first != IR_NONE; i++)
    if ((i <= load || i >= end) && reads_tainted(s, c->instrs[i])) return IR_NONE;
  if (first != IR_NONE && is_written(c, s->use->guard, first, last)) return IR_NONE;
  return first;
}

// Where `p` holds, so does `q`: it is q, or the conjunction of q and something.
static bool implies(const IrCfg *c, const PtxReg *p, const PtxReg *q, unsigned depth) {
  const PtxInstr *def = NULL;
  if (p == q) return true;
  for (uint32_t i = 0; i < c->ninstrs && depth; i++) {
    if (!is_written(c, p, i, i + 1)) continue;
    if (def) return false;
    def = c->instrs[i];
  }
  if (!def || def->op != OP_AND || def->guard || def->nops != 3) return false;
  for (unsigned o = 1; o < 3; o++)
    if (def->ops[o].kind == OPD_REG && !def->ops[o].negated &&
        implies(c, def->ops[o].reg, q, depth - 1))
      return true;
  return false;
}

// The threads that store have loaded.
static bool guard_fits(const IrCfg *c, const PtxInstr *load, const PtxInstr *store) {
  return !load->guard || (!load->guard_negated && !store->guard_negated &&
                          implies(c, store->guard, load->guard, 4));
}

static bool may_move(const RaceCheck *k, const RaceAccess *a, uint32_t to) {
  const IrCfg *c = k->body->cfg;
  const PtxInstr *load = c->instrs[a->instr], *store = c->instrs[to];
  if (!guard_fits(c, load, store)) return false;
  if (load->space != store->space || is_written(c, a->address->list[0].reg, a->instr, to))
    return false;
  if (load->guard && is_written(c, load->guard, a->instr, to)) return false;
  for (uint32_t i = a->instr; i < to; i++)
    if (race_is_order(c->instrs[i])) return false;
  return true;
}

// A load before it, in the same block and under the same guard, reads the same bytes.
static bool repeats(const RaceCheck *k, const RaceAccess *a) {
  const IrCfg *c = k->body->cfg;
  const PtxInstr *load = c->instrs[a->instr];
  for (uint32_t i = a->instr; i-- > c->blocks[c->block_of[a->instr]].first;) {
    const PtxInstr *in = c->instrs[i];
    if (race_is_order(in) || is_written(c, a->address->list[0].reg, i, i + 1)) return false;
    if (in->op != OP_LD || in->space != load->space || in->guard != load->guard ||
        in->guard_negated != load->guard_negated || access_bytes(in) != a->bytes)
      continue;
    const PtxOperand *at = &in->ops[1];
    if (at->kind == OPD_ADDR && at->nlist == 1 && at->list[0].kind == OPD_REG &&
        at->list[0].reg == a->address->list[0].reg && at->imm == a->address->imm)
      return true;
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
  Search s = {.cfg = c};
  for (uint32_t i = k->accesses.len; i-- > 0;) {  // what is moved comes to stand behind
    RaceAccess *a = &k->accesses.data[i];
    const PtxInstr *in = c->instrs[a->instr];
    if (in->op != OP_LD || a->flags & WG_RACE_STRONG || a->address->nlist != 1 ||
        a->address->list[0].kind != OPD_REG)
      continue;
    uint32_t n = k->body->func->nregs + 1;
    if (!s.tainted) s.tainted = ARENA_ARRAY(&k->body->program->scratch, bool, n);
    memset(s.tainted, 0, sizeof *s.tainted * n);
    s.use = NULL;
    a->gone = is_unused(&s, a->instr) && repeats(k, a);
    uint32_t to = a->gone ? IR_NONE : follow(&s, a->instr);
    if (to != IR_NONE && may_move(k, a, to)) move(k, i, to);
  }
}
