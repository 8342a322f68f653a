// Immediate dominators of a graph, by Cooper, Harvey and Kennedy's algorithm.
#include "sass/paths.h"

enum { NO_RANK = 0 };  // as a dominator: above all roots

typedef struct Ranks {
  const SassEdges *down;
  bool *seen;
  uint32_t *of, *block;  // the order in which the search leaves blocks, from 1 on; and back
  uint32_t *stack, *at;
  uint32_t last;  // the highest
} Ranks;

static void search_from(Ranks *r, uint32_t root) {
  uint32_t depth = 0;
  r->seen[root] = true;
  r->at[root] = r->down->first[root];
  r->stack[depth++] = root;
  while (depth) {
    uint32_t i = r->stack[depth - 1];
    if (r->at[i] == r->down->first[i + 1]) {
      r->of[i] = ++r->last;
      r->block[r->last] = i;
      depth--;
      continue;
    }
    uint32_t next = r->down->to[r->at[i]++];
    if (r->seen[next]) continue;
    r->seen[next] = true;
    r->at[next] = r->down->first[next];
    r->stack[depth++] = next;
  }
}

static void rank_blocks(Ranks *r, uint32_t n, bool *is_root) {
  for (uint32_t i = 0; i < n; i++)
    if (is_root[i] && !r->seen[i]) search_from(r, i);
  for (uint32_t i = n; i-- > 0;) {
    if (r->seen[i]) continue;
    is_root[i] = true;
    search_from(r, i);
  }
}

// Goes up from the lower rank until both are the same.
static uint32_t meet(const uint32_t *dominator, uint32_t a, uint32_t b) {
  while (a != b) {
    if (a == NO_RANK || b == NO_RANK) return NO_RANK;
    if (a < b) a = dominator[a];
    else b = dominator[b];
  }
  return a;
}

// dominator: by rank, ranks; UINT32_MAX: not known yet
static bool improve(const Ranks *r, const SassEdges *up, const bool *is_root, uint32_t *dominator) {
  bool changed = false;
  for (uint32_t rank = r->last; rank > 0; rank--) {
    uint32_t i = r->block[rank], found = is_root[i] ? NO_RANK : UINT32_MAX;
    for (uint32_t k = up->first[i]; k < up->first[i + 1]; k++) {
      uint32_t before = r->of[up->to[k]];
      if (before == rank || dominator[before] == UINT32_MAX) continue;
      found = found == UINT32_MAX ? before : meet(dominator, found, before);
    }
    if (found == dominator[rank]) continue;
    dominator[rank] = found;
    changed = true;
  }
  return changed;
}

void sass_dominators(uint32_t n, const SassEdges *down, const SassEdges *up, bool *is_root,
                     uint32_t *out) {
  size_t words = (n + 2) * sizeof(uint32_t);
  Ranks r = {.down = down,
             .seen = mem_alloc(n + 1),
             .of = mem_alloc(words),
             .block = mem_alloc(words),
             .stack = mem_alloc(words),
             .at = mem_alloc(words)};
  uint32_t *dominator = mem_alloc(words);
  rank_blocks(&r, n, is_root);
  memset(dominator, 0xff, words);
  while (improve(&r, up, is_root, dominator)) {}
  for (uint32_t i = 0; i < n; i++) {
    uint32_t d = dominator[r.of[i]];
    out[i] = d == NO_RANK || d == UINT32_MAX ? SASS_NO_BLOCK : r.block[d];
  }
  free(r.seen);
  free(r.of);
  free(r.block);
  free(r.stack);
  free(r.at);
  free(dominator);
}
