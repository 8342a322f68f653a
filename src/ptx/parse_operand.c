// Operands: registers, constants, addresses, vectors, pairs, and the lists of a call.
#include "ptx/parse.h"

Symbol *find_module_symbol(Parser *ps, const Token *t) {
  return strmap_getn(&ps->m->symbols, t->at, t->len);
}

// Labels are looked up when the scope that uses them ends: they may be defined later, there or
// further out.
void pend_label(Parser *ps, const Token *t, PtxLabel **slot, bool is_branch) {
  uint32_t name = symbols_name(&ps->syms, t->at, t->len, t->hash);
  vec_push(&ps->pending, (PendingLabel){slot, name, *t, is_branch});
}

static PtxSelector selector_of(const Token *t) {
  static const char *const names[] = {"",    ".x",  ".y",  ".z",  ".w", ".b0",
                                      ".b1", ".b2", ".b3", ".h0", ".h1"};
  for (unsigned i = 1; i < ARRAY_LEN(names); i++)
    if (is_word(t, names[i])) return (PtxSelector)i;
  if (is_word(t, ".r")) return SEL_X;  // .r .g .b .a are other names of .x .y .z .w
  if (is_word(t, ".g")) return SEL_Y;
  if (is_word(t, ".b")) return SEL_Z;
  if (is_word(t, ".a")) return SEL_W;
  return SEL_NONE;
}

// lanes: '.' ('b' | 'h') digit digit+, of video instructions
static PtxSelector parse_lanes(const Token *t, PtxOperand *o) {
  if (t->len < 4 || t->len > 6 || (t->at[1] != 'b' && t->at[1] != 'h')) return SEL_NONE;
  for (uint32_t i = 2; i < t->len; i++) {
    if (t->at[i] < '0' || t->at[i] > '7') return SEL_NONE;
    o->lanes[i - 2] = (uint8_t)(t->at[i] - '0');
  }
  o->nlanes = (uint8_t)(t->len - 2);
  return t->at[1] == 'b' ? SEL_B_LANES : SEL_H_LANES;
}

static void set_number(PtxOperand *o, Number n) {
  o->kind = n.kind >= NUM_F32 ? OPD_FLOAT : OPD_INT;
  o->is_double = n.kind == NUM_F64;
  o->is_unsigned = n.kind == NUM_U64;
  o->imm = (int64_t)n.bits;
}

// symbol: register ['.' selector] | special register ['.' selector] | variable ['[' constant ']']
// [('+'|'-') constant]
//       | function | label
static void parse_symbol(Parser *ps, PtxOp op, PtxOperand *o) {
  Token t = ps->tok;
  uint32_t index;
  const Sym *s = symbols_find(&ps->syms, &t, &index);
  bool is_reg = s && (s->kind == SYM_REG || s->kind == SYM_RANGE);
  // a target is a label even where something else has that name
  if (op == OP_BRA || (op == OP_BRX_IDX && !is_reg)) {
    o->kind = OPD_LABEL;
    pend_label(ps, &t, &o->label, true);
    ptx_lex(ps);
    return;
  }
  if (is_reg) {
    o->kind = OPD_REG;
    o->reg = s->reg + index;
    ptx_lex(ps);
  } else if (s && s->kind == SYM_VAR) {
    o->kind = OPD_VAR;
    o->var = s->var;
    ptx_lex(ps);
  } else {
    PtxSreg sreg = t.at[0] == '%' ? (PtxSreg)ptx_keyword(KEYWORD_SREG, t.at, t.len, t.hash, NULL)
                                  : SREG_NONE;
    Symbol *g = sreg ? NULL : find_module_symbol(ps, &t);
    if (sreg) {
      o->kind = OPD_SREG;
      o->sreg = sreg;
    } else if (g && g->var) {
      o->kind = OPD_VAR;
      o->var = g->var;
    } else if (g) {
      o->kind = OPD_FUNC;
      o->func = g->func;
    } else {
      if (t.at[0] == '%') parse_fail(ps, &t, "unknown register %s", token_describe(ps, &t));
      o->kind = OPD_LABEL;
      pend_label(ps, &t, &o->label, false);
    }
    ptx_lex(ps);
  }
  if ((o->kind == OPD_REG || o->kind == OPD_SREG) && ps->tok.kind == TOK_DOT) {
    o->selector = selector_of(&ps->tok);
    if (!o->selector) o->selector = parse_lanes(&ps->tok, o);
    if (!o->selector)
      parse_fail(ps, &ps->tok, "unknown component %s", token_describe(ps, &ps->tok));
    ptx_lex(ps);
  }
  if (o->kind == OPD_VAR && accept(ps, '[')) {
    int64_t element = parse_int_constant(ps, "an array index");
    expect(ps, ']', "after an array index");
    o->imm += (int64_t)((uint64_t)element * MAX(ptx_type_size(o->var->type), 1u) *
                        MAX(o->var->vector, 1));
    if (op != OP_MOV) {  // ld.global.u32 r, a[1]: the element, not its address
      PtxOperand *base = ARENA_NEW(ps->arena, PtxOperand);
      *base = *o;
      base->imm = 0;
      *o = (PtxOperand){.kind = OPD_ADDR, .list = base, .nlist = 1, .imm = o->imm};
    }
  }
}

// offset: ('+' | '-') constant, added up
static int64_t parse_offset(Parser *ps) {
  uint64_t sum = 0;
  while (is_punct(ps, '+') || is_punct(ps, '-')) {
    if (accept(ps, '+')) {
      sum += (uint64_t)parse_int_constant(ps, "an offset");
      continue;
    }
    // the minus belongs to the constant expression
    sum += (uint64_t)parse_int_constant(ps, "an offset");
  }
  return (int64_t)sum;
}

static void parse_list(Parser *ps, PtxOp op, PtxOperand *o, int close, const char *where) {
  PtxOperand local[255];
  unsigned n = 0;
  parse_enter(ps);
  uint32_t first_pending = ps->pending.len;
  while (!is_punct(ps, close)) {
    if (n == ARRAY_LEN(local))
      parse_fail(ps, &ps->tok, "more than %zu elements in a list", ARRAY_LEN(local));
    local[n] = (PtxOperand){0};
    parse_operand(ps, op, &local[n++]);
    if (!accept(ps, ',')) break;
  }
  expect(ps, close, where);
  o->nlist = (uint8_t)n;
  o->list = ARENA_ARRAY(ps->arena, PtxOperand, n ? n : 1);
  memcpy(o->list, local, n * sizeof *local);
  // label slots move with their operand
  for (uint32_t i = first_pending; i < ps->pending.len; i++) {
    char *slot = (char *)ps->pending.data[i].slot;
    if (slot >= (char *)local && slot < (char *)(local + n))
      ps->pending.data[i].slot = (PtxLabel **)((char *)o->list + (slot - (char *)local));
  }
  parse_leave(ps);
}

// address: '[' (symbol offset? | constant | operand) (',' operand)* ']'
static void parse_address(Parser *ps, PtxOp op, PtxOperand *o) {
  PtxOperand local[16] = {{0}};
  unsigned n = 1;
  o->kind = OPD_ADDR;
  if (ps->tok.kind == TOK_IDENT && !is_word(&ps->tok, "WARP_SZ")) {
    parse_symbol(ps, op == OP_MOV ? OP_MOV : OP_NONE, &local[0]);
    if (local[0].kind == OPD_LABEL)
      parse_fail(ps, &ps->pending.data[ps->pending.len - 1].tok, "undefined symbol %s",
                 token_describe(ps, &ps->pending.data[ps->pending.len - 1].tok));
    if (local[0].kind == OPD_ADDR)
      local[0] = (PtxOperand){.kind = OPD_VAR, .var = local[0].list->var, .imm = local[0].imm};
    o->offset_given = local[0].imm || is_punct(ps, '+') || is_punct(ps, '-');
    o->imm = local[0].imm + parse_offset(ps);
    local[0].imm = 0;
  } else if (is_punct(ps, '{')) {
    parse_operand(ps, op, &local[0]);
  } else {
    set_number(&local[0], parse_constant(ps));
    if (local[0].kind != OPD_INT) parse_fail(ps, &ps->tok, "an address must be an integer");
  }
  while (accept(ps, ',')) {
    if (n == ARRAY_LEN(local)) parse_fail(ps, &ps->tok, "too many elements in an address");
    parse_operand(ps, op, &local[n++]);
  }
  expect(ps, ']', "after an address");
  o->nlist = (uint8_t)n;
  o->list = ARENA_ARRAY(ps->arena, PtxOperand, n);
  memcpy(o->list, local, n * sizeof *local);
}

// pair: (register | vector | '_') ['|' (register | '_')]
static void parse_pair(Parser *ps, PtxOp op, PtxOperand *o) {
  if ((o->kind != OPD_REG && o->kind != OPD_SINK && o->kind != OPD_VECTOR) || !is_punct(ps, '|'))
    return;
  PtxOperand *pair = ARENA_ARRAY(ps->arena, PtxOperand, 2);
  pair[0] = *o;
  ptx_lex(ps);
  Token t = ps->tok;
  if (t.kind != TOK_IDENT)
    parse_fail(ps, &t, "expected a register after '|', found %s", token_describe(ps, &t));
  if (is_word(&t, "_")) {
    pair[1].kind = OPD_SINK;
    ptx_lex(ps);
  } else parse_symbol(ps, op, &pair[1]);
  if (pair[1].kind != OPD_REG && pair[1].kind != OPD_SINK)
    parse_fail(ps, &t, "expected a register after '|'");
  *o = (PtxOperand){.kind = OPD_PAIR, .list = pair, .nlist = 2};
}

// operand: ['!'] symbol ['|' symbol] | constant | '[' … ']' | '{' … '}' | '_'
void parse_operand(Parser *ps, PtxOp op, PtxOperand *o) {
  const Token *t = &ps->tok;
  if (t->kind == TOK_IDENT) {
    if (t->len == 1 && t->at[0] == '_') {
      o->kind = OPD_SINK;
      ptx_lex(ps);
    } else if (is_word(t, "WARP_SZ")) {
      set_number(o, parse_constant(ps));
      return;
    } else {
      parse_symbol(ps, op, o);
      if (o->kind == OPD_VAR) {
        o->offset_given = is_punct(ps, '+') || is_punct(ps, '-');
        o->imm += parse_offset(ps);
      }
    }
    parse_pair(ps, op, o);
    return;
  }
  if (t->kind == TOK_PUNCT) {
    switch (t->punct) {
      case '{':
        ptx_lex(ps);
        o->kind = OPD_VECTOR;
        parse_list(ps, op, o, '}', "after a vector");
        parse_pair(ps, op, o);
        return;
      case '[':
        ptx_lex(ps);
        parse_address(ps, op, o);
        return;
      case '!': {
        const char *p = ps->p;  // !%p is a negated predicate, !3 a constant expression
        while (*p == ' ' || *p == '\t') p++;
        if (*p >= '0' && *p <= '9') break;
        if (*p == '(' || *p == '!' || *p == '-' || *p == '~') break;
        ptx_lex(ps);
        if (ps->tok.kind != TOK_IDENT)
          parse_fail(ps, &ps->tok, "expected a predicate after '!', found %s",
                     token_describe(ps, &ps->tok));
        parse_symbol(ps, op, o);
        if (o->kind != OPD_REG && o->kind != OPD_SREG)
          parse_fail(ps, &ps->tok, "only a register can be negated");
        o->negated = true;
        return;
      }
      case '-':
        // -%r4: the register's value, negated
        if (op == OP_VMAD && (*ps->p == '%' || *ps->p == '_' || (*ps->p | 0x20) >= 'a')) {
          ptx_lex(ps);
          if (ps->tok.kind != TOK_IDENT) parse_fail(ps, &ps->tok, "expected a register after '-'");
          parse_symbol(ps, op, o);
          if (o->kind != OPD_REG) parse_fail(ps, &ps->tok, "expected a register after '-'");
          o->negated = true;
          return;
        }
        break;
      case '+':
      case '~':
      case '(': break;
      default: parse_fail(ps, t, "expected an operand, found %s", token_describe(ps, t));
    }
  } else if (t->kind != TOK_NUMBER) {
    parse_fail(ps, t, "expected an operand, found %s", token_describe(ps, t));
  }
  set_number(o, parse_constant(ps));
}

// call: ['(' operands ')' ','] callee [',' '(' operands ')'] [',' label]
void parse_call_operands(Parser *ps, PtxOperand *ops, uint8_t *nops) {
  ops[0].kind = OPD_LIST;
  ops[2].kind = OPD_LIST;
  if (accept(ps, '(')) {
    parse_list(ps, OP_NONE, &ops[0], ')', "after the results of a call");
    expect(ps, ',', "after the results of a call");
  }
  if (ps->tok.kind != TOK_IDENT)
    parse_fail(ps, &ps->tok, "expected the function to call, found %s",
               token_describe(ps, &ps->tok));
  Token callee = ps->tok;
  parse_symbol(ps, OP_CALL, &ops[1]);
  if (ops[1].kind != OPD_FUNC && ops[1].kind != OPD_REG)
    parse_fail(ps, &callee, "%s is neither a declared function nor a register",
               token_describe(ps, &callee));
  *nops = 3;
  if (!accept(ps, ',')) return;
  if (accept(ps, '(')) {
    parse_list(ps, OP_NONE, &ops[2], ')', "after the arguments of a call");
    if (!accept(ps, ',')) return;
  }
  if (ps->tok.kind != TOK_IDENT)
    parse_fail(ps, &ps->tok, "expected a prototype or a list of targets, found %s",
               token_describe(ps, &ps->tok));
  ops[3].kind = OPD_LABEL;
  pend_label(ps, &ps->tok, &ops[3].label, true);
  ptx_lex(ps);
  *nops = 4;
}
