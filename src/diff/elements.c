// Two buffers, element by element: in order, or both sorted.
#include "diff/diff.h"

#include <math.h>

static _Thread_local DiffType sorted_type;

static int by_value(const void *a, const void *b) {
  return diff_order(*(const uint64_t *)a, *(const uint64_t *)b, sorted_type);
}

static uint64_t *sorted(const void *p, uint64_t n, DiffType t) {
  uint64_t *list = mem_alloc(n * sizeof *list + 8);
  for (uint64_t i = 0; i < n; i++) list[i] = diff_load((const char *)p + i * t.bytes, t);
  sorted_type = t;
  qsort(list, n, sizeof *list, by_value);
  return list;
}

static void note(DiffElements *out, uint64_t index, uint64_t a, uint64_t b, DiffType t,
                 uint32_t most_shown) {
  if (!out->different++) out->first = index;
  if (out->nshown < most_shown) out->shown[out->nshown++] = (DiffElement){index, a, b};
  if (diff_is_nan(a, t) || diff_is_nan(b, t)) {
    out->nans++;
    return;
  }
  double x = diff_value(a, t), y = diff_value(b, t), distance = fabs(x - y);
  if (t.kind == DIFF_BITS || !isfinite(distance)) return;
  double larger = fmax(fabs(x), fabs(y));
  out->most_ulps = MAX(out->most_ulps, diff_ulps(a, b, t));
  out->most_absolute = fmax(out->most_absolute, distance);
  if (larger > 0) out->most_relative = fmax(out->most_relative, distance / larger);
}

void diff_elements(const DiffBuffers *both, DiffType t, const DiffRules *r, uint32_t most_shown,
                   DiffElements *out) {
  const void *a = both->a, *b = both->b;
  uint64_t bytes = both->bytes;
  uint64_t n = bytes / t.bytes;
  *out = (DiffElements){.compared = n, .shown = mem_alloc(sizeof *out->shown * (most_shown + 1))};
  uint64_t *x = r->unordered ? sorted(a, n, t) : NULL, *y = r->unordered ? sorted(b, n, t) : NULL;
  for (uint64_t i = 0; i < n; i++) {
    uint64_t va = x ? x[i] : diff_load((const char *)a + i * t.bytes, t),
             vb = y ? y[i] : diff_load((const char *)b + i * t.bytes, t);
    if (!diff_same(va, vb, t, r)) note(out, i, va, vb, t, most_shown);
  }
  free(x);
  free(y);
  if (bytes % t.bytes &&
      memcmp((const char *)a + n * t.bytes, (const char *)b + n * t.bytes, bytes % t.bytes) &&
      !out->different++)
    out->first = n;
}

void diff_elements_free(DiffElements *e) { free(e->shown); }
