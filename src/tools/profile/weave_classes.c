// Finds the registers that hold the same value in all lanes of a full warp, and those that grow by
// a fixed step from lane to lane.
//
// ir/uniform.c proves this for every warp; here it need only hold when all 32 lanes are at the same
// instruction, and 32-bit indices that are widened to addresses are assumed not to wrap. Both
// assumptions make the usual index of an array affine. A step that only the launch knows (a row
// length that is a parameter) makes a register WIDE; in tiles of 16 by 2 threads rows have a step,
// too. Optimistic fixpoint: every register starts as uniform and is lowered until nothing changes.
// A register that is written at several places keeps its class only if all lanes write it together.
#include "tools/profile/internal.h"

enum { MOST_ROUNDS = 64 };

typedef struct Classes {
  const IrCfg *cfg;
  const IrUniform *proved;  // tells which blocks are not divergent
  const IrDefs *defs;
  LaneShape shape;
  LaneValue *values;
  bool changed;
} Classes;

static const LaneValue same = {LANES_SAME, 0, 0}, any = {LANES_ANY, 0, 0},
                       wide = {LANES_WIDE, 0, 0};

static LaneValue step(int64_t stride, int64_t row) {
  if (!stride && !row) return same;
  bool fits = stride == (int32_t)stride && row == (int32_t)row;
  return fits ? (LaneValue){LANES_STEP, stride, row} : any;
}

static LaneValue operand_value(const Classes *c, const PtxOperand *o) {
  switch (o->kind) {
    case OPD_INT:
    case OPD_FLOAT: return same;
    case OPD_REG: return o->selector == SEL_NONE ? c->values[o->reg->id] : any;
    case OPD_VAR: return o->var->space == SPACE_LOCAL ? any : same;
    case OPD_SREG: break;
    default: return any;
  }
  switch (o->sreg) {
    case SREG_TID:
      if (c->shape == SHAPE_ANY || o->selector == SEL_NONE) return any;
      if (o->selector == SEL_X) return step(1, 0);
      return o->selector == SEL_Y && c->shape == SHAPE_TILES ? step(0, 1) : same;
    case SREG_LANEID: return c->shape == SHAPE_TILES ? any : step(1, 0);
    case SREG_CTAID:
    case SREG_NCTAID:
    case SREG_NTID:
    case SREG_GRIDID:
    case SREG_DYNAMIC_SMEM_SIZE:
    case SREG_TOTAL_SMEM_SIZE: return same;
    default: return any;
  }
}

static bool all_same(const Classes *c, const PtxInstr *in) {
  for (unsigned i = 1; i < in->nops; i++) {
    const PtxOperand *o = &in->ops[i];
    bool list = o->kind == OPD_VECTOR || o->kind == OPD_PAIR || o->kind == OPD_ADDR;
    for (unsigned k = 0; list && k < o->nlist; k++)
      if (operand_value(c, &o->list[k]).class != LANES_SAME) return false;
    if (!list && operand_value(c, o).class != LANES_SAME) return false;
  }
  return true;
}

static LaneValue product(const Classes *c, const PtxInstr *in) {
  LaneValue x = operand_value(c, &in->ops[1]), y = operand_value(c, &in->ops[2]);
  LaneValue z = in->op == OP_MAD ? operand_value(c, &in->ops[3]) : same;
  const PtxOperand *factor = x.class == LANES_SAME ? &in->ops[1] : &in->ops[2];
  if (x.class == LANES_ANY || y.class == LANES_ANY || z.class == LANES_ANY) return any;
  if (!ptx_has(in, MOD_LO) && !ptx_has(in, MOD_WIDE)) return any;
  if (x.class == LANES_SAME && y.class == LANES_SAME) return z;
  bool fixed = factor->kind == OPD_INT && factor->imm == (int32_t)factor->imm;
  bool one = x.class == LANES_SAME || y.class == LANES_SAME;  // otherwise it is a square
  if (!one) return any;
  if (!fixed || x.class == LANES_WIDE || y.class == LANES_WIDE || z.class == LANES_WIDE)
    return wide;
  return step((x.stride + y.stride) * factor->imm + z.stride,
              (x.row + y.row) * factor->imm + z.row);
}

static bool is_integer(const PtxInstr *in) {
  for (unsigned i = 0; i < in->ntypes; i++)
    if (ptx_type_kind(in->types[i]) == KIND_FLOAT || ptx_type_size(in->types[i]) < 4) return false;
  return in->ntypes && !ptx_has(in, MOD_SAT) && !ptx_has(in, MOD_CC);
}

static LaneValue affine_result(const Classes *c, const PtxInstr *in) {
  if (!is_integer(in) || in->nops < 2) return any;
  LaneValue x = operand_value(c, &in->ops[1]);
  LaneValue y = in->nops > 2 ? operand_value(c, &in->ops[2]) : same;
  if (in->op == OP_MUL || in->op == OP_MAD) return product(c, in);
  if (x.class == LANES_ANY || y.class == LANES_ANY) return any;
  switch (in->op) {
    case OP_MOV: return in->nops == 2 ? x : any;
    // a narrower result may wrap
    case OP_CVT:
      return ptx_type_size(in->types[0]) >= ptx_type_size(in->types[in->ntypes - 1]) ? x : any;
    case OP_CVTA: return x;
    case OP_ADD:
      if (x.class == LANES_WIDE || y.class == LANES_WIDE) return wide;
      return step(x.stride + y.stride, x.row + y.row);
    case OP_SUB:
      if (x.class == LANES_WIDE || y.class == LANES_WIDE) return wide;
      return step(x.stride - y.stride, x.row - y.row);
    case OP_SHL:
      if (in->ops[2].kind != OPD_INT || in->ops[2].imm < 0 || in->ops[2].imm > 30) return any;
      if (x.class == LANES_WIDE) return wide;
      return step(x.stride * (1ll << in->ops[2].imm), x.row * (1ll << in->ops[2].imm));
    default: return any;
  }
}

static LaneValue result(const Classes *c, const PtxInstr *in) {
  if (in->op == OP_LD) {
    bool shared_by_all = in->space == SPACE_PARAM || in->space == SPACE_GLOBAL ||
                         in->space == SPACE_SHARED || in->space == SPACE_CONST;
    return shared_by_all && !ptx_has(in, MOD_VOLATILE) && all_same(c, in) ? same : any;
  }
  if (in->op == OP_CVTA) return affine_result(c, in);
  if (!ptx_op_is_arith(in->op) || ptx_has(in, MOD_CC) || in->op == OP_ADDC || in->op == OP_SUBC ||
      in->op == OP_MADC)
    return any;
  return all_same(c, in) ? same : affine_result(c, in);
}

typedef struct Writing {
  Classes *classes;
  LaneValue value;
  bool together;  // all lanes write it at the same time
} Writing;

static void lower(void *ctx, PtxReg **reg, bool is_def) {
  Writing *w = ctx;
  Classes *c = w->classes;
  LaneValue *old = &c->values[(*reg)->id], now = w->value;
  if (!is_def || old->class == LANES_ANY) return;
  bool several = c->defs->instr[(*reg)->id] == IR_SEVERAL;
  if ((*reg)->vector || (several && !w->together)) now = any;
  if (old->class == LANES_UNKNOWN) {
    *old = now;
    c->changed = true;
  } else if (old->class != now.class || old->stride != now.stride || old->row != now.row) {
    *old = any;
    c->changed = true;
  }
}

// false: an operand's class is not known yet, and the next round of the iteration looks again.
static bool operands_known(const Classes *c, const PtxInstr *in) {
  for (unsigned i = 1; i < in->nops; i++) {
    const PtxOperand *o = &in->ops[i];
    unsigned n = o->kind == OPD_REG ? 1 : o->nlist;
    for (unsigned k = 0; k < n; k++) {
      const PtxOperand *x = o->kind == OPD_REG ? o : &o->list[k];
      if (x->kind == OPD_REG && c->values[x->reg->id].class == LANES_UNKNOWN) return false;
    }
  }
  return true;
}

static void round_of(Classes *c, bool optimistic) {
  for (uint32_t b = 0; b < c->cfg->nblocks; b++)
    for (uint32_t i = c->cfg->blocks[b].first; i < c->cfg->blocks[b].end; i++) {
      PtxInstr *in = c->cfg->instrs[i];
      if (optimistic && !operands_known(c, in)) continue;
      bool guard_same = !in->guard || c->values[in->guard->id].class == LANES_SAME;
      Writing w = {c, guard_same ? result(c, in) : any,
                   .together = !c->proved->block_divergent[b] && !in->guard};
      ptx_visit_regs(in, lower, &w);
    }
}

LaneValue *lane_values(const Profiling *w, LaneShape shape) {
  const IrCfg *cfg = w->body->cfg;
  Classes c = {.cfg = cfg, .defs = w->defs, .shape = shape};
  uint32_t n = w->body->func->nregs;
  c.values = ARENA_ARRAY(&w->body->cfg->arena, LaneValue, n + 1);
  for (uint32_t i = 0; i < n; i++) c.values[i].class = LANES_UNKNOWN;
  const PtxReg *choose = w->second == UINT32_MAX ? NULL : w->body->info->second.choose;
  if (choose) c.values[choose->id] = same;
  IrUniform *proved = ir_uniform_build(
      cfg, &(IrUniformFacts){.lanes_are_consecutive = shape == SHAPE_ROWS, .same = choose});
  c.proved = proved;
  // Values carried around a loop are first assumed to have the class of the value that enters it,
  // then checked.
  unsigned rounds = 0;
  do {
    c.changed = false;
    round_of(&c, true);
  } while (c.changed && ++rounds < MOST_ROUNDS);
  for (uint32_t i = 0; i < n; i++)
    if (c.values[i].class == LANES_UNKNOWN) c.values[i] = any;
  do {
    c.changed = false;
    round_of(&c, false);
  } while (c.changed && ++rounds < 2 * MOST_ROUNDS);
  for (uint32_t i = 0; i < n; i++)
    if (c.changed) c.values[i] = any;
  ir_uniform_free(proved);
  return c.values;
}
