// Finds the LaneClass of each register: one for the whole function, by going over it until nothing
// changes. The class is a guess where lanes diverge; a compiled function tests it on entry.
#include "vgpu/region/region.h"

static LaneClass later(LaneClass a, LaneClass b) { return MAX(a, b); }
// The class of what has no structure left: computed from the lane's number, or from data.
static LaneClass spread(LaneClass c) {
  return c == LANES_ROWS || c == LANES_LINEAR ? LANES_MIXED : c;
}

static LaneClass operand_class(const Region *r, const PtxOperand *o) {
  LaneClass c = LANES_SAME;
  for (unsigned k = 0; o->kind == OPD_VECTOR && k < o->nlist; k++)
    c = later(c, operand_class(r, &o->list[k]));
  if (o->kind != OPD_REG) return c;
  return r->kept[o->reg->id] ? r->lanes[o->reg->id] : LANES_DATA;
}

static LaneClass all_operands(const Region *r, const PtxInstr *in) {
  LaneClass c = LANES_SAME;
  for (unsigned k = 1; k < in->nops; k++) c = later(c, operand_class(r, &in->ops[k]));
  return c;
}

// A product is linear if one factor is the same in all lanes.
static LaneClass product(LaneClass a, LaneClass b) {
  if (a == LANES_SAME || b == LANES_SAME) return later(a, b);
  return spread(later(a, b));
}

static LaneClass sreg_class(const Region *r, const PtxInstr *in) {
  const PtxOperand *o = &in->ops[1];
  switch (o->sreg) {
    case SREG_TID:
      if (o->selector == SEL_Z) return LANES_SAME;
      if (o->selector == SEL_Y) return r->columns == LANES ? LANES_SAME : LANES_ROWS;
      return LANES_LINEAR;
    case SREG_LANEID: return LANES_LINEAR;
    case SREG_NTID:
    case SREG_CTAID:
    case SREG_NCTAID: return LANES_SAME;
    default: return LANES_DATA;
  }
}

// Floats that are computed from the lane's number count as data: the number does not show which way
// a lane goes that they decide about.
static LaneClass element_class(const Region *r, const PtxInstr *in) {
  LaneClass c = spread(all_operands(r, in));
  bool is_float = false;
  for (unsigned k = 0; k < in->ntypes; k++) is_float |= ptx_type_kind(in->types[k]) == KIND_FLOAT;
  return c == LANES_MIXED && is_float ? LANES_DATA : c;
}

static LaneClass result_class(const Region *r, const Inst *first, Shape s) {
  const PtxInstr *in = first->src;
  LaneClass a = in->nops > 1 ? operand_class(r, &in->ops[1]) : LANES_SAME;
  LaneClass b = in->nops > 2 ? operand_class(r, &in->ops[2]) : LANES_SAME;
  LaneClass c = in->nops > 3 ? operand_class(r, &in->ops[3]) : LANES_SAME;
  switch (s) {
    case SHAPE_COPY: return region_bits(in->ops[0].reg) >= 32 ? a : spread(a);
    case SHAPE_SHL:
    case SHAPE_NEG:
    case SHAPE_WIDEN:
    case SHAPE_NARROW:
    case SHAPE_LOW: return a;
    case SHAPE_ADD:
    case SHAPE_SUB: return later(a, b);
    case SHAPE_MUL:
    case SHAPE_MUL_WIDE: return product(a, b);
    case SHAPE_MAD:
    case SHAPE_MAD_WIDE: return later(product(a, b), c);
    case SHAPE_ELEMENT: return element_class(r, in);
    case SHAPE_PACK:
    case SHAPE_UNPACK: return spread(a);
    case SHAPE_SREG: return sreg_class(r, in);
    case SHAPE_VARIABLE:
    case SHAPE_VOTE:
    case SHAPE_PARAM: return LANES_SAME;
    case SHAPE_SHUFFLE: return later(a, LANES_MIXED);
    case SHAPE_LOAD: {
      const PtxOperand *o = &in->ops[1];
      return operand_class(r, o->nlist ? &o->list[0] : o) == LANES_SAME ? LANES_SAME : LANES_DATA;
    }
    case SHAPE_STOP:  // bar.red says the same to all
      return in->op == OP_BAR || in->op == OP_BARRIER ? LANES_SAME : LANES_DATA;
    default: return LANES_DATA;
  }
}

typedef struct Walk {
  Region *r;
  LaneClass c;
  bool changed;
} Walk;

static void raise(void *ctx, PtxReg **reg, bool is_def) {
  Walk *w = ctx;
  uint8_t *now = &w->r->lanes[(*reg)->id];
  LaneClass c = later((LaneClass)*now, w->c);
  if (region_bits(*reg) < 32) c = spread(c);  // no linear predicates
  if (!is_def || c == (LaneClass)*now) return;
  *now = (uint8_t)c;
  w->changed = true;
}

static bool visit_instruction(Region *r, uint32_t i) {
  const Inst *first = &r->code->insts[i];
  PtxInstr *in = (PtxInstr *)first->src;
  Shape s = (Shape)r->shape[i];
  if ((s == SHAPE_STOP && !in) || region_is_cold(r, first)) return false;
  Walk w = {.r = r, .c = result_class(r, first, s)};
  if (in->guard) {
    LaneClass g = r->kept[in->guard->id] ? (LaneClass)r->lanes[in->guard->id] : LANES_DATA;
    if (g != LANES_SAME) w.c = later(spread(w.c), later(g, LANES_MIXED));
  }
  uint32_t number = (uint32_t)(uintptr_t)u64map_get(&r->number, (uint64_t)in);
  if (number && r->divergent[r->cfg->block_of[number - 1]]) w.c = LANES_DATA;
  ptx_visit_regs(in, raise, &w);
  return w.changed;
}

// Marks the blocks between a branch that data decides and the place where its ways meet.
static void mark_ways(Region *r, uint32_t branch) {
  const IrCfg *c = r->cfg;
  uint32_t meet = c->blocks[branch].ipdom, n = 0;
  uint32_t *stack = mem_alloc((c->nblocks + 1) * sizeof *stack);
  bool *seen = mem_alloc(c->nblocks + 1);
  for (uint32_t k = 0; k < c->blocks[branch].nsucc; k++) stack[n++] = c->blocks[branch].succ[k];
  while (n) {
    uint32_t b = stack[--n];
    if (b == meet || seen[b]) continue;
    seen[b] = true;
    r->divergent[b] = true;
    for (uint32_t k = 0; k < c->blocks[b].nsucc; k++)
      if (!seen[c->blocks[b].succ[k]] && n < c->nblocks) stack[n++] = c->blocks[b].succ[k];
  }
  free(stack);
  free(seen);
}

static bool find_divergent(Region *r, bool *done) {
  bool changed = false;
  for (uint32_t b = 0; b < r->cfg->nblocks; b++) {
    const IrBlock *k = &r->cfg->blocks[b];
    if (done[b] || k->first == k->end || k->nsucc < 2 || r->cold[b]) continue;
    if (r->cold[k->succ[0]] || r->cold[k->succ[1]]) continue;  // nobody is expected to go there
    const PtxInstr *last = r->cfg->instrs[k->end - 1];
    if (!last->guard || !r->kept[last->guard->id] || r->lanes[last->guard->id] != LANES_DATA)
      continue;
    mark_ways(r, b);
    done[b] = changed = true;
  }
  return changed;
}

typedef struct Lazy {
  Region *r;
  bool keeps, changed;
} Lazy;

static void not_lazy(void *ctx, PtxReg **reg, bool is_def) {
  Lazy *l = ctx;
  bool *lazy = &l->r->lazy_nan[(*reg)->id];
  if (!is_def || l->keeps || !*lazy) return;
  *lazy = false;
  l->changed = true;
}

// Does the instruction only write numbers, canonical NaNs, or what arithmetic gives?
static bool keeps_lazy(const Region *r, uint32_t i) {
  const PtxInstr *in = r->code->insts[i].src;
  Shape s = (Shape)r->shape[i];
  if (s == SHAPE_ELEMENT) return region_is_f32_arithmetic(in) || region_is_approximation(in);
  if (s != SHAPE_COPY) return false;
  const PtxOperand *o = &in->ops[1];
  if (o->kind == OPD_REG) return r->lazy_nan[o->reg->id];
  return o->kind == OPD_FLOAT && !o->is_double && ((uint64_t)o->imm & 0x7fffffff) <= 0x7f800000;
}

static void find_lazy(Region *r) {
  for (uint32_t i = 0; i < r->func->nregs; i++)
    r->lazy_nan[i] = r->kept[i] && r->written[i] && region_bits(r->func->regs[i]) == 32;
  bool changed = true;
  while (changed) {
    changed = false;
    for (uint32_t i = 0; i < r->code->ninsts; i++) {
      if (!r->group_end[i]) continue;
      Lazy l = {.r = r, .keeps = keeps_lazy(r, i)};
      ptx_visit_regs((PtxInstr *)r->code->insts[i].src, not_lazy, &l);
      changed |= l.changed;
    }
  }
}

void region_classify(Region *r) {
  bool *done = mem_alloc(r->cfg->nblocks + 1);
  bool changed = true;
  while (changed) {
    changed = false;
    for (uint32_t i = 0; i < r->code->ninsts; i++)
      if (r->group_end[i]) changed |= visit_instruction(r, i);
    changed |= find_divergent(r, done);
  }
  free(done);
  find_lazy(r);
}
