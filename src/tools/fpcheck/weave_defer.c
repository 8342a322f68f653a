// Results that only matter if a selection takes them: they are read only by selections, or by
// instructions whose results are deferred to the same selection themselves. The results and their
// operands are still in their registers at the selection, since nothing writes those until then.
//
// A store under a predicate decides in the same way (tools/fpcheck/weave_guarded_store.c). There
// values may go through shuffles on their way.
#include "tools/fpcheck/internal.h"

// Has no side effects; its result depends only on its operands.
static bool is_pure(const PtxInstr *in) {
  FpOperation o;
  switch (in->op) {
    case OP_SELP: return in->nops == 4 && in->ops[3].kind == OPD_REG;
    case OP_CVT:
    case OP_NEG:
    case OP_ABS:
    case OP_COPYSIGN:
    case OP_MIN:
    case OP_MAX: return in->ntypes && fp_type(in->types[0]).format;
    case OP_MOV:
      return in->nops == 2 && in->ops[1].kind != OPD_SREG && in->ops[1].kind != OPD_VECTOR;
    default: return fp_operation(in, &o);
  }
}

// The register it writes; NULL if it is a shuffle whose predicate is read, too.
static const PtxReg *result_of(const FpCheck *k, const PtxInstr *in) {
  if (!in->nops) return NULL;
  const PtxOperand *d = &in->ops[0];
  if (in->op == OP_SHFL && d->kind == OPD_PAIR) {
    const PtxOperand *valid = &d->list[1];
    if (valid->kind == OPD_REG && k->flow->uses[valid->reg->id]) return NULL;
    d = &d->list[0];
  }
  return d->kind == OPD_REG ? d->reg : NULL;
}

bool fp_is_pack(const PtxInstr *in) {
  return in->op == OP_MOV && in->nops == 2 && in->ops[0].kind == OPD_REG &&
         in->ops[1].kind == OPD_VECTOR;
}

static bool is_simple(const FpCheck *k, uint32_t i) {
  const PtxInstr *in = k->body->cfg->instrs[i];
  if (in->guard || k->flow->depth[i] || !result_of(k, in)) return false;
  if (fp_is_pack(in) || in->op == OP_SHFL) return true;
  if (!is_pure(in)) return false;
  for (unsigned o = 1; o < in->nops; o++)
    if (in->ops[o].kind == OPD_VECTOR || in->ops[o].selector != SEL_NONE) return false;
  return true;
}

bool fp_lasts(const FpFlow *f, const PtxOperand *o, uint32_t from, uint32_t until) {
  return fp_is_fixed(f, o) || !fp_is_named(&f->writes, o->reg, from, until + 1);
}

// The operands of the instruction still have their values after the selection. If that is in
// another block: there is no path from an instruction to one that it dominates that passes through
// a dominator of the first.
static bool operands_last(const FpCheck *k, uint32_t i, uint32_t selection) {
  const IrCfg *cfg = k->body->cfg;
  const PtxInstr *in = cfg->instrs[i];
  uint32_t here = cfg->block_of[i], there = cfg->block_of[selection];
  if (here != there && !ir_dominates(cfg, here, there)) return false;
  if (fp_is_pack(in)) return true;  // nothing is born in it
  for (unsigned n = 1; n < in->nops; n++) {
    const PtxOperand *o = &in->ops[n];
    if (o->kind != OPD_REG) continue;
    if (here == there
            ? !fp_lasts(k->flow, o, i, selection)
            : !fp_def(k->flow, o) ||
                  !ir_dominates(cfg, cfg->block_of[k->flow->defs->instr[o->reg->id]], here))
      return false;
  }
  return true;
}

// x == 0, for selections only. An infinite x is not zero, which by itself decides nothing.
static bool asks_for_zero(const FpCheck *k, uint32_t i) {
  const PtxInstr *in = k->body->cfg->instrs[i];
  if (in->op != OP_SETP || in->guard || k->flow->depth[i] || in->nops != 3 ||
      in->ops[0].kind != OPD_REG || !fp_is_fixed(k->flow, &in->ops[0]))
    return false;
  return (ptx_has(in, MOD_EQ) || ptx_has(in, MOD_NE) || ptx_has(in, MOD_NEU)) &&
         fp_is_constant(k->flow, &in->ops[2], 0, 0);
}

// by register: readers that are deferred, their owner; the selection that may take it or a value
// made from it, + 1
typedef struct Readers {
  uint32_t *known, *owner, *taken_by;
  bool *several;
  uint32_t store;  // the last guarded store of the block with no barrier after it, + 1
} Readers;

static void add_reader(Readers *r, const PtxOperand *o, uint32_t owner) {
  for (unsigned e = 0; o->kind == OPD_VECTOR && e < o->nlist; e++)
    add_reader(r, &o->list[e], owner);
  if (o->kind != OPD_REG) return;
  uint32_t id = o->reg->id;
  if (r->known[id] && r->owner[id] != owner) r->several[id] = true;
  r->known[id]++;
  r->owner[id] = owner;
}

// isfinite(x) ? x + 1 : 0. If the selection takes the value, it tests it. If it does not, a NaN in
// x has made a decision.
static bool asks_for_taken(const FpCheck *k, const Readers *r, uint32_t i) {
  const PtxInstr *in = k->body->cfg->instrs[i];
  if (in->op != OP_SETP || in->guard || k->flow->depth[i] || in->nops != 3 ||
      in->ops[0].kind != OPD_REG || !fp_is_fixed(k->flow, &in->ops[0]))
    return false;
  if (in->ops[1].kind != OPD_REG || !fp_type(in->types[0]).format || !fp_is_test(k->flow, in))
    return false;
  if (in->ops[2].kind == OPD_REG && in->ops[2].reg != in->ops[1].reg &&
      !fp_is_infinity(k->flow, &in->ops[2]) && !fp_is_largest(k->flow, &in->ops[2]))
    return false;
  const PtxInstr *abs = fp_def(k->flow, &in->ops[1]);
  const PtxOperand *x = abs && abs->op == OP_ABS && abs->ops[1].kind == OPD_REG ? &abs->ops[1]
                                                                                : &in->ops[1];
  return r->taken_by[x->reg->id] == r->owner[in->ops[0].reg->id] + 1;
}

// Stores with the same guard decide together, at the last of them.
static void visit_store(FpCheck *k, FpDeferred *f, Readers *r, uint32_t i) {
  const PtxInstr *in = k->body->cfg->instrs[i],
                 *last = r->store ? k->body->cfg->instrs[r->store - 1] : NULL;
  if (!last || last->guard != in->guard || last->guard_negated != in->guard_negated)
    r->store = i + 1;
  f->store[i] = r->store;
  for (unsigned o = 1; o < in->nops; o++) add_reader(r, &in->ops[o], r->store - 1);
}

// Does another instruction decide about this one's result?
static bool is_deferred(const FpCheck *k, const FpDeferred *f, const Readers *r, uint32_t i) {
  const PtxInstr *in = k->body->cfg->instrs[i];
  if (!is_simple(k, i)) return false;
  uint32_t d = result_of(k, in)->id, owner = r->owner[d];
  if (k->flow->defs->instr[d] != i || !r->known[d] || r->known[d] != k->flow->uses[d] ||
      r->several[d] || !operands_last(k, i, owner))
    return false;
  // and one more condition for the way out of the block
  if (in->op == OP_SELP && f->selections[owner] + 2 >= FP_CONDITIONS) return false;
  // a value that this lane throws away may be taken by another; registers are kept until the store
  return f->store[owner] ? f->results[owner] < FP_RESULTS : in->op != OP_SHFL && !fp_is_pack(in);
}

// The instruction that decides about a value that a selection reads: a later store, if that takes
// it under the same condition; else the one that decides about the selection.
static uint32_t decides_about(const FpCheck *k, const FpDeferred *f, const Readers *r, uint32_t i,
                              unsigned o, uint32_t owner) {
  const PtxInstr *in = k->body->cfg->instrs[i];
  if (in->op != OP_SELP || o > 2 || in->ops[o].kind != OPD_REG) return owner;
  uint32_t id = in->ops[o].reg->id, store = r->owner[id];
  if (!r->known[id] || r->several[id] || !f->store[store] ||
      k->body->cfg->block_of[store] != k->body->cfg->block_of[i])
    return owner;
  const PtxInstr *st = k->body->cfg->instrs[store];
  bool negated = (o == 2) != in->ops[3].negated;
  return st->guard == in->ops[3].reg && st->guard_negated == negated ? store : owner;
}

// Visits instructions backwards, so that readers are known before the values they read.
static void visit(FpCheck *k, FpDeferred *f, Readers *r, uint32_t i) {
  const PtxInstr *in = k->body->cfg->instrs[i];
  if (ptx_op_order(in->op) == ORDER_BLOCK) r->store = 0;
  if (fp_is_guarded_store(k, i)) {
    visit_store(k, f, r, i);
    return;
  }
  if (asks_for_zero(k, i) || asks_for_taken(k, r, i)) {
    uint32_t p = in->ops[0].reg->id;
    if (!r->known[p] || r->known[p] != k->flow->uses[p] || r->several[p]) return;
    for (unsigned o = 1; o < in->nops; o++) add_reader(r, &in->ops[o], r->owner[p]);
    return;
  }
  bool selects = in->op == OP_SELP;
  if (is_deferred(k, f, r, i)) {
    uint32_t decides = r->owner[result_of(k, in)->id];
    f->owner[i] = decides + 1;
    f->results[decides]++;
    if (selects) f->selections[decides]++;
    if (in->op == OP_SHFL) f->shuffles[decides] = true;
  }
  // A selection whose result is written elsewhere too still decides about its values.
  if (!f->owner[i] && (!selects || in->guard || k->flow->depth[i] || in->ops[3].kind != OPD_REG ||
                       !fp_is_fixed(k->flow, &in->ops[3])))
    return;
  uint32_t owner = f->owner[i] ? f->owner[i] - 1 : i;
  for (unsigned o = 1; o < in->nops; o++)
    add_reader(r, &in->ops[o], decides_about(k, f, r, i, o, owner));
  for (unsigned o = 1; o < (selects ? 3u : in->nops); o++)
    if (in->ops[o].kind == OPD_REG) r->taken_by[in->ops[o].reg->id] = owner + 1;
}

const FpDeferred *fp_deferred_build(FpCheck *k) {
  IrCfg *cfg = k->body->cfg;
  Arena *a = &cfg->arena;
  FpDeferred *f = ARENA_NEW(a, FpDeferred);
  f->owner = ARENA_ARRAY(a, uint32_t, cfg->ninstrs + 1);
  f->selections = ARENA_ARRAY(a, uint8_t, cfg->ninstrs + 1);
  f->results = ARENA_ARRAY(a, uint32_t, cfg->ninstrs + 1);
  f->store = ARENA_ARRAY(a, uint32_t, cfg->ninstrs + 1);
  f->shuffles = ARENA_ARRAY(a, bool, cfg->ninstrs + 1);
  uint32_t n = k->flow->nregs + 1;
  Readers r = {ARENA_ARRAY(a, uint32_t, n), ARENA_ARRAY(a, uint32_t, n),
               ARENA_ARRAY(a, uint32_t, n), ARENA_ARRAY(a, bool, n), 0};
  for (uint32_t b = cfg->nblocks; b-- > 0; r.store = 0)
    for (uint32_t i = cfg->blocks[b].end; i > cfg->blocks[b].first; i--) visit(k, f, &r, i - 1);
  return f;
}

enum { MOST_VISITS = 10000 };  // of paths: code that no compiler generates could have very many

// Every condition of a is also one of b.
static bool is_within(const FpItem *a, const FpItem *b) {
  for (unsigned i = 0; i < a->nconditions; i++) {
    bool has = false;
    for (unsigned n = 0; n < b->nconditions; n++)
      has |= a->conditions[i].reg == b->conditions[n].reg &&
             a->conditions[i].negated == b->conditions[n].negated;
    if (!has) return false;
  }
  return true;
}

// This instruction was reached before, under conditions that hold whenever these do.
static bool was_visited(FpItems *out, uint32_t instr, const FpItem *so_far) {
  for (uint32_t i = 0; i < out->paths.len; i++)
    if (out->paths.data[i].instr == instr && is_within(&out->paths.data[i], so_far)) return true;
  FpItem here = *so_far;
  here.instr = instr;
  vec_push(&out->paths, here);
  return out->visits++ > MOST_VISITS;
}

static void gather_selection(FpCheck *k, const FpDeferred *f, uint32_t i, const FpItem *so_far,
                             FpItems *out);

// Gathers the values that the operand was computed from, in the order of computation.
void fp_deferred_gather(FpCheck *k, const FpDeferred *f, const PtxOperand *o, const FpItem *so_far,
                        FpItems *out) {
  if (!fp_def(k->flow, o)) return;
  uint32_t def = k->flow->defs->instr[o->reg->id];
  const PtxInstr *in = k->body->cfg->instrs[def];
  if (f->owner[def] != out->root || was_visited(out, def, so_far)) return;
  if (in->op == OP_SELP) {
    gather_selection(k, f, def, so_far, out);
    return;
  }
  for (unsigned n = 1; n < in->nops; n++) fp_deferred_gather(k, f, &in->ops[n], so_far, out);
  FpItem item = *so_far;
  if (!fp_result_of(k, def, &item.operation) || item.operation.op == WG_FP_SATURATE ||
      !(item.operation.kinds & k->kinds))
    return;
  item.instr = def;
  item.result = in->ops[0];
  vec_push(out, item);
}

// Adds the condition that the selection takes operand o; false: it contradicts another condition.
static bool add_condition(FpItem *item, const PtxInstr *in, unsigned o) {
  bool negated = (o == 2) != in->ops[3].negated;
  for (unsigned i = 0; i < item->nconditions; i++)
    if (item->conditions[i].reg == in->ops[3].reg) return item->conditions[i].negated == negated;
  CHECK(item->nconditions < FP_CONDITIONS);
  item->conditions[item->nconditions].reg = in->ops[3].reg;
  item->conditions[item->nconditions++].negated = negated;
  return true;
}

static void gather_answer(FpCheck *k, const FpDeferred *f, uint32_t i, unsigned o,
                          const FpItem *so_far, FpItems *out) {
  const PtxInstr *in = k->body->cfg->instrs[i];
  FpItem item = *so_far;
  FpOperation *answer = &item.operation;
  if (!fp_is_answer(k->body, k->flow, in, o, answer) || !(answer->kinds & k->kinds)) return;
  if (answer->kinds == WG_FP_NAN) fp_asked_for_nan(k->flow, in->ops[3].reg, item.unless_nan);
  // the register may have changed by then
  if (answer->n && f->owner[i] && !fp_is_fixed(k->flow, answer->operands[0])) {
    answer->n = 0;
    answer->types[0].format = 0;
  }
  item.instr = i;
  item.result = in->ops[0];
  vec_push(out, item);
}

static void gather_selection(FpCheck *k, const FpDeferred *f, uint32_t i, const FpItem *so_far,
                             FpItems *out) {
  const PtxInstr *in = k->body->cfg->instrs[i];
  for (unsigned o = 1; o <= 2; o++) {
    FpItem item = *so_far;
    if (!add_condition(&item, in, o)) continue;
    fp_deferred_gather(k, f, &in->ops[o], &item, out);
    gather_answer(k, f, i, o, &item, out);
  }
}

void fp_deferred_items(FpCheck *k, const FpDeferred *f, uint32_t selection, FpItems *out) {
  const PtxInstr *in = k->body->cfg->instrs[selection];
  FpItem none = {.kind = FP_ITEM_RESULT};
  out->root = selection + 1;
  if (in->guard || in->nops != 4 || in->ops[3].kind != OPD_REG) return;
  if (fp_is_fixed(k->flow, &in->ops[3]) && !k->flow->depth[selection])
    gather_selection(k, f, selection, &none, out);
  else
    for (unsigned o = 1; o <= 2; o++) {
      FpItem item = none;
      add_condition(&item, in, o);
      gather_answer(k, f, selection, o, &item, out);
    }
}
