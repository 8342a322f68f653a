// Groups (probe/trace_abi.h): one record that stands for all operations of a piece of straight
// code, once or for several iterations of a loop.
#include "trace/internal.h"

enum { HEAD = 0, LANES = 1, COUNTS = 4, TURNS = 5, CLOCK = 6, FIRST_WORD = 7 };
static const uint32_t TOP = 0x80000000u;
static const uint64_t ADDRESS_MASK = (1ull << 62) - 1;

static int64_t sign31(uint32_t w) { return (int32_t)(w << 1) >> 1; }
static uint64_t pair31(uint32_t low, uint32_t high) {
  return (low & ~TOP) | (uint64_t)(high & ~TOP) << 31;
}

size_t raw_group_length(const uint32_t *w) {
  if (!w[COUNTS]) return RAW_UNFINISHED;
  size_t length = 16 * (w[COUNTS] >> 12 & 0xFFF);
  return w[COUNTS] & TOP && length >= 48 && length <= WG_TRACE_MAX ? length : 0;
}

// From an operation's word d.
static uint32_t planes_of(uint32_t d) { return (d >> 24 & 3) == 3 ? 4 : d >> 24 & 3; }
static bool has_one_value(uint32_t d, uint32_t each, const uint32_t *units) {
  uint32_t unit = d >> 27 & 15;
  return d & WG_TRACE_GROUP_LOAD && !(each >> unit & 1) && !(units[4 * unit + 2] & ~TOP);
}

// Called for every record that comes out of a ring, so it stores nothing.
uint32_t raw_group_units(const uint32_t *w) {
  return ((FIRST_WORD + (w[COUNTS] & 0xFF) + 3u) & ~3u) + 4 * (w[COUNTS] >> 8 & 15);
}

NEWER_TOO uint32_t raw_group_rows(const uint32_t *w, uint32_t *begin, uint32_t *rest) {
  uint32_t format = w[HEAD] >> 24 & 0x7F, lanes = (uint32_t)__builtin_popcount(w[LANES]),
           each = w[TURNS] >> 16 & 0xFF;
  uint32_t nops = w[COUNTS] & 0xFF, nunits = w[COUNTS] >> 8 & 15, turns = w[TURNS] & 0xFFFF;
  bool split = format & WG_TRACE_SPLIT, far = format & WG_TRACE_GROUP_FAR;
  size_t length = raw_group_length(w);
  if (!length || length == RAW_UNFINISHED || !nops || nops > WG_TRACE_GROUP_OPS || !nunits ||
      nunits > WG_TRACE_GROUP_UNITS || !turns || turns > WG_TRACE_GROUP_TURNS)
    return 0;
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
  return (raw_is_wide(w) ? raw_wide(at) == words : at <= words && words - at < 4) ? nops * turns
                                                                                  : 0;
}

NEWER_TOO bool raw_group_read(const uint32_t *w, RawGroup *g) {
  uint32_t format = w[HEAD] >> 24 & 0x7F, lanes = (uint32_t)__builtin_popcount(w[LANES]),
           each = w[TURNS] >> 16 & 0xFF;
  uint32_t at, rest, rows = raw_group_rows(w, &at, &rest);
  if (!rows) return false;
  g->raw = w;
  g->rows = rows;
  g->nops = w[COUNTS] & 0xFF;
  g->nunits = w[COUNTS] >> 8 & 15;
  g->split = format & WG_TRACE_SPLIT;
  g->far = format & WG_TRACE_GROUP_FAR;
  g->units = (FIRST_WORD + g->nops + 3u) & ~3u;
  for (uint32_t u = 0; u < g->nunits; u++) {
    g->offsets[u] = each >> u & 1 ? at : 0;
    if (each >> u & 1) at += g->far ? 2 * lanes : lanes;
  }
  for (uint32_t i = 0; i < g->nops; i++) {
    uint32_t d = w[FIRST_WORD + i], unit = d >> 27 & 15, planes = planes_of(d);
    bool one = has_one_value(d, each, w + g->units);
    RawGroupOp *o = &g->ops[i];
    *o = (RawGroupOp){.values = planes ? at : 0,
                      .nwords = planes * (one ? 1 : lanes),
                      .unit = unit,
                      .distance = (int32_t)(d << 8) >> 8};
    o->kind = (TracePlace){.site = ((w[HEAD] & 0xFFFFFF) + i) & 0xFFFFFF,
                           .planes = (uint8_t)(planes ? planes : 1)};
    o->kind.has = (uint8_t)((g->offsets[unit] ? ROW_EACH : ROW_AFFINE) |
                            (planes ? ROW_VALUES | (one ? ROW_ONE : 0) : 0));
    at += o->nwords << g->split;
  }
  return true;
}

MANY_AT_A_TIME static void far_addresses(const uint32_t *each, uint32_t n, uint64_t moved,
                                         uint64_t *to) {
  for (uint32_t k = 0; k < n; k++)
    to[k] = (pair31(each[2 * k], each[2 * k + 1]) + moved) & ADDRESS_MASK;
}
MANY_AT_A_TIME static void near_addresses(const uint32_t *each, uint32_t n, uint64_t base,
                                          uint64_t *to) {
  for (uint32_t k = 0; k < n; k++) to[k] = (base + (uint64_t)sign31(each[k])) & ADDRESS_MASK;
}

NEWER_TOO void raw_group_expand(const RawGroup *g, const uint32_t *w, uint32_t part, uint32_t n,
                                RowsOut *out) {
  TraceRow *rows = out->rows;
  const uint32_t **words = out->values;
  uint32_t i = part % g->nops, turn = part / g->nops,
           lanes = (uint32_t)__builtin_popcount(w[LANES]), have = out->naddresses;
  uint64_t at[WG_TRACE_GROUP_UNITS], step[WG_TRACE_GROUP_UNITS], warp = raw_warp(w);
  for (uint32_t u = 0; u < g->nunits; u++) {
    const uint32_t *unit = w + g->units + 4 * u;
    step[u] = (uint64_t)sign31(unit[3]);
    at[u] = (g->far && g->offsets[u] ? 0 : pair31(unit[0], unit[1])) + step[u] * turn;
  }
  for (uint32_t k = 0; k < n; k++) {
    const RawGroupOp *o = &g->ops[i];
    uint64_t base = at[o->unit] + (uint64_t)(int64_t)o->distance;
    bool each = g->offsets[o->unit];
    rows[k] = (TraceRow){.warp = warp,
                         .lanes = w[LANES],
                         .time = w[CLOCK] & ~TOP,
                         .place = o->place,
                         .addresses = have};
    if (!each) {
      rows[k].base = base & ADDRESS_MASK;
      rows[k].stride = (int32_t)sign31(w[g->units + 4 * o->unit + 2]);
    } else {
      (g->far ? far_addresses : near_addresses)(w + g->offsets[o->unit], lanes, base,
                                                out->addresses + have);
      have += lanes;
    }
    words[k] = o->values ? w + o->values : NULL;
    out->nwords += o->nwords;
    if (g->split && o->values) {
      uint32_t *to = out->unsplit + out->nunsplit;
      const uint32_t *from = words[k];
      for (uint32_t j = 0; j < o->nwords; j++)
        to[j] = ((from[2 * j] & 0xFFFF) | from[2 * j + 1] << 16) ^ (uint32_t)WG_TRACE_KEY;
      out->nunsplit += o->nwords;
      words[k] = to;
    }
    if (++i < g->nops) continue;
    i = 0;
    for (uint32_t u = 0; u < g->nunits; u++) at[u] += step[u];
  }
  out->naddresses = have;
}
