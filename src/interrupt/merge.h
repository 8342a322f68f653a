// Functions that cannot be inlined, put into the kernel with a stack of its own. merge.c finds them
// and puts them there; merge_calls.c makes branches of their calls.
#ifndef WG_INTERRUPT_MERGE_H
#define WG_INTERRUPT_MERGE_H

#include "interrupt/stops.h"

typedef struct Merged {  // a function in the kernel; the first is the kernel itself
  const PtxFunc *of;
  PtxFunc *copy;
  PtxLabel *entry;
  uint32_t frame;  // its bytes on the stack; the kernel has none
  uint32_t saves;  // where in the frame registers are kept during calls
} Merged;
typedef struct MergedCall {
  PtxInstr *call;
  Merged *from;
  PtxReg **live;  // registers of `from` that it needs after the call
  uint32_t nlive;
} MergedCall;
typedef struct Merge {
  PtxModule *m;
  PtxFunc *kernel;
  Arena *arena;
  VEC(Merged *) funcs;
  VEC(MergedCall) calls;
  PtxReg *sp;      // the frame of the function that runs
  PtxVar *stack;   // a local variable of the kernel
  PtxLabel *back;  // where a function that returns goes
  PtxInstr *last;  // the instruction there, which is never executed
  PtxReg *overflows;
} Merge;
enum { FRAME_HEADER = 16 };  // of a frame: the number of the call
// The offset in a frame of the n-th of a function's results and parameters; n: their end
uint32_t merge_place(PtxVar *const *returns, uint32_t nreturns, PtxVar *const *params,
                     uint32_t nparams, uint32_t n);
// Calls through pointers may lead there.
static inline bool merge_is_target(const PtxFunc *f) { return stops_address_taken(f->module, f); }

// --- merge_calls.c ---
bool merge_calls(Merge *g, Program *p, Error *err);

#endif
