// Finds the code where no thread of the block can be suspended: barriers and operations of lanes
// there stay as the compiler made them, and threads end there without being counted.
//
// A thread that is suspended is missing at the next barrier of its block, and the others notice it
// there. So a barrier must be checked only if a path leads from a call of an interrupt to it with
// no other barrier in between. This holds where all threads come to the same barriers, one after
// the other (ir_uniform_build). If that is not known, a barrier that is the n-th one for all
// threads can still settle the code after it, if that code has no call.
#include "interrupt/stops.h"

static bool comes_first(const IrCfg *c, uint32_t i, uint32_t before) {
  if (c->block_of[i] == c->block_of[before]) return i < before;
  return ir_dominates(c, c->block_of[i], c->block_of[before]);
}

static bool is_cluster_barrier(const PtxInstr *in) {
  return in->op == OP_BARRIER_CLUSTER && ptx_has(in, MOD_WAIT);
}
static bool is_barrier(const PtxInstr *in) {
  return ptx_op_order(in->op) == ORDER_BLOCK || is_cluster_barrier(in);
}
static bool is_end(const PtxInstr *in) { return in->op == OP_RET || in->op == OP_EXIT; }

// Suspends threads even if no other thread of the block is suspended.
static bool is_source(const Stop *s) { return s->kind == STOP_CALL || s->kind == STOP_LOOP; }

// --- intervals: what is executed between two barriers ---

// Marks the instructions from `at` on, up to the next barriers and including them.
static void mark_interval(Stops *s, uint32_t at, bool (*is_end_of_it)(const PtxInstr *in),
                          bool *marks) {
  const IrCfg *c = s->cfg;
  bool *seen = ARENA_ARRAY(&s->arena, bool, c->nblocks + 1);
  uint32_t *stack = ARENA_ARRAY(&s->arena, uint32_t, c->nblocks + 1), top = 0;
  uint32_t block = at < c->ninstrs ? c->block_of[at] : c->nblocks, i = at;
  while (block < c->nblocks) {
    const IrBlock *b = &c->blocks[block];
    bool ends = false;
    for (; i < b->end && !ends; i++) {
      marks[i] = true;
      ends = is_end_of_it(c->instrs[i]);
    }
    for (uint32_t k = 0; k < b->nsucc && !ends; k++)
      if (!seen[b->succ[k]]) {
        seen[b->succ[k]] = true;
        stack[top++] = b->succ[k];
      }
    if (!top) return;
    block = stack[--top];
    i = c->blocks[block].first;
  }
}

static bool *new_marks(Stops *s) { return ARENA_ARRAY(&s->arena, bool, s->cfg->ninstrs + 1); }

// A barrier of the cluster suspends threads for the sake of another block.
static bool source_is_marked(const Stops *s, const bool *marks) {
  for (uint32_t i = 0; i < s->n; i++)
    if ((is_source(&s->list[i]) || s->list[i].kind == STOP_CLUSTER) && marks[s->list[i].at])
      return true;
  return false;
}

// Does it write a result of a call? A handler may give each thread its own.
static bool is_result_of_call(void *user, const PtxInstr *in) {
  const Stops *s = user;
  for (uint32_t i = 0; i < s->ncalls; i++) {
    const Stop *t = &s->list[i];
    const PtxReg *r = in->nops && in->ops[0].kind == OPD_REG ? in->ops[0].reg : NULL;
    bool is = r && r == t->served;
    for (unsigned k = 0; k < INTERRUPT_RESULT_WORDS; k++) is |= r && r == t->results[k];
    if (is) return true;
  }
  return false;
}

static bool all_come_to_the_same(Stops *s) {
  const IrCfg *c = s->cfg;
  bool same = true;
  IrUniform *u = ir_uniform_build(
      c, &(IrUniformFacts){.whole_block = true, .differs = is_result_of_call, .user = s});
  for (uint32_t i = 0; i < c->ninstrs; i++)
    if (is_barrier(c->instrs[i]))
      same &= !u->block_divergent[c->block_of[i]] &&
              (stops_is_block_barrier(c->instrs[i]) || c->instrs[i]->op == OP_BARRIER_CLUSTER);
  ir_uniform_free(u);
  return same;
}

// Marks the ends that a thread can come to while another of its block is suspended, or will be.
static void count_ends(Stops *s) {
  const IrCfg *c = s->cfg;
  for (uint32_t i = 0; i <= c->ninstrs; i++) {
    if (i && !is_barrier(c->instrs[i - 1])) continue;  // an interval begins here
    bool *later = new_marks(s);
    if (i < c->ninstrs) stops_mark_from(&s->arena, c, i, later);
    if (source_is_marked(s, later)) mark_interval(s, i, is_barrier, s->counted);
  }
}

static bool *reached_from_sources(Stops *s, bool (*is_end_of_it)(const PtxInstr *in)) {
  bool *reached = new_marks(s);
  for (uint32_t i = 0; i < s->n; i++)
    if (is_source(&s->list[i])) mark_interval(s, s->list[i].at + 1, is_end_of_it, reached);
  return reached;
}

// --- one barrier that settles the code after it ---

static bool is_in_loop(const IrCfg *c, uint32_t i) {
  return c->blocks[c->block_of[i]].loop != IR_NONE;
}

// true: every other barrier is after this one, or comes before it exactly once.
static bool is_same_for_all(const IrCfg *c, uint32_t barrier) {
  if (is_in_loop(c, barrier)) return false;
  for (uint32_t i = 0; i < c->ninstrs; i++) {
    if (i == barrier || !is_barrier(c->instrs[i])) continue;
    if (comes_first(c, barrier, i)) continue;
    if (is_in_loop(c, i) || !comes_first(c, i, barrier)) return false;
  }
  return true;
}

static bool is_last_chance(Stops *s, const Stop *barrier) {
  bool *behind = new_marks(s);
  stops_mark_from(&s->arena, s->cfg, barrier->at, behind);
  return !source_is_marked(s, behind);
}

static uint32_t settling_barrier(Stops *s) {
  uint32_t found = IR_NONE;
  for (uint32_t i = 0; i < s->n; i++) {
    const Stop *b = &s->list[i];
    if (b->kind != STOP_BARRIER || (found != IR_NONE && comes_first(s->cfg, found, b->at)))
      continue;
    if (is_same_for_all(s->cfg, b->at) && is_last_chance(s, b)) found = b->at;
  }
  return found;
}

// --- the stops that are left, and how threads leave a block ---

// Barriers of the block say nothing of other blocks of the cluster.
static void keep_stops(Stops *s, const bool *needed) {
  const bool *of_cluster = reached_from_sources(s, is_cluster_barrier);
  uint32_t n = 0;
  s->uses_warps = s->uses_clusters = false;
  for (uint32_t i = 0; i < s->n; i++) {
    const bool *by = s->list[i].kind == STOP_CLUSTER ? of_cluster : needed;
    if (!is_source(&s->list[i]) && !by[s->list[i].at]) continue;
    s->uses_clusters |= s->list[i].kind == STOP_CLUSTER;
    s->uses_warps |= s->list[i].kind == STOP_WARP;
    s->list[n++] = s->list[i];
  }
  s->n = n;
}

static bool is_counted_anywhere(const Stops *s) {
  const IrCfg *c = s->cfg;
  const PtxInstr *last = c->ninstrs ? c->instrs[c->ninstrs - 1] : NULL;
  // the end of the function, without an instruction
  bool counted = !last || !(is_end(last) || last->op == OP_BRA) || last->guard;
  for (uint32_t i = 0; i < c->ninstrs; i++)
    counted |= (is_end(c->instrs[i]) && s->counted[i]) || stops_is_overflow(c->instrs[i]);
  for (uint32_t b = 0; b < c->nblocks; b++)
    counted |= c->blocks[b].first == c->ninstrs && c->blocks[b].npred;
  return counted;
}

void settled_find(Stops *s) {
  const IrCfg *c = s->cfg;
  bool only_calls = true, same = all_come_to_the_same(s);
  bool *needed;
  s->counted = new_marks(s);
  if (same) {
    needed = reached_from_sources(s, is_barrier);
    count_ends(s);
  } else {
    uint32_t settles = settling_barrier(s);
    needed = new_marks(s);
    for (uint32_t i = 0; i < c->ninstrs; i++)
      s->counted[i] = needed[i] = settles == IR_NONE || i == settles || !comes_first(c, settles, i);
  }
  keep_stops(s, needed);
  for (uint32_t i = 0; i < s->n; i++) only_calls &= s->list[i].kind == STOP_CALL;
  if (same && only_calls) s->leaving = LEAVING_WAITS;
  else if (!is_counted_anywhere(s) && !s->uses_warps && !s->uses_clusters)
    s->leaving = LEAVING_TOGETHER;
  else s->leaving = LEAVING_COUNTED;
}
