// initcheck: finds branches, addresses and results that depend on memory that was never written.
// docs/initcheck.md is the page about it.
#include "tools/initcheck/internal.h"

static void begin(Program *p) {
  InitProgram *all = p->tool_data[TOOL_INITCHECK] = ARENA_NEW(&p->scratch, InitProgram);
  all->follows_shared = true;
  for (uint32_t u = 0; u < p->nunits; u++)
    for (uint32_t i = 0; i < p->units[u]->nfuncs; i++) {
      const PtxFunc *f = p->units[u]->funcs[i];
      if (f->is_declaration) continue;
      if (init_shares_shared(f)) all->follows_shared = false;
      if (init_takes_memory(f)) all->uses_heap = true;
      if (!f->is_entry && init_unfollowed(f)) all->unfollowed = init_unfollowed(f);
    }
}

// --- two bodies ---
//
// If a kernel reads only through its pointer parameters, and all memory behind them is initialised
// at a launch, it can read nothing bad. Then a second body runs that only marks its stores. It may
// read arrays of the thread and shared memory too: these are followed in both bodies.

enum { LARGEST_DOUBLED = 20000, LARGEST_WITH_SHARED = 6000 };  // statements

static bool reads_parameters_only(const IrCfg *cfg, const IrProvenance *provenance, bool *shared) {
  bool reads = false;
  for (uint32_t i = 0; i < cfg->ninstrs; i++) {
    const PtxInstr *in = cfg->instrs[i];
    const PtxOperand *source = init_source(in), *address = source ? source : init_address(in);
    PtxSpace space = source ? SPACE_GLOBAL : in->space;
    if (!source && in->op != OP_LD && in->op != OP_LDU && in->op != OP_ATOM && in->op != OP_RED)
      continue;
    if (space == SPACE_SHARED) *shared = true;
    if (space == SPACE_PARAM || space == SPACE_CONST || space == SPACE_LOCAL ||
        space == SPACE_SHARED)
      continue;
    IrOrigin o = address ? ir_access_origin(provenance, address) : (IrOrigin){0};
    if (o.kind != IR_FROM_PARAM || (space != SPACE_GLOBAL && space != SPACE_GENERIC)) return false;
    reads = true;
  }
  return reads;
}

static void prepare_function(Program *p, PtxFunc *f) {
  FuncInfo *info = func_info(f);
  if (!f->is_entry || !info->record || f->nstmts > LARGEST_DOUBLED || init_unfollowed(f) ||
      init_unmarks(f))
    return;
  Error err;
  IrCfg *cfg = ir_cfg_build(f, &err);
  if (!cfg) return;  // the passes report the error when they build it
  IrProvenance *provenance = ir_provenance_build(cfg);
  bool shared = false, doubles = reads_parameters_only(cfg, provenance, &shared) &&
                                 !(shared && f->nstmts > LARGEST_WITH_SHARED);
  ir_provenance_free(provenance);
  ir_cfg_free(cfg);
  if (doubles) second_body_make(p, f, &info->second);
}

static InitKernel *kernel_of(const Body *b) {
  Woven *out = b->program->out;
  void **data = &out->kernels[b->info->kernel].tool_data[TOOL_INITCHECK];
  if (!*data) *data = ARENA_ARRAY(&out->arena, InitKernel, 1);
  return *data;
}

// choose = all memory that is read through parameters is initialised
static void choose_body(InitCheck *k, Code *c) {
  const SecondBody *second = &k->body->info->second;
  PtxReg *sum = body_temp(k->body, TYPE_B64, 0), *one = body_temp(k->body, TYPE_B64, 1);
  if (!second->start) return;
  EMIT(c, "mov.u64", opd_reg(sum), opd_imm(k->reads_unknown ? 1 : 0));
  for (uint32_t i = 0; i < k->facts.len; i++) {
    if (!k->facts.data[i].is_read) continue;
    record_load(c, one, k->facts.data[i].record_offset + 8);
    EMIT(c, "or.b64", opd_reg(sum), opd_reg(sum), opd_reg(one));
  }
  EMIT(c, "setp.eq.u64", opd_reg(second->choose), opd_reg(sum), opd_imm(0));
  uint32_t whole_at = k->reads_unknown || !k->body->program->plan->spare_registers
                          ? 0
                          : record_reserve(k->body, 8);
  kernel_of(k->body)->all_initialised_at = whole_at;
  if (!whole_at) return;
  PtxReg *none = body_temp(k->body, TYPE_PRED, 0), *bad = body_temp(k->body, TYPE_B32, 0);
  PtxLabel *over = body_label(k->body);
  record_load(c, one, whole_at);
  EMIT(c, "setp.eq.u64", opd_reg(none), opd_reg(one), opd_imm(0));
  code_branch(c, none, false, over);
  EMIT(c, "ld.volatile.global.u32", opd_reg(bad), opd_at(c, opd_reg(one), 0));
  EMIT(c, "setp.eq.or.u32", opd_reg(second->choose), opd_reg(bad), opd_imm(0),
       opd_reg(second->choose));
  code_label(c, over);
}

// Finds this block's part of the launch's shadow; blocks beyond those that have one get none.
static void prepare_shared(InitCheck *k, Code *c) {
  Body *b = k->body;
  PtxReg *block = body_temp(b, TYPE_B64, 0), *t = body_temp(b, TYPE_B64, 1),
         *limit = body_temp(b, TYPE_B64, 2), *p = body_temp(b, TYPE_PRED, 0);
  PtxReg *word = body_temp(b, TYPE_B32, 0), *id = body_temp(b, TYPE_B32, 1);
  k->shared_at = body_reg(b, TYPE_B64);
  k->shared_bytes = body_reg(b, TYPE_B64);
  static const PtxSelector axis[] = {SEL_Z, SEL_Y, SEL_X};
  for (unsigned i = 0; i < 3; i++) {
    if (i) {
      EMIT(c, "mov.u32", opd_reg(word), opd_sreg(SREG_NCTAID, axis[i]));
      EMIT(c, "cvt.u64.u32", opd_reg(t), opd_reg(word));
      EMIT(c, "mul.lo.u64", opd_reg(block), opd_reg(block), opd_reg(t));
    }
    EMIT(c, "mov.u32", opd_reg(id), opd_sreg(SREG_CTAID, axis[i]));
    EMIT(c, "cvt.u64.u32", opd_reg(t), opd_reg(id));
    if (i) EMIT(c, "add.u64", opd_reg(block), opd_reg(block), opd_reg(t));
    else EMIT(c, "mov.u64", opd_reg(block), opd_reg(t));
  }
  record_load(c, word, offsetof(WgLaunch, shared_blocks));
  EMIT(c, "cvt.u64.u32", opd_reg(limit), opd_reg(word));
  EMIT(c, "setp.lt.u64", opd_reg(p), opd_reg(block), opd_reg(limit));
  record_load(c, word, offsetof(WgLaunch, shared_stride));
  EMIT(c, "cvt.u64.u32", opd_reg(t), opd_reg(word));
  record_load(c, k->shared_at, offsetof(WgLaunch, shared_shadow));
  EMIT(c, "mad.lo.u64", opd_reg(k->shared_at), opd_reg(block), opd_reg(t), opd_reg(k->shared_at));
  EMIT(c, "shl.b64", opd_reg(t), opd_reg(t), opd_imm(2));
  EMIT(c, "selp.b64", opd_reg(k->shared_bytes), opd_reg(t), opd_imm(0), opd_reg(p));
  // a twin has the launch record of the kernel that launched it
  if (b->info->is_twin && b->program->plan->spare_registers)
    EMIT(c, "mov.b64", opd_reg(k->shared_bytes), opd_imm(0));
  if (!k->by_regions) return;
  k->shared_limit = body_reg(b, TYPE_B32);
  EMIT(c, "cvt.u32.u64", opd_reg(k->shared_limit), opd_reg(k->shared_bytes));
}

// On a GPU a block clears its own part, all threads together: at the beginning all are active. On
// the virtual device the host clears it.
static bool clears_shared(const InitCheck *k) {
  return k->body->func->is_entry && !k->body->info->is_twin && k->shared_followed &&
         k->body->program->plan->spare_registers;
}

static void clear_shared(InitCheck *k, Code *c) {
  Body *b = k->body;
  PtxReg *at = body_temp(b, TYPE_B64, 0), *end = body_temp(b, TYPE_B64, 1),
         *step = body_temp(b, TYPE_B64, 2), *p = body_temp(b, TYPE_PRED, 0);
  PtxReg *thread = body_temp(b, TYPE_B32, 0), *threads = body_temp(b, TYPE_B32, 1),
         *word = body_temp(b, TYPE_B32, 2), *zero = body_temp(b, TYPE_B32, 3);
  PtxLabel *again = body_label(b), *done = body_label(b), *over = body_label(b);
  EMIT(c, "setp.eq.u64", opd_reg(p), opd_reg(k->shared_bytes), opd_imm(0));
  code_branch(c, p, false, over);
  EMIT(c, "mov.u32", opd_reg(zero), opd_imm(0));
  init_find_thread(c, thread, threads, word);
  EMIT(c, "mul.wide.u32", opd_reg(at), opd_reg(thread), opd_imm(16));
  EMIT(c, "mul.wide.u32", opd_reg(step), opd_reg(threads), opd_imm(16));
  EMIT(c, "add.u64", opd_reg(at), opd_reg(at), opd_reg(k->shared_at));
  EMIT(c, "shr.u64", opd_reg(end), opd_reg(k->shared_bytes), opd_imm(2));
  EMIT(c, "add.u64", opd_reg(end), opd_reg(end), opd_reg(k->shared_at));
  code_label(c, again);
  EMIT(c, "setp.ge.u64", opd_reg(p), opd_reg(at), opd_reg(end));
  code_branch(c, p, false, done);
  EMIT(c, "st.global.v4.u32", opd_at(c, opd_reg(at), 0),
       opd_vector(
           c, (const PtxOperand[]){opd_reg(zero), opd_reg(zero), opd_reg(zero), opd_reg(zero)}, 4));
  EMIT(c, "add.u64", opd_reg(at), opd_reg(at), opd_reg(step));
  EMIT(c, "bra", opd_label(again));
  code_label(c, done);
  EMIT(c, "bar.sync", opd_imm(0));
  code_label(c, over);
}

static void clear_local(InitCheck *k, Code *c, PtxVar *shadow) {
  Body *b = k->body;
  PtxReg *at = body_temp(b, TYPE_B64, 0), *end = body_temp(b, TYPE_B64, 1),
         *zero = body_temp(b, TYPE_B64, 2), *more = body_temp(b, TYPE_PRED, 0);
  PtxLabel *again = body_label(b);
  EMIT(c, "mov.u64", opd_reg(at), opd_var(shadow));
  EMIT(c, "add.u64", opd_reg(end), opd_reg(at), opd_imm((int64_t)shadow->size));
  EMIT(c, "mov.u64", opd_reg(zero), opd_imm(0));
  code_label(c, again);
  EMIT(c, "st.local.u64", opd_at(c, opd_reg(at), 0), opd_reg(zero));
  EMIT(c, "add.u64", opd_reg(at), opd_reg(at), opd_imm(8));
  EMIT(c, "setp.lt.u64", opd_reg(more), opd_reg(at), opd_reg(end));
  code_branch(c, more, false, again);
}

// Registers that may be read before they are written hold nothing that the program relies on: their
// shadows start as zero.
static void clear_shadows(InitCheck *k, Code *c) {
  IrLiveness *live = ir_liveness_build(k->body->cfg);
  for (uint32_t r = 0; r < k->body->func->nregs; r++) {
    PtxReg *s = k->shadow[r];
    if (s && live->live_in[0][r / 64] >> r % 64 & 1) init_clear(c, s);
  }
  ir_liveness_free(live);
}

static void prepare(InitCheck *k) {
  Body *b = k->body;
  Code *c = body_entry(b);
  bool shared = false, lookup = false, followed = false;
  choose_body(k, c);
  for (uint32_t i = 0; i < b->cfg->ninstrs; i++) {
    shared |= k->place[i].kind == PLACE_SHARED ||
              (k->place[i].kind == PLACE_LOOKUP && k->shared_followed &&
               b->cfg->instrs[i]->space == SPACE_GENERIC);
    lookup |= k->place[i].kind == PLACE_LOOKUP || k->source[i].kind == PLACE_LOOKUP;
    followed |= k->place[i].kind != PLACE_NONE;
    shared |= k->shared_followed && init_says(k, i);
  }
  shared |= b->info->calls_functions && clears_shared(k);  // for the called functions
  if (!followed && !shared) return;
  k->origin_address = body_reg(b, TYPE_B64);
  k->origin_site = body_reg(b, TYPE_B32);
  k->origin_derived = body_reg(b, TYPE_B32);
  if (k->by_regions) {
    PtxReg *word = body_temp(b, TYPE_B32, 0);
    k->dirty = body_reg(b, TYPE_PRED);
    EMIT(c, "mov.u32", opd_reg(word), opd_imm(0));
    EMIT(c, "setp.ne.u32", opd_reg(k->dirty), opd_reg(word), opd_imm(0));
  } else {
    EMIT(c, "mov.b64", opd_reg(k->origin_address), opd_imm(0));
    EMIT(c, "mov.b32", opd_reg(k->origin_site), opd_imm(-1));
    EMIT(c, "mov.b32", opd_reg(k->origin_derived), opd_imm(0));
  }
  if (shared) prepare_shared(k, c);
  if (shared && clears_shared(k)) clear_shared(k, c);
  if (shared && init_can_settle(k)) init_prepare_settle(k, c);
  if (lookup) {
    k->cache_base = body_reg(b, TYPE_B64);
    k->cache_size = body_reg(b, TYPE_B64);
    k->cache_shadow = body_reg(b, TYPE_B64);
    EMIT(c, "mov.b64", opd_reg(k->cache_base), opd_imm(0));
    EMIT(c, "mov.b64", opd_reg(k->cache_size), opd_imm(0));
    EMIT(c, "mov.b64", opd_reg(k->cache_shadow), opd_imm(0));
  }
  for (uint32_t i = 0; i < b->func->nlocals; i++)
    if (k->local_shadow[i]) clear_local(k, c, k->local_shadow[i]);
  if (!k->by_regions) clear_shadows(k, c);
}

// Emits the checks that memcheck deferred to us. If all our code stands before instructions that
// begin a region, one region holds several checks.
static void emit_memcheck(Body *b, bool by_regions, const bool *cuts) {
  if (b->deferred) b->deferred->emit(b->deferred, by_regions, cuts);
}

static bool is_reached(const Body *b, uint32_t i) {
  return b->cfg->blocks[b->cfg->block_of[i]].rpo != IR_NONE;
}

static void weave(Body *b) {
  Program *p = b->program;
  const char *unfollowed = init_unfollowed(b->func);
  if (b->info->calls_functions && !unfollowed) unfollowed = init_program(p)->unfollowed;
  if (b->func->is_entry && unfollowed) {
    kernel_of(b)->unfollowed = arena_printf(&p->out->arena, "it writes memory with %s", unfollowed);
    emit_memcheck(b, true, NULL);
    return;
  }
  InitCheck k = {.body = b,
                 .provenance = ir_provenance_build(b->cfg),
                 .defs = ir_defs_build(b->cfg),
                 .shared_followed = init_program(p)->follows_shared};
  init_plan(&k);
  k.by_regions = init_can_use_regions(&k);
  bool *cuts = ARENA_ARRAY(&b->cfg->arena, bool, b->cfg->ninstrs + 1);
  prepare(&k);
  if (k.by_regions) init_emit_regions(&k, cuts);
  for (uint32_t i = 0; !k.by_regions && i < b->cfg->ninstrs; i++)
    // before memcheck, which may skip the access: the bad address is reported all the same
    if (is_reached(b, i)) init_uses(&k, i);
  emit_memcheck(b, k.by_regions, cuts);
  for (uint32_t i = 0; !k.by_regions && i < b->cfg->ninstrs; i++) {
    if (!is_reached(b, i)) continue;
    init_access(&k, i);
    init_transfer(&k, i);
    init_said(&k, i);
    init_heap(&k, i);
  }
  facts_keep(b, k.facts.data, k.facts.len);
  if (b->func->is_entry && b->info->record)
    kernel_of(b)->good_if_reads_good = b->info->second.start && !k.reads_unknown && !k.reads_own;
  if (b->func->is_entry)
    kernel_of(b)->stores_anywhere = b->info->calls_functions || init_strays(&k);
  vec_free(&k.facts);
  ir_defs_free(k.defs);
  ir_provenance_free(k.provenance);
}

// WARPGRIND_REGIONS=no: for comparisons.
static unsigned options(const struct Options *o, const WeavePlan *plan) {
  const char *regions = getenv("WARPGRIND_REGIONS");
  return regions && !strcmp(regions, "no") ? INIT_ONE_BY_ONE : 0;
}

// Inlines calls: registers are followed through these.
const Pass pass_initcheck = {.options = options,
                             .begin = begin,
                             .prepare = prepare_function,
                             .weave = weave,
                             .inlines = 30000,
                             .needs_each_object = true};
