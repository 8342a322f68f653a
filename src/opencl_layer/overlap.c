#include "opencl_layer/overlap.h"

static int by_begin(const void *a, const void *b) {
  uint64_t x = ((const Span *)a)->begin, y = ((const Span *)b)->begin;
  return (x > y) - (x < y);
}

uint64_t spans_join(Spans *list) {
  uint32_t n = 0;
  uint64_t sum = 0;
  if (list->len) qsort(list->data, list->len, sizeof *list->data, by_begin);
  for (uint32_t i = 0; i < list->len; i++) {
    Span s = list->data[i];
    if (n && s.begin <= list->data[n - 1].end)
      list->data[n - 1].end = MAX(list->data[n - 1].end, s.end);
    else list->data[n++] = s;
  }
  list->len = n;
  for (uint32_t i = 0; i < n; i++) sum += list->data[i].end - list->data[i].begin;
  return sum;
}

uint64_t spans_common(const Spans *a, const Spans *b) {
  uint64_t sum = 0;
  for (uint32_t i = 0, k = 0; i < a->len && k < b->len;) {
    uint64_t begin = MAX(a->data[i].begin, b->data[k].begin),
             end = MIN(a->data[i].end, b->data[k].end);
    if (begin < end) sum += end - begin;
    if (a->data[i].end < b->data[k].end) i++;
    else k++;
  }
  return sum;
}
