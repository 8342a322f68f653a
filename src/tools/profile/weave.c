// profile: the costs of the memory requests, branches and loops of a kernel.
// weave/execution_counts.c counts executions; this pass adds measurements of each request of a
// warp, of branches that divide warps, and of the work of each warp.
#include "tools/options.h"
#include "tools/profile/internal.h"

enum { HAS_TWO_BODIES = 1 };  // of FuncInfo.tool_bits

static bool has_branches_to_count(const Profiling *w, const PtxInstr *in) {
  return in->op == OP_BRA && in->guard && w->rows[in->guard->id].class != LANES_SAME;
}

enum { LARGEST_DOUBLED = 8000 };  // statements

// Weaves two bodies: one for blocks whose warps are rows, where most indices are known to grow from
// lane to lane, and one for all other blocks.
static void prepare_function(Program *p, PtxFunc *f) {
  FuncInfo *info = func_info(f);
  if (p->plan->tool_options[TOOL_PROFILE] & ONLY_TIMELINE) return;
  if (!f->is_entry || !info->record || f->nstmts > LARGEST_DOUBLED || info->second.start) return;
  if (pass_alone(p) && second_body_make(p, f, &info->second))
    info->tool_bits[TOOL_PROFILE] = HAS_TWO_BODIES;
}

// Computes the shape of the block, and the number of this lane.
static void prepare(Profiling *w) {
  Body *b = w->body;
  Code *c = body_entry(b);
  PtxReg *x = body_temp(b, TYPE_B32, 0), *y = body_temp(b, TYPE_B32, 1),
         *n = body_temp(b, TYPE_B32, 2), *p = body_temp(b, TYPE_PRED, 0);
  w->lane = body_reg(b, TYPE_B32);
  w->leads = w->counting->is_first;
  w->no_rows = body_reg(b, TYPE_PRED);
  w->no_rows_or_tiles = body_reg(b, TYPE_PRED);
  w->measured = body_reg(b, TYPE_PRED);
  w->look = w->own_look = body_reg(b, TYPE_PRED);
  w->odds = w->own_odds = body_reg(b, TYPE_B32);
  code_guard(c, NULL, false);
  EMIT(c, "mov.u32", opd_reg(w->lane), opd_sreg(SREG_LANEID, SEL_NONE));
  EMIT(c, "setp.ne.u64", opd_reg(w->measured), opd_reg(w->counting->counters), opd_imm(0));
  EMIT(c, "mov.u32", opd_reg(x), opd_sreg(SREG_NTID, SEL_X));
  EMIT(c, "mov.u32", opd_reg(y), opd_sreg(SREG_NTID, SEL_Y));
  EMIT(c, "mov.u32", opd_reg(n), opd_sreg(SREG_NTID, SEL_Z));
  EMIT(c, "mul.lo.u32", opd_reg(n), opd_reg(n), opd_reg(y));
  EMIT(c, "setp.ne.u32", opd_reg(p), opd_reg(n), opd_imm(1));
  EMIT(c, "and.b32", opd_reg(n), opd_reg(x), opd_imm(31));
  EMIT(c, "setp.ne.and.u32", opd_reg(w->no_rows), opd_reg(n), opd_imm(0), opd_reg(p));
  // tiles: 16 threads in x, an even number in y
  EMIT(c, "and.b32", opd_reg(n), opd_reg(y), opd_imm(1));
  EMIT(c, "setp.ne.u32", opd_reg(p), opd_reg(n), opd_imm(0));
  EMIT(c, "setp.ne.or.u32", opd_reg(p), opd_reg(x), opd_imm(16), opd_reg(p));
  EMIT(c, "and.pred", opd_reg(w->no_rows_or_tiles), opd_reg(w->no_rows), opd_reg(p));
  if (w->second != UINT32_MAX)
    EMIT(c, "mov.pred", opd_reg(b->info->second.choose), opd_reg(w->no_rows));
}

static ProfileSite *new_site(Profiling *w, const PtxInstr *in, SiteSpace space, uint32_t words) {
  ProfileSite s = {.kernel = w->counting->kernel,
                   .space = space,
                   .ptx_line = in->ptx_line,
                   .place = count_place(w->counting->count, in),
                   .slot = count_reserve(w->counting->count, words),
                   .block = COUNT_NONE,
                   .outside = COUNT_NONE};
  s.text = arena_strdup(&w->body->program->out->arena, ptx_op_name(in->op));
  vec_push(&w->profile->sites, s);
  return &w->profile->sites.data[w->profile->sites.len - 1];
}

// The blocks from a branch to its reconvergence point.
static void find_region(const Profiling *w, uint32_t block, ProfileSite *s) {
  const IrCfg *cfg = w->body->cfg;
  uint32_t join = cfg->blocks[block].ipdom, top = 0;
  bool *seen = ARENA_ARRAY(&w->body->cfg->arena, bool, cfg->nblocks);
  uint32_t *stack = ARENA_ARRAY(&w->body->cfg->arena, uint32_t, cfg->nblocks + 1);
  RegionBlock *region = ARENA_ARRAY(&w->body->program->out->arena, RegionBlock, cfg->nblocks);
  stack[top++] = block;
  while (top) {
    const IrBlock *b = &cfg->blocks[stack[--top]];
    for (uint32_t i = 0; i < b->nsucc; i++) {
      uint32_t next = b->succ[i];
      if (next == join || seen[next]) continue;
      seen[next] = true;
      stack[top++] = next;
      if (w->counting->entry[next] != COUNT_NONE)
        region[s->nregion++] = (RegionBlock){w->counting->entry[next],
                                             cfg->blocks[next].end - cfg->blocks[next].first};
    }
  }
  s->region = region;
}

// The lanes that reach the end of a block; NULL: not known from its beginning.
static PtxReg *lanes_of(const Profiling *w, uint32_t block) {
  const IrBlock *b = &w->body->cfg->blocks[block];
  for (uint32_t i = b->first; i < b->end; i++)
    if (w->body->cfg->instrs[i]->op == OP_CALL) return NULL;
  return w->counting->lanes[block];
}

// Counts the warps in which some lanes take the branch and others do not.
static void count_branch(Profiling *w, uint32_t block, uint32_t i) {
  Body *b = w->body;
  const PtxInstr *in = b->cfg->instrs[i];
  ProfileSite *s = new_site(w, in, SITE_BRANCH, 1);
  s->block = w->counting->entry[block];
  find_region(w, block, s);
  Code *c = body_before(b, i);
  PtxReg *all = lanes_of(w, block), *taken = body_temp(b, TYPE_B32, 0),
         *leads = body_temp(b, TYPE_PRED, 0),
         *kept = count_loops_short_register(w->counting, block, s->slot, NULL);
  if (!all) {  // some threads may have ended in a called function
    all = body_temp(b, TYPE_B32, 2);
    code_guard(c, NULL, false);
    EMIT(c, "activemask.b32", opd_reg(all));
  }
  code_guard(c, in->guard, in->guard_negated);
  code_elect(c, taken, leads, w->counting->lower);
  code_guard(c, NULL, false);
  EMIT(c, "setp.ne.and.u32", opd_reg(leads), opd_reg(taken), opd_reg(all), opd_reg(leads));
  code_guard(c, leads, false);
  if (kept) EMIT(c, "add.u32", opd_reg(kept), opd_reg(kept), opd_imm(1));
  else
    EMIT(c, "red.global.add.u64", opd_at(c, opd_reg(w->counting->counters), s->slot * 8ll),
         opd_imm(1));
  code_guard(c, NULL, false);
}

typedef struct Work {
  Profiling *w;
  PtxReg *instructions;
  uint32_t slot;
} Work;

static void end_work(Code *c, void *user) {
  const Work *k = user;
  Body *b = k->w->body;
  PtxReg *slot = body_temp(b, TYPE_B64, 2), *guard = c->guard;
  bool negated = c->guard_negated;
  code_guard(c, NULL, false);
  EMIT(c, "add.u64", opd_reg(slot), opd_reg(k->w->counting->counters), opd_imm(k->slot * 8ll));
  code_guard(c, guard, negated);
  const char *probe = count_may_reduce(b) ? "wg_profile_work_80" : "wg_profile_work";
  code_call(c, probe_function(b->program, b->unit, probe),
            (PtxOperand[]){opd_reg(slot), opd_reg(k->instructions)}, 2);
  code_guard(c, NULL, false);
}

// Warps can only have different work if there are loops.
static void count_work(Profiling *w) {
  Body *b = w->body;
  const IrCfg *cfg = b->cfg;
  if (!b->func->is_entry || !cfg->nloops || !cfg->ninstrs) return;
  Work k = {w, body_reg(b, TYPE_B32), 0};
  k.slot = new_site(w, cfg->instrs[0], SITE_WORK, WORK_WORDS)->slot;
  EMIT(body_entry(b), "mov.u32", opd_reg(k.instructions), opd_imm(0));
  for (uint32_t i = 0; i < cfg->nblocks; i++) {
    const IrBlock *block = &cfg->blocks[i];
    if (block->first == block->end || block->rpo == IR_NONE) continue;
    Code *c = body_before(b, block->first);
    code_guard(c, NULL, false);
    EMIT(c, "add.u32", opd_reg(k.instructions), opd_reg(k.instructions),
         opd_imm(block->end - block->first));
  }
  body_at_exits(b, end_work, &k);
}

static unsigned options(const Options *o, const WeavePlan *plan) {
  if (options_is(o, OPT_PROFILE_PART, "timeline"))
    return ONLY_TIMELINE | (options_flag(o, OPT_PROFILE_OCCUPANCY) ? STAMPS : 0);
  return plan->spare_registers && !options_flag(o, OPT_PROFILE_EXACT) ? SAMPLES : 0;
}

static bool leaves_code(const Program *p) {
  return (p->plan->tool_options[TOOL_PROFILE] & (ONLY_TIMELINE | STAMPS)) == ONLY_TIMELINE;
}

static bool only_stamps(const Program *p) { return p->plan->tool_options[TOOL_PROFILE] & STAMPS; }

static void begin(Program *p) {
  if (leaves_code(p)) return;
  execution_counts_begin(p);
  p->counts->keeps_lanes = true;
  p->tool_data[TOOL_PROFILE] = ARENA_NEW(&p->scratch, Profile);
}

static void weave_block(Profiling *w, uint32_t block, uint32_t *instrs) {
  const IrBlock *b = &w->body->cfg->blocks[block];
  uint32_t first = w->profile->sites.len;
  for (uint32_t i = b->first; i < b->end; i++) {
    uint32_t before = w->profile->sites.len;
    weave_access(w, block, i);
    for (uint32_t k = before; k < w->profile->sites.len; k++) instrs[k - first] = i;
  }
  pattern_vectors(w, first, instrs);
  weave_block_end(w, block);
  // short sides become predicated instructions, which do not divide a warp
  if (b->end > b->first && !w->counting->sides[block].has_sides &&
      has_branches_to_count(w, w->body->cfg->instrs[b->end - 1]))
    count_branch(w, block, b->end - 1);
}

static void weave(Body *b) {
  if (leaves_code(b->program)) return;
  if (only_stamps(b->program)) {
    weave_occupancy(b, b->program->tool_data[TOOL_PROFILE]);
    return;
  }
  Profiling w = {.profile = b->program->tool_data[TOOL_PROFILE], .body = b};
  w.counting = execution_counts_weave(b);
  if (!w.counting) return;
  bool two = b->info->tool_bits[TOOL_PROFILE] & HAS_TWO_BODIES;
  w.second = two ? second_body_first(b) : UINT32_MAX;
  w.defs = ir_defs_build(b->cfg);
  w.rows = lane_values(&w, SHAPE_ROWS);
  w.any = lane_values(&w, SHAPE_ANY);
  w.tiles = lane_values(&w, SHAPE_TILES);
  prepare(&w);
  count_work(&w);
  weave_uniform(&w);
  uint32_t *instrs = ARENA_ARRAY(&b->cfg->arena, uint32_t, 2 * b->cfg->ninstrs + 1);
  for (uint32_t i = 0; i < b->cfg->nblocks; i++)
    if (w.counting->entry[i] != COUNT_NONE) weave_block(&w, i, instrs);
  ir_defs_free(w.defs);
}

enum { LOOP_REGISTERS = 32, LOOP_REGISTERS_MOST = 64 };

static bool end(Program *p, Error *err) {
  if (leaves_code(p)) return true;
  Profile *t = p->tool_data[TOOL_PROFILE];
  ProfileTable *table = ARENA_NEW(&p->out->arena, ProfileTable);
  p->out->tool_data[TOOL_PROFILE] = table;
  table->nsites = t->sites.len;
  table->sites = ARENA_ARRAY(&p->out->arena, ProfileSite, t->sites.len + 1);
  if (t->sites.len) memcpy(table->sites, t->sites.data, sizeof *table->sites * t->sites.len);
  vec_free(&t->sites);
  for (uint32_t i = 0; i < p->out->nkernels; i++) {
    WovenKernel *k = &p->out->kernels[i];
    // allows as many resident warps as the program's own kernel
    if (only_stamps(p)) k->registers = 32;
    // registers for the lanes' counters and for values live across calls: with fewer, a loop keeps
    // them in local memory
    k->loop_registers = LOOP_REGISTERS;
    k->loop_registers_most = LOOP_REGISTERS_MOST;
  }
  return execution_counts_end(p);
}

const Pass pass_profile = {.options = options,
                           .begin = begin,
                           .prepare = prepare_function,
                           .weave = weave,
                           .end = end,
                           .hears_nvtx = true,
                           .keeps_calls = true,
                           .spills_always = true,
                           .only_checks_code = true};
