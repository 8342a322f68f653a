// Data-dependent divergence in compiled code. Blocks between such a branch and its reconvergence
// point have a second form that runs for some lanes: results of others are kept by selection. Each
// of these blocks has a mask of lanes that wait to run it; the lowest in the code runs first, as in
// the interpreter (control.c), so lanes meet where they would meet there.
//
// Registers written in these blocks are vectors (classes.c). At operations that must not run
// here (stores that wait, collectives, probes) and at a used-up budget, the code exits with one
// fragment for each mask.
#include "vgpu/region/region.h"

enum { MOST_BLOCKS = 256, MOST_MASKED_INSTS = 3000 };

static uint32_t block_of(const Region *r, uint32_t i) {
  uint32_t n = region_number(r, r->code->insts[i].src);
  return n == IR_NONE ? IR_NONE : r->cfg->block_of[n];
}

// The first block of those that can wait which begins at Inst `from` or later.
static uint32_t next_waiting(const Region *r, uint32_t from) {
  while (from < r->code->ninsts && !r->waits[from]) from++;
  return from;
}

// --- which blocks ---
typedef struct Plan {
  Region *r;
  uint32_t *start;  // by block: its first Inst
  uint32_t blocks, insts;
} Plan;

static bool find_starts(Plan *p) {
  Region *r = p->r;
  for (uint32_t b = 0; b < r->cfg->nblocks; b++) p->start[b] = IR_NONE;
  for (uint32_t i = 0; i < r->code->ninsts; i++) {
    uint32_t b = block_of(r, i);
    if (b == IR_NONE) return false;
    if (p->start[b] == IR_NONE) p->start[b] = i;
    if (r->divergent[b] && !r->cold[b] && !r->inside[i]) p->insts++;
  }
  return p->insts > 0 && p->insts <= MOST_MASKED_INSTS;
}

static bool add_waiting(Plan *p, uint32_t b, RegionWait how) {
  Region *r = p->r;
  if (r->cold[b]) return true;
  if (p->start[b] == IR_NONE) return false;
  if (r->inside[p->start[b]] || r->closed[p->start[b]]) return true;  // no lanes wait there
  if (++p->blocks > MOST_BLOCKS) return false;
  if (r->waits[p->start[b]] != WAIT_MASKED) r->waits[p->start[b]] = (uint8_t)how;
  return true;
}

static bool find_blocks(Plan *p) {
  Region *r = p->r;
  for (uint32_t b = 0; b < r->cfg->nblocks; b++) {
    const IrBlock *k = &r->cfg->blocks[b];
    if (!r->divergent[b] || r->cold[b]) continue;
    if (!add_waiting(p, b, WAIT_MASKED)) return false;
    for (uint32_t s = 0; s < k->nsucc; s++)
      if (!r->divergent[k->succ[s]] && !add_waiting(p, k->succ[s], WAIT_MEETING)) return false;
  }
  return true;
}

void region_masked_find(Region *r) {
  Plan p = {.r = r, .start = mem_alloc((r->cfg->nblocks + 1) * sizeof(uint32_t))};
  r->has_masked = find_starts(&p) && find_blocks(&p);
  if (!r->has_masked) memset(r->waits, 0, r->code->ninsts);
  free(p.start);
  for (uint32_t b = 0; b < r->cfg->nblocks; b++)
    for (uint32_t i = 0; i < r->func->nregs; i++)
      if (region_is_live(r->live->live_in[b], r->func->regs[i])) r->crosses[i] = true;
}

// --- masks ---
static Name waiting_mask(Region *r, uint32_t start) {
  return region_emit(r, "load volatile i32, ptr %%m%u", start);
}

static void add_lanes(Region *r, uint32_t start, Name lanes) {
  Name old = waiting_mask(r, start);
  Name all = region_emit(r, "or i32 %s, %s", old.text, lanes.text);
  region_line(r, "store volatile i32 %s, ptr %%m%u", all.text, start);
}

static Name any_lane(Region *r, Name lanes) {
  return region_emit(r, "icmp ne i32 %s, 0", lanes.text);
}

static Name vector_mask(Region *r, Name lanes) {
  return region_emit(r, "bitcast i32 %s to <32 x i1>", lanes.text);
}

static void go_on(Region *r, uint32_t from) {
  uint32_t next = next_waiting(r, from);
  if (next < r->code->ninsts) region_line(r, "br label %%P%u", next);
  else region_line(r, "unreachable");
}

void region_masked_declare(Region *r) {
  if (!r->has_masked) return;
  region_line(r, "%%left_at = alloca ptr");
  region_line(r, "%%left_set = alloca i32");
  region_line(r, "%%left_lanes = alloca i32");
  region_apart_declare(r);
  for (uint32_t i = 0; i < r->code->ninsts; i++) {
    if (!r->waits[i]) continue;
    region_line(r, "%%m%u = alloca i32", i);
    region_line(r, "store volatile i32 0, ptr %%m%u", i);
  }
}

// --- leaving ---
// All places where lanes leave share one piece of code, which writes each register once: for the
// lanes at places where it lives. A place is known by the set of registers that live there.
static uint32_t left_set(Region *r, const Inst *in) {
  const uint64_t *live = region_live_at(r, in);
  for (uint32_t k = 0; live && k < r->nleft; k++)
    if (!memcmp(r->left[k], live, r->live->words * sizeof *live)) return k;
  if (!live || r->nleft == ARRAY_LEN(r->left)) {
    r->failed = true;
    return 0;
  }
  r->left[r->nleft] = live;
  return r->nleft++;
}

// The interpreter goes on at `in` with these lanes, and with those that wait.
static void leave(Region *r, const Inst *in, Name lanes) {
  Name at = region_inst(r, in);
  region_line(r, "store volatile ptr %s, ptr %%left_at", at.text);
  region_line(r, "store volatile i32 %u, ptr %%left_set", left_set(r, in));
  region_line(r, "store volatile i32 %s, ptr %%left_lanes", lanes.text);
  region_line(r, "br label %%leave_masked");
}

// The lanes that leave (`left`) or wait (masks by Inst) at places where the register lives.
static Name lanes_to_spill(Region *r, const PtxReg *reg, const Name *waiting, Name left) {
  Name all = {"0"};
  uint32_t bits[LEFT_SETS / 32] = {0};
  bool some = false;
  for (uint32_t k = 0; k < r->nleft; k++)
    if (region_is_live(r->left[k], reg)) {
      bits[k / 32] |= 1u << (k % 32);
      some = true;
    }
  if (some) {
    Name word = {"0"};
    for (uint32_t k = 0; k < (r->nleft + 31) / 32; k++) {
      Name here = region_emit(r, "icmp eq i32 %%left_word, %u", k);
      word = region_emit(r, "select i1 %s, i32 %d, i32 %s", here.text, (int32_t)bits[k], word.text);
    }
    Name bit = region_emit(r, "and i32 %s, %%left_bit", word.text);
    Name lives = region_emit(r, "icmp ne i32 %s, 0", bit.text);
    all = region_emit(r, "select i1 %s, i32 %s, i32 0", lives.text, left.text);
  }
  for (uint32_t i = 0; i < r->code->ninsts; i++)
    if (r->waits[i] && region_is_live(region_live_at(r, &r->code->insts[i]), reg))
      all = region_emit(r, "or i32 %s, %s", all.text, waiting[i].text);
  return all;
}

static void spill_all_lanes(Region *r, const Name *waiting) {
  Name left = region_emit(r, "load volatile i32, ptr %%left_lanes");
  Name set = region_emit(r, "load volatile i32, ptr %%left_set");
  region_line(r, "%%left_word = lshr i32 %s, 5", set.text);
  Name low = region_emit(r, "and i32 %s, 31", set.text);
  region_line(r, "%%left_bit = shl i32 1, %s", low.text);
  for (uint32_t k = 0; k < r->func->nregs; k++) {
    const PtxReg *reg = r->func->regs[k];
    if (!r->kept[k] || !r->written[k]) continue;
    Name lanes = lanes_to_spill(r, reg, waiting, left);
    if (strcmp(lanes.text, "0")) region_spill_lanes(r, reg, lanes);
  }
}

static Name split_function(Region *r) {
  Name at = r->block ? region_field(r, "%turns", offsetof(BlockTurns, split))
                     : region_field(r, "%env", offsetof(RegionEnv, split));
  return region_emit(r, "load ptr, ptr %s", at.text);
}

static void emit_leave(Region *r) {
  str_add(r->to, "leave_masked:\n");
  Name *waiting = mem_alloc((r->code->ninsts + 1) * sizeof *waiting), fn = split_function(r);
  for (uint32_t i = 0; i < r->code->ninsts; i++)
    if (r->waits[i]) waiting[i] = waiting_mask(r, i);
  spill_all_lanes(r, waiting);
  for (uint32_t i = 0; i < r->code->ninsts; i++) {
    if (!r->waits[i]) continue;
    Name some = any_lane(r, waiting[i]), put = region_label(r), next = region_label(r);
    region_line(r, "br i1 %s, label %%%s, label %%%s", some.text, put.text, next.text);
    region_place(r, put);
    Name at = region_inst(r, &r->code->insts[i]);
    region_line(r, "call void %s(ptr %%w, ptr %s, i32 %s)", fn.text, at.text, waiting[i].text);
    region_line(r, "store volatile i32 0, ptr %%m%u", i);
    region_line(r, "br label %%%s", next.text);
    region_place(r, next);
  }
  free(waiting);
  Name at = region_emit(r, "load volatile ptr, ptr %%left_at");
  if (r->block) region_block_leave(r, at);
  else region_line(r, "ret ptr %s", at.text);
}

// --- instructions ---
// Leaves, or ends the turn, where a store must let other warps go first.
static void store_or_leave(Region *r, const Inst *in, Name lanes) {
  if (r->block) {
    region_apart_stop(r, in, leave);
    region_access_masked(r, in);
    return;
  }
  bool shared = in->src->space == SPACE_SHARED;
  Name at = region_field(
      r, "%w", shared ? offsetof(Warp, shared_store_waits) : offsetof(Warp, stores_to_wait));
  const char *t = shared ? "i8" : "i32";
  Name left = region_emit(r, "load %s, ptr %s", t, at.text);
  Name must = region_emit(r, "icmp ne %s %s, 0", t, left.text);
  Name on = region_label(r), out = region_label(r);
  region_line(r, "br i1 %s, label %%%s, label %%%s", must.text, out.text, on.text);
  region_place(r, out);
  leave(r, in, lanes);
  region_place(r, on);
  region_access_masked(r, in);
}

// A PTX instruction for the lanes of r->mask. False: it is left to the interpreter.
static bool emit_masked(Region *r, uint32_t i, Name lanes) {
  const Inst *in = &r->code->insts[i];
  Shape s = (Shape)r->shape[i];
  uint32_t n = r->group_end[i] - i;
  switch (s) {
    case SHAPE_STOP:
    case SHAPE_SHUFFLE: leave(r, in, lanes); return false;
    case SHAPE_VOTE:
      if (!ptx_has(in->src, MOD_SYNC)) {
        region_instruction(r, i);
        break;
      }
      leave(r, in, lanes);
      return false;
    case SHAPE_UNKNOWN:
      if (region_is_collective(in->src)) {
        leave(r, in, lanes);
        return false;
      }
      region_call(r, in, n);
      break;
    case SHAPE_LOAD: region_access_masked(r, in); break;
    case SHAPE_STORE: store_or_leave(r, in, lanes); break;
    default:
      // such an instruction may have to leave in the middle
      if (ptx_has(in->src, MOD_FTZ) && region_is_f32_arithmetic(in->src)) region_call(r, in, n);
      else region_instruction(r, i);
      break;
  }
  return true;
}

typedef struct Way {
  uint32_t to;  // Inst; IR_NONE: a cold block
  Name lanes;
} Way;

static const Inst *falls_to(const Inst *branch) {
  const Inst *next = branch + 1;
  return next->fn == exec_jump && next->src == branch->src ? next->target : next;
}

static uint32_t way_to(const Region *r, const Inst *to) {
  uint32_t i = (uint32_t)(to - r->code->insts);
  return i < r->code->ninsts && r->waits[i] ? i : IR_NONE;
}

// Sends lanes their ways; a way back takes from the budget. `in`: the jump, where all lanes leave
// if one of them cannot go its way here.
static void emit_ways(Region *r, const Inst *in, Name lanes, Way *ways, uint32_t n) {
  uint32_t here = (uint32_t)(in - r->code->insts);
  Name bad = {"false"};
  Name budget = region_field(r, "%w", offsetof(Warp, budget));
  Name left = region_emit(r, "load i32, ptr %s", budget.text);
  for (uint32_t k = 0; k < n; k++) {
    if (ways[k].to != IR_NONE && ways[k].to > here) continue;
    Name stops = any_lane(r, ways[k].lanes);
    if (ways[k].to != IR_NONE) {
      Name used = region_emit(r, "icmp sle i32 %s, 0", left.text);
      stops = region_emit(r, "and i1 %s, %s", stops.text, used.text);
    }
    bad = region_emit(r, "or i1 %s, %s", bad.text, stops.text);
  }
  Name on = region_label(r), out = region_label(r);
  region_line(r, "br i1 %s, label %%%s, label %%%s", bad.text, out.text, on.text);
  region_place(r, out);
  leave(r, in, lanes);
  region_place(r, on);
  for (uint32_t k = 0; k < n; k++)
    if (ways[k].to != IR_NONE) add_lanes(r, ways[k].to, ways[k].lanes);
  for (uint32_t k = 0; k < n; k++) {
    if (ways[k].to == IR_NONE || ways[k].to > here) continue;
    Name some = any_lane(r, ways[k].lanes), back = region_label(r), next = region_label(r);
    region_line(r, "br i1 %s, label %%%s, label %%%s", some.text, back.text, next.text);
    region_place(r, back);
    Name less = region_emit(r, "add i32 %s, -1", left.text);
    region_line(r, "store i32 %s, ptr %s", less.text, budget.text);
    region_line(r, "br label %%P%u", ways[k].to);
    region_place(r, next);
  }
  go_on(r, here + 1);
}

static void emit_masked_branch(Region *r, uint32_t i, Name lanes) {
  const Inst *in = &r->code->insts[i];
  LaneValue p = region_read(r, in->src->guard, false);
  Name all = region_vector(r, &p);
  Name mask = region_emit(r, "bitcast <32 x i1> %s to i32", all.text);
  if (in->src->guard_negated) mask = region_emit(r, "xor i32 %s, -1", mask.text);
  Way ways[2] = {{.to = way_to(r, in->target),
                  .lanes = region_emit(r, "and i32 %s, %s", mask.text, lanes.text)}};
  ways[1].to = way_to(r, falls_to(in));
  ways[1].lanes = region_emit(r, "xor i32 %s, %s", ways[0].lanes.text, lanes.text);
  emit_ways(r, in, lanes, ways, 2);
}

// The lanes that wait for a block run it. All 32: the ordinary code goes on.
static void emit_block(Region *r, uint32_t start) {
  uint32_t block = block_of(r, start), i = start;
  str_printf(r->to, "P%u:\n", start);
  Name lanes = waiting_mask(r, start), skip = region_label(r), full = region_label(r),
       run = region_label(r);
  region_line(r, "switch i32 %s, label %%%s [ i32 0, label %%%s i32 -1, label %%%s ]", lanes.text,
              run.text, skip.text, full.text);
  region_place(r, skip);
  go_on(r, start + 1);
  region_place(r, full);
  region_line(r, "store volatile i32 0, ptr %%m%u", start);
  region_line(r, "br label %%I%u", start);
  region_place(r, run);
  region_line(r, "store volatile i32 0, ptr %%m%u", start);
  if (r->waits[start] == WAIT_MEETING) {
    leave(r, &r->code->insts[start], lanes);
    return;
  }
  r->masked = true;
  r->lanes_now = lanes;
  r->mask = vector_mask(r, lanes);
  bool open = true;
  while (open && i < r->code->ninsts && (block_of(r, i) == block || r->closed[i])) {
    const Inst *in = &r->code->insts[i];
    uint32_t next = region_after(r, i);
    block = block_of(r, i);
    if (r->predicated_end[i]) {
      i = region_predicated(r, i);
      continue;
    }
    if (region_is_head(in) || in->fn == exec_join) {
      i = next;
      continue;
    }
    if (in->fn == exec_branch) {
      emit_masked_branch(r, i, lanes);
      open = false;
    } else if (in->fn == exec_jump) {
      Way way = {.to = way_to(r, in->target), .lanes = lanes};
      emit_ways(r, in, lanes, &way, 1);
      open = false;
    } else {
      open = emit_masked(r, i, lanes);
      lanes = r->lanes_now;  // others, where a turn ended
    }
    i = next;
  }
  r->masked = false;
  if (!open) return;
  Way way = {.to = i < r->code->ninsts ? way_to(r, &r->code->insts[i]) : IR_NONE, .lanes = lanes};
  if (way.to == IR_NONE) {  // into a cold block
    leave(r, &r->code->insts[MIN(i, r->code->ninsts - 1)], lanes);
    return;
  }
  add_lanes(r, way.to, lanes);
  go_on(r, way.to);
}

void region_masked_code(Region *r) {
  if (!r->has_masked) return;
  for (uint32_t i = 0; i < r->code->ninsts; i++)
    if (r->waits[i]) emit_block(r, i);
  emit_leave(r);
}

bool region_masked_can(const Region *r, uint32_t i) {
  const Inst *in = &r->code->insts[i];
  return r->has_masked && r->lanes[in->src->guard->id] == LANES_DATA &&
         way_to(r, in->target) != IR_NONE && way_to(r, falls_to(in)) != IR_NONE;
}

void region_masked_enter(Region *r, uint32_t i, Name mask) {
  const Inst *in = &r->code->insts[i], *next = falls_to(in);
  if (in->src->guard_negated) mask = region_emit(r, "xor i32 %s, -1", mask.text);
  Way ways[2] = {{way_to(r, in->target), mask}, {way_to(r, next), mask}};
  ways[1].lanes = region_emit(r, "xor i32 %s, -1", mask.text);
  emit_ways(r, in, region_name("-1"), ways, 2);
}
