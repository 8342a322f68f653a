#ifndef WG_INSTRUMENT_REACH_H
#define WG_INSTRUMENT_REACH_H

#include "weave/pass.h"

// --- reach.c ---
typedef struct ReachNodes {
  VEC(ReachNode) list;
} ReachNodes;
// The address of an access as an expression; false: it is not one that is understood. known: empty
// at first, the same for all of a kernel.
bool reach_add(const IrDefs *defs, const PtxFunc *f, U64Map *known, const PtxOperand *address,
               uint32_t bytes, ReachNodes *out, ReachRoot *root);

#endif
