// Functions that call interrupts and cannot be inlined, because they call themselves or are called
// through pointers: their bodies are put into the kernel, once each, and calls become branches.
// Activations keep parameters, results, local variables, and the registers that they need after a
// call on a stack, a local variable of the kernel. The kernel has no calls of them any more: code
// that suspends a thread need not know of functions.
//
// A frame: the number of the call, results, parameters, local variables, saved registers.
#include "interrupt/merge.h"

enum { LEAST_STACK = 1024, DEPTH = 24 };

static const PtxFunc *direct_callee(const PtxInstr *in) {
  bool is = in->op == OP_CALL && in->nops >= 3 && in->ops[1].kind == OPD_FUNC;
  return is && !in->ops[1].func->is_declaration ? in->ops[1].func : NULL;
}
static bool is_indirect(const PtxInstr *in) {
  return in->op == OP_CALL && in->nops >= 3 && in->ops[1].kind == OPD_REG;
}

// --- which functions reach an interrupt ---

typedef struct Reach {
  const PtxModule *m;
  bool *reaches;  // by PtxFunc.id
  bool by_pointer;
} Reach;

static const PtxFunc *definition(const PtxModule *m, const PtxFunc *f) {
  for (uint32_t i = 0; f->is_declaration && i < m->nfuncs; i++)
    if (!m->funcs[i]->is_declaration && !strcmp(m->funcs[i]->name, f->name)) return m->funcs[i];
  return f;
}

static bool comes_to_one(const Reach *r, const PtxFunc *f) {
  for (uint32_t i = 0; i < f->nstmts; i++) {
    const PtxInstr *in = f->stmts[i].kind == STMT_INSTR ? f->stmts[i].instr : NULL;
    if (!in) continue;
    if (stops_is_call(in) || (is_indirect(in) && r->by_pointer)) return true;
    if (in->op == OP_CALL && in->nops >= 2 && in->ops[1].kind == OPD_FUNC &&
        r->reaches[definition(r->m, in->ops[1].func)->id])
      return true;
  }
  return false;
}

static Reach find_reach(const PtxModule *m, Arena *a) {
  Reach r = {m, ARENA_ARRAY(a, bool, m->nfuncs + 1), false};
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 0; i < m->nfuncs; i++) {
      const PtxFunc *f = m->funcs[i];
      if (r.reaches[i] || f->is_entry || f->is_declaration || !comes_to_one(&r, f)) continue;
      r.reaches[i] = more = true;
      r.by_pointer |= merge_is_target(f);
    }
  }
  return r;
}

// --- what can be merged ---

uint32_t merge_place(PtxVar *const *returns, uint32_t nreturns, PtxVar *const *params,
                     uint32_t nparams, uint32_t n) {
  uint32_t at = FRAME_HEADER;
  for (uint32_t i = 0; i < nreturns + nparams; i++) {
    const PtxVar *v = i < nreturns ? returns[i] : params[i - nreturns];
    uint32_t align = MAX(MIN(v->align, 16u), 4u);
    at = (at + align - 1) / align * align;
    if (i == n) return at;
    at += (uint32_t)v->size;
  }
  return (at + 15) & ~15u;
}

static bool is_param_access(const PtxInstr *in) {
  return (in->op == OP_LD || in->op == OP_ST) && in->space == SPACE_PARAM;
}

static bool names_param(const PtxFunc *f, const PtxOperand *o) {
  for (uint32_t i = 0; o->kind == OPD_VAR && i < f->nparams + f->nreturns; i++)
    if (o->var == (i < f->nparams ? f->params[i] : f->returns[i - f->nparams])) return true;
  for (unsigned i = 0; i < o->nlist; i++)
    if (names_param(f, &o->list[i])) return true;
  return false;
}

static bool can_merge(const PtxFunc *f) {
  if (f->alias_of) return false;
  for (uint32_t i = 0; i < f->nparams + f->nreturns; i++) {
    const PtxVar *v = i < f->nparams ? f->params[i] : f->returns[i - f->nparams];
    if (v->space != SPACE_PARAM || !v->size || v->align > 16) return false;
  }
  for (uint32_t i = 0; i < f->nlocals; i++)
    if (f->locals[i]->space != SPACE_LOCAL && f->locals[i]->space != SPACE_PARAM) return false;
  for (uint32_t i = 0; i < f->nstmts; i++) {
    if (f->stmts[i].kind == STMT_DIRECTIVE) return false;
    const PtxInstr *in = f->stmts[i].kind == STMT_INSTR ? f->stmts[i].instr : NULL;
    if (!in || is_param_access(in)) continue;
    if (in->op == OP_ALLOCA || in->op == OP_STACKSAVE || in->op == OP_STACKRESTORE) return false;
    for (unsigned o = 0; o < in->nops; o++)
      if (names_param(f, &in->ops[o])) return false;
  }
  return true;
}

static Merged *find_merged(const Merge *g, const PtxFunc *f) {
  for (uint32_t i = 0; i < g->funcs.len; i++)
    if (g->funcs.data[i]->of == f) return g->funcs.data[i];
  return NULL;
}

static void add_function(Merge *g, const PtxFunc *f, bool is_kernel) {
  if (find_merged(g, f)) return;
  Merged *m = ARENA_NEW(g->arena, Merged);
  *m = (Merged){.of = f, .copy = is_kernel ? g->kernel : copy_function(g->m, f, f->name)};
  vec_push(&g->funcs, m);
}

// The functions that the kernel calls, directly or through others.
static bool collect(Merge *g, const Reach *r) {
  add_function(g, g->kernel, true);
  for (uint32_t k = 0; k < g->funcs.len; k++) {
    const PtxFunc *f = g->funcs.data[k]->of;
    if (k && !can_merge(f)) return false;
    for (uint32_t i = 0; i < f->nstmts; i++) {
      const PtxInstr *in = f->stmts[i].kind == STMT_INSTR ? f->stmts[i].instr : NULL;
      const PtxFunc *callee = in ? direct_callee(in) : NULL;
      if (callee && r->reaches[callee->id]) add_function(g, callee, false);
      for (uint32_t t = 0; in && is_indirect(in) && t < g->m->nfuncs; t++)
        if (r->reaches[t] && merge_is_target(g->m->funcs[t]))
          add_function(g, g->m->funcs[t], false);
    }
  }
  return true;
}

// --- frames ---

static uint32_t slots_of(const MergedCall *c) { return 8 * c->nlive; }

// Calls of merged functions in f, with what is live after each.
static bool find_calls(Merge *g, Merged *f, Error *err) {
  IrCfg *cfg = ir_cfg_build(f->copy, err);
  if (!cfg) return false;
  IrLiveness *live = ir_liveness_build(cfg);
  uint64_t *bits = ARENA_ARRAY(g->arena, uint64_t, live->words + 1);
  for (uint32_t i = 0; i < cfg->ninstrs; i++) {
    PtxInstr *in = cfg->instrs[i];
    const PtxFunc *callee = direct_callee(in);
    if (!is_indirect(in) && !(callee && find_merged(g, callee))) continue;
    MergedCall c = {.call = in, .from = f};
    c.live = ARENA_ARRAY(g->arena, PtxReg *, f->copy->nregs + 1);
    stops_live_at(cfg, live, i, true, bits);
    for (uint32_t r = 0; f->copy != g->kernel && r < f->copy->nregs; r++)
      if (bits[r / 64] >> (r % 64) & 1) c.live[c.nlive++] = f->copy->regs[r];
    vec_push(&g->calls, c);
  }
  ir_liveness_free(live);
  ir_cfg_free(cfg);
  return true;
}

static void lay_out(Merge *g, Merged *f) {
  const PtxFunc *c = f->copy;
  if (c == g->kernel) return;
  uint32_t n = c->nreturns + c->nparams, saved = 0;
  f->saves = merge_place(c->returns, c->nreturns, c->params, c->nparams, n) + locals_bytes(c);
  for (uint32_t i = 0; i < g->calls.len; i++)
    if (g->calls.data[i].from == f) saved = MAX(saved, slots_of(&g->calls.data[i]));
  f->frame = (f->saves + saved + 15) & ~15u;
}

// --- memory of a function is on the stack ---

static void on_stack(Merge *g, PtxInstr *in, const PtxVar *v, int64_t at) {
  for (unsigned o = 0; o < in->nops; o++) {
    PtxOperand *op = &in->ops[o];
    if (op->kind != OPD_ADDR || !op->nlist || op->list[0].kind != OPD_VAR || op->list[0].var != v)
      continue;
    op->imm += at + op->list[0].imm;
    op->list[0] = opd_reg(g->sp);
  }
  access_param_to_local(in);
}

// Moves the function's own parameters and results to its frame.
static void move_own(Merge *g, Merged *f) {
  PtxFunc *c = f->copy;
  uint32_t n = c->nreturns;
  locals_move_by(c, g->sp, merge_place(c->returns, n, c->params, c->nparams, n + c->nparams));
  for (uint32_t i = 0; i < c->nstmts; i++) {
    PtxInstr *in = c->stmts[i].kind == STMT_INSTR ? c->stmts[i].instr : NULL;
    const PtxVar *v = in && is_param_access(in) ? access_variable(in) : NULL;
    for (uint32_t k = 0; v && k < n + c->nparams; k++)
      if (v == (k < n ? c->returns[k] : c->params[k - n]))
        on_stack(g, in, v, merge_place(c->returns, n, c->params, c->nparams, k));
  }
}

// Moves parameters and results of a call to the frame that the called function will have. Calls
// through pointers may lead to functions that are not here: merge_calls.c gives them their .param
// variables.
static void move_of_call(Merge *g, const MergedCall *c) {
  const PtxOperand *back = &c->call->ops[0], *args = &c->call->ops[2];
  uint32_t n = back->nlist + args->nlist;
  PtxVar **list = ARENA_ARRAY(g->arena, PtxVar *, n + 1);
  for (uint32_t i = 0; i < n; i++)
    list[i] = i < back->nlist ? back->list[i].var : args->list[i - back->nlist].var;
  PtxFunc *f = c->from->copy;
  for (uint32_t i = 0; i < f->nstmts; i++) {
    PtxInstr *in = f->stmts[i].kind == STMT_INSTR ? f->stmts[i].instr : NULL;
    const PtxVar *v = in && is_param_access(in) ? access_variable(in) : NULL;
    for (uint32_t k = 0; v && k < n; k++)
      if (v == list[k])
        on_stack(g, in, v,
                 c->from->frame +
                     merge_place(list, back->nlist, list + back->nlist, args->nlist, k));
  }
}

// --- one body ---

static PtxLabel *new_label(Merge *g, const char *name) {
  PtxFunc *f = g->kernel;
  Arena *a = &g->m->arena;
  PtxLabel *l = ARENA_NEW(a, PtxLabel);
  *l = (PtxLabel){.name = arena_printf(a, "$L%s_%s_%u", INTERRUPT_PREFIX, name, f->nlabels),
                  .kind = LABEL_CODE,
                  .id = f->nlabels};
  ARENA_APPEND(a, f->labels, f->nlabels, &l, 1);
  return l;
}

static PtxStmt branch_back(Merge *g, const PtxInstr *like) {
  PtxInstr *in = ARENA_NEW(&g->m->arena, PtxInstr);
  *in = (PtxInstr){.op = OP_BRA,
                   .nops = 1,
                   .guard = like->guard,
                   .guard_negated = like->guard_negated,
                   .ptx_line = like->ptx_line,
                   .ptx_column = like->ptx_column,
                   .loc = like->loc};
  in->ops = ARENA_NEW(&g->m->arena, PtxOperand);
  in->ops[0] = opd_label(g->back);
  return (PtxStmt){.kind = STMT_INSTR, .instr = in};
}

// Registers, labels and variables are renamed, since no scope in braces is left.
static void adopt(Merge *g, Merged *f, uint32_t number) {
  PtxFunc *k = g->kernel, *c = f->copy;
  Arena *a = &g->m->arena;
  for (uint32_t i = 0; i < c->nregs; i++) {
    PTX_RENAME(c->regs[i], arena_printf(a, "%%wgm%u_%u_", number, i));
    c->regs[i]->id = k->nregs + i;
  }
  for (uint32_t i = 0; i < c->nlabels; i++) {
    PTX_RENAME(c->labels[i], arena_printf(a, "$wgm%u_%u", number, i));
    c->labels[i]->id = k->nlabels + i;
  }
  ARENA_APPEND(a, k->regs, k->nregs, c->regs, c->nregs);
  ARENA_APPEND(a, k->labels, k->nlabels, c->labels, c->nlabels);
  for (uint32_t i = 0; i < c->nlocals; i++) {
    PtxVar *v = c->locals[i];
    if (v->space != SPACE_PARAM) continue;
    PTX_RENAME(v, arena_printf(a, "__wgm%u_%u", number, i));
    v->id = k->nlocals;
    v->func = k;
    ARENA_APPEND(a, k->locals, k->nlocals, &v, 1);
  }
}

// Declares the function's registers at the start of the kernel: threads that are resumed use them
// before they reach the function.
static void declare_first(Merge *g, const PtxFunc *c) {
  PtxFunc *k = g->kernel;
  PtxStmt *out = ARENA_ARRAY(&g->m->arena, PtxStmt, k->nstmts + c->nstmts + 1);
  uint32_t n = 0, depth = 0;
  for (uint32_t i = 0; i < c->nstmts; i++) {
    depth += c->stmts[i].kind == STMT_SCOPE_BEGIN;
    depth -= c->stmts[i].kind == STMT_SCOPE_END;
    if (c->stmts[i].kind == STMT_REGS && !depth) out[n++] = c->stmts[i];
  }
  memcpy(out + n, k->stmts, k->nstmts * sizeof *out);
  k->stmts = out;
  k->nstmts += n;
}

static void append(Merge *g, Merged *f, uint32_t number) {
  PtxFunc *k = g->kernel, *c = f->copy;
  f->entry = new_label(g, "function");
  adopt(g, f, number);
  PtxStmt *out = ARENA_ARRAY(&g->m->arena, PtxStmt, c->nstmts + 2);
  uint32_t n = 0;
  uint32_t depth = 0;
  declare_first(g, c);
  out[n++] = (PtxStmt){.kind = STMT_LABEL, .label = f->entry};
  for (uint32_t i = 0; i < c->nstmts; i++) {
    PtxStmt s = c->stmts[i];
    depth += s.kind == STMT_SCOPE_BEGIN;
    depth -= s.kind == STMT_SCOPE_END;
    if (s.kind == STMT_LOC || (s.kind == STMT_REGS && !depth) ||
        (s.kind == STMT_VAR && s.var->space == SPACE_LOCAL))
      continue;
    if (s.kind == STMT_INSTR && s.instr->op == OP_RET) s = branch_back(g, s.instr);
    out[n++] = s;
  }
  out[n++] = branch_back(g, &(PtxInstr){0});
  ARENA_APPEND(&g->m->arena, k->stmts, k->nstmts, out, n);
}

static PtxInstr *add_plain(Merge *g, PtxOp op) {
  PtxFunc *k = g->kernel;
  PtxInstr *in = ARENA_NEW(&g->m->arena, PtxInstr);
  *in = (PtxInstr){.op = op};
  PtxStmt s = {.kind = STMT_INSTR, .instr = in};
  ARENA_APPEND(&g->m->arena, k->stmts, k->nstmts, &s, 1);
  return in;
}

static void add_return(Merge *g) {
  PtxFunc *k = g->kernel;
  PtxStmt s = {.kind = STMT_LABEL, .label = g->back};
  ARENA_APPEND(&g->m->arena, k->stmts, k->nstmts, &s, 1);
  g->last = add_plain(g, OP_TRAP);
}

static void make_stack(Merge *g) {
  PtxFunc *k = g->kernel;
  uint64_t largest = 0, bytes;
  for (uint32_t i = 0; i < g->funcs.len; i++) largest = MAX(largest, g->funcs.data[i]->frame);
  bytes = MAX(LEAST_STACK, DEPTH * largest);
  PtxVar *v = ARENA_NEW(&g->m->arena, PtxVar);
  *v = (PtxVar){.name = INTERRUPT_PREFIX "_stack",
                .space = SPACE_LOCAL,
                .type = TYPE_B8,
                .align = 16,
                .align_given = true,
                .dims = {bytes},
                .ndims = 1,
                .size = bytes,
                .id = k->nlocals,
                .func = k};
  ARENA_APPEND(&g->m->arena, k->locals, k->nlocals, &v, 1);
  PtxStmt s = {.kind = STMT_VAR, .var = v};
  ARENA_APPEND(&g->m->arena, k->stmts, k->nstmts, &s, 1);
  memmove(k->stmts + 1, k->stmts, (k->nstmts - 1) * sizeof s);
  k->stmts[0] = s;
  g->stack = v;
}

static bool merge_all(Merge *g, Program *p, Error *err) {
  bool ok = true;
  for (uint32_t i = 0; i < g->funcs.len && ok; i++) ok = find_calls(g, g->funcs.data[i], err);
  if (!ok) return false;
  for (uint32_t i = 0; i < g->funcs.len; i++) lay_out(g, g->funcs.data[i]);
  make_stack(g);
  g->sp = stops_new_register(g->kernel, TYPE_B64, "sp");
  g->overflows = stops_new_register(g->kernel, TYPE_B64, "overflow");
  g->overflows->type = TYPE_B32;
  g->back = new_label(g, "return");
  for (uint32_t i = 1; i < g->funcs.len; i++) move_own(g, g->funcs.data[i]);
  for (uint32_t i = 0; i < g->calls.len; i++) move_of_call(g, &g->calls.data[i]);
  add_plain(g, OP_EXIT);  // the kernel does not fall into functions
  for (uint32_t i = 1; i < g->funcs.len; i++) append(g, g->funcs.data[i], i);
  add_return(g);
  ptx_number_labels(g->kernel);
  return ptx_verify_new(g->m, err) && merge_calls(g, p, err);
}

MergeResult merge_functions(PtxFunc *kernel, Program *p, uint32_t *stack_bytes, Error *err) {
  Arena arena = {0};
  Merge g = {.m = kernel->module, .kernel = kernel, .arena = &arena};
  Reach r = find_reach(g.m, &arena);
  bool possible = collect(&g, &r), ok = possible && merge_all(&g, p, err);
  if (ok) *stack_bytes = (uint32_t)g.stack->size;
  vec_free(&g.funcs);
  vec_free(&g.calls);
  arena_free(&arena);
  return !possible ? MERGE_IMPOSSIBLE : ok ? MERGE_DONE : MERGE_FAILED;
}
