// The only export of libwarpgrind-blas.so.
#include "libraries/blas/blas.h"

#define REAL(name) NAMED(s##name) NAMED(d##name)
#define COMPLEX(name) NAMED(c##name) NAMED(z##name)
#define ALL(name) REAL(name) COMPLEX(name)
#define NAMED(name) BlasRoutine name##_;
#include "libraries/blas/routines.def"
#undef NAMED
#define NAMED(name) .name = name##_,
__attribute__((visibility("default"))) const BlasTable warpgrind_blas = {
#include "libraries/blas/routines.def"
};
