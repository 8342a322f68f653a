// From the operands of an instruction to the words of a record.
#include "tools/record/internal.h"

static unsigned element_bytes(const PtxInstr *in) {
  return in->ntypes ? ptx_type_size(in->types[0]) : 0;
}

unsigned recorder_planes(const PtxInstr *in) {
  uint32_t bytes = access_bytes(in), element = element_bytes(in);
  if (!bytes || bytes > 16 || (element != 1 && element != 2 && element != 4 && element != 8))
    return 0;
  return bytes <= 4 ? 1 : bytes <= 8 ? 2 : 4;
}

static bool readable(const PtxOperand *o) {
  if (o->kind == OPD_REG)
    return !o->reg->vector && o->reg->type != TYPE_PRED && o->selector == SEL_NONE &&
           ptx_type_size(o->reg->type) <= 8 && !o->negated;
  return o->kind == OPD_INT || o->kind == OPD_FLOAT;
}

// Moves the low 32 bits of an operand into a word.
static void low_word(Code *c, PtxReg *to, const PtxOperand *o) {
  PtxReg *half = body_temp(c->body, TYPE_B16, 0), *rest = body_temp(c->body, TYPE_B32, 3);
  if (o->kind != OPD_REG) {
    EMIT(c, "mov.b32", opd_reg(to), opd_imm((int64_t)(uint32_t)o->imm));
    return;
  }
  switch (ptx_type_size(o->reg->type)) {
    case 8:
      EMIT(c, "mov.b64", opd_vector(c, (PtxOperand[]){opd_reg(to), opd_reg(rest)}, 2),
           opd_reg(o->reg));
      break;
    case 4: EMIT(c, "mov.b32", opd_reg(to), opd_reg(o->reg)); break;
    case 2:
      EMIT(c, "mov.b16", opd_reg(half), opd_reg(o->reg));
      EMIT(c, "cvt.u32.u16", opd_reg(to), opd_reg(half));
      break;
    default: EMIT(c, "cvt.u32.u8", opd_reg(to), opd_reg(o->reg)); break;
  }
}

static void two_words(Code *c, PtxReg *low, PtxReg *high, const PtxOperand *o) {
  if (o->kind == OPD_REG && ptx_type_size(o->reg->type) == 8) {
    EMIT(c, "mov.b64", opd_vector(c, (PtxOperand[]){opd_reg(low), opd_reg(high)}, 2),
         opd_reg(o->reg));
    return;
  }
  EMIT(c, "mov.b32", opd_reg(low), opd_imm((int64_t)(uint32_t)o->imm));
  EMIT(c, "mov.b32", opd_reg(high), opd_imm((int64_t)((uint64_t)o->imm >> 32)));
}

PtxReg *recorder_word(Recorder *t, PtxReg **place) {
  if (!*place) *place = body_reg(t->body, TYPE_B32);
  return *place;
}

bool recorder_value(Recorder *t, Code *c, const PtxInstr *in, const PtxOperand *value,
                    PtxReg **words) {
  const PtxOperand *list = value->kind == OPD_VECTOR ? value->list : value;
  unsigned n = value->kind == OPD_VECTOR ? value->nlist : 1, bytes = element_bytes(in);
  if (n * bytes != access_bytes(in)) return false;
  for (unsigned i = 0; i < n; i++)
    if (!readable(&list[i]) ||
        (bytes == 8 && list[i].kind == OPD_REG && ptx_type_size(list[i].reg->type) != 8))
      return false;
  if (!c) return true;
  PtxReg *part = body_temp(t->body, TYPE_B32, 2);
  for (unsigned i = 0; i < n; i++) {
    unsigned at = i * bytes / 4, shift = i * bytes % 4 * 8;
    if (bytes == 8)
      two_words(c, recorder_word(t, &words[at]), recorder_word(t, &words[at + 1]), &list[i]);
    else if (bytes == 4) low_word(c, recorder_word(t, &words[at]), &list[i]);
    else {
      low_word(c, shift ? part : recorder_word(t, &words[at]), &list[i]);
      EMIT(c, "and.b32", opd_reg(shift ? part : words[at]), opd_reg(shift ? part : words[at]),
           opd_imm(bytes == 1 ? 0xff : 0xffff));
      if (!shift) continue;
      EMIT(c, "shl.b32", opd_reg(part), opd_reg(part), opd_imm(shift));
      EMIT(c, "or.b32", opd_reg(words[at]), opd_reg(words[at]), opd_reg(part));
    }
  }
  return true;
}

// A generic address: its memory space is found at run time.
static void find_space(Code *c, PtxReg *at) {
  Body *b = c->body;
  PtxReg *is_shared = body_temp(b, TYPE_PRED, 0), *is_local = body_temp(b, TYPE_PRED, 1),
         *other = body_temp(b, TYPE_B64, 1);
  EMIT(c, "isspacep.shared", opd_reg(is_shared), opd_reg(at));
  EMIT(c, "isspacep.local", opd_reg(is_local), opd_reg(at));
  EMIT(c, "cvta.to.shared.u64", opd_reg(other), opd_reg(at));
  EMIT(c, "or.b64", opd_reg(other), opd_reg(other),
       opd_imm((int64_t)WG_TRACE_SHARED << WG_TRACE_SPACE_AT));
  EMIT(c, "selp.b64", opd_reg(other), opd_reg(other), opd_reg(at), opd_reg(is_shared));
  EMIT(c, "cvta.to.local.u64", opd_reg(at), opd_reg(at));
  EMIT(c, "or.b64", opd_reg(at), opd_reg(at),
       opd_imm((int64_t)WG_TRACE_LOCAL << WG_TRACE_SPACE_AT));
  EMIT(c, "selp.b64", opd_reg(at), opd_reg(at), opd_reg(other), opd_reg(is_local));
}

void recorder_address(Recorder *t, Code *c, const PtxInstr *in, const PtxOperand *address,
                      PtxSpace space) {
  if (!t->address) t->address = body_reg(t->body, TYPE_B64);
  access_address(c, t->address, address);
  recorder_tag_space(t, c, address, space);
}

void recorder_tag_space(Recorder *t, Code *c, const PtxOperand *address, PtxSpace space) {
  PtxSpace where = space;
  IrOrigin o = ir_access_origin(t->provenance, address);
  if (space == SPACE_GENERIC && o.kind == IR_FROM_PARAM) where = SPACE_GLOBAL;
  if (space == SPACE_GENERIC && o.kind == IR_FROM_VAR && o.var->space == SPACE_GLOBAL)
    where = SPACE_GLOBAL;
  int64_t tag = where == SPACE_SHARED  ? WG_TRACE_SHARED
                : where == SPACE_LOCAL ? WG_TRACE_LOCAL
                                       : WG_TRACE_GLOBAL;
  if (where == SPACE_GENERIC) {
    PtxReg *guard = c->guard;
    bool negated = c->guard_negated;
    code_guard(c, NULL, false);  // the result in other lanes is not used
    find_space(c, t->address);
    code_guard(c, guard, negated);
  } else if (tag) {
    EMIT(c, "or.b64", opd_reg(t->address), opd_reg(t->address), opd_imm(tag << WG_TRACE_SPACE_AT));
  }
}
