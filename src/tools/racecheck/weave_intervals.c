// Accesses to shared memory between barriers of the block. Accesses of different intervals are
// ordered; an access needs no check if nothing in its own intervals can race with it.
//
// An interval begins at the kernel's start or after a barrier, and consists of everything that can
// be reached from there without another barrier. As long as no divergent branch leads to different
// barriers, all threads are in intervals that begin at the same barrier; otherwise all pairs of
// concurrent intervals are followed from pair to pair. A branch on a value that all threads read
// from shared memory is uniform, unless some thread writes there in that interval. It is first
// assumed uniform, and the assumption is withdrawn where it proves wrong.
#include "tools/racecheck/internal.h"

enum { MOST_STARTS = 64, MOST_ACCESSES = 4096, MOST_SEARCHES = 20000 };
struct RaceIntervals {
  const RaceCheck *k;
  const IrCfg *cfg;
  uint32_t starts[MOST_STARTS], n;  // barriers, from 1 on; 0 is where the kernel begins
  uint64_t next[MOST_STARTS];       // barriers that an interval ends at
  uint64_t beside[MOST_STARTS];     // intervals that other threads may be in at the same time
  uint64_t *within;                 // by instruction: intervals that it is in
  bool *reached;                    // by block, for one search
  bool *trusted;                    // by instruction: a load assumed to be uniform
  uint32_t searches;                // searches that may still be made
  bool *divergent;                  // by block: some threads may reach it and others not
};

// --- intervals ---

static uint32_t start_at(const RaceIntervals *v, uint32_t i) {
  for (uint32_t s = 1; s < v->n; s++)
    if (v->starts[s] == i) return s;
  return 0;
}

static void walk(RaceIntervals *v, uint32_t start, uint32_t block, uint32_t from) {
  const IrBlock *b = &v->cfg->blocks[block];
  for (uint32_t i = from; i < b->end; i++) {
    uint32_t end = start_at(v, i);
    if (end) {
      v->next[start] |= 1ull << end;
      return;
    }
    v->within[i] |= 1ull << start;
  }
  for (uint32_t i = 0; i < b->nsucc; i++) {
    uint32_t to = b->succ[i];
    if (v->reached[to]) continue;
    v->reached[to] = true;
    walk(v, start, to, v->cfg->blocks[to].first);
  }
}

static bool find_intervals(const RaceCheck *k, RaceIntervals *v) {
  const IrCfg *c = v->cfg;
  v->n = 1;
  for (uint32_t i = 0; i < c->ninstrs; i++) {
    const PtxInstr *in = c->instrs[i];
    if (c->blocks[c->block_of[i]].rpo == IR_NONE) continue;
    if (in->op == OP_CALL && race_call_orders(in)) return false;
    if (access_orders(in) != WG_ORDERS_BLOCK) continue;
    if (k->splits_memories && !(race_barrier_memory(k, i) & RACE_ORDERS_SHARED)) continue;
    if (in->guard || v->n == MOST_STARTS) return false;
    v->starts[v->n++] = i;
  }
  for (uint32_t s = 0; s < v->n; s++) {
    memset(v->reached, 0, c->nblocks);
    uint32_t block = s ? c->block_of[v->starts[s]] : 0;
    walk(v, s, block, s ? v->starts[s] + 1 : c->blocks[0].first);
  }
  return true;
}

// --- which intervals are concurrent ---

static void follow(RaceIntervals *v, uint32_t a, uint32_t b) {
  if (v->beside[a] >> b & 1) return;
  v->beside[a] |= 1ull << b;
  v->beside[b] |= 1ull << a;
  bool together = a == b;
  for (uint32_t s = 1; s < v->n && together; s++)
    if (v->next[a] >> s & 1 && v->divergent[v->cfg->block_of[v->starts[s]]]) together = false;
  for (uint32_t x = 1; x < v->n; x++)
    for (uint32_t y = 1; y < v->n; y++)
      if (v->next[a] >> x & 1 && v->next[b] >> y & 1 && (!together || x == y)) follow(v, x, y);
}

static bool is_trusted(void *user, const PtxInstr *load) {
  const RaceIntervals *v = user;
  for (uint32_t i = 0; i < v->k->accesses.len; i++)
    if (v->cfg->instrs[v->k->accesses.data[i].instr] == load)
      return v->trusted[v->k->accesses.data[i].instr];
  return false;
}

// --- which accesses may race ---

// Arrays without a size all begin at the same place. NULL: it may be any variable.
static const PtxVar *variable_of(const RaceCheck *k, const RaceAccess *a) {
  static const PtxVar unsized;
  IrOrigin o = ir_access_origin(k->provenance, a->address);
  if (o.kind != IR_FROM_VAR || o.var->space != SPACE_SHARED) return NULL;
  return o.var->size ? o.var : &unsized;
}

static bool may_be_shared(const RaceCheck *k, const RaceAccess *a) {
  return a->place == RACE_SHARED_MEMORY ||
         (a->place == RACE_LOOKUP && k->body->cfg->instrs[a->instr]->space == SPACE_GENERIC);
}

static uint64_t beside(const RaceIntervals *v, uint32_t instr) {
  uint64_t all = 0;
  for (uint32_t s = 0; s < v->n; s++)
    if (v->within[instr] >> s & 1) all |= v->beside[s];
  return all;
}

// --- which of two accesses is made in an interval ---
//
// All threads run the same blocks that are not divergent. If each of two accesses is reached from
// such a block, and no path leads from one of these blocks to the other before the next barrier, an
// interval contains only one of the two accesses.

static void spread(const RaceIntervals *v, uint32_t block, uint32_t from, uint32_t avoid) {
  const IrBlock *b = &v->cfg->blocks[block];
  for (uint32_t i = from; i < b->end; i++)
    if (start_at(v, i)) return;
  for (uint32_t i = 0; i < b->nsucc; i++) {
    uint32_t to = b->succ[i];
    if (v->reached[to] || to == avoid) continue;
    v->reached[to] = true;
    spread(v, to, v->cfg->blocks[to].first, avoid);
  }
}

static bool leads(const RaceIntervals *v, uint32_t block, uint32_t from, uint32_t to,
                  uint32_t avoid) {
  memset(v->reached, 0, v->cfg->nblocks);
  spread(v, block, from, avoid);
  return v->reached[to];
}

// The nearest block that all threads execute, and through which every path of this interval to the
// instruction leads; IR_NONE: there is none.
static uint32_t gate(const RaceIntervals *v, uint32_t instr, uint32_t start) {
  const IrCfg *c = v->cfg;
  uint32_t block = c->block_of[instr], begin = start ? c->block_of[v->starts[start]] : 0,
           from = start ? v->starts[start] + 1 : c->blocks[0].first;
  while (block != IR_NONE && v->divergent[block]) block = c->blocks[block].idom;
  if (block == IR_NONE || block == begin || c->blocks[block].first == c->blocks[block].end ||
      !(v->within[c->blocks[block].first] >> start & 1))
    return IR_NONE;
  if (block != c->block_of[instr] &&
      (c->block_of[instr] == begin || leads(v, begin, from, c->block_of[instr], block)))
    return IR_NONE;
  return block;
}

static bool exclude(RaceIntervals *v, uint32_t a, uint32_t b, uint32_t start) {
  if (!v->searches) return false;
  v->searches--;
  uint32_t to_a = gate(v, a, start), to_b = gate(v, b, start);
  if (to_a == to_b || to_a == IR_NONE || to_b == IR_NONE) return false;
  return !leads(v, to_a, v->cfg->blocks[to_a].first, to_b, IR_NONE) &&
         !leads(v, to_b, v->cfg->blocks[to_b].first, to_a, IR_NONE);
}

static bool may_meet(RaceIntervals *v, uint32_t a, uint32_t b) {
  for (uint32_t s = 0; s < v->n; s++) {
    if (!(v->within[a] >> s & 1) || !(v->beside[s] & v->within[b])) continue;
    if (v->beside[s] != 1ull << s || !exclude(v, a, b, s)) return true;
  }
  return false;
}

// Whether the accesses may race: one of them writes, in concurrent intervals. Strong accesses of
// threads of one block do not race.
static bool may_race(RaceIntervals *v, const RaceAccess *a, uint64_t beside_a, const PtxVar *of_a,
                     const RaceAccess *b) {
  if (!((a->flags | b->flags) & WG_RACE_WRITE) || a->flags & b->flags & WG_RACE_STRONG ||
      !may_be_shared(v->k, b))
    return false;
  if (!(beside_a & v->within[b->instr])) return false;
  const PtxVar *of_b = variable_of(v->k, b);
  return (!of_a || !of_b || of_a == of_b) && may_meet(v, a->instr, b->instr);
}

// reads_only: considers only reads that are still checked
static bool finds(RaceIntervals *v, const RaceAccess *a, bool reads_only) {
  uint64_t around = beside(v, a->instr);
  const PtxVar *var = variable_of(v->k, a);
  for (uint32_t i = 0; i < v->k->accesses.len; i++) {
    const RaceAccess *b = &v->k->accesses.data[i];
    if (reads_only && (b->gone || b->flags & WG_RACE_WRITE)) continue;
    if (may_race(v, a, around, var, b)) return true;
  }
  return false;
}

// Whether all threads are in the same interval when they reach it.
static bool is_common(const RaceIntervals *v, uint32_t instr) {
  for (uint32_t s = 0; s < v->n; s++)
    if (v->within[instr] >> s & 1 && v->beside[s] & ~(1ull << s)) return false;
  return true;
}

// Withdraws trust in loads: threads that read a word while another one writes it may read different
// values.
static bool take_back(RaceIntervals *v) {
  bool changed = false;
  for (uint32_t i = 0; i < v->k->accesses.len; i++) {
    const RaceAccess *a = &v->k->accesses.data[i];
    if (!v->trusted[a->instr]) continue;
    if (is_common(v, a->instr) && !finds(v, a, false)) continue;
    v->trusted[a->instr] = false;
    changed = true;
  }
  return changed;
}

static bool is_plain_load(const RaceCheck *k, const RaceAccess *a) {
  return a->place == RACE_SHARED_MEMORY && !(a->flags & WG_RACE_STRONG) &&
         k->body->cfg->instrs[a->instr]->op == OP_LD;
}

static bool says_something(const RaceCheck *k) {
  for (uint32_t i = 0; i < k->body->cfg->ninstrs; i++)
    if (race_says(k, i)) return true;
  return false;
}

RaceIntervals *race_intervals(RaceCheck *k) {
  Arena *scratch = &k->body->program->scratch;
  const IrCfg *c = k->body->cfg;
  if (!k->uses_shared || k->has_async || k->has_clusters || k->unseen ||
      k->accesses.len > MOST_ACCESSES)
    return NULL;
  RaceIntervals *v = ARENA_ARRAY(scratch, RaceIntervals, 1);
  v->k = k;
  v->cfg = c;
  v->searches = MOST_SEARCHES;
  v->within = ARENA_ARRAY(scratch, uint64_t, c->ninstrs + 1);
  v->reached = ARENA_ARRAY(scratch, bool, c->nblocks + 1);
  v->divergent = ARENA_ARRAY(scratch, bool, c->nblocks + 1);
  v->trusted = ARENA_ARRAY(scratch, bool, c->ninstrs + 1);
  if (!find_intervals(k, v)) return NULL;
  for (uint32_t i = 0; i < k->accesses.len; i++)
    v->trusted[k->accesses.data[i].instr] = is_plain_load(k, &k->accesses.data[i]);
  do {
    IrUniform *u = ir_uniform_build(
        c, &(IrUniformFacts){.whole_block = true, .same_in_block = is_trusted, .user = v});
    memcpy(v->divergent, u->block_divergent, sizeof(bool) * c->nblocks);
    ir_uniform_free(u);
    memset(v->beside, 0, sizeof v->beside);
    follow(v, 0, 0);
  } while (take_back(v));
  k->uses_shared = says_something(k);
  for (uint32_t i = 0; i < k->accesses.len; i++) {
    RaceAccess *a = &k->accesses.data[i];
    a->gone |= a->place == RACE_SHARED_MEMORY && !finds(v, a, false);
    k->uses_shared |= !a->gone && may_be_shared(k, a);
  }
  return v;
}

void race_find_unread(RaceCheck *k, RaceIntervals *v) {
  for (uint32_t i = 0; v && i < k->accesses.len; i++) {
    RaceAccess *a = &k->accesses.data[i];
    a->unread = !a->gone && a->place == RACE_SHARED_MEMORY && a->flags & WG_RACE_WRITE &&
                !finds(v, a, true);
  }
}

// --- counters of loops that are the same for all threads that reach a group ---
//
// All threads turn a loop together if its header is not divergent. The counter's value is the same
// for all of them, and for all accesses of the group, if these are in one interval and in the same
// iteration.

// by block and instruction: bit 0: before the header is passed, bit 1: after that
typedef struct Turns {
  const RaceIntervals *v;
  uint32_t header;
  uint8_t *blocks, *instrs;
  bool twice;
} Turns;

static void walk_turns(Turns *t, uint32_t block, uint32_t from, unsigned passed) {
  const IrBlock *b = &t->v->cfg->blocks[block];
  for (uint32_t i = from; i < b->end; i++) {
    if (start_at(t->v, i)) return;
    t->instrs[i] |= (uint8_t)(1u << passed);
  }
  for (uint32_t i = 0; i < b->nsucc; i++) {
    uint32_t to = b->succ[i];
    unsigned next = passed + (to == t->header);
    if (next > 1) t->twice = true;
    if (next > 1 || t->blocks[to] >> next & 1) continue;
    t->blocks[to] |= (uint8_t)(1u << next);
    walk_turns(t, to, t->v->cfg->blocks[to].first, next);
  }
}

static void drop_loop(RaceCheck *k, const Turns *t, uint32_t loop, uint32_t start) {
  for (uint32_t g = 0; g < k->shared_groups.len; g++) {
    RaceGroup *group = &k->shared_groups.data[g];
    unsigned found = 0;
    for (uint32_t i = 0; i < k->accesses.len; i++) {
      const RaceAccess *a = &k->accesses.data[i];
      if (a->group_at == group->record_offset && t->v->within[a->instr] >> start & 1)
        found |= t->instrs[a->instr];
    }
    if (found == 3 || (found && t->twice)) group->same_loops &= ~(1u << loop);
  }
}

static void find_same_loops(RaceCheck *k, const RaceIntervals *v) {
  const IrCfg *c = v->cfg;
  Arena *scratch = &k->body->program->scratch;
  uint32_t n = MIN(c->nloops, 32u);
  for (uint32_t g = 0; g < k->shared_groups.len; g++) {
    RaceGroup *group = &k->shared_groups.data[g];
    group->same_loops = n == 32 ? ~0u : (1u << n) - 1;
    for (uint32_t i = 0; i < k->accesses.len; i++) {
      const RaceAccess *a = &k->accesses.data[i];
      for (uint32_t loop = 0; loop < n && a->group_at == group->record_offset; loop++)
        if (v->divergent[c->loops[loop].header] || !ir_in_loop(c, c->block_of[a->instr], loop) ||
            !is_common(v, a->instr))
          group->same_loops &= ~(1u << loop);
    }
  }
  Turns t = {.v = v,
             .blocks = ARENA_ARRAY(scratch, uint8_t, c->nblocks + 1),
             .instrs = ARENA_ARRAY(scratch, uint8_t, c->ninstrs + 1)};
  for (uint32_t loop = 0; loop < n; loop++)
    for (uint32_t s = 0; s < v->n; s++) {
      memset(t.blocks, 0, c->nblocks);
      memset(t.instrs, 0, c->ninstrs);
      t.header = c->loops[loop].header;
      t.twice = false;
      walk_turns(&t, s ? c->block_of[v->starts[s]] : 0, s ? v->starts[s] + 1 : c->blocks[0].first,
                 0);
      drop_loop(k, &t, loop, s);
    }
}

// --- groups: accesses that may race, directly or through other accesses ---

static uint32_t root(uint32_t *of, uint32_t i) {
  while (of[i] != i) i = of[i] = of[of[i]];
  return i;
}

// The host can only reason about addresses in one known variable.
static bool is_plain(const RaceCheck *k, const RaceAccess *a) {
  PtxOp op = k->body->cfg->instrs[a->instr]->op;
  return a->place == RACE_SHARED_MEMORY && (op == OP_LD || op == OP_ST) &&
         !(a->flags & WG_RACE_STRONG) && !a->lanes && variable_of(k, a);
}

void race_find_groups(RaceCheck *k, RaceIntervals *v) {
  uint32_t n = k->accesses.len, *of = ARENA_ARRAY(&k->body->program->scratch, uint32_t, n + 1);
  bool *mixed = ARENA_ARRAY(&k->body->program->scratch, bool, n + 1);
  if (!v) return;
  for (uint32_t i = 0; i < n; i++) of[i] = i;
  for (uint32_t i = 0; i < n; i++) {
    const RaceAccess *a = &k->accesses.data[i];
    if (a->gone || a->place != RACE_SHARED_MEMORY) continue;
    uint64_t around = beside(v, a->instr);
    const PtxVar *var = variable_of(k, a);
    for (uint32_t b = 0; b < n; b++) {
      const RaceAccess *other = &k->accesses.data[b];
      if (b != i && !other->gone && root(of, b) != root(of, i) &&
          may_race(v, a, around, var, other))
        of[root(of, b)] = root(of, i);
    }
  }
  for (uint32_t i = 0; i < n; i++) {
    const RaceAccess *a = &k->accesses.data[i], *first = &k->accesses.data[root(of, i)];
    if (!is_plain(k, a) || variable_of(k, a) != variable_of(k, first)) mixed[root(of, i)] = true;
  }
  for (uint32_t i = 0; i < n; i++) {
    RaceAccess *a = &k->accesses.data[i], *first = &k->accesses.data[root(of, i)];
    if (a->gone || a->place != RACE_SHARED_MEMORY || mixed[root(of, i)]) continue;
    if (!first->group_at) {
      first->group_at = record_reserve(k->body, 8);
      if (first->group_at)
        vec_push(&k->shared_groups, ((RaceGroup){.record_offset = first->group_at}));
    }
    a->group_at = first->group_at;
  }
  find_same_loops(k, v);
}
