// Cuts a kernel's code into blocks, each call of a function with blocks of its own, and finds where
// paths meet again.
#include "sass/paths.h"

#include "sass/flow.h"

enum { MOST_BLOCKS = 20000 };

typedef struct Builder {
  const SassInstruction *code;
  uint32_t n;
  unsigned sm;
  bool *starts;     // an instruction at which a block begins
  U64Map of_place;  // call << 32 | first instruction -> block, plus 1
  VEC(SassBlock) blocks;
  bool failed;
} Builder;

// A branch or an exit without any condition.
static bool is_certain(const SassInstruction *i) {
  enum { UNIFORM_CONDITION = 2 };
  bool divergent = i->name == SASS_BRA && sass_bits(i, 91, 1);  // BRA.DIV
  return !i->predicated && sass_bits(i, 87, 3) == SASS_ALWAYS && !sass_bits(i, 90, 1) &&
         !divergent && !(i->name == SASS_BRA && sass_bits(i, 9, 3) == UNIFORM_CONDITION);
}

static bool ends_block(const SassInstruction *i) {
  return i->name == SASS_BRA || i->name == SASS_EXIT || i->name == SASS_CALL ||
         i->name == SASS_RET || sass_effect(i).rule == RULE_UNKNOWN;
}

static void find_starts(Builder *b) {
  b->starts = mem_alloc(b->n + 1);
  b->starts[0] = true;
  for (uint32_t i = 0; i < b->n; i++) {
    if (!ends_block(&b->code[i])) continue;
    if (i + 1 < b->n) b->starts[i + 1] = true;
    uint32_t to = sass_target(b->code, b->n, i, b->sm);
    if (to != UINT32_MAX) b->starts[to] = true;
  }
}

// The block of a place; a new one is completed later, in the order of the list.
static uint32_t block_at(Builder *b, uint32_t first, uint32_t call) {
  uint64_t key = (uint64_t)call << 32 | first;
  uintptr_t known = (uintptr_t)u64map_get(&b->of_place, key);
  if (known) return (uint32_t)known - 1;
  if (first >= b->n || b->blocks.len == MOST_BLOCKS) {
    b->failed = true;
    return SASS_NO_BLOCK;
  }
  uint32_t end = first + 1;
  while (end < b->n && !b->starts[end]) end++;
  vec_push(&b->blocks, ((SassBlock){.first = first,
                                    .end = end,
                                    .call = call,
                                    .taken = SASS_NO_BLOCK,
                                    .next = SASS_NO_BLOCK}));
  u64map_put(&b->of_place, key, (void *)(uintptr_t)b->blocks.len);
  return b->blocks.len - 1;
}

static SassEnd end_of(Builder *b, SassBlock *k) {
  const SassInstruction *last = &b->code[k->end - 1];
  uint32_t to = sass_target(b->code, b->n, k->end - 1, b->sm);
  bool certain = is_certain(last);
  if (sass_effect(last).rule == RULE_UNKNOWN) return END_UNKNOWN;
  switch (last->name) {
    case SASS_EXIT:
      if (!certain) k->next = block_at(b, k->end, k->call);
      return END_EXIT;
    case SASS_RET:
      if (!k->call || !certain) return END_UNKNOWN;
      k->next = block_at(b, k->call, 0);  // the instruction after the call
      return END_FALLS;
    case SASS_CALL:
      if (k->call) b->failed = true;  // nested
      if (to == UINT32_MAX || b->failed) return END_UNKNOWN;
      k->taken = block_at(b, to, k->end);
      if (!certain) k->next = block_at(b, k->end, k->call);
      return END_BRANCH;
    case SASS_BRA:
      if (to == UINT32_MAX) return END_UNKNOWN;
      k->taken = block_at(b, to, k->call);
      if (!certain) k->next = block_at(b, k->end, k->call);
      return END_BRANCH;
    default: k->next = block_at(b, k->end, k->call); return END_FALLS;
  }
}

bool sass_paths_open(SassPaths *p, const SassInstruction *code, uint32_t n, unsigned sm) {
  Builder b = {.code = code, .n = n, .sm = sm};
  find_starts(&b);
  block_at(&b, 0, 0);
  for (uint32_t i = 0; i < b.blocks.len && !b.failed; i++) {
    SassBlock k = b.blocks.data[i];  // the list may move
    k.how = end_of(&b, &k);
    b.blocks.data[i] = k;
  }
  free(b.starts);
  u64map_free(&b.of_place);
  *p = (SassPaths){b.blocks.data, b.blocks.len};
  if (b.failed) sass_paths_close(p);
  return !b.failed;
}

void sass_paths_close(SassPaths *p) {
  free(p->list);
  *p = (SassPaths){NULL, 0};
}

// --- where paths meet: immediate postdominators, by Cooper, Harvey and Kennedy's algorithm ---

typedef struct Order {
  const SassPaths *paths;
  const bool *go_taken, *go_next;
  uint32_t *first, *from;  // predecessors of block i: from[first[i]] to from[first[i + 1] - 1]
  uint32_t *rank,
      *by_rank;  // order in which the search from the end leaves blocks; rank 0: not yet
  uint32_t *stack, *at;
  uint32_t last;  // the highest rank
} Order;

static unsigned successors(const Order *o, uint32_t i, uint32_t out[2]) {
  const SassBlock *b = &o->paths->list[i];
  unsigned n = 0;
  if (b->taken != SASS_NO_BLOCK && o->go_taken[i]) out[n++] = b->taken;
  if (b->next != SASS_NO_BLOCK && o->go_next[i]) out[n++] = b->next;
  return n;
}

static void list_predecessors(Order *o) {
  uint32_t n = o->paths->n, to[2];
  for (uint32_t i = 0; i < n; i++)
    for (unsigned k = successors(o, i, to); k--;) o->first[to[k]]++;
  for (uint32_t i = 1; i <= n; i++) o->first[i] += o->first[i - 1];
  for (uint32_t i = 0; i < n; i++)
    for (unsigned k = successors(o, i, to); k--;) o->from[--o->first[to[k]]] = i;
}

// Backwards from a block whose paths end; ranks are given when the search leaves a block.
static void search_from(Order *o, uint32_t end, bool *seen) {
  uint32_t depth = 0;
  seen[end] = true;
  o->at[end] = o->first[end];
  o->stack[depth++] = end;
  while (depth) {
    uint32_t i = o->stack[depth - 1];
    if (o->at[i] == o->first[i + 1]) {
      o->rank[i] = ++o->last;
      o->by_rank[o->last] = i;
      depth--;
      continue;
    }
    uint32_t p = o->from[o->at[i]++];
    if (seen[p]) continue;
    seen[p] = true;
    o->at[p] = o->first[p];
    o->stack[depth++] = p;
  }
}

// Blocks of loops without an end count as ends, too.
static void rank_blocks(Order *o, bool *is_end) {
  uint32_t n = o->paths->n, to[2];
  bool *seen = mem_alloc(n + 1);
  for (uint32_t i = 0; i < n; i++) {
    is_end[i] = !successors(o, i, to) || o->paths->list[i].how == END_EXIT;
    if (is_end[i] && !seen[i]) search_from(o, i, seen);
  }
  for (uint32_t i = n; i-- > 0;)
    if (!seen[i]) {
      is_end[i] = true;
      search_from(o, i, seen);
    }
  free(seen);
}

enum { AT_THE_END = 0 };  // as a rank: behind all blocks

// Goes up from the lower rank until both are the same.
static uint32_t meet(const uint32_t *joins, uint32_t a, uint32_t b) {
  while (a != b) {
    if (a == AT_THE_END || b == AT_THE_END) return AT_THE_END;
    if (a < b) a = joins[a];
    else b = joins[b];
  }
  return a;
}

// joins: by rank, ranks; UINT32_MAX: not known yet
static bool improve(const Order *o, const bool *is_end, uint32_t *joins) {
  bool changed = false;
  for (uint32_t r = o->last; r > 0; r--) {
    uint32_t i = o->by_rank[r], to[2], join = is_end[i] ? AT_THE_END : UINT32_MAX;
    for (unsigned k = successors(o, i, to); k--;) {
      uint32_t s = o->rank[to[k]];
      if (s == r || joins[s] == UINT32_MAX) continue;
      join = join == UINT32_MAX ? s : meet(joins, join, s);
    }
    if (join == joins[r]) continue;
    joins[r] = join;
    changed = true;
  }
  return changed;
}

void sass_joins(const SassPaths *p, const bool *go_taken, const bool *go_next, uint32_t *out) {
  uint32_t n = p->n;
  Order o = {.paths = p,
             .go_taken = go_taken,
             .go_next = go_next,
             .first = mem_alloc((n + 1) * sizeof *o.first),
             .from = mem_alloc((2 * (size_t)n + 1) * sizeof *o.from),
             .rank = mem_alloc((n + 1) * sizeof *o.rank),
             .by_rank = mem_alloc((n + 1) * sizeof *o.by_rank),
             .stack = mem_alloc((n + 1) * sizeof *o.stack),
             .at = mem_alloc((n + 1) * sizeof *o.at)};
  uint32_t *joins = mem_alloc((n + 1) * sizeof *joins);
  bool *is_end = mem_alloc(n + 1);
  list_predecessors(&o);
  rank_blocks(&o, is_end);
  memset(joins, 0xff, (n + 1) * sizeof *joins);
  while (improve(&o, is_end, joins)) {}
  for (uint32_t i = 0; i < n; i++) {
    uint32_t join = joins[o.rank[i]];
    out[i] = join == AT_THE_END || join == UINT32_MAX ? SASS_NO_BLOCK : o.by_rank[join];
  }
  free(o.first);
  free(o.from);
  free(o.rank);
  free(o.by_rank);
  free(o.stack);
  free(o.at);
  free(joins);
  free(is_end);
}
