// malloc of device code: the block it returns is unwritten. See tools/initcheck/probe_heap.c.
#include "tools/initcheck/internal.h"

bool init_takes_memory(const PtxFunc *f) {
  for (uint32_t i = 0; i < f->nstmts; i++)
    if (f->stmts[i].kind == STMT_INSTR && heap_calls(f->stmts[i].instr, "malloc")) return true;
  return false;
}

void init_heap(InitCheck *k, uint32_t i) {
  Body *b = k->body;
  uint32_t store, load;
  if (!heap_calls(b->cfg->instrs[i], "malloc") || !heap_takes(b->cfg, i, &store, &load)) return;
  PtxReg *bytes = body_reg(b, TYPE_B64), *address = body_temp(b, TYPE_B64, 0),
         *table = body_temp(b, TYPE_B64, 1), *site = body_temp(b, TYPE_B32, 0);
  EMIT(body_before(b, store), "mov.b64", opd_reg(bytes), b->cfg->instrs[store]->ops[1]);
  Code *c = body_after(b, load);
  EMIT(c, "mov.b64", opd_reg(address), b->cfg->instrs[load]->ops[0]);
  record_load(c, table, offsetof(WgLaunch, init_memory));
  record_site(c, site, program_site(b->program, b, b->cfg->instrs[i]));
  const PtxOperand args[] = {opd_reg(table), opd_reg(address), opd_reg(bytes), opd_reg(site)};
  code_call(c, probe_function(b->program, b->unit, "wg_init_born"), args, 4);
  b->program->out->uses_heap = true;
}

// The origin of the value for the report: WgFinding.extra[0]. Modules without a call of malloc get
// no code for the heap.
void init_origin(InitCheck *k, Code *c, PtxReg *to) {
  Body *b = k->body;
  PtxReg *table = body_temp(b, TYPE_B64, 5), *source = body_temp(b, TYPE_B32, 7);
  EMIT(c, "cvt.u64.u32", opd_reg(to), opd_reg(k->origin_site));
  if (!init_program(b->program)->uses_heap) return;
  record_load(c, table, offsetof(WgLaunch, init_memory));
  const PtxOperand args[] = {opd_reg(table), opd_reg(k->origin_address)};
  code_call_value(c, probe_function(b->program, b->unit, "wg_init_source"), source, args, 2);
  EMIT(c, "cvt.u64.u32", opd_reg(table), opd_reg(source));
  EMIT(c, "shl.b64", opd_reg(table), opd_reg(table), opd_imm(32));
  EMIT(c, "or.b64", opd_reg(to), opd_reg(to), opd_reg(table));
}
