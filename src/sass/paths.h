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

typedef struct SassTaken {
  const bool *go_taken, *go_next;  // by block: whether these branches can happen
} SassTaken;
// For each block, the nearest block in which all paths from it meet; SASS_NO_BLOCK: only at the
// end.
void sass_joins(const SassPaths *p, const SassTaken *t, uint32_t *joins);
// For each block, the last block on all paths to it.
void sass_gates(const SassPaths *p, const SassTaken *t, uint32_t *gates);
// Do all paths to `block` come through `gate`?
bool sass_gate_of(const uint32_t *gates, uint32_t gate, uint32_t block);
// Adds the blocks of the loop that begins with `first`, a gate of `from`, which jumps there.
void sass_loop(const SassPaths *p, const SassTaken *t, uint32_t first, uint32_t from, bool *loop);

// --- dominators.c ---
typedef struct SassEdges {
  uint32_t *first, *to;  // of block i: to[first[i]] to to[first[i + 1] - 1]
} SassEdges;
// The immediate dominator of each of n blocks in the graph `down`, whose reversed edges are `up`.
// SASS_NO_BLOCK: none, as of roots, and where paths from several roots meet. Blocks that no root
// leads to become roots.
void sass_dominators(uint32_t n, const SassEdges *down, const SassEdges *up, bool *is_root,
                     uint32_t *out);

#endif
