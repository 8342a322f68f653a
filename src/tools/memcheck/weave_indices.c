// Reports indices outside of an array that lies inside a variable or structure. OpenCL's compiler
// tests them: a test is an instruction with a guard that writes a register with a known name
// (src/opencl/index_tests.c). Without a guard it says that a pixel is outside of its image
// (src/opencl/library/images.cl).
//
// Tests of one basic block share a branch if all their guards and indices can be computed before
// the first of them. Where a region of checked accesses follows (weave_region.c), its branch serves
// the tests, too.
//     any = one of the guards;  @any bra Outside;
//   Back:
//     …
//   Outside:
//     wg_memcheck_index(guard, index), for each of them;  bra Back
#include "tools/memcheck/internal.h"

typedef struct Finder {
  Memcheck *m;
  uint32_t start;  // of the block, or the instruction after the last call or barrier
  IndexTests now;
} Finder;

static const PtxInstr *instr(const Memcheck *m, uint32_t i) { return m->body->cfg->instrs[i]; }

bool memcheck_is_index_test(const PtxInstr *in) {
  return in->nops == 2 && in->ops[0].kind == OPD_REG &&
         code_is_named(in->ops[0].reg, "wg_index_outside");
}

// --- which tests ---

static bool is_known_at(const Memcheck *m, uint32_t at, uint32_t test) {
  const PtxInstr *in = instr(m, test);
  Early e = early_begin(m->body, at);
  return early_is_known(&e, in->guard, test) &&
         (in->ops[1].kind != OPD_REG || early_is_known(&e, in->ops[1].reg, test));
}

static void close_group(Finder *f) {
  Memcheck *m = f->m;
  if (!f->now.n) return;
  m->cuts[f->now.at] = true;
  vec_push(&m->index_tests, f->now);
  f->now.n = 0;
}

// The guard is a constant: the compiler has proved that the index is inside.
static bool never_fails(const Memcheck *m, const PtxInstr *in) {
  const PtxInstr *def = ir_single_def(m->defs, in->guard);
  return in->guard_negated && def && def->op == OP_MOV && def->ops[1].kind == OPD_INT &&
         def->ops[1].imm;
}

static void add(Finder *f, uint32_t test) {
  Memcheck *m = f->m;
  IndexTests *now = &f->now;
  bool hoisted = m->hoisted_tests[test];
  body_instead(m->body, test);
  if (never_fails(m, instr(m, test))) return;
  if (now->n &&
      (now->n == INDEX_TESTS_MOST || hoisted != now->hoisted || !is_known_at(m, now->at, test)))
    close_group(f);
  if (!now->n) now->at = is_known_at(m, f->start, test) ? f->start : test;
  now->hoisted = hoisted;
  now->list[now->n++] = test;
}

static void report_always(Memcheck *m, uint32_t i) {
  Body *b = m->body;
  const PtxInstr *in = instr(m, i);
  Code *c = body_after(b, i);
  code_report(c, &(CodeReport){.site = program_site(b->program, b, in),
                               .kind = opd_imm(KIND_OOB_INDEX),
                               .size = opd_imm(0),
                               .address = opd_imm(0),
                               .value = opd_reg(in->ops[0].reg),
                               .extra = opd_imm(0)});
  memcheck_stop(c, NULL);
  m->cuts[i] = true;
}

void memcheck_find_index_tests(Memcheck *m, const bool *cuts) {
  const IrCfg *cfg = m->body->cfg;
  Finder f = {.m = m};
  m->cuts = ARENA_ARRAY(&m->body->cfg->arena, bool, cfg->ninstrs + 1);
  if (cuts) memcpy(m->cuts, cuts, cfg->ninstrs * sizeof *cuts);
  for (uint32_t i = 0; i < cfg->ninstrs; i++) {
    const PtxInstr *in = instr(m, i);
    if (cfg->blocks[cfg->block_of[i]].first == i ||
        ptx_op_classes(instr(m, i - 1)) & (CLASS_CALL | CLASS_SYNC)) {
      close_group(&f);
      f.start = i;
    }
    if (!memcheck_is_index_test(in)) continue;
    if (in->guard) add(&f, i);
    else report_always(m, i);
  }
  close_group(&f);
}

// --- the code ---

static PtxOperand guard_before(Early *e, Code *c, const PtxInstr *in, uint32_t test) {
  PtxReg *guard = early_value(e, c, in->guard, test);
  return in->guard_negated ? opd_not(guard) : opd_reg(guard);
}

// An earlier test of the group has the same guard.
static bool is_tested_before(const Memcheck *m, const IndexTests *t, unsigned test) {
  const PtxInstr *in = instr(m, t->list[test]);
  for (unsigned i = 0; i < test; i++) {
    const PtxInstr *other = instr(m, t->list[i]);
    Early e = early_begin(m->body, t->list[i]);
    if (other->guard == in->guard && other->guard_negated == in->guard_negated &&
        early_is_unwritten(&e, in->guard, t->list[test]))
      return true;
  }
  return false;
}

void memcheck_add_index_tests(Memcheck *m, const IndexTests *t, Early *e, Code *c, PtxReg *any,
                              bool any_is_set) {
  for (unsigned i = 0; i < t->n; i++) {
    if (is_tested_before(m, t, i)) continue;
    PtxOperand guard = guard_before(e, c, instr(m, t->list[i]), t->list[i]);
    if (any_is_set) EMIT(c, "or.pred", opd_reg(any), opd_reg(any), guard);
    else EMIT(c, "mov.pred", opd_reg(any), guard);
    any_is_set = true;
  }
}

// Calls the probe whether this test fails or not. So the code is one basic block with a call, which
// the virtual device takes for cold (vgpu/region/cold.c).
static void emit_report(Memcheck *m, Code *c, Early *e, uint32_t test) {
  Body *b = m->body;
  const PtxInstr *in = instr(m, test);
  PtxReg *from = in->ops[1].kind == OPD_REG ? early_value(e, c, in->ops[1].reg, test) : NULL;
  PtxReg *failed = body_temp(b, TYPE_PRED, 0), *outside = body_temp(b, TYPE_B32, 0),
         *launch = body_temp(b, TYPE_B32, 7), *site = body_temp(b, TYPE_B32, 6),
         *channel = body_temp(b, TYPE_B64, 5);
  EMIT(c, "mov.pred", opd_reg(failed), guard_before(e, c, in, test));
  EMIT(c, "selp.b32", opd_reg(outside), opd_imm(1), opd_imm(0), opd_reg(failed));
  PtxInstr *index = code_instr(c, in);
  index->guard = NULL;
  index->guard_negated = false;
  index->ops = ARENA_ARRAY(&b->func->module->arena, PtxOperand, 2);
  memcpy(index->ops, in->ops, 2 * sizeof *in->ops);
  if (from) index->ops[1].reg = from;
  record_load(c, channel, offsetof(WgLaunch, channel));
  record_load(c, launch, offsetof(WgLaunch, launch));
  record_site(c, site, program_site(b->program, b, in));
  const PtxOperand args[] = {opd_reg(outside), opd_reg(in->ops[0].reg), opd_reg(channel),
                             opd_reg(launch), opd_reg(site)};
  code_call(c, probe_function(b->program, b->unit, "wg_memcheck_index"), args, ARRAY_LEN(args));
  memcheck_stop(c, failed);
}

void memcheck_report_index_tests(Memcheck *m, const IndexTests *t, Early *e, Code *c) {
  for (unsigned i = 0; i < t->n; i++) {
    c->near = instr(m, t->list[i]);
    emit_report(m, c, e, t->list[i]);
  }
}

static bool is_kept_until(const Memcheck *m, uint32_t at, uint32_t test) {
  const PtxInstr *in = instr(m, test);
  Early e = early_begin(m->body, test);
  return early_is_unwritten(&e, in->guard, at) &&
         (in->ops[1].kind != OPD_REG || early_is_unwritten(&e, in->ops[1].reg, at));
}

bool memcheck_can_test_at(const Memcheck *m, const IndexTests *t, uint32_t at) {
  bool can = !t->hoisted;
  for (unsigned i = 0; can && i < t->n; i++)
    can = t->list[i] < at ? is_kept_until(m, at, t->list[i]) : is_known_at(m, at, t->list[i]);
  return can;
}

void memcheck_emit_index_tests(Memcheck *m, const IndexTests *t) {
  Body *b = m->body;
  PtxLabel *outside = body_label(b), *back = body_label(b);
  PtxReg *any = body_temp(b, TYPE_PRED, 0);
  Code *c = t->hoisted ? body_before_once(b, t->at) : body_before(b, t->at);
  Early e = early_begin(b, t->at);
  memcheck_add_index_tests(m, t, &e, c, any, false);
  code_branch(c, any, false, outside);
  code_label(c, back);
  c = body_cold(b);
  c->near = instr(m, t->list[0]);
  code_label(c, outside);
  e = early_begin(b, t->at);
  memcheck_report_index_tests(m, t, &e, c);
  EMIT(c, "bra", opd_label(back));
}
