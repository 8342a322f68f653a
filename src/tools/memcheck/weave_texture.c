// Fetches from textures over linear memory (tex1Dfetch): the index must be one of the texture's
// elements. How many it has is looked up when a thread meets a texture that is not the one it met
// last. The fetch itself stays as it is: a device gives zero outside.
#include "tools/memcheck/internal.h"

typedef struct Last {
  PtxReg *handle, *elements;
} Last;

static bool is_fetch(const PtxInstr *in) {
  return in->op == OP_TEX && ptx_has(in, MOD_1D) && in->ntypes == 2 && in->types[1] == TYPE_S32 &&
         in->nops >= 2 && in->ops[1].kind == OPD_ADDR && in->ops[1].nlist == 2 &&
         in->ops[1].list[0].kind == OPD_REG && ptx_type_size(in->ops[1].list[0].reg->type) == 8;
}

// The coordinate is a vector of one.
static const PtxOperand *index_of(const PtxInstr *in) {
  const PtxOperand *o = &in->ops[1].list[1];
  return o->kind == OPD_VECTOR ? &o->list[0] : o;
}

static void emit_slow(Memcheck *m, uint32_t i, Last last, PtxLabel *slow, PtxLabel *back) {
  Body *b = m->body;
  const PtxInstr *in = b->cfg->instrs[i];
  Code *c = body_cold(b);
  c->near = in;
  code_label(c, slow);
  uint32_t number = program_site(b->program, b, in);
  PtxReg *table = body_temp(b, TYPE_B64, 3), *channel = body_temp(b, TYPE_B64, 5),
         *launch = body_temp(b, TYPE_B32, 7), *site = body_temp(b, TYPE_B32, 6);
  PtxReg *handle = body_temp(b, TYPE_B64, 0), *index = body_temp(b, TYPE_B32, 5);
  EMIT(c, "mov.b64", opd_reg(handle), in->ops[1].list[0]);
  EMIT(c, "mov.b32", opd_reg(index), *index_of(in));
  record_load(c, table, offsetof(WgLaunch, memory));
  record_load(c, channel, offsetof(WgLaunch, channel));
  record_load(c, launch, offsetof(WgLaunch, launch));
  record_site(c, site, number);
  const PtxOperand args[] = {opd_reg(table),   opd_reg(handle), opd_reg(index),
                             opd_reg(channel), opd_reg(launch), opd_reg(site)};
  code_call_value(c, probe_function(b->program, b->unit, "wg_memcheck_texture"), last.elements,
                  args, 6);
  EMIT(c, "mov.b64", opd_reg(last.handle), in->ops[1].list[0]);
  if (memcheck_stops(b)) {
    PtxReg *bad = body_temp(b, TYPE_PRED, 1);
    EMIT(c, "setp.ge.u32", opd_reg(bad), *index_of(in), opd_reg(last.elements));
    memcheck_stop(c, bad);
  }
  EMIT(c, "bra", opd_label(back));
}

static void check(Memcheck *m, uint32_t i, Last last) {
  Body *b = m->body;
  const PtxInstr *in = b->cfg->instrs[i];
  Code *c = body_before(b, i);
  PtxReg *bad = body_temp(b, TYPE_PRED, 0);
  PtxLabel *slow = body_label(b), *back = body_label(b);
  EMIT(c, "setp.ne.b64", opd_reg(bad), opd_reg(last.handle), in->ops[1].list[0]);
  EMIT(c, "setp.ge.or.u32", opd_reg(bad), *index_of(in), opd_reg(last.elements), opd_reg(bad));
  memcheck_guarded(c, in, bad);
  code_branch(c, bad, false, slow);
  code_label(c, back);
  emit_slow(m, i, last, slow, back);
}

void memcheck_textures(Memcheck *m) {
  Body *b = m->body;
  Last last = {0};
  for (uint32_t i = 0; i < b->cfg->ninstrs; i++) {
    if (b->cfg->blocks[b->cfg->block_of[i]].rpo == IR_NONE || !is_fetch(b->cfg->instrs[i]))
      continue;
    if (!last.handle) {
      last = (Last){body_reg(b, TYPE_B64), body_reg(b, TYPE_B32)};
      Code *c = body_entry(b);
      EMIT(c, "mov.b64", opd_reg(last.handle), opd_imm(0));
      EMIT(c, "mov.b32", opd_reg(last.elements), opd_imm(0));
    }
    check(m, i, last);
  }
}
