// Finds the rows of a decoded block that touch a line of memory, by an index. It is made for a
// block that is asked often: by one question about many elements, or by many about few.
#include "trace/reader.h"

enum { LINE_AT = 7, BUCKETS = 4096, WORTH_IT = 6, LINES_MOST = 4 };

static uint32_t bucket_of(uint64_t line) { return (uint32_t)(line * 0x9E3779B97F4A7C15ull >> 52); }

// Notes each bucket of a row once, as far as repeats are adjacent; `to` NULL: only counts.
static void note_rows(const TraceBlock *b, const uint32_t *bytes, uint32_t *count, uint32_t *to) {
  for (uint32_t i = 0; i < b->nrows; i++) {
    const TraceRow *r = &b->rows[i];
    uint32_t width = bytes[r->place], last = UINT32_MAX;
    if (!width) continue;
    for (uint32_t left = r->lanes; left; left &= left - 1) {
      uint64_t a = row_address(b, r, (uint32_t)__builtin_ctz(left));
      for (uint64_t line = a >> LINE_AT; line <= (a + width - 1) >> LINE_AT; line++) {
        uint32_t k = bucket_of(line);
        if (k == last) continue;
        last = k;
        if (to) to[count[k]++] = i;
        else count[k]++;
      }
    }
  }
}

static bool make(TraceBlock *b, const uint32_t *bytes) {
  uint32_t *first = ARENA_ARRAY(&b->arena, uint32_t, BUCKETS + 1),
           *at = mem_alloc(sizeof *at * BUCKETS), sum = 0;
  note_rows(b, bytes, first, NULL);
  for (uint32_t i = 0; i <= BUCKETS; i++) {
    uint32_t n = i < BUCKETS ? first[i] : 0;
    first[i] = sum;
    if (i < BUCKETS) at[i] = sum;
    sum += n;
  }
  b->rows_of_line = ARENA_ARRAY(&b->arena, uint32_t, sum + 1);
  note_rows(b, bytes, at, b->rows_of_line);
  b->first_of_line = first;
  free(at);
  return true;
}

static int ascending(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

bool block_rows_at(TraceBlock *b, const uint32_t *bytes, uint64_t low, uint64_t high,
                   RowList *out) {
  uint64_t from = low >> LINE_AT, to = (high - 1) >> LINE_AT;
  if (high <= low || to - from >= LINES_MOST ||
      (!b->first_of_line && (++b->scans < WORTH_IT || !make(b, bytes))))
    return false;
  out->n = 0;
  for (uint64_t line = from; line <= to; line++) {
    uint32_t k = bucket_of(line), n = b->first_of_line[k + 1] - b->first_of_line[k];
    if (out->cap - out->n < n)
      out->list = mem_realloc(out->list, sizeof *out->list * (out->cap = (out->n + n) * 2 + 64));
    if (n) memcpy(out->list + out->n, b->rows_of_line + b->first_of_line[k], n * sizeof *out->list);
    out->n += n;
  }
  if (to > from && out->n) qsort(out->list, out->n, sizeof *out->list, ascending);
  uint32_t kept = 0;  // a row is to be visited once
  for (uint32_t i = 0; i < out->n; i++)
    if (!kept || out->list[kept - 1] != out->list[i]) out->list[kept++] = out->list[i];
  out->n = kept;
  return true;
}
