// Tridiagonal and pentadiagonal systems: gtsv2, its batches, and gpsvInterleavedBatch.
#include "libraries/cusparse/legacy.h"

typedef struct Bands {
  const BandWork *w;
  Number *x;        // the unknowns of one system
  Number *band[5];  // ds, dl, d, du, dw: copies that the elimination changes
  Number *fill;     // a second or third band above that swapped rows fill
} Bands;

static double size_of(Number a) { return a.re * a.re + a.im * a.im; }

static int64_t place(const BandWork *w, int64_t i, int64_t system) {
  return i * w->step + system * w->stride;
}

static void load_band(Bands *b, const void *from, Number *to, int64_t system) {
  const BandWork *w = b->w;
  size_t bytes = number_bytes(w->type);
  for (int64_t i = 0; i < w->m; i++) {
    to[i] = (Number){0, 0};
    if (from)
      numbers_load(&to[i], (const char *)from + (size_t)place(w, i, system) * bytes, w->type, 1);
  }
}

// Solves with the diagonal, the band above it, and one more above that.
static void substitute_back(Bands *b, const Number *second) {
  const Number *d = b->band[2], *du = b->band[3];
  Number *x = b->x;
  int64_t m = b->w->m;
  for (int64_t i = m - 1; i >= 0; i--) {
    Number sum = x[i];
    if (i + 1 < m) sum = minus(sum, times(du[i], x[i + 1]));
    if (i + 2 < m) sum = minus(sum, times(second[i], x[i + 2]));
    x[i] = divided(sum, d[i]);
  }
}

// Gaussian elimination; rows are swapped where the element below the pivot is larger.
static void solve_tridiagonal(Bands *b) {
  Number *dl = b->band[1], *d = b->band[2], *du = b->band[3], *x = b->x, *fill = b->fill;
  int64_t m = b->w->m;
  for (int64_t i = 0; i < m; i++) fill[i] = (Number){0, 0};
  for (int64_t i = 0; i + 1 < m; i++) {
    if (b->w->pivots && size_of(dl[i + 1]) > size_of(d[i])) {
      Number row[4] = {d[i], du[i], fill[i], x[i]};
      d[i] = dl[i + 1];
      du[i] = d[i + 1];
      fill[i] = i + 2 < m ? du[i + 1] : (Number){0, 0};
      x[i] = x[i + 1];
      dl[i + 1] = row[0];
      d[i + 1] = row[1];
      du[i + 1] = row[2];
      x[i + 1] = row[3];
    }
    Number factor = divided(dl[i + 1], d[i]);
    d[i + 1] = minus(d[i + 1], times(factor, du[i]));
    du[i + 1] = minus(du[i + 1], times(factor, fill[i]));
    x[i + 1] = minus(x[i + 1], times(factor, x[i]));
  }
  substitute_back(b, fill);
}

// Without pivots: systems of this kind are diagonally dominant in practice.
static void solve_pentadiagonal(Bands *b) {
  Number *ds = b->band[0], *dl = b->band[1], *d = b->band[2], *du = b->band[3], *dw = b->band[4],
         *x = b->x;
  int64_t m = b->w->m;
  for (int64_t i = 0; i + 1 < m; i++) {
    Number factor = divided(dl[i + 1], d[i]);
    d[i + 1] = minus(d[i + 1], times(factor, du[i]));
    du[i + 1] = minus(du[i + 1], times(factor, dw[i]));
    x[i + 1] = minus(x[i + 1], times(factor, x[i]));
    if (i + 2 >= m) continue;
    factor = divided(ds[i + 2], d[i]);
    dl[i + 2] = minus(dl[i + 2], times(factor, du[i]));
    d[i + 2] = minus(d[i + 2], times(factor, dw[i]));
    x[i + 2] = minus(x[i + 2], times(factor, x[i]));
  }
  substitute_back(b, dw);
}

static void run_bands(void *p) {
  const BandWork *w = p;
  Number *space = malloc((size_t)(w->m + 1) * 7 * sizeof *space);
  Bands b = {.w = w, .x = space};
  const void *const from[5] = {w->ds, w->dl, w->d, w->du, w->dw};
  for (int i = 0; space && i < 5; i++) b.band[i] = space + (i + 1) * w->m;
  b.fill = space + 6 * w->m;
  for (int64_t s = 0; space && s < w->systems; s++) {
    for (int i = 0; i < 5; i++) load_band(&b, from[i], b.band[i], w->one_matrix ? 0 : s);
    BandWork right = *w;  // the right-hand sides of gtsv2 have a stride of their own
    if (w->one_matrix) right.stride = w->ldb;
    b.w = &right;
    load_band(&b, w->x, b.x, s);
    if (w->ds) solve_pentadiagonal(&b);
    else solve_tridiagonal(&b);
    for (int64_t i = 0; i < w->m; i++) number_store(w->x, w->type, place(&right, i, s), b.x[i]);
    b.w = w;
  }
  free(space);
}

static void add_band(LibraryCall *c, const BandWork *w, const char *name, const void *p,
                     unsigned access) {
  int64_t systems = w->one_matrix ? 1 : w->systems;
  if (!p || !systems) return;
  int64_t last = (w->m - 1) * w->step + (systems - 1) * w->stride;
  bool gaps = w->step == 1 && w->stride > w->m && systems > 1;
  add_elements(c, name, p, element_of(w->type), last + 1, access | (gaps ? OPERAND_PARTLY : 0));
}

Status bands_submit(const Handle *h, const char *call_name, const BandWork *w, void *buffer) {
  REQUIRE(w->m >= 3 && w->systems >= 0, "m is below 3, or the number of systems negative");
  REQUIRE(!w->one_matrix || w->ldb >= w->m, "ldb is smaller than m");
  LibraryCall c = {
      .name = call_name, .run = run_bands, .arguments = w, .argument_bytes = sizeof *w};
  add_band(&c, w, "ds", w->ds, OPERAND_READ);
  add_band(&c, w, "dl", w->dl, OPERAND_READ);
  add_band(&c, w, "d", w->d, OPERAND_READ);
  add_band(&c, w, "du", w->du, OPERAND_READ);
  add_band(&c, w, "dw", w->dw, OPERAND_READ);
  unsigned both = OPERAND_READ | OPERAND_WRITE;
  if (w->one_matrix) {
    Dense b = {.rows = w->m,
               .columns = w->systems,
               .ld = w->ldb,
               .values = w->x,
               .type = w->type,
               .order = ORDER_COLUMN};
    add_dense(&c, "B", &b, both);
  } else add_band(&c, w, "x", w->x, both);
  add_buffer(&c, buffer);
  return submit_call(h, &c);
}
