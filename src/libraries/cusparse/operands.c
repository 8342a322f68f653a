// Which memory a call of cuSPARSE reads and writes.
#include "libraries/cusparse/internal.h"

const char *const names_of_a[3] = {"the offset array of A", "the index array of A",
                                   "the value array of A"},
                  *const names_of_b[3] = {"the offset array of B", "the index array of B",
                                          "the value array of B"},
                  *const names_of_c[3] = {"the offset array of C", "the index array of C",
                                          "the value array of C"};
const char *const names_of_x[2] = {"the index array of x", "the value array of x"};

void add_elements(LibraryCall *c, const char *name, const void *p, Element e, int64_t n,
                  unsigned access) {
  Operand o = operand_of_vector(name, p, e, (uint64_t)(n < 0 ? 0 : n), 1);
  o.access = access;
  call_operand(c, &o);
}

void add_indices(LibraryCall *c, const char *name, const void *p, int type, int64_t n,
                 unsigned access) {
  add_elements(c, name, p, (Element){type == INDEX_64 ? 8 : 4, OPERAND_OTHER}, n, access);
}

// --- how many elements the arrays of a format have ---

int64_t stored_values(const Sparse *s) {
  switch (s->format) {
    case BSR: return s->count * s->block_rows * s->block_columns;
    case SLICED_ELL: return s->stored;
    default: return s->count;
  }
}
int64_t stored_indices(const Sparse *s) { return s->format == SLICED_ELL ? s->stored : s->count; }
int64_t stored_offsets(const Sparse *s) {
  switch (s->format) {
    case CSR: return s->rows + 1;
    case CSC: return s->columns + 1;
    case BSR: return s->rows / s->block_rows + 1;
    case COO: return s->count;
    case SLICED_ELL: return (s->rows + s->slice - 1) / s->slice + 1;
  }
  return 0;
}

typedef struct Piece {
  const char *name;
  const void *p;
  Element element;
  int64_t n, stride;
  unsigned access;
} Piece;

static void add_piece(LibraryCall *c, const Sparse *s, Piece piece) {
  if (piece.n <= 0) return;
  Operand o = operand_of_vector(piece.name, piece.p, piece.element, (uint64_t)piece.n, 1);
  o.access = piece.access;
  if (s->batch > 1 && piece.stride) {
    o.batch = (uint64_t)s->batch;
    o.slice = (uint64_t)piece.stride * o.element;
  }
  call_operand(c, &o);
}

void add_sparse(LibraryCall *c, const char *const names[3], const Sparse *s, unsigned access) {
  Element offset = {s->offset_type == INDEX_64 ? 8 : 4, OPERAND_OTHER},
          index = {s->index_type == INDEX_64 ? 8 : 4, OPERAND_OTHER};
  add_piece(
      c, s,
      (Piece){names[0], s->offsets, offset, stored_offsets(s), s->offset_stride, OPERAND_READ});
  add_piece(c, s,
            (Piece){names[1], s->indices, index, stored_indices(s), s->index_stride, OPERAND_READ});
  unsigned of_values = access | (s->format == SLICED_ELL ? OPERAND_PARTLY : 0);  // padding
  if (access)
    add_piece(c, s,
              (Piece){names[2], s->values, element_of(s->type), stored_values(s), s->value_stride,
                      of_values});
}

void add_dense(LibraryCall *c, const char *name, const Dense *d, unsigned access) {
  bool by_rows = d->order == ORDER_ROW;
  Operand o = operand_of_matrix(name, d->values, element_of(d->type),
                                (uint64_t)(by_rows ? d->columns : d->rows),
                                (uint64_t)(by_rows ? d->rows : d->columns), (uint64_t)d->ld);
  o.access = access;
  if (d->batch > 1 && d->stride) {
    o.batch = (uint64_t)d->batch;
    o.slice = (uint64_t)d->stride * o.element;
  }
  call_operand(c, &o);
}

void add_vector(LibraryCall *c, const char *const names[2], const SparseVector *v,
                unsigned access) {
  add_indices(c, names[0], v->indices, v->index_type, v->count, OPERAND_READ);
  add_elements(c, names[1], v->values, element_of(v->type), v->count, access);
}

void add_buffer(LibraryCall *c, void *buffer) {
  if (buffer)
    add_elements(c, "the buffer", buffer, (Element){1, OPERAND_OTHER}, BUFFER_BYTES,
                 OPERAND_WRITE | OPERAND_PARTLY);
}

unsigned result_access(const Scalar *beta, DataType t) {
  if (scalar_is_zero(beta, number_bytes(t))) return OPERAND_WRITE;
  return OPERAND_WRITE | OPERAND_READ | (beta->device ? OPERAND_PARTLY : 0);
}
