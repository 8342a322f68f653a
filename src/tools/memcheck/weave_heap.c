// malloc and free of device code. The calls stay, but malloc must return a few bytes more, its
// result is recorded, and for pointers that are not blocks of the heap, free gets null.
#include "tools/memcheck/internal.h"

static void store_instead(Memcheck *m, uint32_t store, PtxReg *value) {
  Code *c = body_instead(m->body, store);
  PtxOperand *ops = ARENA_ARRAY(&m->body->func->module->arena, PtxOperand, 2);
  PtxInstr *in = code_instr(c, m->body->cfg->instrs[store]);
  ops[0] = in->ops[0];
  ops[1] = opd_reg(value);
  in->ops = ops;
}

static void report(Memcheck *m, Code *c, uint32_t call, PtxReg *kind, PtxOperand size,
                   PtxReg *address) {
  uint32_t site = program_site(m->body->program, m->body, m->body->cfg->instrs[call]);
  m->body->program->sites.data[site].space = SPACE_GLOBAL;
  code_report(c, &(CodeReport){.site = site,
                               .kind = opd_reg(kind),
                               .size = size,
                               .address = opd_reg(address),
                               .value = opd_imm(0),
                               .extra = opd_imm(0)});
}

static void watch_malloc(Memcheck *m, uint32_t call) {
  Body *b = m->body;
  uint32_t store, load;
  if (!heap_takes(b->cfg, call, &store, &load)) return;
  PtxReg *bytes = body_reg(b, TYPE_B64), *more = body_temp(b, TYPE_B64, 0),
         *heap = body_temp(b, TYPE_B32, 3), *kind = body_temp(b, TYPE_B32, 2);
  PtxReg *none = body_temp(b, TYPE_PRED, 1), *address = body_temp(b, TYPE_B64, 0);
  Code *c = body_before(b, store);
  EMIT(c, "mov.b64", opd_reg(bytes), b->cfg->instrs[store]->ops[1]);
  record_load(c, heap, offsetof(WgLaunch, heap));
  EMIT(c, "setp.ne.u32", opd_reg(none), opd_reg(heap), opd_imm(0));
  // 0 and sizes that would wrap stay as they are
  EMIT(c, "sub.s64", opd_reg(more), opd_reg(bytes), opd_imm(1));
  EMIT(c, "setp.lt.and.u64", opd_reg(none), opd_reg(more), opd_imm(1ll << 48), opd_reg(none));
  EMIT(c, "selp.b64", opd_reg(more), opd_imm(WG_HEAP_BEHIND), opd_imm(0), opd_reg(none));
  EMIT(c, "add.s64", opd_reg(more), opd_reg(more), opd_reg(bytes));
  store_instead(m, store, more);
  c = body_after(b, load);
  EMIT(c, "mov.b64", opd_reg(address), b->cfg->instrs[load]->ops[0]);
  record_load(c, heap, offsetof(WgLaunch, heap));
  const PtxOperand args[] = {opd_reg(heap), opd_reg(address), opd_reg(bytes)};
  code_call_value(c, probe_function(b->program, b->unit, "wg_heap_add"), kind, args, 3);
  EMIT(c, "setp.ne.u32", opd_reg(none), opd_reg(kind), opd_imm(0));
  code_guard(c, none, false);
  EMIT(c, "mov.u32", opd_reg(kind), opd_imm(KIND_HEAP_EXHAUSTED));
  report(m, c, call, kind, opd_imm(0), bytes);
  code_guard(c, NULL, false);
}

static void watch_free(Memcheck *m, uint32_t call) {
  Body *b = m->body;
  uint32_t store = heap_partner(b->cfg, call, OP_ST, b->cfg->instrs[call]->ops[2].list[0].var);
  if (store == IR_NONE) return;
  PtxReg *address = body_reg(b, TYPE_B64), *table = body_temp(b, TYPE_B64, 3),
         *heap = body_temp(b, TYPE_B32, 3), *kind = body_temp(b, TYPE_B32, 2);
  PtxReg *bad = body_temp(b, TYPE_PRED, 1);
  Code *c = body_before(b, store);
  EMIT(c, "mov.b64", opd_reg(address), b->cfg->instrs[store]->ops[1]);
  record_load(c, heap, offsetof(WgLaunch, heap));
  record_load(c, table, offsetof(WgLaunch, memory));
  const PtxOperand args[] = {opd_reg(heap), opd_reg(table), opd_reg(address)};
  code_call_value(c, probe_function(b->program, b->unit, "wg_heap_free"), kind, args, 3);
  EMIT(c, "setp.ne.u32", opd_reg(bad), opd_reg(kind), opd_imm(0));
  code_guard(c, bad, false);
  report(m, c, call, kind, opd_imm(0), address);
  EMIT(c, "mov.b64", opd_reg(address), opd_imm(0));
  code_guard(c, NULL, false);
  store_instead(m, store, address);
}

void memcheck_heap(Memcheck *m) {
  const IrCfg *cfg = m->body->cfg;
  for (uint32_t i = 0; i < cfg->ninstrs; i++) {
    bool takes = heap_calls(cfg->instrs[i], "malloc"), gives = heap_calls(cfg->instrs[i], "free");
    if (cfg->blocks[cfg->block_of[i]].rpo == IR_NONE || cfg->instrs[i]->guard) continue;
    if (takes) watch_malloc(m, i);
    if (gives) watch_free(m, i);
    if (takes || gives) m->body->program->out->uses_heap = true;
  }
}
