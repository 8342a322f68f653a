// Tests several accesses of a basic block with one branch and one call, in code that is compiled to
// machine code: a branch between two loads keeps the compiler from issuing them together, and every
// call out of line costs time and registers (weave/cold_calls.c).
//
//     any = the quick test of one of the accesses fails;  @any bra Slow;
//     access … access … access             the program's own instructions
//   After:
//     …
//   Slow:
//     what is accessed, one entry each, into local memory
//     wrong = wg_memcheck_region(entries)   exact, and reports; a bit for each that is bad
//     the same instructions again; an access whose bit is set is not performed
//     bra After;
//
// The addresses must be known at the first access: simple instructions between the accesses that
// compute them are repeated before it. Index tests (weave_indices.c) use the region's branch where
// they can: Slow then begins with their reports.
#include "tools/memcheck/internal.h"

enum { MOST_CHECKS = WG_REGION_MOST, MOST_INSTRS = 96 };

typedef struct Region {
  uint32_t first, end;
  uint32_t checks[MOST_CHECKS];
  unsigned n;
} Region;
typedef struct Weaver {
  Memcheck *m;
  Region region;
  PtxVar *area;  // the entries
  PtxReg *wrong;
  // index tests without a branch so far; the next in Memcheck.index_tests; those of this region
  const IndexTests *waiting;
  uint32_t next_tests;
  const IndexTests *joined;
  Early early;  // what was computed early in the code being written
} Weaver;

static const PtxInstr *instr(const Weaver *w, uint32_t i) { return w->m->body->cfg->instrs[i]; }

// --- values at the start of the region ---

// From here on the check speaks of values at the start of the region.
typedef struct Kept {
  PtxReg *index;
  const PtxOperand *base;
} Kept;
static Kept move_up(Weaver *w, Code *code, Check *c, bool needs_base) {
  Kept kept = {c->index, c->base};
  const PtxOperand *base = &instr(w, c->instr)->ops[c->operand].list[0];
  if (c->kind == CHECK_INDEX && c->index && !needs_base)
    c->index = early_value(&w->early, code, c->index, c->instr);
  if (base->kind != OPD_REG || !needs_base) return kept;
  PtxOperand *moved = ARENA_NEW(&w->m->body->program->scratch, PtxOperand);
  *moved = opd_reg(early_value(&w->early, code, base->reg, c->instr));
  c->base = moved;
  return kept;
}
static void move_back(Check *c, Kept kept) {
  c->index = kept.index;
  c->base = kept.base;
}

// --- the code ---

static bool is_tested_in_copies(const Check *c) {
  return c->leads ? !c->leads_hoisted : !c->hoisted;
}

// Quick tests of the checks that belong to this code, and the branch. If a loop has a copy, the
// copy does not contain `once`.
static void emit_tests(Weaver *w, bool once, PtxLabel *slow) {
  Memcheck *m = w->m;
  Code *code = once ? body_before_once(m->body, w->region.first)
                    : body_before(m->body, w->region.first);
  PtxReg *any = body_temp(m->body, TYPE_PRED, once ? 6 : 5), *known[MOST_CHECKS],
         *bits = body_temp(m->body, TYPE_B32, once ? 5 : 4);
  unsigned nknown = 0;
  bool gathers = false;
  w->early = early_begin(m->body, w->region.first);
  for (unsigned i = 0; i < w->region.n; i++) {
    Check *c = &m->checks[w->region.checks[i]];
    bool tests = is_tested_in_copies(c) != once, counts = c->hoisted == once;
    if (!tests && !counts) continue;
    if (c->leads && !c->bad) c->bad = body_reg(m->body, TYPE_PRED);
    PtxReg *bad = c->bad;
    if (tests) {
      Kept kept = move_up(w, code, c, c->kind != CHECK_INDEX || c->test_align);
      // one test of alignment for all of them
      bool together = c->test_align && counts && !instr(w, c->instr)->guard;
      if (together && !gathers) EMIT(code, "mov.u32", opd_reg(bits), opd_imm(0));
      if (together) {
        memcheck_gather_low_bits(m, code, c, bits);
        gathers = true;
      }
      if (together) c->test_align = false;
      bad = memcheck_test(m, code, c);
      if (together) c->test_align = true;
      move_back(c, kept);
    }
    bool again = false;
    for (unsigned k = 0; k < nknown; k++) again |= known[k] == bad;
    if (!counts || again) continue;
    if (nknown) EMIT(code, "or.pred", opd_reg(any), opd_reg(any), opd_reg(bad));
    else EMIT(code, "mov.pred", opd_reg(any), opd_reg(bad));
    known[nknown++] = bad == body_temp(m->body, TYPE_PRED, 0) ? NULL : bad;
  }
  if (gathers) EMIT(code, "setp.ne.or.u32", opd_reg(any), opd_reg(bits), opd_imm(0), opd_reg(any));
  if (nknown && w->joined) memcheck_add_index_tests(m, w->joined, &w->early, code, any, true);
  if (nknown) code_branch(code, any, false, slow);
}

static PtxOperand entry(Weaver *w, Code *code, unsigned i, unsigned field) {
  return opd_at(code, opd_var(w->area), (int64_t)(i * sizeof(WgRegionEntry) + field));
}

static void emit_entry(Weaver *w, Code *code, unsigned i) {
  Memcheck *m = w->m;
  Body *b = m->body;
  Check *c = &m->checks[w->region.checks[i]];
  const PtxInstr *in = instr(w, c->instr);
  code->near = in;
  Kept kept = move_up(w, code, c, true);
  PtxReg *base = body_temp(b, TYPE_B64, 1), *size = body_temp(b, TYPE_B64, 2),
         *word = body_temp(b, TYPE_B32, 0), *site = body_temp(b, TYPE_B32, 6),
         *what = body_temp(b, TYPE_B32, 3);
  EMIT(code, "st.local.b64", entry(w, code, i, offsetof(WgRegionEntry, address)),
       opd_reg(memcheck_address(m, code, c, 0)));
  memcheck_object(code, c, base, size);
  EMIT(code, "st.local.b64", entry(w, code, i, offsetof(WgRegionEntry, base)), opd_reg(base));
  EMIT(code, "st.local.b64", entry(w, code, i, offsetof(WgRegionEntry, size)), opd_reg(size));
  move_back(c, kept);
  EMIT(code, "mov.u32", opd_reg(what),
       opd_imm(memcheck_what(m, c) | (c->kind == CHECK_LOOKUP || c->range_at ? WG_WHAT_HEAP : 0) |
               (c->kind == CHECK_LOOKUP ? WG_WHAT_RANGE : 0)));
  EMIT(code, "st.local.b32", entry(w, code, i, offsetof(WgRegionEntry, what)), opd_reg(what));
  EMIT(code, "mov.u32", opd_reg(word), opd_imm(c->bytes));
  if (in->guard)
    EMIT(code, "selp.b32", opd_reg(word), in->guard_negated ? opd_imm(0) : opd_reg(word),
         in->guard_negated ? opd_reg(word) : opd_imm(0), opd_reg(in->guard));
  EMIT(code, "st.local.b32", entry(w, code, i, offsetof(WgRegionEntry, bytes)), opd_reg(word));
  record_site(code, site, memcheck_site(m, c));
  EMIT(code, "st.local.b32", entry(w, code, i, offsetof(WgRegionEntry, site)), opd_reg(site));
}

static void emit_call(Weaver *w, Code *code) {
  Body *b = w->m->body;
  PtxReg *entries = body_temp(b, TYPE_B64, 0), *table = body_temp(b, TYPE_B64, 3),
         *channel = body_temp(b, TYPE_B64, 5), *launch = body_temp(b, TYPE_B32, 7),
         *heap = body_temp(b, TYPE_B32, 3);
  EMIT(code, "mov.u64", opd_reg(entries), opd_var(w->area));
  EMIT(code, "cvta.local.u64", opd_reg(entries), opd_reg(entries));
  record_load(code, table, offsetof(WgLaunch, memory));
  record_load(code, heap, offsetof(WgLaunch, heap));
  record_load(code, channel, offsetof(WgLaunch, channel));
  record_load(code, launch, offsetof(WgLaunch, launch));
  const PtxOperand args[] = {opd_reg(entries), opd_imm(w->region.n), opd_reg(table),
                             opd_reg(heap),    opd_reg(channel),     opd_reg(launch)};
  code_call_value(code, probe_function(b->program, b->unit, "wg_memcheck_region"), w->wrong, args,
                  6);
  if (!memcheck_stops(b)) return;
  PtxReg *bad = body_temp(b, TYPE_PRED, 1);
  EMIT(code, "setp.ne.u32", opd_reg(bad), opd_reg(w->wrong), opd_imm(0));
  memcheck_stop(code, bad);
}

// Ranges that were looked up are tried first from now on.
static void emit_caches(Weaver *w, Code *code) {
  Memcheck *m = w->m;
  for (unsigned i = 0; i < w->region.n; i++) {
    Check *c = &m->checks[w->region.checks[i]];
    if (c->kind != CHECK_LOOKUP) continue;
    EMIT(code, "ld.local.b64", opd_reg(m->caches[c->cache].base),
         entry(w, code, i, offsetof(WgRegionEntry, base)));
    EMIT(code, "ld.local.b64", opd_reg(m->caches[c->cache].last),
         entry(w, code, i, offsetof(WgRegionEntry, size)));
    if (!c->leads) continue;
    Kept kept = move_up(w, code, c, true);
    memcheck_test(m, code, c);  // those that rely on it need not look again
    move_back(c, kept);
  }
}

typedef struct Registers {
  const PtxReg *read[64];
  unsigned n;
  bool writes_read;  // one that it reads
} Registers;

static void look_at_register(void *ctx, PtxReg **reg, bool is_def) {
  Registers *r = ctx;
  if (!is_def) {
    if (r->n == ARRAY_LEN(r->read)) r->writes_read = true;
    else r->read[r->n++] = *reg;
  }
  for (unsigned i = 0; is_def && i < r->n; i++) r->writes_read |= r->read[i] == *reg;
}

// May its results be zero before it runs? Then nothing that was in these registers lives up to it.
static bool can_zero_before(const PtxInstr *in) {
  Registers r = {.n = 0};
  ptx_visit_regs((PtxInstr *)in, look_at_register, &r);
  return !in->guard && !r.writes_read;
}

static void emit_access(Weaver *w, Code *code, const PtxInstr *in, unsigned bit) {
  Body *b = w->m->body;
  PtxReg *word = body_temp(b, TYPE_B32, 0), *runs = body_temp(b, TYPE_PRED, 1),
         *not = body_temp(b, TYPE_PRED, 2);
  bool zero_before = can_zero_before(in);
  EMIT(code, "and.b32", opd_reg(word), opd_reg(w->wrong), opd_imm(1ll << bit));
  if (zero_before) {
    memcheck_zero(code, (PtxInstr *)in);
    EMIT(code, "setp.eq.u32", opd_reg(runs), opd_reg(word), opd_imm(0));
  } else if (in->guard) {
    PtxOperand guard = opd_guard(in);
    EMIT(code, "setp.ne.and.u32", opd_reg(not ), opd_reg(word), opd_imm(0), guard);
    EMIT(code, "setp.eq.and.u32", opd_reg(runs), opd_reg(word), opd_imm(0), guard);
  } else {
    EMIT(code, "setp.ne.u32", opd_reg(not ), opd_reg(word), opd_imm(0));
    EMIT(code, "not.pred", opd_reg(runs), opd_reg(not ));
  }
  PtxInstr *copy = code_instr(code, in);
  copy->guard = runs;
  copy->guard_negated = false;
  if (zero_before) return;
  code_guard(code, not, false);
  memcheck_zero(code, (PtxInstr *)in);
  code_guard(code, NULL, false);
}

static void emit_slow(Weaver *w, PtxLabel *slow, PtxLabel *after) {
  Memcheck *m = w->m;
  Code *code = body_cold(m->body);
  code->near = instr(w, w->region.first);
  code_label(code, slow);
  w->early = early_begin(m->body, w->region.first);
  if (w->joined) memcheck_report_index_tests(m, w->joined, &w->early, code);
  for (unsigned i = 0; i < w->region.n; i++) emit_entry(w, code, i);
  emit_call(w, code);
  emit_caches(w, code);
  unsigned next = 0;
  for (uint32_t i = w->region.first; i < w->region.end; i++) {
    code->near = instr(w, i);
    body_copied(m->body, i);
    if (next < w->region.n && m->checks[w->region.checks[next]].instr == i)
      emit_access(w, code, instr(w, i), next++);
    else code_instr(code, instr(w, i));
  }
  EMIT(code, "bra", opd_label(after));
}

// --- tests of indices ---

static void emit_waiting(Weaver *w) {
  if (w->waiting) memcheck_emit_index_tests(w->m, w->waiting);
  w->waiting = NULL;
}

static void meet_tests(Weaver *w, uint32_t instr) {
  while (w->next_tests < w->m->index_tests.len &&
         w->m->index_tests.data[w->next_tests].at == instr) {
    emit_waiting(w);
    w->waiting = &w->m->index_tests.data[w->next_tests++];
  }
}

// Hoisted checks and tests need a branch that copies of the loop omit; others need one they keep.
static void join_tests(Weaver *w) {
  Memcheck *m = w->m;
  bool joins = w->waiting && w->region.n > 1 &&
               memcheck_can_test_at(m, w->waiting, w->region.first);
  for (unsigned i = 0; joins && i < w->region.n; i++)
    joins = !m->checks[w->region.checks[i]].hoisted;
  w->joined = joins ? w->waiting : NULL;
  if (joins) w->waiting = NULL;
  emit_waiting(w);
}

static void close_region(Weaver *w) {
  Memcheck *m = w->m;
  Body *b = m->body;
  unsigned n = w->region.n;
  if (n) join_tests(w);
  if (n == 1) memcheck_emit(m, &m->checks[w->region.checks[0]]);
  if (n > 1) {
    if (!w->area) {
      w->area = body_area(b, "entries");
      body_declare(b, w->area);
      w->wrong = body_reg(b, TYPE_B32);
    }
    w->area->size = MAX(w->area->size, (uint32_t)(n * sizeof(WgRegionEntry)));
    w->area->dims[0] = w->area->size;
    PtxLabel *slow = body_label(b), *after = body_label(b);
    emit_tests(w, false, slow);
    emit_tests(w, true, slow);
    code_label_first(body_after(b, w->region.end - 1), after);
    emit_slow(w, slow, after);
  }
  w->region.n = 0;
}

// --- which accesses ---

// The carry of one instruction to the next is in no register that a branch would keep.
static bool carries(const PtxInstr *in) {
  return ptx_has(in, MOD_CC) || in->op == OP_ADDC || in->op == OP_SUBC || in->op == OP_MADC;
}

static bool stops(const PtxInstr *in) {
  return carries(in) || ptx_op_classes(in) & (CLASS_SYNC | CLASS_WARP | CLASS_CALL | CLASS_TENSOR |
                                              CLASS_ASYNC | CLASS_BRANCH | CLASS_RETURN |
                                              CLASS_MEMFENCE | CLASS_TEXTURE | CLASS_SURFACE);
}

static bool may_be_inside(const Weaver *w, const Check *c) {
  const PtxInstr *in = instr(w, c->instr);
  return ptx_op_memory(in->op) == MEMORY_SCALAR && !c->lanes && !c->size &&
         c->kind != CHECK_ALWAYS_BAD;
}

// Is all that its tests read known at the start of the region?
static bool may_join(const Weaver *w, const Check *c) {
  const PtxInstr *in = instr(w, c->instr);
  const PtxOperand *base = &in->ops[c->operand].list[0];
  if (w->region.n == MOST_CHECKS || c->instr - w->region.first > MOST_INSTRS) return false;
  Early e = early_begin(w->m->body, w->region.first);
  if (in->guard && !early_is_unwritten(&e, in->guard, c->instr)) return false;
  if (base->kind == OPD_REG && !early_is_known(&e, base->reg, c->instr)) return false;
  return c->kind != CHECK_INDEX || !c->index || early_is_known(&e, c->index, c->instr);
}

static void add(Weaver *w, uint32_t number) {
  const Check *c = &w->m->checks[number];
  if (w->region.n && !may_join(w, c)) close_region(w);
  if (!w->region.n) w->region.first = c->instr;
  w->region.checks[w->region.n++] = number;
  w->region.end = c->instr + 1;
}

void memcheck_emit_regions(Memcheck *m) {
  Weaver w = {.m = m};
  const IrCfg *cfg = m->body->cfg;
  uint32_t next = 0, block = UINT32_MAX;
  for (uint32_t i = 0; i < cfg->ninstrs; i++) {
    if (cfg->block_of[i] != block || stops(cfg->instrs[i]) || m->cuts[i]) close_region(&w);
    if (cfg->block_of[i] != block) emit_waiting(&w);
    block = cfg->block_of[i];
    meet_tests(&w, i);
    uint32_t first = next;
    while (next < m->nchecks && m->checks[next].instr == i) next++;
    if (next == first) continue;
    if (next == first + 1 && !stops(cfg->instrs[i]) && may_be_inside(&w, &m->checks[first]))
      add(&w, first);
    else {
      close_region(&w);
      emit_waiting(&w);
      for (uint32_t k = first; k < next; k++) memcheck_emit(m, &m->checks[k]);
    }
  }
  close_region(&w);
  emit_waiting(&w);
}
