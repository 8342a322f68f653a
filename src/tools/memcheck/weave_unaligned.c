// A misaligned load in a program of our OpenCL platform is reported, and then performed byte by
// byte, as on devices that allow it: the program goes on with the value that it would get there. A
// GPU ends a launch of CUDA at such a load, and the result is zero.
#include "tools/memcheck/internal.h"

#define OF_OPENCL "__wgcl_local"  // src/opencl/fit.c declares it in every program

static bool is_performed(const Memcheck *m, const Check *c, const PtxInstr *in) {
  bool memory = c->space == SPACE_GLOBAL || c->space == SPACE_GENERIC;
  return ptx_find_var(m->body->func->module, OF_OPENCL) && in->op == OP_LD && in->nops == 2 &&
         in->ops[0].kind == OPD_REG && !in->ops[0].reg->vector && memory && c->bytes > 1 &&
         c->bytes == ptx_type_size(in->ops[0].reg->type);
}

void memcheck_load_bytes(Memcheck *m, Code *code, const Check *c, PtxReg *kind, PtxReg *address,
                         PtxLabel *after) {
  Body *b = m->body;
  PtxInstr *in = b->cfg->instrs[c->instr];
  if (!is_performed(m, c, in)) return;
  PtxReg *misaligned = body_temp(b, TYPE_PRED, 1), *value = body_temp(b, TYPE_B64, 1),
         *part = body_temp(b, TYPE_B32, 2);
  PtxOperand to = in->ops[0];
  const PtxOperand args[] = {opd_reg(address), opd_imm(c->bytes)};
  PtxLabel *other = body_label(b);
  EMIT(code, "setp.eq.u32", opd_reg(misaligned), opd_reg(kind), opd_imm(KIND_MISALIGNED));
  code_branch(code, misaligned, true, other);
  code_call_value(code, probe_function(b->program, b->unit, "wg_load_bytes"), value, args, 2);
  if (c->bytes == 8) EMIT(code, "mov.b64", to, opd_reg(value));
  if (c->bytes == 4) {
    EMIT(code, "cvt.u32.u64", opd_reg(part), opd_reg(value));
    EMIT(code, "mov.b32", to, opd_reg(part));
  }
  if (c->bytes == 2) {
    PtxReg *half = body_temp(b, TYPE_B16, 0);
    EMIT(code, "cvt.u16.u64", opd_reg(half), opd_reg(value));
    EMIT(code, "mov.b16", to, opd_reg(half));
  }
  EMIT(code, "bra", opd_label(after));
  code_label(code, other);
}
