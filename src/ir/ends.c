// ends: what must happen for a loop to end.
//
// Every exit of the loop has a condition. Follows the compared values back inside the loop, through
// moves and conversions, to where they change: a register that moves by a fixed step, one that
// moves by a register from outside the loop (whose value may be 0), a value read from memory that
// another thread or the host must change, or nothing at all.
#include "ir/ir.h"

typedef struct Search {
  const IrCfg *c;
  bool *inside;   // by block
  uint32_t *def;  // by register: the only write in the loop, IR_NONE, IR_SEVERAL
  // by register: two of its writes outside of the loop; NULL: not looked for yet
  uint32_t *before[2];
  Arena *arena;
  uint32_t latches[16];
  uint32_t nlatches;
} Search;

typedef struct Defs {
  Search *s;
  uint32_t instr;
} Defs;
static void note_def(void *ctx, PtxReg **reg, bool is_def) {
  Defs *d = ctx;
  uint32_t *def = &d->s->def[(*reg)->id];
  if (is_def) *def = *def == IR_NONE && !d->s->c->instrs[d->instr]->guard ? d->instr : IR_SEVERAL;
}

static bool in_every_turn(const Search *s, uint32_t instr) {
  for (uint32_t i = 0; i < s->nlatches; i++)
    if (!ir_dominates(s->c, s->c->block_of[instr], s->latches[i])) return false;
  return s->nlatches != 0;
}

static const PtxInstr *only_def(const Search *s, const PtxReg *r) {
  return s->def[r->id] < IR_SEVERAL ? s->c->instrs[s->def[r->id]] : NULL;
}
static bool is_fixed(const Search *s, const PtxOperand *o) {
  return o->kind == OPD_INT || o->kind == OPD_FLOAT ||
         (o->kind == OPD_REG && s->def[o->reg->id] == IR_NONE);
}

static bool same_operand(const PtxOperand *a, const PtxOperand *b) {
  return a->kind == b->kind &&
         (a->kind == OPD_REG ? a->reg == b->reg : a->kind == OPD_INT && a->imm == b->imm);
}

// Finds the step that each iteration adds to `r`. Follows moves and additions of loop-invariant
// operands backwards until a register recurs: from one iteration to the next it depends on itself.
// All additions on that cycle must add the same step: one, or several in an unrolled loop.
static bool find_step(const Search *s, const PtxReg *r, const PtxOperand **step, bool *halves) {
  enum { HOPS = 40 };
  struct {
    const PtxReg *reg;
    const PtxOperand *added;
    bool shifts;
  } way[HOPS];
  unsigned n = 0, first = HOPS;
  for (const PtxReg *at = r; n < HOPS && first == HOPS;) {
    const PtxInstr *in = only_def(s, at);
    if (!in || !in_every_turn(s, s->def[at->id])) return false;
    const PtxOperand *own = NULL, *added = NULL;
    bool shifts = in->op == OP_SHR;
    if ((in->op == OP_MOV || in->op == OP_CVT) && in->nops == 2 && in->ops[1].kind == OPD_REG)
      own = &in->ops[1];
    else {
      if ((in->op != OP_ADD && in->op != OP_SUB && !shifts) || in->nops != 3 ||
          (in->ntypes && ptx_type_kind(in->types[0]) == KIND_FLOAT))
        return false;
      unsigned k = is_fixed(s, &in->ops[2]) ? 1 : !shifts && is_fixed(s, &in->ops[1]) ? 2 : 0;
      if (!k || in->ops[k].kind != OPD_REG) return false;
      own = &in->ops[k];
      added = &in->ops[3 - k];
    }
    way[n].reg = at;
    way[n].added = added;
    way[n++].shifts = shifts;
    at = own->reg;
    for (unsigned i = 0; i < n; i++)
      if (way[i].reg == at) first = i;
  }
  *step = NULL;
  *halves = false;
  for (unsigned i = first; i < n; i++) {
    if (!way[i].added) continue;
    if (*step && (!same_operand(*step, way[i].added) || *halves != way[i].shifts)) return false;
    *step = way[i].added;
    *halves = way[i].shifts;
  }
  return *step != NULL;
}

static void watch(IrLoopEnd *e, const Search *s, const PtxOperand *o) {
  if (o->kind != OPD_REG || s->def[o->reg->id] == IR_NONE) return;
  for (uint32_t i = 0; i < e->nwatched; i++)
    if (e->watched[i] == o->reg) return;
  if (e->nwatched < ARRAY_LEN(e->watched)) e->watched[e->nwatched++] = o->reg;
  else e->all_watched = false;
}

// --- iterations counted before the loop ---
//
// Compilers that unroll `for (i = a; i < n; i += step)` first compute the number of iterations:
// (n - a - 1) / step + 1. With a step of 0 the division gives all ones: the loop seems to count to
// an end, but runs 2³² times.

static void note_before(void *ctx, PtxReg **reg, bool is_def) {
  Defs *d = ctx;
  uint32_t *def = !is_def                                  ? NULL
                  : d->s->before[0][(*reg)->id] == IR_NONE ? &d->s->before[0][(*reg)->id]
                                                           : &d->s->before[1][(*reg)->id];
  if (def) *def = d->instr;
}

static void find_writes_before(Search *s) {
  if (s->before[0]) return;
  for (int k = 0; k < 2; k++) {
    s->before[k] = ARENA_ARRAY(s->arena, uint32_t, s->c->func->nregs + 1);
    for (uint32_t i = 0; i < s->c->func->nregs; i++) s->before[k][i] = IR_NONE;
  }
  for (uint32_t i = 0; i < s->c->ninstrs; i++)
    if (!s->inside[s->c->block_of[i]]) ptx_visit_regs(s->c->instrs[i], note_before, &(Defs){s, i});
}

// Whether o is the step, or a multiple of it computed before the loop.
static bool is_multiple(const Search *s, const PtxOperand *o, const PtxReg *step) {
  if (o->kind != OPD_REG || !is_fixed(s, o)) return false;
  uint32_t def = s->before[0][o->reg->id];
  const PtxInstr *in = def == IR_NONE ? NULL : s->c->instrs[def];
  if (o->reg == step) return true;
  if (!in || s->before[1][o->reg->id] != IR_NONE ||
      (in->op != OP_MUL && in->op != OP_SHL && in->op != OP_CVT))
    return false;
  for (unsigned k = 1; k < in->nops; k++)
    if (in->ops[k].kind == OPD_REG && in->ops[k].reg == step) return true;
  return false;
}

// Finds the register that the loop moves by the step in each iteration.
static PtxReg *moved_by(const Search *s, const PtxReg *step) {
  for (uint32_t i = 0; i < s->c->ninstrs; i++) {
    const PtxInstr *in = s->c->instrs[i];
    if (!s->inside[s->c->block_of[i]] || in->op != OP_ADD || in->nops != 3 ||
        in->ops[0].kind != OPD_REG)
      continue;
    const PtxOperand *by;
    bool halves;
    if (!is_multiple(s, &in->ops[1], step) && !is_multiple(s, &in->ops[2], step)) continue;
    if (find_step(s, in->ops[0].reg, &by, &halves) && is_multiple(s, by, step))
      return in->ops[0].reg;
  }
  return NULL;
}

static bool find_divisor(const Search *s, const PtxOperand *o, unsigned depth, IrLoopEnd *e) {
  if (o->kind != OPD_REG || !depth) return false;
  for (int which = 0; which < 2; which++) {
    uint32_t def = s->before[which][o->reg->id];
    if (def == IR_NONE) return false;
    const PtxInstr *in = s->c->instrs[def];
    if (in->op == OP_DIV && in->nops == 3 && in->ops[2].kind == OPD_REG &&
        is_fixed(s, &in->ops[2])) {
      PtxReg *index = moved_by(s, in->ops[2].reg);
      if (index) {
        e->index = index;
        e->step = &in->ops[2];
      }
      if (index) return true;
    }
    bool forms = in->op == OP_ADD || in->op == OP_SUB || in->op == OP_AND || in->op == OP_SHR ||
                 in->op == OP_MOV || in->op == OP_CVT || in->op == OP_MIN || in->op == OP_MAX;
    for (unsigned k = 1; forms && k < in->nops; k++)
      if (find_divisor(s, &in->ops[k], depth - 1, e)) return true;
  }
  return false;
}

static bool counted_by_division(Search *s, const PtxOperand *counter, IrLoopEnd *e) {
  uint32_t watched = e->nwatched;
  find_writes_before(s);
  if (!find_divisor(s, counter, 6, e)) return false;
  for (uint32_t i = 0; i < watched; i++)  // the index shows that the loop moves, not the counter
    if (e->watched[i] == counter->reg) e->watched[i] = e->watched[--e->nwatched];
  watch(e, s, &(PtxOperand){.kind = OPD_REG, .reg = (PtxReg *)e->index});
  return true;
}

// Finds the load that gives the register its value, through instructions with one varying operand.
static uint32_t source_of(const Search *s, const PtxReg *r) {
  for (int hops = 0; hops < 8; hops++) {
    uint32_t def = s->def[r->id];
    if (def >= IR_SEVERAL) return def;
    const PtxInstr *in = s->c->instrs[def];
    unsigned classes = ptx_op_classes(in);
    if (classes & (CLASS_LOAD | CLASS_ATOMIC)) return def;
    const PtxOperand *from = NULL;
    bool one = true;
    for (unsigned k = 1; k < in->nops; k++) {
      if (is_fixed(s, &in->ops[k]) || in->ops[k].kind == OPD_SREG) continue;
      one &= !from && in->ops[k].kind == OPD_REG;
      from = &in->ops[k];
    }
    if (!from || !one || from->reg == r) return IR_SEVERAL;
    r = from->reg;
  }
  return IR_SEVERAL;
}

// The address register of a load, if the loop changes it.
static const PtxReg *moving_address(const Search *s, const PtxInstr *load) {
  // a poll: only other threads can end the loop
  if (ptx_op_classes(load) & CLASS_ATOMIC || ptx_has(load, MOD_VOLATILE) ||
      ptx_has(load, MOD_RELAXED) || ptx_has(load, MOD_ACQUIRE))
    return NULL;
  for (unsigned k = 0; k < load->nops; k++) {
    const PtxOperand *o = &load->ops[k];
    if (o->kind != OPD_ADDR || o->nlist != 1 || o->list[0].kind != OPD_REG) continue;
    const PtxReg *r = o->list[0].reg;
    const PtxInstr *in = NULL;
    // an address recomputed from fixed values does not move
    for (int hops = 0; hops < 8 && (in = only_def(s, r)); hops++) {
      const PtxOperand *from = NULL;
      for (unsigned n = 1; n < in->nops; n++)
        if (!is_fixed(s, &in->ops[n]) && in->ops[n].kind != OPD_SREG) {
          if (from || in->ops[n].kind != OPD_REG) return o->list[0].reg;
          from = &in->ops[n];
        }
      if (!from) return NULL;
      if (from->reg == r) break;
      r = from->reg;
    }
    return s->def[r->id] == IR_NONE ? NULL : o->list[0].reg;
  }
  return NULL;
}

static IrLoopEndKind judge(Search *s, const PtxReg *p, uint32_t at, int depth, IrLoopEnd *e) {
  if (s->def[p->id] == IR_NONE) return IR_END_FIXED;
  const PtxInstr *test = only_def(s, p);
  bool joins = test && (test->op == OP_AND || test->op == OP_OR || test->op == OP_NOT) && depth < 4;
  for (unsigned k = 1; joins && k < test->nops; k++) joins &= test->ops[k].kind == OPD_REG;
  if (joins) {  // several conditions: each counts, and a counter alone does not end the loop
    IrLoopEndKind kind = IR_END_FIXED;
    for (unsigned k = 1; k < test->nops; k++) {
      IrLoopEndKind one = judge(s, test->ops[k].reg, at, depth + 1, e);
      kind = MAX(kind, one == IR_END_BOUNDED ? IR_END_OPEN : one);
    }
    return kind;
  }
  if (!test || test->op != OP_SETP || test->nops != 3) {
    e->all_watched = false;
    return IR_END_OPEN;
  }
  IrLoopEndKind kind = IR_END_FIXED;
  for (unsigned k = 1; k <= 2; k++) {
    const PtxOperand *o = &test->ops[k];
    watch(e, s, o);
    if (is_fixed(s, o)) continue;
    const PtxOperand *step;
    bool halves;
    uint32_t source;
    if (o->kind != OPD_REG) kind = MAX(kind, IR_END_OPEN);
    else if (find_step(s, o->reg, &step, &halves) && is_fixed(s, &test->ops[3 - k])) {
      if (step->kind == OPD_INT && step->imm && in_every_turn(s, at))
        return counted_by_division(s, o, e) ? IR_END_STEPS : IR_END_BOUNDED;
      kind = MAX(kind, halves ? IR_END_OPEN : IR_END_STEPS);
      e->index = o->reg;
      e->step = step;
    } else if ((source = source_of(s, o->reg)) < IR_SEVERAL) {
      const PtxReg *moves = moving_address(s, s->c->instrs[source]);
      kind = MAX(kind, moves ? IR_END_OPEN : IR_END_WAITS);
      // the loop walks through memory: its address shows whether it moves
      if (moves) watch(e, s, &(PtxOperand){.kind = OPD_REG, .reg = (PtxReg *)moves});
      else e->load = source;
    } else kind = IR_END_OPEN;
  }
  return kind;
}

static bool leaves(const PtxInstr *in) { return ptx_op_classes(in) & CLASS_RETURN; }

void ir_loop_end(const IrCfg *c, uint32_t loop, IrLoopEnd *e) {
  const IrLoop *l = &c->loops[loop];
  Arena a = {0};
  Search s = {.c = c,
              .arena = &a,
              .inside = ARENA_ARRAY(&a, bool, c->nblocks + 1),
              .def = ARENA_ARRAY(&a, uint32_t, c->func->nregs + 1)};
  *e = (IrLoopEnd){.kind = IR_END_FIXED, .branch = IR_NONE, .load = IR_NONE, .all_watched = true};
  for (uint32_t i = 0; i < c->func->nregs; i++) s.def[i] = IR_NONE;
  for (uint32_t i = 0; i < l->nblocks; i++) s.inside[l->blocks[i]] = true;
  for (uint32_t i = 0; i < l->nblocks; i++) {
    const IrBlock *b = &c->blocks[l->blocks[i]];
    for (uint32_t k = b->first; k < b->end; k++)
      ptx_visit_regs(c->instrs[k], note_def, &(Defs){&s, k});
  }
  const IrBlock *h = &c->blocks[l->header];
  uint32_t latch = IR_NONE;
  for (uint32_t i = 0; i < h->npred; i++)
    if (s.inside[h->pred[i]]) {
      latch = h->pred[i];
      if (s.nlatches < ARRAY_LEN(s.latches)) s.latches[s.nlatches++] = latch;
      else e->kind = IR_END_OPEN;
    }
  for (uint32_t i = 0; i < l->nblocks && e->kind != IR_END_BOUNDED; i++) {
    const IrBlock *b = &c->blocks[l->blocks[i]];
    if (b->first == b->end) continue;
    const PtxInstr *last = c->instrs[b->end - 1];
    bool out = leaves(last) && last->op != OP_TRAP;
    for (uint32_t k = 0; k < b->nsucc; k++) out |= !s.inside[b->succ[k]];
    if (!out) continue;
    IrLoopEndKind kind = last->guard && (last->op == OP_BRA || leaves(last))
                             ? judge(&s, last->guard, b->end - 1, 0, e)
                             : IR_END_OPEN;
    if (kind == IR_END_BOUNDED) e->kind = kind;
    else e->kind = MAX(e->kind, kind);
    if (e->branch == IR_NONE || l->blocks[i] == latch || kind == IR_END_BOUNDED)
      e->branch = b->end - 1;
  }
  if (e->branch == IR_NONE)
    e->branch = latch == IR_NONE || c->blocks[latch].first == c->blocks[latch].end
                    ? h->first
                    : c->blocks[latch].end - 1;
  arena_free(&a);
}
