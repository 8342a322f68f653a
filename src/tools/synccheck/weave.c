// synccheck: checks that threads execute synchronization together. This file has the barriers of a
// block; tools/synccheck/weave_warp.c those of a warp, shuffles and votes;
// tools/synccheck/weave_loops.c loops that a block shares; tools/synccheck/weave_mbarrier.c
// mbarriers.
//
// A barrier that all threads of a block reach for any data
// (tools/synccheck/weave_uniform_barriers.c) needs no test. At other barriers a warp reads its
// active mask: one instruction, and the rest is out of line if lanes are missing. Threads count
// such barriers, and when they end, the counts are compared. Threads that leave before such
// barriers, as in `if (i >= n) return;`, announce it first and are expected nowhere.
#include "base/options.h"
#include "tools/synccheck/internal.h"

PtxOperand synccheck_site(Sync *s, Code *c, const PtxInstr *in, PtxReg *number) {
  uint32_t site = program_site(s->body->program, s->body, in);
  record_site(c, number, site);
  return opd_reg(number);
}

// probe(watch, channel, launch, …), or probe(watch, launch) without further arguments.
void synccheck_call(Sync *s, Code *c, const char *probe, const PtxOperand *more, unsigned n) {
  Body *b = s->body;
  PtxFunc *f = probe_function(b->program, b->unit, probe);
  PtxReg *guard = c->guard, *watch = body_temp(b, TYPE_B64, 6),
         *channel = body_temp(b, TYPE_B64, 7), *launch = body_temp(b, TYPE_B32, 7);
  bool negated = c->guard_negated;
  PtxOperand args[16] = {opd_reg(watch)};
  unsigned at = 1;
  PtxLabel *over = guard ? body_label(b) : NULL;
  if (guard) code_branch(c, guard, !negated, over);
  record_load(c, watch, offsetof(WgLaunch, progress));
  if (n) {
    record_load(c, channel, offsetof(WgLaunch, channel));
    args[at++] = opd_reg(channel);
  }
  record_load(c, launch, offsetof(WgLaunch, launch));
  args[at++] = opd_reg(launch);
  for (unsigned i = 0; i < n; i++) args[at++] = more[i];
  code_call(c, f, args, at);
  if (over) code_label(c, over);
  code_guard(c, guard, negated);
}

static bool is_block_barrier(const PtxInstr *in) { return ptx_op_order(in->op) == ORDER_BLOCK; }
static bool is_aligned(const PtxInstr *in) { return in->op == OP_BAR || ptx_has(in, MOD_ALIGNED); }

static const PtxOperand *thread_count(const PtxInstr *in) {
  bool red = ptx_has(in, MOD_RED);
  if (red) return in->nops == 4 ? &in->ops[2] : NULL;
  return in->nops == 2 ? &in->ops[1] : NULL;
}

// Does the barrier need a test? A barrier with a thread count is for some of the warps: only whole
// warps are tested there.
static bool is_unsure(const Sync *s, uint32_t i) {
  const PtxInstr *in = s->body->cfg->instrs[i];
  return is_block_barrier(in) && (in->guard || s->t.apart[s->body->cfg->block_of[i]]);
}

// --- one barrier ---

// Temporary 0 then holds the active lanes.
Code *synccheck_where_few(Sync *s, uint32_t i, PtxLabel **back) {
  Body *b = s->body;
  const PtxInstr *in = b->cfg->instrs[i];
  Code *c = body_before(b, i), *cold = body_cold(b);
  PtxReg *lanes = body_temp(b, TYPE_B32, 0), *few = body_temp(b, TYPE_PRED, 0);
  PtxLabel *rare = body_label(b);
  *back = body_label(b);
  code_guard(c, in->guard, in->guard_negated);
  EMIT(c, "activemask.b32", opd_reg(lanes));
  code_guard(c, NULL, false);
  if (in->guard)
    EMIT(c, "setp.ne.and.u32", opd_reg(few), opd_reg(lanes), opd_imm(-1), opd_guard(in));
  else EMIT(c, "setp.ne.u32", opd_reg(few), opd_reg(lanes), opd_imm(-1));
  code_branch(c, few, false, rare);
  code_label(c, *back);
  cold->near = in;
  code_label(cold, rare);
  return cold;
}

static void test_warp(Sync *s, uint32_t i, const PtxInstr *in) {
  PtxReg *number = body_temp(s->body, TYPE_B32, 1);
  PtxLabel *back;
  Code *cold = synccheck_where_few(s, i, &back);
  PtxOperand site = synccheck_site(s, cold, in, number);
  SYNC_CALL(s, cold, "wg_sync_barrier", site, opd_imm(s->leaves_early || !s->is_kernel),
            opd_reg(body_temp(s->body, TYPE_B32, 0)));
  EMIT(cold, "bra", opd_label(back));
}

// The compiler assumes that all lanes of a warp reach an aligned barrier. If they do not, and our
// call is on the way, its code hangs.
static void let_warp_split(Sync *s, PtxInstr *in) {
  if (s->body->func->module->sm < 70) return;
  unsigned kept = 0;
  for (unsigned k = 0; k < in->nmods; k++)
    if (in->mods[k] != MOD_ALIGNED) in->mods[kept++] = in->mods[k];
  in->nmods = (uint8_t)kept;
  in->op = OP_BARRIER;
  in->form = 0;
}

static void count_barrier(Sync *s, uint32_t i, const PtxInstr *in) {
  Code *c = body_before(s->body, i);
  code_guard(c, in->guard, in->guard_negated);
  EMIT(c, "add.u32", opd_reg(s->barriers), opd_reg(s->barriers), opd_imm(1));
  EMIT(c, "mov.u32", opd_reg(s->last_site), opd_imm(program_site(s->body->program, s->body, in)));
  code_guard(c, NULL, false);
}

// The count must be a multiple of the warp size, and at most the number of threads.
static void test_count(Sync *s, uint32_t i, const PtxInstr *in, const PtxOperand *count) {
  Body *b = s->body;
  Code *c = body_before(b, i);
  PtxReg *threads = body_temp(b, TYPE_B32, 0), *more = body_temp(b, TYPE_B32, 1),
         *bad = body_temp(b, TYPE_PRED, 0), *odd = body_temp(b, TYPE_PRED, 1);
  PtxReg *value = body_temp(b, TYPE_B64, 0), *wide = body_temp(b, TYPE_B64, 1),
         *n = body_temp(b, TYPE_B32, 2);
  static const PtxSelector dims[] = {SEL_X, SEL_Y, SEL_Z};
  EMIT(c, "mov.u32", opd_reg(threads), opd_sreg(SREG_NTID, SEL_X));
  for (int k = 1; k < 3; k++) {
    EMIT(c, "mov.u32", opd_reg(more), opd_sreg(SREG_NTID, dims[k]));
    EMIT(c, "mul.lo.u32", opd_reg(threads), opd_reg(threads), opd_reg(more));
  }
  EMIT(c, "mov.b32", opd_reg(n), *count);
  EMIT(c, "add.u32", opd_reg(more), opd_reg(threads), opd_imm(31));
  EMIT(c, "and.b32", opd_reg(more), opd_reg(more), opd_imm(-32));
  EMIT(c, "setp.gt.u32", opd_reg(bad), opd_reg(n), opd_reg(more));
  EMIT(c, "and.b32", opd_reg(more), opd_reg(n), opd_imm(31));
  EMIT(c, "setp.ne.u32", opd_reg(odd), opd_reg(more), opd_imm(0));
  EMIT(c, "or.pred", opd_reg(bad), opd_reg(bad), opd_reg(odd));
  EMIT(c, "setp.eq.u32", opd_reg(odd), opd_reg(n), opd_imm(0));
  EMIT(c, "or.pred", opd_reg(bad), opd_reg(bad), opd_reg(odd));
  if (in->guard) EMIT(c, "and.pred", opd_reg(bad), opd_reg(bad), opd_guard(in));
  code_guard(c, bad, false);
  EMIT(c, "cvt.u64.u32", opd_reg(value), opd_reg(n));
  EMIT(c, "cvt.u64.u32", opd_reg(wide), opd_reg(threads));
  code_report(c, &(CodeReport){.site = program_site(b->program, b, in),
                               .kind = opd_imm(KIND_BARRIER_MISMATCH),
                               .size = opd_imm(WG_SYNC_COUNT),
                               .address = opd_imm(0),
                               .value = opd_reg(value),
                               .extra = opd_reg(wide)});
  code_guard(c, NULL, false);
}

// --- threads that leave early, and threads that end ---

// Threads that leave at a branch, if the guard passes. early: others may still wait for them at a
// barrier; gone: the watchdog must know; dead: they leave the kernel
typedef struct Leaving {
  PtxReg *guard;
  bool negated, early, gone, dead;
} Leaving;
static void say_gone(Sync *s, uint32_t i, Leaving l) {
  PtxReg *guard = l.guard;
  bool negated = l.negated;
  Code *c = body_before(s->body, i);
  code_guard(c, guard, negated);
  if (s->early && l.early) EMIT(c, "mov.u32", opd_reg(s->early), opd_imm(1));
  code_guard(c, NULL, false);
  if (!l.gone) return;
  PtxLabel *over = body_label(s->body);
  PtxReg *watch = body_temp(s->body, TYPE_B64, 6), *launch = body_temp(s->body, TYPE_B32, 7);
  code_branch(c, guard, !negated, over);
  record_load(c, watch, offsetof(WgLaunch, progress));
  record_load(c, launch, offsetof(WgLaunch, launch));
  const PtxOperand args[] = {opd_reg(watch), opd_reg(launch), opd_imm(l.dead)};
  code_call(c, probe_function(s->body->program, s->body->unit, "wg_sync_gone"), args, 3);
  code_label(c, over);
  code_guard(c, NULL, false);
}

static bool each_early_leave(Sync *s, bool emit) {
  const IrCfg *cfg = s->body->cfg;
  bool any = false;
  for (uint32_t k = 0; k < cfg->nblocks; k++) {
    const IrBlock *b = &cfg->blocks[k];
    if (b->rpo == IR_NONE || b->first == b->end) continue;
    PtxInstr *last = cfg->instrs[b->end - 1];
    if (!last->guard || !s->t.varying[last->guard->id]) continue;
    bool ends = (last->op == OP_RET || last->op == OP_EXIT) && b->nsucc &&
                (s->t.reaches[b->succ[0]] || s->t.meets[b->succ[0]]);
    if (!ends && (last->op != OP_BRA || b->nsucc != 2)) continue;
    for (uint32_t i = 0; i < (ends ? 1 : 2); i++) {
      bool gone = ends || synccheck_leaves_early(s, k, b->succ[i]),
           dead = ends || synccheck_leaves_warp(s, k, b->succ[i]);
      bool early = gone || synccheck_leaves_quietly(s, k, b->succ[i]);
      if (!early && !dead) continue;
      any = true;
      if (emit)
        say_gone(s, b->end - 1,
                 (Leaving){last->guard, last->guard_negated != (!ends && i == 1), early,
                           gone || dead, dead});
    }
  }
  return any;
}

static void leave(Code *c, void *user) {
  Sync *s = user;
  Body *b = s->body;
  synccheck_leave_loops(s, c);
  synccheck_leave_copies(s, c);
  if (!s->counts && !s->needs_slot) return;
  PtxReg *site = body_temp(b, TYPE_B32, 1), *guard = c->guard;
  bool negated = c->guard_negated;
  PtxLabel *over = guard ? body_label(b) : NULL;
  if (guard) code_branch(c, guard, !negated, over);
  if (s->counts) {
    record_load(c, site, offsetof(WgLaunch, site_base));
    EMIT(c, "add.u32", opd_reg(site), opd_reg(site), opd_reg(s->last_site));
  } else EMIT(c, "mov.u32", opd_reg(site), opd_imm(-1));
  SYNC_CALL(s, c, "wg_sync_leave", s->counts ? opd_reg(s->barriers) : opd_imm(0), opd_reg(site),
            s->early ? opd_reg(s->early) : opd_imm(0));
  if (over) code_label(c, over);
  code_guard(c, guard, negated);
}

static void enter(Sync *s) {
  Code *c = body_entry(s->body);
  if (s->counts) {
    s->barriers = body_reg(s->body, TYPE_B32);
    s->last_site = body_reg(s->body, TYPE_B32);
    EMIT(c, "mov.u32", opd_reg(s->barriers), opd_imm(0));
    EMIT(c, "mov.u32", opd_reg(s->last_site), opd_imm(0));
  }
  if (s->counts && s->leaves_early) {
    s->early = body_reg(s->body, TYPE_B32);
    EMIT(c, "mov.u32", opd_reg(s->early), opd_imm(0));
  }
  if (s->needs_slot) SYNC_CALL(s, c, "wg_sync_enter");
  if (s->unsure && synccheck_watches(s->body)) watch_enter(s, c);
}

// --- a barrier of the grid: cooperative groups find its memory in two registers that only a
// cooperative launch sets, and trap without it ---

typedef struct Derived {
  bool *from, any;
} Derived;
static void note_use(void *ctx, PtxReg **reg, bool is_def) {
  Derived *d = ctx;
  if (!is_def) d->any |= d->from[(*reg)->id];
}
static void note_result(void *ctx, PtxReg **reg, bool is_def) {
  Derived *d = ctx;
  if (is_def) d->from[(*reg)->id] = true;
}

static bool reads_workspace(const PtxInstr *in) {
  return in->op == OP_MOV && in->nops == 2 && in->ops[1].kind == OPD_SREG &&
         (in->ops[1].sreg == SREG_ENVREG1 || in->ops[1].sreg == SREG_ENVREG2);
}

// By register: whether it is computed from these two, in one pass in code order.
static bool *find_workspace(const IrCfg *c) {
  Derived d = {.from = NULL};
  for (uint32_t i = 0; i < c->ninstrs; i++) {
    PtxInstr *in = c->instrs[i];
    if (!d.from && !reads_workspace(in)) continue;
    if (!d.from) d.from = ARENA_ARRAY((Arena *)&c->arena, bool, c->func->nregs + 1);
    d.any = reads_workspace(in);
    if (!d.any && ptx_op_is_arith(in->op)) ptx_visit_regs(in, note_use, &d);
    if (d.any) ptx_visit_regs(in, note_result, &d);
  }
  return d.from;
}

static void test_grid_barriers(Sync *s) {
  Body *b = s->body;
  const IrCfg *cfg = b->cfg;
  const bool *workspace = find_workspace(cfg);
  for (uint32_t i = 0; workspace && i < cfg->ninstrs; i++) {
    PtxInstr *in = cfg->instrs[i];
    const IrBlock *block = &cfg->blocks[cfg->block_of[i]];
    bool decided = in->op == OP_TRAP && in->guard && workspace[in->guard->id];
    for (uint32_t k = 0; in->op == OP_TRAP && k < block->npred; k++) {
      const IrBlock *p = &cfg->blocks[block->pred[k]];
      const PtxInstr *branch = p->first < p->end ? cfg->instrs[p->end - 1] : NULL;
      decided |= branch && branch->guard && workspace[branch->guard->id];
    }
    if (!decided) continue;
    Code *c = body_before(b, i);
    PtxReg *flags = body_temp(b, TYPE_B32, 0), *bad = body_temp(b, TYPE_PRED, 0);
    record_load(c, flags, offsetof(WgLaunch, flags));
    EMIT(c, "and.b32", opd_reg(flags), opd_reg(flags), opd_imm(WG_LAUNCH_COOPERATIVE));
    if (in->guard)
      EMIT(c, "setp.eq.and.u32", opd_reg(bad), opd_reg(flags), opd_imm(0), opd_guard(in));
    else EMIT(c, "setp.eq.u32", opd_reg(bad), opd_reg(flags), opd_imm(0));
    code_guard(c, bad, false);
    code_report(c, &(CodeReport){.site = program_site(b->program, b, in),
                                 .kind = opd_imm(KIND_BARRIER_MISUSE),
                                 .size = opd_imm(WG_SYNC_GRID),
                                 .address = opd_imm(0),
                                 .value = opd_imm(0),
                                 .extra = opd_imm(0)});
    code_guard(c, NULL, false);
  }
}

static void plan(Sync *s) {
  const IrCfg *cfg = s->body->cfg;
  bool calls = false;
  for (uint32_t i = 0; i < cfg->ninstrs; i++) {
    calls |= synccheck_calls_program(cfg->instrs[i]);
    s->unsure |= is_unsure(s, i);
    s->counts |= s->is_kernel && is_unsure(s, i) && synccheck_is_block_barrier(cfg->instrs[i]);
  }
  bool warp = synccheck_plan_warp(s);
  s->leaves_early = s->is_kernel && (s->unsure || warp || calls || s->shuffles) &&
                    each_early_leave(s, false);
  s->needs_slot = s->is_kernel && (warp || calls || s->leaves_early || s->unsure);
  if (s->is_kernel) synccheck_plan_loops(s);
  s->group_calls = synccheck_plan_group_calls(s);
}

static void weave(Body *b) {
  if (!b->cfg->ninstrs) return;
  Sync s = {.body = b, .is_kernel = b->func->is_entry};
  synccheck_together(b->cfg, s.is_kernel, &s.t);
  s.warp = s.is_kernel ? ir_uniform_build(b->cfg, &(IrUniformFacts){false}) : NULL;
  plan(&s);
  if (s.is_kernel) enter(&s);
  if (s.leaves_early) each_early_leave(&s, true);
  for (uint32_t i = 0; i < b->cfg->ninstrs; i++) {
    PtxInstr *in = b->cfg->instrs[i];
    if (!is_block_barrier(in)) continue;
    const PtxOperand *count = thread_count(in);
    if (count && (count->kind != OPD_INT || count->imm % 32 || count->imm != 32))
      test_count(&s, i, in, count);
    if (!is_unsure(&s, i)) continue;
    if (is_aligned(in) && !ptx_has(in, MOD_ARRIVE)) test_warp(&s, i, in);
    if (s.counts && synccheck_is_block_barrier(in)) count_barrier(&s, i, in);
    if (s.slot) watch_barrier(&s, i);
    if (is_aligned(in)) let_warp_split(&s, in);
  }
  synccheck_weave_warp(&s);
  synccheck_weave_mbarriers(&s);
  synccheck_weave_cluster(&s);
  synccheck_weave_group_calls(&s);
  test_grid_barriers(&s);
  synccheck_weave_loops(&s);
  if (synccheck_watches(b)) watch_weave_loops(&s);
  if (s.counts || s.needs_slot || s.nshared || s.group_calls) body_at_exits(b, leave, &s);
  if (s.warp) ir_uniform_free(s.warp);
}

// On a GPU only the code itself can tell where a warp is; the virtual device knows.
static unsigned options(const Options *o, const WeavePlan *plan) {
  return plan->spare_registers && options_number(o, OPT_HANG_TIMEOUT) ? SYNC_WATCHES : 0;
}

const Pass pass_synccheck = {.options = options, .weave = weave};
