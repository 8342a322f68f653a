// Finds how far the stores of a kernel reach. Each address becomes an expression over parameters,
// thread and block numbers; from it the host computes, at every launch, the range of the bytes. So
// a large buffer need not be hashed whole after a launch that writes a part of it.
//
// Follows registers that are written once; values from memory, loops or conditions are not known.
#include "weave/pass.h"
#include "weave/store_reach.h"

enum { DEEPEST = 40, MOST = 400 };

static int node(const ReachOf *r, ReachNode n) {
  if (r->out->list.len >= MOST) return -1;
  vec_push(&r->out->list, n);
  return (int)r->out->list.len - 1;
}

static int of_operand(const ReachOf *r, const PtxOperand *o, unsigned depth);

// An operation of the instruction's first two operands.
static int of_two_operands(const ReachOf *r, ReachOp op, const PtxInstr *in, uint8_t bytes,
                           bool is_signed, unsigned depth) {
  int x = of_operand(r, &in->ops[1], depth), y = x < 0 ? -1 : of_operand(r, &in->ops[2], depth);
  return y < 0 ? -1
               : node(r, (ReachNode){.op = op,
                                     .a = (uint16_t)x,
                                     .b = (uint16_t)y,
                                     .bytes = bytes,
                                     .is_signed = is_signed});
}

static int of_param(const ReachOf *r, const PtxInstr *in) {
  const PtxOperand *a = &in->ops[1];
  if (a->kind != OPD_ADDR || a->nlist < 1 || a->list[0].kind != OPD_VAR ||
      in->ops[0].kind != OPD_REG || !ir_is_kernel_param(r->func, &a->list[0]))
    return -1;
  const PtxVar *v = a->list[0].var;
  uint32_t offset = (uint32_t)(a->imm + a->list[0].imm), bytes = ptx_type_size(in->types[0]);
  if (bytes != 4 && bytes != 8) return -1;
  return node(r, (ReachNode){.op = REACH_PARAM,
                             .bytes = (uint8_t)bytes,
                             .param = {.param = v->id,
                                       .param_at = (uint32_t)v->param_offset + offset,
                                       .param_offset = offset}});
}

static int of_instr(const ReachOf *r, const PtxInstr *in, unsigned depth) {
  PtxType t = in->ntypes ? in->types[0] : TYPE_NONE;
  uint8_t bytes = (uint8_t)ptx_type_size(t);
  bool is_signed = t == TYPE_S32 || t == TYPE_S64;
  if (t == TYPE_NONE || ptx_type_kind(t) == KIND_FLOAT || (bytes != 4 && bytes != 8)) return -1;
  switch (ptx_op_result(in->op)) {
    case RESULT_LOAD: return in->space == SPACE_PARAM ? of_param(r, in) : -1;
    case RESULT_COPY:
    case RESULT_ADDRESS: return of_operand(r, &in->ops[1], depth);
    case RESULT_CONVERT: {
      if (in->ntypes < 2 || ptx_type_kind(in->types[1]) == KIND_FLOAT ||
          ptx_type_size(in->types[1]) < 4)
        return -1;
      int x = of_operand(r, &in->ops[1], depth);
      return x < 0 ? -1
                   : node(r, (ReachNode){.op = REACH_CONVERT,
                                         .a = (uint16_t)x,
                                         .bytes = (uint8_t)MIN(ptx_type_size(in->types[1]), bytes),
                                         .is_signed = in->types[1] == TYPE_S32 ||
                                                      in->types[1] == TYPE_S64});
    }
    case RESULT_ADD: return of_two_operands(r, REACH_ADD, in, bytes, is_signed, depth);
    case RESULT_SUB: return of_two_operands(r, REACH_SUB, in, bytes, is_signed, depth);
    case RESULT_SHL: return of_two_operands(r, REACH_SHL, in, bytes, is_signed, depth);
    case RESULT_OR: return of_two_operands(r, REACH_OR, in, bytes, is_signed, depth);
    case RESULT_MUL:
    case RESULT_MAD: {
      bool wide = ptx_has(in, MOD_WIDE);
      if (!wide && !ptx_has(in, MOD_LO)) return -1;
      int x = of_two_operands(r, wide ? REACH_MUL_WIDE : REACH_MUL, in, wide ? 8 : bytes, is_signed,
                              depth);
      if (x < 0 || ptx_op_result(in->op) == RESULT_MUL) return x;
      int y = of_operand(r, &in->ops[3], depth);
      return y < 0 ? -1
                   : node(r, (ReachNode){.op = REACH_ADD,
                                         .a = (uint16_t)x,
                                         .b = (uint16_t)y,
                                         .bytes = wide ? 8 : bytes});
    }
    default: return -1;
  }
}

static int of_operand(const ReachOf *r, const PtxOperand *o, unsigned depth) {
  if (depth > DEEPEST || o->negated) return -1;
  if (o->kind == OPD_INT) return node(r, (ReachNode){.op = REACH_CONST, .value = o->imm});
  if (o->kind == OPD_SREG) {
    static const struct {
      PtxSreg s;
      ReachOp op;
    } known[] = {{SREG_TID, REACH_TID},
                 {SREG_NTID, REACH_NTID},
                 {SREG_CTAID, REACH_CTAID},
                 {SREG_NCTAID, REACH_NCTAID}};
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
      if (o->sreg == known[i].s && o->selector >= SEL_X && o->selector <= SEL_Z)
        return node(r, (ReachNode){.op = known[i].op, .bytes = 4, .value = o->selector - SEL_X});
    return -1;
  }
  if (o->kind != OPD_REG || o->selector != SEL_NONE) return -1;
  void *known = u64map_get(r->known, (uintptr_t)o->reg);
  if (known) return (int)(intptr_t)known - 2;  // 1: not known
  const PtxInstr *in = ir_single_def(r->defs, o->reg);
  int n = in && in->nops && in->ops[0].kind == OPD_REG ? of_instr(r, in, depth + 1) : -1;
  u64map_put(r->known, (uintptr_t)o->reg, (void *)(intptr_t)(n + 2));
  return n;
}

bool reach_add(const ReachOf *r, const PtxOperand *address, uint32_t bytes, ReachRoot *root) {
  if (address->kind != OPD_ADDR || address->nlist != 1 || !bytes) return false;
  int n = of_operand(r, &address->list[0], 0);
  *root = (ReachRoot){.node = (uint16_t)(n < 0 ? 0 : n), .bytes = bytes, .offset = address->imm};
  return n >= 0;
}
