#ifndef WG_WEAVE_STORE_REACH_H
#define WG_WEAVE_STORE_REACH_H

#include "weave/pass.h"

// --- store_reach.c ---
typedef struct ReachNodes {
  VEC(ReachNode) list;
} ReachNodes;
// A kernel whose store addresses are analysed. known: register -> node plus 2, 1: not known; empty
// at first. out: the nodes
typedef struct ReachOf {
  const IrDefs *defs;
  const PtxFunc *func;
  U64Map *known;
  ReachNodes *out;
} ReachOf;
// Describes the address of an access as an expression; false: it has none.
bool reach_add(const ReachOf *r, const PtxOperand *address, uint32_t bytes, ReachRoot *root);

#endif
