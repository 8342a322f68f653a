// Types of the program, from the debug information of its objects (-g): the fields of structs, what
// a variable points to. A type is flattened into parts, one for each scalar; an array of scalars or
// of structs is one part with the number of its elements.
#ifndef WG_SYMBOL_TYPE_H
#define WG_SYMBOL_TYPE_H

#include "symbol/symbol.h"

enum { SYMBOL_TYPE_DIMS = 4, SYMBOL_TYPE_PARTS = 1024 };
typedef struct SymbolPart {
  const char *path;    // ".pos.x", ".corner[].y"; "": the type itself is a scalar
  const char *scalar;  // "f32"; of a bit field "u32:5:3": its unit, first bit, number of bits
  const char *of;      // scalar "ptr": what it points to, "float"; else NULL
  uint64_t offset;
  unsigned ndims;  // one for each [] of the path
  struct {
    uint64_t count, stride;
  } dims[SYMBOL_TYPE_DIMS];
} SymbolPart;
typedef struct SymbolType {
  const char *name;  // "Particle"
  uint64_t bytes;
  SymbolPart *parts;
  uint32_t nparts;
} SymbolType;

// type: of an array that of its elements
typedef struct SymbolVariable {
  const SymbolType *type;
  unsigned ndims;
  uint64_t dims[SYMBOL_TYPE_DIMS];
} SymbolVariable;

// All functions return NULL if the type is not known. Results live with the store.
// "float", "unsigned int", "Particle", "ns::Vec<float>", "Particle*"
const SymbolType *symbol_type_named(SymbolTable *t, const char *name);
// A variable of the program, not of a function: the host's copy of a __device__ variable.
const SymbolVariable *symbol_variable(SymbolTable *t, const char *name);
// The type that the pointer `path` ("p", "view.data", "parts[i]") points to. Looks in the function
// that this return address is in, and among the program's variables.
const SymbolType *symbol_pointed_type(SymbolTable *t, uint64_t return_address, const char *path);

#endif
