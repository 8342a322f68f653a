// Columns become rows again. The contents of the file are not trusted: anything that does not fit
// makes the block a damaged one.
#include "trace/format/predict.h"

// The streams that the first column has.
static bool read_streams(ColumnCoder *c, Reading *from, TraceBlock *b, Reading *streams) {
  uint64_t n[STREAMS],
      all = 0, most = (uint64_t)b->nrows * (3 + 1 + 20 + 4 + 10 + 10 + 10 + ROW_WORDS_MAX / 8);
  for (unsigned s = 0; s < STREAMS; s++) {
    n[s] = reading_varint(from);
    if (n[s] > most) return false;
    all += n[s];
  }
  Reading col;
  if (from->bad || all > most || !column_read(c, from, &b->arena, all, &col) ||
      (uint64_t)(col.end - col.at) != all)
    return false;
  for (unsigned s = 0; s < STREAMS; s++) {
    streams[s] = (Reading){col.at, col.at + n[s], false};
    col.at += n[s];
  }
  b->flags = streams[STREAM_FLAGS].at;
  b->masks = streams[STREAM_MASKS];
  return n[STREAM_FLAGS] == b->nrows &&
         n[STREAM_PLACES] == (uint64_t)b->nrows * place_bytes(b->nplaces);
}

static bool read_places(const Reading *col, TraceBlock *b) {
  uint32_t n = b->nrows;
  for (unsigned k = 0; k < place_bytes(b->nplaces); k++)
    for (uint32_t i = 0; i < n; i++) b->rows[i].place |= (uint32_t)col->at[k * n + i] << 8 * k;
  for (uint32_t i = 0; i < n; i++)
    if (b->rows[i].place >= b->nplaces) return false;
  return true;
}

static bool read_warps(Reading *col, TraceBlock *b) {
  uint64_t warp = 0;
  for (uint32_t i = 0; i < b->nrows;) {
    warp += reading_varint(col);
    uint64_t run = reading_varint(col);
    if (col->bad || !run || run > b->nrows - i || warp >> 35) return false;
    for (uint64_t k = 0; k < run; k++) b->rows[i++].warp = warp;
  }
  return true;
}

static bool read_rows(ColumnCoder *c, Reading *streams, TraceBlock *b) {
  BaseState *states = (BaseState *)column_coder_scratch(c, CODER_STATES,
                                                        sizeof *states * (b->nplaces + 1));
  memset(states, 0, sizeof *states * (b->nplaces + 1));
  TimeState time = {0};
  uint32_t lanes = 0;
  for (uint32_t i = 0; i < b->nrows; i++) {
    TraceRow *r = &b->rows[i];
    uint8_t has = b->places[r->place].has, flags = b->flags[i], how = flags & FLAG_LANES;
    if (how == LANES_ALL) lanes = UINT32_MAX;
    else if (how == LANES_GIVEN) lanes = reading_u32(&streams[STREAM_LANES]);
    if (!lanes || how > LANES_GIVEN) return false;
    r->lanes = lanes;
    if (!(has & (ROW_AFFINE | ROW_EACH))) continue;
    r->time = time_expected(&time, r->warp) +
              (uint32_t)unzigzag(reading_varint(&streams[STREAM_TIMES]));
    time_seen(&time, r->warp, r->time);
    if (!(has & ROW_AFFINE)) continue;
    BaseState *s = &states[r->place];
    uint64_t off = flags & FLAG_BASE ? (uint64_t)unzigzag(reading_varint(&streams[STREAM_BASES]))
                                     : 0;
    r->base = (base_expected(s, r->warp) + off) & TRACE_ADDRESS_MASK;
    r->stride = (int32_t)((uint32_t)s->stride +
                          (flags & FLAG_STRIDE
                               ? (uint32_t)unzigzag(reading_varint(&streams[STREAM_STRIDES]))
                               : 0));
    base_seen(s, r->warp, r->base, r->stride);
  }
  return !streams[STREAM_LANES].bad && !streams[STREAM_TIMES].bad && !streams[STREAM_BASES].bad &&
         !streams[STREAM_STRIDES].bad;
}

// Computes addresses from their stored lower and upper halves.
MANY_AT_A_TIME static void place_low(const uint32_t *restrict low, uint32_t n, uint64_t least,
                                     unsigned shift, uint64_t *restrict to) {
  for (uint32_t k = 0; k < n; k++)
    to[k] = (least + ((uint64_t)low[k] << shift)) & TRACE_ADDRESS_MASK;
}
// high: NULL if all upper halves are 0; by_steps: each is relative to the one before
typedef struct AddressHalves {
  const uint32_t *low, *high;
  uint32_t n;
  bool by_steps;
  uint64_t least;
  unsigned shift;
} AddressHalves;
static void place_row(const AddressHalves *h, uint64_t *to) {
  if (!h->high && !h->by_steps) {
    place_low(h->low, h->n, h->least, h->shift, to);
    return;
  }
  uint64_t before = 0;
  for (uint32_t k = 0; k < h->n; k++) {
    uint64_t kept = h->low[k] | (uint64_t)(h->high ? h->high[k] : 0) << 32,
             rest = h->by_steps ? before + (uint64_t)unzigzag(kept) : kept;
    to[k] = (h->least + (rest << h->shift)) & TRACE_ADDRESS_MASK;
    before = rest;
  }
}

// n words of the next column, in memory of the coder.
static uint32_t *read_half(ColumnCoder *c, Reading *from, unsigned scratch, uint64_t n) {
  WordColumn col;
  Arena planes = {0};  // of which nothing stays
  uint32_t *words = NULL;
  if (column_open_words(c, from, &planes, n, &col) && col.n == n) {
    words = (uint32_t *)column_coder_scratch(c, scratch, sizeof *words * n);
    column_join_words(&col, words);
  }
  arena_free(&planes);
  return words;
}

NEWER_TOO static bool read_addresses(ColumnCoder *c, Reading *from, TraceBlock *b) {
  uint64_t n = reading_varint(from), wanted = 0;
  for (uint32_t i = 0; i < b->nrows; i++) {
    TraceRow *r = &b->rows[i];
    if (!(b->places[r->place].has & ROW_EACH)) continue;
    r->addresses = (uint32_t)wanted;
    wanted += (unsigned)__builtin_popcount(r->lanes);
  }
  if (n != wanted) return false;
  if (!n) return true;
  uint64_t *least = ARENA_ARRAY(&b->arena, uint64_t, b->nplaces);
  uint8_t *shift = ARENA_ARRAY(&b->arena, uint8_t, b->nplaces);
  for (uint32_t p = 0; p < b->nplaces; p++) {
    if (!(b->places[p].has & ROW_EACH)) continue;
    least[p] = reading_varint(from);
    shift[p] = (uint8_t)reading_varint(from) & 15;
  }
  uint8_t by_steps = reading_u8(from), planes = reading_u8(from);
  if (from->bad || planes > 8) return false;
  const uint32_t *low = read_half(c, from, CODER_RESTS, n),
                 *high = low && planes > 4 ? read_half(c, from, CODER_STEPS, n) : NULL;
  if (!low || (planes > 4 && !high)) return false;
  b->addresses = arena_alloc_uncleared(&b->arena, n * sizeof *b->addresses);
  for (uint32_t i = 0; i < b->nrows; i++) {
    const TraceRow *r = &b->rows[i];
    if (!(b->places[r->place].has & ROW_EACH)) continue;
    AddressHalves halves = {.low = low + r->addresses,
                            .high = high ? high + r->addresses : NULL,
                            .n = (uint32_t)__builtin_popcount(r->lanes),
                            .by_steps = by_steps,
                            .least = least[r->place],
                            .shift = shift[r->place]};
    place_row(&halves, b->addresses + r->addresses);
  }
  return true;
}

NEWER_TOO bool block_read(ColumnCoder *c, const uint8_t *data, size_t n, const TracePlace *places,
                          uint32_t nplaces, TraceBlock *b) {
  Reading from = {data, data + n, false};
  uint64_t nrows = reading_varint(&from), nwords = reading_varint(&from);
  if (from.bad || !nrows || nrows > BLOCK_ROWS || nwords > (uint64_t)BLOCK_ROWS * ROW_WORDS_MAX)
    return false;
  b->places = places;
  b->nplaces = nplaces;
  b->nrows = (uint32_t)nrows;
  b->nwords = (uint32_t)nwords;
  b->rows = arena_alloc_uncleared(&b->arena, sizeof *b->rows * nrows);
  memset(b->rows, 0, sizeof *b->rows * nrows);
  Reading streams[STREAMS];
  if (!read_streams(c, &from, b, streams) || !read_places(&streams[STREAM_PLACES], b) ||
      !read_warps(&streams[STREAM_WARPS], b) || !read_rows(c, streams, b) ||
      !read_addresses(c, &from, b))
    return false;
  uint64_t words = 0;
  for (uint32_t i = 0; i < nrows; i++) {
    b->rows[i].words = (uint32_t)words;
    words += row_words(&b->places[b->rows[i].place], b->rows[i].lanes);
  }
  if (words != nwords) return false;
  size_t rest = (size_t)(from.end - from.at);
  uint8_t *copy = arena_alloc_uncleared(&b->arena, rest + 1);
  memcpy(copy, from.at, rest);
  b->values = (Reading){copy, copy + rest, false};
  return true;
}

bool block_read_values(ColumnCoder *c, TraceBlock *b) { return b->words || values_read(c, b); }

uint64_t row_address(const TraceBlock *b, const TraceRow *row, uint32_t lane) {
  if (b->places[row->place].has & ROW_EACH)
    return b->addresses[row->addresses + lane_rank(row->lanes, lane)];
  return (row->base + (uint64_t)((int64_t)row->stride * (int64_t)lane)) & TRACE_ADDRESS_MASK;
}
