// cuBLASLt on the virtual device: descriptors, and their data for the epilogue of a product.
#ifndef WG_LIBRARIES_CUBLASLT_INTERNAL_H
#define WG_LIBRARIES_CUBLASLT_INTERNAL_H

#include "libraries/blas/blas.h"
#include "libraries/common/blas_status.h"
#include "libraries/common/gemm.h"

// --- descriptors.c ---

// A descriptor is a list of attributes by their number; each fits into eight bytes.
enum { ATTRIBUTES = 40 };
typedef struct Attributes {
  uint64_t value[ATTRIBUTES];
  uint8_t bytes[ATTRIBUTES];
} Attributes;
// The attributes of a descriptor, which may lie in the program's own memory; NULL: none
const Attributes *attributes_of(const void *descriptor);
static inline void *attribute_pointer(const Attributes *a, int i) {
  return (void *)(uintptr_t)a->value[i];
}

enum {  // of a layout
  LAYOUT_TYPE,
  LAYOUT_ORDER,
  LAYOUT_ROWS,
  LAYOUT_COLS,
  LAYOUT_LD,
  LAYOUT_BATCH,
  LAYOUT_STRIDE
};
enum { ORDER_COLUMN, ORDER_ROW };
enum {  // of a product
  DESC_COMPUTE = 0,
  DESC_SCALE = 1,
  DESC_POINTER_MODE = 2,
  DESC_TRANSA = 3,
  DESC_TRANSB = 4,
  DESC_EPILOGUE = 7,
  DESC_BIAS = 8,
  DESC_BIAS_STRIDE = 10,
  DESC_AUX = 11,
  DESC_AUX_LD = 12,
  DESC_AUX_STRIDE = 13,
  DESC_A_SCALE = 17,
  DESC_B_SCALE = 18,
  DESC_C_SCALE = 19,
  DESC_D_SCALE = 20,
  DESC_AMAX_D = 21,
  DESC_AUX_TYPE = 22,
  DESC_AUX_SCALE = 23,
  DESC_AUX_AMAX = 24,
  DESC_BIAS_TYPE = 26,
  DESC_A_SCALE_MODE = 31,
  DESC_B_SCALE_MODE = 32,
  DESC_C_SCALE_MODE = 33,
  DESC_D_OUT_SCALE_MODE = 37
};
enum { TRANSFORM_SCALE, TRANSFORM_POINTER_MODE, TRANSFORM_TRANSA, TRANSFORM_TRANSB };

Status lt_refuse(const char *call, const char *why);
Status lt_unsupported(const char *call, const char *why);
char lt_operation(uint64_t trans);  // cublasOperation_t: 'N', 'T' or 'C'

// --- epilogue.c ---

// Bits of cublasLtEpilogue_t.
enum {
  EPILOGUE_NONE = 1,
  RELU = 2,
  BIAS = 4,
  RELU_GRADIENT = 8,
  BIAS_GRADIENT = 16,  // of D
  GELU = 32,
  GELU_GRADIENT = 64,
  AUX = 128,
  BIAS_GRADIENT_A = 256,
  BIAS_GRADIENT_B = 512
};
// The operations on a product before it is stored. Pointers that are not used are NULL.
typedef struct Epilogue {
  unsigned flags;
  bool row_major;  // D is, so its transpose is computed
  void *bias;      // read, or written with the gradient
  DataType bias_type;
  int64_t bias_stride;
  // ReLU: one bit for each element of D, set where it is above 0. GELU: its argument. Written by
  // the activation, read by its gradient
  void *aux;
  DataType aux_type;
  int64_t aux_ld, aux_stride;  // elements
  const float *scale_a, *scale_b, *scale_c, *scale_d, *scale_aux;
  float *amax_d, *amax_aux;  // get the largest magnitude
  bool vector_a, vector_b;   // a scale for each row of op(A), for each column of op(B)
} Epilogue;

Epilogue epilogue_of(const Attributes *d, DataType type_of_d, bool row_major);
// Why it is not served; NULL: it is.
const char *epilogue_beyond(const Epilogue *e, const GemmWork *g, const Attributes *d);
const char *epilogue_wrong(const Epilogue *e, const GemmWork *g);
bool epilogue_is_empty(const Epilogue *e);
void epilogue_operands(LibraryCall *c, const Epilogue *e, const GemmWork *g);
// Changes the sums of the matrix number `batch`, and writes the epilogue's other results.
void epilogue_apply(const Epilogue *e, const GemmWork *g, double *sums, int64_t batch);
#endif
