// Finds the rows of a decoded block that a query is about; usually few. Their values are decoded
// without those of all others, by the thread that has just unpacked the block.
#include "trace/reader.h"

enum { FEW_LANES = 8 };
typedef struct FewWords {
  uint32_t row, lane, words[LANE_WORDS_MAX];
} FewWords;

void block_free(TraceBlock *b) {
  arena_free(&b->arena);
  free(b->found.list);
  free(b->few);
  free(b);
}

MANY_AT_A_TIME static bool some_between(const uint64_t *a, uint32_t n, uint64_t from,
                                        uint64_t length) {
  uint32_t some = 0;
  for (uint32_t k = 0; k < n; k++) some |= a[k] - from < length;
  return some;
}

static bool may_touch(const TraceBlock *b, const TraceRow *r, uint32_t bytes, uint64_t low,
                      uint64_t high) {
  if (b->places[r->place].has & ROW_EACH)
    return low < bytes ||
           some_between(b->addresses + r->addresses, (uint32_t)__builtin_popcount(r->lanes),
                        low - bytes + 1, high - low + bytes - 1);
  uint64_t first = r->base & ((1ull << 62) - 1),
           last = (r->base + (uint64_t)((int64_t)r->stride * 31)) & ((1ull << 62) - 1),
           from = MIN(first, last), to = MAX(first, last) + bytes;
  return to - from >= 1ull << 40 || (to > low && from < high);
}

void block_find(TraceBlock *b, const uint32_t *bytes, uint64_t low, uint64_t high) {
  if (b->found.known && b->found.low == low && b->found.high == high) return;
  uint32_t n = 0, cap = 0, *list = NULL;
  for (uint32_t i = 0; i < b->nrows; i++) {
    const TraceRow *r = &b->rows[i];
    if (!bytes[r->place] || !may_touch(b, r, bytes[r->place], low, high)) continue;
    if (n == cap) list = mem_realloc(list, sizeof *list * (cap = MAX(16u, cap * 2)));
    list[n++] = i;
  }
  free(b->found.list);
  b->found.low = low;
  b->found.high = high;
  b->found.list = list;
  b->found.n = n;
  b->found.known = true;
}

static FewWords *few_of(const TraceBlock *b, uint32_t row, uint32_t lane) {
  for (uint32_t i = 0; i < b->nfew; i++)
    if (b->few[i].row == row && b->few[i].lane == lane) return &b->few[i];
  return NULL;
}

bool block_lane_words(ColumnCoder *c, TraceBlock *b, uint32_t row, uint32_t lane, uint32_t *out) {
  const TraceRow *r = &b->rows[row];
  const TracePlace *p = &b->places[r->place];
  uint32_t n = row_plane_words(p, r->lanes), k = p->has & ROW_ONE ? 0 : lane_rank(r->lanes, lane),
           all = row_words(p, r->lanes) / n;
  const FewWords *known = b->words ? NULL : few_of(b, row, lane);
  if (known) {
    memcpy(out, known->words, sizeof *out * all);
    return true;
  }
  if (!b->words && b->times_few < FEW_LANES) {
    b->times_few++;
    FewResult result = block_few_values(c, b, row, lane, out);
    if (result != FEW_TOO_MUCH) return result == FEW_OK;
    b->times_few = FEW_LANES;
  }
  if (!block_read_values(c, b)) return false;
  for (uint32_t i = 0; i < all; i++) out[i] = b->words[r->words + i * n + k];
  return true;
}

typedef struct Lanes {
  FewWords list[FEW_LANES];
  uint32_t n;
  bool many;
} Lanes;
static void add_lanes(const TraceBlock *b, uint32_t row, uint32_t bytes, const RangeScan *what,
                      Lanes *out) {
  const TraceRow *r = &b->rows[row];
  for (uint32_t left = r->lanes; left && !out->many; left &= left - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(left);
    uint64_t a = row_address(b, r, lane);
    if (a >= what->high || a + bytes <= what->low ||
        (what->wanted && !what->wanted(what->user, a, a + bytes)) || few_of(b, row, lane))
      continue;
    out->many = out->n == FEW_LANES;
    if (!out->many) out->list[out->n++] = (FewWords){.row = row, .lane = lane};
  }
}

bool block_find_values(ColumnCoder *c, TraceBlock *b, const ChunkDirectory *d,
                       const RangeScan *what) {
  block_find(b, d->place_bytes, what->low, what->high);
  if (!what->values || b->words) return true;
  Lanes lanes = {.many = b->nfew > FEW_LANES};
  for (uint32_t i = 0; i < b->found.n && !lanes.many; i++) {
    uint32_t row = b->found.list[i], place = b->rows[row].place;
    if (b->places[place].has & (ROW_VALUES | ROW_OLD) && (d->writes[place] || !what->writes_only))
      add_lanes(b, row, d->place_bytes[place], what, &lanes);
  }
  if (lanes.many && what->few_values) return true;
  for (uint32_t i = 0; i < lanes.n && !lanes.many; i++) {
    FewResult result = block_few_values(c, b, lanes.list[i].row, lanes.list[i].lane,
                                        lanes.list[i].words);
    if (result == FEW_DAMAGED) return false;
    lanes.many = result == FEW_TOO_MUCH;
  }
  if (lanes.many) return block_read_values(c, b);
  b->few = mem_realloc(b->few, sizeof *b->few * (b->nfew + lanes.n + 1));
  for (uint32_t i = 0; i < lanes.n; i++) b->few[b->nfew++] = lanes.list[i];
  return true;
}
