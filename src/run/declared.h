// Arrays that a kernel's source declares, in shared memory or of a thread's own; declared.c.
#ifndef WG_RUN_DECLARED_H
#define WG_RUN_DECLARED_H

#include "run/source.h"

enum { DECLARED_DIMS = 4, DECLARED_TYPE = 128 };
// dims[i] 0: not a number that the source tells
typedef struct DeclaredArray {
  char name[64], type[DECLARED_TYPE];
  unsigned ndims;
  uint64_t dims[DECLARED_DIMS];
} DeclaredArray;

// The array or scalar of this name in shared memory, declared in the function, or else the only one
// of the file. false: there is none, or several.
bool declared_shared(const Source *s, const char *function, const char *name, DeclaredArray *out);
// The one array that the function declares in a thread's own memory. false: none, or several.
bool declared_local(const Source *s, const char *function, DeclaredArray *out);

#endif
