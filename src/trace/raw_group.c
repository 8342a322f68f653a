// Groups (probe/trace_abi.h): one record that stands for all operations of a piece of straight code, once or for several iterations of a loop.
#include "trace/internal.h"

enum { HEAD = 0, LANES = 1, COUNTS = 4, TURNS = 5, CLOCK = 6, FIRST_WORD = 7 };
static const uint32_t TOP = 0x80000000u;
static const uint64_t ADDRESS_MASK = (1ull << 62) - 1;

static int64_t sign31(uint32_t w) { return (int32_t)(w << 1) >> 1; }
static uint64_t pair31(uint32_t low, uint32_t high) { return (low & ~TOP) | (uint64_t)(high & ~TOP) << 31; }

size_t raw_group_length(const uint32_t *w) {
  if (!w[COUNTS]) return RAW_UNFINISHED;
  size_t length = 16 * (w[COUNTS] >> 12 & 0xFFF);
  return w[COUNTS] & TOP && length >= 48 && length <= WG_TRACE_MAX ? length : 0;
}

// Of an operation's word d.
static uint32_t planes_of(uint32_t d) { return (d >> 24 & 3) == 3 ? 4 : d >> 24 & 3; }
static bool has_one_value(uint32_t d, uint32_t each, const uint32_t *units) {
  uint32_t unit = d >> 27 & 15;
  return d & WG_TRACE_GROUP_LOAD && !(each >> unit & 1) && !(units[4 * unit + 2] & ~TOP);
}

// Every record that comes out of a ring is asked, so nothing is written down here.
uint32_t raw_group_units(const uint32_t *w) { return ((FIRST_WORD + (w[COUNTS] & 0xFF) + 3u) & ~3u) + 4 * (w[COUNTS] >> 8 & 15); }

NEWER_TOO uint32_t raw_group_rows(const uint32_t *w, uint32_t *begin, uint32_t *rest) {
  uint32_t format = w[HEAD] >> 24 & 0x7F, lanes = (uint32_t)__builtin_popcount(w[LANES]), each = w[TURNS] >> 16 & 0xFF;
  uint32_t nops = w[COUNTS] & 0xFF, nunits = w[COUNTS] >> 8 & 15, turns = w[TURNS] & 0xFFFF;
  bool split = format & WG_TRACE_SPLIT, far = format & WG_TRACE_GROUP_FAR;
  size_t length = raw_group_length(w);
  if (!length || length == RAW_UNFINISHED || !nops || nops > WG_TRACE_GROUP_OPS || !nunits || nunits > WG_TRACE_GROUP_UNITS || !turns || turns > WG_TRACE_GROUP_TURNS) return 0;
  uint32_t words = (uint32_t)(length / 4), before = raw_group_units(w), at = 0;
  const uint32_t *units = w + before - 4 * nunits;
  if (before > words) return 0;
  at += (uint32_t)__builtin_popcount(each & ((1u << nunits) - 1)) * (far ? 2 * lanes : lanes);
  for (uint32_t i = 0; i < nops; i++) {
    uint32_t d = w[FIRST_WORD + i], planes = planes_of(d);
    if ((d >> 27 & 15) >= nunits || (planes && turns > 1)) return 0;
    at += planes * (has_one_value(d, each, units) ? 1 : lanes) << split;
  }
  *begin = raw_begin(w, before, at);
  *rest = at;
  at += *begin;
  return (raw_is_wide(w) ? raw_wide(at) == words : at <= words && words - at < 4) ? nops * turns : 0;
}

NEWER_TOO bool raw_group_read(const uint32_t *w, RawGroup *g) {
  uint32_t format = w[HEAD] >> 24 & 0x7F, lanes = (uint32_t)__builtin_popcount(w[LANES]), each = w[TURNS] >> 16 & 0xFF;
  uint32_t begin, rest;
  if (!raw_group_rows(w, &begin, &rest)) return false;
  *g = (RawGroup){.raw = w, .nops = w[COUNTS] & 0xFF, .nunits = w[COUNTS] >> 8 & 15, .turns = w[TURNS] & 0xFFFF, .split = format & WG_TRACE_SPLIT, .far = format & WG_TRACE_GROUP_FAR};
  size_t at = (FIRST_WORD + g->nops + 3u) & ~3u;
  g->units = w + at;
  at = begin;
  for (uint32_t u = 0; u < g->nunits; u++) {
    if (!(each >> u & 1)) continue;
    g->offsets[u] = w + at;
    at += g->far ? 2 * lanes : lanes;
  }
  for (uint32_t i = 0; i < g->nops; i++) {
    uint32_t d = w[FIRST_WORD + i], unit = d >> 27 & 15, planes = planes_of(d);
    bool one = has_one_value(d, each, g->units);
    g->values[i] = planes ? w + at : NULL;
    g->places[i] = (TracePlace){.site = ((w[HEAD] & 0xFFFFFF) + i) & 0xFFFFFF, .planes = (uint8_t)(planes ? planes : 1)};
    g->places[i].has = (uint8_t)((g->offsets[unit] ? ROW_EACH : ROW_AFFINE) | (planes ? ROW_VALUES | (one ? ROW_ONE : 0) : 0));
    at += (size_t)planes * (one ? 1 : lanes) << g->split;
  }
  return true;
}

NEWER_TOO const uint32_t *raw_group_expand(const RawGroup *g, uint32_t part, TraceRow *row, uint64_t *addresses, uint32_t *naddresses, uint32_t *unsplit, uint32_t *nunsplit) {
  const uint32_t *w = g->raw;
  uint32_t i = part % g->nops, turn = part / g->nops, lanes = (uint32_t)__builtin_popcount(w[LANES]), d = w[FIRST_WORD + i], unit = d >> 27 & 15;
  const uint32_t *u = g->units + 4 * unit, *each = g->offsets[unit];
  uint64_t moved = (uint64_t)((int64_t)((int32_t)(d << 8) >> 8) + sign31(u[3]) * (int64_t)turn), base = pair31(u[0], u[1]);
  *row = (TraceRow){.warp = raw_warp(w), .lanes = w[LANES], .time = w[CLOCK] & ~TOP, .addresses = *naddresses};
  if (!each) {
    row->base = (base + moved) & ADDRESS_MASK;
    row->stride = (int32_t)sign31(u[2]);
  } else {
    for (uint32_t k = 0; k < lanes; k++) {
      uint64_t address = g->far ? pair31(each[2 * k], each[2 * k + 1]) : base + (uint64_t)sign31(each[k]);
      addresses[*naddresses + k] = (address + moved) & ADDRESS_MASK;
    }
    *naddresses += lanes;
  }
  const uint32_t *at = g->values[i];
  if (!g->split || !at) return at;
  uint32_t n = row_words(&g->places[i], w[LANES]), *to = unsplit + *nunsplit;
  for (uint32_t k = 0; k < n; k++) to[k] = ((at[2 * k] & 0xFFFF) | at[2 * k + 1] << 16) ^ (uint32_t)WG_TRACE_KEY;
  *nunsplit += n;
  return to;
}
