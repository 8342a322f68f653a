// Rows of a block become columns.
#include "trace/predict.h"

static void write_places(ColumnCoder *c, const BlockInput *in, Bytes *out) {
  Bytes col = {0};
  for (unsigned b = 0; b < place_bytes(in->nplaces); b++)
    for (uint32_t i = 0; i < in->nrows; i++) bytes_u8(&col, (uint8_t)(in->rows[i].place >> 8 * b));
  column_write(c, out, col.data, col.len);
  bytes_free(&col);
}

static void write_warps(ColumnCoder *c, const BlockInput *in, Bytes *out) {
  Bytes col = {0};
  uint64_t last = 0;
  for (uint32_t i = 0; i < in->nrows;) {
    uint32_t from = i;
    while (i < in->nrows && in->rows[i].warp == in->rows[from].warp) i++;
    bytes_varint(&col, in->rows[from].warp - last);
    bytes_varint(&col, i - from);
    last = in->rows[from].warp;
  }
  column_write(c, out, col.data, col.len);
  bytes_free(&col);
}

// 0: as in the row before; 1: all; 2: given
static void write_lanes(ColumnCoder *c, const BlockInput *in, Bytes *out) {
  Bytes how = {0}, masks = {0};
  uint32_t last = 0;
  for (uint32_t i = 0; i < in->nrows; i++) {
    uint32_t lanes = in->rows[i].lanes;
    bytes_u8(&how, lanes == last ? 0 : lanes == UINT32_MAX ? 1 : 2);
    if (lanes != last && lanes != UINT32_MAX) bytes_add(&masks, &lanes, 4);
    last = lanes;
  }
  column_write(c, out, how.data, how.len);
  column_write_words(c, out, (const uint32_t *)masks.data, masks.len / 4);
  bytes_free(&how);
  bytes_free(&masks);
}

static void write_bases(ColumnCoder *c, const BlockInput *in, Bytes *out) {
  Bytes bases = {0}, strides = {0}, times = {0};
  BaseState *states = mem_alloc(sizeof *states * (in->nplaces + 1));
  TimeState time = {0};
  for (uint32_t i = 0; i < in->nrows; i++) {
    const TraceRow *r = &in->rows[i];
    uint8_t has = in->places[r->place].has;
    if (!(has & (ROW_AFFINE | ROW_EACH))) continue;
    bytes_varint(&times, zigzag((int32_t)(r->time - time_expected(&time, r->warp))));
    time_seen(&time, r->warp, r->time);
    if (!(has & ROW_AFFINE)) continue;
    BaseState *s = &states[r->place];
    bytes_varint(&bases, zigzag((int64_t)(r->base - base_expected(s, r->warp))));
    bytes_varint(&strides, zigzag((int64_t)r->stride - s->stride));
    base_seen(s, r->warp, r->base, r->stride);
  }
  column_write(c, out, bases.data, bases.len);
  column_write(c, out, strides.data, strides.len);
  column_write(c, out, times.data, times.len);
  free(states);
  bytes_free(&bases);
  bytes_free(&strides);
  bytes_free(&times);
}

// Addresses of single lanes: per place the least one and a shift; what is left as planes of bytes, either from the least one or from lane to lane.
typedef struct Spread { uint64_t least, most, bits; } Spread;
static void spreads(const BlockInput *in, Spread *s) {
  for (uint32_t p = 0; p < in->nplaces; p++) s[p] = (Spread){.least = UINT64_MAX};
  for (uint32_t i = 0; i < in->nrows; i++) {
    const TraceRow *r = &in->rows[i];
    if (!(in->places[r->place].has & ROW_EACH)) continue;
    Spread *x = &s[r->place];
    for (uint32_t k = 0, n = (uint32_t)__builtin_popcount(r->lanes); k < n; k++) {
      uint64_t a = in->addresses[r->addresses + k];
      if (x->least != UINT64_MAX) x->bits |= a ^ x->least;
      x->least = MIN(x->least, a), x->most = MAX(x->most, a);
    }
  }
}

static void write_addresses(ColumnCoder *c, const BlockInput *in, Bytes *out) {
  bytes_varint(out, in->naddresses);
  if (!in->naddresses) return;
  Spread *s = mem_alloc(sizeof *s * in->nplaces);
  uint64_t *rest = mem_alloc(sizeof *rest * in->naddresses * 2), *steps = rest + in->naddresses, all = 0, all_steps = 0, cost = 0, cost_steps = 0;
  spreads(in, s);
  for (uint32_t p = 0; p < in->nplaces; p++) {
    if (!(in->places[p].has & ROW_EACH)) continue;
    unsigned shift = s[p].least == UINT64_MAX || !s[p].bits ? 0 : MIN((unsigned)__builtin_ctzll(s[p].bits), 15u);
    bytes_varint(out, s[p].least == UINT64_MAX ? 0 : s[p].least);
    bytes_varint(out, shift);
    s[p].bits = shift;
  }
  for (uint32_t i = 0, at = 0; i < in->nrows; i++) {
    const TraceRow *r = &in->rows[i];
    if (!(in->places[r->place].has & ROW_EACH)) continue;
    uint64_t before = 0;
    for (uint32_t k = 0, n = (uint32_t)__builtin_popcount(r->lanes); k < n; k++, at++) {
      rest[at] = (in->addresses[r->addresses + k] - s[r->place].least) >> s[r->place].bits;
      steps[at] = zigzag((int64_t)(rest[at] - before));
      before = rest[at];
      all |= rest[at], all_steps |= steps[at];
      cost += 64 - (unsigned)__builtin_clzll(rest[at] | 1), cost_steps += 64 - (unsigned)__builtin_clzll(steps[at] | 1);
    }
  }
  bool by_steps = cost_steps < cost;
  const uint64_t *from = by_steps ? steps : rest;
  unsigned bytes = (64 - (unsigned)__builtin_clzll((by_steps ? all_steps : all) | 1) + 7) / 8;
  bytes_u8(out, (uint8_t)by_steps);
  bytes_u8(out, (uint8_t)bytes);
  uint8_t *plane = mem_alloc(in->naddresses);
  for (unsigned b = 0; b < bytes; b++) {
    for (uint32_t i = 0; i < in->naddresses; i++) plane[i] = (uint8_t)(from[i] >> 8 * b);
    column_write(c, out, plane, in->naddresses);
  }
  free(plane);
  free(rest);
  free(s);
}

void block_write(ColumnCoder *c, const BlockInput *in, Bytes *out) {
  bytes_varint(out, in->nrows);
  bytes_varint(out, in->nwords);
  write_places(c, in, out);
  write_warps(c, in, out);
  write_lanes(c, in, out);
  write_bases(c, in, out);
  write_addresses(c, in, out);
  values_write(c, in, out);
}
