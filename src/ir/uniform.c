// uniform: which registers hold the same value in all lanes of a warp, and which grow by a fixed
// step from lane to lane.
//
// Optimistic fixpoint: everything starts uniform and is lowered until nothing changes. A branch
// whose condition differs between lanes makes the blocks up to the place where the lanes meet again
// divergent; what is written there varies. Lanes meet at the nearest post-dominator that comes
// after the whole region in IrCfg.order (see the header for what that asks of the device). The
// analysis promises nothing for irreducible graphs, functions other than kernels, and code after
// calls of functions with a body.
#include "ir/ir.h"

enum { MOST_ROUNDS = 64, NOT_WRITTEN = INT32_MIN };

typedef struct Value {
  uint8_t class;
  int64_t stride;
} Value;  // of one operand or result

typedef struct Analysis {
  const IrCfg *c;
  const IrUniformFacts *facts;
  IrUniform *u;
  Arena arena;
  bool *split;             // block whose branch is known to be divergent
  uint32_t *region_join;   // block -> join of the last region it was put into
  uint32_t *seen, search;  // block -> last search that saw it
  bool changed;
} Analysis;

static const Value uniform = {IR_UNIFORM, 0}, varying = {IR_VARYING, 0};

static Value affine(int64_t stride) {
  if (stride == 0) return uniform;
  return stride == (int32_t)stride && stride != NOT_WRITTEN ? (Value){IR_AFFINE, stride} : varying;
}

// --- operands ---

static Value special_register(const Analysis *a, const PtxOperand *o) {
  switch (o->sreg) {
    case SREG_TID:
      if (!a->facts->lanes_are_consecutive) return varying;
      return o->selector == SEL_X ? affine(1) : o->selector == SEL_NONE ? varying : uniform;
    case SREG_LANEID: return a->facts->whole_block ? varying : affine(1);
    case SREG_WARPID: return a->facts->whole_block ? varying : uniform;
    case SREG_CTAID:
    case SREG_NCTAID:
    case SREG_NTID:
    case SREG_NWARPID:
    case SREG_GRIDID:
    case SREG_SMID:
    case SREG_NSMID:
    case SREG_DYNAMIC_SMEM_SIZE:
    case SREG_TOTAL_SMEM_SIZE: return uniform;
    default: return varying;
  }
}

static Value operand(const Analysis *a, const PtxOperand *o) {
  switch (o->kind) {
    case OPD_INT:
    case OPD_FLOAT:
    case OPD_FUNC:
    case OPD_SINK: return uniform;
    case OPD_REG:
      if (o->selector != SEL_NONE)
        return a->u->reg_class[o->reg->id] == IR_UNIFORM ? uniform : varying;
      return a->u->stride[o->reg->id] == NOT_WRITTEN
                 ? uniform
                 : (Value){a->u->reg_class[o->reg->id], a->u->stride[o->reg->id]};
    case OPD_SREG: return special_register(a, o);
    // every lane has its own local memory
    case OPD_VAR: return o->var->space == SPACE_LOCAL ? varying : uniform;
    default: return varying;
  }
}

static bool all_uniform(const Analysis *a, const PtxInstr *in, unsigned from) {
  for (unsigned i = from; i < in->nops; i++) {
    const PtxOperand *o = &in->ops[i];
    if (o->kind == OPD_VECTOR || o->kind == OPD_PAIR || o->kind == OPD_ADDR) {
      for (unsigned k = 0; k < o->nlist; k++)
        if (operand(a, &o->list[k]).class != IR_UNIFORM) return false;
    } else if (operand(a, o).class != IR_UNIFORM) {
      return false;
    }
  }
  return true;
}

// --- results ---

static bool is_constant(const PtxOperand *o, int64_t *value) {
  *value = o->imm;
  return o->kind == OPD_INT;
}

static bool is_plain_integer(const PtxInstr *in, unsigned size) {
  if (in->ntypes != 1 || ptx_type_size(in->types[0]) != size ||
      ptx_type_kind(in->types[0]) == KIND_FLOAT)
    return false;
  return !ptx_has(in, MOD_SAT) && !ptx_has(in, MOD_CC);
}

// Sums and multiples of lane numbers, modulo the width of the register.
static Value affine_result(const Analysis *a, const PtxInstr *in) {
  unsigned size = in->ntypes ? ptx_type_size(in->types[0]) : 0;
  if ((size != 4 && size != 8) || !is_plain_integer(in, size)) return varying;
  if (in->ops[0].kind != OPD_REG || in->ops[0].selector != SEL_NONE ||
      ptx_type_size(in->ops[0].reg->type) != size)
    return varying;
  Value x = in->nops > 1 ? operand(a, &in->ops[1]) : varying,
        y = in->nops > 2 ? operand(a, &in->ops[2]) : uniform;
  Value z = in->nops > 3 ? operand(a, &in->ops[3]) : uniform;
  int64_t k;
  if (x.class == IR_VARYING || y.class == IR_VARYING || z.class == IR_VARYING) return varying;
  switch (ptx_op_result(in->op)) {
    case RESULT_COPY: return in->nops == 2 ? affine(x.stride) : varying;
    case RESULT_ADD: return affine(x.stride + y.stride);
    case RESULT_SUB: return affine(x.stride - y.stride);
    case RESULT_SHL:
      if (x.class == IR_AFFINE && is_constant(&in->ops[2], &k) && k >= 0 && k < 31)
        return affine(x.stride * (1ll << k));
      return varying;
    case RESULT_MUL:
    case RESULT_MAD:
      if (!ptx_has(in, MOD_LO)) return varying;
      if (ptx_op_result(in->op) == RESULT_MUL) z = uniform;
      if (x.class == IR_AFFINE && is_constant(&in->ops[2], &k) && k == (int32_t)k)
        return affine(x.stride * k + z.stride);
      if (y.class == IR_AFFINE && is_constant(&in->ops[1], &k) && k == (int32_t)k)
        return affine(y.stride * k + z.stride);
      if (x.class == IR_UNIFORM && y.class == IR_UNIFORM) return affine(z.stride);
      return varying;
    default: return varying;
  }
}

// Whether a load reads memory that all lanes share; for block-uniformity nothing may write that
// memory, either. Parameter space also holds arguments and results of calls, which differ by lane.
static bool is_shared_load(const Analysis *a, const PtxInstr *in) {
  if (ptx_has(in, MOD_VOLATILE)) return false;
  if (in->space == SPACE_PARAM)
    return in->nops > 1 && in->ops[1].kind == OPD_ADDR &&
           ir_is_kernel_param(a->c->func, &in->ops[1].list[0]);
  if (a->facts->whole_block)
    return in->space == SPACE_CONST || ptx_has(in, MOD_NC) ||
           (in->space == SPACE_SHARED && a->facts->same_in_block &&
            a->facts->same_in_block(a->facts->user, in));
  return in->space == SPACE_GLOBAL || in->space == SPACE_SHARED || in->space == SPACE_CONST;
}

static Value result(const Analysis *a, const PtxInstr *in) {
  if (a->facts->differs && a->facts->differs(a->facts->user, in)) return varying;
  switch (in->op) {
    case OP_VOTE:
    case OP_REDUX:  // one answer for the warp, given one mask
      return !a->facts->whole_block && ptx_has(in, MOD_SYNC) &&
                     operand(a, &in->ops[in->nops - 1]).class == IR_UNIFORM
                 ? uniform
                 : varying;
    case OP_ACTIVEMASK: return a->facts->whole_block ? varying : uniform;
    // one answer for the block
    case OP_BAR:
    case OP_BARRIER:
      return a->facts->whole_block && ptx_has(in, MOD_RED) && in->nops == 3 ? uniform : varying;
    case OP_CVTA: return all_uniform(a, in, 1) && in->space != SPACE_LOCAL ? uniform : varying;
    case OP_ISSPACEP: return all_uniform(a, in, 1) ? uniform : varying;
    case OP_LD: return is_shared_load(a, in) && all_uniform(a, in, 1) ? uniform : varying;
    default: break;
  }
  if (!ptx_op_is_arith(in->op)) return varying;
  // the carry is no register
  if (ptx_has(in, MOD_CC) || in->op == OP_ADDC || in->op == OP_SUBC || in->op == OP_MADC)
    return varying;
  return all_uniform(a, in, 1) ? uniform : affine_result(a, in);
}

// --- lowering ---

typedef struct Def {
  Analysis *a;
  Value v;
} Def;

static void lower(void *ctx, PtxReg **reg, bool is_def) {
  Def *d = ctx;
  IrUniform *u = d->a->u;
  uint32_t r = (*reg)->id;
  if (!is_def || u->reg_class[r] == IR_VARYING) return;
  Value v = (*reg)->vector ? varying : d->v;
  // The first write sets the class, all others must agree with it.
  bool first = u->stride[r] == NOT_WRITTEN;
  uint8_t class = v.class;
  if (!first && class != IR_VARYING && v.stride != u->stride[r]) class = IR_VARYING;
  if (class == IR_VARYING) {
    u->reg_class[r] = IR_VARYING;
    u->stride[r] = 0;
    d->a->changed = true;
  } else if (first) {
    u->reg_class[r] = class;
    u->stride[r] = (int32_t)v.stride;
    d->a->changed = true;
  }
}

static void lower_block(Analysis *a, uint32_t block) {
  const IrBlock *b = &a->c->blocks[block];
  for (uint32_t i = b->first; i < b->end; i++) {
    PtxInstr *in = a->c->instrs[i];
    bool same_guard = !in->guard || a->u->reg_class[in->guard->id] == IR_UNIFORM;
    Def d = {a, a->u->block_divergent[block] || !same_guard ? varying : result(a, in)};
    if (in->guard && d.v.class == IR_AFFINE) d.v = varying;
    ptx_visit_regs(in, lower, &d);
  }
}

// --- divergence ---

// Lanes that get here are finished: nothing but the end of the kernel.
static bool only_ends(const IrCfg *c, uint32_t block) {
  const IrBlock *b = &c->blocks[block];
  if (b->nsucc) return false;
  for (uint32_t i = b->first; i < b->end; i++)
    if (c->instrs[i]->guard || (c->instrs[i]->op != OP_RET && c->instrs[i]->op != OP_EXIT))
      return false;
  return true;
}

static void mark_divergent(Analysis *a, uint32_t block) {
  if (a->u->block_divergent[block]) return;
  a->u->block_divergent[block] = true;
  a->changed = true;
}

// Visits the blocks between the branch and its join. False: one of them comes after the join in the
// order of execution, so that lanes waiting there would be overtaken.
static bool flood(Analysis *a, uint32_t block, uint32_t join, uint32_t *stack, bool mark) {
  const IrCfg *c = a->c;
  uint32_t top = 0;
  bool ok = true, first = true;
  a->search++;
  stack[top++] = block;
  while (top && ok) {
    uint32_t b = stack[--top];
    if (!first && join != IR_NONE && c->blocks[b].rpo > c->blocks[join].rpo && !only_ends(c, b))
      ok = false;
    if (!first && mark) {
      mark_divergent(a, b);
      a->region_join[b] = join;
    }
    first = false;
    for (uint32_t i = 0; i < c->blocks[b].nsucc; i++) {
      uint32_t s = c->blocks[b].succ[i];
      if (s == join || a->seen[s] == a->search) continue;
      a->seen[s] = a->search;
      stack[top++] = s;
    }
  }
  return ok;
}

static void split_at(Analysis *a, uint32_t block, uint32_t *stack) {
  const IrCfg *c = a->c;
  uint32_t join = c->blocks[block].ipdom;
  if (a->split[block]) return;
  a->split[block] = true;
  while (join != IR_NONE && c->blocks[join].rpo <= c->blocks[block].rpo)
    join = c->blocks[join].ipdom;
  // inside a divergent region with the same join
  if (a->u->block_divergent[block] && a->region_join[block] == join) return;
  while (join != IR_NONE && !flood(a, block, join, stack, false)) join = c->blocks[join].ipdom;
  flood(a, block, join, stack, true);
}

// A branch with only one side that goes on does not diverge: the other lanes are finished. They run
// the end without the rest.
static bool branch_diverges(Analysis *a, uint32_t block) {
  const IrCfg *c = a->c;
  const IrBlock *b = &c->blocks[block];
  if (b->end == b->first) return false;
  const PtxInstr *in = c->instrs[b->end - 1];
  bool guard_varies = in->guard && a->u->reg_class[in->guard->id] != IR_UNIFORM;
  bool index_varies = in->op == OP_BRX_IDX && operand(a, &in->ops[0]).class != IR_UNIFORM;
  if ((in->op != OP_BRA && in->op != OP_BRX_IDX) || (!guard_varies && !index_varies)) return false;
  uint32_t ways = 0;
  for (uint32_t i = 0; i < b->nsucc; i++) {
    if (only_ends(c, b->succ[i])) mark_divergent(a, b->succ[i]);
    else ways++;
  }
  return ways > 1;
}

// After a call of a function with a body, nothing says where its lanes meet.
static void split_at_calls(Analysis *a, uint32_t *stack) {
  const IrCfg *c = a->c;
  for (uint32_t i = 0; i < c->ninstrs; i++) {
    const PtxInstr *in = c->instrs[i];
    if (in->op != OP_CALL ||
        (in->nops > 1 && in->ops[1].kind == OPD_FUNC && in->ops[1].func->is_declaration))
      continue;
    mark_divergent(a, c->block_of[i]);
    flood(a, c->block_of[i], IR_NONE, stack, true);
  }
}

static bool is_reducible(const IrCfg *c) {
  for (uint32_t b = 0; b < c->nblocks; b++)
    for (uint32_t i = 0; i < c->blocks[b].nsucc && c->blocks[b].rpo != IR_NONE; i++) {
      uint32_t s = c->blocks[b].succ[i];
      if (c->blocks[s].rpo <= c->blocks[b].rpo && !ir_dominates(c, s, b)) return false;
    }
  return true;
}

static void give_up(const IrCfg *c, IrUniform *u) {
  for (uint32_t r = 0; r < c->func->nregs; r++) {
    u->reg_class[r] = IR_VARYING;
    u->stride[r] = 0;
  }
  for (uint32_t b = 0; b < c->nblocks; b++) u->block_divergent[b] = true;
}

static void assume_uniform(void *ctx, PtxReg **reg, bool is_def) {
  IrUniform *u = ctx;
  if (!is_def) return;
  u->reg_class[(*reg)->id] = IR_UNIFORM;
  u->stride[(*reg)->id] = NOT_WRITTEN;
}

IrUniform *ir_uniform_build(const IrCfg *c, const IrUniformFacts *facts) {
  IrUniform *u = mem_alloc(sizeof *u);
  Analysis a = {.c = c, .facts = facts, .u = u};
  uint32_t nregs = c->func->nregs, rounds = 0;
  u->reg_class = ARENA_ARRAY(&u->arena, uint8_t, nregs + 1);
  u->stride = ARENA_ARRAY(&u->arena, int32_t, nregs + 1);
  u->block_divergent = ARENA_ARRAY(&u->arena, bool, c->nblocks);
  a.split = ARENA_ARRAY(&a.arena, bool, c->nblocks);
  a.seen = ARENA_ARRAY(&a.arena, uint32_t, c->nblocks);
  a.region_join = ARENA_ARRAY(&a.arena, uint32_t, c->nblocks);
  uint32_t *stack = ARENA_ARRAY(&a.arena, uint32_t, c->nblocks + 1);
  for (uint32_t r = 0; r < nregs; r++) {
    u->reg_class[r] = IR_VARYING;  // if it is never written
    u->stride[r] = 0;
  }
  if (facts && facts->same) u->reg_class[facts->same->id] = IR_UNIFORM;
  for (uint32_t i = 0; i < c->ninstrs; i++) ptx_visit_regs(c->instrs[i], assume_uniform, u);
  for (uint32_t b = 0; b < c->nblocks; b++) a.region_join[b] = IR_NONE - 1;
  bool usable = c->func->is_entry && is_reducible(c);
  if (usable) split_at_calls(&a, stack);
  for (a.changed = usable; a.changed && rounds < MOST_ROUNDS; rounds++) {
    a.changed = false;
    for (uint32_t i = 0; i < c->norder; i++) {
      lower_block(&a, c->order[i]);
      if (branch_diverges(&a, c->order[i])) split_at(&a, c->order[i], stack);
    }
  }
  if (!usable || rounds == MOST_ROUNDS) give_up(c, u);
  for (uint32_t r = 0; r < nregs; r++)
    if (u->stride[r] == NOT_WRITTEN) {  // written only in unreachable blocks
      u->reg_class[r] = IR_VARYING;
      u->stride[r] = 0;
    }
  arena_free(&a.arena);
  return u;
}

void ir_uniform_free(IrUniform *u) {
  if (!u) return;
  arena_free(&u->arena);
  free(u);
}
