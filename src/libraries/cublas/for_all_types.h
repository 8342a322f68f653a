// Includes FUNCTIONS for each type of elements, and for functions with int and with int64_t.
// Besides the names of common/for_all_types.h:
//   INT         the type of sizes
//   API(f)      cublasSf_v2 or cublasSf_v2_64; NEW(f): without the version
//   FIRST       defined for one of the two widths
#define API(f) PASTE(cublas, T, f, V2)
#define NEW(f) PASTE(cublas, T, f, V1)
#define NAME(f) TEXT(PASTE(cublas, T, f, ))
#define BLAS(f) (blas()->PASTE(t, f, , ))

#define FUNCTIONS_OF_A_TYPE "libraries/cublas/for_both_widths.h"
#include "libraries/common/for_all_types.h"
