// Passes the launch record to the code.
//
// A kernel gets it as one more parameter, by value. A function cannot see its kernel's parameters,
// and one that is called through a pointer cannot be given more of them. So every kernel that may
// reach a function writes its record, when it starts, to a table of the module, in the row of its
// grid (%gridid), and functions read it there. All threads of a grid write the same bytes, so no
// thread needs to wait for another.
//
// Kernels launched from the device have no such parameter (twins.c). In programs with such kernels,
// every kernel that the host launches also leaves its record in the last row, and a kernel launched
// from the device takes it from there. Channel and counters are the same for all launches of a
// module in a context; only the launch's number may be that of another launch that started in the
// meantime.
#include "weave/pass.h"

enum { ROWS = 256, ROW_SHIFT = 7, LAST_ROW = ROWS << ROW_SHIFT };
_Static_assert(sizeof(WgLaunch) <= 1 << ROW_SHIFT, "a row holds a record");

// PTX 8.1 raised the limit on the size of a kernel's parameters, from sm_70 on. A module that
// outgrows the old limit becomes one of that version; not one before 6.4, which may hold warp
// instructions that newer versions do not have.
enum { OLD_LIMIT = 4096, NEW_LIMIT = 32764 };
static uint32_t make_room(PtxModule *m, uint64_t bytes) {
  unsigned version = m->version_major * 10 + m->version_minor;
  if (m->sm < 70 || version < 64) return OLD_LIMIT;
  if (bytes > OLD_LIMIT && bytes <= NEW_LIMIT && version < 81) {
    m->version_major = 8;
    m->version_minor = 1;
  }
  return NEW_LIMIT;
}

static bool declares(const PtxFunc *declaration, const PtxFunc *f) {
  return declaration->module == f->module && !strcmp(declaration->name, f->name);
}

static void append_param(PtxFunc *f, PtxVar *v) {
  PtxVar **params = ARENA_ARRAY(&f->module->arena, PtxVar *, f->nparams + 1);
  if (f->nparams) memcpy(params, f->params, sizeof *params * f->nparams);
  params[f->nparams] = v;
  f->params = params;
  f->nparams++;
  f->param_bytes = (uint32_t)(v->param_offset + v->size);
}

static PtxVar *new_param(Program *p, PtxFunc *f) {
  PtxVar *v = ARENA_NEW(&f->module->arena, PtxVar);
  *v = (PtxVar){
      .name = arena_printf(&f->module->arena, "%srecord", p->prefix),
      .space = SPACE_PARAM,
      .type = TYPE_B8,
      .align = 8,
      .align_given = true,
      .dims = {sizeof(WgLaunch)},
      .ndims = 1,
      .size = sizeof(WgLaunch),
      .id = f->nparams,
      .func = f,
      .param_offset = (f->param_bytes + 7) & ~7u,
  };
  return v;
}

static void add_parameter(Program *p, FuncInfo *info) {
  PtxFunc *f = info->func;
  WovenKernel *k = &p->out->kernels[info->kernel];
  PtxVar *v = new_param(p, f);
  uint32_t limit = make_room(f->module, v->param_offset + v->size);
  if (v->param_offset + v->size > limit) {
    k->instrumented = info->wanted = false;
    k->reason = arena_printf(&p->out->arena,
                             "its parameters take %u bytes: there is no room for the %zu of the "
                             "launch record (the limit is %u)",
                             f->param_bytes, sizeof(WgLaunch), limit);
    return;
  }
  append_param(f, v);
  info->record = v;
  k->record_offset = (uint32_t)v->param_offset;
  k->record_bytes = sizeof(WgLaunch);
  for (uint32_t i = 0; i < p->declarations.len; i++)
    if (declares(p->declarations.data[i], f))
      append_param(p->declarations.data[i], new_param(p, p->declarations.data[i]));
}

// Lists the declarations of kernels that are defined later: they are printed, too, and so need the
// parameter. There are hardly ever any.
static void list_declarations(Program *p) {
  for (uint32_t u = 0; u < p->nunits; u++)
    for (uint32_t i = 0; i < p->units[u]->nitems; i++) {
      const PtxItem *it = &p->units[u]->items[i];
      if (it->kind == ITEM_FUNC && it->func->is_entry && it->func->is_declaration)
        vec_push(&p->declarations, it->func);
    }
}

bool record_add_parameters(Program *p, Error *err) {
  list_declarations(p);
  for (uint32_t u = 0; u < p->nunits; u++)
    for (uint32_t i = 0; i < p->units[u]->nfuncs; i++) {
      FuncInfo *info = func_info(p->units[u]->funcs[i]);
      if (info->func->is_entry && !info->func->is_declaration && info->wanted && !info->is_twin)
        add_parameter(p, info);
    }
  p->slot = ARENA_ARRAY(&p->scratch, PtxVar *, p->nunits);
  return true;
}

static void grow_param(PtxVar *v, uint32_t bytes) {
  v->size += bytes;
  v->dims[0] = v->size;
  v->func->param_bytes = (uint32_t)(v->param_offset + v->size);
}

uint32_t record_reserve(Body *b, uint32_t bytes) {
  PtxVar *v = b->info->record;
  bytes = (bytes + 7) & ~7u;
  if (!v) return 0;
  uint64_t end = v->param_offset + v->size + bytes;
  if (end > make_room(b->func->module, end)) return 0;
  uint32_t at = (uint32_t)v->size;
  grow_param(v, bytes);
  b->program->out->kernels[b->info->kernel].record_bytes = (uint32_t)v->size;
  Program *p = b->program;
  for (uint32_t i = 0; i < p->declarations.len; i++)
    if (declares(p->declarations.data[i], b->func))
      grow_param(p->declarations.data[i]->params[p->declarations.data[i]->nparams - 1], bytes);
  return at;
}

// A weak variable: the units of a program share one. Its name contains a hash of their text, so
// that programs linked later do not share it.
static PtxVar *slot_of(Program *p, uint32_t unit) {
  if (p->slot[unit]) return p->slot[unit];
  PtxModule *m = p->units[unit];
  uint64_t hash = 0;
  for (uint32_t u = 0; u < p->nunits; u++)
    hash = hash * 31 + base_hash(p->units[u]->text, p->units[u]->text_len);
  PtxVar *v = ARENA_NEW(&m->arena, PtxVar);
  *v = (PtxVar){
      .name = arena_printf(&m->arena, "%slaunches_%016llx", p->prefix, (unsigned long long)hash),
      .space = SPACE_GLOBAL,
      .type = TYPE_B8,
      .align = 64,
      .align_given = true,
      .dims = {LAST_ROW + sizeof(WgLaunch)},
      .ndims = 1,
      .size = LAST_ROW + sizeof(WgLaunch),
      .linkage = LINK_WEAK,
      .id = m->nvars,
  };
  PtxVar **vars = ARENA_ARRAY(&m->arena, PtxVar *, m->nvars + 1);
  if (m->nvars) memcpy(vars, m->vars, sizeof *vars * m->nvars);
  vars[m->nvars++] = v;
  m->vars = vars;
  // before everything that uses it
  PtxItem *items = ARENA_ARRAY(&m->arena, PtxItem, m->nitems + 1);
  memcpy(items + 1, m->items, sizeof *items * m->nitems);
  items[0] = (PtxItem){.kind = ITEM_VAR, .var = v};
  m->items = items;
  m->nitems++;
  return p->slot[unit] = v;
}

// The registers that hold addresses in the table; no pass may use these two.
static PtxReg *row_register(Body *b) { return body_temp(b, TYPE_B64, BODY_TEMPS - 1); }
static PtxReg *table_register(Body *b) { return body_temp(b, TYPE_B64, BODY_TEMPS - 2); }

// Puts the address of this grid's row into row_register, that of the table into table_register.
static void find_row(Code *c) {
  Body *b = c->body;
  PtxReg *row = row_register(b), *table = table_register(b);
  EMIT(c, "mov.u64", opd_reg(table), opd_var(slot_of(b->program, b->unit)));
  EMIT(c, "mov.u64", opd_reg(row), opd_sreg(SREG_GRIDID, SEL_NONE));
  EMIT(c, "and.b64", opd_reg(row), opd_reg(row), opd_imm(ROWS - 1));
  EMIT(c, "shl.b64", opd_reg(row), opd_reg(row), opd_imm(ROW_SHIFT));
  EMIT(c, "add.u64", opd_reg(row), opd_reg(row), opd_reg(table));
}

void record_load(Code *c, PtxReg *to, unsigned offset) {
  PtxVar *record = c->body->info->record;
  bool wide = ptx_type_size(to->type) == 8;
  if (record) {
    PtxOperand from = opd_at(c, opd_var(record), offset);
    if (wide) EMIT(c, "ld.param.u64", opd_reg(to), from);
    else EMIT(c, "ld.param.u32", opd_reg(to), from);
    return;
  }
  find_row(c);
  PtxOperand from = opd_at(c, opd_reg(row_register(c->body)), offset);
  if (wide) EMIT(c, "ld.volatile.global.u64", opd_reg(to), from);
  else EMIT(c, "ld.volatile.global.u32", opd_reg(to), from);
}

bool record_can_point(const Body *b) {
  const PtxModule *m = b->func->module;
  return b->info->record && m->sm >= 70 && m->version_major * 10 + m->version_minor >= 77;
}

void record_address(Code *c, PtxReg *to, unsigned offset) {
  EMIT(c, "mov.u64", opd_reg(to), opd_var(c->body->info->record));
  EMIT(c, "cvta.param.u64", opd_reg(to), opd_reg(to));
  if (offset) EMIT(c, "add.u64", opd_reg(to), opd_reg(to), opd_imm(offset));
}

void record_site(Code *c, PtxReg *to, uint32_t site) {
  record_load(c, to, offsetof(WgLaunch, site_base));
  EMIT(c, "add.u32", opd_reg(to), opd_reg(to), opd_imm(site));
}

void record_fill_slot(Body *b) {
  const FuncInfo *info = b->info;
  bool leaves = b->program->launches_from_device && info->record;  // for the kernels it launches
  if (!info->func->is_entry || !(info->calls_functions || leaves || info->is_twin)) return;
  Code *c = body_entry(b);
  PtxReg *value = body_temp(b, TYPE_B64, 0);
  find_row(c);
  for (unsigned at = 0; at < sizeof(WgLaunch); at += 8) {
    if (info->record) EMIT(c, "ld.param.u64", opd_reg(value), opd_at(c, opd_var(info->record), at));
    else if (info->is_twin)
      EMIT(c, "ld.volatile.global.u64", opd_reg(value),
           opd_at(c, opd_reg(table_register(b)), LAST_ROW + at));
    else
      EMIT(c, "mov.u64", opd_reg(value),
           opd_imm(0));  // a kernel without probes: its functions get no record, either
    EMIT(c, "st.volatile.global.u64", opd_at(c, opd_reg(row_register(b)), at), opd_reg(value));
    if (leaves)
      EMIT(c, "st.volatile.global.u64", opd_at(c, opd_reg(table_register(b)), LAST_ROW + at),
           opd_reg(value));
  }
}
