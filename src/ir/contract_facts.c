// contract_facts: registers whose value is known or is in the constant bank, as ptxas determines
// before it fuses.
#include "ir/contract.h"

bool contract_constant(const ContractFacts *f, const PtxOperand *o, uint64_t *bits) {
  if (o->kind == OPD_FLOAT || o->kind == OPD_INT) *bits = (uint64_t)o->imm;
  else if (o->kind == OPD_REG && o->selector == SEL_NONE && f->is_const[o->reg->id])
    *bits = f->value[o->reg->id];
  else return false;
  return true;
}

bool contract_is_banked(const ContractFacts *f, const PtxOperand *o) {
  if (o->kind == OPD_FLOAT || o->kind == OPD_INT) return true;
  return o->kind == OPD_REG && o->selector == SEL_NONE && f->is_banked[o->reg->id];
}

bool contract_is_one(PtxType t, uint64_t bits) {
  switch (t) {
    case TYPE_F32:
      return (bits & 0x7fffffff) == 0x3f800000 || bits == 0x3ff0000000000000 ||
             bits == 0xbff0000000000000;
    case TYPE_F64: return (bits & 0x7fffffffffffffff) == 0x3ff0000000000000;
    case TYPE_F16: return (bits & 0x7fff) == 0x3c00;
    case TYPE_BF16: return (bits & 0x7fff) == 0x3f80;
    default: return false;
  }
}

static void count_def(void *ctx, PtxReg **reg, bool is_def) {
  uint32_t *defs = ctx;
  if (is_def) defs[(*reg)->id]++;
}

static void mark_banked(void *ctx, PtxReg **reg, bool is_def) {
  ContractFacts *f = ctx;
  if (is_def && f->once[(*reg)->id]) f->is_banked[(*reg)->id] = true;
}

// ld.param of a kernel, and ld.const at a fixed address.
static bool reads_bank(const IrCfg *c, const PtxInstr *in) {
  if (in->op != OP_LD || in->guard || in->nops != 2 || in->ops[1].kind != OPD_ADDR ||
      in->ops[1].list[0].kind != OPD_VAR)
    return false;
  return in->space == SPACE_CONST ||
         (in->space == SPACE_PARAM && ir_is_kernel_param(c->func, &in->ops[1].list[0]));
}

void contract_find_facts(const IrCfg *c, Arena *a, ContractFacts *f) {
  uint32_t n = c->func->nregs;
  uint32_t *defs = ARENA_ARRAY(a, uint32_t, n + 1);
  f->once = ARENA_ARRAY(a, bool, n + 1);
  f->is_const = ARENA_ARRAY(a, bool, n + 1);
  f->is_banked = ARENA_ARRAY(a, bool, n + 1);
  f->value = ARENA_ARRAY(a, uint64_t, n + 1);
  for (uint32_t i = 0; i < c->ninstrs; i++) ptx_visit_regs(c->instrs[i], count_def, defs);
  for (uint32_t r = 0; r < n; r++) f->once[r] = defs[r] == 1 && !c->func->regs[r]->vector;
  for (uint32_t k = 0; k < c->norder; k++) {
    const IrBlock *b = &c->blocks[c->order[k]];
    for (uint32_t i = b->first; i < b->end; i++) {
      PtxInstr *in = c->instrs[i];
      if (reads_bank(c, in)) ptx_visit_regs(in, mark_banked, f);
      bool copies = in->op == OP_MOV || in->op == OP_NEG || in->op == OP_ABS;
      if (!copies || in->guard || in->nops != 2 || in->ops[0].kind != OPD_REG ||
          !f->once[in->ops[0].reg->id])
        continue;
      uint32_t r = in->ops[0].reg->id;
      f->is_banked[r] = contract_is_banked(f, &in->ops[1]);
      if (in->op != OP_MOV || (in->ops[1].kind != OPD_FLOAT && in->ops[1].kind != OPD_INT))
        continue;
      f->is_const[r] = true;
      f->value[r] = (uint64_t)in->ops[1].imm;
    }
  }
}
