// Initializers of variables, flattened to bytes and relocations.
#include "ptx/parse.h"

typedef struct InitTarget {
  PtxVar *var;
  uint64_t limit;
  unsigned element;
} InitTarget;

// An unsized array takes its size from the initializer: count the elements between the outermost
// braces.
static uint64_t count_elements(Parser *ps) {
  uint64_t n = 1;
  int depth = 0;
  for (const char *p = ps->p; p < ps->end; p++) {
    if (*p == '{' || *p == '(') depth++;
    else if (*p == '}' && depth == 0) return n;
    else if (*p == '}' || *p == ')') depth--;
    else if (*p == ',' && depth == 0) n++;
    else if (*p == ';') break;
  }
  return n;
}

// symbol: 'generic' '(' symbol ')' | variable | function, each with optional ('+' | '-') constant
static void parse_reloc_symbol(Parser *ps, PtxReloc *r) {
  if (is_word(&ps->tok, "generic")) {
    ptx_lex(ps);
    r->generic = true;
    expect(ps, '(', "after generic");
    parse_enter(ps);
    parse_reloc_symbol(ps, r);
    parse_leave(ps);
    expect(ps, ')', "after generic(");
  } else {
    if (ps->tok.kind != TOK_IDENT)
      parse_fail(ps, &ps->tok, "expected a symbol, found %s", token_describe(ps, &ps->tok));
    uint32_t index;
    const Sym *local = ps->func ? symbols_find(&ps->syms, &ps->tok, &index) : NULL;
    const Symbol *s = find_module_symbol(ps, &ps->tok);
    if (local && local->kind == SYM_VAR) r->var = local->var;
    else if (s) {
      r->var = s->var;
      r->func = s->var ? NULL : s->func;
    } else parse_fail(ps, &ps->tok, "undefined symbol %s", token_describe(ps, &ps->tok));
    ptx_lex(ps);
  }
  while (is_punct(ps, '+') || is_punct(ps, '-')) {
    (void)accept(ps, '+');
    r->addend += parse_int_constant(ps, "an offset");
  }
}

// value: constant | symbol | mask '(' symbol ')'
static void parse_value(Parser *ps, const InitTarget *t, uint64_t offset) {
  PtxVar *v = t->var;
  Token at = ps->tok;
  if (offset >= t->limit)
    parse_fail(ps, &at, "more initial values than '%s' has room for", v->name);
  bool masked = false;
  PtxReloc r = {.offset = offset, .size = (uint8_t)t->element};
  if (at.kind == TOK_NUMBER && at.number <= NUM_U64) {
    const char *p = ps->p;
    while (*p == ' ' || *p == '\t') p++;
    masked = *p == '(';
  }
  if (masked) {
    r.mask = at.bits;
    if (!r.mask) parse_fail(ps, &at, "an empty mask");
    ptx_lex(ps);
    expect(ps, '(', "after a mask");
    parse_reloc_symbol(ps, &r);
    expect(ps, ')', "after a masked symbol");
  } else if (at.kind == TOK_IDENT && !is_word(&at, "WARP_SZ")) {
    parse_reloc_symbol(ps, &r);
  } else {
    Number n = parse_constant(ps);
    uint64_t bits = number_as(ps, n, v->type);
    // little-endian hosts only, as everywhere
    memcpy(v->init + offset, &bits, MIN(t->element, 8u));
    if (t->element > 8 && n.kind == NUM_S64 && (int64_t)n.bits < 0)
      memset(v->init + offset + 8, 0xff, t->element - 8);
    return;
  }
  if (t->element > 8)
    parse_fail(ps, &at, "an address cannot initialise .%s", ptx_type_name(v->type));
  vec_push(&ps->relocs, r);
}

// braced: '{' [(braced | value) (',' (braced | value))*] '}'
// Inner braces do not fill up their row: ptxas puts the next value right after the last one, and so
// do we.
static uint64_t parse_braced(Parser *ps, const InitTarget *t, uint64_t cursor) {
  expect(ps, '{', "before initial values");
  parse_enter(ps);
  while (!is_punct(ps, '}')) {
    if (is_punct(ps, '{')) {
      cursor = parse_braced(ps, t, cursor);
    } else {
      parse_value(ps, t, cursor);
      cursor += t->element;
    }
    if (!accept(ps, ',')) break;
  }
  parse_leave(ps);
  expect(ps, '}', "after initial values");
  return cursor;
}

void parse_initializer(Parser *ps, PtxVar *v) {
  Token at = ps->tok;
  // .texref t = { addr_mode_0 = wrap, … }: kept as written
  if (ptx_type_kind(v->type) == KIND_OPAQUE) {
    expect(ps, '{', "before the properties of a texture, sampler or surface");
    while (ps->tok.kind == TOK_IDENT || ps->tok.kind == TOK_NUMBER || is_punct(ps, '=') ||
           is_punct(ps, ','))
      ptx_lex(ps);
    expect(ps, '}', "after the properties of a texture, sampler or surface");
    v->init_text = text_between(ps, at.at, ps->last_end);
    return;
  }
  InitTarget t = {v, 0, MAX(ptx_type_size(v->type), 1u)};
  if (v->ndims && !v->dims[0]) {
    v->dims[0] = count_elements(ps);
    v->size = t.element * (uint64_t)MAX(v->vector, 1);
    for (unsigned i = 0; i < v->ndims; i++) {
      if (v->dims[i] && v->size > (1ull << 40) / v->dims[i])
        parse_fail(ps, &at, "the array is too large");
      v->size *= v->dims[i];
    }
  }
  if (v->size > ps->init_budget) parse_fail(ps, &at, "initialised variables take too much memory");
  ps->init_budget -= v->size;
  t.limit = v->size;
  v->init = arena_alloc(ps->arena, v->size ? v->size : 1);
  uint32_t first = ps->relocs.len;
  if (is_punct(ps, '{')) parse_braced(ps, &t, 0);
  else parse_value(ps, &t, 0);
  v->nrelocs = ps->relocs.len - first;
  v->relocs = ARENA_ARRAY(ps->arena, PtxReloc, v->nrelocs ? v->nrelocs : 1);
  if (v->nrelocs) memcpy(v->relocs, ps->relocs.data + first, v->nrelocs * sizeof(PtxReloc));
  ps->relocs.len = first;
}
