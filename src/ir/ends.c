// ends: what must happen for a loop to end.
//
// Every way out of the loop has a condition. What the condition compares is followed back inside the loop, through moves and
// conversions, to where it changes: a register that moves by a fixed step, one that moves by a register of the loop's outside (whose
// value may be 0), something read from memory that another thread or the host must change, or nothing at all.
#include "ir/ir.h"

typedef struct Search {
  const IrCfg *c;
  bool *inside;                            // by block
  uint32_t *def;                           // by register: the only write in the loop, IR_NONE, IR_SEVERAL
  uint32_t latches[16]; uint32_t nlatches;
} Search;

typedef struct Defs { Search *s; uint32_t instr; } Defs;
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

static const PtxInstr *only_def(const Search *s, const PtxReg *r) { return s->def[r->id] < IR_SEVERAL ? s->c->instrs[s->def[r->id]] : NULL; }
static bool is_fixed(const Search *s, const PtxOperand *o) { return o->kind == OPD_INT || o->kind == OPD_FLOAT || (o->kind == OPD_REG && s->def[o->reg->id] == IR_NONE); }

static bool same_operand(const PtxOperand *a, const PtxOperand *b) {
  return a->kind == b->kind && (a->kind == OPD_REG ? a->reg == b->reg : a->kind == OPD_INT && a->imm == b->imm);
}

// What moves `r` in each turn. Backwards through moves and additions of what the loop does not change, one comes to a register that comes back to itself
// from one turn to the next; on the way around it one and the same step is added, once or, in a loop that was unrolled, several times.
static bool find_step(const Search *s, const PtxReg *r, const PtxOperand **step, bool *halves) {
  enum { HOPS = 40 };
  struct { const PtxReg *reg; const PtxOperand *added; bool shifts; } way[HOPS];
  unsigned n = 0, first = HOPS;
  for (const PtxReg *at = r; n < HOPS && first == HOPS;) {
    const PtxInstr *in = only_def(s, at);
    if (!in || !in_every_turn(s, s->def[at->id])) return false;
    const PtxOperand *own = NULL, *added = NULL;
    bool shifts = in->op == OP_SHR;
    if ((in->op == OP_MOV || in->op == OP_CVT) && in->nops == 2 && in->ops[1].kind == OPD_REG) own = &in->ops[1];
    else {
      if ((in->op != OP_ADD && in->op != OP_SUB && !shifts) || in->nops != 3 || (in->ntypes && ptx_type_kind(in->types[0]) == KIND_FLOAT)) return false;
      unsigned k = is_fixed(s, &in->ops[2]) ? 1 : !shifts && is_fixed(s, &in->ops[1]) ? 2 : 0;
      if (!k || in->ops[k].kind != OPD_REG) return false;
      own = &in->ops[k], added = &in->ops[3 - k];
    }
    way[n].reg = at, way[n].added = added, way[n++].shifts = shifts;
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

// Where the register's value comes from in the loop: through what only changes its form.
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

static void watch(IrLoopEnd *e, const Search *s, const PtxOperand *o) {
  if (o->kind != OPD_REG || s->def[o->reg->id] == IR_NONE) return;
  for (uint32_t i = 0; i < e->nwatched; i++)
    if (e->watched[i] == o->reg) return;
  if (e->nwatched < ARRAY_LEN(e->watched)) e->watched[e->nwatched++] = o->reg;
  else e->all_watched = false;
}

static IrLoopEndKind judge(const Search *s, const PtxReg *p, uint32_t at, int depth, IrLoopEnd *e) {
  if (s->def[p->id] == IR_NONE) return IR_END_FIXED;
  const PtxInstr *test = only_def(s, p);
  bool joins = test && (test->op == OP_AND || test->op == OP_OR || test->op == OP_NOT) && depth < 4;
  for (unsigned k = 1; joins && k < test->nops; k++) joins &= test->ops[k].kind == OPD_REG;
  if (joins) {                             // several conditions: what each compares decides, and a counter alone does not
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
      if (step->kind == OPD_INT && step->imm && in_every_turn(s, at)) return IR_END_BOUNDED;
      kind = MAX(kind, halves ? IR_END_OPEN : IR_END_STEPS);
      e->index = o->reg;
      e->step = step;
    } else if ((source = source_of(s, o->reg)) < IR_SEVERAL) {
      kind = MAX(kind, IR_END_WAITS);
      e->load = source;
    } else kind = IR_END_OPEN;
  }
  return kind;
}

static bool leaves(const PtxInstr *in) { return in->op == OP_RET || in->op == OP_EXIT || in->op == OP_TRAP; }

void ir_loop_end(const IrCfg *c, uint32_t loop, IrLoopEnd *e) {
  const IrLoop *l = &c->loops[loop];
  Arena a = {0};
  Search s = {.c = c, .inside = ARENA_ARRAY(&a, bool, c->nblocks + 1), .def = ARENA_ARRAY(&a, uint32_t, c->func->nregs + 1)};
  *e = (IrLoopEnd){.kind = IR_END_FIXED, .branch = IR_NONE, .load = IR_NONE, .all_watched = true};
  for (uint32_t i = 0; i < c->func->nregs; i++) s.def[i] = IR_NONE;
  for (uint32_t i = 0; i < l->nblocks; i++) s.inside[l->blocks[i]] = true;
  for (uint32_t i = 0; i < l->nblocks; i++) {
    const IrBlock *b = &c->blocks[l->blocks[i]];
    for (uint32_t k = b->first; k < b->end; k++) ptx_visit_regs(c->instrs[k], note_def, &(Defs){&s, k});
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
    IrLoopEndKind kind = last->guard && (last->op == OP_BRA || leaves(last)) ? judge(&s, last->guard, b->end - 1, 0, e) : IR_END_OPEN;
    if (kind == IR_END_BOUNDED) e->kind = kind;
    else e->kind = MAX(e->kind, kind);
    if (e->branch == IR_NONE || l->blocks[i] == latch || kind == IR_END_BOUNDED) e->branch = b->end - 1;
  }
  if (e->branch == IR_NONE) e->branch = latch == IR_NONE || c->blocks[latch].first == c->blocks[latch].end ? h->first : c->blocks[latch].end - 1;
  arena_free(&a);
}
