// Rows of a block become columns.
#include "trace/format/predict.h"

static inline uint8_t *put(uint8_t *at, uint64_t v) {
  for (; v >= 0x80; v >>= 7) *at++ = (uint8_t)(v | 0x80);
  *at++ = (uint8_t)v;
  return at;
}

static uint8_t *put_warps(const BlockInput *in, uint8_t *at) {
  uint64_t last = 0;
  for (uint32_t i = 0; i < in->nrows;) {
    uint32_t from = i;
    while (i < in->nrows && in->rows[i].warp == in->rows[from].warp) i++;
    at = put(at, in->rows[from].warp - last);
    at = put(at, i - from);
    last = in->rows[from].warp;
  }
  return at;
}

// Writes all of the rows except addresses of single lanes and words. One column holds several
// streams, since a call of the compressor costs more than most of them.
NEWER_TOO static uint32_t write_rows(ColumnCoder *c, const BlockInput *in, Bytes *out) {
  const size_t longest[STREAMS] = {[STREAM_PLACES] = place_bytes(in->nplaces),
                                   [STREAM_FLAGS] = 1,
                                   [STREAM_WARPS] = 20,
                                   [STREAM_LANES] = 4,
                                   [STREAM_BASES] = 10,
                                   [STREAM_STRIDES] = 10,
                                   [STREAM_TIMES] = 10,
                                   [STREAM_MASKS] = ROW_WORDS_MAX / 8};
  size_t all = 0;
  for (unsigned s = 0; s < STREAMS; s++) all += longest[s] * in->nrows;
  uint8_t *start[STREAMS], *at[STREAMS], *memory = column_coder_scratch(c, CODER_STREAMS, 2 * all);
  for (unsigned s = 0; s < STREAMS; s++) {
    start[s] = at[s] = memory;
    memory += longest[s] * in->nrows;
  }
  BaseState *states = (BaseState *)column_coder_scratch(c, CODER_STATES,
                                                        sizeof *states * (in->nplaces + 1));
  memset(states, 0, sizeof *states * in->nplaces);
  TimeState time = {0};
  ValueWriter values;
  values_begin(c, &values, in, start[STREAM_MASKS]);
  const uint32_t *first_given = values.given;
  uint32_t lanes = 0;
  at[STREAM_WARPS] = put_warps(in, at[STREAM_WARPS]);
  for (unsigned b = 0; b < longest[STREAM_PLACES]; b++)
    for (uint32_t i = 0; i < in->nrows; i++)
      *at[STREAM_PLACES]++ = (uint8_t)(in->rows[i].place >> 8 * b);
  for (uint32_t i = 0; i < in->nrows; i++) {
    const TraceRow *r = &in->rows[i];
    uint8_t has = in->places[r->place].has, flags = r->lanes == lanes        ? LANES_SAME
                                                    : r->lanes == UINT32_MAX ? LANES_ALL
                                                                             : LANES_GIVEN;
    if (flags == LANES_GIVEN) {
      memcpy(at[STREAM_LANES], &r->lanes, 4);
      at[STREAM_LANES] += 4;
    }
    lanes = r->lanes;
    if (has & (ROW_AFFINE | ROW_EACH)) {
      at[STREAM_TIMES] = put(at[STREAM_TIMES],
                             zigzag((int32_t)(r->time - time_expected(&time, r->warp))));
      time_seen(&time, r->warp, r->time);
    }
    if (has & ROW_AFFINE) {
      BaseState *s = &states[r->place];
      uint64_t off = r->base - base_expected(s, r->warp);
      if (off) {
        flags |= FLAG_BASE;
        at[STREAM_BASES] = put(at[STREAM_BASES], zigzag((int64_t)off));
      }
      if (r->stride != s->stride) {
        flags |= FLAG_STRIDE;
        at[STREAM_STRIDES] = put(at[STREAM_STRIDES], zigzag((int64_t)r->stride - s->stride));
      }
      base_seen(s, r->warp, r->base, r->stride);
    }
    if (has & (ROW_VALUES | ROW_OLD))
      flags |= (uint8_t)(values_write(&values, in, i) << FLAG_VALUES_AT);
    *at[STREAM_FLAGS]++ = flags;
  }
  at[STREAM_MASKS] = values.masks;
  uint8_t *joined = memory, *end = joined;
  for (unsigned s = 0; s < STREAMS; s++) {
    size_t n = (size_t)(at[s] - start[s]);
    bytes_varint(out, n);
    memcpy(end, start[s], n);
    end += n;
  }
  column_write(c, out, joined, (size_t)(end - joined));
  return (uint32_t)(values.given - first_given);
}

// Addresses of single lanes: a least address and a shift per place, and rests as planes of bytes. A
// rest is the difference from the least address, or from the lane before.
typedef struct Spread {
  uint64_t least, most, bits;
} Spread;
MANY_AT_A_TIME static void spread_row(Spread *x, const uint64_t *a, uint32_t n) {
  uint64_t least = x->least, most = x->most, bits = x->bits, some = a[0];
  for (uint32_t k = 0; k < n; k++) {
    bits |= a[k] ^ some;
    least = MIN(least, a[k]);
    most = MAX(most, a[k]);
  }
  if (x->least != UINT64_MAX) bits |= x->least ^ some;
  *x = (Spread){least, most, bits};
}

static bool spreads(const BlockInput *in, Spread *s) {
  for (uint32_t p = 0; p < in->nplaces; p++) s[p] = (Spread){.least = UINT64_MAX};
  for (uint32_t i = 0; i < in->nrows; i++) {
    const TraceRow *r = &in->rows[i];
    if (in->places[r->place].has & ROW_EACH)
      spread_row(&s[r->place], in->addresses + r->addresses,
                 (uint32_t)__builtin_popcount(r->lanes));
  }
  bool small = true;
  for (uint32_t p = 0; p < in->nplaces; p++) {
    if (s[p].least == UINT64_MAX) continue;
    s[p].bits = s[p].bits ? MIN((unsigned)__builtin_ctzll(s[p].bits), 15u) : 0;
    small &= (s[p].most - s[p].least) >> s[p].bits < 1u << 31;
  }
  return small;
}

static inline uint64_t significant(uint64_t v) { return 64 - (unsigned)__builtin_clzll(v | 1); }

// A sample of the rows decides which is shorter.
static bool steps_are_shorter(const BlockInput *in, const Spread *s) {
  uint64_t cost = 0, cost_steps = 0;
  for (uint32_t i = 0; i < in->nrows; i += 1 + in->nrows / 64) {
    const TraceRow *r = &in->rows[i];
    if (!(in->places[r->place].has & ROW_EACH)) continue;
    uint64_t before = 0;
    for (uint32_t k = 0, n = (uint32_t)__builtin_popcount(r->lanes); k < n; k++) {
      uint64_t rest = (in->addresses[r->addresses + k] - s[r->place].least) >> s[r->place].bits;
      cost += significant(rest);
      cost_steps += significant(zigzag((int64_t)(rest - before)));
      before = rest;
    }
  }
  return cost_steps < cost;
}

MANY_AT_A_TIME static void rests_of_row(const uint64_t *a, uint32_t n, uint64_t least,
                                        unsigned shift, uint32_t *to) {
  for (uint32_t k = 0; k < n; k++) to[k] = (uint32_t)((a[k] - least) >> shift);
}
MANY_AT_A_TIME static void steps_of_row(uint32_t *rest, uint32_t n) {
  uint32_t before[32] = {0};
  memcpy(before + 1, rest, (n - 1) * sizeof *rest);
  for (uint32_t k = 0; k < n; k++) {
    uint32_t step = rest[k] - before[k];
    rest[k] = step << 1 ^ (uint32_t)((int32_t)step >> 31);
  }
}

// Writes the planes of the rests: the low four bytes, and the high four if there are any.
NEWER_TOO static void write_rests(ColumnCoder *c, const BlockInput *in, const Spread *s, bool small,
                                  bool by_steps, Bytes *out) {
  uint32_t *low = (uint32_t *)column_coder_scratch(c, CODER_RESTS,
                                                   sizeof *low * 2 * (in->naddresses + 32)),
           *high = low + in->naddresses + 32, all = 0, all_high = 0;
  for (uint32_t i = 0, at = 0; i < in->nrows; i++) {
    const TraceRow *r = &in->rows[i];
    if (!(in->places[r->place].has & ROW_EACH)) continue;
    const uint64_t *a = in->addresses + r->addresses;
    const Spread *x = &s[r->place];
    uint32_t n = (uint32_t)__builtin_popcount(r->lanes);
    if (small) {
      rests_of_row(a, n, x->least, (unsigned)x->bits, low + at);
      if (by_steps) steps_of_row(low + at, n);
      for (uint32_t k = 0; k < n; k++) all |= low[at + k];
    } else {
      uint64_t before = 0;
      for (uint32_t k = 0; k < n; k++) {
        uint64_t rest = (a[k] - x->least) >> x->bits,
                 kept = by_steps ? zigzag((int64_t)(rest - before)) : rest;
        before = rest;
        low[at + k] = (uint32_t)kept;
        high[at + k] = (uint32_t)(kept >> 32);
        all |= low[at + k];
        all_high |= high[at + k];
      }
    }
    at += n;
  }
  unsigned planes = (unsigned)(significant((uint64_t)all_high << 32 | all) + 7) / 8;
  bytes_u8(out, (uint8_t)by_steps);
  bytes_u8(out, (uint8_t)planes);
  column_write_planes(c, out, low, in->naddresses, MIN(planes, 4u));
  if (planes > 4) column_write_planes(c, out, high, in->naddresses, planes - 4);
}

static void write_addresses(ColumnCoder *c, const BlockInput *in, Bytes *out) {
  bytes_varint(out, in->naddresses);
  if (!in->naddresses) return;
  Spread *s = (Spread *)column_coder_scratch(c, CODER_STATES, sizeof *s * in->nplaces);
  bool small = spreads(in, s);
  for (uint32_t p = 0; p < in->nplaces; p++) {
    if (!(in->places[p].has & ROW_EACH)) continue;
    bytes_varint(out, s[p].least == UINT64_MAX ? 0 : s[p].least);
    bytes_varint(out, s[p].bits);
  }
  write_rests(c, in, s, small, steps_are_shorter(in, s), out);
}

void block_write(ColumnCoder *c, const BlockInput *in, Bytes *out) {
  bytes_varint(out, in->nrows);
  bytes_varint(out, in->nwords);
  uint32_t given = write_rows(c, in, out);
  write_addresses(c, in, out);
  column_write_words(c, out, (const uint32_t *)column_coder_scratch(c, CODER_GIVEN, 0), given);
}
