// Calls of merged functions become branches. Registers that are needed later go to the stack, and
// so does the number of the call, which tells the function where to return.
#include "interrupt/merge.h"

typedef struct Calls {
  Merge *g;
  Body *body;
  VEC(PtxLabel *) backs;  // by number
  PtxLabel *overflow;
} Calls;

static void keep(Code *c, const Merge *g, PtxReg *r, int64_t at, bool saves) {
  PtxOperand place = opd_at(c, opd_reg(g->sp), at);
  unsigned size = r->type == TYPE_PRED ? 0 : ptx_type_size(r->type);
  if (size == 0 && saves) {
    EMIT(c, "selp.b32", opd_reg(word(c, 0)), opd_imm(1), opd_imm(0), opd_reg(r));
    EMIT(c, "st.local.b32", place, opd_reg(word(c, 0)));
  } else if (size == 0) {
    EMIT(c, "ld.local.b32", opd_reg(word(c, 0)), place);
    EMIT(c, "setp.ne.u32", opd_reg(r), opd_reg(word(c, 0)), opd_imm(0));
  } else if (saves) {
    EMIT(c,
         size == 8   ? "st.local.b64"
         : size == 4 ? "st.local.b32"
                     : "st.local.b16",
         place, opd_reg(r));
  } else {
    EMIT(c,
         size == 8   ? "ld.local.b64"
         : size == 4 ? "ld.local.b32"
                     : "ld.local.b16",
         opd_reg(r), place);
  }
}

static void keep_live(Calls *k, Code *c, const MergedCall *call, bool saves) {
  for (uint32_t i = 0; i < call->nlive; i++)
    keep(c, k->g, call->live[i], (int64_t)call->from->saves + 8 * i, saves);
}

static void check_room(Calls *k, Code *c, uint32_t bytes) {
  const Merge *g = k->g;
  EMIT(c, "mov.u64", opd_reg(wide(c, 0)), opd_var(g->stack));
  EMIT(c, "add.u64", opd_reg(wide(c, 0)), opd_reg(wide(c, 0)),
       opd_imm((int64_t)g->stack->size - bytes));
  EMIT(c, "setp.gt.u64", opd_reg(pred(c, 0)), opd_reg(g->sp), opd_reg(wide(c, 0)));
  code_branch(c, pred(c, 0), false, k->overflow);
}

static void enter(Calls *k, Code *c, const MergedCall *call, const Merged *to) {
  const Merge *g = k->g;
  PtxLabel *back = body_label(k->body);
  vec_push(&k->backs, back);
  check_room(k, c, call->from->frame + to->frame);
  keep_live(k, c, call, true);
  EMIT(c, "st.local.u32", opd_at(c, opd_reg(g->sp), call->from->frame), opd_imm(k->backs.len));
  if (call->from->frame)
    EMIT(c, "add.u64", opd_reg(g->sp), opd_reg(g->sp), opd_imm(call->from->frame));
  code_branch(c, NULL, false, to->entry);
  code_label(c, back);
  if (call->from->frame)
    EMIT(c, "sub.u64", opd_reg(g->sp), opd_reg(g->sp), opd_imm(call->from->frame));
  keep_live(k, c, call, false);
}

static uint32_t number_of(const Calls *k, const PtxInstr *in) {
  const IrCfg *cfg = k->body->cfg;
  for (uint32_t i = 0; i < cfg->ninstrs; i++)
    if (cfg->instrs[i] == in) return i;
  return IR_NONE;
}

static const Merged *merged_of(const Merge *g, const PtxFunc *f) {
  for (uint32_t i = 0; i < g->funcs.len; i++)
    if (g->funcs.data[i]->of == f) return g->funcs.data[i];
  return NULL;
}

static void call_directly(Calls *k, const MergedCall *call, uint32_t i) {
  const PtxInstr *in = call->call;
  Code *c = body_instead(k->body, i);
  PtxLabel *after = body_label(k->body);
  if (in->guard) code_branch(c, in->guard, !in->guard_negated, after);
  enter(k, c, call, merged_of(k->g, in->ops[1].func));
  code_label(c, after);
}

// --- calls through pointers ---

static bool fits(const PtxFunc *f, const PtxInstr *call) {
  const PtxOperand *back = &call->ops[0], *args = &call->ops[2];
  if (f->nreturns != back->nlist || f->nparams != args->nlist) return false;
  for (uint32_t i = 0; i < f->nreturns; i++)
    if (f->returns[i]->size != back->list[i].var->size) return false;
  for (uint32_t i = 0; i < f->nparams; i++)
    if (f->params[i]->size != args->list[i].var->size) return false;
  return true;
}

// Copies between a .param variable and the stack.
static void copy_variable(Code *c, const Merge *g, PtxVar *v, int64_t at, bool to_stack) {
  uint64_t done = 0;
  while (done < v->size) {
    uint64_t left = v->size - done;
    unsigned unit = MIN(v->align, 8u);
    while (unit > left) unit /= 2;
    PtxReg *t = unit == 8 ? wide(c, 1) : unit == 2 ? body_temp(c->body, TYPE_B16, 0) : word(c, 1);
    PtxOperand here = opd_at(c, opd_reg(g->sp), at + (int64_t)done),
               there = opd_at(c, opd_var(v), (int64_t)done);
    const char
        *loads[] =
            {[1] = "ld.local.b8", [2] = "ld.local.b16", [4] = "ld.local.b32", [8] = "ld.local.b64"},
        *stores[] =
            {[1] = "st.local.b8", [2] = "st.local.b16", [4] = "st.local.b32", [8] = "st.local.b64"},
        *param_loads[] =
            {[1] = "ld.param.b8", [2] = "ld.param.b16", [4] = "ld.param.b32", [8] = "ld.param.b64"},
        *param_stores[] = {
            [1] = "st.param.b8", [2] = "st.param.b16", [4] = "st.param.b32", [8] = "st.param.b64"};
    EMIT(c, to_stack ? param_loads[unit] : loads[unit], opd_reg(t), to_stack ? there : here);
    EMIT(c, to_stack ? stores[unit] : param_stores[unit], to_stack ? here : there, opd_reg(t));
    done += unit;
  }
}

// Compares the pointer with the merged functions. If none matches, makes the call, with the
// parameters from the stack.
static void call_by_pointer(Calls *k, const MergedCall *call, uint32_t i) {
  const Merge *g = k->g;
  const PtxInstr *in = call->call;
  const PtxOperand *back = &in->ops[0], *args = &in->ops[2];
  uint32_t n = back->nlist + args->nlist, frame = call->from->frame;
  PtxVar **list = ARENA_ARRAY(g->arena, PtxVar *, n + 1);
  for (uint32_t v = 0; v < n; v++)
    list[v] = v < back->nlist ? back->list[v].var : args->list[v - back->nlist].var;
  Code *before = body_before(k->body, i), *after = body_after(k->body, i);
  PtxLabel *join = body_label(k->body);
  if (in->guard) code_branch(before, in->guard, !in->guard_negated, join);
  check_room(k, before, frame + merge_place(list, back->nlist, list + back->nlist, args->nlist, n));
  for (uint32_t f = 1; f < g->funcs.len; f++) {
    const Merged *to = g->funcs.data[f];
    if (!merge_is_target(to->of) || !fits(to->of, in)) continue;
    PtxLabel *here = body_label(k->body);
    EMIT(before, "mov.u64", opd_reg(wide(before, 1)),
         (PtxOperand){.kind = OPD_FUNC, .func = (PtxFunc *)(uintptr_t)to->of});
    EMIT(before, "setp.eq.u64", opd_reg(pred(before, 0)), opd_reg(wide(before, 1)),
         opd_reg(in->ops[1].reg));
    code_branch(before, pred(before, 0), false, here);
    Code *cold = body_cold(k->body);
    code_label(cold, here);
    enter(k, cold, call, to);
    code_branch(cold, NULL, false, join);
  }
  for (uint32_t v = 0; v < n; v++) {
    int64_t at = frame + merge_place(list, back->nlist, list + back->nlist, args->nlist, v);
    copy_variable(v < back->nlist ? after : before, g, list[v], at, v < back->nlist);
  }
  code_label(after, join);
}

static void go_back(Calls *k) {
  Code *c = body_before(k->body, number_of(k, k->g->last));
  EMIT(c, "ld.local.u32", opd_reg(word(c, 0)), opd_at(c, opd_reg(k->g->sp), 0));
  for (uint32_t i = 0; i < k->backs.len; i++) {
    EMIT(c, "setp.eq.u32", opd_reg(pred(c, 0)), opd_reg(word(c, 0)), opd_imm(i + 1));
    code_branch(c, pred(c, 0), false, k->backs.data[i]);
  }
  c = body_cold(k->body);
  code_label(c, k->overflow);
  EMIT(c, "mov.b32", opd_reg(k->g->overflows), opd_imm(0));  // becomes emit_overflow
  code_emit(c, "exit", NULL, 0);
}

static bool rewrite_calls(Merge *g, Program *p, Error *err) {
  Body b;
  if (!body_open(&b, p, g->kernel, 0, err)) return false;
  Calls k = {.g = g, .body = &b, .overflow = body_label(&b)};
  Code *entry = body_entry(&b);
  EMIT(entry, "mov.u64", opd_reg(g->sp), opd_var(g->stack));
  for (uint32_t i = 0; i < g->calls.len; i++) {
    const MergedCall *call = &g->calls.data[i];
    uint32_t at = number_of(&k, call->call);
    if (at == IR_NONE) continue;
    if (call->call->ops[1].kind == OPD_FUNC) call_directly(&k, call, at);
    else call_by_pointer(&k, call, at);
  }
  go_back(&k);
  vec_free(&k.backs);
  return body_close(&b, err);
}

bool merge_calls(Merge *g, Program *p, Error *err) {
  PassNames before = names_use(p, (PassNames){"__wgmc", "%wgmc_"});
  bool ok = rewrite_calls(g, p, err);
  names_use(p, before);
  return ok;
}
