// Level 3: products of matrices and solves with them.
#include <complex.h>
#undef I

#include "libraries/cublas/internal.h"

Status gemm_submit(const Handle *h, const char *name, GemmWork *g) {
  if (!gemm_scale_type(g)) {
    warpgrind_library_services.refused(name, "these types of A, B, C and of the computation do not "
                                             "go together");
    return NOT_SUPPORTED;
  }
  const char *wrong = gemm_wrong(g);
  if (wrong) return refuse(name, wrong);
  if (h->math_mode == MATH_TF32 && g->compute == COMPUTE_32F) g->compute = COMPUTE_32F_FAST_TF32;
  LibraryCall c = {.name = name, .run = gemm_run, .arguments = g, .argument_bytes = sizeof *g};
  gemm_operands(&c, g);
  return submit(h, &c);
}

#define FUNCTIONS "libraries/cublas/level3_functions.h"
#include "libraries/cublas/for_all_types.h"
#undef FUNCTIONS
#define FUNCTIONS "libraries/cublas/gemm_functions.h"
#include "libraries/cublas/for_all_types.h"
