// One instruction: guard, opcode, modifiers, operands.
#include "ptx/parse.h"

enum { MAX_MODS = 32, MAX_OPS = 24 };

// opcode: word ('.' word)*, the longest name that ops.def has
static PtxOp parse_opcode(Parser *ps) {
  Token first = ps->tok;
  bool longer;
  PtxOp op = (PtxOp)ptx_keyword(KEYWORD_OP, first.at, first.len, first.hash, &longer);
  if (!op && !longer) parse_fail(ps, &first, "unknown instruction %s", token_describe(ps, &first));
  ptx_lex(ps);
  if (!longer) return op;
  // Try to lengthen the name; go back to the end of the last name that was an opcode.
  char name[64];
  uint32_t len = first.len;
  memcpy(name, first.at, len);
  const char *p = ps->p;
  uint32_t line = ps->line;
  Token tok = ps->tok;
  while (longer && ps->tok.kind == TOK_DOT && len + ps->tok.len < sizeof name) {
    memcpy(name + len, ps->tok.at, ps->tok.len);
    len += ps->tok.len;
    PtxOp more = (PtxOp)ptx_keyword(KEYWORD_OP, name, len, ptx_hash_word(name, len), &longer);
    if (!more && !longer) break;
    ptx_lex(ps);
    if (more) {
      op = more;
      p = ps->p;
      line = ps->line;
      tok = ps->tok;
    }
  }
  ps->p = p;
  ps->line = line;
  ps->tok = tok;
  if (!op) parse_fail(ps, &first, "unknown instruction '%.*s'", (int)len, name);
  return op;
}

static PtxSpace default_space(PtxOp op) {
  switch (ptx_op_family(op)) {
    case FAMILY_MEMORY:
    case FAMILY_MMA:
      return op == OP_MEMBAR || op == OP_FENCE || op == OP_CVTA || op == OP_MMA || op == OP_WMMA_MMA
                 ? SPACE_NONE
                 : SPACE_GENERIC;
    default:
      return op == OP_MULTIMEM_LD_REDUCE || op == OP_MULTIMEM_RED || op == OP_MULTIMEM_ST
                 ? SPACE_GENERIC
                 : SPACE_NONE;
  }
}

// instruction: ['@' ['!'] predicate] opcode modifier* [operand (',' operand)*] ';'
PtxInstr *parse_instr(Parser *ps) {
  PtxMod mods[MAX_MODS];
  PtxOperand ops[MAX_OPS];
  PtxInstr in = {0};
  uint32_t first_pending = ps->pending.len;
  if (accept(ps, '@')) {
    in.guard_negated = accept(ps, '!');
    uint32_t index;
    Token t = ps->tok;
    if (t.kind != TOK_IDENT)
      parse_fail(ps, &t, "expected a predicate register after '@', found %s",
                 token_describe(ps, &t));
    const Sym *s = symbols_find(&ps->syms, &t, &index);
    if (!s || (s->kind != SYM_REG && s->kind != SYM_RANGE))
      parse_fail(ps, &t, "unknown register %s", token_describe(ps, &t));
    in.guard = s->reg + index;
    ptx_lex(ps);
  }
  if (ps->tok.kind != TOK_IDENT)
    parse_fail(ps, &ps->tok, "expected an instruction, found %s", token_describe(ps, &ps->tok));
  in.ptx_line = ps->tok.line;
  in.ptx_column = (uint32_t)(ps->tok.at - ps->bol) + 1;
  in.loc = ps->loc;
  in.op = parse_opcode(ps);
  in.space = SPACE_NONE;
  unsigned nmods = 0, nops = 0;
  while (ps->tok.kind == TOK_DOT) {
    PtxMod m = (PtxMod)ptx_keyword(KEYWORD_MOD, ps->tok.at, ps->tok.len, ps->tok.hash, NULL);
    if (!m)
      parse_fail(ps, &ps->tok, "unknown modifier %s of '%s'", token_describe(ps, &ps->tok),
                 ptx_op_name(in.op));
    if (nmods == MAX_MODS) parse_fail(ps, &ps->tok, "more than %d modifiers", MAX_MODS);
    mods[nmods++] = m;
    if (ptx_mod_type(m)) {
      if (in.ntypes < ARRAY_LEN(in.types)) in.types[in.ntypes++] = ptx_mod_type(m);
    } else if (in.space == SPACE_NONE) {
      in.space = ptx_mod_space(m);
    }
    ptx_lex(ps);
  }
  if (in.space == SPACE_NONE) in.space = default_space(in.op);
  if (in.op == OP_CALL) {
    memset(ops, 0, 4 * sizeof *ops);
    uint8_t n = 0;
    parse_call_operands(ps, ops, &n);
    nops = n;
  } else if (!is_punct(ps, ';')) {
    do {
      if (nops == MAX_OPS) parse_fail(ps, &ps->tok, "more than %d operands", MAX_OPS);
      ops[nops] = (PtxOperand){0};
      parse_operand(ps, in.op, &ops[nops++]);
    } while (accept(ps, ','));
  }
  // Operands, modifiers and the instruction share one allocation.
  char *block = arena_alloc(ps->arena, sizeof in + nops * sizeof *ops + nmods * sizeof *mods);
  PtxInstr *out = (PtxInstr *)block;
  in.nmods = (uint8_t)nmods;
  in.nops = (uint8_t)nops;
  in.ops = (PtxOperand *)(block + sizeof in);
  in.mods = (PtxMod *)(block + sizeof in + nops * sizeof *ops);
  memcpy(in.ops, ops, nops * sizeof *ops);
  memcpy(in.mods, mods, nmods * sizeof *mods);
  *out = in;
  for (uint32_t i = first_pending; i < ps->pending.len; i++) {
    char *slot = (char *)ps->pending.data[i].slot;
    if (slot >= (char *)ops && slot < (char *)(ops + nops))
      ps->pending.data[i].slot = (PtxLabel **)((char *)in.ops + (slot - (char *)ops));
  }
  expect(ps, ';', "after an instruction");
  return out;
}
