// ir/internal.h: the stages of ir_cfg_build, in the order it runs them. Not for other folders.
#ifndef WG_IR_INTERNAL_H
#define WG_IR_INTERNAL_H

#include "ir/ir.h"

// order.c: some reverse post-order; fills order, norder and blocks[].rpo. Needs the edges only.
void order_depth_first(IrCfg *c);
// dominators.c: fills idom and ipdom. Needs a reverse post-order.
void dominators_compute(IrCfg *c);
// loops.c: fills loops and blocks[].loop. Needs dominators.
void loops_find(IrCfg *c);
// order.c: rewrites order and blocks[].rpo so that every loop is contiguous. Needs loops.
void order_by_loops(IrCfg *c);

// liveness.c: ignores the instructions marked dead (NULL: none).
IrLiveness *liveness_without(const IrCfg *c, const bool *dead);

#endif
