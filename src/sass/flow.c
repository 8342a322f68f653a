// Finds where control can come from: branches and calls whose targets are in the kernel's own code.
#include "sass/flow.h"

// The distance to the target, in bytes from the next instruction on. From sm_90 on its lowest eight
// bits (of words) are elsewhere.
static int64_t distance(const SassInstruction *i, unsigned sm) {
  uint64_t field = i->low >> 34 | i->high << 30;  // bits 34 to 81
  int64_t words = (int64_t)(field << 16) >> 16;
  if (sm >= 90) words = (int64_t)((uint64_t)words << 8 | sass_bits(i, 16, 8));
  return words * 4;
}

static bool has_target(const SassInstruction *i) {
  return i->name == SASS_BRA || i->name == SASS_CALL;
}

uint32_t sass_target(const SassInstruction *code, uint32_t n, uint32_t at, unsigned sm) {
  if (!has_target(&code[at])) return UINT32_MAX;
  int64_t to = ((int64_t)at + 1) * SASS_BYTES + distance(&code[at], sm);
  return to >= 0 && to % SASS_BYTES == 0 && to / SASS_BYTES < n ? (uint32_t)(to / SASS_BYTES)
                                                                : UINT32_MAX;
}

// Branches may have a second predicate, or one of a uniform register.
static bool never_goes_on(const SassInstruction *i) {
  enum { PLAIN_FORM = 4, ALWAYS = 7 };
  return !i->predicated && sass_bits(i, 9, 3) == PLAIN_FORM && sass_bits(i, 87, 3) == ALWAYS &&
         (i->name == SASS_BRA || i->name == SASS_EXIT || i->name == SASS_RET);
}

// Edges are counted first, then filled in, so that those of one instruction lie together.
static void add_edge(SassFlow *f, bool fill, uint32_t from, uint32_t to) {
  if (to == UINT32_MAX) return;
  if (fill) f->from[--f->first[to]] = from;
  else f->first[to]++;
}

static void add_edges(SassFlow *f, const SassInstruction *code, unsigned sm, bool fill) {
  for (uint32_t i = 0; i < f->n; i++) add_edge(f, fill, i, sass_target(code, f->n, i, sm));
  // the RET of a called function returns after each call
  for (uint32_t r = 0; r < f->n; r++)
    for (uint32_t c = 0; code[r].name == SASS_RET && c + 1 < f->n; c++)
      if (code[c].name == SASS_CALL) add_edge(f, fill, r, c + 1);
}

void sass_flow_open(SassFlow *f, const SassInstruction *code, uint32_t n, unsigned sm) {
  *f = (SassFlow){.n = n, .first = mem_alloc((n + 1) * sizeof *f->first)};
  add_edges(f, code, sm, false);
  for (uint32_t i = 1; i <= n; i++) f->first[i] += f->first[i - 1];
  f->from = mem_alloc((f->first[n] + 1) * sizeof *f->from);
  add_edges(f, code, sm, true);
  f->falls = mem_alloc(n + 1);
  // a call into the kernel's own code comes back by a RET
  for (uint32_t i = 1; i < n; i++)
    f->falls[i] = !never_goes_on(&code[i - 1]) &&
                  !(code[i - 1].name == SASS_CALL && !code[i - 1].predicated &&
                    sass_target(code, n, i - 1, sm) != UINT32_MAX);
}

void sass_flow_close(SassFlow *f) {
  free(f->first);
  free(f->from);
  free(f->falls);
}
