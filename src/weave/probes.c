// Device functions written in C. src/probe is compiled to PTX when Warpgrind is built; the
// functions a program's probes call are copied into it, under names of their own.
#include "weave/pass.h"

// Probes may use only what every supported module has; a newer probe fails here.
static void check_needs(const PtxFunc *f, const PtxModule *into) {
  for (uint32_t i = 0; i < f->nstmts; i++)
    if (f->stmts[i].kind == STMT_INSTR)
      CHECK(ptx_op_sm(f->stmts[i].instr->op) <= MAX(into->sm, 30u));
}

// Puts the function after the probes that are there already, before the program's functions.
static void add_function(const Program *p, uint32_t unit, PtxFunc *f) {
  PtxModule *m = p->units[unit];
  PtxFunc **funcs = ARENA_ARRAY(&m->arena, PtxFunc *, m->nfuncs + 1);
  memcpy(funcs, m->funcs, sizeof *funcs * m->nfuncs);
  f->id = m->nfuncs;
  funcs[m->nfuncs++] = f;
  m->funcs = funcs;
  uint32_t at = 0, it = 0;
  const char *name;
  void *probe;
  while (strmap_next(&p->probe_copies[unit], &it, &name, &probe))
    for (uint32_t i = at; i < m->nitems; i++)
      if (m->items[i].kind == ITEM_FUNC && m->items[i].func == probe) at = i + 1;
  PtxItem *items = ARENA_ARRAY(&m->arena, PtxItem, m->nitems + 1);
  memcpy(items, m->items, sizeof *items * at);
  items[at] = (PtxItem){.kind = ITEM_FUNC, .func = f};
  memcpy(items + at + 1, m->items + at, sizeof *items * (m->nitems - at));
  m->items = items;
  m->nitems++;
}

// Also copies the probes that this one calls, and puts them before it.
static void add_callees(Program *p, uint32_t unit, PtxFunc *f) {
  for (uint32_t i = 0; i < f->nstmts; i++) {
    if (f->stmts[i].kind != STMT_INSTR || f->stmts[i].instr->op != OP_CALL) continue;
    PtxOperand *callee = &f->stmts[i].instr->ops[1];
    if (callee->kind == OPD_FUNC && callee->func->module == p->probes)
      callee->func = probe_function(p, unit, callee->func->name);
  }
}

const PtxFunc *probe_original(Program *p, const char *name) {
  if (!p->probes) {
    Error err = {""};
    p->probes = ptx_parse(probe_text, strlen(probe_text), "probe.ptx", &err);
    CHECK(p->probes);
  }
  const PtxFunc *probe = ptx_find_func(p->probes, name);
  CHECK(probe && !probe->is_declaration);
  return probe;
}

PtxFunc *probe_function(Program *p, uint32_t unit, const char *name) {
  if (!p->probe_copies) p->probe_copies = ARENA_ARRAY(&p->scratch, StrMap, p->nunits);
  PtxFunc *known = strmap_get(&p->probe_copies[unit], name);
  if (known) return known;
  PtxModule *m = p->units[unit];
  const PtxFunc *probe = probe_original(p, name);
  check_needs(probe, m);
  PtxFunc *f = copy_function(m, probe, arena_printf(&m->arena, "%s%s", p->prefix, name));
  add_callees(p, unit, f);
  add_function(p, unit, f);
  strmap_put(&p->probe_copies[unit], name, f);
  return f;
}

void probes_free(Program *p) {
  for (uint32_t u = 0; p->probe_copies && u < p->nunits; u++) strmap_free(&p->probe_copies[u]);
  ptx_free(p->probes);
}

void code_report(Code *c, const CodeReport *r) {
  Body *b = c->body;
  PtxFunc *report = probe_function(b->program, b->unit, "wg_report");
  PtxReg *guard = c->guard, *channel = body_temp(b, TYPE_B64, 5),
         *launch = body_temp(b, TYPE_B32, 7), *number = body_temp(b, TYPE_B32, 6);
  bool negated = c->guard_negated;
  PtxLabel *over = guard ? body_label(b) : NULL;
  if (guard) {
    code_guard(c, guard, !negated);
    EMIT(c, "bra", opd_label(over));
  }
  code_guard(c, NULL, false);
  record_load(c, channel, offsetof(WgLaunch, channel));
  record_load(c, launch, offsetof(WgLaunch, launch));
  record_site(c, number, r->site);
  const PtxOperand args[] = {opd_reg(channel), opd_reg(launch), opd_reg(number), r->kind,
                             r->size,          r->address,      r->value,        r->extra};
  code_call(c, report, args, ARRAY_LEN(args));
  if (guard) code_label(c, over);
  code_guard(c, guard, negated);
}
