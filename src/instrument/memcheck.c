// memcheck: every load, store and atomic stays inside the object its address was computed from.
#include "instrument/memcheck.h"

static void keep_facts(Memcheck *m) {
  Program *p = m->body->program;
  if (!m->facts.len) return;
  InstrumentedKernel *k = &p->out->kernels[m->body->info->kernel];
  InstrumentFact *facts = ARENA_ARRAY(&p->out->arena, InstrumentFact, m->facts.len);
  memcpy(facts, m->facts.data, sizeof *facts * m->facts.len);
  k->facts = facts;
  k->nfacts = m->facts.len;
}

// Nothing was looked up yet: the empty range.
static void prepare_cache(Memcheck *m) {
  bool any = false;
  for (uint32_t i = 0; i < m->nchecks; i++) any |= m->checks[i].kind == CHECK_LOOKUP;
  if (!any) return;
  Code *c = body_entry(m->body);
  m->cache_base = body_reg(m->body, TYPE_B64);
  m->cache_last = body_reg(m->body, TYPE_B64);
  EMIT(c, "mov.u64", opd_reg(m->cache_base), opd_imm(-1));
  EMIT(c, "mov.u64", opd_reg(m->cache_last), opd_imm(0));
}

static void weave(Body *b) {
  Memcheck m = {.body = b, .provenance = ir_provenance_build(b->cfg), .defs = ir_defs_build(b->cfg), .alignment = ir_alignment_build(b->cfg)};
  memcheck_plan(&m);
  memcheck_group(&m);
  memcheck_hoist(&m);
  prepare_cache(&m);
  for (uint32_t i = 0; i < m.nchecks; i++) memcheck_emit(&m, &m.checks[i]);
  memcheck_heap(&m);
  keep_facts(&m);
  vec_free(&m.facts);
  ir_alignment_free(m.alignment);
  ir_defs_free(m.defs);
  ir_provenance_free(m.provenance);
}

const Pass pass_memcheck = {.weave = weave};
