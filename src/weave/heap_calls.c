// Calls of malloc and free in device code, and the instructions beside them that pass the argument
// and take the result.
#include "weave/pass.h"

bool heap_calls(const PtxInstr *in, const char *name) {
  return in->op == OP_CALL && in->nops >= 3 && in->ops[1].kind == OPD_FUNC &&
         in->ops[1].func->is_declaration && !func_info(in->ops[1].func)->target &&
         !strcmp(in->ops[1].func->name, name) && in->ops[2].nlist == 1 &&
         in->ops[2].list[0].kind == OPD_VAR;
}

uint32_t heap_partner(const IrCfg *cfg, uint32_t call, PtxOp op, const PtxVar *v) {
  const IrBlock *b = &cfg->blocks[cfg->block_of[call]];
  int step = op == OP_ST ? -1 : 1;
  for (uint32_t i = call + (uint32_t)step; i >= b->first && i < b->end; i += (uint32_t)step) {
    const PtxInstr *in = cfg->instrs[i];
    const PtxOperand *a = &in->ops[op == OP_ST ? 0 : 1];
    if (in->op == OP_CALL) break;
    if (in->op == op && in->space == SPACE_PARAM && in->nops == 2 && a->kind == OPD_ADDR &&
        a->list[0].kind == OPD_VAR && a->list[0].var == v && !in->guard)
      return i;
  }
  return IR_NONE;
}

bool heap_takes(const IrCfg *cfg, uint32_t call, uint32_t *store, uint32_t *load) {
  const PtxInstr *in = cfg->instrs[call];
  if (in->guard || in->ops[0].nlist != 1 || in->ops[0].list[0].kind != OPD_VAR) return false;
  *store = heap_partner(cfg, call, OP_ST, in->ops[2].list[0].var);
  *load = heap_partner(cfg, call, OP_LD, in->ops[0].list[0].var);
  return *store != IR_NONE && *load != IR_NONE && cfg->instrs[*load]->ops[0].kind == OPD_REG;
}
