// The pass: a kernel that calls interrupts becomes two.
//
// requires: a verified module. keeps: kernels without interrupts, the signature of all others but
// for one parameter after it. breaks: an IrCfg built before.
#include "interrupt/stops.h"

#include <stdatomic.h>

static const char PREFIX[] = INTERRUPT_PREFIX, REG_PREFIX[] = INTERRUPT_REG_PREFIX;
enum { MOST_STATEMENTS = 200000, OLD_LIMIT = 4096 };

typedef struct Splitting {
  PtxModule *m;
  Program program;  // what Body needs
  Woven woven;
  WeavePlan plan;
  Interrupts *out;
  VEC(InterruptKernel) kernels;
} Splitting;

// --- what is added to the kernel ---

static PtxVar *new_parameter(PtxFunc *f) {
  Arena *a = &f->module->arena;
  PtxVar *v = ARENA_NEW(a, PtxVar);
  *v = (PtxVar){.name = arena_printf(a, "%s_launch", PREFIX),
                .space = SPACE_PARAM,
                .type = TYPE_B8,
                .align = 8,
                .align_given = true,
                .dims = {sizeof(InterruptLaunch)},
                .ndims = 1,
                .size = sizeof(InterruptLaunch),
                .id = f->nparams,
                .func = f,
                .param_offset = (f->param_bytes + 7) & ~7u};
  ARENA_APPEND(a, f->params, f->nparams, &v, 1);
  f->param_bytes = (uint32_t)(v->param_offset + v->size);
  return v;
}

PtxVar *stops_new_shared(PtxFunc *f, const char *name, uint32_t bytes) {
  PtxModule *m = f->module;
  PtxVar *v = ARENA_NEW(&m->arena, PtxVar);
  *v = (PtxVar){.name = arena_printf(&m->arena, "%s_%s_%u", PREFIX, name, f->id),
                .space = SPACE_SHARED,
                .type = TYPE_B8,
                .align = 16,
                .align_given = true,
                .ndims = 1,
                .dims = {bytes},
                .size = bytes,
                .id = m->nvars};
  ARENA_APPEND(&m->arena, m->vars, m->nvars, &v, 1);
  PtxItem *items = ARENA_ARRAY(&m->arena, PtxItem, m->nitems + 2);
  memcpy(items + 1, m->items, m->nitems * sizeof *items);
  items[0] = (PtxItem){.kind = ITEM_VAR, .var = v};
  m->items = items;
  m->nitems++;
  return v;
}

// A register of the function that no instruction of the program uses.
PtxReg *stops_new_register(PtxFunc *f, PtxType type, const char *name) {
  Arena *a = &f->module->arena;
  PtxReg *r = ARENA_NEW(a, PtxReg);
  PtxStmt declared = {.kind = STMT_REGS, .regs = {r, 1}};
  *r = (PtxReg){.name = arena_printf(a, "%s%s", REG_PREFIX, name), .type = type, .id = f->nregs};
  ARENA_APPEND(a, f->regs, f->nregs, &r, 1);
  PtxStmt *stmts = ARENA_ARRAY(a, PtxStmt, f->nstmts + 1);
  stmts[0] = declared;
  memcpy(stmts + 1, f->stmts, f->nstmts * sizeof *stmts);
  f->stmts = stmts;
  f->nstmts++;
  ptx_number_labels(f);
  return r;
}

static void add_function(PtxModule *m, PtxFunc *f) {
  f->id = m->nfuncs;
  f->linkage = LINK_VISIBLE;
  ARENA_APPEND(&m->arena, m->funcs, m->nfuncs, &f, 1);
  PtxItem item = {.kind = ITEM_FUNC, .func = f};
  ARENA_APPEND(&m->arena, m->items, m->nitems, &item, 1);
}

// --- one of the two kernels ---

typedef struct Shape {  // what both have in common
  PtxVar *block, *dynamic;
  uint32_t words_at, local_bytes, place_bytes;
  bool is_listed;  // only some blocks enter the second kernel
  Listed listed;
} Shape;

static void set_locals(Emitter *e, Code *c, uint32_t bytes) {
  if (!e->locals) return;
  PtxReg *at = body_temp(e->body, TYPE_B64, 2);
  emit_this_thread(e, c);
  EMIT(c, "ld.param.u64", opd_reg(e->locals),
       opd_at(c, opd_var(e->launch), offsetof(InterruptLaunch, locals)));
  EMIT(c, "mul.lo.u64", opd_reg(at), opd_reg(e->thread), opd_imm(bytes));
  EMIT(c, "add.u64", opd_reg(e->locals), opd_reg(e->locals), opd_reg(at));
}

static void emit_stop(Emitter *e, const Stop *s) {
  if (s->kind != STOP_CALL) {
    block_check(e, s);
    return;
  }
  // Far from the program's own code; the label takes away the braces around the call (scopes.c).
  Code *c = body_instead(e->body, s->at), *cold = body_cold(e->body);
  PtxLabel *suspends = body_label(e->body);
  code_branch(c, NULL, false, suspends);
  code_label(cold, suspends);
  emit_suspend(e, cold, s);
  code_label(c, e->restored[s->number - 1]);
}

// No thread ends before a barrier that others reach.
static bool all_come_to_barriers(const IrCfg *c) {
  bool all = true;
  for (uint32_t i = 0; i < c->ninstrs; i++)
    if (ptx_op_order(c->instrs[i]->op) == ORDER_BLOCK)
      all &= ir_postdominates(c, c->block_of[i], 0);
  return all;
}

static bool comes_first(const IrCfg *c, uint32_t i, uint32_t before) {
  if (c->block_of[i] == c->block_of[before]) return i < before;
  return ir_dominates(c, c->block_of[i], c->block_of[before]);
}

// A barrier of the program that all threads pass before one of them can leave.
static bool barrier_comes_first(const Stops *s) {
  const IrCfg *c = s->cfg;
  bool found = false;
  for (uint32_t i = 0; i < c->ninstrs && !found; i++) {
    if (!stops_is_block_barrier(c->instrs[i])) continue;
    found = true;
    for (uint32_t k = 0; k < s->n && found; k++)
      found = s->list[k].at == i || comes_first(c, i, s->list[k].at);
    for (uint32_t k = 0; k < c->ninstrs && found; k++)
      if (c->instrs[k]->op == OP_RET || c->instrs[k]->op == OP_EXIT) found = comes_first(c, i, k);
  }
  return found;
}

// Turns bar into barrier. Threads that leave run a little longer than in the program, and other
// lanes of their warp may be at a barrier meanwhile.
static void free_barriers(Emitter *e) {
  const IrCfg *c = e->body->cfg;
  for (uint32_t i = 0; i < c->ninstrs; i++) {
    const PtxInstr *in = c->instrs[i];
    if (in->op != OP_BAR || e->body->instead[i]) continue;
    PtxInstr *free = code_instr(body_instead(e->body, i), in);
    free->op = OP_BARRIER;
    free->form = 0;
  }
}

static bool has_barriers(const Stops *s) {
  for (uint32_t i = 0; i < s->n; i++)
    if (s->list[i].kind == STOP_BARRIER) return true;
  return false;
}

static bool emit_kernel(Splitting *p, PtxFunc *f, const Stops *stops, const Shape *shape,
                        bool resumes, Error *err) {
  Body b;
  if (!body_open(&b, &p->program, f, 0, err)) return false;
  Emitter e = {.body = &b,
               .stops = stops,
               .launch = f->params[f->nparams - 1],
               .block = shape->block,
               .words_at = shape->words_at,
               .dynamic = shape->dynamic,
               .locals = stops->locals ? f->regs[stops->locals->id] : NULL,
               .place_bytes = shape->place_bytes,
               .waits_for_room = !resumes && p->out->in_line,
               .listed = resumes && shape->is_listed ? &shape->listed : NULL,
               .resumes = resumes};
  e.aligned = !resumes && all_come_to_barriers(stops->cfg);
  e.waits_at_entry = resumes || !barrier_comes_first(stops);
  e.per_block = e.block && has_barriers(stops) ? body_reg(&b, TYPE_B32) : NULL;
  e.thread = body_reg(&b, TYPE_B64);
  e.place = body_reg(&b, TYPE_B32);
  e.restored = ARENA_ARRAY(&b.cfg->arena, PtxLabel *, stops->n + 1);
  for (uint32_t i = 0; i < stops->n; i++) e.restored[i] = body_label(&b);
  Code *entry = body_entry(&b);
  if (!resumes && p->out->in_line) gate_emit(&e);
  emit_listed(&e, entry);
  set_locals(&e, entry, shape->local_bytes);
  if (resumes) emit_dispatch(&e, entry);
  else if (e.block) block_enter(&e, entry);
  for (uint32_t i = 0; i < stops->n; i++) emit_stop(&e, &stops->list[i]);
  for (uint32_t i = 0; i < b.cfg->ninstrs; i++)
    if (stops_is_overflow(b.cfg->instrs[i])) emit_overflow(&e, body_instead(&b, i));
  if (e.block) block_at_exits(&e);
  if (e.leave) block_wait(&e);
  if (e.block && !e.aligned) free_barriers(&e);
  return body_close(&b, err);
}

// The same stops with the registers of another copy of the function.
static PtxReg *twin_of(const PtxFunc *f, const PtxReg *r) { return r ? f->regs[r->id] : NULL; }
static void use_registers_of(Stops *s, const PtxFunc *f) {
  for (uint32_t i = 0; i < s->n; i++) {
    Stop *t = &s->list[i];
    for (uint32_t k = 0; k < t->nwide + t->nnarrow + t->npreds; k++)
      t->saved[k] = twin_of(f, t->saved[k]);
    for (unsigned k = 0; k < INTERRUPT_WORDS; k++) t->args[k] = twin_of(f, t->args[k]);
    for (unsigned k = 0; k < INTERRUPT_RESULT_WORDS; k++) t->results[k] = twin_of(f, t->results[k]);
    t->served = twin_of(f, t->served);
  }
}

// --- one kernel ---

static void describe(Splitting *p, const PtxFunc *f, const Stops *s, InterruptKernel *k) {
  Arena *a = &p->out->arena;
  k->calls = ARENA_ARRAY(a, InterruptCall, s->ncalls + 1);
  k->ncalls = s->ncalls;
  k->nstops = s->n;
  for (uint32_t i = 0; i < s->n; i++) {
    const Stop *t = &s->list[i];
    uint32_t bytes = t->bytes;
    if (t->kind == STOP_CALL) {
      InterruptCall *c = &k->calls[i];
      *c = t->call;
      c->name = arena_strdup(a, c->name);
      c->file = c->file ? arena_strdup(a, c->file) : NULL;
      c->text = arena_strdup(a, c->text ? c->text : "");
      for (uint32_t n = 0; n < c->nparams; n++) bytes += (c->param_bytes[n] + 3) / 4 * 4;
      // room for the thread's rank among the callers, which overwrites the arguments
      if (c->result_bytes && bytes == t->bytes) bytes += 4;
    }
    k->context_bytes = MAX(k->context_bytes, bytes);
  }
}

// Refuses called functions that wait for other threads: a thread could not be suspended in them.
static bool callees_wait(const PtxFunc *f, Error *err) {
  const PtxModule *m = f->module;
  bool calls = false;
  for (uint32_t i = 0; i < f->nstmts; i++)
    calls |= f->stmts[i].kind == STMT_INSTR && f->stmts[i].instr->op == OP_CALL;
  for (uint32_t i = 0; calls && i < m->nfuncs; i++) {
    const PtxFunc *g = m->funcs[i];
    if (g->is_entry) continue;
    for (uint32_t k = 0; k < g->nstmts; k++) {
      if (g->stmts[k].kind != STMT_INSTR) continue;
      const PtxInstr *in = g->stmts[k].instr;
      PtxOrder order = ptx_op_order(in->op);
      if (order != ORDER_BLOCK && order != ORDER_WARP && order != ORDER_LANES &&
          order != ORDER_MBARRIER && in->space != SPACE_SHARED)
        continue;
      stops_refuse(err, f, in, "a function that is not inlined uses barriers or shared memory");
      return true;
    }
  }
  return false;
}

static bool check_room(const PtxFunc *f, Error *err) {
  if (f->param_bytes + 8 + sizeof(InterruptLaunch) <= OLD_LIMIT) return true;
  return error_set(err,
                   "kernel %s calls interrupts, and its parameters take %u bytes: there is no room "
                   "for the %zu that Warpgrind adds",
                   f->name, f->param_bytes, sizeof(InterruptLaunch));
}

static bool split_kernel(Splitting *p, PtxFunc *f, InterruptKernel *k, Error *err) {
  PtxModule *m = p->m;
  Stops stops = {0};
  Shape shape = {.local_bytes = locals_bytes(f)};
  k->user_params = f->nparams;
  k->user_param_bytes = f->param_bytes;
  k->params = arena_alloc(&p->out->arena, sizeof *k->params * (f->nparams + 1));
  for (uint32_t i = 0; i < f->nparams; i++) {
    k->params[i].offset = (uint32_t)f->params[i]->param_offset;
    k->params[i].bytes = (uint32_t)f->params[i]->size;
  }
  PtxVar *launch = new_parameter(f);
  k->param_at = (uint32_t)launch->param_offset;
  workspace_keep(f, launch);
  PtxReg *locals = shape.local_bytes ? stops_new_register(f, TYPE_B64, "locals") : NULL;
  if (locals) locals_move(f, locals);
  bool ok = stops_find(&stops, f, locals, err);
  if (ok) {
    if (stops.uses_blocks) {
      shape.block = stops_new_shared(f, "shared", 0);
      shape.words_at = shared_join(f, shape.block, &shape.dynamic);
      shape.block->size = shape.words_at;
      if (stops.leaving == LEAVING_COUNTED) shape.block->size += WORDS_BYTES;
      shape.block->size = MAX(shape.block->size, 16);
      shape.block->dims[0] = (uint32_t)shape.block->size;
    }
    describe(p, f, &stops, k);
    k->saves_blocks = stops.uses_blocks;
    k->uses_clusters = stops.uses_clusters;
    k->block_bytes = shape.words_at;
    k->local_bytes = shape.local_bytes;
    shape.place_bytes = k->place_bytes = PLACE_CONTEXT + k->context_bytes;
    k->is_listed = shape.is_listed = p->out->listed && !stops.uses_clusters && listed_can_be(f);
    k->resume = arena_printf(&p->out->arena, "%s_resume_%s", PREFIX, f->name);
    PtxFunc *second = copy_function(m, f, k->resume);
    add_function(m, second);
    if (shape.is_listed) listed_replace(second, &shape.listed);
    ok = emit_kernel(p, f, &stops, &shape, false, err);
    use_registers_of(&stops, second);
    ok = ok && emit_kernel(p, second, &stops, &shape, true, err);
  }
  stops_free(&stops);
  return ok;
}

// --- calls of interrupts that a kernel reaches through functions, which stay calls ---

static bool names_function(const PtxOperand *o, const PtxFunc *f) {
  if (o->kind == OPD_FUNC && o->func == f) return true;
  for (unsigned i = 0; i < o->nlist; i++)
    if (names_function(&o->list[i], f)) return true;
  return false;
}

// The module uses the address of the function: it may be called through a pointer.
bool stops_address_taken(const PtxModule *m, const PtxFunc *f) {
  for (uint32_t v = 0; v < m->nvars; v++)
    for (uint32_t r = 0; r < m->vars[v]->nrelocs; r++)
      if (m->vars[v]->relocs[r].func == f) return true;
  for (uint32_t g = 0; g < m->nfuncs; g++)
    for (uint32_t i = 0; i < m->funcs[g]->nstmts; i++) {
      const PtxStmt *s = &m->funcs[g]->stmts[i];
      if (s->kind != STMT_INSTR || (s->instr->op == OP_CALL && !f->is_entry)) continue;
      for (unsigned o = 0; o < s->instr->nops; o++)
        if (names_function(&s->instr->ops[o], f)) return true;
    }
  return false;
}

static const PtxFunc *pointed_to(const PtxModule *m) {
  for (uint32_t i = 0; i < m->nfuncs; i++)
    if (!m->funcs[i]->is_entry && stops_has_calls(m->funcs[i]) &&
        stops_address_taken(m, m->funcs[i]))
      return m->funcs[i];
  return NULL;
}

// The function with such a call; NULL: there is none
static const PtxFunc *reaches_call(const PtxFunc *f, unsigned depth) {
  const PtxFunc *found = NULL;
  for (uint32_t i = 0; i < f->nstmts && !found && depth < 16; i++) {
    const PtxInstr *in = f->stmts[i].kind == STMT_INSTR ? f->stmts[i].instr : NULL;
    if (!in || in->op != OP_CALL) continue;
    const PtxFunc *g = in->ops[1].kind == OPD_FUNC ? in->ops[1].func : NULL;
    if (!g) found = pointed_to(f->module);
    else if (stops_has_calls(g)) found = g;
    else if (g != f) found = reaches_call(g, depth + 1);
  }
  return found;
}

static bool refuse_function(const PtxFunc *f, const PtxFunc *g, Error *err) {
  for (uint32_t i = 0; i < g->nstmts; i++)
    if (g->stmts[i].kind == STMT_INSTR && stops_is_call(g->stmts[i].instr)) {
      Arena a = {0};
      error_set(err,
                "kernel %s calls an interrupt (%s) through function %s, which can neither be "
                "inlined nor suspended (it uses alloca, shared variables, or the address of a "
                "parameter)",
                f->name, stops_place(&a, g, g->stmts[i].instr), g->name);
      arena_free(&a);
      return false;
    }
  return false;
}

// --- the module ---

static bool refuse_device_launch(const PtxFunc *f, Error *err) {
  Arena a = {0};
  uint32_t i = 0;
  while (i < f->nstmts && !(f->stmts[i].kind == STMT_INSTR && stops_is_call(f->stmts[i].instr)))
    i++;
  error_set(err,
            "kernel %s calls interrupts (%s), and device code launches it: only the host can "
            "launch such a kernel",
            f->name, i < f->nstmts ? stops_place(&a, f, f->stmts[i].instr) : "in a function");
  // reported here, since we do not see such a launch before it runs
  static _Atomic bool is_said;
  if (!atomic_exchange(&is_said, true)) log_error("%s; the calls give their defaults", err->text);
  arena_free(&a);
  return false;
}

// Finds what cannot be suspended before anything is changed.
static bool can_split(PtxFunc *f, Error *err) {
  Stops stops = {0};
  if (stops_address_taken(f->module, f)) return refuse_device_launch(f, err);
  bool ok = check_room(f, err) && !callees_wait(f, err) && stops_find(&stops, f, NULL, err);
  if (ok && f->module->sm < 70 && stops.uses_blocks)
    ok = stops_refuse(err, f, stops.cfg->instrs[stops.list[0].at],
                      "barriers and shared memory need code for sm_70 or newer");
  stops_free(&stops);
  return ok;
}

static void raise_version(PtxModule *m, unsigned version) {
  if (m->version_major * 10 + m->version_minor >= version) return;
  m->version_major = version / 10;
  m->version_minor = version % 10;
}

// Functions keep their calls of interrupts, which return the defaults; later passes do not treat
// them as interrupts.
static void hide_calls(PtxModule *m) {
  for (uint32_t i = 0; i < m->nfuncs; i++) {
    PtxFunc *f = m->funcs[i];
    for (uint32_t k = 0; !f->is_entry && k < f->nstmts; k++)
      if (f->stmts[k].kind == STMT_INSTR && stops_is_call(f->stmts[k].instr))
        PTX_RENAME(f->stmts[k].instr->ops[0].reg,
                   arena_printf(&m->arena, "%sdefault%u", REG_PREFIX, k));
  }
}

static bool replace_barriers(Splitting *p, PtxFunc *f, Error *err) {
  return mbarriers_replace(f, &p->program, err) && named_barriers_replace(f, &p->program, err);
}

static bool split_module(Splitting *p, Error *err) {
  PtxModule *m = p->m;
  bool in_functions = false;
  for (uint32_t i = 0; i < m->nfuncs; i++)
    in_functions |= !m->funcs[i]->is_entry && stops_has_calls(m->funcs[i]);
  if (in_functions) inline_calls(m, MOST_STATEMENTS);
  if (!ptx_verify_new(m, err)) return false;
  uint32_t n = m->nfuncs;
  for (uint32_t i = 0; i < n; i++) {
    PtxFunc *f = m->funcs[i];
    Error why = {{0}};
    if (!f->is_entry || f->is_declaration) continue;
    const PtxFunc *through = in_functions ? reaches_call(f, 0) : NULL;
    if (!through && !stops_has_calls(f)) continue;
    InterruptKernel k = {.name = arena_strdup(&p->out->arena, f->name)};
    MergeResult merged = through ? merge_functions(f, &p->program, &k.stack_bytes, err)
                                 : MERGE_IMPOSSIBLE;
    if (merged == MERGE_FAILED) return false;
    if (merged == MERGE_DONE) through = NULL;
    if (through) refuse_function(f, through, &why);
    if (!through && !replace_barriers(p, f, err)) return false;
    if (!through && can_split(f, &why)) {
      raise_version(m, 63);
      if (!split_kernel(p, f, &k, err)) return false;
    } else {
      k.refused = arena_strdup(&p->out->arena, why.text);
    }
    vec_push(&p->kernels, k);
  }
  hide_calls(m);
  return ptx_verify_new(m, err);
}

bool interrupt_pass(PtxModule **units, uint32_t n, Interrupts *out, Error *err) {
  *out = (Interrupts){.in_line = out->in_line, .listed = out->listed};
  bool ok = true;
  for (uint32_t u = 0; u < n && ok; u++) {
    Splitting p = {.m = units[u], .out = out};
    if (!interrupt_occurs(units[u]->text, units[u]->text_len)) continue;
    p.program = (Program){.units = &p.m,
                          .nunits = 1,
                          .plan = &p.plan,
                          .out = &p.woven,
                          .prefix = PREFIX,
                          .reg_prefix = REG_PREFIX};
    ok = split_module(&p, err);
    ARENA_APPEND(&out->arena, out->kernels, out->n, p.kernels.data, p.kernels.len);
    vec_free(&p.kernels);
    u64map_free(&p.program.mnemonics);
    arena_free(&p.program.scratch);
  }
  if (!ok) interrupt_free(out);
  return ok;
}

const InterruptKernel *interrupt_kernel(const Interrupts *i, const char *name) {
  for (uint32_t k = 0; k < i->n; k++)
    if (!strcmp(i->kernels[k].name, name)) return &i->kernels[k];
  return NULL;
}

void interrupt_free(Interrupts *i) {
  arena_free(&i->arena);
  *i = (Interrupts){0};
}
