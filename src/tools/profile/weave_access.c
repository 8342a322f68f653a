// Counts the requests of a block's accesses. Known facts are not computed again: a request of a
// full warp whose lanes are a fixed distance apart only costs a test of its alignment, without a
// branch, so that the compiler may still issue loads together. All other requests are handled at
// the end of the block: one branch leads to the requests of a warp that is not full, and the device
// code of probe.c is called for requests that must be measured.
#include "tools/profile/internal.h"

struct SiteCode {
  uint32_t site, block;  // in Profile.sites
  const PtxInstr *in;
  PtxOperand address;  // as valid at the end of the block
  bool generic;
  SiteNeeds needs;
  PtxReg *low;      // KNOWN: lower half of the lowest address
  PtxReg *kept[2];  // KNOWN, in a loop: sectors and lines beyond those of aligned requests
  PtxReg *narrow;   // WIDE: its lanes are less than 128 bytes apart
  bool by_lanes;    // weave_lanes.c counts it …
  bool cold_lanes;  // … if the warp is not full
  LaneSite lanes;
};

enum { MOST_STEPS = 8 };

static ProfileSite *site_of(const Profiling *w, const SiteCode *k) {
  return &w->profile->sites.data[k->site];
}

// Whether its module may use match.sync.
static bool may_match(const Body *b) {
  const char *target = b->func->module->target;
  return target && !strncmp(target, "sm_", 3) && atoi(target + 3) >= 70;
}

static const char *probe_of(const Body *b, const ProfileSite *s, bool generic) {
  bool matches = may_match(b);
  if (!generic && s->space == SITE_SHARED && count_may_reduce(b)) return "wg_profile_shared_80";
  if (generic) return matches ? "wg_profile_generic_70" : "wg_profile_generic";
  if (s->space == SITE_SHARED) return matches ? "wg_profile_shared_70" : "wg_profile_shared";
  if (s->space == SITE_CONSTANT) return matches ? "wg_profile_constant_70" : "wg_profile_constant";
  if (s->what == SITE_ATOMIC) return matches ? "wg_profile_atomic_70" : "wg_profile_atomic";
  return matches ? "wg_profile_global_70" : "wg_profile_global";
}

// Calls the device code for the lanes that pass the guard of `c`. If requests are sampled, this is
// code out of line that only sampled requests reach, and has no guard.
static void look_while_running(Profiling *w, Code *c, const SiteCode *k) {
  Body *b = w->body;
  PtxReg *slot = body_temp(b, TYPE_B64, 2), *address = body_temp(b, TYPE_B64, 3);
  PtxReg *guard = c->guard;
  const ProfileSite *s = site_of(w, k);
  bool negated = c->guard_negated;
  code_guard(c, NULL, false);
  EMIT(c, "add.u64", opd_reg(slot), opd_reg(w->counting->counters), opd_imm(s->slot * 8ll));
  access_address(c, address, &k->address);
  PtxOperand request = sample_request(w, c, s->bytes);
  code_guard(c, guard, negated);
  code_call(c, probe_function(b->program, b->unit, probe_of(b, s, k->generic)),
            (PtxOperand[]){opd_reg(slot), opd_reg(address), request}, 3);
  code_guard(c, NULL, false);
}

static void use_own_decision(Profiling *w) {
  w->look = w->own_look;
  w->odds = w->own_odds;
}

// … and starts sampling the requests of its block once this one had enough.
static void look_and_count(Profiling *w, Code *cold, const SiteCode *k, uint32_t word) {
  uint32_t slot = site_of(w, k)->slot;
  look_while_running(w, cold, k);
  if (!sample_wanted(w)) return;
  sample_count(w, cold, word, slot);
  if (k->generic) sample_count(w, cold, word, slot + SLOT_WORDS);
}

// An access that is executed less often than its block, or whose block calls functions: each
// execution decides for itself whether it is sampled.
static void look_at_once(Profiling *w, Code *c, const SiteCode *k) {
  Body *b = w->body;
  if (!sample_wanted(w)) {
    code_guard(c, k->in->guard, k->in->guard_negated);
    look_while_running(w, c, k);
    return;
  }
  uint32_t word = sample_word(w);
  use_own_decision(w);
  Code *cold = body_cold(b);
  PtxLabel *out = body_label(b), *back = body_label(b);
  sample_decide(w, c, word);
  PtxReg *guard = k->in->guard;
  if (guard)
    EMIT(c, "and.pred", opd_reg(w->look), opd_reg(w->look),
         k->in->guard_negated ? opd_not(guard) : opd_reg(guard));
  code_branch(c, w->look, false, out);
  code_label(c, back);
  cold->near = k->in;
  code_guard(cold, NULL, false);
  code_label(cold, out);
  look_and_count(w, cold, k, word);
  EMIT(cold, "bra", opd_label(back));
}

// --- at the access ---

// Minus lane times stride, computed once for each stride of the kernel.
static PtxReg *lane_steps(Profiling *w, int64_t stride) {
  Body *b = w->body;
  for (uint32_t i = 0; i < w->nsteps; i++)
    if (w->strides[i] == stride) return w->steps[i];
  bool room = w->nsteps < MOST_STEPS;
  PtxReg *r = room ? body_reg(b, TYPE_B32) : NULL;
  if (!room) return NULL;
  if (!w->steps) {
    w->steps = ARENA_ARRAY(&b->cfg->arena, PtxReg *, MOST_STEPS);
    w->strides = ARENA_ARRAY(&b->cfg->arena, int64_t, MOST_STEPS);
  }
  EMIT(body_entry(b), "mul.lo.s32", opd_reg(r), opd_reg(w->lane), opd_imm(-stride));
  w->steps[w->nsteps] = r;
  w->strides[w->nsteps++] = stride;
  return r;
}

// The lower half of the lowest address of a full warp.
static PtxReg *lowest_address(Profiling *w, Code *c, const SiteCode *k) {
  Body *b = w->body;
  PtxReg *low = body_reg(b, TYPE_B32), *wide = body_temp(b, TYPE_B64, 3);
  const PtxOperand *base = &k->address.list[0];
  int64_t stride = site_of(w, k)->stride, offset = stride < 0 ? 31 * stride : 0;
  if (base->kind == OPD_REG && ptx_type_size(base->reg->type) == 8) {
    EMIT(c, "cvt.u32.u64", opd_reg(low), *base);
    offset += k->address.imm;
  } else {
    access_address(c, wide, &k->address);
    EMIT(c, "cvt.u32.u64", opd_reg(low), opd_reg(wide));
  }
  PtxReg *steps = lane_steps(w, stride);
  if (steps) EMIT(c, "add.s32", opd_reg(low), opd_reg(low), opd_reg(steps));
  else EMIT(c, "mad.lo.s32", opd_reg(low), opd_reg(w->lane), opd_imm(-stride), opd_reg(low));
  // only the offset within a line counts
  if (offset & 127) EMIT(c, "add.s32", opd_reg(low), opd_reg(low), opd_imm(offset & 127));
  return low;
}

// The predicate that a request has one sector (or line) more than an aligned one: (low & (unit -
// 1)) + reach >= unit.
static PtxReg *has_extra(Profiling *w, Code *c, const SiteCode *k, bool lines) {
  Body *b = w->body;
  const ProfileSite *s = site_of(w, k);
  uint32_t unit = lines ? 128 : 32, stride = (uint32_t)abs(s->stride);
  uint32_t reach = 31 * stride & (unit - 1), free = unit - reach;
  if (stride >= unit || !reach) return NULL;
  PtxReg *rest = body_temp(b, TYPE_B32, 3), *more = body_temp(b, TYPE_PRED, 2);
  EMIT(c, "and.b32", opd_reg(rest), opd_reg(k->low), opd_imm(unit - 1));
  // addresses are multiples of the size
  if (free <= s->bytes) EMIT(c, "setp.ne.u32", opd_reg(more), opd_reg(rest), opd_imm(0));
  else EMIT(c, "setp.ge.u32", opd_reg(more), opd_reg(rest), opd_imm(free));
  return more;
}

// Adds to `kept` in all lanes; only the sums of lane 0 go to memory (end_block subtracts the
// additions made while the warp was not full).
static void add_extra(Profiling *w, Code *c, const SiteCode *k, bool lines, int by) {
  PtxReg *more = has_extra(w, c, k, lines), *kept = k->kept[lines];
  if (!more) return;
  code_guard(c, more, false);
  EMIT(c, "add.s32", opd_reg(kept), opd_reg(kept), opd_imm(by));
  code_guard(c, NULL, false);
}

// Outside of loops: straight to memory, at the end of the block.
static void add_extra_to_memory(Profiling *w, Code *c, const SiteCode *k, bool lines) {
  PtxReg *more = has_extra(w, c, k, lines), *both = body_temp(w->body, TYPE_PRED, 1);
  uint32_t counter = site_of(w, k)->slot + (lines ? SLOT_EXTRA_LINES : SLOT_EXTRA_UNITS);
  if (!more) return;
  EMIT(c, "and.pred", opd_reg(both), opd_reg(more), opd_reg(w->leads));
  code_guard(c, both, false);
  EMIT(c, "red.global.add.u64", opd_at(c, opd_reg(w->counting->counters), counter * 8ll),
       opd_imm(1));
  code_guard(c, NULL, false);
}

// In a full warp whose lanes 0 and 31 are 31 * 128 bytes apart or more, each lane has a line of its
// own.
static void test_width(Profiling *w, Code *c, SiteCode *k) {
  Body *b = w->body;
  PtxReg *low = body_temp(b, TYPE_B32, 2), *last = body_temp(b, TYPE_B32, 3),
         *lanes = body_temp(b, TYPE_B32, 0);
  k->narrow = body_reg(b, TYPE_PRED);
  EMIT(c, "cvt.u32.u64", opd_reg(low), k->address.list[0]);
  EMIT(c, "activemask.b32", opd_reg(lanes));
  EMIT(c, "shfl.sync.idx.b32", opd_reg(last), opd_reg(low), opd_imm(31), opd_imm(31),
       opd_reg(lanes));
  EMIT(c, "shfl.sync.idx.b32", opd_reg(low), opd_reg(low), opd_imm(0), opd_imm(31), opd_reg(lanes));
  EMIT(c, "sub.s32", opd_reg(last), opd_reg(last), opd_reg(low));
  EMIT(c, "abs.s32", opd_reg(last), opd_reg(last));
  EMIT(c, "setp.lt.u32", opd_reg(k->narrow), opd_reg(last), opd_imm(31 * 128));
}

static void writes_base(void *ctx, PtxReg **reg, bool is_def) {
  const PtxReg **base = ctx;
  if (is_def && *reg == *base) *base = NULL;
}

// The address is used again at the end of the block: copies it if its register may have changed by
// then.
static void keep_address(Profiling *w, Code *c, SiteCode *k, uint32_t i) {
  const PtxOperand *base = &k->address.list[0];
  if (base->kind != OPD_REG) return;
  const PtxReg *reg = base->reg;
  uint32_t end = w->body->cfg->blocks[k->block].end;
  for (uint32_t n = i; n < end && reg; n++)
    ptx_visit_regs(w->body->cfg->instrs[n], writes_base, &reg);
  if (reg) return;
  PtxReg *copy = body_reg(w->body, ptx_type_size(base->reg->type) == 8 ? TYPE_B64 : TYPE_B32);
  if (copy->type == TYPE_B64) EMIT(c, "mov.b64", opd_reg(copy), *base);
  else EMIT(c, "mov.b32", opd_reg(copy), *base);
  PtxOperand *list = ARENA_ARRAY(&w->body->func->module->arena, PtxOperand, k->address.nlist);
  memcpy(list, k->address.list, sizeof *list * k->address.nlist);
  list[0] = opd_reg(copy);
  k->address.list = list;
}

// --- at the end of the block ---

// Some lanes are not active, or the block has another shape.
static PtxReg *not_as_known(Profiling *w, Code *c, SiteNeeds needs, unsigned temp) {
  PtxReg *lanes = w->counting->lanes[w->codes[0].block], *p = body_temp(w->body, TYPE_PRED, temp);
  if (needs == NEEDS_NOTHING) EMIT(c, "setp.ne.u32", opd_reg(p), opd_reg(lanes), opd_imm(-1));
  else
    EMIT(c, "setp.ne.or.u32", opd_reg(p), opd_reg(lanes), opd_imm(-1),
         opd_reg(needs == NEEDS_ROWS ? w->no_rows : w->no_rows_or_tiles));
  return p;
}

// The predicate that the site must be measured now; NULL: never.
static PtxReg *exception_of(Profiling *w, Code *c, const SiteCode *k) {
  SiteMode mode = site_of(w, k)->mode;
  if (k->by_lanes) return NULL;
  if (mode == SITE_SAME)
    return k->needs == NEEDS_NOTHING ? NULL
           : k->needs == NEEDS_ROWS  ? w->no_rows
                                     : w->no_rows_or_tiles;
  PtxReg *p = not_as_known(w, c, k->needs, 3);
  if (k->narrow) EMIT(c, "or.pred", opd_reg(p), opd_reg(p), opd_reg(k->narrow));
  return p;
}

// One test for all sites of the block; if it fails, each site is tested by itself. NULL: it cannot
// fail.
static PtxReg *any_exception(Profiling *w, Code *c) {
  bool partial = false, rows = false, tiles = false;
  for (uint32_t i = 0; i < w->ncodes; i++) {
    const SiteCode *k = &w->codes[i];
    SiteMode mode = site_of(w, k)->mode;
    if (mode == SITE_LOOKED_AT || k->by_lanes) continue;
    partial |= mode != SITE_SAME;
    rows |= k->needs == NEEDS_ROWS;
    tiles |= k->needs == NEEDS_ROWS_OR_TILES;
  }
  SiteNeeds needs = rows ? NEEDS_ROWS : tiles ? NEEDS_ROWS_OR_TILES : NEEDS_NOTHING;
  if (!partial && needs == NEEDS_NOTHING) return NULL;
  if (!partial) return rows ? w->no_rows : w->no_rows_or_tiles;
  PtxReg *any = not_as_known(w, c, needs, 2);
  for (uint32_t i = 0; i < w->ncodes; i++)
    if (w->codes[i].narrow)
      EMIT(c, "or.pred", opd_reg(any), opd_reg(any), opd_reg(w->codes[i].narrow));
  return any;
}

// Whether some site of the block counts more than the requests that device code is called for.
static bool counts_exceptions(const Profiling *w) {
  bool counts = false;
  for (uint32_t i = 0; i < w->ncodes; i++)
    counts |= w->codes[i].low || w->codes[i].kept[0] || w->codes[i].cold_lanes;
  return counts;
}

static void look_at_exceptions(Profiling *w, Code *cold, PtxLabel *back, uint32_t word) {
  if (sample_wanted(w) && !counts_exceptions(w)) code_branch(cold, w->look, true, back);
  for (uint32_t i = 0; i < w->ncodes; i++) {
    SiteCode *k = &w->codes[i];
    if (site_of(w, k)->mode == SITE_LOOKED_AT) continue;
    cold->near = k->in;
    PtxReg *p = exception_of(w, cold, k);
    if (!p) continue;
    PtxLabel *as_known = body_label(w->body), *done = body_label(w->body);
    code_branch(cold, p, true, as_known);
    if (k->kept[0]) add_extra(w, cold, k, false, -1);
    if (k->kept[1]) add_extra(w, cold, k, true, -1);
    if (k->cold_lanes) {
      lanes_out_of_line(w, cold, &k->lanes);
    } else {
      if (sample_wanted(w)) code_branch(cold, w->look, true, done);
      look_and_count(w, cold, k, word);
    }
    EMIT(cold, "bra", opd_label(done));
    code_label(cold, as_known);
    if (k->low && !k->kept[0]) add_extra_to_memory(w, cold, k, false);
    if (k->low && !k->kept[1]) add_extra_to_memory(w, cold, k, true);
    code_label(cold, done);
  }
}

Code *block_end(Profiling *w, uint32_t block) {
  const IrBlock *b = &w->body->cfg->blocks[block];
  const PtxInstr *last = w->body->cfg->instrs[b->end - 1];
  bool leaves = last->op == OP_BRA || last->op == OP_BRX_IDX || last->op == OP_RET ||
                last->op == OP_EXIT || last->op == OP_TRAP;
  return leaves ? body_before(w->body, b->end - 1) : body_after(w->body, b->end - 1);
}

// Adds sectors and lines of accesses that keep no registers, if the request is as the code
// determines.
static void add_extras(Profiling *w, Code *c) {
  for (uint32_t i = 0; i < w->ncodes; i++) {
    const SiteCode *k = &w->codes[i];
    if (k->low && !k->kept[0]) add_extra_to_memory(w, c, k, false);
    if (k->low && !k->kept[1]) add_extra_to_memory(w, c, k, true);
  }
}

static bool any_looked_at(const Profiling *w) {
  for (uint32_t i = 0; i < w->ncodes; i++)
    if (site_of(w, &w->codes[i])->mode == SITE_LOOKED_AT) return true;
  return false;
}

// Measures the sites about which the code says nothing.
static void look_at_rest(Profiling *w, Code *c, Code *cold, SampleGroup *group) {
  bool samples = group != NULL;
  PtxLabel *out = body_label(w->body), *back = body_label(w->body);
  if (samples) {
    code_branch(c, w->look, false, out);
    code_label(c, back);
    code_guard(cold, NULL, false);
    code_label(cold, out);
  }
  bool first = !samples || !group->counted;  // all sites have the same number of requests
  if (samples) group->counted = true;
  for (uint32_t i = 0; i < w->ncodes; i++) {
    if (site_of(w, &w->codes[i])->mode != SITE_LOOKED_AT) continue;
    if (samples) cold->near = w->codes[i].in;
    if (first || w->codes[i].generic)
      look_and_count(w, samples ? cold : c, &w->codes[i], samples ? group->word : 0);
    else look_while_running(w, samples ? cold : c, &w->codes[i]);
    first = false;
  }
  if (samples) EMIT(cold, "bra", opd_label(back));
}

void weave_block_end(Profiling *w, uint32_t block) {
  Body *b = w->body;
  if (!w->ncodes) return;
  Code *c = block_end(w, block), *cold = body_cold(b);
  bool looks = any_looked_at(w);
  code_guard(c, NULL, false);
  for (uint32_t i = 0; i < w->ncodes; i++)
    if (w->codes[i].by_lanes) lanes_at_end(w, c, &w->codes[i].lanes);
  w->here = NULL;
  SampleGroup *group = sample_wanted(w) && looks ? sample_group(w, block) : NULL;
  uint32_t word = group ? group->word : sample_wanted(w) ? sample_word(w) : 0;
  if (group) {
    w->look = group->look;
    w->odds = group->odds;
  } else use_own_decision(w);
  PtxReg *any = any_exception(w, c);
  PtxLabel *out = any ? body_label(b) : NULL, *back = any ? body_label(b) : NULL;
  if (any) code_branch(c, any, false, out);
  add_extras(w, c);
  if (any) {
    code_label(c, back);
    code_guard(cold, NULL, false);
    code_label(cold, out);
    if (sample_wanted(w) && !looks) sample_decide(w, cold, word);
    look_at_exceptions(w, cold, back, word);
    EMIT(cold, "bra", opd_label(back));
  }
  if (looks) look_at_rest(w, c, cold, group);
  w->ncodes = 0;
}

// --- which accesses are measured ---

static bool describe(const PtxInstr *in, unsigned operand, ProfileSite *s) {
  unsigned classes = ptx_op_classes(in), memory = ptx_op_memory(in->op);
  s->bytes = access_bytes(in);
  s->what = classes & CLASS_ATOMIC ? SITE_ATOMIC : classes & CLASS_STORE ? SITE_STORE : SITE_LOAD;
  PtxSpace space = in->space;
  if (memory == MEMORY_COPY) {  // global to shared memory
    space = operand ? SPACE_GLOBAL : SPACE_SHARED;
    s->what = operand ? SITE_LOAD : SITE_STORE;
  } else if (memory == MEMORY_MATRIX) {
    s->bytes = 16;  // a row of a matrix
    space = SPACE_SHARED;
  } else if (memory != MEMORY_SCALAR) {
    return false;
  }
  if (in->op != OP_LD && in->op != OP_ST && in->op != OP_ATOM && in->op != OP_RED &&
      memory == MEMORY_SCALAR)
    return false;
  switch (space) {
    case SPACE_GLOBAL:
    case SPACE_GENERIC: s->space = SITE_GLOBAL; break;
    case SPACE_SHARED: s->space = SITE_SHARED; break;
    case SPACE_CONST: s->space = SITE_CONSTANT; break;
    default: return false;
  }
  return s->bytes > 0;
}

// Fewer threads may return from a call than have reached the block.
static bool has_call(const Profiling *w, uint32_t block) {
  const IrBlock *b = &w->body->cfg->blocks[block];
  for (uint32_t k = b->first; k < b->end; k++)
    if (w->body->cfg->instrs[k]->op == OP_CALL) return true;
  return false;
}

static void count_at_access(Profiling *w, SiteCode *k, uint32_t i) {
  const ProfileSite *s = site_of(w, k);
  Code *c = body_before(w->body, i);
  code_guard(c, NULL, false);
  k->lanes = (LaneSite){.site = k->site, .block = k->block};
  k->cold_lanes = k->by_lanes && !lanes_want(w, &k->lanes);
  if (k->cold_lanes) k->by_lanes = false;
  if (!k->by_lanes) keep_address(w, c, k, i);
  k->lanes.address = k->address;
  if (k->by_lanes) {
    lanes_at_access(w, &k->lanes, i);
    return;
  }
  if (s->mode == SITE_WIDE) test_width(w, c, k);
  if (s->mode != SITE_KNOWN || s->space != SITE_GLOBAL || abs(s->stride) >= 128) return;
  k->low = lowest_address(w, c, k);
  if (k->cold_lanes) return;
  uint32_t block = k->block;
  Counting *counting = w->counting;
  k->kept[0] = count_loops_short_register(counting, block, s->slot + SLOT_EXTRA_UNITS, w->leads);
  if (k->kept[0])
    k->kept[1] = count_loops_short_register(counting, block, s->slot + SLOT_EXTRA_LINES, w->leads);
  if (k->kept[0]) add_extra(w, c, k, false, 1);
  if (k->kept[1]) add_extra(w, c, k, true, 1);
}

static BodyShape shape_of(const Profiling *w, uint32_t i) {
  if (w->second == UINT32_MAX) return RUNS_FOR_ALL;
  return i < w->second ? RUNS_FOR_ROWS : RUNS_FOR_OTHERS;
}

// Removes tests of the block's shape that the body already implies.
static void use_shape(BodyShape shape, ProfileSite *s, SiteCode *k) {
  if (shape == RUNS_FOR_OTHERS && k->needs == NEEDS_ROWS) {
    s->mode = SITE_LOOKED_AT;
    k->needs = NEEDS_NOTHING;
  }
  if (shape != RUNS_FOR_ROWS) return;
  k->needs = NEEDS_NOTHING;
  bool fixed = s->mode == SITE_KNOWN || s->mode == SITE_WIDE;
  k->by_lanes = fixed && s->space == SITE_GLOBAL;
  // one phase, and no conflicts: this also holds with fewer lanes
  if (s->mode == SITE_KNOWN && s->space == SITE_SHARED && s->units == 1 && s->lines == 1)
    s->mode = SITE_SAME;
}

static void weave_operand(Profiling *w, uint32_t block, uint32_t i, unsigned operand) {
  Body *b = w->body;
  PtxInstr *in = b->cfg->instrs[i];
  ProfileSite s = {.kernel = w->counting->kernel, .ptx_line = in->ptx_line};
  if (!describe(in, operand, &s)) return;
  SiteCode k = {.in = in, .address = in->ops[operand], .block = block};
  k.generic = in->space == SPACE_GENERIC && ptx_op_memory(in->op) == MEMORY_SCALAR;
  s.place = count_place(w->counting->count, in);
  s.text = arena_strdup(&b->program->out->arena, ptx_op_name(in->op));
  s.slot = count_reserve(w->counting->count, SLOT_WORDS * (k.generic ? 2 : 1));
  s.block = w->counting->entry[block];
  s.outside = COUNT_NONE;
  bool at_once = in->guard || has_call(w, block);
  s.is_whole = !at_once && !k.generic;
  bool plain = !at_once && !k.generic && b->func->is_entry &&
               ptx_op_memory(in->op) != MEMORY_MATRIX;
  if (plain) {
    k.needs = pattern_find(w, &k.address, &s);
    use_shape(shape_of(w, i), &s, &k);
  }
  if (plain && s.what != SITE_ATOMIC && s.space == SITE_GLOBAL && !ptx_has(in, MOD_VOLATILE))
    s.outside = pattern_outside(w, block, &k.address);
  k.site = w->profile->sites.len;
  vec_push(&w->profile->sites, s);
  if (at_once) {
    look_at_once(w, body_before(b, i), &k);
  } else {
    count_at_access(w, &k, i);
    w->codes[w->ncodes++] = k;
  }
  if (!k.generic) return;
  s.space = SITE_SHARED;  // for the lanes whose address is in shared memory
  s.slot += SLOT_WORDS;
  vec_push(&w->profile->sites, s);
}

void weave_access(Profiling *w, uint32_t block, uint32_t i) {
  const PtxInstr *in = w->body->cfg->instrs[i];
  if (!w->codes)
    w->codes = ARENA_ARRAY(&w->body->cfg->arena, SiteCode, 2 * w->body->cfg->ninstrs + 1);
  if (!access_is_memory(in)) return;
  unsigned memory = ptx_op_memory(in->op), operands = memory == MEMORY_COPY ? 2 : 1, seen = 0;
  for (unsigned n = 0; n < in->nops && seen < operands; n++)
    if (in->ops[n].kind == OPD_ADDR) {
      weave_operand(w, block, i, n);
      seen++;
    }
}
