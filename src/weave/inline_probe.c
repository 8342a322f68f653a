// Probes in line: the code of a device function in the place of its call. One set of registers
// serves all copies in a body.
#include "weave/pass.h"

typedef struct Inliner {
  Body *body;
  Code *code;
  Arena *arena;
  const PtxFunc *from;
  PtxReg **regs;  // by the function's register id
  PtxLabel **labels, *end;
  const PtxOperand *args;
  PtxReg *result;
} Inliner;

static void *copied(Inliner *n, const void *p, size_t size) {
  return size && p ? memcpy(arena_alloc(n->arena, size), p, size) : NULL;
}

static PtxReg *reg_of(Inliner *n, const PtxReg *r) {
  if (!r) return NULL;
  PtxReg **own = &n->regs[r->id];
  if (!*own) *own = body_reg(n->body, r->type);
  return *own;
}

static void map_operand(Inliner *n, PtxOperand *o) {
  if (o->kind == OPD_REG) o->reg = reg_of(n, o->reg);
  if (o->kind == OPD_LABEL) {
    PtxLabel **own = &n->labels[o->label->id];
    if (!*own) *own = body_label(n->body);
    o->label = *own;
  }
  CHECK(o->kind != OPD_VAR && o->kind != OPD_FUNC);
  o->list = copied(n, o->list, sizeof *o->list * o->nlist);
  for (unsigned i = 0; i < o->nlist; i++) map_operand(n, &o->list[i]);
}

static const PtxVar *param_of(const PtxInstr *in, unsigned operand) {
  const PtxOperand *o = &in->ops[operand];
  return in->space == SPACE_PARAM && o->kind == OPD_ADDR && o->list[0].kind == OPD_VAR
             ? o->list[0].var
             : NULL;
}

static void move(Inliner *n, PtxOperand to, PtxOperand from, uint64_t bytes) {
  if (bytes == 8) EMIT(n->code, "mov.b64", to, from);
  else EMIT(n->code, "mov.b32", to, from);
}

static void put_instr(Inliner *n, const PtxInstr *in, bool last) {
  const PtxVar *param = in->op == OP_LD ? param_of(in, 1) : NULL,
               *returned = in->op == OP_ST ? param_of(in, 0) : NULL;
  if (param) {
    for (uint32_t i = 0; i < n->from->nparams; i++)
      if (n->from->params[i] == param)
        move(n, opd_reg(reg_of(n, in->ops[0].reg)), n->args[i], param->size);
    return;
  }
  if (returned) {
    CHECK(n->result);
    move(n, opd_reg(n->result), opd_reg(reg_of(n, in->ops[1].reg)), returned->size);
    return;
  }
  if (in->op == OP_RET) {
    CHECK(!in->guard);
    if (!last) EMIT(n->code, "bra", opd_label(n->end));
    return;
  }
  CHECK(in->op != OP_CALL);
  PtxInstr *copy = code_instr(n->code, in);
  copy->form = 0;
  copy->mods = copied(n, in->mods, sizeof *in->mods * in->nmods);
  copy->ops = copied(n, in->ops, sizeof *in->ops * in->nops);
  copy->guard = reg_of(n, in->guard);
  for (unsigned i = 0; i < copy->nops; i++) map_operand(n, &copy->ops[i]);
  copy->ptx_line = n->code->near ? n->code->near->ptx_line : 0;
  copy->ptx_column = n->code->near ? n->code->near->ptx_column : 0;
  copy->loc = n->code->near ? n->code->near->loc : NULL;
}

void code_inline(Code *c, const char *name, InlinedRegs *regs, PtxReg *result,
                 const PtxOperand *args, unsigned nargs) {
  Body *b = c->body;
  const PtxFunc *f = probe_original(b->program, name);
  CHECK(f->nparams == nargs && !f->nlocals && (f->nreturns != 0) == (result != NULL) && !c->guard);
  if (regs->of != f) *regs = (InlinedRegs){f, ARENA_ARRAY(&b->cfg->arena, PtxReg *, f->nregs + 1)};
  Inliner n = {b,
               c,
               &b->func->module->arena,
               f,
               regs->regs,
               ARENA_ARRAY(&b->cfg->arena, PtxLabel *, f->nlabels + 1),
               body_label(b),
               args,
               result};
  for (uint32_t i = 0; i < f->nstmts; i++) {
    const PtxStmt *s = &f->stmts[i];
    if (s->kind == STMT_INSTR) put_instr(&n, s->instr, i + 1 == f->nstmts);
    if (s->kind != STMT_LABEL) continue;
    if (!n.labels[s->label->id]) n.labels[s->label->id] = body_label(b);
    code_label(c, n.labels[s->label->id]);
  }
  code_label(c, n.end);
}
