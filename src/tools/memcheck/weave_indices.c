// Indices that leave an array inside of a variable or structure. OpenCL's compiler tests them
// (src/opencl/compiler.c); a test that fails is a move into a register that is known by its name
// (src/opencl/library/indices.cl).
#include "tools/memcheck/internal.h"

void memcheck_indices(Memcheck *m) {
  Body *b = m->body;
  for (uint32_t i = 0; i < b->cfg->ninstrs; i++) {
    const PtxInstr *in = b->cfg->instrs[i];
    if (in->op != OP_MOV || in->nops != 2 || in->ops[0].kind != OPD_REG ||
        !code_is_named(in->ops[0].reg, "wg_index_outside"))
      continue;
    Code *c = body_after(b, i);
    code_report(c, &(CodeReport){.site = program_site(b->program, b, in),
                                 .kind = opd_imm(KIND_OOB_INDEX),
                                 .size = opd_imm(0),
                                 .address = opd_imm(0),
                                 .value = opd_reg(in->ops[0].reg),
                                 .extra = opd_imm(0)});
    if (memcheck_stops(b)) code_emit(c, "trap", &(const PtxOperand){.kind = OPD_NONE}, 0);
  }
}
