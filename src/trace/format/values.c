// The words of a block: which of a row's words are stored, and the stored words. The writer's words
// and table are as records have them, ^ WG_TRACE_KEY.
#include "trace/format/predict.h"

void values_begin(ColumnCoder *c, ValueWriter *v, const BlockInput *in, uint8_t *masks) {
  *v = (ValueWriter){
      .table = (uint32_t *)column_coder_scratch(c, CODER_TABLE, sizeof *v->table * VALUE_SLOTS),
      .given = (uint32_t *)column_coder_scratch(c, CODER_GIVEN,
                                                sizeof *v->given * (in->nwords + 1)),
      .masks = masks};
  if (!in->nwords) return;
  for (uint32_t i = 0; i < VALUE_SLOTS; i++) v->table[i] = (uint32_t)WG_TRACE_KEY;
}

// Inlined wherever they are called, so that they are made for newer processors where values_write
// is.
#define INLINE static inline __attribute__((always_inline))
typedef uint32_t Eight __attribute__((vector_size(32), aligned(4), may_alias));

// for few words: a call of memcpy would cost more
INLINE void copy_words(uint32_t *to, const uint32_t *from, uint32_t n) {
  uint32_t k = 0;
  for (; k + 8 <= n; k += 8) *(Eight *)(to + k) = *(const Eight *)(from + k);
  for (; k < n; k++) to[k] = from[k];
}

INLINE void give(ValueWriter *v, const uint32_t *words, uint32_t n) {
  uint32_t *to = v->given, k = 0;
  for (; k + 8 <= n; k += 8)
    *(Eight *)(to + k) = *(const Eight *)(words + k) ^ (uint32_t)WG_TRACE_KEY;
  for (; k < n; k++) to[k] = words[k] ^ (uint32_t)WG_TRACE_KEY;
  v->given += n;
}

static void give_some(ValueWriter *v, const uint32_t *words, const uint32_t *expected, uint32_t n) {
  for (uint32_t k = 0; k < n; k += 8) {
    uint8_t mask = 0;
    for (uint32_t j = 0; j < 8 && k + j < n; j++) {
      bool bad = words[k + j] != expected[k + j];
      mask |= (uint8_t)(bad << j);
      *v->given = words[k + j] ^ (uint32_t)WG_TRACE_KEY;
      v->given += bad;
    }
    *v->masks++ = mask;
  }
}

INLINE uint32_t count_different(const uint32_t *a, const uint32_t *b, uint32_t n) {
  Eight equal = {0};
  uint32_t k = 0, wrong = 0;
  for (; k + 8 <= n; k += 8) equal += (Eight)(*(const Eight *)(a + k) == *(const Eight *)(b + k));
  // each equal one is -1
  wrong = k +
          (equal[0] + equal[1] + equal[2] + equal[3] + equal[4] + equal[5] + equal[6] + equal[7]);
  for (; k < n; k++) wrong += a[k] != b[k];
  return wrong;
}

INLINE unsigned kept_as(ValueWriter *v, const uint32_t *words, const uint32_t *expected,
                        uint32_t n) {
  uint32_t wrong = count_different(words, expected, n);
  if (!wrong) return VALUE_EXPECTED;
  if (n == v->nbefore && *v->before == *words && !count_different(v->before, words, n))
    return VALUE_AGAIN;
  if (wrong <= n - n / 4) {
    give_some(v, words, expected, n);
    return VALUE_SOME;
  }
  give(v, words, n);
  return VALUE_ALL;
}

// Writes adjacent words of 4 bytes, which is what most rows have: one stretch of the table, or two.
INLINE unsigned write_one(ValueWriter *v, uint64_t address, const uint32_t *words) {
  uint32_t *a = v->table + value_slot(address);
  if (*a == *words) return VALUE_EXPECTED;
  *a = *words;
  if (v->nbefore == 1 && *v->before == *words) return VALUE_AGAIN;
  *v->given++ = *words ^ (uint32_t)WG_TRACE_KEY;
  return VALUE_ALL;
}

INLINE unsigned write_adjacent(ValueWriter *v, uint64_t address, const uint32_t *words,
                               uint32_t n) {
  uint32_t from = (uint32_t)(address >> 2) & ((1u << VALUE_LINE_BITS) - 1),
           first = MIN(n, (1u << VALUE_LINE_BITS) - from), rest = n - first;
  uint32_t *a = v->table + (value_line(address) << VALUE_LINE_BITS) + from,
           *b = v->table + (value_line(address + 4 * (uint64_t)first) << VALUE_LINE_BITS);
  unsigned mode;
  if (!rest) {
    mode = kept_as(v, words, a, n);
  } else {
    if (!count_different(a, words, first) && !count_different(b, words + first, rest))
      return VALUE_EXPECTED;
    uint32_t expected[32];
    copy_words(expected, a, first);
    copy_words(expected + first, b, rest);
    mode = kept_as(v, words, expected, n);
  }
  if (mode == VALUE_EXPECTED) return mode;
  copy_words(a, words, first);
  copy_words(b, words + first, rest);
  return mode;
}

// Whether a row has adjacent words of 4 bytes, or one: what most rows have.
static inline bool is_adjacent(const TracePlace *p, const TraceRow *r, uint32_t n) {
  if (!r->lanes) return false;  // damaged
  uint32_t run = r->lanes >> __builtin_ctz(r->lanes);
  return p->has & ROW_AFFINE && p->planes == 1 && !(p->has & ROW_OLD) &&
         (n == 1 || (r->stride == 4 && !(run & (run + 1))));
}

// Copies between a row's adjacent words and the table, where they are one stretch or two.
static void exchange_adjacent(uint32_t *table, uint64_t address, uint32_t *words, uint32_t n,
                              bool expected) {
  uint32_t from = (uint32_t)(address >> 2) & ((1u << VALUE_LINE_BITS) - 1),
           first = MIN(n, (1u << VALUE_LINE_BITS) - from);
  uint32_t *a = table + (value_line(address) << VALUE_LINE_BITS) + from,
           *b = table + (value_line(address + 4 * (uint64_t)first) << VALUE_LINE_BITS);
  if (expected) {
    memcpy(words, a, (size_t)first * 4);
    if (n > first) memcpy(words + first, b, (size_t)(n - first) * 4);
  } else {
    memcpy(a, words, (size_t)first * 4);
    if (n > first) memcpy(b, words + first, (size_t)(n - first) * 4);
  }
}

NEWER_TOO unsigned values_write(ValueWriter *v, const BlockInput *in, uint32_t row) {
  const TraceRow *r = &in->rows[row];
  const TracePlace *p = &in->places[r->place];
  const uint32_t *words = in->words[row];
  uint32_t n = row_words(p, r->lanes), slots[ROW_WORDS_MAX];
  unsigned mode;
  if (is_adjacent(p, r, n)) {
    uint64_t address = r->base + (uint64_t)((int64_t)r->stride * __builtin_ctz(r->lanes));
    mode = n == 1 ? write_one(v, address, words) : write_adjacent(v, address, words, n);
  } else {
    uint32_t expected[ROW_WORDS_MAX];
    row_slots(p, r, in->addresses, slots);
    for (uint32_t k = 0; k < n; k++) expected[k] = v->table[slots[k]];
    mode = kept_as(v, words, expected, n);
    values_seen(v->table, p, slots, words, n, (uint32_t)WG_TRACE_KEY);
  }
  v->before = words;
  v->nbefore = n;
  return mode;
}

// Without branches: which of them are given is as good as random.
typedef struct GivenWords {
  const uint32_t *list;
  size_t n, at;  // at: the next one
} GivenWords;
static inline bool take_some(Reading *masks, const uint32_t *table, const uint32_t *slots,
                             GivenWords *from, uint32_t *words, uint32_t n) {
  const uint32_t *given = from->list;
  size_t ngiven = from->n, at = from->at, last = ngiven - 1;
  for (uint32_t k = 0; k < n; k += 8) {
    uint32_t mask = reading_u8(masks), some = MIN(8u, n - k);
    mask &= (1u << some) - 1;
    if ((unsigned)__builtin_popcount(mask) > ngiven - at) return false;
    if (!mask) {
      for (uint32_t j = 0; j < some; j++) words[k + j] = table[slots[k + j]];
      continue;
    }
    for (uint32_t j = 0; j < some; j++) {
      uint32_t bit = mask >> j & 1, there = given[MIN(at, last)], expected = table[slots[k + j]];
      words[k + j] = bit ? there : expected;
      at += bit;
    }
  }
  from->at = at;
  return true;
}

static inline void take_all(GivenWords *from, uint32_t *words, uint32_t n) {
  memcpy(words, from->list + from->at, (size_t)n * 4);
  from->at += n;
}

static bool needs_table(const TraceBlock *b, uint32_t row) {
  unsigned mode = b->flags[row] >> FLAG_VALUES_AT & 3;
  return b->places[b->rows[row].place].has & (ROW_VALUES | ROW_OLD) &&
         (mode == VALUE_SOME || mode == VALUE_EXPECTED);
}

NEWER_TOO bool values_read(ColumnCoder *c, TraceBlock *b) {
  Reading masks = b->masks;
  if (!block_open_given(c, b)) return false;
  GivenWords given = {.list = b->given.words, .n = b->given.n};
  if (!given.list && given.n) {
    uint32_t *all = (uint32_t *)column_coder_scratch(c, CODER_GIVEN, sizeof *all * given.n);
    column_join_words(&b->given, all);
    given.list = all;
  }
  uint32_t *table = (uint32_t *)column_coder_scratch(c, CODER_TABLE, sizeof *table * VALUE_SLOTS);
  uint32_t slots[ROW_WORDS_MAX],
      *out = arena_alloc_uncleared(&b->arena, sizeof *out * (b->nwords + 1)), nbefore = 0;
  const uint32_t *before = NULL;
  bool ok = true;
  // after the last row that needs the table, it is not kept up to date
  uint32_t expecting = b->nrows;
  while (expecting && !needs_table(b, expecting - 1)) expecting--;
  if (expecting) memset(table, 0, sizeof *table * VALUE_SLOTS);
  for (uint32_t i = 0; i < b->nrows && ok; i++) {
    const TraceRow *r = &b->rows[i];
    const TracePlace *p = &b->places[r->place];
    uint32_t n = row_words(p, r->lanes), *words = out + r->words;
    if (!n) continue;
    unsigned mode = b->flags[i] >> FLAG_VALUES_AT & 3;
    if (i < expecting && mode != VALUE_SOME && is_adjacent(p, r, n)) {
      if (mode == VALUE_AGAIN && nbefore == n) memcpy(words, before, (size_t)n * 4);
      else if (mode == VALUE_ALL && given.n - given.at >= n) take_all(&given, words, n);
      else if (mode != VALUE_EXPECTED) return false;
      exchange_adjacent(table, r->base + (uint64_t)((int64_t)r->stride * __builtin_ctz(r->lanes)),
                        words, n, mode == VALUE_EXPECTED);
      before = words;
      nbefore = n;
      continue;
    }
    if (i < expecting) row_slots(p, r, b->addresses, slots);
    if (mode == VALUE_EXPECTED) {
      for (uint32_t k = 0; k < n; k++) words[k] = table[slots[k]];
    } else if (mode == VALUE_AGAIN && nbefore == n) {
      memcpy(words, before, (size_t)n * 4);
    } else if (mode == VALUE_SOME) {
      ok = take_some(&masks, table, slots, &given, words, n);
    } else if (mode == VALUE_ALL && given.n - given.at >= n) {
      take_all(&given, words, n);
    } else {
      ok = false;
    }
    if (i < expecting) values_seen(table, p, slots, words, n, 0);
    before = words;
    nbefore = n;
  }
  if (!ok || masks.bad) return false;
  b->words = out;
  b->bytes += (size_t)b->nwords * 4;
  return true;
}
