// The paths that a kernel's threads can take: blocks of instructions. A function that the kernel
// calls has blocks of its own for each call. Private to sass/.
#ifndef WG_SASS_PATHS_H
#define WG_SASS_PATHS_H

#include "sass/effects.h"

enum { SASS_NO_BLOCK = 0xffffffff };

// How the last instruction of a block goes on.
typedef enum SassEnd {
  END_FALLS,   // to the next instruction
  END_BRANCH,  // to `taken` if its condition holds, else to the next instruction
  END_EXIT,    // the thread ends if its condition holds
  END_UNKNOWN  // to an address that is not known
} SassEnd;

typedef struct SassBlock {
  uint32_t first, end;  // instructions
  uint32_t call;        // the call that led here, plus 1; 0: none
  SassEnd how;
  uint32_t taken, next;  // blocks; SASS_NO_BLOCK: none
} SassBlock;

typedef struct SassPaths {
  SassBlock *list;
  uint32_t n;
} SassPaths;

// false: the kernel is too large, or functions call functions
bool sass_paths_open(SassPaths *p, const SassInstruction *code, uint32_t n, unsigned sm);
void sass_paths_close(SassPaths *p);

// Of each block the nearest one that all paths from it meet again; SASS_NO_BLOCK: only at the end.
// go_taken, go_next: the branches that can happen
void sass_joins(const SassPaths *p, const bool *go_taken, const bool *go_next, uint32_t *joins);

#endif
