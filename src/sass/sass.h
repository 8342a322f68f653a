// sass: reads the GPU's machine code far enough to know what a kernel stores in global memory
// (floating-point numbers of which format, through which of its parameters), and whether the
// addresses that it accesses depend on data. For kernels that have no PTX.
//
// The stored formats are evidence, not proof: values and addresses are followed backwards to the
// instructions that made them, through moves, selections, shared and local memory. A value counts
// as a floating-point number if an instruction for such numbers made it.
#ifndef WG_SASS_H
#define WG_SASS_H

#include "base/base.h"

// SASS_OTHER: integers, or values that the kernel only copies
typedef enum SassFormat { SASS_OTHER, SASS_F16, SASS_BF16, SASS_F32, SASS_F64 } SassFormat;
#define SASS_BIT(format) (1u << (format))
enum { SASS_FLOATS = 0x1e };  // all bits but SASS_OTHER's

enum { SASS_NO_PARAM = 0xffffffff };
typedef struct SassStore {
  // Where the pointer is in the parameters, in bytes; SASS_NO_PARAM: not known. It may also be a
  // 64-bit number that the address is computed with: its value at a launch tells.
  uint32_t param;
  uint32_t formats;  // SASS_BIT()s of what is stored there
  bool plain;        // some store there is not atomic
} SassStore;

typedef struct SassKernel {
  const void *code;
  size_t bytes;
  unsigned sm;          // 90
  uint32_t param_base;  // where its parameters are in constant bank 0
  uint32_t param_bytes;
} SassKernel;

typedef struct SassStores {
  SassStore *list;  // each param once
  uint32_t n;
  uint32_t *reads;  // offsets of the pointers that it loads through; each once
  uint32_t nreads;
  uint32_t formats;     // of all stores
  bool through_tensor;  // it also stores through tensor maps
  bool anywhere;  // … through a pointer that is not among its parameters, as far as is known
} SassStores;

// false: machine code of a generation whose instructions are not known
bool sass_stores(const SassKernel *k, Arena *arena, SassStores *out);

// --- repeats.c: do all launches with the same key access the same memory? ---
// The key of a launch: its shape, and of each 32-bit word of its parameters the number, or that it
// is half of a pointer. Launches with one key may differ in where the allocations are, not in where
// in its allocation a pointer points to.
typedef enum SassWordKind {
  SASS_WORD_NUMBER,
  SASS_WORD_LOW,   // of a pointer into an allocation
  SASS_WORD_HIGH,  // … its upper half
  SASS_WORD_SAME,  // a number of the key; which one does not matter
  SASS_WORD_ANY    // not part of the key
} SassWordKind;
typedef struct SassWord {
  SassWordKind kind;
  uint32_t number;
} SassWord;
typedef struct SassParam {
  uint32_t offset, bytes;
} SassParam;
typedef struct SassKey {
  uint32_t grid[3], block[3];
  const SassWord *words;  // of the parameters
  uint32_t nwords;
  const SassParam *params;  // in the order of their offsets
  uint32_t nparams;
} SassKey;

typedef struct SassProgram SassProgram;
// NULL: its generation is not known well enough. Copies what it needs of the code.
SassProgram *sass_program_open(const SassKernel *k);
void sass_program_close(SassProgram *p);
// true: which addresses of global memory a launch accesses depends on its key alone, but for what
// tensor maps describe. why: else the reason, with the offset of an instruction in the code
bool sass_repeats(const SassProgram *p, const SassKey *key, Error *why);

#endif
