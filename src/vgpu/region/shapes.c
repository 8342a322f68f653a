// The instructions that the compiler supports, and their effect on values that are the same or
// linear over the lanes of a warp.
#include "vgpu/region/region.h"

PtxType region_type(const PtxInstr *in) {
  return in->ntypes ? in->types[in->ntypes - 1] : TYPE_NONE;
}

bool region_is_head(const Inst *in) { return in->fn == region_join || in->fn == region_enter; }

bool region_is_control(const Inst *in) {
  return region_is_head(in) || in->fn == exec_join || in->fn == exec_jump || in->fn == exec_branch;
}

static bool is_immediate(const PtxOperand *o) { return o->kind == OPD_INT || o->kind == OPD_FLOAT; }

static bool is_plain_int(PtxType t) {
  switch (t) {
    case TYPE_U16:
    case TYPE_S16:
    case TYPE_B16:
    case TYPE_U32:
    case TYPE_S32:
    case TYPE_B32:
    case TYPE_U64:
    case TYPE_S64:
    case TYPE_B64: return true;
    default: return false;
  }
}

static bool has_any(const PtxInstr *in, const PtxMod *mods, unsigned n) {
  for (unsigned k = 0; k < n; k++)
    if (ptx_has(in, mods[k])) return true;
  return false;
}

// Rounding and clamping that only the execute functions know.
static bool is_modified(const PtxInstr *in) {
  static const PtxMod mods[] = {MOD_SAT, MOD_APPROX, MOD_FULL, MOD_RZ,      MOD_RM,  MOD_RP,
                                MOD_CC,  MOD_RELU,   MOD_NAN,  MOD_XORSIGN, MOD_ABS, MOD_OOB};
  return has_any(in, mods, ARRAY_LEN(mods));
}

// A register of the compiled code as wide as t, or a number.
static bool fits(const Region *r, const PtxOperand *o, PtxType t) {
  if (is_immediate(o)) return !o->negated;
  return o->kind == OPD_REG && r->kept[o->reg->id] && !o->selector &&
         (!o->negated || t == TYPE_PRED) &&
         region_bits(o->reg) == (t == TYPE_PRED ? 1 : 8 * slot_width(t));
}

// Operand k has the type types[k].
static bool operands_fit(const Region *r, const PtxInstr *in, const PtxType *types, unsigned n) {
  if (in->nops != n || in->ops[0].kind != OPD_REG) return false;
  for (unsigned k = 0; k < n; k++)
    if (!fits(r, &in->ops[k], types[k])) return false;
  return true;
}

static bool all_fit(const Region *r, const PtxInstr *in, PtxType t, unsigned n) {
  return operands_fit(r, in, (PtxType[]){t, t, t, t}, n);
}

static Shape wide_shape(const Region *r, const PtxInstr *in, PtxType t) {
  if (ptx_type_size(t) != 4) return SHAPE_UNKNOWN;
  PtxType w = TYPE_B64;
  if (in->op == OP_MUL)
    return operands_fit(r, in, (PtxType[]){w, t, t}, 3) ? SHAPE_MUL_WIDE : SHAPE_UNKNOWN;
  return operands_fit(r, in, (PtxType[]){w, t, t, w}, 4) ? SHAPE_MAD_WIDE : SHAPE_UNKNOWN;
}

// add, sub … of integers.
static Shape integer_shape(const Region *r, const PtxInstr *in, PtxType t) {
  unsigned size = ptx_type_size(t);
  if (!is_plain_int(t) || is_modified(in)) return SHAPE_UNKNOWN;
  bool linear = size >= 4;
  switch (in->op) {
    case OP_ADD: return all_fit(r, in, t, 3) ? (linear ? SHAPE_ADD : SHAPE_ELEMENT) : SHAPE_UNKNOWN;
    case OP_SUB: return all_fit(r, in, t, 3) ? (linear ? SHAPE_SUB : SHAPE_ELEMENT) : SHAPE_UNKNOWN;
    case OP_MUL:
      if (ptx_has(in, MOD_WIDE)) return wide_shape(r, in, t);
      if (!all_fit(r, in, t, 3)) return SHAPE_UNKNOWN;
      return linear && !ptx_has(in, MOD_HI) ? SHAPE_MUL : SHAPE_ELEMENT;
    case OP_MAD:
      if (ptx_has(in, MOD_WIDE)) return wide_shape(r, in, t);
      if (!all_fit(r, in, t, 4)) return SHAPE_UNKNOWN;
      return linear && !ptx_has(in, MOD_HI) ? SHAPE_MAD : SHAPE_ELEMENT;
    case OP_SAD: return all_fit(r, in, t, 4) ? SHAPE_ELEMENT : SHAPE_UNKNOWN;
    case OP_NEG: return all_fit(r, in, t, 2) ? (linear ? SHAPE_NEG : SHAPE_ELEMENT) : SHAPE_UNKNOWN;
    case OP_ABS: return all_fit(r, in, t, 2) ? SHAPE_ELEMENT : SHAPE_UNKNOWN;
    case OP_MIN:
    case OP_MAX:
    case OP_DIV:
    case OP_REM: return all_fit(r, in, t, 3) ? SHAPE_ELEMENT : SHAPE_UNKNOWN;
    default: return SHAPE_UNKNOWN;
  }
}

static bool are_numbers(const PtxInstr *in, unsigned from) {
  for (unsigned k = from; k < in->nops; k++)
    if (in->ops[k].kind != OPD_INT) return false;
  return true;
}

// Each nibble of the selector names a byte, not its sign.
static bool is_plain_permutation(const PtxInstr *in) {
  static const PtxMod modes[] = {MOD_F4E, MOD_B4E, MOD_RC8, MOD_ECL, MOD_ECR, MOD_RC16};
  return !has_any(in, modes, ARRAY_LEN(modes)) && in->nops == 4 && are_numbers(in, 3) &&
         !(in->ops[3].imm & 0x8888);
}

// LLVM writes the lower half of a register so, for a conversion to 32 bits and back.
static bool keeps_low_half(const PtxInstr *in, PtxType t) {
  return in->op == OP_AND && ptx_type_size(t) == 8 && in->ops[1].kind == OPD_REG &&
         in->ops[2].kind == OPD_INT && in->ops[2].imm == UINT32_MAX;
}

static Shape logic_shape(const Region *r, const PtxInstr *in, PtxType t) {
  if (t == TYPE_PRED) {
    bool one = in->op == OP_NOT;
    return (one || in->op == OP_AND || in->op == OP_OR || in->op == OP_XOR) &&
                   all_fit(r, in, t, one ? 2 : 3)
               ? SHAPE_ELEMENT
               : SHAPE_UNKNOWN;
  }
  if (!is_plain_int(t)) return SHAPE_UNKNOWN;
  switch (in->op) {
    case OP_NOT:
    case OP_CNOT: return all_fit(r, in, t, 2) ? SHAPE_ELEMENT : SHAPE_UNKNOWN;
    case OP_SHF: return all_fit(r, in, t, 4) ? SHAPE_ELEMENT : SHAPE_UNKNOWN;
    case OP_PRMT:
      return is_plain_permutation(in) && all_fit(r, in, t, 4) ? SHAPE_ELEMENT : SHAPE_UNKNOWN;
    case OP_LOP3:
      return in->nops == 5 && are_numbers(in, 4) &&
                     operands_fit(r, in, (PtxType[]){t, t, t, t, t}, 5)
                 ? SHAPE_ELEMENT
                 : SHAPE_UNKNOWN;
    case OP_AND:
    case OP_OR:
    case OP_XOR:
      if (!all_fit(r, in, t, 3)) return SHAPE_UNKNOWN;
      return keeps_low_half(in, t) ? SHAPE_LOW : SHAPE_ELEMENT;
    case OP_SHL:
    case OP_SHR: {
      if (!operands_fit(r, in, (PtxType[]){t, t, TYPE_U32}, 3)) return SHAPE_UNKNOWN;
      bool small = in->ops[2].kind == OPD_INT && (uint32_t)in->ops[2].imm < 8 * ptx_type_size(t);
      return in->op == OP_SHL && small && ptx_type_size(t) >= 4 ? SHAPE_SHL : SHAPE_ELEMENT;
    }
    default: return SHAPE_UNKNOWN;
  }
}

bool region_is_f32_arithmetic(const PtxInstr *in) {
  if (in->ntypes != 1 || in->types[0] != TYPE_F32 || is_modified(in)) return false;
  switch (in->op) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_FMA:
    case OP_MAD:
    case OP_DIV:
    case OP_RCP:
    case OP_SQRT: return true;
    default: return false;
  }
}

static unsigned operand_count(const PtxInstr *in) {
  switch (in->op) {
    case OP_FMA:
    case OP_MAD: return 4;
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_DIV:
    case OP_MIN:
    case OP_MAX: return 3;
    default: return 2;
  }
}

static Shape float_shape(const Region *r, const PtxInstr *in, PtxType t) {
  if (region_is_approximation(in))
    return all_fit(r, in, t, operand_count(in)) ? SHAPE_ELEMENT : SHAPE_UNKNOWN;
  if (in->ntypes != 1 || (t != TYPE_F32 && t != TYPE_F64) || is_modified(in)) return SHAPE_UNKNOWN;
  switch (in->op) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_FMA:
    case OP_MAD:
    case OP_DIV:
    case OP_SQRT:
    case OP_NEG:
    case OP_ABS:
    case OP_RCP:
    case OP_MIN:
    case OP_MAX: break;
    default: return SHAPE_UNKNOWN;
  }
  return all_fit(r, in, t, operand_count(in)) ? SHAPE_ELEMENT : SHAPE_UNKNOWN;
}

static Shape setp_shape(const Region *r, const PtxInstr *in, PtxType t) {
  if (!(is_plain_int(t) || t == TYPE_F32 || t == TYPE_F64)) return SHAPE_UNKNOWN;
  PtxType types[] = {TYPE_PRED, t, t, TYPE_PRED};
  bool combined = ptx_has(in, MOD_AND) || ptx_has(in, MOD_OR) || ptx_has(in, MOD_XOR);
  return operands_fit(r, in, types, combined ? 4 : 3) ? SHAPE_ELEMENT : SHAPE_UNKNOWN;
}

static bool is_known_sreg(const PtxOperand *o) {
  if (o->selector > SEL_Z) return false;
  switch (o->sreg) {
    case SREG_TID:
    case SREG_NTID:
    case SREG_CTAID:
    case SREG_NCTAID:
    case SREG_LANEID: return true;
    default: return false;
  }
}

// Registers of the compiled code, or numbers or sinks, which together are one of `bits` bits.
static bool parts_fit(const Region *r, const PtxOperand *o, unsigned bits, bool written) {
  unsigned n = o->nlist;
  if (o->kind != OPD_VECTOR || (n != 2 && n != 4) || bits / n < 16) return false;
  for (unsigned k = 0; k < n; k++) {
    const PtxOperand *e = &o->list[k];
    bool reg = e->kind == OPD_REG && r->kept[e->reg->id] && !e->selector && !e->negated &&
               region_bits(e->reg) == bits / n;
    if (!reg && !(written ? e->kind == OPD_SINK : is_immediate(e))) return false;
  }
  return true;
}

static Shape parts_shape(const Region *r, const PtxInstr *in, PtxType t) {
  if (in->guard || in->nops != 2 || ptx_has(in, MOD_V2) || ptx_has(in, MOD_V4))
    return SHAPE_UNKNOWN;
  if (ptx_type_size(t) < 4 || ptx_type_size(t) > 8) return SHAPE_UNKNOWN;
  unsigned bits = 8 * ptx_type_size(t);
  const PtxOperand *d = &in->ops[0], *s = &in->ops[1];
  if (d->kind == OPD_REG && fits(r, d, t) && parts_fit(r, s, bits, false)) return SHAPE_PACK;
  bool whole = s->kind == OPD_REG && fits(r, s, t);
  return whole && parts_fit(r, d, bits, true) ? SHAPE_UNPACK : SHAPE_UNKNOWN;
}

static Shape mov_shape(const Region *r, const Inst *first, uint32_t n) {
  const PtxInstr *in = first->src;
  PtxType t = region_type(in);
  Shape parts = n == 1 ? parts_shape(r, in, t) : SHAPE_UNKNOWN;
  if (parts != SHAPE_UNKNOWN) return parts;
  if (n != 1 || in->nops != 2 || in->ops[0].kind != OPD_REG || ptx_has(in, MOD_V2) ||
      ptx_has(in, MOD_V4) || !fits(r, &in->ops[0], t))
    return SHAPE_UNKNOWN;
  const PtxOperand *s = &in->ops[1];
  if (s->kind == OPD_SREG)
    return ptx_type_size(t) >= 4 && is_known_sreg(s) ? SHAPE_SREG : SHAPE_UNKNOWN;
  if (s->kind == OPD_VAR && ptx_type_size(t) >= 4) return SHAPE_VARIABLE;
  return fits(r, s, t) ? SHAPE_COPY : SHAPE_UNKNOWN;
}

static bool is_int(PtxType t) { return t == TYPE_U8 || t == TYPE_S8 || is_plain_int(t); }

static bool is_register(const Region *r, const PtxOperand *o) {
  return o->kind == OPD_REG && r->kept[o->reg->id] && !o->selector && !o->negated &&
         region_bits(o->reg) >= 16;
}

static bool is_half(PtxType t) { return t == TYPE_F16 || t == TYPE_BF16; }
static bool is_plain_float(PtxType t) { return is_half(t) || t == TYPE_F32 || t == TYPE_F64; }

// Is a conversion from or to a float one that convert.c knows?
static bool is_known_float_cvt(const PtxInstr *in, PtxType to, PtxType from) {
  static const PtxMod others[] = {MOD_APPROX, MOD_RZ,  MOD_RM,       MOD_RP,
                                  MOD_RELU,   MOD_NAN, MOD_SATFINITE};
  bool ftz = ptx_has(in, MOD_FTZ), sat = ptx_has(in, MOD_SAT);
  if (has_any(in, others, ARRAY_LEN(others))) return false;
  if (ftz && (from != TYPE_F32 || is_half(to))) return false;
  if (sat && (from != TYPE_F32 || to != TYPE_F32)) return false;
  if (!(is_plain_float(to) || is_int(to)) || !(is_plain_float(from) || is_int(from))) return false;
  if (is_half(to)) return from == TYPE_F32;
  return !(is_half(from) && to == TYPE_F64);
}

static Shape cvt_shape(const Region *r, const PtxInstr *in) {
  if (in->ntypes != 2 || in->nops != 2 || !is_register(r, &in->ops[0]) ||
      !is_register(r, &in->ops[1]))
    return SHAPE_UNKNOWN;
  PtxType to = in->types[0], from = in->types[1];
  unsigned d = ptx_type_size(to), s = ptx_type_size(from);
  if (region_bits(in->ops[1].reg) < 8 * s) return SHAPE_UNKNOWN;
  if (is_int(to) && is_int(from)) {
    if (is_modified(in) || ptx_has(in, MOD_FTZ)) return SHAPE_UNKNOWN;
    if (d < 4 || s < 4) return SHAPE_ELEMENT;
    if (!operands_fit(r, in, (PtxType[]){to, from}, 2)) return SHAPE_UNKNOWN;
    return d == s ? SHAPE_COPY : d > s ? SHAPE_WIDEN : SHAPE_NARROW;
  }
  if (!is_known_float_cvt(in, to, from)) return SHAPE_UNKNOWN;
  unsigned bits = region_bits(in->ops[0].reg);
  bool fits_in = is_plain_float(to) && !is_half(to) ? bits == 8 * d : bits >= 8 * d;
  return fits_in ? SHAPE_ELEMENT : SHAPE_UNKNOWN;
}

static Shape bits_shape(const Region *r, const PtxInstr *in, PtxType t) {
  bool known = false;
  PtxType n = TYPE_U32;
  switch (in->op) {
    case OP_POPC:
    case OP_CLZ:
    case OP_BFIND: known = operands_fit(r, in, (PtxType[]){n, t}, 2); break;
    case OP_BREV: known = all_fit(r, in, t, 2); break;
    case OP_BFE:
      known = in->nops == 4 && are_numbers(in, 2) &&
              operands_fit(r, in, (PtxType[]){t, t, n, n}, 4);
      break;
    case OP_BFI:
      known = in->nops == 5 && are_numbers(in, 3) &&
              operands_fit(r, in, (PtxType[]){t, t, t, n, n}, 5);
      break;
    case OP_DP4A: known = all_fit(r, in, n, 4); break;
    default: break;
  }
  return known ? SHAPE_ELEMENT : SHAPE_UNKNOWN;
}

// Loads and stores whose addresses are looked at here. Others go to their execute functions.
static Shape access_shape(const Region *r, const Inst *first, uint32_t n) {
  const PtxInstr *in = first->src;
  const MemDesc *d = mem_desc(first);
  bool is_load = in->op == OP_LD;
  if (n != 1 || !d || ptx_has(in, MOD_SHARED_CLUSTER)) return SHAPE_UNKNOWN;
  const PtxOperand *value = &in->ops[is_load ? 0 : 1], *address = &in->ops[is_load ? 1 : 0];
  const PtxOperand *list = value->kind == OPD_VECTOR ? value->list : value;
  for (unsigned e = 0; e < d->count; e++) {
    bool reg = list[e].kind == OPD_REG && r->kept[list[e].reg->id] && !list[e].selector;
    if (!reg && (is_load || !is_immediate(&list[e]))) return SHAPE_UNKNOWN;
    if (d->size > 8 || d->width[e] > 8 || !d->width[e]) return SHAPE_UNKNOWN;
  }
  if (d->space == SPACE_NONE) return is_load ? SHAPE_PARAM : SHAPE_UNKNOWN;
  const PtxOperand *base = address->nlist ? &address->list[0] : address;
  bool known = (base->kind == OPD_REG && r->kept[base->reg->id]) || base->kind == OPD_VAR;
  if (!known || d->order != ORDER_PLAIN || d->count > 4) return SHAPE_UNKNOWN;
  if (d->space == SPACE_LOCAL && base->kind == OPD_REG && region_can_gather(first))
    return SHAPE_LOCAL;
  bool global = (d->space == SPACE_GLOBAL || d->space == SPACE_GENERIC) && d->address_width == 8;
  bool shared = d->space == SPACE_SHARED;
  return global || shared ? (is_load ? SHAPE_LOAD : SHAPE_STORE) : SHAPE_UNKNOWN;
}

bool region_is_collective(const PtxInstr *in) {
  switch (in->op) {
    case OP_SHFL:
    case OP_VOTE:
    case OP_MATCH:
    case OP_ACTIVEMASK:
    case OP_REDUX:
    case OP_ELECT:
    case OP_MMA:
    case OP_BAR_WARP_SYNC: return true;
    default: return false;
  }
}

// Memory instructions that return to the next one or end the launch, and change no other register.
static bool may_be_called(const PtxInstr *in) {
  switch (in->op) {
    case OP_LD:
    case OP_ATOM:
    case OP_RED:
    case OP_CVTA:
    case OP_ISSPACEP:
    case OP_MEMBAR:
    case OP_FENCE:
    case OP_PREFETCH:
    case OP_PREFETCHU: return true;
    case OP_ST: return in->space == SPACE_LOCAL || in->space == SPACE_PARAM;
    // all lanes are there, so that nobody waits
    default: return region_is_collective(in) && !in->guard;
  }
}

static Shape arith_shape(const Region *r, const Inst *first, uint32_t n) {
  const PtxInstr *in = first->src;
  PtxType t = region_type(in);
  switch (ptx_op_family(in->op)) {
    case FAMILY_ARITH_MOV: return mov_shape(r, first, n);
    case FAMILY_ARITH_CVT: return cvt_shape(r, in);
    case FAMILY_ARITH_SETP: return setp_shape(r, in, t);
    case FAMILY_ARITH_LOGIC: return logic_shape(r, in, t);
    case FAMILY_ARITH_BITS: return bits_shape(r, in, t);
    case FAMILY_ARITH_SELECT:
      return in->op == OP_SELP && (is_plain_int(t) || t == TYPE_F32 || t == TYPE_F64) &&
                     operands_fit(r, in, (PtxType[]){t, t, t, TYPE_PRED}, 4)
                 ? SHAPE_ELEMENT
                 : SHAPE_UNKNOWN;
    case FAMILY_ARITH_SPECIAL: return float_shape(r, in, t);
    case FAMILY_ARITH_TYPED:
      return ptx_type_kind(t) == KIND_FLOAT ? float_shape(r, in, t) : integer_shape(r, in, t);
    default: return SHAPE_UNKNOWN;
  }
}

Shape region_shape(const Region *r, const Inst *first, uint32_t n) {
  const PtxInstr *in = first->src;
  if (!in || first->fn == exec_return || first->fn == exec_exit || first->fn == exec_unsupported)
    return SHAPE_STOP;
  if (first->inner == exec_unsupported) return SHAPE_STOP;
  if (ptx_op_is_arith(in->op)) return arith_shape(r, first, n);
  if (in->op == OP_CVTA && n == 1 && (in->space == SPACE_GLOBAL || in->space == SPACE_CONST) &&
      all_fit(r, in, TYPE_B64, 2))
    return SHAPE_COPY;
  if (in->op == OP_LD || in->op == OP_ST) {
    Shape s = access_shape(r, first, n);
    if (s != SHAPE_UNKNOWN) return s;
  }
  Shape s = may_be_called(in) ? SHAPE_UNKNOWN : SHAPE_STOP;
  return s == SHAPE_UNKNOWN && n == 1 ? region_warp_shape(r, in) : s;
}

bool region_head_before(const PtxInstr *in) { return in->op == OP_ST && !may_be_called(in); }

bool region_head_after(const PtxInstr *in) {
  if (region_head_before(in) && !in->guard) return false;
  return !ptx_op_is_arith(in->op) && !may_be_called(in) &&
         !(ptx_op_classes(in) & (CLASS_BRANCH | CLASS_RETURN));
}
