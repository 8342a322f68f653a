// A second body of a kernel after the first, with the same registers: only one of them runs at a
// time.
#include "tools/fpcheck/internal.h"

typedef struct FpClone {
  Code **before, **after;     // by instruction
  PtxLabel *start, **labels;  // labels: by PtxLabel.id
} FpClone;

static Code *new_code(FpCheck *k, const PtxInstr *near) {
  Code *c = ARENA_NEW(&k->body->cfg->arena, Code);
  c->body = k->body;
  c->near = near;
  return c;
}

static Code *code_of(FpCheck *k, Code **place, uint32_t i) {
  if (!*place) *place = new_code(k, k->body->cfg->instrs[i]);
  (*place)->guard = NULL;
  (*place)->guard_negated = false;
  return *place;
}

Code *fp_before(FpCheck *k, uint32_t i) {
  return k->clone ? code_of(k, &k->clone->before[i], i) : body_before(k->body, i);
}
Code *fp_after(FpCheck *k, uint32_t i) {
  return k->clone ? code_of(k, &k->clone->after[i], i) : body_after(k->body, i);
}

// Variables of inner scopes other than parameters of calls would exist twice.
bool fp_can_clone(const FpCheck *k) {
  const PtxFunc *f = k->body->func;
  int depth = 0;
  for (uint32_t i = 0; i < f->nstmts; i++) {
    const PtxStmt *s = &f->stmts[i];
    if (s->kind == STMT_SCOPE_BEGIN) depth++;
    if (s->kind == STMT_SCOPE_END) depth--;
    if (s->kind == STMT_VAR && depth && s->var->space != SPACE_PARAM) return false;
    if (s->kind == STMT_DIRECTIVE) return false;
    if (s->kind == STMT_LABEL && depth && s->label->kind == LABEL_CODE) continue;
  }
  return true;
}

// Labels inside braces, by PtxLabel.id: they are not visible in the clone.
static bool *inner_labels(FpCheck *k) {
  const PtxFunc *f = k->body->func;
  bool *inner = ARENA_ARRAY(&k->body->cfg->arena, bool, f->nlabels + 1);
  int depth = 0;
  for (uint32_t i = 0; i < f->nstmts; i++) {
    depth += (f->stmts[i].kind == STMT_SCOPE_BEGIN) - (f->stmts[i].kind == STMT_SCOPE_END);
    if (f->stmts[i].kind == STMT_LABEL && depth) inner[f->stmts[i].label->id] = true;
  }
  return inner;
}

void fp_clone_begin(FpCheck *k) {
  Arena *a = &k->body->cfg->arena;
  FpClone *c = k->clone = ARENA_NEW(a, FpClone);
  c->before = ARENA_ARRAY(a, Code *, k->body->cfg->ninstrs + 1);
  c->after = ARENA_ARRAY(a, Code *, k->body->cfg->ninstrs + 1);
  c->start = k->full ? k->full : body_label(k->body);
  c->labels = ARENA_ARRAY(a, PtxLabel *, k->body->func->nlabels + 1);
  const bool *inner = inner_labels(k);
  for (uint32_t i = 0; i < k->body->func->nlabels; i++) {
    PtxLabel *l = k->body->func->labels[i];
    // prototypes are visible here
    if (l->kind != LABEL_CODE && l->kind != LABEL_BRANCHTARGETS && !inner[l->id]) continue;
    PtxLabel *copy = c->labels[l->id] = body_label(k->body);
    copy->kind = l->kind;
    copy->prototype = l->prototype;
    copy->call_targets = l->call_targets;
    copy->ncall_targets = l->ncall_targets;
  }
  for (uint32_t i = 0; i < k->body->func->nlabels; i++) {
    PtxLabel *l = k->body->func->labels[i], *copy = c->labels[l->id];
    if (!copy || l->kind != LABEL_BRANCHTARGETS) continue;
    copy->ntargets = l->ntargets;
    copy->targets = ARENA_ARRAY(&k->body->func->module->arena, PtxLabel *, l->ntargets + 1);
    for (uint32_t t = 0; t < l->ntargets; t++) copy->targets[t] = c->labels[l->targets[t]->id];
  }
}

PtxLabel *fp_clone_label(const FpCheck *k) { return k->clone->start; }

static void append(Code *to, const Code *c) {
  for (uint32_t i = c ? c->first : 0; i;) {
    Added a = to->body->added.data[i - 1];  // the list grows while we read it
    code_stmt(to, a.stmt);
    i = a.next;
  }
}

static void copy_instruction(FpCheck *k, Code *to, const PtxInstr *in) {
  PtxReg *guard = NULL;
  bool stores = k->repeats && in->op == OP_ST && in->space != SPACE_LOCAL &&
                in->space != SPACE_PARAM;
  if (stores && in->guard) {  // a thread that runs again must not store
    guard = body_temp(k->body, TYPE_PRED, 1);
    if (in->guard_negated)
      EMIT(to, "or.pred", opd_reg(guard), opd_reg(in->guard), opd_reg(k->repeats));
    else {
      EMIT(to, "not.pred", opd_reg(guard), opd_reg(in->guard));
      EMIT(to, "or.pred", opd_reg(guard), opd_reg(guard), opd_reg(k->repeats));
    }
  } else if (stores) guard = k->repeats;
  PtxInstr *copy = code_instr(to, in);
  if (stores) {
    copy->guard = guard;
    copy->guard_negated = true;
  }
  bool jumps = false;
  for (unsigned i = 0; i < in->nops; i++) jumps |= in->ops[i].kind == OPD_LABEL;
  if (!jumps) return;
  copy->ops = ARENA_ARRAY(&k->body->func->module->arena, PtxOperand, in->nops);
  memcpy(copy->ops, in->ops, sizeof *in->ops * in->nops);
  for (unsigned i = 0; i < in->nops; i++)
    if (copy->ops[i].kind == OPD_LABEL && k->clone->labels[copy->ops[i].label->id])
      copy->ops[i].label = k->clone->labels[copy->ops[i].label->id];
}

void fp_clone_end(FpCheck *k) {
  FpClone *c = k->clone;
  const PtxFunc *f = k->body->func;
  k->clone = NULL;
  Code *to = body_before(k->body, k->body->cfg->ninstrs);
  code_emit(to, "ret", (const PtxOperand[]){{0}}, 0);  // control never falls through into it
  code_label(to, c->start);
  int depth = 0;
  uint32_t n = 0;
  for (uint32_t i = 0; i < f->nstmts; i++) {
    const PtxStmt *s = &f->stmts[i];
    switch (s->kind) {
      case STMT_INSTR:
        append(to, c->before[n]);
        k->clone = c;
        copy_instruction(k, to, s->instr);
        k->clone = NULL;
        append(to, c->after[n]);
        n++;
        break;
      case STMT_LABEL:
        if (c->labels[s->label->id]) code_label(to, c->labels[s->label->id]);
        break;
      case STMT_SCOPE_BEGIN:
        depth++;
        code_stmt(to, *s);
        break;
      case STMT_SCOPE_END:
        depth--;
        code_stmt(to, *s);
        break;
      case STMT_REGS:
      case STMT_VAR:
        if (depth) code_stmt(to, *s);
        break;
      case STMT_LOC:
      case STMT_PRAGMA:
      case STMT_DIRECTIVE: code_stmt(to, *s); break;
    }
  }
  code_emit(to, "ret", (const PtxOperand[]){{0}}, 0);
}
