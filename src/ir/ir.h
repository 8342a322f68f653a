// ir: analyses over one PTX function, and the contract pass. Analyses never change the PTX.
//
// An IrCfg is a flat view: all instructions of the body in order, cut into basic blocks. Block 0 is the entry.
#ifndef WG_IR_H
#define WG_IR_H

#include "base/base.h"
#include "ptx/ptx.h"

#define IR_NONE UINT32_MAX

typedef struct IrBlock {
  uint32_t first, end;                    // instrs[first..end)
  uint32_t *succ; uint32_t nsucc;         // taken branch targets first, fall-through last
  uint32_t *pred; uint32_t npred;
  // filled by the analyses below
  uint32_t rpo;                           // position in IrCfg.order, IR_NONE: unreachable
  uint32_t idom, ipdom;                   // IR_NONE: entry / virtual exit
  uint32_t loop;                          // innermost loop, IR_NONE: none
} IrBlock;

typedef struct IrLoop { uint32_t header, parent, depth; uint32_t *blocks; uint32_t nblocks; } IrLoop;

typedef struct IrCfg {
  Arena arena;
  PtxFunc *func;
  PtxInstr **instrs; uint32_t ninstrs;
  uint32_t *block_of;                     // instruction -> block
  uint32_t *label_block;                  // PtxLabel.id -> block that starts there (code labels)
  IrBlock *blocks; uint32_t nblocks;
  // Reachable blocks in a reverse post-order in which every loop is contiguous: blocks that leave a loop come after
  // all blocks of the loop. The virtual device runs lanes at the lowest position first, so that they reconverge.
  uint32_t *order; uint32_t norder;
  IrLoop *loops; uint32_t nloops;
} IrCfg;

// --- cfg.c, dominators.c, loops.c: builds all of the above. ret/exit/trap end a block; call does not. ---
IrCfg *ir_cfg_build(PtxFunc *f, Error *err);
void ir_cfg_free(IrCfg *c);
bool ir_dominates(const IrCfg *c, uint32_t a, uint32_t b);
bool ir_postdominates(const IrCfg *c, uint32_t a, uint32_t b);

// --- liveness.c: bit sets over PtxReg.id ---
typedef struct IrLiveness { Arena arena; uint32_t words; uint64_t **live_in, **live_out; } IrLiveness;   // per block
// A guarded write does not kill (lanes whose guard is false keep the old value).
IrLiveness *ir_liveness_build(const IrCfg *c);
void ir_liveness_free(IrLiveness *l);

// --- verify.c: blocks, edges, labels and register uses agree; run after every transformation. ---
bool ir_verify(const IrCfg *c, Error *err);

// --- contract.c: makes fused multiply-add explicit exactly where ptxas would fuse. ---
// requires: a verified module. keeps: the machine code ptxas makes of it. breaks: an IrCfg built before.
// The module is verified again at the end. Afterwards no plain mul and add are left that ptxas could fuse, now or after
// a later pass has changed the code around them (exceptions: docs/ir.md).
bool ir_contract(PtxModule *m, Error *err);
// For the architecture ptxas or the driver will assemble for (90; 0: the module's own). log, if not NULL, gets one line
// per instruction changed.
bool ir_contract_for(PtxModule *m, uint32_t sm, Str *log, Error *err);

#endif
