// The code of a check: a quick test before the access, the exact one out of line at the end of the function.
//
//     setp.ge.u32 bad, index, limit;       quick: one or two instructions, operands in the constant bank
//     @bad bra Slow;
//   Back:
//     ld.global.f32 …                      the access
//   After:
//     …
//   Slow:
//     kind = wg_memcheck(address, …);      exact
//     @kind == 0 bra Back;
//     wg_report(kind, …);
//     destination = 0;  bra After;         a bad access is not performed
#include "instrument/memcheck.h"

static const PtxInstr *instr_of(const Memcheck *m, const Check *c) { return m->body->cfg->instrs[c->instr]; }
static const PtxOperand *base_of(const Memcheck *m, const Check *c) { return &instr_of(m, c)->ops[c->operand].list[0]; }
static int64_t offset_of(const Memcheck *m, const Check *c) { return instr_of(m, c)->ops[c->operand].imm; }

static void load_range(Code *code, const Check *c, PtxReg *base, PtxReg *last) {
  record_load(code, base, c->range_at);
  record_load(code, last, c->range_at + 8);
}

// bad = guard && a > b, unsigned.
static void compare(Memcheck *m, Code *code, const Check *c, const char *plain, const char *guarded, PtxReg *bad, PtxOperand a, PtxOperand b) {
  const PtxInstr *in = instr_of(m, c);
  if (!in->guard) code_emit(code, plain, (const PtxOperand[]){opd_reg(bad), a, b}, 3);
  else code_emit(code, guarded, (const PtxOperand[]){opd_reg(bad), a, b, in->guard_negated ? opd_not(in->guard) : opd_reg(in->guard)}, 4);
}

static void test_index(Memcheck *m, Code *code, const Check *c, PtxReg *bad) {
  PtxOperand limit = opd_imm(c->limit), index = c->index ? opd_reg(c->index) : opd_imm(0);
  PtxReg *word = body_temp(m->body, TYPE_B32, 0);
  if (c->limit < 0) {
    record_load(code, word, c->limit_at);
    limit = opd_reg(word);
  }
  if (!c->index) {                                             // setp wants a register first
    PtxReg *zero = body_temp(m->body, TYPE_B32, 1);
    EMIT(code, "mov.u32", opd_reg(zero), opd_imm(0));
    index = opd_reg(zero);
  }
  compare(m, code, c, "setp.ge.u32", "setp.ge.and.u32", bad, index, limit);
}

// The address as a 64-bit register.
static PtxReg *address_of(Memcheck *m, Code *code, const Check *c, unsigned temp) {
  PtxReg *a = body_temp(m->body, TYPE_B64, temp);
  const PtxOperand *base = base_of(m, c);
  if (base->kind == OPD_REG && ptx_type_size(base->reg->type) == 4) EMIT(code, "cvt.u64.u32", opd_reg(a), *base);
  else EMIT(code, "mov.u64", opd_reg(a), (PtxOperand){.kind = base->kind, .reg = base->reg, .imm = base->kind == OPD_REG ? 0 : base->imm});
  if (offset_of(m, c)) EMIT(code, "add.s64", opd_reg(a), opd_reg(a), opd_imm(offset_of(m, c)));
  return a;
}

static void test_distance(Memcheck *m, Code *code, const Check *c, PtxReg *bad, PtxReg *base, PtxOperand last) {
  PtxReg *t = address_of(m, code, c, 0);
  EMIT(code, "sub.s64", opd_reg(t), opd_reg(t), opd_reg(base));
  compare(m, code, c, "setp.gt.u64", "setp.gt.and.u64", bad, opd_reg(t), last);
}

static void load_variable(Code *code, const Check *c, PtxReg *to) {
  EMIT(code, "mov.u64", opd_reg(to), opd_var((PtxVar *)c->var));
  if (c->space != SPACE_GENERIC) return;
  switch (c->var->space) {
    case SPACE_SHARED: EMIT(code, "cvta.shared.u64", opd_reg(to), opd_reg(to)); return;
    case SPACE_LOCAL: EMIT(code, "cvta.local.u64", opd_reg(to), opd_reg(to)); return;
    case SPACE_CONST: EMIT(code, "cvta.const.u64", opd_reg(to), opd_reg(to)); return;
    default: return;
  }
}

// Sets `bad` where the quick test fails; with the instruction's guard.
static void emit_test(Memcheck *m, Code *code, const Check *c, PtxReg *bad) {
  PtxReg *base = body_temp(m->body, TYPE_B64, 1), *last = body_temp(m->body, TYPE_B64, 2);
  switch (c->kind) {
    case CHECK_INDEX: test_index(m, code, c, bad); return;
    case CHECK_RANGE:
      load_range(code, c, base, last);
      test_distance(m, code, c, bad, base, opd_reg(last));
      return;
    case CHECK_VARIABLE:
      load_variable(code, c, base);
      test_distance(m, code, c, bad, base, opd_imm(c->limit));
      return;
    case CHECK_LOOKUP: test_distance(m, code, c, bad, m->cache_base, opd_reg(m->cache_last)); return;
    case CHECK_NOTHING: return;
  }
}

// --- the exact test ---

static void zero_register(Code *code, PtxReg *r) {
  switch (ptx_type_size(r->type)) {
    case 1: case 2: EMIT(code, "mov.b16", opd_reg(r), opd_imm(0)); return;
    case 4: EMIT(code, "mov.b32", opd_reg(r), opd_imm(0)); return;
    default: EMIT(code, "mov.b64", opd_reg(r), opd_imm(0)); return;
  }
}

static void zero_definition(void *ctx, PtxReg **reg, bool is_def) {
  if (!is_def) return;
  if (!(*reg)->vector) zero_register(ctx, *reg);
  for (unsigned i = 0; i < (*reg)->vector; i++) {
    PtxOperand part = opd_reg(*reg);
    part.selector = (PtxSelector)(SEL_X + i);
    if (ptx_type_size((*reg)->type) == 8) EMIT((Code *)ctx, "mov.b64", part, opd_imm(0));
    else if (ptx_type_size((*reg)->type) == 4) EMIT((Code *)ctx, "mov.b32", part, opd_imm(0));
    else EMIT((Code *)ctx, "mov.b16", part, opd_imm(0));
  }
}

static uint32_t what_of(const PtxInstr *in) {
  unsigned classes = ptx_op_classes(in);
  return classes & CLASS_ATOMIC ? WG_ACCESS_ATOMIC : classes & CLASS_STORE ? WG_ACCESS_WRITE : WG_ACCESS_READ;
}

// kind = the exact test's verdict: 0, or the kind of finding.
static void call_exact(Memcheck *m, Code *code, const Check *c, PtxReg *kind, PtxReg *address) {
  Body *b = m->body;
  PtxReg *base = body_temp(b, TYPE_B64, 1), *last = body_temp(b, TYPE_B64, 2), *table = body_temp(b, TYPE_B64, 3);
  if (c->range_at) load_range(code, c, base, last);
  else if (c->var) {
    load_variable(code, c, base);
    EMIT(code, "mov.u64", opd_reg(last), opd_imm((int64_t)c->var->size - c->bytes));
  } else {
    EMIT(code, "mov.u64", opd_reg(base), opd_imm(0));
    EMIT(code, "mov.u64", opd_reg(last), opd_imm(0));
  }
  record_load(code, table, offsetof(WgLaunch, memory));
  const PtxOperand args[] = {opd_reg(table), opd_reg(address), opd_imm(c->bytes), opd_imm(what_of(instr_of(m, c))), opd_reg(base), opd_reg(last)};
  code_call_value(code, probe_function(b->program, b->unit, "wg_memcheck"), kind, args, ARRAY_LEN(args));
}

// The range found now is tried first from now on.
static void remember_range(Memcheck *m, Code *code, PtxReg *address) {
  Body *b = m->body;
  PtxReg *table = body_temp(b, TYPE_B64, 3);
  record_load(code, table, offsetof(WgLaunch, memory));
  const PtxOperand args[] = {opd_reg(table), opd_reg(address)};
  code_call_value(code, probe_function(b->program, b->unit, "wg_memory_base"), m->cache_base, args, 2);
  code_call_value(code, probe_function(b->program, b->unit, "wg_memory_last"), m->cache_last, args, 2);
}

static void emit_slow(Memcheck *m, const Check *c, PtxLabel *slow, PtxLabel *back, PtxLabel *after) {
  Body *b = m->body;
  PtxInstr *in = b->cfg->instrs[c->instr];
  Code *code = body_cold(b);
  code->near = in;
  code_label(code, slow);
  PtxReg *address = address_of(m, code, c, 0), *good = body_temp(b, TYPE_PRED, 1), *kind = body_temp(b, TYPE_B32, 2);
  if (c->kind == CHECK_LOOKUP && c->space == SPACE_GENERIC) {         // shared and local memory, parameters: not in the table
    EMIT(code, "isspacep.global", opd_reg(good), opd_reg(address));
    code_guard(code, good, true);
    EMIT(code, "bra", opd_label(back));
    code_guard(code, NULL, false);
  }
  call_exact(m, code, c, kind, address);
  PtxLabel *bad = body_label(b);
  EMIT(code, "setp.ne.u32", opd_reg(good), opd_reg(kind), opd_imm(0));
  code_guard(code, good, false);
  EMIT(code, "bra", opd_label(bad));
  code_guard(code, NULL, false);
  if (c->kind == CHECK_LOOKUP) remember_range(m, code, address);
  EMIT(code, "bra", opd_label(back));
  code_label(code, bad);
  code_report(code, program_site(b->program, b, in), opd_reg(kind), c->bytes, opd_reg(address), opd_reg(body_temp(b, TYPE_B64, 1)), opd_imm(0));   // base, from call_exact
  ptx_visit_regs(in, zero_definition, code);
  EMIT(code, "bra", opd_label(after));
}

void memcheck_emit(Memcheck *m, const Check *c) {
  Body *b = m->body;
  PtxLabel *slow = body_label(b), *back = body_label(b), *after = body_label(b);
  PtxReg *bad = body_temp(b, TYPE_PRED, 0);
  Code *code = c->hoisted ? body_before_once(b, c->instr) : body_before(b, c->instr);
  emit_test(m, code, c, bad);
  code_guard(code, bad, false);
  EMIT(code, "bra", opd_label(slow));
  code_guard(code, NULL, false);
  code_label(code, back);
  code_label(body_after(b, c->instr), after);
  emit_slow(m, c, slow, back, after);
}
