// Opens braces of a function that are in the way of added code, because they hide declarations:
//   - a label inside braces is not seen from outside, so code out of line could not return there;
//   - a register inside braces is not seen by a check that was moved out of them;
//   - a register inside braces hides one of the same name that a check inside them may want.
// Such braces are removed: their declarations move to the top of the function, under new names.
#include "weave/pass.h"

typedef struct Scope {
  uint32_t begin, end;         // statements; end: the one after the closing brace
  uint32_t parent, outermost;  // in Scopes.list
  bool opened;                 // of outermost scopes: it is removed, with those inside it
} Scope;
enum { FUNCTION_SCOPE = 0 };  // in Scopes.list: the body of the function, which stays

typedef struct Scopes {
  Body *body;
  VEC(Scope) list;
  uint32_t *of_reg, *of_instr;  // the innermost scope: by PtxReg.id, by number of the instruction
  StrMap names;                 // register names to PtxReg
  uint32_t at;                  // the scope of the code that is visited
} Scopes;

static bool scope_is_inside(const Scopes *s, uint32_t inner, uint32_t outer) {
  while (inner > outer) inner = s->list.data[inner].parent;
  return inner == outer;
}

static void scope_open(Scopes *s, uint32_t scope) {
  s->list.data[s->list.data[scope].outermost].opened = scope != FUNCTION_SCOPE;
}

static void declare(Scopes *s, uint32_t scope, PtxReg *first, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    PtxReg *r = &first[i], *other = strmap_get(&s->names, r->name);
    s->of_reg[r->id] = scope;
    uint32_t hidden = other ? s->of_reg[other->id] : scope;
    if (hidden != scope && scope_is_inside(s, scope, hidden)) scope_open(s, scope);
    else strmap_put(&s->names, r->name, r);
  }
}

static uint32_t scope_begin(Scopes *s, uint32_t parent, uint32_t stmt) {
  uint32_t number = s->list.len;
  uint32_t outermost = parent ? s->list.data[parent].outermost : number;
  vec_push(&s->list, ((Scope){.begin = stmt, .parent = parent, .outermost = outermost}));
  return number;
}

static void find_scopes(Scopes *s) {
  const PtxFunc *f = s->body->func;
  Arena *a = &s->body->cfg->arena;
  uint32_t in = FUNCTION_SCOPE, instr = 0;
  s->of_reg = ARENA_ARRAY(a, uint32_t, f->nregs + 1);
  s->of_instr = ARENA_ARRAY(a, uint32_t, s->body->cfg->ninstrs + 1);
  scope_begin(s, FUNCTION_SCOPE, 0);
  for (uint32_t i = 0; i < f->nstmts; i++) {
    const PtxStmt *stmt = &f->stmts[i];
    switch (stmt->kind) {
      case STMT_SCOPE_BEGIN: in = scope_begin(s, in, i); break;
      case STMT_SCOPE_END:
        s->list.data[in].end = i + 1;
        in = s->list.data[in].parent;
        break;
      case STMT_REGS: declare(s, in, stmt->regs.first, stmt->regs.count); break;
      case STMT_INSTR: s->of_instr[instr++] = in; break;
      default: break;
    }
  }
}

static void open_if_hidden(void *ctx, PtxReg **reg, bool is_def) {
  Scopes *s = ctx;
  if ((*reg)->id >= s->body->func->nregs) return;
  uint32_t declared = s->of_reg[(*reg)->id];
  if (!scope_is_inside(s, s->at, declared)) scope_open(s, declared);
}

// `at`: the scope that the code will stand in; a label there opens it.
static void look_at_code(Scopes *s, const Code *c, uint32_t at) {
  Body *b = s->body;
  s->at = at;
  for (uint32_t i = c ? c->first : 0; i; i = b->added.data[i - 1].next) {
    const PtxStmt *stmt = &b->added.data[i - 1].stmt;
    if (stmt->kind == STMT_LABEL) scope_open(s, at);
    if (stmt->kind == STMT_INSTR) ptx_visit_regs(stmt->instr, open_if_hidden, s);
  }
}

static void look_at_added(Scopes *s) {
  const Body *b = s->body;
  look_at_code(s, b->entry, FUNCTION_SCOPE);
  look_at_code(s, b->cold, FUNCTION_SCOPE);
  for (uint32_t i = 0; i < b->copies.len; i++)
    look_at_code(s, b->copies.data[i].decide, FUNCTION_SCOPE);
  for (uint32_t n = 0; n <= b->cfg->ninstrs; n++) {
    const Code *at_instr[] = {b->before[n], b->before_once[n], b->instead[n], b->after[n]};
    uint32_t scope = n < b->cfg->ninstrs ? s->of_instr[n] : FUNCTION_SCOPE;
    for (unsigned k = 0; k < sizeof at_instr / sizeof *at_instr; k++)
      look_at_code(s, at_instr[k], scope);
    if (b->copied && b->copied[n]) scope_open(s, scope);
  }
}

static void rename_declared(Body *b, const PtxStmt *s, uint32_t *count) {
  Arena *a = &b->func->module->arena;
  if (s->kind == STMT_REGS)
    // no digit at the end: ptxas does not expect %x2<5> beside %x2
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
  Scopes s = {.body = b};
  find_scopes(&s);
  if (s.list.len > 1) look_at_added(&s);
  uint32_t renamed = 0;
  for (uint32_t k = 1; k < s.list.len; k++) {
    const Scope *scope = &s.list.data[k];
    for (uint32_t i = scope->begin; scope->opened && i < scope->end; i++) {
      const PtxStmt *stmt = &f->stmts[i];
      gone[i] = stmt->kind == STMT_SCOPE_BEGIN || stmt->kind == STMT_SCOPE_END ||
                stmt->kind == STMT_REGS || stmt->kind == STMT_VAR;
      rename_declared(b, stmt, &renamed);
    }
  }
  strmap_free(&s.names);
  vec_free(&s.list);
  return gone;
}
