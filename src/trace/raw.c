// Records as the device wrote them (probe/trace_abi.h). raw_length decides whether a head can be right; the rest then has a
// known length and every content is some operation, so that nothing else needs to be believed.
#include "trace/internal.h"

enum { HEAD = 0, LANES = 1, WARP = 2, LAUNCH = 3, UNIT = 4 };
static const uint32_t TOP = 0x80000000u;

static uint32_t format_of(const uint32_t *w) { return w[HEAD] >> 24 & 0x7F; }
static uint32_t planes_of(const uint32_t *w) { return 1u << (w[LAUNCH] >> 28 & 3); }

size_t raw_length(const uint32_t *w) {
  if (raw_is_group(w)) return (w[HEAD] & w[WARP] & w[LAUNCH] & TOP) && w[LANES] ? raw_group_length(w) : 0;
  uint32_t format = format_of(w), lanes = (uint32_t)__builtin_popcount(w[LANES]);
  if (!(w[HEAD] & w[WARP] & w[LAUNCH] & TOP) || !lanes || planes_of(w) == 8) return 0;
  if ((format & WG_TRACE_OFFSETS && format & WG_TRACE_FAR) || (format & (WG_TRACE_OFFSETS | WG_TRACE_FAR) && !(format & WG_TRACE_ADDRESS))) return 0;
  uint32_t plane = (format & WG_TRACE_ONE_VALUE ? 1 : lanes) * (format & WG_TRACE_SPLIT ? 2 : 1) * planes_of(w), words = 4;
  if (format & WG_TRACE_ADDRESS) words += 4;
  if (format & WG_TRACE_OFFSETS) words += lanes;
  if (format & WG_TRACE_FAR) words += 2 * lanes;
  if (format & WG_TRACE_VALUES) words += plane;
  if (format & WG_TRACE_OLD) words += plane;
  return (words * 4 + 15) & ~15u;
}

bool raw_complete(const uint8_t *record, size_t n) {
  typedef uint32_t Four __attribute__((vector_size(16)));
  Four zero = {0};
  for (size_t i = 0; i < n; i += 16) {
    Four v;
    memcpy(&v, record + i, 16);
    zero |= (Four)(v == 0);
  }
  return !(zero[0] | zero[1] | zero[2] | zero[3]);
}

uint64_t raw_warp(const uint32_t *w) { return (w[WARP] & ~TOP) | (uint64_t)(w[LAUNCH] >> 24 & 15) << 31; }

uint64_t raw_place_key(const uint32_t *w) { return (w[HEAD] & ~TOP & ~((uint32_t)WG_TRACE_SPLIT << 24)) | (uint64_t)(w[LAUNCH] >> 28 & 3) << 32; }

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
  uint32_t format = (p->has & (ROW_AFFINE | ROW_EACH) ? WG_TRACE_ADDRESS : 0) | (p->has & ROW_EACH ? WG_TRACE_OFFSETS : 0) | (p->has & ROW_VALUES ? WG_TRACE_VALUES : 0) |
                    (p->has & ROW_OLD ? WG_TRACE_OLD : 0) | (p->has & ROW_ONE ? WG_TRACE_ONE_VALUE : 0);
  return p->site | format << 24 | (uint64_t)(p->planes == 4 ? 2 : p->planes == 2) << 32;
}

static const uint64_t ADDRESS_MASK = (1ull << 62) - 1;
static int32_t sign31(uint32_t w) { return (int32_t)(w << 1) >> 1; }
static uint64_t pair31(uint32_t low, uint32_t high) { return (low & ~TOP) | (uint64_t)(high & ~TOP) << 31; }

void raw_expand(const uint32_t *w, TraceRow *row, uint64_t *addresses, uint32_t *naddresses, uint32_t *values, uint32_t *nvalues) {
  uint32_t format = format_of(w), lanes = (uint32_t)__builtin_popcount(w[LANES]);
  *row = (TraceRow){.warp = raw_warp(w), .lanes = w[LANES], .addresses = *naddresses, .words = *nvalues};
  const uint32_t *at = w + UNIT;
  if (format & WG_TRACE_ADDRESS) {
    row->base = pair31(at[0], at[1]);
    row->stride = sign31(at[2]);
    row->time = at[3] & ~TOP;
    at += 4;
  }
  if (format & WG_TRACE_OFFSETS) {
    for (uint32_t i = 0; i < lanes; i++) addresses[*naddresses + i] = (row->base + (uint64_t)(int64_t)sign31(at[i])) & ADDRESS_MASK;
    *naddresses += lanes, at += lanes;
  } else if (format & WG_TRACE_FAR) {
    for (uint32_t i = 0; i < lanes; i++) addresses[*naddresses + i] = pair31(at[2 * i], at[2 * i + 1]);
    *naddresses += lanes, at += 2 * lanes;
  }
  if (format & (WG_TRACE_OFFSETS | WG_TRACE_FAR)) row->base = 0, row->stride = 0;
  uint32_t n = (format & WG_TRACE_ONE_VALUE ? 1 : lanes) * planes_of(w) * (!!(format & WG_TRACE_VALUES) + !!(format & WG_TRACE_OLD));
  uint32_t *to = values + *nvalues;
  if (format & WG_TRACE_SPLIT)
    for (uint32_t i = 0; i < n; i++) to[i] = (at[2 * i] & 0xFFFF) | at[2 * i + 1] << 16;
  else
    for (uint32_t i = 0; i < n; i++) to[i] = at[i] ^ (uint32_t)WG_TRACE_KEY;
  *nvalues += n;
}
