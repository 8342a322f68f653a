// Modules: the directives at the top level, and the entry points of the parser.
#include "ptx/parse.h"

// version: '.version' major '.' minor
static void parse_version(Parser *ps) {
  ptx_lex(ps);
  unsigned major, minor;
  if (ps->tok.kind != TOK_NUMBER || sscanf(ps->tok.at, "%u.%u", &major, &minor) != 2)
    parse_fail(ps, &ps->tok, "expected a version such as 8.0, found %s",
               token_describe(ps, &ps->tok));
  ps->m->version_major = major;
  ps->m->version_minor = minor;
  ptx_lex(ps);
}

// target: '.target' name (',' name)*
static void parse_target(Parser *ps) {
  PtxModule *m = ps->m;
  ptx_lex(ps);
  const char *from = ps->tok.at, *to = from;
  do {
    Token t = ps->tok;
    if (t.kind != TOK_IDENT)
      parse_fail(ps, &t, "expected a target such as sm_80, found %s", token_describe(ps, &t));
    if (t.len > 3 && (!memcmp(t.at, "sm_", 3) || (t.len > 8 && !memcmp(t.at, "compute_", 8)))) {
      char *end;
      m->sm = (uint32_t)strtoul(strchr(t.at, '_') + 1, &end, 10);
      m->sm_suffix = *end == 'a' || *end == 'f' ? *end : 0;
    } else if (is_word(&t, "debug")) {
      m->debug = true;
    } else if (is_word(&t, "texmode_independent")) {
      m->texmode_independent = true;
    }
    to = t.at + t.len;
    ptx_lex(ps);
  } while (accept(ps, ','));
  const char *text = text_between(ps, from, to);
  m->target = m->target ? arena_printf(ps->arena, "%s, %s", m->target, text) : text;
}

// variables: head name [dims] ['=' initializer] (',' name …)* ';'
static void parse_module_vars(Parser *ps, PtxLinkage linkage) {
  Decl d;
  Token at = ps->tok;
  parse_decl_head(ps, &d);
  if (d.space == SPACE_REG || d.space == SPACE_SREG)
    parse_fail(ps, &at, "registers cannot be declared outside a function");
  do {
    Token t = ps->tok;
    const char *name = expect_ident(ps, "the name of a variable");
    PtxVar *v = parse_declarator(ps, &d, name);
    v->linkage = linkage;
    Symbol *s = find_module_symbol(ps, &t);
    if (s && s->func) parse_fail(ps, &t, "'%s' is already declared as a function", name);
    // an .extern declaration and its definition are one PtxVar; the first is printed from a copy
    if (s && s->var) {
      PtxVar *old = s->var, *copy = ARENA_NEW(ps->arena, PtxVar);
      bool declared = linkage == LINK_EXTERN || old->linkage == LINK_EXTERN ||
                      old->linkage == LINK_WEAK || old->linkage == LINK_COMMON;
      if (!declared) parse_fail(ps, &t, "'%s' is already declared", name);
      v->id = old->id;
      if (linkage == LINK_EXTERN) {
        vec_push(&ps->items, (PtxItem){.kind = ITEM_VAR, .var = v});
      } else {
        *copy = *old;
        ps->items.data[s->item].var = copy;
        s->item = ps->items.len;
        *old = *v;
        v = old;
        vec_push(&ps->items, (PtxItem){.kind = ITEM_VAR, .var = v});
      }
    } else {
      s = ARENA_NEW(ps->arena, Symbol);
      s->var = v;
      s->item = ps->items.len;
      v->id = ps->vars.len;
      vec_push(&ps->vars, v);
      strmap_put(&ps->m->symbols, v->name, s);
      vec_push(&ps->items, (PtxItem){.kind = ITEM_VAR, .var = v});
    }
    if (accept(ps, '=')) parse_initializer(ps, v);
  } while (accept(ps, ','));
  expect(ps, ';', "after a declaration");
}

// alias: '.alias' name ',' function ';'
static void parse_alias(Parser *ps) {
  ptx_lex(ps);
  Token t = ps->tok;
  PtxItem it = {.kind = ITEM_ALIAS};
  it.alias.alias = expect_ident(ps, "the name of an alias");
  expect(ps, ',', "after the name of an alias");
  it.alias.target = expect_ident(ps, "the function an alias stands for");
  expect(ps, ';', "after .alias");
  Symbol *s = find_module_symbol(ps, &t);
  if (s && s->func) s->func->alias_of = it.alias.target;
  vec_push(&ps->items, it);
}

// pragma: '.pragma' string (',' string)* ';'
static void parse_module_pragma(Parser *ps) {
  ptx_lex(ps);
  do {
    if (ps->tok.kind != TOK_STRING)
      parse_fail(ps, &ps->tok, "expected a string after .pragma, found %s",
                 token_describe(ps, &ps->tok));
    vec_push(&ps->items, (PtxItem){.kind = ITEM_PRAGMA,
                                   .text = arena_printf(ps->arena, ".pragma \"%.*s\";",
                                                        (int)ps->tok.len, ps->tok.at)});
    ptx_lex(ps);
  } while (accept(ps, ','));
  expect(ps, ';', "after .pragma");
}

// Lines "@@DWARF …" of very old compilers: kept as written.
static void parse_dwarf_line(Parser *ps) {
  const char *from = ps->tok.at, *nl = memchr(from, '\n', (size_t)(ps->end - from));
  ps->p = nl ? nl : ps->end;
  vec_push(&ps->items, (PtxItem){.kind = ITEM_DIRECTIVE, .text = text_between(ps, from, ps->p)});
  ptx_lex(ps);
}

// module: (version | target | address_size | [linkage] (function | variables) | .file | .section |
// .alias | .pragma)*
static void parse_module(Parser *ps) {
  PtxLinkage linkage = LINK_NONE;
  static const struct {
    const char *word;
    PtxLinkage linkage;
  } linkages[] = {
      {".visible", LINK_VISIBLE},
      {".extern", LINK_EXTERN},
      {".weak", LINK_WEAK},
      {".common", LINK_COMMON},
  };
  ptx_lex(ps);
  while (ps->tok.kind != TOK_EOF) {
    const Token *t = &ps->tok;
    if (is_punct(ps, ';')) {
      ptx_lex(ps);
      continue;
    }
    if (is_punct(ps, '@') && !strncmp(t->at, "@@DWARF", 7)) {
      parse_dwarf_line(ps);
      continue;
    }
    if (t->kind != TOK_DOT)
      parse_fail(ps, t, "expected a directive, found %s", token_describe(ps, t));
    if (!ps->m->version_major && !is_word(t, ".version"))
      parse_fail(ps, t, "a module begins with .version");
    bool is_linkage = false;
    for (size_t i = 0; i < ARRAY_LEN(linkages) && !is_linkage; i++)
      if (is_word(t, linkages[i].word)) {
        linkage = linkages[i].linkage;
        is_linkage = true;
      }
    if (is_linkage) {
      ptx_lex(ps);
      continue;
    }
    if (is_word(t, ".func") || is_word(t, ".entry")) parse_function(ps, linkage);
    else if (is_word(t, ".version")) parse_version(ps);
    else if (is_word(t, ".target")) parse_target(ps);
    else if (is_word(t, ".address_size")) {
      ptx_lex(ps);
      ps->m->address_size = (uint32_t)parse_bounded(ps, "an address size", 64);
      ps->m->address_size_given = true;
    } else if (is_word(t, ".file")) parse_file(ps);
    else if (is_word(t, ".section")) parse_section(ps);
    else if (is_word(t, ".loc")) parse_loc(ps);
    else if (is_word(t, ".alias")) parse_alias(ps);
    else if (is_word(t, ".pragma")) parse_module_pragma(ps);
    else {
      PtxMod m = (PtxMod)ptx_keyword(KEYWORD_MOD, t->at, t->len, t->hash, NULL);
      if (!m || !ptx_mod_space(m)) parse_fail(ps, t, "unknown directive %s", token_describe(ps, t));
      parse_module_vars(ps, linkage);
    }
    linkage = LINK_NONE;
  }
  if (!ps->m->version_major) parse_fail(ps, &ps->tok, "no .version: this is not a PTX module");
}

static void parser_free(Parser *ps) {
  symbols_free(&ps->syms);
  vec_free(&ps->pending);
  vec_free(&ps->pending_start);
  vec_free(&ps->stmts);
  vec_free(&ps->regs);
  vec_free(&ps->labels);
  vec_free(&ps->locals);
  vec_free(&ps->items);
  vec_free(&ps->vars);
  vec_free(&ps->funcs);
  vec_free(&ps->files);
  vec_free(&ps->inlined_locs);
  vec_free(&ps->relocs);
  vec_free(&ps->list);
  vec_free(&ps->texts);
  vec_free(&ps->callees);
  u64map_free(&ps->locs);
  u64map_free(&ps->chains);
  free(ps);
}

// Names, strings and sections are kept as C strings: a zero byte would cut them short.
static void refuse_zero_byte(Parser *ps) {
  const char *zero = memchr(ps->p, 0, (size_t)(ps->end - ps->p));
  if (!zero) return;
  for (const char *p = ps->p; p < zero; p++)
    if (*p == '\n') {
      ps->line++;
      ps->bol = p + 1;
    }
  parse_fail(ps, &(Token){.at = zero, .line = ps->line, .len = 1}, "a zero byte inside the text");
}

PtxModule *ptx_parse(const char *text, size_t len, const char *name, Error *err) {
  while (len && !text[len - 1]) len--;  // images end in NUL bytes
  PtxModule *m = mem_alloc(sizeof *m);
  Parser *ps = mem_alloc(sizeof *ps);
  m->name = arena_strdup(&m->arena, name ? name : "ptx");
  m->text = arena_strndup(&m->arena, text, len);
  m->text_len = len;
  m->address_size = 32;
  ps->m = m;
  ps->arena = &m->arena;
  ps->p = ps->bol = m->text;
  ps->end = m->text + len;
  ps->line = 1;
  ps->err = err;
  ps->reg_budget = (1u << 16) + 4 * (uint64_t)len;
  ps->init_budget = 1ull << 30;
  if (setjmp(ps->fail)) {
    parser_free(ps);
    ptx_free(m);
    return NULL;
  }
  refuse_zero_byte(ps);
  parse_module(ps);
  resolve_debug(ps);
  m->nitems = ps->items.len;
  m->items = VEC_TO_ARENA(ps, &ps->items);
  m->nvars = ps->vars.len;
  m->vars = VEC_TO_ARENA(ps, &ps->vars);
  m->nfuncs = ps->funcs.len;
  m->funcs = VEC_TO_ARENA(ps, &ps->funcs);
  m->nfiles = ps->files.len;
  m->files = VEC_TO_ARENA(ps, &ps->files);
  parser_free(ps);
  return m;
}

void ptx_free(PtxModule *m) {
  if (!m) return;
  strmap_free(&m->symbols);
  arena_free(&m->arena);
  free(m);
}

PtxVar *ptx_find_var(const PtxModule *m, const char *name) {
  const Symbol *s = strmap_get(&m->symbols, name);
  return s ? s->var : NULL;
}

PtxFunc *ptx_find_func(const PtxModule *m, const char *name) {
  const Symbol *s = strmap_get(&m->symbols, name);
  return s ? s->func : NULL;
}

const char *ptx_file_path(const PtxModule *m, uint32_t index) {
  for (uint32_t i = 0; i < m->nfiles; i++)
    if (m->files[i]->index == index) return m->files[i]->path;
  return NULL;
}
