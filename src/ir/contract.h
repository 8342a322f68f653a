// ir/contract.h: what contract_plan.c decides and contract.c carries out. Not for other folders.
#ifndef WG_IR_CONTRACT_H
#define WG_IR_CONTRACT_H

#include "ir/internal.h"

typedef enum ContractAction {
  CONTRACT_NONE,      // not ours
  CONTRACT_EXPLICIT,  // add .rn: ptxas must not fuse it
  CONTRACT_FUSE,      // an add or sub that becomes fma.rn
  CONTRACT_DELETE,    // a product, or a copy of one, that only fused additions read
  CONTRACT_LEAVE,     // fused by ptxas, but no explicit form makes the same code; see docs/ir.md
} ContractAction;

typedef struct ContractStep {
  ContractAction action;
  uint32_t mul;         // FUSE: instruction of the product
  uint8_t operand;      // FUSE: which source of the addition it is, 0 or 1
  bool negate_product;  // FUSE: a neg between the two, or the product is subtracted
  bool negate_addend;
  // the product: its sources are overwritten before a fused addition reads them
  bool save_a, save_b;
  bool feeds_fma;      // the product: some fused addition needs its sources
  bool near_addition;  // the product: an addition of its own block reads it and was not fused
} ContractStep;

typedef struct ContractPlan {
  Arena arena;
  ContractStep *steps; /* per instruction */
} ContractPlan;

// What ptxas would do for architecture sm.
void contract_plan(const IrCfg *c, uint32_t sm, bool debug, ContractPlan *plan);

// contract_apart.c: products and sums that the plan did not fuse, but that ptxas could fuse after
// woven code changes something else, become EXPLICIT.
struct ContractFacts;
void contract_keep_apart(const IrCfg *c, const struct ContractFacts *facts, ContractPlan *plan);

bool contract_is_candidate(const PtxInstr *in);   // mul, add or sub without a rounding mode
bool contract_makes_product(const PtxInstr *in);  // ends in a multiplication ptxas may fuse

// Known values of registers that are written once in the function.
typedef struct ContractFacts {
  bool *once;  // written by one instruction
  bool *is_const;
  uint64_t *value;  // by an unguarded mov of an immediate
  bool *is_banked;  // a kernel parameter, constant variable or immediate, perhaps negated
} ContractFacts;
void contract_find_facts(const IrCfg *c, Arena *a, ContractFacts *f);
// contract_unroll.c: per block, whether it is in a loop that ptxas may unroll completely.
bool *contract_find_unrollable(const IrCfg *c, const ContractFacts *facts, Arena *a);
bool contract_constant(const ContractFacts *f, const PtxOperand *o, uint64_t *bits);
bool contract_is_banked(const ContractFacts *f, const PtxOperand *o);
bool contract_is_one(PtxType t, uint64_t bits);  // +1 or -1 in a scalar type

#endif
