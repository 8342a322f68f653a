// The quick tests: a few instructions before an access, or before the first of several that differ
// by constants.
#include "tools/memcheck/internal.h"

static const PtxInstr *instr_of(const Memcheck *m, const Check *c) {
  return m->body->cfg->instrs[c->instr];
}
static const PtxOperand *base_of(const Memcheck *m, const Check *c) {
  return c->base ? c->base : &instr_of(m, c)->ops[c->operand].list[0];
}
static int64_t offset_of(const Memcheck *m, const Check *c) {
  return instr_of(m, c)->ops[c->operand].imm;
}

// base + offset as a 64-bit register.
static PtxReg *address_at(Memcheck *m, Code *code, const Check *c, int64_t offset, unsigned temp) {
  PtxReg *a = body_temp(m->body, TYPE_B64, temp);
  const PtxOperand *base = base_of(m, c);
  if (base->kind == OPD_REG && ptx_type_size(base->reg->type) == 4) {
    EMIT(code, "cvt.u64.u32", opd_reg(a), *base);
    if (offset) EMIT(code, "add.s64", opd_reg(a), opd_reg(a), opd_imm(offset));
  } else if (base->kind == OPD_REG) {
    if (offset) EMIT(code, "add.s64", opd_reg(a), *base, opd_imm(offset));
    else EMIT(code, "mov.u64", opd_reg(a), *base);
  } else {
    EMIT(code, "mov.u64", opd_reg(a),
         (PtxOperand){
             .kind = base->kind, .reg = base->reg, .imm = base->kind == OPD_INT ? base->imm : 0});
    offset += base->kind == OPD_VAR ? base->imm : 0;
    if (offset) EMIT(code, "add.s64", opd_reg(a), opd_reg(a), opd_imm(offset));
  }
  return a;
}

PtxReg *memcheck_address(Memcheck *m, Code *code, const Check *c, unsigned temp) {
  return address_at(m, code, c, offset_of(m, c), temp);
}

static void load_range(Code *code, uint32_t at, PtxReg *base, PtxReg *last) {
  record_load(code, base, at);
  record_load(code, last, at + 8);
}

// The variable's address in the space of the access.
static void load_variable(Code *code, const Check *c, PtxReg *to) {
  EMIT(code, "mov.u64", opd_reg(to), opd_var((PtxVar *)(c->frame ? c->frame : c->var)));
  if (c->frame_at) EMIT(code, "add.s64", opd_reg(to), opd_reg(to), opd_imm(c->frame_at));
  if (c->space != SPACE_GENERIC) return;
  switch (c->var->space) {
    case SPACE_SHARED: EMIT(code, "cvta.shared.u64", opd_reg(to), opd_reg(to)); return;
    case SPACE_LOCAL: EMIT(code, "cvta.local.u64", opd_reg(to), opd_reg(to)); return;
    case SPACE_CONST: EMIT(code, "cvta.const.u64", opd_reg(to), opd_reg(to)); return;
    case SPACE_PARAM: EMIT(code, "cvta.param.u64", opd_reg(to), opd_reg(to)); return;
    default: return;
  }
}

static void load_dynamic_size(Code *code, PtxReg *to) {
  PtxReg *word = body_temp(code->body, TYPE_B32, 0);
  EMIT(code, "mov.u32", opd_reg(word), opd_sreg(SREG_DYNAMIC_SMEM_SIZE, SEL_NONE));
  EMIT(code, "cvt.u64.u32", opd_reg(to), opd_reg(word));
}

void memcheck_object(Code *code, const Check *c, PtxReg *base, PtxReg *size) {
  if (c->range_at) {
    load_range(code, c->range_at, base, size);
    PtxReg *unknown = body_temp(code->body, TYPE_PRED, 6);
    EMIT(code, "setp.eq.u64", opd_reg(unknown), opd_reg(base), opd_imm(-1));
    EMIT(code, "selp.b64", opd_reg(base), opd_imm(0), opd_reg(base), opd_reg(unknown));
    EMIT(code, "add.s64", opd_reg(size), opd_reg(size), opd_imm(c->bytes));
  } else if (c->var) {
    load_variable(code, c, base);
    if (c->kind == CHECK_DYNAMIC) load_dynamic_size(code, size);
    else EMIT(code, "mov.u64", opd_reg(size), opd_imm((int64_t)c->var->size));
  } else {
    EMIT(code, "mov.u64", opd_reg(base), opd_imm(0));
    EMIT(code, "mov.u64", opd_reg(size), opd_imm(0));
  }
}

// --- tests. Each sets `bad`, without the instruction's guard. ---

static void test_index(Memcheck *m, Code *code, const Check *c, PtxReg *bad) {
  PtxReg *word = body_temp(m->body, TYPE_B32, 0), *index = c->index;
  if (!index || c->bias) {
    index = body_temp(m->body, TYPE_B32, 1);
    if (c->index) EMIT(code, "add.s32", opd_reg(index), opd_reg(c->index), opd_imm(c->bias));
    else EMIT(code, "mov.u32", opd_reg(index), opd_imm(0));
  }
  if (c->limit < 0) record_load(code, word, c->limit_at);
  EMIT(code, "setp.ge.u32", opd_reg(bad), opd_reg(index),
       c->limit < 0 ? opd_reg(word) : opd_imm(c->limit));
}

// Is an access of as many bytes as the operand says, at `distance` from the object, past `last`,
// the object's last byte? The remaining size of the object does not depend on the address: if the
// access's size is loop-invariant, it is computed before the loop.
static void test_sized(Memcheck *m, Code *code, const Check *c, PtxReg *bad, PtxReg *distance,
                       PtxOperand last) {
  PtxReg *size = body_temp(m->body, TYPE_B64, 3), *room = body_temp(m->body, TYPE_B64, 4),
         *word = body_temp(m->body, TYPE_B32, 0);
  EMIT(code, "mov.u32", opd_reg(word), *c->size);
  EMIT(code, "cvt.u64.u32", opd_reg(size), opd_reg(word));
  EMIT(code, "mov.u64", opd_reg(room), last);
  EMIT(code, "add.s64", opd_reg(room), opd_reg(room), opd_imm(2));
  EMIT(code, "sub.s64", opd_reg(room), opd_reg(room), opd_reg(size));
  EMIT(code, "max.s64", opd_reg(room), opd_reg(room), opd_imm(0));
  EMIT(code, "setp.ge.u64", opd_reg(bad), opd_reg(distance), opd_reg(room));
}

static void test_distance(Memcheck *m, Code *code, const Check *c, PtxReg *bad, PtxReg *base,
                          PtxOperand last) {
  PtxReg *t = address_at(m, code, c, c->low, 0);
  EMIT(code, "sub.s64", opd_reg(t), opd_reg(t), opd_reg(base));
  if (c->size) test_sized(m, code, c, bad, t, last);
  else EMIT(code, "setp.gt.u64", opd_reg(bad), opd_reg(t), last);
}

// The cached range serves accesses of up to 32 bytes.
static void test_lookup(Memcheck *m, Code *code, const Check *c, PtxReg *bad) {
  enum { SERVED = 32 };
  PtxReg *base = m->caches[c->cache].base, *last = m->caches[c->cache].last;
  test_distance(m, code, c, bad, base, opd_reg(last));
  if (c->size || c->high - c->low <= SERVED) return;
  PtxReg *t = address_at(m, code, c, c->high - SERVED, 0);
  EMIT(code, "sub.s64", opd_reg(t), opd_reg(t), opd_reg(base));
  EMIT(code, "setp.gt.or.u64", opd_reg(bad), opd_reg(t), opd_reg(last), opd_reg(bad));
}

// Shared addresses are of 32 bits: an access that begins before 0 begins at the end of them.
static bool is_narrow(const Memcheck *m, const Check *c) {
  const PtxOperand *base = base_of(m, c);
  return c->space == SPACE_SHARED && !c->size && base->kind == OPD_REG &&
         ptx_type_size(base->reg->type) == 4;
}

static void test_narrow(Memcheck *m, Code *code, const Check *c, PtxReg *bad) {
  PtxReg *t = body_temp(m->body, TYPE_B32, 1), *base = body_temp(m->body, TYPE_B32, 0);
  EMIT(code, "mov.u32", opd_reg(base), opd_var((PtxVar *)c->var));
  EMIT(code, "sub.s32", opd_reg(t), *base_of(m, c), opd_reg(base));
  if (c->low) EMIT(code, "add.s32", opd_reg(t), opd_reg(t), opd_imm(c->low));
  EMIT(code, "setp.gt.u32", opd_reg(bad), opd_reg(t), opd_imm(c->limit));
}

// The first byte and the byte after the last one against a size in bytes.
static void test_end(Memcheck *m, Code *code, const Check *c, PtxReg *bad, PtxReg *t,
                     PtxReg *size) {
  if (c->size) {
    PtxReg *last = body_temp(m->body, TYPE_B64, 4);
    EMIT(code, "add.s64", opd_reg(last), opd_reg(size), opd_imm(-1));
    test_sized(m, code, c, bad, t, opd_reg(last));
    return;
  }
  EMIT(code, "setp.ge.u64", opd_reg(bad), opd_reg(t), opd_reg(size));
  EMIT(code, "add.s64", opd_reg(t), opd_reg(t), opd_imm(c->high - c->low));
  EMIT(code, "setp.gt.or.u64", opd_reg(bad), opd_reg(t), opd_reg(size), opd_reg(bad));
}

static void test_dynamic(Memcheck *m, Code *code, const Check *c, PtxReg *bad) {
  PtxReg *base = body_temp(m->body, TYPE_B64, 1), *size = body_temp(m->body, TYPE_B64, 2);
  load_variable(code, c, base);
  load_dynamic_size(code, size);
  PtxReg *t = address_at(m, code, c, c->low, 0);
  EMIT(code, "sub.s64", opd_reg(t), opd_reg(t), opd_reg(base));
  test_end(m, code, c, bad, t, size);
}

static void test_window(Memcheck *m, Code *code, const Check *c, PtxReg *bad) {
  PtxReg *word = body_temp(m->body, TYPE_B32, 0), *size = body_temp(m->body, TYPE_B64, 2);
  EMIT(code, "mov.u32", opd_reg(word), opd_sreg(SREG_TOTAL_SMEM_SIZE, SEL_NONE));
  EMIT(code, "cvt.u64.u32", opd_reg(size), opd_reg(word));
  EMIT(code, "add.s64", opd_reg(size), opd_reg(size), opd_imm(WG_SHARED_RESERVED));
  test_end(m, code, c, bad, address_at(m, code, c, c->low, 0), size);
}

static void test_object(Memcheck *m, Code *code, const Check *c, PtxReg *bad) {
  PtxReg *base = body_temp(m->body, TYPE_B64, 1), *last = body_temp(m->body, TYPE_B64, 2);
  switch (c->kind) {
    case CHECK_INDEX: test_index(m, code, c, bad); return;
    case CHECK_RANGE:
      load_range(code, c->group_range_at, base, last);
      test_distance(m, code, c, bad, base, opd_reg(last));
      return;
    case CHECK_VARIABLE:
      if (is_narrow(m, c)) {
        test_narrow(m, code, c, bad);
        return;
      }
      load_variable(code, c, base);
      test_distance(m, code, c, bad, base, opd_imm(c->limit));
      return;
    case CHECK_DYNAMIC: test_dynamic(m, code, c, bad); return;
    case CHECK_WINDOW: test_window(m, code, c, bad); return;
    case CHECK_LOOKUP: test_lookup(m, code, c, bad); return;
    case CHECK_ALWAYS_BAD: {
      PtxReg *word = body_temp(m->body, TYPE_B32, 0);
      EMIT(code, "mov.u32", opd_reg(word), opd_imm(0));
      EMIT(code, "setp.eq.u32", opd_reg(bad), opd_reg(word), opd_imm(0));
      return;
    }
    case CHECK_NOTHING: return;
  }
}

// bad = already || the address is no multiple of what it must be.
static void test_alignment(Memcheck *m, Code *code, const Check *c, PtxReg *bad, PtxReg *already) {
  PtxReg *t = address_at(m, code, c, offset_of(m, c), 0);
  EMIT(code, "and.b64", opd_reg(t), opd_reg(t), opd_imm(c->align - 1));
  EMIT(code, "setp.ne.or.s64", opd_reg(bad), opd_reg(t), opd_imm(0), opd_reg(already));
}

// The low bits of the address are added to those in `bits`.
void memcheck_gather_low_bits(Memcheck *m, Code *code, const Check *c, PtxReg *bits) {
  PtxReg *word = body_temp(m->body, TYPE_B32, 0), *wide = body_temp(m->body, TYPE_B64, 0);
  const PtxOperand *base = base_of(m, c);
  if (base->kind == OPD_REG && ptx_type_size(base->reg->type) == 4)
    EMIT(code, "mov.b32", opd_reg(word), *base);
  else if (base->kind == OPD_REG) EMIT(code, "cvt.u32.u64", opd_reg(word), *base);
  else {
    address_at(m, code, c, offset_of(m, c), 0);
    EMIT(code, "cvt.u32.u64", opd_reg(word), opd_reg(wide));
  }
  if (base->kind == OPD_REG && offset_of(m, c) % c->align)
    EMIT(code, "add.s32", opd_reg(word), opd_reg(word), opd_imm(offset_of(m, c) % c->align));
  EMIT(code, "and.b32", opd_reg(word), opd_reg(word), opd_imm(c->align - 1));
  EMIT(code, "or.b32", opd_reg(bits), opd_reg(bits), opd_reg(word));
}

void memcheck_guarded(Code *code, const PtxInstr *in, PtxReg *bad) {
  if (!in->guard) return;
  if (in->guard_negated) {
    PtxReg *runs = body_temp(code->body, TYPE_PRED, 2);
    EMIT(code, "not.pred", opd_reg(runs), opd_reg(in->guard));
    EMIT(code, "and.pred", opd_reg(bad), opd_reg(bad), opd_reg(runs));
  } else EMIT(code, "and.pred", opd_reg(bad), opd_reg(bad), opd_reg(in->guard));
}

// Accesses of no bytes and those whose guard is false are good.
static void test_executed(Memcheck *m, Code *code, const Check *c, PtxReg *bad) {
  const PtxInstr *in = instr_of(m, c);
  if (c->size && !c->lanes) {
    PtxReg *word = body_temp(m->body, TYPE_B32, 0);
    EMIT(code, "mov.u32", opd_reg(word), *c->size);
    EMIT(code, "setp.ne.and.u32", opd_reg(bad), opd_reg(word), opd_imm(0), opd_reg(bad));
  }
  memcheck_guarded(code, in, bad);
}

PtxReg *memcheck_test(Memcheck *m, Code *code, const Check *c) {
  const Check *leader = &m->checks[c->leader];
  PtxReg *bad = body_temp(m->body, TYPE_PRED, 0), *already = leader->leads ? leader->bad : bad;
  if (leader == c) test_object(m, code, c, already);
  if (!c->test_align && already != bad) return already;
  if (c->test_align) test_alignment(m, code, c, bad, already);
  test_executed(m, code, c, bad);
  return bad;
}
