// Functions whose result has a pattern of its own: csrgeam2 (the sum of two matrices), csr2bsr and
// bsr2csr. A first call counts the elements of each row, a second one stores them.
#include "libraries/cusparse/entries.h"
#include "libraries/cusparse/legacy.h"

// The older functions do not say how many elements a matrix has: its last offset does. false: its
// arrays are shorter.
static bool count_elements(Sparse *s, const char *const names[3], bool values) {
  int64_t lines = s->format == BSR ? s->rows / s->block_rows : s->rows;
  s->count = index_load(s->offsets, s->offset_type, lines) - s->base;
  if (s->count < 0) s->count = 0;
  Element of_index = {sizeof(int), OPERAND_OTHER};
  Operand o[2] = {
      operand_of_vector(names[1], s->indices, of_index, (uint64_t)s->count, 1),
      operand_of_vector(names[2], s->values, element_of(s->type), (uint64_t)stored_values(s), 1)};
  return warpgrind_library_services.more_operands(o, values ? 2 : 1);
}

static bool result_has_room(const Sparse *c, int64_t count) {
  Sparse s = *c;
  s.count = count;
  Element of_index = {sizeof(int), OPERAND_OTHER};
  Operand o[2] = {operand_of_vector(names_of_c[1], s.indices, of_index, (uint64_t)count, 1),
                  operand_of_vector(names_of_c[2], s.values, element_of(s.type),
                                    (uint64_t)stored_values(&s), 1)};
  o[0].access = o[1].access = OPERAND_WRITE;
  return warpgrind_library_services.more_operands(o, 2);
}

// Adds up entries of the same place. They are sorted.
static void join_equal(Entries *e) {
  int64_t n = 0;
  for (int64_t i = 0; i < e->n; i++) {
    Entry *last = n ? &e->list[n - 1] : NULL;
    if (last && last->row == e->list[i].row && last->column == e->list[i].column)
      last->value = plus(last->value, e->list[i].value);
    else e->list[n++] = e->list[i];
  }
  e->n = n;
}

static void store_offsets(const Sparse *c, const Entries *e) {
  int64_t *rows = entries_rows(e);
  for (int64_t i = 0; rows && i <= e->rows; i++)
    index_store(c->offsets, c->offset_type, i, rows[i] + c->base);
  free(rows);
}

// --- sums ---

static bool append(Entries *to, const Entries *from, Number factor) {
  Entry *list = realloc(to->list, (size_t)(to->n + from->n + 1) * sizeof *list);
  if (!list) return false;
  to->list = list;
  for (int64_t i = 0; i < from->n; i++) {
    list[to->n] = from->list[i];
    list[to->n++].value = times(factor, from->list[i].value);
  }
  return true;
}

// alpha A + beta B, by rows and columns
static bool add_up(const SumWork *w, Entries *sum) {
  Entries a = {0}, b = {0};
  bool counts = w->total;
  Number one = {1, 0}, alpha = counts ? one : scalar_number(&w->alpha, w->c.type),
         beta = counts ? one : scalar_number(&w->beta, w->c.type);
  bool ok = entries_load(&w->a, 0, !counts, &a) && entries_load(&w->b, 0, !counts, &b);
  *sum = (Entries){.rows = w->c.rows, .columns = w->c.columns};
  ok = ok && append(sum, &a, alpha) && append(sum, &b, beta) && entries_sort(sum);
  if (ok) join_equal(sum);
  entries_free(&a);
  entries_free(&b);
  return ok;
}

static void run_sum(void *p) {
  const SumWork *w = p;
  const Sparse *c = &w->c;
  Entries e = {0};
  bool ok = add_up(w, &e);
  if (ok && w->total) {
    store_offsets(c, &e);
    *w->total = (int)e.n;
  } else if (ok && result_has_room(c, e.n)) {
    for (int64_t i = 0; i < e.n; i++) {
      index_store(c->indices, c->index_type, i, e.list[i].column + c->base);
      number_store(c->values, c->type, i, e.list[i].value);
    }
  }
  entries_free(&e);
}

// total: where the number of elements goes, by the handle's pointer mode
static void add_counts(const Handle *h, LibraryCall *call, const Sparse *c, int *total) {
  add_indices(call, names_of_c[0], c->offsets, c->offset_type, stored_offsets(c), OPERAND_WRITE);
  if (h->device_pointers)
    add_indices(call, "nnzTotalDevHostPtr", total, INDEX_32, 1, OPERAND_WRITE);
  call->waits = !h->device_pointers;
}

Status sum_submit(const Handle *h, const char *call_name, const SumWork *w, void *buffer) {
  REQUIRE(w->c.rows >= 0 && w->c.columns >= 0 && w->a.count >= 0 && w->b.count >= 0,
          "a size is negative");
  LibraryCall c = {.name = call_name, .run = run_sum, .arguments = w, .argument_bytes = sizeof *w};
  add_sparse(&c, names_of_a, &w->a, w->total ? 0 : OPERAND_READ);
  add_sparse(&c, names_of_b, &w->b, w->total ? 0 : OPERAND_READ);
  if (w->total) add_counts(h, &c, &w->c, w->total);
  else add_indices(&c, names_of_c[0], w->c.offsets, INDEX_32, stored_offsets(&w->c), OPERAND_READ);
  if (!w->total) call_scalar(&c, "alpha", &w->alpha, element_of(w->c.type));
  if (!w->total) call_scalar(&c, "beta", &w->beta, element_of(w->c.type));
  if (buffer) add_buffer(&c, buffer);
  return submit_call(h, &c);
}

EXPORT Status cusparseXcsrgeam2Nnz(const Handle *h, int m, int n, const LegacyMatrix *da,
                                   int count_a, const int *offsets_a, const int *columns_a,
                                   const LegacyMatrix *db, int count_b, const int *offsets_b,
                                   const int *columns_b, const LegacyMatrix *dc, int *offsets_c,
                                   int *total, void *buffer) {
  BEGIN(h);
  REQUIRE(IS(da, LEGACY) && IS(db, LEGACY) && IS(dc, LEGACY),
          "a descriptor is none, or was destroyed");
  REQUIRE(total, "the pointer for the number of elements is null");
  SumWork w = {.a = csr_of(m, n, count_a, da, R_32F),
               .b = csr_of(m, n, count_b, db, R_32F),
               .c = csr_of(m, n, 0, dc, R_32F),
               .total = total};
  w.a.offsets = (void *)offsets_a;
  w.a.indices = (void *)columns_a;
  w.b.offsets = (void *)offsets_b;
  w.b.indices = (void *)columns_b;
  w.c.offsets = offsets_c;
  return sum_submit(h, call_name, &w, buffer);
}

// --- rows of elements and rows of blocks ---

// The blocks that have an element: their entries, by rows and columns of blocks.
static bool blocks_of_entries(const Entries *e, int64_t block, Entries *blocks) {
  *blocks = (Entries){.rows = (e->rows + block - 1) / block,
                      .columns = (e->columns + block - 1) / block};
  if (!append(blocks, e, (Number){1, 0})) return false;
  for (int64_t i = 0; i < blocks->n; i++) {
    blocks->list[i].row /= block;
    blocks->list[i].column /= block;
  }
  if (!entries_sort(blocks)) return false;
  join_equal(blocks);
  return true;
}

static int compare_places(const Entry *a, int64_t row, int64_t column) {
  if (a->row != row) return a->row < row ? -1 : 1;
  return (a->column > column) - (a->column < column);
}
static int64_t block_at(const Entries *blocks, int64_t row, int64_t column) {
  int64_t low = 0, high = blocks->n - 1;
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (compare_places(&blocks->list[middle], row, column) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

static void store_blocks(const Sparse *c, const Entries *e, const Entries *blocks) {
  int64_t size = c->block_rows, area = size * size;
  for (int64_t i = 0; i < blocks->n; i++)
    index_store(c->indices, c->index_type, i, blocks->list[i].column + c->base);
  for (int64_t i = 0; i < blocks->n * area; i++)
    number_store(c->values, c->type, i, (Number){0, 0});
  for (int64_t i = 0; i < e->n; i++) {
    int64_t row = e->list[i].row, column = e->list[i].column,
            inside = c->order == ORDER_ROW ? row % size * size + column % size
                                           : column % size * size + row % size;
    number_store(c->values, c->type, block_at(blocks, row / size, column / size) * area + inside,
                 e->list[i].value);
  }
}

static void run_to_blocks(void *p) {
  BlockWork *w = p;
  Entries e = {0}, blocks = {0};
  bool counts = w->total;
  bool ok = count_elements(&w->a, names_of_a, !counts) && entries_load(&w->a, 0, !counts, &e) &&
            blocks_of_entries(&e, w->c.block_rows, &blocks);
  if (ok && counts) {
    store_offsets(&w->c, &blocks);
    *w->total = (int)blocks.n;
  } else if (ok && result_has_room(&w->c, blocks.n)) {
    store_blocks(&w->c, &e, &blocks);
  }
  entries_free(&e);
  entries_free(&blocks);
}

static void run_to_rows(void *p) {
  BlockWork *w = p;
  const Sparse *c = &w->c;
  Entries e = {0};
  if (count_elements(&w->a, names_of_a, true) && entries_load(&w->a, 0, true, &e) &&
      entries_sort(&e) && result_has_room(c, e.n)) {
    store_offsets(c, &e);
    for (int64_t i = 0; i < e.n; i++) {
      index_store(c->indices, c->index_type, i, e.list[i].column + c->base);
      number_store(c->values, c->type, i, e.list[i].value);
    }
  }
  entries_free(&e);
}

Status blocks_submit(const Handle *h, const char *call_name, const BlockWork *w) {
  REQUIRE(w->a.rows >= 0 && w->a.columns >= 0, "a size is negative");
  REQUIRE(w->c.format != BSR || w->c.block_rows > 0, "a block has no rows");
  bool to_blocks = w->c.format == BSR;
  LibraryCall c = {.name = call_name,
                   .run = to_blocks ? run_to_blocks : run_to_rows,
                   .arguments = w,
                   .argument_bytes = sizeof *w};
  add_indices(&c, names_of_a[0], w->a.offsets, INDEX_32, stored_offsets(&w->a), OPERAND_READ);
  if (w->total) add_counts(h, &c, &w->c, w->total);
  else
    add_indices(&c, names_of_c[0], w->c.offsets, INDEX_32, stored_offsets(&w->c),
                to_blocks ? OPERAND_READ : OPERAND_WRITE);
  return submit_call(h, &c);
}

EXPORT Status cusparseXcsr2bsrNnz(const Handle *h, int direction, int m, int n,
                                  const LegacyMatrix *da, const int *offsets, const int *columns,
                                  int block, const LegacyMatrix *dc, int *to, int *total) {
  BEGIN(h);
  REQUIRE(IS(da, LEGACY) && IS(dc, LEGACY), "a descriptor is none, or was destroyed");
  REQUIRE(total && block > 0, "the pointer for the number of blocks is null, or a block is empty");
  BlockWork w = {.a = csr_of(m, n, 0, da, R_32F), .c = csr_of(m, n, 0, dc, R_32F), .total = total};
  w.a.offsets = (void *)offsets;
  w.a.indices = (void *)columns;
  w.c.offsets = to;
  whole_blocks_of(&w.c, block, direction);
  return blocks_submit(h, call_name, &w);
}
