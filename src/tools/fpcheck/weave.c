// fpcheck: where NaN, infinity, division by zero and subnormal numbers are born.
//
// requires: contracted code (ir_contract), so that a test that reads a product does not change
// whether ptxas fuses it. keeps: every result. docs/fpcheck.md is the page about it.
#include "tools/fpcheck/internal.h"

void fp_load_counter(FpCheck *k, Code *c, const char *load, PtxReg *has, PtxReg *hot,
                     PtxReg *known) {
  PtxReg *counters = body_temp(k->body, TYPE_B64, 0);
  record_load(c, counters, offsetof(WgLaunch, counters));
  EMIT(c, "mov.u32", opd_reg(hot), opd_imm(0));
  EMIT(c, "mov.u32", opd_reg(known), opd_imm(0));
  code_guard(c, has, false);
  EMIT(c, load, opd_vector(c, (PtxOperand[]){opd_reg(hot), opd_reg(known)}, 2),
       opd_at(c, opd_reg(counters), k->hot * 8));
  code_guard(c, NULL, false);
}

// Whether a counter that is not 0 says to test this turn everywhere, for the active lanes. known:
// its second word. sampled: known exceptions may hide others. Testing all of the next turn would
// cost much for mostly known ones, so one in 8 of its first 1024 blocks is tested: these run at the
// same time.
enum { NOT_SAMPLED = ~0x3f8 };  // bits of a block's number: 0 if it is sampled
void fp_ask_counter(FpCheck *k, Code *c, FpCounter n, bool sampled) {
  PtxReg *flags = n.flags, *hot = n.hot, *known = n.known, *yes = n.yes;
  PtxReg *before = body_temp(k->body, TYPE_B32, 1), *graph = body_temp(k->body, TYPE_B32, 5),
         *in_graph = body_temp(k->body, TYPE_PRED, 2);
  EMIT(c, "and.b32", opd_reg(graph), opd_reg(flags), opd_imm(WG_LAUNCH_FP_GRAPH));
  EMIT(c, "setp.ne.u32", opd_reg(in_graph), opd_reg(graph), opd_imm(0));
  EMIT(c, "shr.u32", opd_reg(flags), opd_reg(flags), opd_imm(WG_LAUNCH_FP_TURN));
  EMIT(c, "sub.u32", opd_reg(hot), opd_reg(flags), opd_reg(hot));
  EMIT(c, "and.b32", opd_reg(hot), opd_reg(hot), opd_imm(0xffff));
  // known and the next turn: double the distance, which then is no power of 16
  EMIT(c, "setp.eq.u32", opd_reg(yes), opd_reg(hot), opd_reg(known));
  if (sampled) {
    EMIT(c, "mov.u32", opd_reg(before), opd_sreg(SREG_CTAID, SEL_X));
    EMIT(c, "and.b32", opd_reg(before), opd_reg(before), opd_imm(NOT_SAMPLED));
    EMIT(c, "setp.ne.and.u32", opd_reg(yes), opd_reg(before), opd_imm(0), opd_reg(yes));
  }
  code_guard(c, yes, false);
  EMIT(c, "shl.b32", opd_reg(hot), opd_reg(known), opd_imm(1));
  code_guard(c, NULL, false);
  EMIT(c, "add.u32", opd_reg(before), opd_reg(hot), opd_imm(-1));
  EMIT(c, "or.b32", opd_reg(before), opd_reg(before), opd_imm(WG_FP_SKIPPED));
  EMIT(c, "and.b32", opd_reg(hot), opd_reg(hot), opd_reg(before));
  EMIT(c, "setp.eq.u32", opd_reg(yes), opd_reg(hot), opd_imm(0));
  code_guard(c, in_graph, false);
  EMIT(c, "setp.eq.u32", opd_reg(yes), opd_reg(known), opd_imm(0));
  code_guard(c, NULL, false);
}

// All lanes of a warp take the same way.
static void branch_together(FpCheck *k, Code *c, PtxReg *yes, PtxLabel *to) {
  PtxReg *lanes = body_temp(k->body, TYPE_B32, 3);
  EMIT(c, "activemask.b32", opd_reg(lanes));
  EMIT(c, "vote.sync.any.pred", opd_reg(yes), opd_reg(yes), opd_reg(lanes));
  code_guard(c, yes, false);
  EMIT(c, "bra.uni", opd_label(to));
  code_guard(c, NULL, false);
}

// Every warp reads the counter: it should stay in the L1 cache. A block may then see an old value,
// except on the multiprocessor whose sink fired.
static void load_counter(FpCheck *k, Code *c, PtxReg *flags, PtxReg *hot) {
  const PtxModule *m = k->body->func->module;
  PtxReg *counters = body_temp(k->body, TYPE_B64, 0), *has = body_temp(k->body, TYPE_PRED, 1);
  record_load(c, counters, offsetof(WgLaunch, counters));
  EMIT(c, "setp.ge.u32", opd_reg(has), opd_reg(flags), opd_imm(1 << WG_LAUNCH_FP_TURN));
  EMIT(c, "mov.u32", opd_reg(hot), opd_imm(0));
  code_guard(c, has, false);
  if (m->version_major * 10 + m->version_minor >= 74 && m->sm >= 70)
    EMIT(c, "ld.global.L1::evict_last.u32", opd_reg(hot), opd_at(c, opd_reg(counters), k->hot * 8));
  else EMIT(c, "ld.global.u32", opd_reg(hot), opd_at(c, opd_reg(counters), k->hot * 8));
  code_guard(c, NULL, false);
}

// Loads the counter's second word if the first is not 0. From the cache as well: in a kernel with
// known exceptions every warp reads it. An old value, 0, only causes more tests.
static void load_known(FpCheck *k, Code *c, PtxReg *has, PtxReg *known) {
  PtxReg *counters = body_temp(k->body, TYPE_B64, 0);
  record_load(c, counters, offsetof(WgLaunch, counters));
  EMIT(c, "mov.u32", opd_reg(known), opd_imm(0));
  code_guard(c, has, false);
  EMIT(c, "ld.global.u32", opd_reg(known), opd_at(c, opd_reg(counters), k->hot * 8 + 4));
  code_guard(c, NULL, false);
}

// --- where the counter is read ---
// Instructions before the counter is read may run twice: they store nothing, wait for no other
// thread, and are not tested.
static bool can_be_repeated(const FpCheck *k, uint32_t i) {
  const Body *b = k->body;
  const PtxInstr *in = b->cfg->instrs[i];
  if (b->before[i] || b->after[i] || k->flow->depth[i]) return false;
  if (ptx_op_classes(in) & (CLASS_STORE | CLASS_ATOMIC | CLASS_SYNC | CLASS_CALL | CLASS_WARP |
                            CLASS_TENSOR | CLASS_ASYNC | CLASS_MEMFENCE | CLASS_SURFACE))
    return false;
  return !ptx_has(in, MOD_VOLATILE) && !ptx_has(in, MOD_RELAXED) && !ptx_has(in, MOD_ACQUIRE);
}

static uint32_t repeated_until(const FpCheck *k, uint32_t block) {
  const IrCfg *c = k->body->cfg;
  uint32_t i = c->blocks[block].first, end = c->blocks[block].end;
  while (i + 1 < end && can_be_repeated(k, i)) i++;
  return i;
}

static bool computes(const PtxInstr *in) {
  for (unsigned i = 0; i < in->ntypes; i++)
    if (fp_type(in->types[i]).format && !(ptx_op_classes(in) & CLASS_LOAD)) return true;
  return false;
}

// Finds the latest place to choose the body, so that the kernel's own loads overlap the load of the
// counter: in the last block that comes before all loops and dominates every block in `works`.
// Returns the instruction to insert before; 0: there is none.
enum { FIRST_BLOCKS = 64 };
static uint32_t last_moment(const FpCheck *f) {
  const IrCfg *c = f->body->cfg;
  uint32_t best = 0, most = FIRST_BLOCKS;
  // by block: some instruction cannot be repeated, or full mode tests one
  bool *works = ARENA_ARRAY(&f->body->cfg->arena, bool, c->nblocks + 1);
  for (uint32_t i = 0; i < c->ninstrs; i++)
    works[c->block_of[i]] |= !can_be_repeated(f, i) || computes(c->instrs[i]);
  for (uint32_t l = 0; l < c->nloops; l++) most = MIN(most, c->blocks[c->loops[l].header].rpo);
  for (uint32_t n = 0; n < most && n < c->norder; n++) {
    uint32_t k = c->order[n], at = repeated_until(f, k);
    bool all = at > c->blocks[k].first;
    for (uint32_t other = 0; other < c->nblocks && all; other++)
      all = !works[other] || c->blocks[other].rpo == IR_NONE || ir_dominates(c, k, other);
    if (all) best = at;
  }
  return best;
}

// In a kernel with two bodies, takes the second if the launch or the kernel's counter says so. If
// threads can start over later, they read the counter then, and nothing waits for it here.
static void choose_body(FpCheck *k, PtxLabel *full) {
  Body *b = k->body;
  Code *cold = body_cold(b), *c = k->late ? body_after(b, k->late - 1) : body_entry(b);
  PtxLabel *choose = body_label(b), *resume = body_label(b);
  PtxReg *flags = body_temp(b, TYPE_B32, 0), *hot = body_temp(b, TYPE_B32, 2),
         *masked = body_temp(b, TYPE_B32, 1), *known = body_temp(b, TYPE_B32, 4);
  PtxReg *yes = body_temp(b, TYPE_PRED, 0), *has = body_temp(b, TYPE_PRED, 1);
  bool waits = k->hot >= 0 && !k->seen && (!k->done_before || k->asks_first),
       asks = waits || (k->hot >= 0 && k->seen);
  if (waits) {  // the load overlaps the code before the choice
    record_load(body_entry(b), flags, offsetof(WgLaunch, flags));
    load_counter(k, body_entry(b), flags, hot);
  }
  unsigned bits = k->seen && asks ? WG_LAUNCH_FP_FULL | WG_LAUNCH_FP_APART : WG_LAUNCH_FP_FULL;
  record_load(c, flags, offsetof(WgLaunch, flags));
  EMIT(c, "and.b32", opd_reg(masked), opd_reg(flags), opd_imm(bits));
  EMIT(c, "setp.ne.u32", opd_reg(yes), opd_reg(masked), opd_imm(bits & WG_LAUNCH_FP_APART));
  if (waits) {
    EMIT(c, "setp.ne.or.u32", opd_reg(yes), opd_reg(hot), opd_imm(0), opd_reg(yes));
    branch_together(k, c, yes, choose);
  } else {  // flags are a parameter: the same in all lanes
    code_guard(c, yes, false);
    EMIT(c, "bra.uni", opd_label(choose));
    code_guard(c, NULL, false);
  }
  code_label(c, resume);
  code_label(cold, choose);
  if (k->repeats) {
    fp_again_never(k, cold);
    record_load(cold, flags, offsetof(WgLaunch, flags));  // fp_again_never overwrote its register
  }
  EMIT(cold, "and.b32", opd_reg(masked), opd_reg(flags), opd_imm(WG_LAUNCH_FP_FULL));
  EMIT(cold, "setp.ne.u32", opd_reg(yes), opd_reg(masked), opd_imm(0));
  code_guard(cold, yes, false);
  EMIT(cold, "bra.uni", opd_label(full));
  code_guard(cold, NULL, false);
  if (asks) {
    if (!waits) load_counter(k, cold, flags, hot);
    EMIT(cold, "setp.ne.u32", opd_reg(has), opd_reg(hot), opd_imm(0));
    load_known(k, cold, has, known);
    fp_ask_counter(k, cold, (FpCounter){flags, hot, known, yes}, true);
    EMIT(cold, "and.pred", opd_reg(yes), opd_reg(yes), opd_reg(has));
    branch_together(k, cold, yes, full);
  }
  EMIT(cold, "bra.uni", opd_label(resume));
}

// The same if the second body was made before weaving, as code that all tools see: sets the
// predicate that chooses the body.
static void choose_second(FpCheck *k, PtxReg *choose) {
  Body *b = k->body;
  Code *c = body_entry(b);
  PtxReg *flags = body_temp(b, TYPE_B32, 0), *hot = body_temp(b, TYPE_B32, 2),
         *lanes = body_temp(b, TYPE_B32, 3), *known = body_temp(b, TYPE_B32, 4),
         *yes = body_temp(b, TYPE_PRED, 0), *has = body_temp(b, TYPE_PRED, 1);
  record_load(c, flags, offsetof(WgLaunch, flags));
  EMIT(c, "and.b32", opd_reg(hot), opd_reg(flags), opd_imm(WG_LAUNCH_FP_FULL));
  EMIT(c, "setp.ne.u32", opd_reg(choose), opd_reg(hot), opd_imm(0));
  if (k->hot < 0) return;
  load_counter(k, c, flags, hot);
  EMIT(c, "setp.ne.u32", opd_reg(has), opd_reg(hot), opd_imm(0));
  load_known(k, c, has, known);
  fp_ask_counter(k, c, (FpCounter){flags, hot, known, yes}, true);
  EMIT(c, "and.pred", opd_reg(yes), opd_reg(yes), opd_reg(has));
  EMIT(c, "or.pred", opd_reg(choose), opd_reg(choose), opd_reg(yes));
  EMIT(c, "activemask.b32", opd_reg(lanes));
  EMIT(c, "vote.sync.any.pred", opd_reg(choose), opd_reg(choose), opd_reg(lanes));
}

// The warps of these kernels must all run in the same body, since they work together: only the
// launch may choose it.
static bool warps_are_bound(const Body *b) {
  for (uint32_t i = 0; i < b->cfg->ninstrs; i++) switch (b->cfg->instrs[i]->op) {
      case OP_WGMMA_MMA_ASYNC:
      case OP_WGMMA_FENCE:
      case OP_SETMAXNREG:
      case OP_BARRIER_CLUSTER: return true;
      default: break;
    }
  return false;
}

// No sink finds subnormal numbers. A run that asks only for them tests every instruction; if it
// asks for other kinds too, they are left to full mode.
static unsigned kinds_of(const WeavePlan *plan) {
  unsigned kinds = plan->tool_options[TOOL_FPCHECK] & WG_FP_ALL;
  return kinds ? kinds : WG_FP_ALL;
}
static bool follows(const WeavePlan *plan) { return plan->tool_options[TOOL_FPCHECK] & FP_FOLLOWS; }
static bool is_full(const WeavePlan *plan) {
  return plan->tool_options[TOOL_FPCHECK] & FP_TESTS_ALL || kinds_of(plan) == WG_FP_SUBNORMAL;
}

// Other tools must see both bodies, so these are made before any tool looks at the function.
// memcheck can work with two bodies: its findings do not depend on which one runs.
static bool shares_kernels(const WeavePlan *plan) {
  return plan->tools == (TOOL_BIT(FPCHECK) | TOOL_BIT(MEMCHECK)) && !is_full(plan) &&
         !follows(plan);
}

// Inline PTX often stands in braces that declare nothing, for example in every function of
// cuda_fp16.h and cuda_bf16.h. Tests of several instructions cannot be merged across braces.
static void drop_braces(PtxFunc *f) {
  bool *gone = mem_alloc(f->nstmts + 1);
  struct {
    uint32_t at;
    bool declares;
  } *open = mem_alloc(sizeof *open * (f->nstmts + 1));
  uint32_t depth = 0, n = 0;
  for (uint32_t i = 0; i < f->nstmts; i++) switch (f->stmts[i].kind) {
      case STMT_SCOPE_BEGIN:
        open[depth].at = i;
        open[depth++].declares = false;
        break;
      case STMT_SCOPE_END:
        CHECK(depth);
        if (!open[--depth].declares) gone[i] = gone[open[depth].at] = true;
        break;
      case STMT_INSTR:
      case STMT_LOC: break;
      default:
        if (depth) open[depth - 1].declares = true;
        break;
    }
  for (uint32_t i = 0; i < f->nstmts; i++)
    if (!gone[i]) f->stmts[n++] = f->stmts[i];
  f->nstmts = n;
  free(open);
  free(gone);
}

// in statements: larger kernels get one body, since two with the checks of two tools must be
// compiled
enum { LARGEST_DOUBLED = 8000 };
static void prepare(Program *p, PtxFunc *f) {
  FuncInfo *info = func_info(f);
  drop_braces(f);
  if (!shares_kernels(p->plan) || !f->is_entry || !info->record || info->second.start ||
      f->nstmts > LARGEST_DOUBLED)
    return;
  FpOperation o;
  FpType d, a, b, c;
  for (uint32_t i = 0; i < f->nstmts; i++)
    if (f->stmts[i].kind == STMT_INSTR &&
        (fp_operation(f->stmts[i].instr, &o) || fp_is_matrix(f->stmts[i].instr, &d, &a, &b, &c))) {
      second_body_make(p, f, &info->second);
      return;
    }
}

static void weave_both(FpCheck *k) {
  uint32_t all = k->end, second = second_body_first(k->body);
  if (!warps_are_bound(k->body)) k->hot = k->body->info->kernel;
  k->end = second;
  fp_weave_fast(k);
  k->first = second;
  k->end = all;
  fp_weave_full(k);
  choose_second(k, k->body->info->second.choose);
}

// Weaves two bodies, unless other tools work on the first or the kernel cannot be cloned. Such
// kernels, and functions, are tested everywhere.
static void weave_as_planned(FpCheck *k) {
  Body *b = k->body;
  const WeavePlan *plan = b->program->plan;
  bool alone = plan->tools == TOOL_BIT(FPCHECK);
  k->hot = -1;
  if (shares_kernels(plan) && b->info->second.start) {
    weave_both(k);
    return;
  }
  if (!k->flow->makes && !k->flow->decides && !k->follow) return;
  if (is_full(plan) || !alone || !b->func->is_entry || !b->info->record || !fp_can_clone(k)) {
    fp_weave_full(k);
    return;
  }
  if (!warps_are_bound(b)) k->hot = b->info->kernel;
  if (fp_can_run_again(k)) {
    k->seen = body_reg(b, TYPE_PRED);
    k->repeats = body_reg(b, TYPE_PRED);
    k->again = body_label(b);
  } else fp_over_find(k);
  fp_loops_find(k);
  fp_weave_fast(k);
  if (k->hot >= 0) k->late = last_moment(k);  // before anything else is added
  fp_clone_begin(k);
  PtxLabel *full = fp_clone_label(k);
  fp_weave_full(k);
  fp_clone_end(k);
  if (k->seen) fp_again_weave(k, full);
  fp_loops_copy(k);
  fp_loops_ask_registers(k, &b->program->out->kernels[b->info->kernel]);
  choose_body(k, full);
}

static void weave(Body *b) {
  if (!b->cfg->ninstrs || fp_is_library(b->func)) return;
  FpCheck k = {.body = b, .kinds = kinds_of(b->program->plan)};
  if (!is_full(b->program->plan)) k.kinds &= ~(unsigned)WG_FP_SUBNORMAL;
  k.follow = follows(b->program->plan);
  k.end = b->cfg->ninstrs;
  k.flow = fp_flow_build(b);
  k.fired = body_reg(b, TYPE_PRED);
  k.gathers = true;
  weave_as_planned(&k);
  if (k.live) ir_liveness_free(k.live);
  fp_flow_free(k.flow);
  strmap_free(&k.sites);
  vec_free(&k.items);
  vec_free(&k.kept);
}

// One counter for each kernel: not zero when a value has reached a sink.
static void begin(Program *p) {
  if ((p->plan->tools == TOOL_BIT(FPCHECK) && !is_full(p->plan)) || shares_kernels(p->plan))
    p->out->ncounters = p->out->nkernels;
}

// Calls in the fast body: the only woven code that disturbs its loops (weave_loops.c). If these
// calls keep no registers, the loops have all of them.
static bool is_sink(const PtxInstr *in) {
  const char *name = in->nops == 3 && in->ops[1].kind == OPD_FUNC ? in->ops[1].func->name : "";
  return strstr(name, "wg_fp_sink") || strstr(name, "wg_fp_quiet");
}

// A place in a header's function says little; if that is inlined, the place has the program's line,
// too.
const Pass pass_fpcheck = {.options = fp_options,
                           .begin = begin,
                           .prepare = prepare,
                           .weave = weave,
                           .inlines_debug = 8000,
                           .only_checks_code = true,
                           .spills_around = is_sink,
                           .needs_each_object = true};
