// Predicts the rows of a block from the rows before them. Writer and reader go through the rows in
// the same way.
#ifndef WG_TRACE_PREDICT_H
#define WG_TRACE_PREDICT_H

#include "trace/internal.h"

static const uint64_t TRACE_ADDRESS_MASK = (1ull << 62) - 1;

// The base of a place. Within a warp the step from the last base is expected again; for the next
// warp, the step from the first base of the last warp.
typedef struct BaseState {
  uint64_t last, first, warp;
  int64_t step, warp_step;
  int32_t stride;
  bool seen;
} BaseState;
static inline uint64_t base_expected(const BaseState *s, uint64_t warp) {
  if (!s->seen) return 0;
  return s->warp == warp ? s->last + (uint64_t)s->step : s->first + (uint64_t)s->warp_step;
}
static inline void base_seen(BaseState *s, uint64_t warp, uint64_t base, int32_t stride) {
  if (s->seen && s->warp == warp) {
    s->step = (int64_t)(base - s->last);
  } else {
    if (s->seen) s->warp_step = (int64_t)(base - s->first);
    s->first = base;
    s->warp = warp;
  }
  s->last = base;
  s->stride = stride;
  s->seen = true;
}

// Times: expects the time of the warp's last row; for the next warp, of the last warp's first row.
typedef struct TimeState {
  uint64_t warp;
  uint32_t last, first;
} TimeState;
static inline uint32_t time_expected(TimeState *s, uint64_t warp) {
  if (s->warp != warp + 1) return s->first;
  return s->last;
}
static inline void time_seen(TimeState *s, uint64_t warp, uint32_t time) {
  if (s->warp != warp + 1) {
    s->first = time;
    s->warp = warp + 1;
  }
  s->last = time;
}

// Values: expects the value last seen at the address, or, without an address, the place's last
// value. Words of a line of 128 bytes lie side by side.
enum { VALUE_LINE_BITS = 5, VALUE_LINES = 1 << 10, VALUE_SLOTS = VALUE_LINES << VALUE_LINE_BITS };
static inline uint32_t value_line(uint64_t address) {
  uint64_t line = address >> (VALUE_LINE_BITS + 2);
  return ((uint32_t)line ^ (uint32_t)(line >> 10) * 5u ^ (uint32_t)(line >> 20)) &
         (VALUE_LINES - 1);
}
static inline uint32_t value_slot(uint64_t address) {
  return value_line(address) << VALUE_LINE_BITS |
         ((uint32_t)(address >> 2) & ((1u << VALUE_LINE_BITS) - 1));
}
MANY_AT_A_TIME static inline void slots_of(const uint64_t *addresses, uint32_t n, uint32_t plane,
                                           uint32_t *slots) {
  for (uint32_t k = 0; k < n; k++) slots[k] = value_slot(addresses[k] + 4 * plane);
}
// Fills the slots of a row's words, in the order in which they are kept: planes of values, then of
// what was found.
static inline void row_slots(const TracePlace *p, const TraceRow *row, const uint64_t *addresses,
                             uint32_t *slots) {
  uint32_t lanes = row->lanes, n = row_plane_words(p, lanes),
           parts = !!(p->has & ROW_VALUES) + !!(p->has & ROW_OLD);
  bool by_address = p->has & (ROW_AFFINE | ROW_EACH);
  for (uint32_t part = 0; part < parts; part++) {
    bool operand = part == 0 && p->has & ROW_OLD && p->has & ROW_VALUES;
    if (operand || !by_address) {
      for (uint32_t plane = 0; plane < p->planes; plane++)
        for (uint32_t k = 0; k < n; k++)
          *slots++ = (row->place * 8 + plane + 7) & (VALUE_SLOTS - 1);
      continue;
    }
    for (uint32_t plane = 0; plane < p->planes; plane++) {
      if (p->has & ROW_EACH) {
        slots_of(addresses + row->addresses, n, plane, slots);
        slots += n;
      } else if (lanes == UINT32_MAX) {
        uint64_t a = row->base + 4 * plane;
        for (uint32_t k = 0; k < n; k++, a += (uint64_t)(int64_t)row->stride)
          *slots++ = value_slot(a);
      } else {
        uint32_t left = lanes;
        for (uint32_t k = 0; k < n; k++, left &= left - 1)
          *slots++ = value_slot(row->base + 4 * plane +
                                (uint64_t)((int64_t)row->stride * __builtin_ctz(left)));
      }
    }
  }
}
// key: the words and the table are XORed with it.
static inline void values_seen(uint32_t *table, const TracePlace *p, const uint32_t *slots,
                               const uint32_t *words, uint32_t n, uint32_t key) {
  if (p->has & ROW_VALUES && p->has & ROW_OLD) {
    uint32_t half = n / 2;
    for (uint32_t i = 0; i < half; i++) table[slots[i]] = words[i];
    // most atomic operations add
    for (uint32_t i = 0; i < half; i++)
      table[slots[half + i]] = ((words[half + i] ^ key) + (words[i] ^ key)) ^ key;
  } else {
    for (uint32_t i = 0; i < n; i++) table[slots[i]] = words[i];
  }
}

enum { ROW_WORDS_MAX = 32 * 4 * 2 };
// a row's words: as expected; some are not; those of the row before; all are given
enum { VALUE_EXPECTED, VALUE_SOME, VALUE_AGAIN, VALUE_ALL };
// The flags of a row, one byte: its lanes (as of the row before, all, given), whether its base and
// its stride are given, how its values are kept.
enum {
  FLAG_LANES = 3,
  LANES_SAME = 0,
  LANES_ALL = 1,
  LANES_GIVEN = 2,
  FLAG_BASE = 4,
  FLAG_STRIDE = 8,
  FLAG_VALUES_AT = 4
};
// The streams of a block's first column, one after the other.
enum {
  STREAM_PLACES,
  STREAM_FLAGS,
  STREAM_WARPS,
  STREAM_LANES,
  STREAM_BASES,
  STREAM_STRIDES,
  STREAM_TIMES,
  STREAM_MASKS,
  STREAMS
};
#endif
