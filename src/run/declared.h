// Arrays that a kernel's source declares, in shared memory or of a thread's own; declared.c.
#ifndef WG_RUN_DECLARED_H
#define WG_RUN_DECLARED_H

#include "run/template_arguments.h"

enum { DECLARED_DIMS = 4, DECLARED_TYPE = 128 };
// dims[i] 0: not a number that the source tells
typedef struct DeclaredArray {
  char name[64], type[DECLARED_TYPE];
  unsigned ndims;
  uint64_t dims[DECLARED_DIMS];
} DeclaredArray;

// A function of a source. readable: its demangled name, with the arguments of its template
typedef struct DeclaringFunction {
  const Source *source;
  const char *name, *readable;
} DeclaringFunction;
// The array or scalar of this name in shared memory, declared in the function, or else the only one
// of the file. false: there is none, or several.
bool declared_shared(const DeclaringFunction *f, const char *name, DeclaredArray *out);
// The one array that the function declares in a thread's own memory. false: none, or several.
bool declared_local(const DeclaringFunction *f, DeclaredArray *out);

#endif
