// Products of matrices, for cuBLAS and cuBLASLt: D = alpha op(A) op(B) + beta C, for any of the
// types that the two libraries multiply.
#ifndef WG_LIBRARIES_GEMM_H
#define WG_LIBRARIES_GEMM_H

#include "libraries/common/call.h"
#include "libraries/common/numbers.h"

// cublasComputeType_t
typedef enum Compute {
  COMPUTE_16F = 64,
  COMPUTE_16F_PEDANTIC = 65,
  COMPUTE_32F = 68,
  COMPUTE_32F_PEDANTIC = 69,
  COMPUTE_64F = 70,
  COMPUTE_64F_PEDANTIC = 71,
  COMPUTE_32I = 72,
  COMPUTE_32I_PEDANTIC = 73,
  COMPUTE_32F_FAST_16F = 74,
  COMPUTE_32F_FAST_16BF = 75,
  COMPUTE_32F_FAST_TF32 = 77,
  COMPUTE_32F_EMULATED = 78,
  COMPUTE_64F_EMULATED = 79
} Compute;

typedef struct GemmMatrix {
  const void *p;  // GemmWork.pointers: an array of pointers in device memory
  DataType type;
  int64_t ld, stride;  // elements
} GemmMatrix;

typedef struct GemmWork {
  char transa, transb;  // 'N', 'T' or 'C'
  int64_t m, n, k, batch;
  GemmMatrix a, b, c, d;
  bool pointers;
  bool swapped;    // the program calls a its B, and b its A
  DataType scale;  // type of alpha and beta
  Compute compute;
  Scalar alpha, beta;
} GemmWork;

// The type of alpha and beta; false: the types do not go together.
bool gemm_scale_type(GemmWork *g);
// Why the shapes are wrong, in words; NULL: they are not.
const char *gemm_wrong(const GemmWork *g);
void gemm_operands(LibraryCall *c, const GemmWork *g);
void gemm_run(void *work);
// One product of the batch: D in double (complex: pairs), column after column, before it is
// rounded. For epilogues. Caller frees; NULL: no memory
void gemm_store(const GemmWork *g, const double *sums, void *to);  // rounds it to D's type
double *gemm_product(const GemmWork *g, const void *a, const void *b, const void *c);
#endif
