// blas: OpenBLAS with its LAPACK, linked statically into a file of its own (libwarpgrind-blas.so)
// that exports one table. So it neither meets the program's own BLAS nor starts threads, and a
// program that computes nothing never loads it.
//
// Routines are called as from Fortran: every argument is a pointer; LAPACK also gets the length of
// each string at the end.
#ifndef WG_LIBRARIES_BLAS_H
#define WG_LIBRARIES_BLAS_H

typedef void BlasRoutine();  // of any arguments: Fortran has no prototypes
typedef struct BlasTable {
#define NAMED(name) BlasRoutine *name;
#define REAL(name) NAMED(s##name) NAMED(d##name)
#define COMPLEX(name) NAMED(c##name) NAMED(z##name)
#define ALL(name) REAL(name) COMPLEX(name)
#include "libraries/blas/routines.def"
#undef ALL
#undef COMPLEX
#undef REAL
#undef NAMED
} BlasTable;

const BlasTable *blas(void);  // loads the file at its first call; NULL: it is not there
#endif
