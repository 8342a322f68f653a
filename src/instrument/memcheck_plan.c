// Decides how each address of a function is checked, from what is known about where it comes from.
#include "instrument/memcheck.h"

static bool is_kernel_with_record(const Memcheck *m) { return m->body->info->record != NULL; }

// The instructions this tool checks. Others that access memory (matrix fragments, bulk and tensor copies, textures) have no
// single address of known size, or must run with all lanes of a warp.
static bool is_checked(const PtxInstr *in) {
  switch (in->op) {
    case OP_LD: case OP_LDU: case OP_ST: case OP_ATOM: case OP_RED: return true;
    default: return false;
  }
}

static uint32_t param_index(const PtxFunc *f, const PtxVar *v) {
  for (uint32_t i = 0; i < f->nparams; i++)
    if (f->params[i] == v) return i;
  return UINT32_MAX;
}

static const InstrumentFact *same_fact(const Memcheck *m, const InstrumentFact *f) {
  for (uint32_t i = 0; i < m->facts.len; i++) {
    const InstrumentFact *o = &m->facts.data[i];
    if (o->kind == f->kind && o->param == f->param && o->param_offset == f->param_offset && o->bytes == f->bytes &&
        (f->kind == FACT_RANGE || (o->offset == f->offset && o->scale == f->scale && o->index_signed == f->index_signed))) return o;
  }
  return NULL;
}

// Room in the launch record for what the host knows about a pointer parameter; 0: there is no more room.
static uint32_t fact(Memcheck *m, InstrumentFact f) {
  const InstrumentFact *known = same_fact(m, &f);
  if (known) return known->record_offset;
  f.record_offset = record_reserve(m->body, f.kind == FACT_RANGE ? 16 : 8);
  if (f.record_offset) vec_push(&m->facts, f);
  return f.record_offset;
}

static void plan_parameter(Memcheck *m, Check *c) {
  const IrAddress *a = &c->address;
  uint32_t param = is_kernel_with_record(m) ? param_index(m->body->func, a->origin.var) : UINT32_MAX;
  if (param == UINT32_MAX) return;
  InstrumentFact f = {.kind = FACT_RANGE, .param = param, .param_offset = (uint32_t)a->origin.offset, .bytes = c->bytes,
                      .param_at = (uint32_t)(a->origin.var->param_offset + (uint64_t)a->origin.offset)};
  c->range_at = fact(m, f);
  if (!c->range_at) return;
  c->kind = CHECK_RANGE;
  bool narrow = a->taken_apart && (!a->index || (a->index_bytes == 4 && a->scale > 0 && a->scale <= 1 << 20));
  if (!narrow) return;
  f.kind = FACT_INDEX_LIMIT;
  f.offset = a->offset;
  f.scale = a->index ? (uint32_t)a->scale : 1;
  f.index_signed = a->index_signed;
  c->limit_at = fact(m, f);
  if (!c->limit_at) return;
  c->kind = CHECK_INDEX;
  c->limit = -1;
  c->index = (PtxReg *)a->index;
}

static void plan_variable(Memcheck *m, Check *c) {
  const IrAddress *a = &c->address;
  const PtxVar *v = a->origin.var;
  if (!v->size || v->linkage == LINK_EXTERN || v->linkage == LINK_COMMON || c->bytes > v->size) return;   // unsized: a size of the launch
  int64_t last = (int64_t)v->size - c->bytes - a->offset;      // of scale * index
  c->var = v;
  if (a->taken_apart && !a->index) {
    if (a->offset >= 0 && last >= 0) c->kind = CHECK_NOTHING;
    else c->kind = CHECK_INDEX, c->limit = 0;                   // outside, always
    return;
  }
  if (a->taken_apart && a->index_bytes == 4 && a->scale > 0 && a->offset >= 0 && last >= 0) {
    c->kind = CHECK_INDEX;
    c->limit = MIN(last / a->scale + 1, a->index_signed ? INT32_MAX : (int64_t)UINT32_MAX);
    c->index = (PtxReg *)a->index;
    return;
  }
  if (c->space != SPACE_GENERIC) {
    c->kind = CHECK_VARIABLE;
    c->limit = (int64_t)v->size - c->bytes;
  }
}

static void plan_address(Memcheck *m, uint32_t instr, unsigned operand) {
  const PtxInstr *in = m->body->cfg->instrs[instr];
  Check c = {.kind = CHECK_NOTHING, .instr = instr, .operand = operand, .space = in->space, .bytes = access_bytes(in)};
  if (!c.bytes) return;
  c.address = ir_address(m->defs, m->provenance, instr, &in->ops[operand]);
  bool global = c.space == SPACE_GLOBAL || c.space == SPACE_GENERIC;
  if (global) c.kind = CHECK_LOOKUP;
  if (c.address.origin.kind == IR_FROM_PARAM && global) plan_parameter(m, &c);
  else if (c.address.origin.kind == IR_FROM_VAR) plan_variable(m, &c);
  if (c.kind == CHECK_NOTHING) return;
  if (m->check_of[instr] == UINT32_MAX) m->check_of[instr] = m->nchecks;
  m->checks[m->nchecks++] = c;
}

void memcheck_plan(Memcheck *m) {
  const IrCfg *cfg = m->body->cfg;
  Arena *a = &m->body->program->scratch;
  m->checks = ARENA_ARRAY(a, Check, cfg->ninstrs + 1);
  m->check_of = ARENA_ARRAY(a, uint32_t, cfg->ninstrs + 1);
  memset(m->check_of, 0xff, sizeof *m->check_of * (cfg->ninstrs + 1));
  for (uint32_t i = 0; i < cfg->ninstrs; i++) {
    const PtxInstr *in = cfg->instrs[i];
    if (!is_checked(in) || in->space == SPACE_PARAM || cfg->blocks[cfg->block_of[i]].rpo == IR_NONE) continue;
    for (unsigned k = 0; k < in->nops; k++)
      if (in->ops[k].kind == OPD_ADDR) plan_address(m, i, k);
  }
}
