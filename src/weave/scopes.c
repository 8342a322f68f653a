// A label inside braces is not seen from outside them, so code out of line could not return there.
// Braces around a place that has got a label, or that is repeated elsewhere, are taken away: what
// they declare moves to the top of the function, under names of its own.
#include "weave/pass.h"

static bool has_label(const Body *b, const Code *c) {
  for (uint32_t i = c ? c->first : 0; i; i = b->added.data[i - 1].next)
    if (b->added.data[i - 1].stmt.kind == STMT_LABEL) return true;
  return false;
}

// The statement after the brace that closes the one at `from`; *instr: number of the first
// instruction inside, moved behind the last.
static uint32_t scope_end(const PtxFunc *f, uint32_t from, uint32_t *instr) {
  int depth = 0;
  for (uint32_t i = from; i < f->nstmts; i++) {
    switch (f->stmts[i].kind) {
      case STMT_SCOPE_BEGIN: depth++; break;
      case STMT_SCOPE_END:
        if (!--depth) return i + 1;
        break;
      case STMT_INSTR: ++*instr; break;
      default: break;
    }
  }
  return f->nstmts;
}

static void rename_declared(Body *b, const PtxStmt *s, uint32_t *count) {
  Arena *a = &b->func->module->arena;
  if (s->kind == STMT_REGS)
    // no number at the end: %x2<5> beside %x2 is not what ptxas expects
    for (uint32_t i = 0; i < s->regs.count; i++)
      PTX_RENAME(&s->regs.first[i], arena_printf(a, "%sin%u_", b->program->reg_prefix, (*count)++));
  else if (s->kind == STMT_VAR)
    PTX_RENAME(s->var, arena_printf(a, "%sin%u", b->program->prefix, (*count)++));
  else if (s->kind == STMT_LABEL)
    PTX_RENAME(s->label, arena_printf(a, "$L%sin%u", b->program->prefix, (*count)++));
}

// Marks the statements that go (braces) or move (declarations).
bool *scopes_to_open(Body *b) {
  PtxFunc *f = b->func;
  bool *gone = ARENA_ARRAY(&b->cfg->arena, bool, f->nstmts + 1);
  uint32_t instr = 0, renamed = 0;
  for (uint32_t i = 0; i < f->nstmts;) {
    if (f->stmts[i].kind != STMT_SCOPE_BEGIN) {
      instr += f->stmts[i++].kind == STMT_INSTR;
      continue;
    }
    uint32_t first = instr, end = scope_end(f, i, &instr);
    bool labelled = false;
    for (uint32_t n = first; n < instr; n++)
      labelled |= (b->copied && b->copied[n]) || has_label(b, b->before[n]) ||
                  has_label(b, b->before_once[n]) || has_label(b, b->after[n]) ||
                  has_label(b, b->instead[n]);
    for (; i < end; i++) {
      const PtxStmt *s = &f->stmts[i];
      if (!labelled) continue;
      gone[i] = s->kind == STMT_SCOPE_BEGIN || s->kind == STMT_SCOPE_END || s->kind == STMT_REGS ||
                s->kind == STMT_VAR;
      rename_declared(b, s, &renamed);
    }
  }
  return gone;
}
