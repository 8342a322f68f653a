// Accesses to shared memory between barriers of the block. What stands in different intervals is ordered; who finds nothing in its own intervals that it could race with needs no look.
//
// An interval begins where the kernel does, or behind a barrier, and is everything that is reached from there without another barrier. Threads are in intervals that begin at the same barrier as long as no
// branch that they take differently leads to different barriers; where one may, all pairs of intervals that threads can be in at the same time are followed from pair to pair. A branch on what all of them
// read from shared memory is the same for all, provided nobody writes there in that interval: that is assumed, and taken back where it turns out otherwise.
#include "instrument/racecheck.h"

enum { MOST_STARTS = 64, MOST_ACCESSES = 4096 };
struct RaceIntervals {
  const RaceCheck *k;
  const IrCfg *cfg;
  uint32_t starts[MOST_STARTS], n;         // barriers, from 1 on; 0 is where the kernel begins
  uint64_t next[MOST_STARTS];              // barriers that an interval ends at
  uint64_t beside[MOST_STARTS];            // intervals that other threads may be in at the same time
  uint64_t *within;                        // by instruction: intervals that it is in
  bool *reached;                           // by block, of one search
  bool *trusted;                           // by instruction: a load that gives all threads the same
  IrUniform *uniform;
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

static bool find_intervals(RaceIntervals *v) {
  const IrCfg *c = v->cfg;
  v->n = 1;
  for (uint32_t i = 0; i < c->ninstrs; i++) {
    const PtxInstr *in = c->instrs[i];
    if (c->blocks[c->block_of[i]].rpo == IR_NONE) continue;
    if (in->op == OP_CALL && race_call_orders(in)) return false;
    if (!race_is_block_barrier(in)) continue;
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

// --- which of them are there at the same time ---

static void follow(RaceIntervals *v, uint32_t a, uint32_t b) {
  if (v->beside[a] >> b & 1) return;
  v->beside[a] |= 1ull << b;
  v->beside[b] |= 1ull << a;
  bool together = a == b;
  for (uint32_t s = 1; s < v->n && together; s++)
    if (v->next[a] >> s & 1 && v->uniform->block_divergent[v->cfg->block_of[v->starts[s]]]) together = false;
  for (uint32_t x = 1; x < v->n; x++)
    for (uint32_t y = 1; y < v->n; y++)
      if (v->next[a] >> x & 1 && v->next[b] >> y & 1 && (!together || x == y)) follow(v, x, y);
}

static bool is_trusted(void *user, const PtxInstr *load) {
  const RaceIntervals *v = user;
  for (uint32_t i = 0; i < v->k->accesses.len; i++)
    if (v->cfg->instrs[v->k->accesses.data[i].instr] == load) return v->trusted[v->k->accesses.data[i].instr];
  return false;
}

// --- what may meet ---

// Arrays without a size all begin at the same place. NULL: it may be any.
static const PtxVar *variable_of(const RaceCheck *k, const RaceAccess *a) {
  static const PtxVar unsized;
  IrOrigin o = ir_access_origin(k->provenance, a->address);
  if (o.kind != IR_FROM_VAR || o.var->space != SPACE_SHARED) return NULL;
  return o.var->size ? o.var : &unsized;
}

static bool may_be_shared(const RaceCheck *k, const RaceAccess *a) {
  return a->place == RACE_SHARED_MEMORY || (a->place == RACE_LOOKUP && k->body->cfg->instrs[a->instr]->space == SPACE_GENERIC);
}

static uint64_t beside(const RaceIntervals *v, uint32_t instr) {
  uint64_t all = 0;
  for (uint32_t s = 0; s < v->n; s++)
    if (v->within[instr] >> s & 1) all |= v->beside[s];
  return all;
}

// One of them writes, in intervals that are there at the same time: threads of one block that do both atomically do not race.
static bool may_race(const RaceIntervals *v, const RaceAccess *a, uint64_t beside_a, const PtxVar *of_a, const RaceAccess *b) {
  if (!((a->flags | b->flags) & WG_RACE_WRITE) || a->flags & b->flags & WG_RACE_STRONG || !may_be_shared(v->k, b)) return false;
  if (!(beside_a & v->within[b->instr])) return false;
  const PtxVar *of_b = variable_of(v->k, b);
  return !of_a || !of_b || of_a == of_b;
}

// reads_only: of those that are looked at
static bool finds(const RaceIntervals *v, const RaceAccess *a, bool reads_only) {
  uint64_t around = beside(v, a->instr);
  const PtxVar *var = variable_of(v->k, a);
  for (uint32_t i = 0; i < v->k->accesses.len; i++) {
    const RaceAccess *b = &v->k->accesses.data[i];
    if (reads_only && (b->gone || b->flags & WG_RACE_WRITE)) continue;
    if (may_race(v, a, around, var, b)) return true;
  }
  return false;
}

// All threads are in one interval when they come to it.
static bool is_common(const RaceIntervals *v, uint32_t instr) {
  for (uint32_t s = 0; s < v->n; s++)
    if (v->within[instr] >> s & 1 && v->beside[s] & ~(1ull << s)) return false;
  return true;
}

// Who reads what somebody may write at the same time need not find what others find.
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
  return a->place == RACE_SHARED_MEMORY && !(a->flags & WG_RACE_STRONG) && k->body->cfg->instrs[a->instr]->op == OP_LD;
}

static bool says_something(const RaceCheck *k) {
  for (uint32_t i = 0; i < k->body->cfg->ninstrs; i++)
    if (race_says(k, i)) return true;
  return false;
}

RaceIntervals *race_intervals(RaceCheck *k) {
  Arena *scratch = &k->body->program->scratch;
  const IrCfg *c = k->body->cfg;
  if (!k->uses_shared || k->has_async || k->has_clusters || k->unseen || k->accesses.len > MOST_ACCESSES) return NULL;
  RaceIntervals *v = ARENA_ARRAY(scratch, RaceIntervals, 1);
  v->k = k, v->cfg = c;
  v->within = ARENA_ARRAY(scratch, uint64_t, c->ninstrs + 1);
  v->reached = ARENA_ARRAY(scratch, bool, c->nblocks + 1);
  v->trusted = ARENA_ARRAY(scratch, bool, c->ninstrs + 1);
  if (!find_intervals(v)) return NULL;
  for (uint32_t i = 0; i < k->accesses.len; i++) v->trusted[k->accesses.data[i].instr] = is_plain_load(k, &k->accesses.data[i]);
  do {
    v->uniform = ir_uniform_build(c, &(IrUniformFacts){.whole_block = true, .same_in_block = is_trusted, .user = v});
    memset(v->beside, 0, sizeof v->beside);
    follow(v, 0, 0);
    ir_uniform_free(v->uniform);
  } while (take_back(v));
  k->uses_shared = says_something(k);
  for (uint32_t i = 0; i < k->accesses.len; i++) {
    RaceAccess *a = &k->accesses.data[i];
    a->gone = a->place == RACE_SHARED_MEMORY && !finds(v, a, false);
    k->uses_shared |= !a->gone && may_be_shared(k, a);
  }
  return v;
}

void race_find_unread(RaceCheck *k, const RaceIntervals *v) {
  for (uint32_t i = 0; v && i < k->accesses.len; i++) {
    RaceAccess *a = &k->accesses.data[i];
    a->unread = !a->gone && a->place == RACE_SHARED_MEMORY && a->flags & WG_RACE_WRITE && !finds(v, a, true);
  }
}
