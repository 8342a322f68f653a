// A second body of a function: a copy of all its instructions after the first, with its own
// registers, and a predicate that chooses which of the two runs. It is made before passes look at
// the function, so all of them see both bodies as the program's code.
#include "weave/pass.h"

// Both bodies share some variables: parameters, and those declared outside of inner braces.
typedef struct Doubling {
  PtxFunc *f, *copy;
  U64Map original;
} Doubling;

static bool can_double(const PtxFunc *f) {
  int depth = 0;
  for (uint32_t i = 0; i < f->nstmts; i++) {
    const PtxStmt *s = &f->stmts[i];
    depth += (s->kind == STMT_SCOPE_BEGIN) - (s->kind == STMT_SCOPE_END);
    if (s->kind == STMT_DIRECTIVE || (s->kind == STMT_VAR && depth && s->var->space != SPACE_PARAM))
      return false;
  }
  return true;
}

static void use_original(Doubling *d, PtxOperand *o) {
  PtxVar *v = o->kind == OPD_VAR ? u64map_get(&d->original, (uintptr_t)o->var) : NULL;
  if (v) o->var = v;
  for (unsigned i = 0; i < o->nlist; i++) use_original(d, &o->list[i]);
}

static void map_originals(Doubling *d) {
  for (uint32_t i = 0; i < d->f->nparams; i++)
    u64map_put(&d->original, (uintptr_t)d->copy->params[i], d->f->params[i]);
  int depth = 0;
  for (uint32_t i = 0; i < d->f->nstmts; i++) {
    const PtxStmt *s = &d->f->stmts[i];
    depth += (s->kind == STMT_SCOPE_BEGIN) - (s->kind == STMT_SCOPE_END);
    if (s->kind == STMT_VAR && !depth)
      u64map_put(&d->original, (uintptr_t)d->copy->stmts[i].var, s->var);
  }
}

static void give_new_names(Program *p, Doubling *d) {
  Arena *a = &d->f->module->arena;
  for (uint32_t i = 0; i < d->copy->nregs; i++) {
    PTX_RENAME(d->copy->regs[i], arena_printf(a, "%stwo%u_", p->reg_prefix, i));
    d->copy->regs[i]->id = d->f->nregs + i;
  }
  for (uint32_t i = 0; i < d->copy->nlabels; i++) {
    PTX_RENAME(d->copy->labels[i], arena_printf(a, "$L%stwo%u", p->prefix, i));
    d->copy->labels[i]->id = d->f->nlabels + i;
  }
}

static PtxStmt branch_to(Arena *a, PtxLabel *to, PtxReg *guard) {
  PtxInstr *in = ARENA_NEW(a, PtxInstr);
  *in = (PtxInstr){.op = guard ? OP_BRA : OP_RET,
                   .nops = guard ? 1 : 0,
                   .guard = guard,
                   .ops = ARENA_NEW(a, PtxOperand)};
  if (guard) in->ops[0] = opd_label(to);
  return (PtxStmt){.kind = STMT_INSTR, .instr = in};
}

static bool is_declaration(const PtxStmt *s, int depth) {
  return !depth && (s->kind == STMT_REGS || s->kind == STMT_VAR);
}

// declarations of both; @choose bra Second; the first body; ret; Second: the second
static void join_bodies(Doubling *d, SecondBody *out) {
  PtxFunc *f = d->f;
  Arena *a = &f->module->arena;
  PtxStmt *stmts = ARENA_ARRAY(a, PtxStmt, 2 * f->nstmts + 8), *at = stmts;
  *at++ = (PtxStmt){.kind = STMT_REGS, .regs = {out->choose, 1}};
  for (unsigned both = 0; both < 2; both++) {
    const PtxFunc *from = both ? d->copy : f;
    int depth = 0;
    for (uint32_t i = 0; i < from->nstmts; i++) {
      const PtxStmt *s = &from->stmts[i];
      depth += (s->kind == STMT_SCOPE_BEGIN) - (s->kind == STMT_SCOPE_END);
      if (is_declaration(s, depth) && !(both && s->kind == STMT_VAR)) *at++ = *s;
    }
  }
  *at++ = branch_to(a, out->start, out->choose);
  for (unsigned both = 0; both < 2; both++) {
    const PtxFunc *from = both ? d->copy : f;
    int depth = 0;
    if (both) *at++ = (PtxStmt){.kind = STMT_LABEL, .label = out->start};
    for (uint32_t i = 0; i < from->nstmts; i++) {
      const PtxStmt *s = &from->stmts[i];
      depth += (s->kind == STMT_SCOPE_BEGIN) - (s->kind == STMT_SCOPE_END);
      if (!is_declaration(s, depth)) *at++ = *s;
    }
    *at++ = branch_to(a, NULL, NULL);
  }
  f->stmts = stmts;
  f->nstmts = (uint32_t)(at - stmts);
  ptx_number_labels(f);
}

bool second_body_make(Program *p, PtxFunc *f, SecondBody *out) {
  if (!can_double(f)) return false;
  Arena *a = &f->module->arena;
  Doubling d = {.f = f, .copy = copy_function(f->module, f, f->name)};
  map_originals(&d);
  for (uint32_t i = 0; i < d.copy->nstmts; i++)
    for (unsigned o = 0; d.copy->stmts[i].kind == STMT_INSTR && o < d.copy->stmts[i].instr->nops;
         o++)
      use_original(&d, &d.copy->stmts[i].instr->ops[o]);
  give_new_names(p, &d);
  out->choose = ARENA_NEW(a, PtxReg);
  *out->choose = (PtxReg){.name = arena_printf(a, "%schoose", p->reg_prefix),
                          .type = TYPE_PRED,
                          .id = f->nregs + d.copy->nregs};
  out->start = ARENA_NEW(a, PtxLabel);
  *out->start = (PtxLabel){.name = arena_printf(a, "$L%ssecond", p->prefix),
                           .kind = LABEL_CODE,
                           .id = f->nlabels + d.copy->nlabels};
  join_bodies(&d, out);
  ARENA_APPEND(a, f->regs, f->nregs, d.copy->regs, d.copy->nregs);
  ARENA_APPEND(a, f->regs, f->nregs, &out->choose, 1);
  ARENA_APPEND(a, f->labels, f->nlabels, d.copy->labels, d.copy->nlabels);
  ARENA_APPEND(a, f->labels, f->nlabels, &out->start, 1);
  for (uint32_t i = 0; i < d.copy->nlocals; i++) {
    PtxVar *v = d.copy->locals[i];
    if (u64map_get(&d.original, (uintptr_t)v)) continue;
    v->func = f;
    v->id = f->nlocals;
    ARENA_APPEND(a, f->locals, f->nlocals, &v, 1);
  }
  u64map_free(&d.original);
  return true;
}

uint32_t second_body_first(const Body *b) {
  const SecondBody *s = &b->info->second;
  return s->start ? b->cfg->blocks[b->cfg->label_block[s->start->id]].first : UINT32_MAX;
}
