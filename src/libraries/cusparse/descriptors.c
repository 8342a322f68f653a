// The generic interface's descriptors: sparse vectors and matrices, dense vectors and matrices. The
// functions for constant data are the same ones.
#include "libraries/cusparse/internal.h"

static bool is_index(int type) { return type == INDEX_32 || type == INDEX_64; }
static bool is_value(int type) { return number_bytes((DataType)type) != 0; }

#define GIVE(pointer, value) \
  do { \
    if (pointer) *(pointer) = (value); \
  } while (0)
// Two functions with the same parameters: one for constant data and one for other.
#define BOTH(prefix, name, parameters, arguments) \
  EXPORT Status cusparse##prefix##name parameters; \
  EXPORT Status cusparse##prefix##Const##name parameters { \
    return cusparse##prefix##name arguments; \
  } \
  EXPORT Status cusparse##prefix##name parameters

// --- sparse vectors ---

BOTH(Create, SpVec,
     (SparseVector * *out, int64_t size, int64_t count, void *indices, void *values, int index_type,
      int base, int type),
     (out, size, count, indices, values, index_type, base, type)) {
  static const char call_name[] = "cusparseCreateSpVec";
  REQUIRE(size >= 0 && count >= 0 && count <= size, "nnz is not from 0 to size");
  REQUIRE(is_index(index_type) && is_value(type), "a type of indices or values is not known");
  Status s = object_create(out, sizeof **out, MAGIC_VECTOR);
  if (s) return s;
  **out = (SparseVector){MAGIC_VECTOR, size,       count, indices,
                         values,       index_type, base,  (DataType)type};
  return SUCCESS;
}
EXPORT Status cusparseDestroySpVec(SparseVector *v) { return object_destroy(v, MAGIC_VECTOR); }
BOTH(, SpVecGet,
     (SparseVector * v, int64_t *size, int64_t *count, void **indices, void **values,
      int *index_type, int *base, int *type),
     (v, size, count, indices, values, index_type, base, type)) {
  if (!IS(v, VECTOR)) return INVALID_VALUE;
  GIVE(size, v->size);
  GIVE(count, v->count);
  GIVE(indices, v->indices);
  GIVE(values, v->values);
  GIVE(index_type, v->index_type);
  GIVE(base, v->base);
  GIVE(type, (int)v->type);
  return SUCCESS;
}
EXPORT Status cusparseSpVecGetIndexBase(const SparseVector *v, int *base) {
  if (!IS(v, VECTOR) || !base) return INVALID_VALUE;
  *base = v->base;
  return SUCCESS;
}

#define VALUES(name, Type, MAGIC) \
  BOTH(, name##GetValues, (Type * object, void **values), (object, values)) { \
    if (!IS(object, MAGIC) || !values) return INVALID_VALUE; \
    *values = object->values; \
    return SUCCESS; \
  } \
  EXPORT Status cusparse##name##SetValues(Type *object, void *values) { \
    if (!IS(object, MAGIC)) return INVALID_VALUE; \
    object->values = values; \
    return SUCCESS; \
  }
VALUES(SpVec, SparseVector, VECTOR)
VALUES(DnVec, Dense, DENSE)
VALUES(DnMat, Dense, DENSE)
VALUES(SpMat, Sparse, SPARSE)

// --- dense vectors and matrices ---

BOTH(Create, DnVec, (Dense * *out, int64_t size, void *values, int type),
     (out, size, values, type)) {
  static const char call_name[] = "cusparseCreateDnVec";
  REQUIRE(size >= 0, "size is negative");
  REQUIRE(is_value(type), "the type of the values is not known");
  Status s = object_create(out, sizeof **out, MAGIC_DENSE);
  if (s) return s;
  **out = (Dense){.magic = MAGIC_DENSE,
                  .rows = size,
                  .columns = 1,
                  .ld = MAX_OF(1, size),
                  .values = values,
                  .type = (DataType)type,
                  .order = ORDER_COLUMN,
                  .batch = 1};
  return SUCCESS;
}
EXPORT Status cusparseDestroyDnVec(Dense *d) { return object_destroy(d, MAGIC_DENSE); }
BOTH(, DnVecGet, (Dense * d, int64_t *size, void **values, int *type), (d, size, values, type)) {
  if (!IS(d, DENSE)) return INVALID_VALUE;
  GIVE(size, d->rows);
  GIVE(values, d->values);
  GIVE(type, (int)d->type);
  return SUCCESS;
}

BOTH(Create, DnMat,
     (Dense * *out, int64_t rows, int64_t columns, int64_t ld, void *values, int type, int order),
     (out, rows, columns, ld, values, type, order)) {
  static const char call_name[] = "cusparseCreateDnMat";
  REQUIRE(rows >= 0 && columns >= 0, "a size is negative");
  REQUIRE(is_value(type), "the type of the values is not known");
  REQUIRE(order == ORDER_COLUMN || order == ORDER_ROW, "the order is none of CUSPARSE_ORDER_…");
  REQUIRE(ld >= (order == ORDER_ROW ? columns : rows),
          "ld is smaller than the length of a row or column");
  Status s = object_create(out, sizeof **out, MAGIC_DENSE);
  if (s) return s;
  **out = (Dense){MAGIC_DENSE, rows, columns, ld, values, (DataType)type, order, 1, 0};
  return SUCCESS;
}
EXPORT Status cusparseDestroyDnMat(Dense *d) { return object_destroy(d, MAGIC_DENSE); }
BOTH(, DnMatGet,
     (Dense * d, int64_t *rows, int64_t *columns, int64_t *ld, void **values, int *type,
      int *order),
     (d, rows, columns, ld, values, type, order)) {
  if (!IS(d, DENSE)) return INVALID_VALUE;
  GIVE(rows, d->rows);
  GIVE(columns, d->columns);
  GIVE(ld, d->ld);
  GIVE(values, d->values);
  GIVE(type, (int)d->type);
  GIVE(order, d->order);
  return SUCCESS;
}
EXPORT Status cusparseDnMatSetStridedBatch(Dense *d, int batch, int64_t stride) {
  if (!IS(d, DENSE) || batch < 1 || stride < 0) return INVALID_VALUE;
  d->batch = batch;
  d->stride = stride;
  return SUCCESS;
}
EXPORT Status cusparseDnMatGetStridedBatch(const Dense *d, int *batch, int64_t *stride) {
  if (!IS(d, DENSE)) return INVALID_VALUE;
  GIVE(batch, d->batch);
  GIVE(stride, d->stride);
  return SUCCESS;
}

// --- sparse matrices ---

static Status create(Sparse **out, const char *call_name, Sparse s) {
  REQUIRE(s.rows >= 0 && s.columns >= 0 && s.count >= 0, "a size is negative");
  REQUIRE(is_index(s.offset_type) && is_index(s.index_type), "a type of indices is not known");
  REQUIRE(number_bytes(s.type), "the type of the values is not known");
  REQUIRE(s.base == 0 || s.base == 1, "the base of indices is neither 0 nor 1");
  Status status = object_create(out, sizeof **out, MAGIC_SPARSE);
  if (status) return status;
  s.magic = MAGIC_SPARSE;
  s.batch = 1;
  **out = s;
  return SUCCESS;
}

// The parts of a matrix that all formats have, from the parameters of the function, and back.
#define PARTS \
  .rows = rows, .columns = columns, .count = count, .offsets = offsets, .indices = indices, \
  .values = values, .offset_type = offset_type, .index_type = index_type, .base = base, \
  .type = (DataType)type
#define GIVE_PARTS(s) \
  do { \
    GIVE(rows, (s)->rows); \
    GIVE(columns, (s)->columns); \
    GIVE(count, (s)->count); \
    GIVE(offsets, (s)->offsets); \
    GIVE(indices, (s)->indices); \
    GIVE(values, (s)->values); \
    GIVE(offset_type, (s)->offset_type); \
    GIVE(index_type, (s)->index_type); \
    GIVE(base, (s)->base); \
    GIVE(type, (int)(s)->type); \
  } while (0)

#define COMPRESSED(Name, FORMAT) \
  BOTH(Create, Name, \
       (Sparse * *out, int64_t rows, int64_t columns, int64_t count, void *offsets, void *indices, \
        void *values, int offset_type, int index_type, int base, int type), \
       (out, rows, columns, count, offsets, indices, values, offset_type, index_type, base, \
        type)) { \
    return create(out, "cusparseCreate" #Name, (Sparse){PARTS, .format = FORMAT}); \
  } \
  BOTH(, Name##Get, \
       (Sparse * s, int64_t * rows, int64_t * columns, int64_t * count, void **offsets, \
        void **indices, void **values, int *offset_type, int *index_type, int *base, int *type), \
       (s, rows, columns, count, offsets, indices, values, offset_type, index_type, base, type)) { \
    if (!IS(s, SPARSE) || s->format != FORMAT) return INVALID_VALUE; \
    GIVE_PARTS(s); \
    return SUCCESS; \
  }
COMPRESSED(Csr, CSR)
COMPRESSED(Csc, CSC)

// The rows of its elements stand where other formats have offsets.
BOTH(Create, Coo,
     (Sparse * *out, int64_t rows, int64_t columns, int64_t count, void *offsets, void *indices,
      void *values, int index_type, int base, int type),
     (out, rows, columns, count, offsets, indices, values, index_type, base, type)) {
  int offset_type = index_type;
  return create(out, "cusparseCreateCoo", (Sparse){PARTS, .format = COO});
}
BOTH(, CooGet,
     (Sparse * s, int64_t *rows, int64_t *columns, int64_t *count, void **offsets, void **indices,
      void **values, int *index_type, int *base, int *type),
     (s, rows, columns, count, offsets, indices, values, index_type, base, type)) {
  int *offset_type = NULL;
  if (!IS(s, SPARSE) || s->format != COO) return INVALID_VALUE;
  GIVE_PARTS(s);
  return SUCCESS;
}

BOTH(Create, Bsr,
     (Sparse * *out, int64_t rows, int64_t columns, int64_t count, int64_t block_rows,
      int64_t block_columns, void *offsets, void *indices, void *values, int offset_type,
      int index_type, int base, int type, int order),
     (out, rows, columns, count, block_rows, block_columns, offsets, indices, values, offset_type,
      index_type, base, type, order)) {
  static const char call_name[] = "cusparseCreateBsr";
  REQUIRE(block_rows > 0 && block_columns > 0, "a block has no rows or columns");
  REQUIRE(order == ORDER_COLUMN || order == ORDER_ROW, "the order is none of CUSPARSE_ORDER_…");
  Sparse s = {PARTS, .format = BSR, .block_rows = block_rows, .block_columns = block_columns,
              .order = order};
  s.rows *= block_rows;
  s.columns *= block_columns;
  return create(out, call_name, s);
}

BOTH(Create, SlicedEll,
     (Sparse * *out, int64_t rows, int64_t columns, int64_t count, int64_t stored, int64_t slice,
      void *offsets, void *indices, void *values, int offset_type, int index_type, int base,
      int type),
     (out, rows, columns, count, stored, slice, offsets, indices, values, offset_type, index_type,
      base, type)) {
  static const char call_name[] = "cusparseCreateSlicedEll";
  REQUIRE(slice > 0 && stored >= count, "a slice has no rows, or sellValuesSize is below nnz");
  return create(out, call_name,
                (Sparse){PARTS, .format = SLICED_ELL, .stored = stored, .slice = slice});
}
EXPORT Status cusparseDestroySpMat(Sparse *s) { return object_destroy(s, MAGIC_SPARSE); }

#define SET_POINTERS(Name, FORMAT) \
  EXPORT Status cusparse##Name##SetPointers(Sparse *s, void *offsets, void *indices, \
                                            void *values) { \
    if (!IS(s, SPARSE) || s->format != FORMAT) return INVALID_VALUE; \
    s->offsets = offsets; \
    s->indices = indices; \
    s->values = values; \
    return SUCCESS; \
  }
SET_POINTERS(Csr, CSR)
SET_POINTERS(Csc, CSC)
SET_POINTERS(Coo, COO)

EXPORT Status cusparseSpMatGetFormat(const Sparse *s, int *format) {
  if (!IS(s, SPARSE) || !format) return INVALID_VALUE;
  *format = (int)s->format;
  return SUCCESS;
}
EXPORT Status cusparseSpMatGetIndexBase(const Sparse *s, int *base) {
  if (!IS(s, SPARSE) || !base) return INVALID_VALUE;
  *base = s->base;
  return SUCCESS;
}
EXPORT Status cusparseSpMatGetSize(const Sparse *s, int64_t *rows, int64_t *columns,
                                   int64_t *count) {
  if (!IS(s, SPARSE)) return INVALID_VALUE;
  GIVE(rows, s->rows);
  GIVE(columns, s->columns);
  GIVE(count, s->count);
  return SUCCESS;
}

// --- batches ---

EXPORT Status cusparseSpMatGetStridedBatch(const Sparse *s, int *batch) {
  if (!IS(s, SPARSE) || !batch) return INVALID_VALUE;
  *batch = s->batch;
  return SUCCESS;
}
static Status set_batch(Sparse *s, Format format, int batch, int64_t offsets, int64_t indices,
                        int64_t values) {
  if (!IS(s, SPARSE) || s->format != format || batch < 1) return INVALID_VALUE;
  s->batch = batch;
  s->offset_stride = offsets;
  s->index_stride = indices;
  s->value_stride = values;
  return SUCCESS;
}
EXPORT Status cusparseCooSetStridedBatch(Sparse *s, int batch, int64_t stride) {
  return set_batch(s, COO, batch, stride, stride, stride);
}
EXPORT Status cusparseCsrSetStridedBatch(Sparse *s, int batch, int64_t offsets, int64_t columns) {
  return set_batch(s, CSR, batch, offsets, columns, columns);
}
EXPORT Status cusparseBsrSetStridedBatch(Sparse *s, int batch, int64_t offsets, int64_t columns,
                                         int64_t values) {
  return set_batch(s, BSR, batch, offsets, columns, values);
}

// --- attributes ---

static int *attribute_of(Sparse *s, int attribute) {
  return attribute == 0 ? &s->fill : attribute == 1 ? &s->unit_diagonal : NULL;
}
EXPORT Status cusparseSpMatSetAttribute(Sparse *s, int attribute, void *data, size_t size) {
  if (!IS(s, SPARSE) || !data || size != sizeof(int) || !attribute_of(s, attribute))
    return INVALID_VALUE;
  *attribute_of(s, attribute) = *(int *)data;
  return SUCCESS;
}
EXPORT Status cusparseSpMatGetAttribute(Sparse *s, int attribute, void *data, size_t size) {
  if (!IS(s, SPARSE) || !data || size != sizeof(int) || !attribute_of(s, attribute))
    return INVALID_VALUE;
  *(int *)data = *attribute_of(s, attribute);
  return SUCCESS;
}
