// Kernels that are launched from the device.
//
// The code that launches them fills their parameters itself, so they must keep their signature; the
// host's launches need the added parameter. So such a kernel becomes two: the one the host finds by
// its name gets the parameter, and a twin without it takes its place wherever device code takes the
// address. The twin finds the record its ancestor left in the module (launch_record.c).
#include "weave/pass.h"

static void point_at_twin(PtxOperand *o) {
  if (o->kind == OPD_FUNC && func_info(o->func) && func_info(o->func)->twin)
    o->func = func_info(o->func)->twin;
  for (unsigned i = 0; i < o->nlist; i++) point_at_twin(&o->list[i]);
}

static void point_vars_at_twins(PtxVar **vars, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t r = 0; r < vars[i]->nrelocs; r++) {
      PtxFunc *f = vars[i]->relocs[r].func;
      if (f && func_info(f)->twin) vars[i]->relocs[r].func = func_info(f)->twin;
    }
}

static void point_function_at_twins(PtxFunc *f) {
  point_vars_at_twins(f->locals, f->nlocals);
  for (uint32_t i = 0; i < f->nstmts; i++)
    for (unsigned o = 0; f->stmts[i].kind == STMT_INSTR && o < f->stmts[i].instr->nops; o++)
      point_at_twin(&f->stmts[i].instr->ops[o]);
}

// A declaration comes first, for code that takes its address; the definition last, after everything
// it uses.
static void add_to_module(PtxModule *m, PtxFunc *f) {
  PtxFunc **funcs = ARENA_ARRAY(&m->arena, PtxFunc *, m->nfuncs + 1),
          *declaration = ARENA_NEW(&m->arena, PtxFunc);
  memcpy(funcs, m->funcs, sizeof *funcs * m->nfuncs);
  f->id = m->nfuncs;
  funcs[m->nfuncs++] = f;
  m->funcs = funcs;
  *declaration = *f;
  declaration->is_declaration = true;
  declaration->stmts = NULL;
  declaration->nstmts = 0;
  PtxItem *items = ARENA_ARRAY(&m->arena, PtxItem, m->nitems + 2);
  memcpy(items + 1, m->items, sizeof *items * m->nitems);
  items[0] = (PtxItem){.kind = ITEM_FUNC, .func = declaration};
  items[m->nitems + 1] = (PtxItem){.kind = ITEM_FUNC, .func = f};
  m->items = items;
  m->nitems += 2;
}

static PtxFunc *make_twin(Program *p, FuncInfo *info) {
  PtxModule *m = info->func->module;
  PtxFunc *twin = copy_function(
      m, info->func, arena_printf(&m->arena, "%sdevice_%s", p->prefix, info->func->name));
  twin->linkage = p->nunits > 1 ? LINK_VISIBLE : LINK_NONE;
  FuncInfo *its = ARENA_NEW(&p->scratch, FuncInfo);
  *its = *info;
  its->func = twin;
  its->is_twin = true;
  twin->user = its;
  info->twin = twin;
  info->address_taken = false;
  add_to_module(m, twin);
  return twin;
}

void twins_make(Program *p) {
  if (!p->launches_from_device) return;
  for (uint32_t u = 0; u < p->nunits; u++) {
    uint32_t n = p->units[u]->nfuncs;
    for (uint32_t i = 0; i < n; i++) {
      FuncInfo *info = func_info(p->units[u]->funcs[i]);
      if (info->func->is_entry && !info->func->is_declaration && info->address_taken &&
          info->wanted)
        make_twin(p, info);
    }
  }
  for (uint32_t u = 0; u < p->nunits; u++) {
    PtxModule *m = p->units[u];
    for (uint32_t i = 0; i < m->nfuncs; i++) {  // kernels of another unit are declared in this one
      FuncInfo *info = func_info(m->funcs[i]);
      if (info->func->is_entry && info->func->is_declaration && info->target && info->target->twin)
        info->func->name = arena_strdup(&m->arena, info->target->twin->name);
    }
    point_vars_at_twins(m->vars, m->nvars);
    for (uint32_t i = 0; i < m->nfuncs; i++) point_function_at_twins(m->funcs[i]);
  }
}
