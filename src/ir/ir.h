// ir: analyses over one PTX function, and the contract pass. Analyses never change the PTX.
//
// An IrCfg is a flat view: all instructions of the body in order, cut into basic blocks. Block 0 is
// the entry.
#ifndef WG_IR_H
#define WG_IR_H

#include "base/base.h"
#include "ptx/ptx.h"

#define IR_NONE UINT32_MAX

typedef struct IrBlock {
  uint32_t first, end;  // instrs[first..end)
  uint32_t *succ;
  uint32_t nsucc;  // taken branch targets first, fall-through last
  uint32_t *pred;
  uint32_t npred;
  // filled by the analyses below
  uint32_t rpo;          // position in IrCfg.order, IR_NONE: unreachable
  uint32_t idom, ipdom;  // IR_NONE: entry / virtual exit
  uint32_t loop;         // innermost loop, IR_NONE: none
} IrBlock;

typedef struct IrLoop {
  uint32_t header, parent, depth;
  uint32_t *blocks;
  uint32_t nblocks;
} IrLoop;

typedef struct IrCfg {
  Arena arena;
  PtxFunc *func;
  PtxInstr **instrs;
  uint32_t ninstrs;
  uint32_t *block_of;     // instruction -> block
  uint32_t *label_block;  // PtxLabel.id -> block that starts there (code labels)
  IrBlock *blocks;
  uint32_t nblocks;
  // Reachable blocks in a reverse post-order in which every loop is contiguous: blocks that leave a
  // loop come after all blocks of the loop. The virtual device runs lanes at the lowest position
  // first, so that they reconverge.
  uint32_t *order;
  uint32_t norder;
  IrLoop *loops;
  uint32_t nloops;
} IrCfg;

// --- cfg.c, dominators.c, loops.c: builds all of the above. ret/exit/trap end a block; call does
// not. ---
IrCfg *ir_cfg_build(PtxFunc *f, Error *err);
void ir_cfg_free(IrCfg *c);
bool ir_dominates(const IrCfg *c, uint32_t a, uint32_t b);
bool ir_postdominates(const IrCfg *c, uint32_t a, uint32_t b);
bool ir_in_loop(const IrCfg *c, uint32_t block, uint32_t loop);  // or in one inside of it
// The operand names a parameter of the kernel f, not a .param variable of a call.
bool ir_is_kernel_param(const PtxFunc *f, const PtxOperand *o);

// --- liveness.c: bit sets over PtxReg.id ---
// per block
typedef struct IrLiveness {
  Arena arena;
  uint32_t words;
  uint64_t **live_in, **live_out;
} IrLiveness;
// A guarded write does not kill (lanes whose guard is false keep the old value).
IrLiveness *ir_liveness_build(const IrCfg *c);
void ir_liveness_free(IrLiveness *l);

// --- uniform.c: what lanes of a warp have in common, for one kernel ---
typedef enum { IR_UNIFORM, IR_AFFINE, IR_VARYING } IrClass;
typedef struct IrUniformFacts {
  // Lane l of a warp has tid.x = first + l and the same tid.y and tid.z as lane 0: blockDim.x is a
  // multiple of 32, or blockDim.y and blockDim.z are 1.
  bool lanes_are_consecutive;
  // Look for what all threads of a block share, not only those of a warp: they run the same
  // non-divergent blocks in the same order, and find equal values in UNIFORM registers there.
  bool whole_block;
  // For whole_block: whether a load from shared memory at a block-uniform address gives all threads
  // the same value. NULL: no load does.
  bool (*same_in_block)(void *user, const PtxInstr *load);
  // Whether an instruction gives each thread its own value, whatever it reads. NULL: none does.
  bool (*differs)(void *user, const PtxInstr *in);
  void *user;
  // A register that no instruction writes and that is uniform; NULL: none.
  const PtxReg *same;
} IrUniformFacts;
// A lane is finished when it has exited or stands at a block that only holds ret or exit. The
// guarantee, provided the device always runs the lanes at the lowest place of IrCfg.order first and
// merges lanes that reach the same place:
// - block not divergent: whenever it runs, all lanes of the warp that are not finished run it
//   together.
// - UNIFORM register: it is only written in such blocks, by all those lanes with the same value.
// - AFFINE register: the same, and lane l holds lane 0's value + l * stride, modulo the width (32
//   or 64 bits).
//
// So an instruction whose destinations are all UNIFORM may be executed once for the warp. A device
// that lets lanes overtake others for the sake of progress must treat all registers of that warp as
// VARYING from then on. Special registers and memory that other warps change are read once for all
// lanes, as the hardware does.
typedef struct IrUniform {
  Arena arena;
  uint8_t *reg_class;     // IrClass by PtxReg.id
  int32_t *stride;        // AFFINE: the step from lane to lane; else 0
  bool *block_divergent;  // by block
} IrUniform;
IrUniform *ir_uniform_build(const IrCfg *c, const IrUniformFacts *facts);
void ir_uniform_free(IrUniform *u);
void ir_dump_uniform(const IrCfg *c, const IrUniform *u, Str *out);  // dump.c

// --- provenance.c: which parameter or variable an address was computed from ---
typedef enum {
  IR_FROM_NOTHING,  // never written
  IR_FROM_INTEGER,  // a number that is no address
  IR_FROM_PARAM,    // the 8 bytes at `offset` of kernel parameter `var`
  // variable `var`: global, const, shared or local, or a parameter of the kernel itself
  IR_FROM_VAR,
  IR_FROM_UNKNOWN
} IrOriginKind;
typedef struct IrOrigin {
  IrOriginKind kind;
  bool is_pointer;  // PARAM: used as an address somewhere; else it may be a size
  bool is_null;     // INTEGER: the constant 0
  const PtxVar *var;
  int64_t offset;
} IrOrigin;
static inline bool ir_is_object(IrOrigin o) {
  return o.kind == IR_FROM_PARAM || o.kind == IR_FROM_VAR;
}
// by PtxReg.id
typedef struct IrProvenance {
  Arena arena;
  const IrCfg *cfg;
  IrOrigin *reg;
} IrProvenance;
IrProvenance *ir_provenance_build(const IrCfg *c);
void ir_provenance_free(IrProvenance *p);
// PARAM, VAR or UNKNOWN
IrOrigin ir_access_origin(const IrProvenance *p, const PtxOperand *address);

// --- address.c: an address as object + scale * index + offset ---
#define IR_SEVERAL (UINT32_MAX - 1)
// by PtxReg.id: the only unguarded write, IR_NONE, IR_SEVERAL
typedef struct IrDefs {
  Arena arena;
  const IrCfg *cfg;
  uint32_t *instr;
} IrDefs;
IrDefs *ir_defs_build(const IrCfg *c);
void ir_defs_free(IrDefs *d);
const PtxInstr *ir_single_def(const IrDefs *d, const PtxReg *r);  // NULL: not exactly one
typedef struct IrAddress {
  bool taken_apart;  // address == object + scale * index + offset; else index is the whole address
  IrOrigin origin;
  const PtxReg *base;  // holds the object's address; NULL: it is the variable itself
  const PtxReg *index;
  int64_t scale;  // index NULL: none
  uint8_t index_bytes;
  bool index_signed;  // index_bytes 4: widened to 64 bits
  int64_t offset;
} IrAddress;
void ir_dump_provenance(const IrCfg *c, Str *out);  // dump.c
// use: the instruction's number in the IrCfg
IrAddress ir_address(const IrDefs *d, const IrProvenance *p, uint32_t use,
                     const PtxOperand *address);

// --- alignment.c: which power of two divides an address ---
enum { IR_ALIGNMENT_MOST = 12 };
// by PtxReg.id
typedef struct IrAlignment {
  Arena arena;
  const IrCfg *cfg;
  uint8_t *zeros;
  bool *based;
} IrAlignment;
IrAlignment *ir_alignment_build(const IrCfg *c);
void ir_alignment_free(IrAlignment *a);
// Is the address always a multiple of `bytes`? to_parameter: provided the pointer parameter it was
// computed from is.
bool ir_is_aligned(const IrAlignment *a, const PtxOperand *address, uint32_t bytes,
                   bool to_parameter);

// --- range.c: bounds of addresses in variables, whatever the program is given ---
enum { IR_RANGE_OPERANDS = 2 };
// var + low … var + high; var NULL: a number
typedef struct IrRange {
  const PtxVar *var;
  int64_t low, high;
} IrRange;
typedef struct IrRanges {
  Arena arena;
  IrRange *address;
} IrRanges;  // by instruction and operand
IrRanges *ir_ranges_build(const IrCfg *c, const IrDefs *defs);
void ir_ranges_free(IrRanges *r);
// Whether an access of so many bytes at this operand always stays inside the variable.
bool ir_stays_inside(const IrRanges *r, uint32_t instr, unsigned operand, const PtxVar *v,
                     uint32_t bytes);

// --- linear.c: what a loop's addresses are in all of its iterations ---
enum { IR_LINEAR_TERMS = 8 };
typedef enum { IR_NOT_WIDENED, IR_SIGN_EXTENDED, IR_ZERO_EXTENDED } IrWidening;
typedef struct IrTerm {
  const PtxReg *reg;
  IrWidening widened;
  int64_t factor;
} IrTerm;
// sum of factor * reg, plus constant
typedef struct IrLinear {
  bool known;
  uint8_t n;
  IrTerm terms[IR_LINEAR_TERMS];
  int64_t constant;
} IrLinear;
// Whether the instruction computes one result from its operands alone, cheaply enough to do it
// twice.
bool ir_is_simple_arithmetic(const PtxInstr *in);
IrLinear ir_linear_add(IrLinear a, IrLinear b, int64_t scale);  // a + scale * b
// In iteration k = 0, 1, … the value is first + k * step, registers as they are when the loop is
// entered.
typedef struct IrLoopAccess {
  uint32_t instr;
  unsigned operand;
  IrLinear first, step;
} IrLoopAccess;
// A sum that must fit 32 bits in every iteration.
typedef struct IrLoopWidened {
  IrLinear first, step;
  bool is_signed;
} IrLoopWidened;
typedef struct IrLoopPlan {
  Arena arena;
  uint32_t loop, entry;  // entry: the block before the header
  bool counted;
  // After iteration k the loop goes on if distance + k * distance_moves <goes_on> 0 (MOD_NE, MOD_LT
  // …), unless it leaves elsewhere.
  IrLinear distance, distance_moves;
  PtxMod goes_on;
  int64_t distance_step;  // distance_moves, where that is a constant; else 0
  // a pointer moves by a product of distance_moves that was computed before the loop
  bool by_products;
  // the known accesses; the loop's others are not listed
  IrLoopAccess *accesses;
  uint32_t naccesses;
  IrLoopWidened *widened;
  uint32_t nwidened;  // the plan holds only if all of these hold
  // by PtxReg.id: its only write is in the loop and depends on loop-invariant values only; in the
  // plan the register stands for that value. NULL: none
  bool *recomputed;
} IrLoopPlan;
// innermost loops only; false: not counted
bool ir_loop_plan(const IrCfg *c, uint32_t loop, IrLoopPlan *p);
// Also follows addresses of shared memory, and recomputed registers.
bool ir_loop_plan_shared(const IrCfg *c, const IrDefs *defs, uint32_t loop, IrLoopPlan *p);
void ir_loop_plan_free(IrLoopPlan *p);
void ir_dump_loop_plans(const IrCfg *c, Str *out);  // dump.c

// --- ends.c: what must happen for a loop to end ---
typedef enum {
  IR_END_FIXED,  // no exit condition changes in the loop: threads in it never leave
  // each iteration moves `index` by `step`, a register from outside the loop that must not be 0.
  // (Or the iterations were counted before the loop, by a division by `step`)
  IR_END_STEPS,
  IR_END_WAITS,    // what instruction `load` reads must change
  IR_END_OPEN,     // it depends on more than that
  IR_END_BOUNDED,  // a counter moves by a constant: it ends after a number of turns
} IrLoopEndKind;
typedef struct IrLoopEnd {
  IrLoopEndKind kind;
  // the instruction that stands for the loop: its back branch if that can leave, else another exit
  uint32_t branch;
  const PtxReg *index;
  const PtxOperand *step;
  uint32_t load;  // IR_NONE: none
  // registers that exit conditions compare and the loop writes; all_watched: none is missing
  PtxReg *watched[4];
  uint32_t nwatched;
  bool all_watched;
} IrLoopEnd;
void ir_loop_end(const IrCfg *c, uint32_t loop, IrLoopEnd *e);

// --- decides.c: what decides whether a loop continues ---
// reads: some of them depend on memory, by weak loads only
typedef struct IrDeciding {
  PtxReg **regs;
  uint32_t n;
  bool reads;
} IrDeciding;
// Finds the registers, live before instruction `at`, that decide how the loop continues. false:
// other threads influence it, too.
bool ir_loop_decides(const IrCfg *c, uint32_t loop, uint32_t at, Arena *arena, IrDeciding *d);

// --- verify.c: blocks, edges, labels and register uses agree; run after every transformation. ---
bool ir_verify(const IrCfg *c, Error *err);

// --- contract.c: makes fused multiply-add explicit exactly where ptxas would fuse. ---
// requires: a verified module. keeps: the machine code ptxas makes of it. breaks: an IrCfg built
// before. The module is verified again at the end. Afterwards no plain mul and add are left that
// ptxas could fuse, now or after a later pass has changed the code around them (exceptions:
// docs/ir.md).
bool ir_contract(PtxModule *m, Error *err);
// For the architecture ptxas or the driver will assemble for (90; 0: the module's own). log, if not
// NULL, gets one line per instruction changed.
bool ir_contract_for(PtxModule *m, uint32_t sm, Str *log, Error *err);

#endif
