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

// --- where paths meet, and where they all come through ---

typedef struct Graph {
  SassEdges down, up;  // from the roots, and back
  bool *is_root;
} Graph;

static unsigned successors(const SassPaths *p, const SassTaken *t, uint32_t i, uint32_t out[2]) {
  const SassBlock *b = &p->list[i];
  unsigned n = 0;
  if (b->taken != SASS_NO_BLOCK && t->go_taken[i]) out[n++] = b->taken;
  if (b->next != SASS_NO_BLOCK && t->go_next[i]) out[n++] = b->next;
  return n;
}

static SassEdges list_edges(const SassPaths *p, const SassTaken *t, bool backwards) {
  uint32_t n = p->n, to[2];
  SassEdges e = {.first = mem_alloc((n + 2) * sizeof *e.first),
                 .to = mem_alloc((2 * (size_t)n + 1) * sizeof *e.to)};
  for (uint32_t i = 0; i < n; i++)
    for (unsigned k = successors(p, t, i, to); k--;) e.first[backwards ? to[k] : i]++;
  for (uint32_t i = 1; i <= n; i++) e.first[i] += e.first[i - 1];
  for (uint32_t i = 0; i < n; i++)
    for (unsigned k = successors(p, t, i, to); k--;)
      e.to[--e.first[backwards ? to[k] : i]] = backwards ? i : to[k];
  return e;
}

static void free_edges(SassEdges *e) {
  free(e->first);
  free(e->to);
}

// Blocks from which no end is reached, in loops without one, count as ends.
static void find_ends(const SassPaths *p, const SassTaken *t, Graph *g) {
  uint32_t to[2];
  for (uint32_t i = 0; i < p->n; i++)
    g->is_root[i] = !successors(p, t, i, to) || p->list[i].how == END_EXIT;
}

void sass_joins(const SassPaths *p, const SassTaken *t, uint32_t *joins) {
  Graph g = {list_edges(p, t, true), list_edges(p, t, false), mem_alloc(p->n + 1)};
  find_ends(p, t, &g);
  sass_dominators(p->n, &g.down, &g.up, g.is_root, joins);
  free_edges(&g.down);
  free_edges(&g.up);
  free(g.is_root);
}

void sass_gates(const SassPaths *p, const SassTaken *t, uint32_t *gates) {
  Graph g = {list_edges(p, t, false), list_edges(p, t, true), mem_alloc(p->n + 1)};
  g.is_root[0] = true;
  sass_dominators(p->n, &g.down, &g.up, g.is_root, gates);
  free_edges(&g.down);
  free_edges(&g.up);
  free(g.is_root);
}

bool sass_gate_of(const uint32_t *gates, uint32_t gate, uint32_t block) {
  while (block != gate && block != SASS_NO_BLOCK) block = gates[block];
  return block == gate;
}

// Backwards from the jump, up to the first block of the loop.
void sass_loop(const SassPaths *p, const SassTaken *t, uint32_t first, uint32_t from, bool *loop) {
  SassEdges up = list_edges(p, t, true);
  uint32_t *stack = mem_alloc((p->n + 1) * sizeof *stack), depth = 0;
  loop[first] = true;
  if (!loop[from]) stack[depth++] = from;
  loop[from] = true;
  while (depth) {
    uint32_t i = stack[--depth];
    for (uint32_t k = up.first[i]; k < up.first[i + 1]; k++) {
      if (loop[up.to[k]]) continue;
      loop[up.to[k]] = true;
      stack[depth++] = up.to[k];
    }
  }
  free(stack);
  free_edges(&up);
}
