// Functions: heads, parameters, performance directives, bodies.
#include "ptx/parse.h"

// parameters: '(' [param (',' param)*] ')', param: ('.param' | '.reg') … name [dims]
static PtxVar **parse_param_list(Parser *ps, uint32_t *n, bool declare, uint32_t *bytes) {
  expect(ps, '(', "before parameters");
  ps->list.len = 0;
  uint64_t offset = 0;
  while (!is_punct(ps, ')')) {
    Decl d;
    Token at = ps->tok;
    parse_decl_head(ps, &d);
    if (d.space != SPACE_PARAM && d.space != SPACE_REG)
      parse_fail(ps, &at, "a parameter is either .param or .reg");
    Token name = ps->tok;
    const char *text = expect_ident(ps, "the name of a parameter");
    PtxVar *v = parse_declarator(ps, &d, text);
    v->id = ps->list.len;
    v->func = ps->func;
    offset = (offset + v->align - 1) & ~(uint64_t)(v->align - 1);
    v->param_offset = offset;
    offset += v->size;
    if (offset > UINT32_MAX) parse_fail(ps, &at, "the parameters are too large");
    if (v->space == SPACE_REG) {
      v->reg = ARENA_NEW(ps->arena, PtxReg);
      v->reg->name = text;
      v->reg->type = v->type;
      v->reg->vector = v->vector;
    }
    if (declare && strcmp(text, "_")) {
      uint32_t id = symbols_name(&ps->syms, name.at, name.len, name.hash);
      Sym *s = symbols_declare(&ps->syms, v->reg ? SYM_REG : SYM_VAR, id, 0);
      if (!s) parse_fail(ps, &name, "%s is already declared", token_describe(ps, &name));
      if (v->reg) s->reg = v->reg;
      else s->var = v;
    }
    vec_push(&ps->list, v);
    if (!accept(ps, ',')) break;
  }
  expect(ps, ')', "after parameters");
  if (bytes) *bytes = (uint32_t)offset;
  *n = ps->list.len;
  return VEC_TO_ARENA(ps, &ps->list);
}

// dims: x [',' y [',' z]]
static const char *parse_dim3(Parser *ps, const char *word, PtxDim3 *d) {
  *d = (PtxDim3){1, 1, 1, true};
  d->x = (uint32_t)parse_bounded(ps, "a dimension", UINT32_MAX);
  if (!accept(ps, ',')) return arena_printf(ps->arena, "%s %u", word, d->x);
  d->y = (uint32_t)parse_bounded(ps, "a dimension", UINT32_MAX);
  if (!accept(ps, ',')) return arena_printf(ps->arena, "%s %u, %u", word, d->x, d->y);
  d->z = (uint32_t)parse_bounded(ps, "a dimension", UINT32_MAX);
  return arena_printf(ps->arena, "%s %u, %u, %u", word, d->x, d->y, d->z);
}

static const char *parse_count(Parser *ps, const char *word, uint32_t *n) {
  *n = (uint32_t)parse_bounded(ps, word, UINT32_MAX);
  return arena_printf(ps->arena, "%s %u", word, *n);
}

static const char *set_flag(const char *word, bool *flag) {
  *flag = true;
  return word;
}

// One directive as text, or NULL. Its numbers go into f.
static const char *parse_directive(Parser *ps, PtxFunc *f, const char *word) {
  uint32_t registers;
  if (!strcmp(word, ".maxntid")) return parse_dim3(ps, word, &f->maxntid);
  if (!strcmp(word, ".reqntid")) return parse_dim3(ps, word, &f->reqntid);
  if (!strcmp(word, ".reqnctapercluster")) return parse_dim3(ps, word, &f->reqnctapercluster);
  if (!strcmp(word, ".minnctapersm")) return parse_count(ps, word, &f->minnctapersm);
  if (!strcmp(word, ".maxnctapersm")) return parse_count(ps, word, &f->maxnctapersm);
  if (!strcmp(word, ".maxnreg")) return parse_count(ps, word, &f->maxnreg);
  if (!strcmp(word, ".maxclusterrank")) return parse_count(ps, word, &f->maxclusterrank);
  if (!strcmp(word, ".abi_preserve") || !strcmp(word, ".abi_preserve_control"))
    return parse_count(ps, word, &registers);
  if (!strcmp(word, ".explicitcluster")) return set_flag(word, &f->explicitcluster);
  if (!strcmp(word, ".blocksareclusters")) return set_flag(word, &f->blocksareclusters);
  if (!strcmp(word, ".noreturn")) return set_flag(word, &f->noreturn);
  return NULL;
}

// directives: ('.maxntid' dims | '.minnctapersm' n | … | '.noreturn' | '.pragma' string (','
// string)* ';')*
static void parse_directives(Parser *ps, PtxFunc *f) {
  ps->texts.len = 0;
  while (ps->tok.kind == TOK_DOT && f->npragmas < 64 && ps->texts.len < 64) {
    Token t = ps->tok;
    ptx_lex(ps);
    if (!is_word(&t, ".pragma")) {
      const char *text = parse_directive(ps, f, token_text(ps, &t));
      if (!text) parse_fail(ps, &t, "unknown directive %s of a function", token_describe(ps, &t));
      vec_push(&ps->texts, text);
      continue;
    }
    do {
      if (ps->tok.kind != TOK_STRING)
        parse_fail(ps, &ps->tok, "expected a string after .pragma, found %s",
                   token_describe(ps, &ps->tok));
      if (!f->pragmas) f->pragmas = ARENA_ARRAY(ps->arena, const char *, 64);
      if (f->npragmas == 64) parse_fail(ps, &ps->tok, "too many pragmas");
      f->pragmas[f->npragmas++] = token_text(ps, &ps->tok);
      vec_push(&ps->texts,
               arena_printf(ps->arena, ".pragma \"%.*s\";", (int)ps->tok.len, ps->tok.at));
      ptx_lex(ps);
    } while (accept(ps, ','));
    expect(ps, ';', "after .pragma");
  }
  f->ndirectives = ps->texts.len;
  f->directives = VEC_TO_ARENA(ps, &ps->texts);
}

// prototype: '.callprototype' ['(' params ')'] name ['(' params ')'] directives ';'
static PtxFunc *parse_prototype(Parser *ps) {
  PtxFunc *f = ARENA_NEW(ps->arena, PtxFunc);
  f->is_declaration = true;
  f->module = ps->m;
  f->ptx_line = ps->tok.line;
  if (is_punct(ps, '(')) f->returns = parse_param_list(ps, &f->nreturns, false, NULL);
  f->name = expect_ident(ps, "'_' or a name");
  if (is_punct(ps, '(')) f->params = parse_param_list(ps, &f->nparams, false, &f->param_bytes);
  parse_directives(ps, f);
  expect(ps, ';', "after a call prototype");
  return f;
}

static PtxLabel *declare_label(Parser *ps, const Token *t, PtxLabelKind kind) {
  uint32_t name = symbols_name(&ps->syms, t->at, t->len, t->hash);
  Sym *s = symbols_declare(&ps->syms, SYM_LABEL, name, 0);
  if (!s) parse_fail(ps, t, "%s is already declared in this scope", token_describe(ps, t));
  PtxLabel *l = ARENA_NEW(ps->arena, PtxLabel);
  s->label = l;
  l->name = symbols_unique(&ps->syms, ps->arena, name);
  l->kind = kind;
  l->id = ps->labels.len;
  l->stmt = ps->stmts.len;
  vec_push(&ps->labels, l);
  vec_push(&ps->stmts, (PtxStmt){.kind = STMT_LABEL, .label = l});
  return l;
}

// label: name ':' ['.branchtargets' name (',' name)* ';' | '.calltargets' name (',' name)* ';' |
// prototype]
static void parse_label(Parser *ps) {
  Token t = ps->tok;
  ptx_lex(ps);
  expect(ps, ':', "after a label");
  if (accept_word(ps, ".callprototype")) {
    declare_label(ps, &t, LABEL_CALLPROTOTYPE)->prototype = parse_prototype(ps);
  } else if (accept_word(ps, ".branchtargets")) {
    PtxLabel *l = declare_label(ps, &t, LABEL_BRANCHTARGETS);
    uint32_t first = ps->pending.len;
    do {
      if (ps->tok.kind != TOK_IDENT)
        parse_fail(ps, &ps->tok, "expected a label, found %s", token_describe(ps, &ps->tok));
      pend_label(ps, &ps->tok, NULL, true);
      ptx_lex(ps);
    } while (accept(ps, ','));
    expect(ps, ';', "after .branchtargets");
    l->ntargets = ps->pending.len - first;
    l->targets = ARENA_ARRAY(ps->arena, PtxLabel *, l->ntargets);
    for (uint32_t i = 0; i < l->ntargets; i++) ps->pending.data[first + i].slot = &l->targets[i];
  } else if (accept_word(ps, ".calltargets")) {
    PtxLabel *l = declare_label(ps, &t, LABEL_CALLTARGETS);
    ps->callees.len = 0;
    do {
      const Symbol *s = ps->tok.kind == TOK_IDENT ? find_module_symbol(ps, &ps->tok) : NULL;
      if (!s || !s->func)
        parse_fail(ps, &ps->tok, "expected a declared function, found %s",
                   token_describe(ps, &ps->tok));
      vec_push(&ps->callees, s->func);
      ptx_lex(ps);
    } while (accept(ps, ','));
    l->ncall_targets = ps->callees.len;
    l->call_targets = VEC_TO_ARENA(ps, &ps->callees);
    expect(ps, ';', "after .calltargets");
  } else {
    declare_label(ps, &t, LABEL_CODE);
  }
}

// variable of a body: head name [dims] ['=' initializer] (',' name …)* ';'
static void parse_local_vars(Parser *ps, PtxLinkage linkage) {
  Decl d;
  parse_decl_head(ps, &d);
  do {
    Token t = ps->tok;
    const char *name = expect_ident(ps, "the name of a variable");
    PtxVar *v = parse_declarator(ps, &d, name);
    v->linkage = linkage;
    v->func = ps->func;
    v->id = ps->locals.len;
    Sym *s = symbols_declare(&ps->syms, SYM_VAR, symbols_name(&ps->syms, t.at, t.len, t.hash), 0);
    if (!s) parse_fail(ps, &t, "%s is already declared in this scope", token_describe(ps, &t));
    s->var = v;
    if (accept(ps, '=')) parse_initializer(ps, v);
    vec_push(&ps->locals, v);
    vec_push(&ps->stmts, (PtxStmt){.kind = STMT_VAR, .var = v});
  } while (accept(ps, ','));
  expect(ps, ';', "after a declaration");
}

static void open_scope(Parser *ps) {
  if (symbols_depth(&ps->syms) > 1000) parse_fail(ps, &ps->tok, "scopes are nested too deeply");
  symbols_open(&ps->syms);
  vec_push(&ps->pending_start, ps->pending.len);
}

// Labels of this scope settle the references made in it; the others wait for the scope around it.
static void close_scope(Parser *ps) {
  uint32_t start = ps->pending_start.data[--ps->pending_start.len], kept = start,
           depth = symbols_depth(&ps->syms);
  for (uint32_t i = start; i < ps->pending.len; i++) {
    PendingLabel p = ps->pending.data[i];
    int32_t top = ps->syms.names.data[p.name].top;
    const Sym *s = top < 0 ? NULL : &ps->syms.syms.data[top];
    if (s && s->kind == SYM_LABEL && s->scope == depth) *p.slot = s->label;
    else ps->pending.data[kept++] = p;
  }
  ps->pending.len = kept;
  symbols_close(&ps->syms);
}

static void parse_pragma(Parser *ps) {
  ptx_lex(ps);
  do {
    if (ps->tok.kind != TOK_STRING)
      parse_fail(ps, &ps->tok, "expected a string after .pragma, found %s",
                 token_describe(ps, &ps->tok));
    vec_push(&ps->stmts, (PtxStmt){.kind = STMT_PRAGMA, .text = token_text(ps, &ps->tok)});
    ptx_lex(ps);
  } while (accept(ps, ','));
  expect(ps, ';', "after .pragma");
}

static bool at_label(const Parser *ps) {
  const char *p = ps->p;
  while (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r') p++;
  return *p == ':' && p[1] != ':';
}

// Line 0 marks code that the compiler made, such as the loop of a memcpy: it belongs to the line
// before it. After a label it may instead be code that the compiler merged from several paths to
// the label: then it belongs to the next line of its block, if there is one.
static void place_joined_code(Parser *ps, const PtxLoc *next) {
  size_t from = ps->stmts.len;
  for (; from && ps->stmts.data[from - 1].kind != STMT_LABEL; from--) {
    const PtxStmt *s = &ps->stmts.data[from - 1];
    if (s->kind == STMT_INSTR ? ptx_op_classes(s->instr) & CLASS_BRANCH
                              : s->kind == STMT_LOC && s->loc->line)
      return;
  }
  bool joined = false;
  for (size_t i = from; i < ps->stmts.len; i++) {
    const PtxStmt *s = &ps->stmts.data[i];
    if (s->kind == STMT_LOC) joined = true;
    else if (s->kind == STMT_INSTR && joined) s->instr->loc = next;
    else if (s->kind == STMT_INSTR) return;  // code of the line before
  }
}

// body: '{' (label | instruction | declaration | .loc | .pragma | body)* '}'
static void parse_body(Parser *ps, PtxFunc *f) {
  unsigned nesting = 0;
  ps->loc = NULL;
  ps->in_line_0 = false;
  for (;;) {
    const Token *t = &ps->tok;
    switch (t->kind) {
      case TOK_IDENT:
        if (at_label(ps)) {
          parse_label(ps);
        } else {
          PtxInstr *in = parse_instr(ps);
          vec_push(&ps->stmts, (PtxStmt){.kind = STMT_INSTR, .instr = in});
        }
        break;
      case TOK_PUNCT:
        if (t->punct == '@') {
          PtxInstr *in = parse_instr(ps);
          vec_push(&ps->stmts, (PtxStmt){.kind = STMT_INSTR, .instr = in});
        } else if (t->punct == '{') {
          open_scope(ps);
          nesting++;
          vec_push(&ps->stmts, (PtxStmt){.kind = STMT_SCOPE_BEGIN});
          ptx_lex(ps);
        } else if (t->punct == '}') {
          f->ptx_end_line = t->line;
          close_scope(ps);
          ptx_lex(ps);
          if (!nesting--) return;
          vec_push(&ps->stmts, (PtxStmt){.kind = STMT_SCOPE_END});
        } else if (t->punct == ';') {
          ptx_lex(ps);
        } else {
          parse_fail(ps, t, "expected a statement, found %s", token_describe(ps, t));
        }
        break;
      case TOK_DOT:
        if (is_word(t, ".loc")) {
          const PtxLoc *loc = parse_loc(ps);
          if (loc->line && ps->in_line_0) place_joined_code(ps, loc);
          vec_push(&ps->stmts, (PtxStmt){.kind = STMT_LOC, .loc = loc});
          ps->in_line_0 = !loc->line;
          if (loc->line || !ps->loc) ps->loc = loc;
        } else if (is_word(t, ".reg")) {
          parse_reg_decl(ps);
        } else if (is_word(t, ".pragma")) {
          parse_pragma(ps);
        } else if (is_word(t, ".file")) {
          parse_file(ps);
        } else if (is_word(t, ".extern")) {
          ptx_lex(ps);
          parse_local_vars(ps, LINK_EXTERN);
        } else if (is_word(t, ".param") || is_word(t, ".local") || is_word(t, ".shared") ||
                   is_word(t, ".const") || is_word(t, ".global") || is_word(t, ".tex")) {
          parse_local_vars(ps, LINK_NONE);
        } else {
          parse_fail(ps, t, "unknown directive %s in a function body", token_describe(ps, t));
        }
        break;
      case TOK_EOF: parse_fail(ps, t, "the body of '%s' has no end", f->name);
      default: parse_fail(ps, t, "expected a statement, found %s", token_describe(ps, t));
    }
  }
}

static void add_param_regs(Parser *ps, PtxVar **vars, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (vars[i]->reg) {
      vars[i]->reg->id = ps->regs.len;
      vec_push(&ps->regs, vars[i]->reg);
      const char *text = vars[i]->name;
      uint32_t len = (uint32_t)strlen(text),
               name = symbols_name(&ps->syms, text, len, ptx_hash_word(text, len));
      ps->syms.names.data[name].taken = 1;
    }
}

// attribute: '.attribute' '(' … ')', kept as text
static void parse_attribute(Parser *ps, PtxFunc *head) {
  const char *from = ps->tok.at;
  ptx_lex(ps);
  expect(ps, '(', "after .attribute");
  for (int depth = 1; depth;) {
    if (ps->tok.kind == TOK_EOF) parse_fail(ps, &ps->tok, ".attribute without an end");
    if (is_punct(ps, '(')) depth++;
    if (is_punct(ps, ')')) depth--;
    ptx_lex(ps);
  }
  head->attribute = text_between(ps, from, ps->last_end);
}

// The function of this name, new or declared before, with this head.
static PtxFunc *declare(Parser *ps, const Token *name, PtxFunc head) {
  bool has_body = !head.is_declaration;
  Symbol *s = find_module_symbol(ps, name);
  PtxFunc *f = s ? s->func : NULL;
  if (s && !f) parse_fail(ps, name, "'%s' is already declared as a variable", head.name);
  if (f && has_body && !f->is_declaration)
    parse_fail(ps, name, "'%s' is already defined", head.name);
  if (!f) {
    f = ARENA_NEW(ps->arena, PtxFunc);
    s = ARENA_NEW(ps->arena, Symbol);
    s->func = f;
    s->item = ps->items.len;
    head.id = ps->funcs.len;
    *f = head;
    vec_push(&ps->funcs, f);
    strmap_put(&ps->m->symbols, f->name, s);
    vec_push(&ps->items, (PtxItem){.kind = ITEM_FUNC, .func = f});
  } else if (!has_body) {  // one more declaration: printed where it stands, else without effect
    PtxFunc *copy = ARENA_NEW(ps->arena, PtxFunc);
    head.id = f->id;
    *copy = head;
    vec_push(&ps->items, (PtxItem){.kind = ITEM_FUNC, .func = copy});
    if (head.noreturn) f->noreturn = true;
  } else {  // the definition takes the object that operands already point at
    PtxFunc *copy = ARENA_NEW(ps->arena, PtxFunc);
    *copy = *f;
    ps->items.data[s->item].func = copy;
    head.id = f->id;
    *f = head;
    vec_push(&ps->items, (PtxItem){.kind = ITEM_FUNC, .func = f});
  }
  return f;
}

static void finish_body(Parser *ps, PtxFunc *f) {
  f->nstmts = ps->stmts.len;
  f->stmts = VEC_TO_ARENA(ps, &ps->stmts);
  f->nregs = ps->regs.len;
  f->regs = VEC_TO_ARENA(ps, &ps->regs);
  f->nlabels = ps->labels.len;
  f->labels = VEC_TO_ARENA(ps, &ps->labels);
  f->nlocals = ps->locals.len;
  f->locals = VEC_TO_ARENA(ps, &ps->locals);
}

// function: ('.entry' | '.func') ['.attribute' …] ['(' params ')'] name ['(' params ')'] directives
// (';' | body)
void parse_function(Parser *ps, PtxLinkage linkage) {
  PtxFunc head = {.linkage = linkage, .module = ps->m, .ptx_line = ps->tok.line};
  head.is_entry = is_word(&ps->tok, ".entry");
  ptx_lex(ps);
  symbols_reset(&ps->syms);
  ps->pending.len = ps->pending_start.len = 0;
  ps->stmts.len = ps->regs.len = ps->labels.len = ps->locals.len = 0;
  open_scope(ps);
  if (is_word(&ps->tok, ".attribute")) parse_attribute(ps, &head);
  if (is_punct(ps, '(')) head.returns = parse_param_list(ps, &head.nreturns, true, NULL);
  Token name = ps->tok;
  head.name = expect_ident(ps, "the name of a function");
  if (is_punct(ps, '(')) head.params = parse_param_list(ps, &head.nparams, true, &head.param_bytes);
  parse_directives(ps, &head);
  bool has_body = is_punct(ps, '{');
  if (!has_body && !is_punct(ps, ';') && ps->tok.kind != TOK_DOT)
    parse_fail(ps, &ps->tok, "expected ';' or the body of '%s', found %s", head.name,
               token_describe(ps, &ps->tok));
  head.is_declaration = !has_body;
  PtxFunc *f = declare(ps, &name, head);
  PtxVar **lists[] = {f->returns, f->params};
  uint32_t counts[] = {f->nreturns, f->nparams};
  if (has_body || f->is_declaration)
    for (int k = 0; k < 2; k++)
      for (uint32_t i = 0; i < counts[k]; i++) lists[k][i]->func = f;
  if (!has_body) {
    accept(ps, ';');
    ps->func = NULL;
    return;
  }
  ps->func = f;
  add_param_regs(ps, f->returns, f->nreturns);
  add_param_regs(ps, f->params, f->nparams);
  ptx_lex(ps);
  parse_body(ps, f);
  if (ps->pending.len) {
    const PendingLabel *p = &ps->pending.data[0];
    parse_fail(ps, &p->tok, p->is_branch ? "undefined label %s" : "undefined symbol %s",
               token_describe(ps, &p->tok));
  }
  finish_body(ps, f);
  ps->func = NULL;
}
