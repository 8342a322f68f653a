// Which steps of a graph run beside each other: those with no path between them.
#include "session/internal.h"

enum { MOST = 4096 };  // steps; larger graphs count as one long path
struct SessionBranches {
  _Atomic int refs;
  uint32_t n, words;
  uint64_t *before;
  bool *alone;
};

static bool comes_before(const SessionBranches *b, uint32_t first, uint32_t then) {
  return b->before[(size_t)then * b->words + first / 64] >> first % 64 & 1;
}

SessionBranches *session_branches_new(uint32_t n) {
  if (n > MOST || !session_wants(SESSION_WANTS_GRAPH_NODES | SESSION_WANTS_GRAPH_ORDER))
    return NULL;
  SessionBranches *b = mem_alloc(sizeof *b);
  b->refs = 1;
  b->n = n;
  b->words = (n + 63) / 64;
  b->before = mem_alloc(sizeof *b->before * MAX((size_t)n * b->words, 1u));
  b->alone = mem_alloc(sizeof *b->alone * MAX(n, 1u));
  return b;
}

void session_branches_edge(SessionBranches *b, uint32_t from, uint32_t to) {
  if (!b || from >= to || to >= b->n) return;
  uint64_t *its = b->before + (size_t)to * b->words;
  for (uint32_t i = 0; i < b->words; i++) its[i] |= b->before[(size_t)from * b->words + i];
  its[from / 64] |= 1ull << from % 64;
}

void session_branches_done(SessionBranches *b) {
  for (uint32_t i = 0; b && i < b->n; i++) {
    b->alone[i] = true;
    for (uint32_t k = 0; k < b->n && b->alone[i]; k++)
      b->alone[i] = k == i || comes_before(b, k, i) || comes_before(b, i, k);
  }
}

SessionBranches *session_branches_share(SessionBranches *b) {
  if (b) b->refs++;
  return b;
}

void session_branches_free(SessionBranches *b) {
  if (!b || atomic_fetch_sub(&b->refs, 1) > 1) return;
  free(b->before);
  free(b->alone);
  free(b);
}

uint32_t session_branches_behind(const SessionBranches *b, uint32_t step,
                                 const SessionNumbers *numbers, SessionNumberList *out) {
  uint32_t before = out->len;
  uint64_t *covered = mem_alloc(sizeof *covered * MAX(b->words, 1u));
  for (uint32_t i = 0; i < step; i++) {
    uint32_t k = step - 1 - i;
    if (numbers[k].first == numbers[k].end || !comes_before(b, k, step) ||
        covered[k / 64] >> k % 64 & 1)
      continue;
    for (uint32_t at = numbers[k].first; at < numbers[k].end; at++)
      vec_push(out, numbers[k].list->data[at]);
    for (uint32_t w = 0; w < b->words; w++) covered[w] |= b->before[(size_t)k * b->words + w];
  }
  free(covered);
  return out->len - before;
}

uint32_t session_branches_size(const SessionBranches *b, uint32_t least) {
  return b ? MAX(b->n, least) : least;
}

static void add(SessionBeside *out, uint32_t number) {
  if (number && out->n < SESSION_BESIDE) out->number[out->n++] = number;
}

bool session_branches_part(const SessionBranches *b, uint32_t i, uint32_t k) {
  return b && i != k && !comes_before(b, i, k) && !comes_before(b, k, i);
}

void session_branches_beside(const SessionBranches *b, uint32_t step, const SessionBeside *outer,
                             const SessionNumbers *numbers, SessionBeside *out) {
  *out = (SessionBeside){.alone = (!outer || outer->alone) && (!b || b->alone[step])};
  for (uint32_t i = 0; b && !b->alone[step] && i < b->n; i++) {
    uint32_t k = b->n - 1 - i;  // the last ones are the likeliest to be there still
    if (session_branches_part(b, step, k))
      for (uint32_t at = numbers[k].first; at < numbers[k].end; at++)
        add(out, numbers[k].list->data[at]);
  }
  for (uint32_t i = 0; outer && i < outer->n; i++) add(out, outer->number[i]);
}
