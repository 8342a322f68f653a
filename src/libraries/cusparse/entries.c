#include "libraries/cusparse/entries.h"

#include <stdio.h>

// --- numbers ---

Number divided(Number a, Number b) {
  if (a.im == 0 && b.im == 0) return (Number){a.re / b.re, 0};
  double norm = b.re * b.re + b.im * b.im;
  return (Number){(a.re * b.re + a.im * b.im) / norm, (a.im * b.re - a.re * b.im) / norm};
}

Number scalar_number(const Scalar *s, DataType t) {
  double wide[2] = {0};
  numbers_widen(wide, scalar(s), t, 1);
  return (Number){wide[0], number_is_complex(t) ? wide[1] : 0};
}

bool numbers_load(Number *to, const void *from, DataType t, int64_t n) {
  if (number_is_complex(t)) {
    numbers_widen((double *)to, from, t, (uint64_t)n);
    return true;
  }
  double *wide = malloc((size_t)(n + 1) * sizeof *wide);
  if (!wide) return false;
  numbers_widen(wide, from, t, (uint64_t)n);
  for (int64_t i = 0; i < n; i++) to[i] = (Number){wide[i], 0};
  free(wide);
  return true;
}

void number_store(void *to, DataType t, int64_t at, Number x) {
  numbers_narrow((char *)to + (size_t)at * number_bytes(t), t, (double *)&x, 1);
}

int64_t index_load(const void *p, int type, int64_t at) {
  return type == INDEX_64 ? ((const int64_t *)p)[at] : ((const int32_t *)p)[at];
}

void index_store(void *p, int type, int64_t at, int64_t value) {
  if (type == INDEX_64) ((int64_t *)p)[at] = value;
  else ((int32_t *)p)[at] = (int32_t)value;
}

// --- entries ---

typedef struct Loader {
  const Sparse *s;
  const char *offsets, *indices;
  int64_t values;  // index of the batch's first value
  Entries *out;
  bool complained;
} Loader;

static void complain(Loader *l, const char *what, int64_t index, int64_t at, int64_t size) {
  char text[160];
  if (l->complained) return;
  l->complained = true;
  snprintf(text, sizeof text, "%s %lld, at position %lld, is not from %d to %lld", what,
           (long long)index, (long long)at, l->s->base, (long long)(size - 1 + l->s->base));
  warpgrind_library_services.wrong_data(text);
}

static int64_t index_at(const Loader *l, int64_t i) {
  return index_load(l->indices, l->s->index_type, i) - l->s->base;
}

static void add(Loader *l, int64_t row, int64_t column, int64_t at) {
  l->out->list[l->out->n++] = (Entry){.row = row, .column = column, .at = l->values + at};
}

// Offsets must not decrease and must stay within the stored elements: [*first, *end) of line i.
static bool line(Loader *l, int64_t i, int64_t *first, int64_t *end) {
  const Sparse *s = l->s;
  *first = index_load(l->offsets, s->offset_type, i) - s->base;
  *end = index_load(l->offsets, s->offset_type, i + 1) - s->base;
  if (*first >= 0 && *end >= *first && *end <= s->count) return true;
  complain(l, "an offset of", *end < *first || *end > s->count ? *end : *first, i, s->count + 1);
  return false;
}

static void load_compressed(Loader *l) {
  const Sparse *s = l->s;
  bool by_rows = s->format == CSR;
  int64_t lines = by_rows ? s->rows : s->columns, width = by_rows ? s->columns : s->rows, first,
          end;
  for (int64_t i = 0; i < lines; i++)
    for (int64_t k = line(l, i, &first, &end) ? first : end; k < end; k++) {
      int64_t j = index_at(l, k);
      if (j < 0 || j >= width)
        complain(l, by_rows ? "a column index of" : "a row index of", j + s->base, k, width);
      else if (by_rows) add(l, i, j, k);
      else add(l, j, i, k);
    }
}

static void load_coordinates(Loader *l) {
  const Sparse *s = l->s;
  for (int64_t k = 0; k < s->count; k++) {
    int64_t i = index_load(l->offsets, s->offset_type, k) - s->base, j = index_at(l, k);
    if (i < 0 || i >= s->rows) complain(l, "a row index of", i + s->base, k, s->rows);
    else if (j < 0 || j >= s->columns) complain(l, "a column index of", j + s->base, k, s->columns);
    else add(l, i, j, k);
  }
}

static void load_blocks(Loader *l) {
  const Sparse *s = l->s;
  int64_t br = s->block_rows, bc = s->block_columns, lines = s->rows / br, width = s->columns / bc,
          first, end;
  for (int64_t i = 0; i < lines; i++)
    for (int64_t k = line(l, i, &first, &end) ? first : end; k < end; k++) {
      int64_t j = index_at(l, k);
      if (j < 0 || j >= width) {
        complain(l, "a block column index of", j + s->base, k, width);
        continue;
      }
      for (int64_t e = 0; e < br * bc; e++) {
        int64_t r = s->order == ORDER_ROW ? e / bc : e % br,
                c = s->order == ORDER_ROW ? e % bc : e / br;
        add(l, i * br + r, j * bc + c, k * br * bc + e);
      }
    }
}

// A slice is stored column after column; shorter rows are padded with the index -1.
static void load_slices(Loader *l) {
  const Sparse *s = l->s;
  for (int64_t i = 0; i < s->rows; i++) {
    int64_t from = index_load(l->offsets, s->offset_type, i / s->slice) - s->base,
            to = index_load(l->offsets, s->offset_type, i / s->slice + 1) - s->base;
    if (from < 0 || to < from || to > s->stored) {
      complain(l, "an offset of", to, i / s->slice, s->stored + 1);
      continue;
    }
    for (int64_t k = from + i % s->slice; k < to; k += s->slice) {
      int64_t raw = index_load(l->indices, s->index_type, k), j = raw - s->base;
      if (raw == -1) continue;
      if (j < 0 || j >= s->columns) complain(l, "a column index of", raw, k, s->columns);
      else add(l, i, j, k);
    }
  }
}

bool entries_load(const Sparse *s, int batch, bool with_values, Entries *out) {
  int64_t n = stored_values(s), b = s->batch > 1 ? batch : 0;
  size_t offset_bytes = s->offset_type == INDEX_64 ? 8 : 4,
         index_bytes = s->index_type == INDEX_64 ? 8 : 4;
  Loader l = {.s = s,
              .offsets = (const char *)s->offsets + (size_t)(b * s->offset_stride) * offset_bytes,
              .indices = (const char *)s->indices + (size_t)(b * s->index_stride) * index_bytes,
              .values = b * s->value_stride,
              .out = out};
  *out = (Entries){.rows = s->rows, .columns = s->columns};
  out->list = malloc((size_t)(n + 1) * sizeof *out->list);
  Number *values = with_values ? malloc((size_t)(n + 1) * sizeof *values) : NULL;
  bool ok = out->list && (values || !with_values);
  if (ok && values)
    ok = numbers_load(values, (char *)s->values + (size_t)l.values * number_bytes(s->type), s->type,
                      n);
  if (ok) switch (s->format) {
      case CSR:
      case CSC: load_compressed(&l); break;
      case COO: load_coordinates(&l); break;
      case BSR: load_blocks(&l); break;
      case SLICED_ELL: load_slices(&l); break;
    }
  for (int64_t i = 0; ok && values && i < out->n; i++)
    out->list[i].value = values[out->list[i].at - l.values];
  free(values);
  if (!ok) entries_free(out);
  return ok;
}

void entries_free(Entries *e) {
  free(e->list);
  e->list = NULL;
  e->n = 0;
}

void entries_transpose(Entries *e, int operation) {
  if (operation == OP_NONE) return;
  int64_t rows = e->rows;
  e->rows = e->columns;
  e->columns = rows;
  for (int64_t i = 0; i < e->n; i++) {
    Entry *x = &e->list[i];
    int64_t row = x->row;
    x->row = x->column;
    x->column = row;
    if (operation == OP_CONJUGATE) x->value = conjugate(x->value);
  }
}

// One pass of a counting sort.
static bool sort_by(Entries *e, int64_t size, bool by_row) {
  int64_t *start = calloc((size_t)size + 2, sizeof *start);
  Entry *sorted = malloc((size_t)(e->n + 1) * sizeof *sorted);
  bool ok = start && sorted;
  for (int64_t i = 0; ok && i < e->n; i++)
    start[(by_row ? e->list[i].row : e->list[i].column) + 1]++;
  for (int64_t i = 0; ok && i < size; i++) start[i + 1] += start[i];
  for (int64_t i = 0; ok && i < e->n; i++)
    sorted[start[by_row ? e->list[i].row : e->list[i].column]++] = e->list[i];
  free(start);
  if (!ok) {
    free(sorted);
    return false;
  }
  free(e->list);
  e->list = sorted;
  return true;
}

bool entries_sort(Entries *e) { return sort_by(e, e->columns, false) && sort_by(e, e->rows, true); }

int64_t *entries_rows(const Entries *e) {
  int64_t *start = calloc((size_t)e->rows + 2, sizeof *start);
  for (int64_t i = 0; start && i < e->n; i++) start[e->list[i].row + 1]++;
  for (int64_t i = 0; start && i < e->rows; i++) start[i + 1] += start[i];
  return start;
}

// --- dense matrices ---

static char *dense_line(const Dense *d, int batch, int64_t i) {
  int64_t at = (d->batch > 1 ? batch * d->stride : 0) + i * d->ld;
  return (char *)d->values + (size_t)at * number_bytes(d->type);
}

Number *dense_load(const Dense *d, int batch) {
  bool by_rows = d->order == ORDER_ROW;
  int64_t lines = by_rows ? d->rows : d->columns, length = by_rows ? d->columns : d->rows;
  Number *out = malloc((size_t)(d->rows * d->columns + 1) * sizeof *out),
         *one = malloc((size_t)(length + 1) * sizeof *one);
  for (int64_t i = 0; out && one && i < lines; i++) {
    if (!numbers_load(one, dense_line(d, batch, i), d->type, length)) {
      free(out);
      out = NULL;
      break;
    }
    for (int64_t k = 0; k < length; k++) out[by_rows ? i + k * d->rows : k + i * d->rows] = one[k];
  }
  free(one);
  return out;
}

void dense_store(const Dense *d, int batch, const Number *from) {
  bool by_rows = d->order == ORDER_ROW;
  int64_t lines = by_rows ? d->rows : d->columns, length = by_rows ? d->columns : d->rows;
  for (int64_t i = 0; i < lines; i++)
    for (int64_t k = 0; k < length; k++)
      number_store(dense_line(d, batch, i), d->type, k,
                   from[by_rows ? i + k * d->rows : k + i * d->rows]);
}
