// What is written is what is read again: columns of words of many kinds, points near and far, and
// blocks of rows that end in every way they can.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "trace/format/predict.h"

static uint64_t state;
static uint64_t next(void) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (state ^ state >> 29) * 0xBF58476D1CE4E5B9ull >> 16;
}

static uint32_t word_of(unsigned kind, size_t i) {
  float f = (float)(next() & 0xFFFFFF) / 16777216.0f;
  uint32_t bits;
  memcpy(&bits, &f, 4);
  switch (kind) {
    case 0: return 0;
    case 1: return (uint32_t)next();  // random
    case 2: return bits;              // three frequent bytes at the top
    case 3: return (uint32_t)i;       // goes up
    case 4: return (uint32_t)(next() % 3);
    case 5: return (uint32_t)next() & 0x0F00FFFF;  // a plane of 16 bytes, one of none
    case 6: return (uint32_t)(next() % 19) * 0x01010101u;
    case 7: return (uint32_t)i / 100 * 0x9E3779B1u;  // in runs
    case 8: return i % 50 ? 5 : (uint32_t)next();
    case 9:
      f = (float)(i / 32 * 7) + (float)(i % 32) * 0.37f;
      memcpy(&bits, &f, 4);
      return bits;                                          // threads side by side
    case 10: return (uint32_t)(i * 3 + next() % 5) - 1500;  // steps around zero
    default: return (uint32_t)(i % 777) * 0x85EBCA6Bu;      // comes again
  }
}

static void words(void) {
  static const size_t sizes[] = {0, 1, 3, 31, 32, 33, 64, 1000, 4099, 32768};
  ColumnCoder *c = column_coder_new();
  for (unsigned kind = 0; kind < 12; kind++)
    for (size_t s = 0; s < ARRAY_LEN(sizes); s++)
      for (unsigned planes = 1; planes <= 4; planes++) {
        size_t n = sizes[s];
        uint32_t *list = mem_alloc(4 * (n + 1));
        for (size_t i = 0; i < n; i++)
          list[i] = word_of(kind, i) & (planes == 4 ? UINT32_MAX : (1u << 8 * planes) - 1);
        Bytes out = {0};
        if (planes == 4) column_write_words(c, &out, list, n);
        else column_write_planes(c, &out, list, n, planes);
        CHECK((kind != 9 && kind != 10) || planes < 4 || n < 1000 ||
              out.len < 2 * n);  // as steps from one to the next
        bytes_u8(&out, 77);
        Arena arena = {0};
        Reading from = {out.data, out.data + out.len, false};
        uint32_t *back = mem_alloc(4 * (n + 1));
        WordColumn col;
        CHECK(column_open_words(c, &from, &arena, n, &col) && col.n == n);
        column_join_words(&col, back);
        CHECK(memcmp(back, list, 4 * n) == 0);
        for (size_t i = 0; i < n && !col.steps; i++) CHECK(column_word(&col, i) == list[i]);
        CHECK(from.end - from.at == 1 && *from.at == 77);
        if (n) {  // cut off anywhere it is damaged, and nothing worse
          Reading cut = {out.data, out.data + next() % (out.len - 1), false};
          if (column_open_words(c, &cut, &arena, n, &col)) {
            column_join_words(&col, back);
            CHECK(memcmp(back, list, 4 * n) == 0);
          }
        }
        arena_free(&arena);
        bytes_free(&out);
        free(list);
        free(back);
      }
  column_coder_free(c);
  printf("ok words\n");
}

typedef struct Point {
  uint64_t start;
  uint32_t tag;
} Point;
static int by_all(const void *a, const void *b) {
  const Point *x = a, *y = b;
  return x->start != y->start ? (x->start < y->start ? -1 : 1)
         : x->tag < y->tag    ? -1
                              : x->tag > y->tag;
}
static uint32_t different(Point *list, uint32_t n) {
  uint32_t kept = 0;
  if (n) qsort(list, n, sizeof *list, by_all);
  for (uint32_t i = 0; i < n; i++)
    if (!kept || by_all(&list[kept - 1], &list[i])) list[kept++] = list[i];
  return kept;
}

static void points(void) {
  enum { MOST = 60000, PLACES = 5, BLOCKS = 40 };
  TracePlace places[PLACES];
  for (unsigned i = 0; i < PLACES; i++)
    places[i] = (TracePlace){i, ROW_EACH | ROW_VALUES, (uint8_t)(1u << i % 3)};
  PointList *p = points_new();
  for (unsigned kind = 0; kind < 7; kind++)
    for (uint32_t n = 1; n <= MOST; n = n * 7 + 1) {
      Point *list = mem_alloc(sizeof *list * n), *back = mem_alloc(sizeof *back * n);
      uint32_t nback = 0;
      for (uint32_t i = 0; i < n; i++) {
        uint64_t a = kind == 0    ? 4 * (next() & 0xFFFFFF)
                     : kind == 1  ? 8 * (next() % 100)
                     : kind == 2  ? (next() % 3 << 36) + 4 * (next() & 0xFFFFF)
                     : kind == 3  ? next() & ((1ull << 46) - 1)
                     : kind == 4  ? 0x7f0000000000
                     : kind == 5  ? (next() & 1 ? 1ull << 62 | next() % 4096 * 4
                                                : 0x7f0000000000 + 4 * (next() % 100000))
                     : next() % 8 ? 1000 + next() % 64
                                  : next() & 0xFFFFFFFFF;
        list[i] = (Point){a, (uint32_t)(i * (uint64_t)BLOCKS / n) << POSTING_PLACE_BITS |
                                 (uint32_t)(next() % PLACES)};
        if (kind % 2) points_add(p, list[i].start, list[i].tag);
        else points_add_row(p, &list[i].start, 1, list[i].tag);
      }
      ChunkOut *out = mem_alloc(sizeof *out);
      *out = (ChunkOut){.id = 1, .shared_only = true};
      CHECK(points_write(p, places, PLACES, BLOCKS, out));
      uint64_t at = 0;
      for (uint32_t i = 0; i < out->points.len; i++) {
        // Behind a part more may be read, but not used.
        size_t bytes = out->parts.data[i] - at;
        uint8_t *data = memset(mem_alloc(bytes + POINTS_BEHIND), 0xA5, bytes + POINTS_BEHIND);
        memcpy(data, out->bytes.data + at, bytes);
        CHECK(points_check(data, bytes, BLOCKS) && !points_check(data, bytes / 2, BLOCKS) &&
              !points_check(data, bytes, 0));
        CHECK(!i || out->points.data[i].first >= out->points.data[i - 1].first);
        PointScan s;
        Posting got;
        uint32_t before = nback, some = 0, expected = 0;
        points_begin(&s, data, bytes, 0, UINT64_MAX);
        while (points_next(&s, places, PLACES, &got)) {
          CHECK(nback < n && got.start >= out->points.data[i].first &&
                got.end <= out->points.data[i].end &&
                got.end - got.start == place_width(&places[got.place]));
          back[nback++] = (Point){got.start, got.block << POSTING_PLACE_BITS | got.place};
        }
        CHECK(!s.bad);
        // Those of a range are those of all that touch it.
        uint64_t low = back[before + next() % (nback - before)].start + next() % 8,
                 high = low + 1 + next() % 64;
        for (uint32_t k = before; k < nback; k++)
          expected += back[k].start < high &&
                      back[k].start +
                              place_width(&places[back[k].tag & ((1u << POSTING_PLACE_BITS) - 1)]) >
                          low;
        points_begin(&s, data, bytes, low, high);
        while (points_next(&s, places, PLACES, &got)) {
          CHECK(got.start < high && got.end > low);
          some++;
        }
        CHECK(some == expected && !s.bad);
        points_begin(&s, data, bytes, 0, UINT64_MAX);
        while (points_next(&s, places, 1, &got)) CHECK(got.place == 0);
        at = out->parts.data[i];
        free(data);
      }
      uint32_t a = different(list, n), b = different(back, nback);
      CHECK(a == b);
      for (uint32_t i = 0; i < a; i++) CHECK(by_all(&list[i], &back[i]) == 0);
      free(out->bytes.data);
      chunk_out_free(out);
      points_clear(p);
      free(list);
      free(back);
    }
  points_free(p);
  printf("ok points\n");
}

// Rows of every kind: few and many lanes, in a row or not, adjacent, apart and anywhere, values of
// one to four words that come again or do not.
enum { PLACES = 24 };
typedef struct Rows {
  TracePlace places[PLACES];
  uint32_t n, naddresses, nwords;
  TraceRow *rows;
  const uint32_t **words_of;  // by row
  uint64_t *addresses;
  uint32_t *words;
} Rows;

static void make_rows(Rows *b, unsigned round) {
  for (unsigned i = 0; i < PLACES; i++) {
    static const uint8_t has[] = {ROW_AFFINE | ROW_VALUES,
                                  ROW_EACH | ROW_VALUES,
                                  ROW_AFFINE | ROW_VALUES | ROW_ONE,
                                  ROW_AFFINE | ROW_VALUES | ROW_OLD,
                                  ROW_VALUES,
                                  ROW_AFFINE,
                                  0,
                                  ROW_EACH | ROW_VALUES | ROW_OLD};
    b->places[i] = (TracePlace){i, has[i % ARRAY_LEN(has)], (uint8_t)(1u << i % 3)};
  }
  b->n = 1 + (uint32_t)(next() % 700);
  b->naddresses = b->nwords = 0;
  b->rows = mem_alloc(sizeof *b->rows * b->n);
  b->words_of = mem_alloc(sizeof *b->words_of * b->n);
  b->addresses = mem_alloc(sizeof *b->addresses * 32 * b->n);
  uint64_t warp = next() % 1000;
  b->words = mem_alloc(4 * ROW_WORDS_MAX * b->n);
  for (uint32_t i = 0; i < b->n; i++) {
    uint32_t place = (uint32_t)(next() % (round % 3 ? PLACES : 3)), how = (uint32_t)(next() % 4),
             from = (uint32_t)(next() % 32);
    uint32_t lanes = how < 2    ? UINT32_MAX
                     : how == 2 ? ((2u << next() % 31) - 1) << from
                                : (uint32_t)next();
    if (!lanes) lanes = 1;
    if (next() % 20 == 0) warp += next() % 5;
    b->rows[i] = (TraceRow){.warp = warp,
                            .lanes = lanes,
                            .place = place,
                            .time = i * 40 + (uint32_t)(next() % 30),
                            .addresses = b->naddresses};
    if (!(b->places[place].has & (ROW_AFFINE | ROW_EACH))) b->rows[i].time = 0;
    if (b->places[place].has & ROW_AFFINE) {
      b->rows[i].base = 0x7f0000000000 + 4 * (next() % 3 ? i * 32 : next() % 4000);
      b->rows[i].stride = next() % 4 ? 4 << place % 3 : (int32_t)(next() % 200) - 100;
    }
    for (uint32_t k = 0; b->places[place].has & ROW_EACH && k < (uint32_t)__builtin_popcount(lanes);
         k++)
      b->addresses[b->naddresses++] = round % 5 == 4
                                          ? next() & TRACE_ADDRESS_MASK
                                          : 0x7f1000000000 +
                                                (round % 2 ? 4 * (next() % 3000) : 128 * k + 4 * i);
    b->words_of[i] = b->words + b->nwords;
    for (uint32_t k = 0, m = row_words(&b->places[place], lanes); k < m; k++)
      b->words[b->nwords++] = (next() % 5 ? (uint32_t)(round % 4 == 3 ? next() : k / 7 * 1000)
                               : b->nwords > 200 ? b->words[b->nwords - 200]
                                                 : 0) ^
                              (uint32_t)WG_TRACE_KEY;
  }
}

// Single lanes, without the others. few: counts the results.
static void check_lanes(const Rows *in, ColumnCoder *c, TraceBlock *b, uint64_t *few) {
  for (uint32_t i = 0; i < in->n; i++)
    for (uint32_t lane = 0, planes = in->places[in->rows[i].place].planes,
                  has = in->places[in->rows[i].place].has;
         lane < 32; lane++) {
      uint32_t got[LANE_WORDS_MAX],
          each = row_plane_words(&in->places[in->rows[i].place], in->rows[i].lanes),
          k = has & ROW_ONE ? 0 : lane_rank(in->rows[i].lanes, lane);
      if (!(in->rows[i].lanes >> lane & 1) || !(has & (ROW_VALUES | ROW_OLD))) continue;
      FewResult result = block_few_values(c, b, i, lane, got);
      CHECK(result != FEW_DAMAGED);
      few[result]++;
      for (uint32_t plane = 0;
           result == FEW_OK && plane < planes * (!!(has & ROW_VALUES) + !!(has & ROW_OLD)); plane++)
        CHECK(got[plane] == (in->words_of[i][plane * each + k] ^ (uint32_t)WG_TRACE_KEY));
    }
}

static void check_rows(const Rows *in, const TraceBlock *b) {
  for (uint32_t i = 0; i < in->n; i++) {
    const TraceRow *r = &b->rows[i];
    CHECK(r->warp == in->rows[i].warp && r->lanes == in->rows[i].lanes &&
          r->place == in->rows[i].place && r->time == in->rows[i].time &&
          r->base == in->rows[i].base && r->stride == in->rows[i].stride);
    for (uint32_t k = 0;
         in->places[r->place].has & ROW_EACH && k < (uint32_t)__builtin_popcount(r->lanes); k++)
      CHECK(b->addresses[r->addresses + k] == in->addresses[in->rows[i].addresses + k]);
    for (uint32_t k = 0, m = row_words(&in->places[r->place], r->lanes); k < m; k++)
      CHECK(b->words[r->words + k] == (in->words_of[i][k] ^ (uint32_t)WG_TRACE_KEY));
  }
}

static void blocks(void) {
  uint64_t few[3] = {0};
  ColumnCoder *c = column_coder_new();
  for (unsigned round = 0; round < 60; round++) {
    Rows in;
    make_rows(&in, round);
    Bytes out = {0};
    block_write(c,
                &(BlockInput){.places = in.places,
                              .nplaces = PLACES,
                              .rows = in.rows,
                              .words = in.words_of,
                              .nrows = in.n,
                              .addresses = in.addresses,
                              .naddresses = in.naddresses,
                              .nwords = in.nwords},
                &out);
    TraceBlock b = {0};
    CHECK(block_read(c, out.data, out.len, in.places, PLACES, &b));
    check_lanes(&in, c, &b, few);
    CHECK(block_read_values(c, &b) && b.nrows == in.n && b.nwords == in.nwords);
    check_rows(&in, &b);
    arena_free(&b.arena);
    bytes_free(&out);
    free(in.rows);
    free(in.words_of);
    free(in.addresses);
    free(in.words);
  }
  column_coder_free(c);
  CHECK(few[FEW_OK] > 10 * few[FEW_TOO_MUCH]);
  printf("ok blocks\n");
}

int main(void) {
  words();
  points();
  blocks();
  return 0;
}
