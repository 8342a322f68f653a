// The code of a check: a quick test before the access (tools/memcheck/weave_quick_test.c), the
// exact one out of line at the end of the function.
//
//     setp.ge.u32 bad, index, limit;       quick: operands are in the constant bank
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
#include "tools/memcheck/internal.h"

// There is no mov of 8 bits.
static void zero_byte(Code *code, PtxOperand to) {
  PtxReg *zero = body_temp(code->body, TYPE_B32, 0);
  EMIT(code, "mov.b32", opd_reg(zero), opd_imm(0));
  EMIT(code, "cvt.u8.u32", to, opd_reg(zero));
}

static void zero_register(Code *code, PtxReg *r) {
  if (r->vector) return;
  switch (ptx_type_size(r->type)) {
    case 1: zero_byte(code, opd_reg(r)); return;
    case 2: EMIT(code, "mov.b16", opd_reg(r), opd_imm(0)); return;
    case 4: EMIT(code, "mov.b32", opd_reg(r), opd_imm(0)); return;
    case 8: EMIT(code, "mov.b64", opd_reg(r), opd_imm(0)); return;
    case 16: {
      PtxReg *zero = body_temp(code->body, TYPE_B64, 0);
      EMIT(code, "mov.b64", opd_reg(zero), opd_imm(0));
      EMIT(code, "mov.b128", opd_reg(r),
           opd_vector(code, (const PtxOperand[]){opd_reg(zero), opd_reg(zero)}, 2));
      return;
    }
    default: return;
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
    else if (ptx_type_size((*reg)->type) == 2) EMIT((Code *)ctx, "mov.b16", part, opd_imm(0));
    else zero_byte(ctx, part);
  }
}

void memcheck_zero(Code *code, PtxInstr *in) { ptx_visit_regs(in, zero_definition, code); }

static uint32_t space_of(const Check *c) {
  switch (c->space) {
    case SPACE_GLOBAL: return WG_WHERE_GLOBAL;
    case SPACE_GENERIC: return WG_WHERE_GENERIC;
    case SPACE_SHARED: return WG_WHERE_SHARED;
    default: return WG_WHERE_OTHER;
  }
}

uint32_t memcheck_what(const Memcheck *m, const Check *c) {
  uint32_t clusters = m->body->func->module->sm >= 90 ? WG_WHAT_CLUSTERS : 0;
  return c->access | (c->var ? WG_WHAT_OBJECT : 0) | (c->inserts ? WG_WHAT_INSERTS : 0) |
         space_of(c) << WG_WHAT_SPACE | clusters |
         (uint32_t)__builtin_ctz(c->align) << WG_WHAT_ALIGN;
}

// The object's base and size stay in temporaries 1 and 2, for the report. With `reports` that is
// made in the same call: each call costs a compiler what is live across it (weave/cold_calls.c).
// The virtual device does the test natively, and so the two are separate.
static void emit_exact(Memcheck *m, Code *code, const Check *c, PtxReg *kind, PtxReg *address,
                       bool reports) {
  Body *b = m->body;
  PtxReg *base = body_temp(b, TYPE_B64, 1), *size = body_temp(b, TYPE_B64, 2),
         *table = body_temp(b, TYPE_B64, 3);
  memcheck_object(code, c, base, size);
  PtxReg *heap = body_temp(b, TYPE_B32, 3);
  if (c->kind == CHECK_LOOKUP || c->range_at) record_load(code, heap, offsetof(WgLaunch, heap));
  else EMIT(code, "mov.u32", opd_reg(heap), opd_imm(0));
  record_load(code, table, offsetof(WgLaunch, memory));
  PtxReg *channel = body_temp(b, TYPE_B64, 5), *launch = body_temp(b, TYPE_B32, 7),
         *site = body_temp(b, TYPE_B32, 6);
  if (reports) {
    record_load(code, channel, offsetof(WgLaunch, channel));
    record_load(code, launch, offsetof(WgLaunch, launch));
    record_site(code, site, memcheck_site(m, c));
  }
  const PtxOperand args[] = {opd_reg(table),
                             opd_reg(address),
                             c->size ? *c->size : opd_imm(c->bytes),
                             opd_imm(memcheck_what(m, c)),
                             opd_reg(base),
                             opd_reg(size),
                             opd_reg(heap),
                             opd_reg(channel),
                             opd_reg(launch),
                             opd_reg(site)};
  code_call_value(
      code, probe_function(b->program, b->unit, reports ? "wg_memcheck_report" : "wg_memcheck"),
      kind, args, reports ? 10 : 7);
}

void memcheck_emit_exact(Memcheck *m, Code *code, const Check *c, PtxReg *kind, PtxReg *address) {
  emit_exact(m, code, c, kind, address, false);
}

// The range found now is tried first from now on.
static void remember_range(Memcheck *m, Code *code, const Check *c, PtxReg *address) {
  Body *b = m->body;
  PtxReg *table = body_temp(b, TYPE_B64, 3);
  record_load(code, table, offsetof(WgLaunch, memory));
  const PtxOperand args[] = {opd_reg(table), opd_reg(address)};
  code_call_value(code, probe_function(b->program, b->unit, "wg_memory_base"),
                  m->caches[c->cache].base, args, 2);
  code_call_value(code, probe_function(b->program, b->unit, "wg_memory_last"),
                  m->caches[c->cache].last, args, 2);
}

static void name_object(Memcheck *m, const Check *c, Site *s) {
  if (c->var) s->object = arena_strdup(&m->body->program->out->arena, c->var->name);
  for (uint32_t i = 0; i < m->facts.len && c->range_at; i++) {
    const WeaveFact *f = &m->facts.data[i];
    if (f->kind == FACT_RANGE && f->record_offset == c->range_at && !f->param_offset)
      s->parameter = f->param + 1;
  }
}

uint32_t memcheck_site(Memcheck *m, const Check *c) {
  Body *b = m->body;
  uint32_t site = program_site(b->program, b, b->cfg->instrs[c->instr]);
  b->program->sites.data[site].space = c->space;  // a copy has two
  name_object(m, c, &b->program->sites.data[site]);
  return site;
}

void memcheck_stop(Code *code, PtxReg *bad) {
  if (!memcheck_stops(code->body)) return;
  code_guard(code, bad, false);
  code_emit(code, "trap", &(const PtxOperand){.kind = OPD_NONE}, 0);
  code_guard(code, NULL, false);
}

void memcheck_report(Memcheck *m, Code *code, const Check *c, PtxReg *kind, PtxReg *address) {
  Body *b = m->body;
  code_report(code, &(CodeReport){.site = memcheck_site(m, c),
                                  .kind = opd_reg(kind),
                                  .size = c->size ? *c->size : opd_imm(c->bytes),
                                  .address = opd_reg(address),
                                  .value = opd_reg(body_temp(b, TYPE_B64, 1)),
                                  .extra = opd_reg(body_temp(b, TYPE_B64, 2))});
  memcheck_stop(code, NULL);
}

static void emit_slow(Memcheck *m, const Check *c, PtxLabel *slow, PtxLabel *back,
                      PtxLabel *after) {
  Body *b = m->body;
  PtxInstr *in = b->cfg->instrs[c->instr];
  Code *code = body_cold(b);
  code->near = in;
  code_label(code, slow);
  PtxReg *address = memcheck_address(m, code, c, 0), *good = body_temp(b, TYPE_PRED, 1),
         *kind = body_temp(b, TYPE_B32, 2);
  bool reports = b->program->plan->spare_registers;
  emit_exact(m, code, c, kind, address, reports);
  PtxLabel *bad = body_label(b);
  EMIT(code, "setp.ne.u32", opd_reg(good), opd_reg(kind), opd_imm(0));
  code_branch(code, good, false, bad);
  if (c->kind == CHECK_LOOKUP) remember_range(m, code, c, address);
  // those that rely on it need not look again
  if (c->kind == CHECK_LOOKUP && c->leads) memcheck_test(m, code, c);
  EMIT(code, "bra", opd_label(back));
  code_label(code, bad);
  if (!reports) memcheck_report(m, code, c, kind, address);
  else memcheck_stop(code, NULL);
  if (c->range_at) {  // what flags forbid is performed: there is memory
    PtxLabel *outside = body_label(b);
    EMIT(code, "setp.eq.u32", opd_reg(good), opd_reg(kind), opd_imm(KIND_NO_ACCESS));
    code_branch(code, good, true, outside);
    EMIT(code, "bra", opd_label(back));
    code_label(code, outside);
  }
  memcheck_load_bytes(m, code, c, kind, address, after);
  memcheck_zero(code, in);
  memcheck_complete(m, code, in);
  EMIT(code, "bra", opd_label(after));
}

void memcheck_emit(Memcheck *m, Check *c) {
  Body *b = m->body;
  if (c->lanes) {
    memcheck_emit_together(m, c);
    return;
  }
  PtxLabel *slow = body_label(b), *back = body_label(b), *after = body_label(b);
  if (c->leads) c->bad = body_reg(b, TYPE_PRED);
  bool test_in_copy = c->leads ? !c->leads_hoisted : !c->hoisted;
  PtxReg *bad = memcheck_test(
      m, test_in_copy ? body_before(b, c->instr) : body_before_once(b, c->instr), c);
  Code *code = c->hoisted ? body_before_once(b, c->instr) : body_before(b, c->instr);
  code_branch(code, bad, false, slow);
  code_label(code, back);
  body_refused_at(b, c->instr, after);
  emit_slow(m, c, slow, back, after);
}
