// Declarations of variables and registers.
#include "ptx/parse.h"

static PtxSpace declared_space(const Token *t) {
  PtxMod m = (PtxMod)ptx_keyword(KEYWORD_MOD, t->at, t->len, t->hash, NULL);
  return m ? ptx_mod_space(m) : SPACE_NONE;
}

// attribute: '.attribute' '(' ('.managed' | '.unified' '(' constant ',' constant ')') (',' …)* ')'
static void parse_attribute(Parser *ps, PtxVar *v) {
  expect(ps, '(', "after .attribute");
  do {
    if (accept_word(ps, ".managed")) {
      v->managed = true;
    } else if (accept_word(ps, ".unified")) {
      v->unified = true;
      expect(ps, '(', "after .unified");
      v->unified_ids[0] = (uint64_t)parse_int_constant(ps, "a unified identifier");
      expect(ps, ',', "between unified identifiers");
      v->unified_ids[1] = (uint64_t)parse_int_constant(ps, "a unified identifier");
      expect(ps, ')', "after .unified");
    } else {
      parse_fail(ps, &ps->tok, "unknown attribute %s", token_describe(ps, &ps->tok));
    }
  } while (accept(ps, ','));
  expect(ps, ')', "after .attribute");
}

static uint32_t parse_align(Parser *ps) {
  Token at = ps->tok;
  uint64_t a = parse_bounded(ps, "an alignment", 1u << 30);
  if (!a || (a & (a - 1))) parse_fail(ps, &at, "an alignment must be a power of two");
  return (uint32_t)a;
}

// head: '.space' ('.align' n | '.attribute' … | '.ptr' ['.space'] ['.align' n] | '.v2' | '.v4' |
// '.type')*
void parse_decl_head(Parser *ps, Decl *d) {
  *d = (Decl){.space = declared_space(&ps->tok)};
  if (d->space == SPACE_NONE)
    parse_fail(ps, &ps->tok, "expected a state space, found %s", token_describe(ps, &ps->tok));
  ptx_lex(ps);
  PtxVar *v = &d->proto;
  v->space = d->space;
  while (ps->tok.kind == TOK_DOT) {
    Token t = ps->tok;
    PtxMod m = (PtxMod)ptx_keyword(KEYWORD_MOD, t.at, t.len, t.hash, NULL);
    ptx_lex(ps);
    if (is_word(&t, ".align")) {
      uint32_t a = parse_align(ps);
      if (v->is_ptr) v->ptr_align = a;
      else {
        v->align = a;
        v->align_given = true;
      }
    } else if (is_word(&t, ".attribute")) {
      parse_attribute(ps, v);
    } else if (is_word(&t, ".ptr")) {
      v->is_ptr = true;
      v->ptr_space = SPACE_GENERIC;
    } else if (m == MOD_V2 || m == MOD_V4 || m == MOD_V8) {
      v->vector = m == MOD_V2 ? 2 : m == MOD_V4 ? 4 : 8;
    } else if (m && ptx_mod_type(m)) {
      if (v->type) parse_fail(ps, &t, "a second type in a declaration");
      v->type = d->type = ptx_mod_type(m);
    } else if (v->is_ptr && m && ptx_mod_space(m)) {
      v->ptr_space = ptx_mod_space(m);
    } else {
      parse_fail(ps, &t, "unexpected %s in a declaration", token_describe(ps, &t));
    }
  }
  if (!v->type) parse_fail(ps, &ps->tok, "expected a type, found %s", token_describe(ps, &ps->tok));
}

// dims: ('[' [constant] ']')*
PtxVar *parse_declarator(Parser *ps, const Decl *d, const char *name) {
  PtxVar *v = ARENA_NEW(ps->arena, PtxVar);
  *v = d->proto;
  v->name = name;
  v->ptx_line = ps->tok.line;
  uint64_t element = MAX(ptx_type_size(v->type), 1u) * (uint64_t)MAX(v->vector, 1);
  // a power of two even for odd sizes
  if (!v->align) v->align = (uint32_t)element & -(uint32_t)element;
  v->size = element;
  while (is_punct(ps, '[')) {
    Token at = ps->tok;
    ptx_lex(ps);
    if (v->ndims == ARRAY_LEN(v->dims))
      parse_fail(ps, &at, "an array of more than %zu dimensions", ARRAY_LEN(v->dims));
    uint64_t n = 0;
    if (!is_punct(ps, ']')) n = parse_bounded(ps, "an array size", 1ull << 40);
    else if (v->ndims) parse_fail(ps, &at, "only the first dimension of an array may be left out");
    expect(ps, ']', "after an array size");
    v->dims[v->ndims++] = n;
    if (n && v->size > (1ull << 40) / n) parse_fail(ps, &at, "the array is too large");
    v->size *= n;
  }
  return v;
}

// A register range's names are written here, not by printf: there may be a hundred thousand of
// them.
static const char *numbered_name(char **buffer, const char *prefix, size_t prefix_len, uint32_t n) {
  char *start = *buffer, *p = start, digits[12];
  memcpy(p, prefix, prefix_len);
  p += prefix_len;
  int k = 0;
  do digits[k++] = (char)('0' + n % 10);
  while (n /= 10);
  while (k) *p++ = digits[--k];
  *p++ = 0;
  *buffer = p;
  return start;
}

// registers: '.reg' ['.v2' | '.v4'] '.type' name ['<' count '>'] (',' name ['<' count '>'])* ';'
void parse_reg_decl(Parser *ps) {
  Decl d;
  parse_decl_head(ps, &d);
  do {
    Token t = ps->tok;
    if (t.kind != TOK_IDENT)
      parse_fail(ps, &t, "expected the name of a register, found %s", token_describe(ps, &t));
    ptx_lex(ps);
    bool range = accept(ps, '<');
    uint32_t count = 1;
    if (range) {
      Token at = ps->tok;
      if (at.kind != TOK_NUMBER || at.number > NUM_U64)
        parse_fail(ps, &at, "expected a number of registers, found %s", token_describe(ps, &at));
      if (at.bits > UINT32_MAX / 2) parse_fail(ps, &at, "too many registers");
      count = (uint32_t)at.bits;
      ptx_lex(ps);
      expect(ps, '>', "after a number of registers");
    }
    if (count > ps->reg_budget) parse_fail(ps, &t, "too many registers are declared");
    ps->reg_budget -= count;
    uint32_t name = symbols_name(&ps->syms, t.at, t.len, range ? RANGE_HASH(t.hash) : t.hash);
    Sym *s = symbols_declare(&ps->syms, range ? SYM_RANGE : SYM_REG, name, range ? count : 0);
    if (!s) parse_fail(ps, &t, "%s is already declared in this scope", token_describe(ps, &t));
    PtxReg *regs = ARENA_ARRAY(ps->arena, PtxReg, count ? count : 1);
    s->reg = regs;
    s->count = count;
    if (range) {
      const char *prefix = symbols_unique_prefix(&ps->syms, ps->arena, name, count);
      size_t prefix_len = strlen(prefix);
      char *buffer = arena_alloc(ps->arena, (prefix_len + 11) * (size_t)count + 1);
      for (uint32_t i = 0; i < count; i++)
        regs[i].name = numbered_name(&buffer, prefix, prefix_len, i);
    } else {
      regs[0].name = symbols_unique(&ps->syms, ps->arena, name);
    }
    for (uint32_t i = 0; i < count; i++) {
      regs[i].type = d.type;
      regs[i].vector = d.proto.vector;
      regs[i].id = ps->regs.len;
      vec_push(&ps->regs, &regs[i]);
    }
    vec_push(&ps->stmts, (PtxStmt){.kind = STMT_REGS, .regs = {regs, count}});
  } while (accept(ps, ','));
  expect(ps, ';', "after a register declaration");
}
