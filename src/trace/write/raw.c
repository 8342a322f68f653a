// Records as the device wrote them (probe/trace_abi.h). raw_length (raw_shapes) decides whether a
// head is plausible. The length then follows from the head, and any contents of the rest are a
// valid operation, so that nothing else needs a check.
#include "trace/internal.h"

enum { HEAD = 0, LANES = 1, WARP = 2, LAUNCH = 3, UNIT = 4, FURTHER = 2048 };
static const uint32_t TOP = 0x80000000u;

static uint32_t format_of(const uint32_t *w) { return w[HEAD] >> 24 & 0x7F; }
static uint32_t planes_of(const uint32_t *w) { return 1u << (w[LAUNCH] >> 28 & 3); }

// OFFSETS and FAR exclude one another and need an address.
#define POSSIBLE(f) \
  (!(((f)&WG_TRACE_OFFSETS && (f)&WG_TRACE_FAR) || \
     ((f) & (WG_TRACE_OFFSETS | WG_TRACE_FAR) && !((f)&WG_TRACE_ADDRESS))))
#define PLANE(f, p) \
  ((!!((f)&WG_TRACE_VALUES) + !!((f)&WG_TRACE_OLD)) * ((f)&WG_TRACE_SPLIT ? 2 : 1) * (1 << (p)))
#define FIXED(f, p) \
  (POSSIBLE(f) && (p) < 3 \
       ? 4 + ((f)&WG_TRACE_ADDRESS ? 4 : 0) + ((f)&WG_TRACE_ONE_VALUE ? PLANE(f, p) : 0) \
       : 0)
#define EACH(f, p) \
  (((f)&WG_TRACE_OFFSETS ? 1 : 0) + ((f)&WG_TRACE_FAR ? 2 : 0) + \
   ((f)&WG_TRACE_ONE_VALUE ? 0 : PLANE(f, p)))
#define SHAPE1(f, p) \
  { FIXED(f, p), EACH(f, p) }
#define SHAPE4(f, p) SHAPE1(f, p), SHAPE1((f) + 1, p), SHAPE1((f) + 2, p), SHAPE1((f) + 3, p)
#define SHAPE16(f, p) SHAPE4(f, p), SHAPE4((f) + 4, p), SHAPE4((f) + 8, p), SHAPE4((f) + 12, p)
#define SHAPES(p) \
  { \
    SHAPE16(0, p), SHAPE16(16, p), SHAPE16(32, p), SHAPE16(48, p), SHAPE16(64, p), SHAPE16(80, p), \
        SHAPE16(96, p), SHAPE16(112, p) \
  }
const RawShape raw_shapes[4][128] = {SHAPES(0), SHAPES(1), SHAPES(2), SHAPES(3)};

static inline bool complete(const uint8_t *record, size_t n) {
  typedef uint32_t Four __attribute__((vector_size(16)));
  typedef uint32_t Eight __attribute__((vector_size(32)));
  Four zero = {0};
  Eight zeros = {0};
  size_t i = 0;
  for (; i + 32 <= n; i += 32) {
    Eight v;
    memcpy(&v, record + i, 32);
    zeros |= (Eight)(v == 0);
  }
  for (; i < n; i += 16) {
    Four v;
    memcpy(&v, record + i, 16);
    zero |= (Four)(v == 0);
  }
  return !(zero[0] | zero[1] | zero[2] | zero[3] | zeros[0] | zeros[1] | zeros[2] | zeros[3] |
           zeros[4] | zeros[5] | zeros[6] | zeros[7]);
}
bool raw_complete(const uint8_t *record, size_t n) { return complete(record, n); }

static inline bool words_there(const uint32_t *w, uint32_t n) {
  uint32_t some = n & 3;
  for (uint32_t i = 0; i < some; i++)
    if (!w[n - 1 - i]) return false;
  return complete((const uint8_t *)w, (n - some) * 4);
}

NEWER_TOO RawState raw_look(const uint32_t *w, size_t length, size_t *used, uint32_t *rows) {
  *used = length;
  *rows = 1;
  if (!raw_is_wide(w) && !complete((const uint8_t *)w, length)) return RAW_MISSING;
  if (raw_is_group(w)) {
    uint32_t units = raw_group_units(w), begin, rest;
    if (units * 4 > length) return RAW_DAMAGED;
    if (!complete((const uint8_t *)w, units * 4)) return RAW_MISSING;
    *rows = raw_group_rows(w, &begin, &rest);
    if (!*rows) return RAW_DAMAGED;
    *used = 4 * (units + rest);
    return words_there(w + begin, rest) ? RAW_COMPLETE : RAW_MISSING;
  }
  const RawShape *s = &raw_shapes[w[LAUNCH] >> 28 & 3][format_of(w)];
  uint32_t units = format_of(w) & WG_TRACE_ADDRESS ? 8 : 4,
           rest = (uint32_t)__builtin_popcount(w[LANES]) * s->each + s->fixed - units;
  *used = 4 * (units + rest);
  return words_there(w + UNIT, units - UNIT) && words_there(w + raw_begin(w, units, rest), rest)
             ? RAW_COMPLETE
             : RAW_MISSING;
}

RawSeen raw_seen(const uint32_t *w, size_t length, size_t used, uint32_t rows) {
  RawSeen s = {
      .words = w, .length = length, .used = used, .rows = rows, .units = (uint32_t)(length / 4)};
  if (!raw_is_wide(w)) return s;
  s.units = raw_is_group(w) ? raw_group_units(w) : format_of(w) & WG_TRACE_ADDRESS ? 8 : 4;
  s.rest = (uint32_t)(used / 4) - s.units;
  s.begin = raw_begin(w, s.units, s.rest);
  return s;
}

NEWER_TOO bool raw_again(const uint32_t *w, const RawSeen *s) {
  const uint32_t *before = s->words;
  if (!before || w[HEAD] != before[HEAD] || w[LANES] != before[LANES] ||
      w[LAUNCH] != before[LAUNCH])
    return false;
  // records come from memory, and processors stop prefetching at the end of a page of 4 KB
  for (size_t i = 0; i < s->length; i += 64) __builtin_prefetch((const uint8_t *)w + FURTHER + i);
  if (raw_is_group(w) && !raw_same_group(w, before)) return false;
  return words_there(w, s->units) && words_there(w + s->begin, s->rest);
}

uint64_t raw_place_key(const uint32_t *w) {
  return (w[HEAD] & ~TOP & ~((uint32_t)WG_TRACE_SPLIT << 24)) | (uint64_t)(w[LAUNCH] >> 28 & 3)
                                                                    << 32;
}

TracePlace raw_place(uint64_t key) {
  uint32_t format = (uint32_t)key >> 24 & 0x7F;
  TracePlace p = {.site = (uint32_t)key & 0xFFFFFF, .planes = (uint8_t)(1u << (key >> 32 & 3))};
  if (format & (WG_TRACE_OFFSETS | WG_TRACE_FAR)) p.has |= ROW_EACH;
  else if (format & WG_TRACE_ADDRESS) p.has |= ROW_AFFINE;
  if (format & WG_TRACE_VALUES) p.has |= ROW_VALUES;
  if (format & WG_TRACE_OLD) p.has |= ROW_OLD;
  if (format & WG_TRACE_ONE_VALUE) p.has |= ROW_ONE;
  return p;
}

uint64_t raw_key_of(const TracePlace *p) {
  uint32_t format = (p->has & (ROW_AFFINE | ROW_EACH) ? WG_TRACE_ADDRESS : 0) |
                    (p->has & ROW_EACH ? WG_TRACE_OFFSETS : 0) |
                    (p->has & ROW_VALUES ? WG_TRACE_VALUES : 0) |
                    (p->has & ROW_OLD ? WG_TRACE_OLD : 0) |
                    (p->has & ROW_ONE ? WG_TRACE_ONE_VALUE : 0);
  return p->site | format << 24 | (uint64_t)(p->planes == 4 ? 2 : p->planes == 2) << 32;
}

static const uint64_t ADDRESS_MASK = (1ull << 62) - 1;
static int32_t sign31(uint32_t w) { return (int32_t)(w << 1) >> 1; }
static uint64_t pair31(uint32_t low, uint32_t high) {
  return (low & ~TOP) | (uint64_t)(high & ~TOP) << 31;
}

MANY_AT_A_TIME const uint32_t *raw_expand(const uint32_t *w, TraceRow *row, uint64_t *addresses,
                                          uint32_t *naddresses, uint32_t *unsplit,
                                          uint32_t *nunsplit) {
  uint32_t format = format_of(w), lanes = (uint32_t)__builtin_popcount(w[LANES]);
  *row = (TraceRow){.warp = raw_warp(w), .lanes = w[LANES], .addresses = *naddresses};
  const uint32_t *at = w + UNIT;
  const RawShape *s = &raw_shapes[w[LAUNCH] >> 28 & 3][format];
  uint32_t units = format & WG_TRACE_ADDRESS ? 8 : 4;
  if (format & WG_TRACE_ADDRESS) {
    row->base = pair31(at[0], at[1]);
    row->stride = sign31(at[2]);
    row->time = at[3] & ~TOP;
  }
  at = w + raw_begin(w, units, lanes * s->each + s->fixed - units);
  if (format & (WG_TRACE_OFFSETS | WG_TRACE_FAR)) {
    uint64_t *to = addresses + *naddresses;
    if (format & WG_TRACE_OFFSETS) {
      for (uint32_t i = 0; i < lanes; i++)
        to[i] = (row->base + (uint64_t)(int64_t)sign31(at[i])) & ADDRESS_MASK;
      at += lanes;
    } else {
      for (uint32_t i = 0; i < lanes; i++) to[i] = pair31(at[2 * i], at[2 * i + 1]);
      at += 2 * lanes;
    }
    *naddresses += lanes;
    row->base = 0;
    row->stride = 0;
  }
  if (!(format & WG_TRACE_SPLIT)) return at;
  uint32_t n = (format & WG_TRACE_ONE_VALUE ? 1 : lanes) * planes_of(w) *
               (!!(format & WG_TRACE_VALUES) + !!(format & WG_TRACE_OLD));
  uint32_t *to = unsplit + *nunsplit;
  for (uint32_t i = 0; i < n; i++)
    to[i] = ((at[2 * i] & 0xFFFF) | at[2 * i + 1] << 16) ^ (uint32_t)WG_TRACE_KEY;
  *nunsplit += n;
  return to;
}
