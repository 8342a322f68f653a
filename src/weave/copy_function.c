// Copies of functions: probes into the program, and kernels that need a second form.
#include "weave/pass.h"

typedef struct Copier {
  Arena *a;
  const PtxFunc *from;
  PtxFunc *to;
  PtxReg *regs;
  PtxLabel *labels;
  U64Map vars;
} Copier;

static void *copied(Copier *c, const void *p, size_t n) {
  if (!n || !p) return NULL;
  return memcpy(arena_alloc(c->a, n), p, n);
}
static const char *copied_text(Copier *c, const char *s) {
  return s ? arena_strdup(c->a, s) : NULL;
}

static PtxVar *copy_var(Copier *c, PtxVar *v) {
  PtxVar *known = u64map_get(&c->vars, (uintptr_t)v);
  if (known) return known;
  PtxVar *n = ARENA_NEW(c->a, PtxVar);
  *n = *v;
  n->name = copied_text(c, v->name);
  n->func = c->to;
  n->init = copied(c, v->init, v->size);
  n->relocs = copied(c, v->relocs, sizeof *v->relocs * v->nrelocs);
  n->init_text = copied_text(c, v->init_text);
  n->user = NULL;
  u64map_put(&c->vars, (uintptr_t)v, n);
  return n;
}

static PtxVar **copy_vars(Copier *c, PtxVar **vars, uint32_t n) {
  PtxVar **out = ARENA_ARRAY(c->a, PtxVar *, n + 1);
  for (uint32_t i = 0; i < n; i++) out[i] = copy_var(c, vars[i]);
  return out;
}

static PtxReg *reg_of(Copier *c, const PtxReg *r) { return r ? &c->regs[r->id] : NULL; }

static void copy_operand(Copier *c, PtxOperand *o) {
  switch (o->kind) {
    case OPD_REG: o->reg = reg_of(c, o->reg); break;
    case OPD_LABEL: o->label = &c->labels[o->label->id]; break;
    case OPD_VAR: {
      PtxVar *own = u64map_get(&c->vars, (uintptr_t)o->var);
      CHECK(own || o->var->func != c->from);
      if (own) o->var = own;
      break;
    }
    default: break;
  }
  o->list = copied(c, o->list, sizeof *o->list * o->nlist);
  for (unsigned i = 0; i < o->nlist; i++) copy_operand(c, &o->list[i]);
}

static PtxInstr *copy_instr(Copier *c, const PtxInstr *in) {
  PtxInstr *n = copied(c, in, sizeof *in);
  n->mods = copied(c, in->mods, sizeof *in->mods * in->nmods);
  n->ops = copied(c, in->ops, sizeof *in->ops * in->nops);
  n->guard = reg_of(c, in->guard);
  for (unsigned i = 0; i < n->nops; i++) copy_operand(c, &n->ops[i]);
  return n;
}

static void copy_label(Copier *c, PtxLabel *l) {
  l->name = copied_text(c, l->name);
  l->targets = copied(c, l->targets, sizeof *l->targets * l->ntargets);
  for (uint32_t i = 0; i < l->ntargets; i++) l->targets[i] = &c->labels[l->targets[i]->id];
  l->call_targets = copied(c, l->call_targets, sizeof *l->call_targets * l->ncall_targets);
}

static void copy_stmt(Copier *c, PtxStmt *s) {
  switch (s->kind) {
    case STMT_INSTR: s->instr = copy_instr(c, s->instr); break;
    case STMT_LABEL: s->label = &c->labels[s->label->id]; break;
    case STMT_VAR: s->var = copy_var(c, s->var); break;
    case STMT_REGS: s->regs.first = s->regs.count ? reg_of(c, s->regs.first) : NULL; break;
    case STMT_PRAGMA:
    case STMT_DIRECTIVE: s->text = copied_text(c, s->text); break;
    case STMT_LOC:
    case STMT_SCOPE_BEGIN:
    case STMT_SCOPE_END: break;
  }
}

PtxFunc *copy_function(PtxModule *into, const PtxFunc *f, const char *name) {
  PtxFunc *to = ARENA_NEW(&into->arena, PtxFunc);
  *to = *f;
  Copier c = {.a = &into->arena, .from = f, .to = to};
  to->name = copied_text(&c, name);
  to->module = into;
  to->linkage = LINK_NONE;
  to->user = NULL;
  // Registers of one declaration must stand side by side: ids are handed out in the order of
  // declarations.
  c.regs = ARENA_ARRAY(c.a, PtxReg, f->nregs + 1);
  to->regs = ARENA_ARRAY(c.a, PtxReg *, f->nregs + 1);
  for (uint32_t i = 0; i < f->nregs; i++) {
    c.regs[i] = *f->regs[i];
    c.regs[i].name = copied_text(&c, f->regs[i]->name);
    to->regs[i] = &c.regs[i];
  }
  c.labels = ARENA_ARRAY(c.a, PtxLabel, f->nlabels + 1);
  to->labels = ARENA_ARRAY(c.a, PtxLabel *, f->nlabels + 1);
  for (uint32_t i = 0; i < f->nlabels; i++) {
    c.labels[i] = *f->labels[i];
    to->labels[i] = &c.labels[i];
  }
  to->returns = copy_vars(&c, f->returns, f->nreturns);
  to->params = copy_vars(&c, f->params, f->nparams);
  to->locals = copy_vars(&c, f->locals, f->nlocals);
  for (uint32_t i = 0; i < f->nreturns; i++) to->returns[i]->reg = reg_of(&c, f->returns[i]->reg);
  for (uint32_t i = 0; i < f->nparams; i++) to->params[i]->reg = reg_of(&c, f->params[i]->reg);
  for (uint32_t i = 0; i < f->nlabels; i++) copy_label(&c, &c.labels[i]);
  to->stmts = copied(&c, f->stmts, sizeof *f->stmts * f->nstmts);
  for (uint32_t i = 0; i < f->nstmts; i++) copy_stmt(&c, &to->stmts[i]);
  to->directives = ARENA_ARRAY(c.a, const char *, f->ndirectives + 1);
  for (uint32_t i = 0; i < f->ndirectives; i++)
    to->directives[i] = copied_text(&c, f->directives[i]);
  u64map_free(&c.vars);
  return to;
}
