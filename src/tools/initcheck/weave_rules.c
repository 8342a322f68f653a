// Picks the rule of rules.def for the results of an instruction.
#include "tools/initcheck/internal.h"

// The build fails if a switch of this pass lacks a rule, a validity or a kind of step.
#pragma GCC diagnostic error "-Wswitch"

unsigned init_rule_values(InitRule rule) {
  static const uint8_t values[] = {
#define RULE(id, values) values,
#include "tools/initcheck/rules.def"
#undef RULE
  };
  return values[rule];
}

// --- what an instruction is ---

static bool is_int(PtxType t) {
  return ptx_type_kind(t) == KIND_BITS || ptx_type_kind(t) == KIND_UNSIGNED ||
         ptx_type_kind(t) == KIND_SIGNED;
}

static bool is_packed(PtxType t) {
  switch (t) {
    case TYPE_F16X2:
    case TYPE_BF16X2:
    case TYPE_U16X2:
    case TYPE_S16X2:
    case TYPE_F32X2: return true;
    default: return false;
  }
}

// x ^ x, x - x
static bool cancels(const PtxInstr *in) {
  return (in->op == OP_XOR || (in->op == OP_SUB && ptx_type_kind(in->types[0]) != KIND_FLOAT)) &&
         in->ops[1].kind == OPD_REG && in->ops[2].kind == OPD_REG &&
         in->ops[1].reg == in->ops[2].reg && !in->ops[1].selector && !in->ops[2].selector;
}

static bool is_two_halves(PtxType t) {
  return t == TYPE_F16X2 || t == TYPE_BF16X2 || t == TYPE_U16X2 || t == TYPE_S16X2;
}
static bool is_video(const PtxInstr *in) { return in->op >= OP_VADD2 && in->op <= OP_VSET4; }
unsigned init_part_bits(const PtxInstr *in) {
  if (is_video(in)) return in->nops != 4 || ptx_has(in, MOD_ADD) ? 0 : in->op >= OP_VADD4 ? 8 : 16;
  // the types that are compared, whatever type the result has
  bool halves = in->op == OP_SET ? in->ntypes == 2 && is_two_halves(in->types[1]) && in->nops == 3
                                 : in->ntypes && in->op != OP_CVT && in->op != OP_SETP &&
                                       is_two_halves(in->types[0]);
  return halves ? 16 : 0;
}
static bool makes_halves(const PtxInstr *in) {
  return in->op == OP_CVT && in->ntypes == 2 && is_two_halves(in->types[0]) &&
         in->types[1] == TYPE_F32 && in->nops == 3;
}

static bool has_plain_registers(const PtxInstr *in) {
  for (unsigned i = 0; i < in->nops; i++)
    if ((in->ops[i].kind == OPD_REG && in->ops[i].selector) || (i && in->ops[i].kind == OPD_VECTOR))
      return false;
  return in->nops && in->ops[0].kind == OPD_REG;
}

// Video instructions with several values in a register: the merged operand does not matter.
static bool ignores_third(const PtxInstr *in) {
  return is_video(in) && init_part_bits(in) && has_plain_registers(in);
}

static bool is_register_or_number(const PtxOperand *o) {
  return (o->kind == OPD_REG || o->kind == OPD_INT) && !o->selector;
}

uint8_t init_table(const PtxInstr *in) {
  unsigned given = (unsigned)in->ops[4].imm & 255, table = 0;
  const PtxOperand *o = &in->ops[1];
  bool ab = o[0].kind == OPD_REG && o[1].kind == OPD_REG && o[0].reg == o[1].reg,
       ac = o[0].kind == OPD_REG && o[2].kind == OPD_REG && o[0].reg == o[2].reg;
  bool bc = o[1].kind == OPD_REG && o[2].kind == OPD_REG && o[1].reg == o[2].reg;
  for (unsigned i = 0; i < 8; i++) {
    unsigned a = i >> 2, b = ab ? a : i >> 1 & 1, c = ac ? a : bc ? b : i & 1;
    table |= (given >> (a << 2 | b << 1 | c) & 1) << i;
  }
  return (uint8_t)table;
}

InitComparison init_comparison(const PtxInstr *in) {
  bool less = ptx_has(in, MOD_LT) || ptx_has(in, MOD_GE) || ptx_has(in, MOD_LO) ||
              ptx_has(in, MOD_HS),
       equal = ptx_has(in, MOD_EQ) || ptx_has(in, MOD_NE);
  return (InitComparison){.order = !equal,
                          .swapped = !equal && !less,
                          .is_signed = ptx_type_kind(in->types[0]) == KIND_SIGNED};
}

// A result narrower than its register is extended: one of a signed type by its sign.
InitConversion init_conversion(const PtxInstr *in) {
  bool to_signed = ptx_type_kind(in->types[0]) == KIND_SIGNED;
  unsigned from = ptx_type_size(in->types[1]) * 8, to = ptx_type_size(in->types[0]) * 8;
  InitConversion how = {.from = from,
                        .to = to_signed ? 64 : to,
                        .is_signed = ptx_type_kind(in->types[1]) == KIND_SIGNED};
  if (to_signed && from >= to && to < ptx_type_size(in->ops[0].reg->type) * 8) {
    how.from = to;
    how.is_signed = true;
  }
  return how;
}

static bool converts_integers(const PtxInstr *in) {
  return in->ntypes >= 2 && is_int(in->types[0]) && is_int(in->types[1]) && !ptx_has(in, MOD_SAT) &&
         in->nops == 2 && in->ops[1].kind == OPD_REG && !in->ops[1].selector;
}

// --- the rule by the instruction alone ---

static bool adds_integers(const PtxInstr *in) {
  PtxType t = in->ntypes ? in->types[0] : TYPE_NONE;
  return ptx_type_kind(t) != KIND_FLOAT && !is_packed(t) && !ptx_has(in, MOD_HI) &&
         !ptx_has(in, MOD_WIDE) && !ptx_has(in, MOD_SAT);
}

static bool compares_integers(const PtxInstr *in) {
  return in->nops == 3 && in->ops[0].kind == OPD_REG && in->ntypes && is_int(in->types[0]) &&
         ptx_type_size(in->types[0]) >= 4 &&
         (in->ops[1].kind == OPD_REG || in->ops[1].kind == OPD_INT) &&
         (in->ops[2].kind == OPD_REG || in->ops[2].kind == OPD_INT);
}

// False for the exclusive or of all three, where every bit counts.
static bool looks_up(const PtxInstr *in) {
  return in->ops[0].kind == OPD_REG && in->nops == 5 && in->ops[4].kind == OPD_INT &&
         init_table(in) != 0x96 && init_table(in) != 0x69;
}

static InitRule rule_of_permute(const PtxInstr *in) {
  if (in->op == OP_BREV || in->op == OP_BFE) return RULE_MOVE_BITS;
  // modes of prmt other than picking bytes
  return in->op == OP_PRMT && in->nmods > 1 ? RULE_SPREAD : RULE_MOVE_TWO;
}

InitRule init_rule(const PtxInstr *in) {
  switch (ptx_op_validity(in->op)) {
    case VALIDITY_NONE:
    case VALIDITY_MEMORY:  // weave_memory.c follows it
    case VALIDITY_GOOD: return RULE_CLEAR;
    case VALIDITY_ALL: return RULE_SPREAD;
    case VALIDITY_SUM: return adds_integers(in) ? RULE_UPWARDS : RULE_SPREAD;
    case VALIDITY_COPY: return RULE_COPY;
    case VALIDITY_AND: return RULE_AND;
    case VALIDITY_OR: return RULE_OR;
    case VALIDITY_XOR: return RULE_JOIN;
    case VALIDITY_TABLE: return looks_up(in) ? RULE_TABLE : RULE_JOIN;
    case VALIDITY_COMPARE: return compares_integers(in) ? RULE_COMPARE : RULE_SPREAD;
    case VALIDITY_SHIFT: return RULE_SHIFT;
    case VALIDITY_CONVERT: return RULE_CONVERT;
    case VALIDITY_SELECT: return RULE_SELECT;
    case VALIDITY_PERMUTE: return rule_of_permute(in);
    case VALIDITY_SHUFFLE: return RULE_SHUFFLE;
    case VALIDITY_VOTE: return RULE_VOTE;
    case VALIDITY_REDUCE: return RULE_REDUCE;
    case VALIDITY_TRANSPOSE: return RULE_TRANSPOSE;
  }
  CHECK(!"a validity without a rule");
  return RULE_SPREAD;
}

bool init_is_exchange(const PtxInstr *in) {
  InitRule rule = init_rule(in);
  return rule == RULE_SHUFFLE || rule == RULE_VOTE || rule == RULE_REDUCE || rule == RULE_TRANSPOSE;
}

bool init_exchanges(const InitCheck *k, const PtxInstr *in, PtxOperand *lanes) {
  if (!init_is_exchange(in) || in->ops[1].kind != OPD_REG || !init_shadow(k, in->ops[1].reg))
    return false;
  *lanes = init_rule(in) == RULE_TRANSPOSE ? opd_imm(0xffffffff) : in->ops[in->nops - 1];
  return true;
}

bool init_can_follow(const InitCheck *k, const PtxInstr *in) {
  PtxOperand lanes;
  bool exchanges = init_exchanges(k, in, &lanes);
  unsigned values = init_rule_values(init_rule(in));
  if (exchanges && (in->guard || !ptx_has(in, MOD_SYNC))) return false;
  if (!values || (init_is_exchange(in) && !exchanges)) return true;
  for (unsigned o = values; o < in->nops; o++)
    if (!is_register_or_number(&in->ops[o]) ||
        (exchanges && in->ops[o].kind == OPD_REG && init_shadow(k, in->ops[o].reg)))
      return false;
  return true;
}

// --- the rule, given which operands have shadows ---

static bool has_shadow(const InitCheck *k, const PtxOperand *o) {
  return o->kind == OPD_REG && !o->selector && init_shadow(k, o->reg);
}

static InitRule rule_of_copy(const PtxInstr *in) {
  const PtxOperand *to = &in->ops[0], *from = &in->ops[1];
  if (to->kind == OPD_REG) return from->kind == OPD_VECTOR ? RULE_PACK : RULE_COPY;
  return to->kind == OPD_VECTOR && from->kind == OPD_REG ? RULE_TAKE_APART : RULE_SPREAD;
}

// Operands that control a shift or a move of bits must be good.
static bool is_led_by_good(const InitCheck *k, const PtxInstr *in, InitRule rule) {
  for (unsigned o = init_rule_values(rule); o < in->nops; o++)
    if (has_shadow(k, &in->ops[o])) return false;
  return true;
}

static InitRule rule_at(const InitResult *r) {
  const PtxInstr *in = r->in;
  InitRule rule = init_rule(in);
  PtxOperand lanes;
  if (!r->nuses) return RULE_CLEAR;
  if (init_is_exchange(in)) return init_exchanges(r->k, in, &lanes) ? rule : RULE_SPREAD;
  if (rule == RULE_COPY) return rule_of_copy(in);
  if (!has_plain_registers(in)) return RULE_SPREAD;
  if (cancels(in)) return RULE_CLEAR;
  if (init_part_bits(in) && r->ndefs == 1) return RULE_PARTS;
  if (makes_halves(in)) return RULE_TWO_HALVES;
  if (rule == RULE_CONVERT && !converts_integers(in)) return RULE_SPREAD;
  if (rule == RULE_SHIFT && ptx_type_size(in->types[0]) < 4) return RULE_SPREAD;
  if ((rule == RULE_SHIFT || rule == RULE_MOVE_BITS || rule == RULE_MOVE_TWO) &&
      !is_led_by_good(r->k, in, rule))
    return RULE_SPREAD;
  return rule;
}

static void collect(void *ctx, PtxReg **reg, bool is_def) {
  InitResult *r = ctx;
  if (!init_shadow(r->k, *reg)) return;
  if (is_def && r->ndefs < INIT_MOST_REGS) r->defs[r->ndefs++] = *reg;
  else if (!is_def && *reg != r->in->guard && r->nuses < INIT_MOST_REGS) r->uses[r->nuses++] = *reg;
}

bool init_result(InitCheck *k, const PtxInstr *in, InitResult *r) {
  *r = (InitResult){.k = k, .in = in};
  ptx_visit_regs((PtxInstr *)in, collect, r);
  if (!r->ndefs || in->op == OP_LD || in->op == OP_LDU || in->op == OP_ATOM) return false;
  if (init_rule(in) == RULE_CLEAR) r->nuses = 0;
  if (ignores_third(in)) {
    r->nuses = 0;
    for (unsigned o = 1; o <= 2; o++)
      if (has_shadow(k, &in->ops[o])) r->uses[r->nuses++] = in->ops[o].reg;
  }
  r->rule = rule_at(r);
  if (in->guard && !init_is_decision(in) && init_shadow(k, in->guard)) r->spoiled_by = in->guard;
  return true;
}
