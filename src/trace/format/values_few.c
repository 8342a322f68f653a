// Decodes the words of a few rows of a block, without those of the other rows. A word is given, or
// it is what the table held: what the last earlier row that touched its slot left there. Writer and
// reader of whole blocks are in values.c.
#include "trace/format/predict.h"

// ROWS_LOOKED_AT: after this many times the rows of the block, decoding all words is cheaper
enum { ROWS_LOOKED_AT = 4, DEEPEST = 64 };
static const uint32_t NOWHERE = UINT32_MAX;

typedef struct Few {
  const TraceBlock *b;
  uint64_t left;
  unsigned depth;
  bool too_much;
} Few;

static inline uint32_t words_of(const TraceBlock *b, uint32_t row) {
  return row_words(&b->places[b->rows[row].place], b->rows[row].lanes);
}
static unsigned mode_of(const TraceBlock *b, uint32_t row) {
  return b->flags[row] >> FLAG_VALUES_AT & 3;
}

bool block_open_given(ColumnCoder *c, TraceBlock *b) {
  if (b->given_open) return true;
  Reading from = b->values;
  WordColumn *g = &b->given;
  if (!column_open_words(c, &from, &b->arena, b->nwords, g)) return false;
  if (g->steps) {
    uint32_t *words = arena_alloc_uncleared(&b->arena, sizeof *words * g->n);
    column_join_words(g, words);
    *g = (WordColumn){.n = g->n, .words = words};
  }
  return b->given_open = true;
}

// Where the words of each row begin.
NEWER_TOO static bool find_starts(ColumnCoder *c, TraceBlock *b) {
  if (b->starts) return true;
  if (!block_open_given(c, b)) return false;
  Reading masks = b->masks;
  GivenStart *starts = arena_alloc_uncleared(&b->arena, sizeof *starts * (b->nrows + 1));
  uint64_t at = 0, mask_at = 0, all_masks = (uint64_t)(masks.end - masks.at);
  uint32_t before = NOWHERE, nbefore = 0;
  for (uint32_t i = 0; i < b->nrows; i++) {
    uint32_t n = words_of(b, i);
    starts[i] = (GivenStart){(uint32_t)at, (uint32_t)mask_at, before};
    if (!n) continue;
    unsigned mode = mode_of(b, i);
    if (mode == VALUE_AGAIN && nbefore != n) return false;
    if (mode == VALUE_ALL) at += n;
    if (mode == VALUE_SOME) {
      if (all_masks - mask_at < (n + 7) / 8) return false;
      for (uint32_t k = 0; k < n; k += 8)
        at += (unsigned)__builtin_popcount(masks.at[mask_at++] & ((1u << MIN(8u, n - k)) - 1));
    }
    if (at > b->given.n) return false;
    before = i;
    nbefore = n;
  }
  b->starts = starts;
  return true;
}

// A row's words lie in parts (what was written or read, what was found), planes and lanes.
static bool by_place(const TracePlace *p, uint32_t part) {
  return !(p->has & (ROW_AFFINE | ROW_EACH)) ||
         (part == 0 && p->has & ROW_OLD && p->has & ROW_VALUES);
}
static uint32_t place_slot(uint32_t place, uint32_t plane) {
  return (place * 8 + plane + 7) & (VALUE_SLOTS - 1);
}

static uint32_t nth_lane(uint32_t lanes, uint32_t n) {
  while (n--) lanes &= lanes - 1;
  return (uint32_t)__builtin_ctz(lanes);
}

static uint32_t slot_of(const TraceBlock *b, uint32_t row, uint32_t k) {
  const TraceRow *r = &b->rows[row];
  const TracePlace *p = &b->places[r->place];
  uint32_t n = row_plane_words(p, r->lanes), plane = k / n % p->planes, lane = k % n;
  if (by_place(p, k / n / p->planes)) return place_slot(r->place, plane);
  uint64_t a = p->has & ROW_EACH
                   ? b->addresses[r->addresses + lane]
                   : r->base + (uint64_t)((int64_t)r->stride * (int64_t)nth_lane(r->lanes, lane));
  return value_slot(a + 4 * plane);
}

// The last of n addresses whose word has that slot, counted from 1; 0: none
MANY_AT_A_TIME static uint32_t last_at(const uint64_t *a, uint32_t n, uint32_t plane,
                                       uint32_t slot) {
  uint32_t last = 0;
  for (uint32_t k = 0; k < n; k++) last = value_slot(a[k] + 4 * plane) == slot ? k + 1 : last;
  return last;
}

static uint32_t last_affine(const TraceRow *r, uint32_t n, uint32_t plane, uint32_t slot) {
  uint64_t first = r->base + 4 * plane;
  if (r->lanes == UINT32_MAX && r->stride == 4 && n == 32) {
    uint32_t k = (slot - (uint32_t)(first >> 2)) & ((1u << VALUE_LINE_BITS) - 1);
    return value_slot(first + 4 * (uint64_t)k) == slot ? k + 1 : 0;
  }
  uint32_t last = 0, k = 0;
  for (uint32_t left = r->lanes; k < n; k++, left &= left - 1)
    if (value_slot(first + (uint64_t)((int64_t)r->stride * (int64_t)__builtin_ctz(left))) == slot)
      last = k + 1;
  return last;
}

// The word that the row leaves in that slot; NOWHERE: none
static uint32_t word_at(const TraceBlock *b, uint32_t row, uint32_t slot) {
  const TraceRow *r = &b->rows[row];
  const TracePlace *p = &b->places[r->place];
  uint32_t parts = !!(p->has & ROW_VALUES) + !!(p->has & ROW_OLD),
           n = parts ? row_plane_words(p, r->lanes) : 0;
  for (uint32_t part = parts; part--;)
    for (uint32_t plane = p->planes; plane--;) {
      uint32_t last = by_place(p, part)   ? (place_slot(r->place, plane) == slot ? n : 0)
                      : p->has & ROW_EACH ? last_at(b->addresses + r->addresses, n, plane, slot)
                                          : last_affine(r, n, plane, slot);
      if (last) return (part * p->planes + plane) * n + last - 1;
    }
  return NOWHERE;
}

static uint32_t word_of(Few *f, uint32_t row, uint32_t k) {
  const TraceBlock *b = f->b;
  for (uint32_t sum = 0; !f->too_much;) {
    unsigned mode = mode_of(b, row);
    const GivenStart *s = &b->starts[row];
    if (mode == VALUE_ALL) return sum + column_word(&b->given, s->given + k);
    if (mode == VALUE_AGAIN) {
      row = s->before;
      continue;
    }
    const uint8_t *masks = b->masks.at + s->masks;
    if (mode == VALUE_SOME && masks[k / 8] >> k % 8 & 1) {
      uint32_t at = s->given;
      for (uint32_t i = 0; i < k / 8; i++) at += (unsigned)__builtin_popcount(masks[i]);
      return sum + column_word(&b->given, at + (unsigned)__builtin_popcount(masks[k / 8] &
                                                                            ((1u << k % 8) - 1)));
    }
    uint32_t slot = slot_of(b, row, k), word = NOWHERE;
    while (row && word == NOWHERE && f->left) {
      f->left--;
      word = word_at(b, --row, slot);
    }
    f->too_much = word == NOWHERE && row;
    if (word == NOWHERE) return sum;  // no earlier entry
    const TracePlace *p = &b->places[b->rows[row].place];
    uint32_t half = words_of(b, row) / 2;
    if (p->has & ROW_VALUES && p->has & ROW_OLD && word >= half) {
      // An atomic leaves the sum of what it found and what it added.
      f->too_much = ++f->depth > DEEPEST;
      sum += word_of(f, row, word - half);
      f->depth--;
    }
    k = word;
  }
  return 0;
}

FewResult block_few_values(ColumnCoder *c, TraceBlock *b, uint32_t row, uint32_t lane,
                           uint32_t *out) {
  if (!find_starts(c, b)) return FEW_DAMAGED;
  Few f = {.b = b, .left = (uint64_t)b->nrows * ROWS_LOOKED_AT};
  const TraceRow *r = &b->rows[row];
  const TracePlace *p = &b->places[r->place];
  uint32_t n = row_plane_words(p, r->lanes), k = p->has & ROW_ONE ? 0 : lane_rank(r->lanes, lane),
           all = words_of(b, row) / n;
  for (uint32_t i = 0; i < all && !f.too_much; i++) out[i] = word_of(&f, row, i * n + k);
  return f.too_much ? FEW_TOO_MUCH : FEW_OK;
}
