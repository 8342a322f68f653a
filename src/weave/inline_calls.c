// Inlines calls in kernels of functions that the compiler has not inlined: the function's body
// replaces the call, so that a pass that keeps its state in registers of the kernel sees all of it.
//
// Parameters and results become thread-local memory: .param variables of the caller turn into
// .local ones, which also serve as the callee's parameters. Some calls stay: of functions that call
// themselves, are called through pointers, are in another unit, or take the address of a parameter;
// and calls that would make a kernel too long.
#include "weave/pass.h"

enum { MOST_DEPTH = 24 };

typedef struct Inliner {
  PtxModule *m;
  Arena *a;
  uint32_t number;
} Inliner;

static PtxFunc *callee_of(const PtxInstr *in) {
  return in->op == OP_CALL && in->nops >= 3 && in->ops[1].kind == OPD_FUNC &&
                 !in->ops[1].func->is_declaration && !in->ops[1].func->is_entry
             ? in->ops[1].func
             : NULL;
}

static bool comes_to(const PtxFunc *from, const PtxFunc *to, unsigned depth) {
  if (depth > MOST_DEPTH) return true;
  for (uint32_t i = 0; i < from->nstmts; i++) {
    const PtxFunc *g = from->stmts[i].kind == STMT_INSTR ? callee_of(from->stmts[i].instr) : NULL;
    if (g && (g == to || comes_to(g, to, depth + 1))) return true;
  }
  return false;
}

static bool is_param_of(const PtxFunc *f, const PtxVar *v) {
  for (uint32_t i = 0; i < f->nparams; i++)
    if (f->params[i] == v) return true;
  for (uint32_t i = 0; i < f->nreturns; i++)
    if (f->returns[i] == v) return true;
  return false;
}

// Whether a parameter is used other than as the address of a load or store in parameter space.
static bool is_taken(const PtxOperand *o, const PtxFunc *f) {
  if (o->kind == OPD_VAR && is_param_of(f, o->var)) return true;
  for (unsigned i = 0; i < o->nlist; i++)
    if (is_taken(&o->list[i], f)) return true;
  return false;
}

static bool is_param_access(const PtxInstr *in) {
  return (in->op == OP_LD || in->op == OP_ST) && in->space == SPACE_PARAM;
}

// A static variable of a function is shared by all calls: it moves to the module.
static void lift_static(Inliner *l, PtxFunc *g) {
  PtxModule *m = l->m;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < g->nlocals; i++) {
    PtxVar *v = g->locals[i];
    if (v->space != SPACE_SHARED || v->linkage != LINK_NONE || !v->size) {
      g->locals[kept] = v;
      v->id = kept++;
      continue;
    }
    PtxItem item = {.kind = ITEM_VAR, .var = v}, *items = ARENA_ARRAY(l->a, PtxItem, m->nitems + 2);
    for (uint32_t o = 0; o < m->nvars; o++)
      if (!strcmp(m->vars[o]->name, v->name))
        PTX_RENAME(v, arena_printf(l->a, "__wgi_%s_%s", g->name, v->name));
    v->func = NULL;
    v->id = m->nvars;
    ARENA_APPEND(l->a, m->vars, m->nvars, &v, 1);
    items[0] = item;
    memcpy(items + 1, m->items, m->nitems * sizeof *items);
    m->items = items;
    m->nitems++;
    uint32_t n = 0;
    for (uint32_t s = 0; s < g->nstmts; s++)
      if (g->stmts[s].kind != STMT_VAR || g->stmts[s].var != v) g->stmts[n++] = g->stmts[s];
    g->nstmts = n;
  }
  g->nlocals = kept;
}

static bool can_inline(const PtxFunc *g) {
  if (g->alias_of || g->noreturn || comes_to(g, g, 0)) return false;
  for (uint32_t i = 0; i < g->nparams + g->nreturns; i++) {
    const PtxVar *v = i < g->nparams ? g->params[i] : g->returns[i - g->nparams];
    if (v->space != SPACE_PARAM || !v->size) return false;
  }
  for (uint32_t i = 0; i < g->nlocals; i++)
    // shared by all calls
    if (g->locals[i]->space != SPACE_LOCAL && g->locals[i]->space != SPACE_PARAM) return false;
  for (uint32_t i = 0; i < g->nstmts; i++) {
    if (g->stmts[i].kind == STMT_DIRECTIVE) return false;
    if (g->stmts[i].kind != STMT_INSTR) continue;
    const PtxInstr *in = g->stmts[i].instr;
    if (in->op == OP_ALLOCA || in->op == OP_STACKSAVE || in->op == OP_STACKRESTORE) return false;
    for (unsigned o = 0; o < in->nops && !is_param_access(in); o++)
      if (is_taken(&in->ops[o], g)) return false;
  }
  return true;
}

static bool has_plain_list(const PtxOperand *o, uint32_t n) {
  if (o->nlist != n) return false;
  for (unsigned i = 0; i < o->nlist; i++)
    if (o->list[i].kind != OPD_VAR || o->list[i].var->space != SPACE_PARAM || o->list[i].imm ||
        !o->list[i].var->func)
      return false;
  return true;
}

static const PtxLoc *called_from(Inliner *l, const PtxLoc *loc, const PtxLoc *call,
                                 const char *function) {
  if (!loc || !call) return loc ? loc : call;  // code without a line belongs to the calling line
  PtxLoc *n = ARENA_NEW(l->a, PtxLoc);
  *n = *loc;
  if (loc->inlined_at) n->inlined_at = called_from(l, loc->inlined_at, call, function);
  else {
    n->inlined_at = call;
    n->function_name = function;
  }
  return n;
}

static PtxStmt branch_to(Inliner *l, const PtxInstr *like, PtxLabel *to, PtxReg *guard,
                         bool negated) {
  PtxInstr *in = ARENA_NEW(l->a, PtxInstr);
  *in = (PtxInstr){.op = OP_BRA,
                   .nops = 1,
                   .guard = guard,
                   .guard_negated = negated,
                   .ptx_line = like->ptx_line,
                   .ptx_column = like->ptx_column,
                   .loc = like->loc};
  in->ops = ARENA_NEW(l->a, PtxOperand);
  in->ops[0] = opd_label(to);
  return (PtxStmt){.kind = STMT_INSTR, .instr = in};
}

static PtxVar *stands_for(const PtxFunc *copy, const PtxInstr *call, const PtxVar *v) {
  for (uint32_t i = 0; i < copy->nparams; i++)
    if (copy->params[i] == v) return call->ops[2].list[i].var;
  for (uint32_t i = 0; i < copy->nreturns; i++)
    if (copy->returns[i] == v) return call->ops[0].list[i].var;
  return NULL;
}

// The copy's registers, labels and variables become the caller's.
static void adopt(Inliner *l, PtxFunc *f, PtxFunc *copy) {
  for (uint32_t i = 0; i < copy->nregs; i++) {
    PTX_RENAME(copy->regs[i], arena_printf(l->a, "%%wgi%u_%s", l->number,
                                           copy->regs[i]->name + (copy->regs[i]->name[0] == '%')));
    copy->regs[i]->id = f->nregs + i;
  }
  for (uint32_t i = 0; i < copy->nlabels; i++) {
    PTX_RENAME(copy->labels[i], arena_printf(l->a, "$wgi%u_%u", l->number, i));
    copy->labels[i]->id = f->nlabels + i;
  }
  for (uint32_t i = 0; i < copy->nlocals; i++) {
    PTX_RENAME(copy->locals[i], arena_printf(l->a, "__wgi%u_%s", l->number, copy->locals[i]->name));
    copy->locals[i]->id = f->nlocals + i;
    copy->locals[i]->func = f;
  }
  ARENA_APPEND(l->a, f->regs, f->nregs, copy->regs, copy->nregs);
  ARENA_APPEND(l->a, f->labels, f->nlabels, copy->labels, copy->nlabels);
  ARENA_APPEND(l->a, f->locals, f->nlocals, copy->locals, copy->nlocals);
}

static void pass_memory(PtxFunc *f, const PtxOperand *list) {
  for (unsigned i = 0; i < list->nlist; i++) {
    PtxVar *v = list->list[i].var;
    for (uint32_t s = 0; s < f->nstmts; s++)
      if (f->stmts[s].kind == STMT_INSTR && is_param_access(f->stmts[s].instr) &&
          access_variable(f->stmts[s].instr) == v)
        access_param_to_local(f->stmts[s].instr);
    v->space = SPACE_LOCAL;
  }
}

static void keep_in_register(Inliner *l, PtxFunc *f, PtxVar *v);

static void put_in_place(Inliner *l, PtxFunc *f, uint32_t at, PtxFunc *g) {
  PtxInstr *call = f->stmts[at].instr;
  const char *name = arena_strdup(l->a, g->name);
  PtxFunc *copy = copy_function(l->m, g, name);
  l->number++;
  pass_memory(f, &call->ops[2]);
  pass_memory(f, &call->ops[0]);
  adopt(l, f, copy);
  PtxLabel *end = ARENA_NEW(l->a, PtxLabel);
  *end = (PtxLabel){
      .name = arena_printf(l->a, "$wgi%u_end", l->number), .kind = LABEL_CODE, .id = f->nlabels};
  ARENA_APPEND(l->a, f->labels, f->nlabels, &end, 1);
  PtxStmt *out = ARENA_ARRAY(l->a, PtxStmt, f->nstmts + copy->nstmts + 4);
  uint32_t n = at;
  memcpy(out, f->stmts, at * sizeof *out);
  if (call->guard) out[n++] = branch_to(l, call, end, call->guard, !call->guard_negated);
  for (uint32_t i = 0; i < copy->nstmts; i++) {
    PtxStmt s = copy->stmts[i];
    if (s.kind == STMT_LOC) continue;
    if (s.kind == STMT_INSTR) {
      s.instr->loc = called_from(l, s.instr->loc, call->loc, name);
      if (s.instr->op == OP_RET)
        s = branch_to(l, s.instr, end, s.instr->guard, s.instr->guard_negated);
      else if (is_param_access(s.instr)) {
        const PtxVar *v = access_variable(s.instr);
        PtxVar *mine = v ? stands_for(copy, call, v) : NULL;
        if (mine) {
          for (unsigned o = 0; o < s.instr->nops; o++)
            if (s.instr->ops[o].kind == OPD_ADDR && s.instr->ops[o].list[0].kind == OPD_VAR &&
                s.instr->ops[o].list[0].var == v)
              s.instr->ops[o].list[0].var = mine;
          access_param_to_local(s.instr);
        }
      }
    }
    out[n++] = s;
  }
  out[n++] = (PtxStmt){.kind = STMT_LABEL, .label = end};
  memcpy(out + n, f->stmts + at + 1, (f->nstmts - at - 1) * sizeof *out);
  n += f->nstmts - at - 1;
  f->stmts = out;
  f->nstmts = n;
  ptx_number_labels(f);
  for (unsigned list = 0; list <= 2; list += 2)
    for (unsigned i = 0; i < call->ops[list].nlist; i++)
      keep_in_register(l, f, call->ops[list].list[i].var);
}

// --- a parameter written and read as a whole becomes a register: provenance stays visible ---

static bool moves_whole(const PtxInstr *in, const PtxVar *v) {
  const PtxOperand *value = &in->ops[in->op == OP_LD ? 0 : 1],
                   *at = &in->ops[in->op == OP_LD ? 1 : 0];
  unsigned size = in->ntypes == 1 && in->nops == 2 ? ptx_type_size(in->types[0]) : 0;
  if (size != v->size || size < 2 || at->kind != OPD_ADDR || at->nlist != 1 || at->imm)
    return false;
  if (value->kind == OPD_REG)
    return !value->reg->vector && value->selector == SEL_NONE && value->reg->type != TYPE_PRED &&
           ptx_type_size(value->reg->type) == size;
  return in->op == OP_ST && (value->kind == OPD_INT || value->kind == OPD_FLOAT);
}

static bool names(const PtxOperand *o, const PtxVar *v) {
  if (o->kind == OPD_VAR && o->var == v) return true;
  for (unsigned i = 0; i < o->nlist; i++)
    if (names(&o->list[i], v)) return true;
  return false;
}

static bool is_whole(const PtxFunc *f, const PtxVar *v) {
  if (v->ndims || v->vector || v->size < 2) return false;
  for (uint32_t i = 0; i < f->nstmts; i++) {
    const PtxInstr *in = f->stmts[i].kind == STMT_INSTR ? f->stmts[i].instr : NULL;
    bool named = false;
    for (unsigned o = 0; in && o < in->nops; o++) named |= names(&in->ops[o], v);
    if (named &&
        !((in->op == OP_LD || in->op == OP_ST) && in->space == SPACE_LOCAL && moves_whole(in, v)))
      return false;
  }
  return true;
}

static void keep_in_register(Inliner *l, PtxFunc *f, PtxVar *v) {
  static const PtxType types[] = {[2] = TYPE_B16, [4] = TYPE_B32, [8] = TYPE_B64};
  if (v->size > 8 || !is_whole(f, v)) return;
  PtxReg *r = ARENA_NEW(l->a, PtxReg);
  *r = (PtxReg){.name = arena_printf(l->a, "%%wgi%u_p%u", l->number, f->nregs),
                .type = types[v->size],
                .id = f->nregs};
  ARENA_APPEND(l->a, f->regs, f->nregs, &r, 1);
  for (uint32_t i = 0; i < f->nstmts; i++) {
    PtxStmt *s = &f->stmts[i];
    if (s->kind == STMT_VAR && s->var == v) *s = (PtxStmt){.kind = STMT_REGS, .regs = {r, 1}};
    if (s->kind != STMT_INSTR || (s->instr->op != OP_LD && s->instr->op != OP_ST) ||
        access_variable(s->instr) != v)
      continue;
    PtxInstr *in = s->instr;
    unsigned address = in->op == OP_LD ? 1 : 0, value = 1 - address, n = 0;
    PtxOperand to = address ? in->ops[0] : opd_reg(r), from = address ? opd_reg(r) : in->ops[value];
    for (unsigned m = 0; m < in->nmods; m++)
      if (in->mods[m] != MOD_LOCAL) in->mods[n++] = in->mods[m];
    in->nmods = (uint8_t)n;
    in->op = OP_MOV;
    in->space = SPACE_NONE;
    in->form = 0;
    in->ops[0] = to;
    in->ops[1] = from;
  }
}

void inline_calls(PtxModule *m, uint32_t most) {
  Inliner l = {.m = m, .a = &m->arena};
  for (uint32_t k = 0; k < m->nfuncs; k++) {
    PtxFunc *f = m->funcs[k];
    if (!f->is_entry || f->is_declaration) continue;
    for (uint32_t i = 0; i < f->nstmts && f->nstmts < most; i++) {
      const PtxInstr *call = f->stmts[i].kind == STMT_INSTR ? f->stmts[i].instr : NULL;
      PtxFunc *g = call ? callee_of(call) : NULL;
      if (g && g->module == m) lift_static(&l, g);
      if (!g || g->module != m || !can_inline(g) || f->nstmts + g->nstmts > most) continue;
      if (!has_plain_list(&call->ops[0], g->nreturns) || !has_plain_list(&call->ops[2], g->nparams))
        continue;
      put_in_place(&l, f, i, g);
      i--;  // look at the inlined calls, too
    }
  }
}
