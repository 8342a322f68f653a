// The exported functions whose names contain the type of elements: each fills in a Work.
#include <complex.h>
#undef I

#include "libraries/cusolver/internal.h"

static Status buffer_size(const Handle *h, int *out, int m, int n) {
  Status s = handle_check(h);
  if (s) return s;
  if (!out || m < 0 || n < 0) return INVALID_VALUE;
  *out = workspace_elements(m, n);
  return SUCCESS;
}

#define API(f) PASTE(cusolverDn, T, f, )
#define NAME(f) TEXT(API(f))
// Parts of a Work, from the parameters of the function.
#define MATRIX_A .type = DATA, .a = (void *)a, .lda = lda
#define MATRIX_B .b = (void *)b, .ldb = ldb
#define MATRIX_C .c = c, .ldc = ldc
#define REFLECTORS .tau = (void *)tau
#define PIVOTS .pivots = (void *)pivots
#define M_BY_N .m = m, .n = n
#define RESULT .info = info, WORKSPACE
#define WORKSPACE .workspace = work, .workspace_bytes = (int64_t)lwork * (int64_t)sizeof(E)

#define FUNCTIONS_OF_A_TYPE "libraries/cusolver/factor_functions.h"
#include "libraries/common/for_all_types.h"
#undef FUNCTIONS_OF_A_TYPE
#define FUNCTIONS_OF_A_TYPE "libraries/cusolver/orthogonal_functions.h"
#include "libraries/common/for_all_types.h"
#undef FUNCTIONS_OF_A_TYPE
#define FUNCTIONS_OF_A_TYPE "libraries/cusolver/eigen_functions.h"
#include "libraries/common/for_all_types.h"
#undef FUNCTIONS_OF_A_TYPE
#define FUNCTIONS_OF_A_TYPE "libraries/cusolver/svd_functions.h"
#include "libraries/common/for_all_types.h"
