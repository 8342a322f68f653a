// Builds instructions. Emitted instructions have no form yet; the module is verified after all
// passes.
#include "weave/pass.h"

// The opcode is the longest name the mnemonic begins with; the rest are modifiers.
static const PtxInstr *parse_mnemonic(Program *p, const char *text) {
  PtxInstr *in = ARENA_NEW(&p->scratch, PtxInstr);
  size_t best = 0;
  for (unsigned op = 1; op < OP_COUNT; op++) {
    const char *name = ptx_op_name((PtxOp)op);
    size_t n = strlen(name);
    if (n <= best || strncmp(text, name, n) || (text[n] && text[n] != '.')) continue;
    best = n;
    in->op = (PtxOp)op;
  }
  CHECK(best);
  PtxMod mods[16];
  for (const char *at = text + best; *at;) {
    size_t n = 1 + strcspn(at + 1, ".");
    unsigned m = 1;
    while (m < MOD_COUNT && (strncmp(at, ptx_mod_name((PtxMod)m), n) || ptx_mod_name((PtxMod)m)[n]))
      m++;
    CHECK(m < MOD_COUNT && in->nmods < ARRAY_LEN(mods));
    mods[in->nmods++] = (PtxMod)m;
    if (ptx_mod_type((PtxMod)m)) in->types[in->ntypes++] = ptx_mod_type((PtxMod)m);
    else if (in->space == SPACE_NONE) {
      switch (m) {
        case MOD_GLOBAL: in->space = SPACE_GLOBAL; break;
        case MOD_SHARED:
        case MOD_SHARED_CTA:
        case MOD_SHARED_CLUSTER: in->space = SPACE_SHARED; break;
        case MOD_LOCAL: in->space = SPACE_LOCAL; break;
        case MOD_CONST: in->space = SPACE_CONST; break;
        case MOD_PARAM: in->space = SPACE_PARAM; break;
        default: break;
      }
    }
    at += n;
  }
  if (in->space == SPACE_NONE && ptx_op_classes(in) & (CLASS_LOAD | CLASS_STORE | CLASS_ATOMIC))
    in->space = SPACE_GENERIC;
  // shared by all instructions of this mnemonic
  in->mods = ARENA_ARRAY(&p->units[0]->arena, PtxMod, in->nmods + 1);
  memcpy(in->mods, mods, sizeof *mods * in->nmods);
  u64map_put(&p->mnemonics, (uintptr_t)text, in);
  return in;
}

static void add_stmt(Code *c, PtxStmt s) {
  Body *b = c->body;
  vec_push(&b->added, (Added){s, 0});
  if (c->last) b->added.data[c->last - 1].next = b->added.len;
  else c->first = b->added.len;
  c->last = b->added.len;
}

static Arena *arena_of(const Code *c) { return &c->body->func->module->arena; }

PtxInstr *code_emit(Code *c, const char *mnemonic, const PtxOperand *ops, unsigned nops) {
  Program *p = c->body->program;
  const PtxInstr *proto = u64map_get(&p->mnemonics, (uintptr_t)mnemonic);
  if (!proto) proto = parse_mnemonic(p, mnemonic);
  char *block = arena_alloc(arena_of(c), sizeof(PtxInstr) + sizeof *ops * nops);
  PtxInstr *in = (PtxInstr *)block;
  *in = *proto;
  in->ops = (PtxOperand *)(block + sizeof *in);
  in->nops = (uint8_t)nops;
  memcpy(in->ops, ops, sizeof *ops * nops);
  if (c->body->unit) {  // the modifiers must live as long as the unit
    in->mods = ARENA_ARRAY(arena_of(c), PtxMod, proto->nmods + 1);
    memcpy(in->mods, proto->mods, sizeof *in->mods * proto->nmods);
  }
  in->guard = c->guard;
  in->guard_negated = c->guard_negated;
  if (c->near) {
    in->ptx_line = c->near->ptx_line;
    in->ptx_column = c->near->ptx_column;
    in->loc = c->near->loc;
  }
  add_stmt(c, (PtxStmt){.kind = STMT_INSTR, .instr = in});
  return in;
}

// by log2 of the bytes
static const char *const store_local[] = {"st.local.b8", "st.local.b16", "st.local.b32",
                                          "st.local.b64", "st.local.b128"},
                         *const load_local[] = {"ld.local.b8", "ld.local.b16", "ld.local.b32",
                                                "ld.local.b64", "ld.local.b128"};
static int size_class(const PtxReg *r) { return __builtin_ctz(ptx_type_size(r->type)); }

void code_store_local(Code *c, PtxOperand to, PtxReg *r) {
  EMIT(c, store_local[size_class(r)], to, opd_reg(r));
}
void code_load_local(Code *c, PtxReg *r, PtxOperand from) {
  EMIT(c, load_local[size_class(r)], opd_reg(r), from);
}

void code_guard(Code *c, PtxReg *p, bool negated) {
  c->guard = p;
  c->guard_negated = negated;
}

void code_branch(Code *c, PtxReg *p, bool negated, PtxLabel *to) {
  code_guard(c, p, negated);
  EMIT(c, "bra", opd_label(to));
  code_guard(c, NULL, false);
}

void code_label(Code *c, PtxLabel *l) { add_stmt(c, (PtxStmt){.kind = STMT_LABEL, .label = l}); }

void code_label_first(Code *c, PtxLabel *l) {
  vec_push(&c->body->added, (Added){{.kind = STMT_LABEL, .label = l}, c->first});
  c->first = c->body->added.len;
  if (!c->last) c->last = c->first;
}

void code_stmt(Code *c, PtxStmt s) { add_stmt(c, s); }

PtxInstr *code_instr(Code *c, const PtxInstr *in) {
  PtxInstr *copy = ARENA_NEW(arena_of(c), PtxInstr);
  *copy = *in;
  add_stmt(c, (PtxStmt){.kind = STMT_INSTR, .instr = copy});
  return copy;
}

PtxReg *code_recompute(Code *c, const PtxInstr *in, PtxReg *(*reads)(void *user, PtxReg *r),
                       void *user) {
  PtxOperand *ops = ARENA_ARRAY(arena_of(c), PtxOperand, in->nops);
  for (unsigned k = 1; k < in->nops; k++) {
    ops[k] = in->ops[k];
    if (ops[k].kind == OPD_REG) ops[k].reg = reads(user, ops[k].reg);
  }
  PtxReg *to = body_reg(c->body, in->ops[0].reg->type);
  ops[0] = opd_reg(to);
  code_instr(c, in)->ops = ops;
  return to;
}

PtxOperand opd_at(Code *c, PtxOperand base, int64_t offset) {
  PtxOperand o = {.kind = OPD_ADDR, .nlist = 1, .imm = offset};
  o.list = ARENA_NEW(arena_of(c), PtxOperand);
  o.list[0] = base;
  return o;
}

PtxOperand opd_vector(Code *c, const PtxOperand *list, unsigned n) {
  PtxOperand o = {.kind = OPD_VECTOR, .nlist = (uint8_t)n};
  o.list = ARENA_ARRAY(arena_of(c), PtxOperand, n);
  memcpy(o.list, list, sizeof *list * n);
  return o;
}

static PtxOperand opd_list(Code *c, PtxVar *const *vars, unsigned n) {
  PtxOperand o = {.kind = OPD_LIST, .nlist = (uint8_t)n};
  o.list = ARENA_ARRAY(arena_of(c), PtxOperand, n + 1);
  for (unsigned i = 0; i < n; i++) o.list[i] = opd_var(vars[i]);
  return o;
}

// Lanes that the guard stops branch around the call, so that the same lanes store the arguments and
// make the call. Never call.uni: a probe runs wherever its instruction does.
void code_call_value(Code *c, PtxFunc *f, PtxReg *result, const PtxOperand *args, unsigned nargs) {
  PtxReg *guard = c->guard;
  bool negated = c->guard_negated;
  PtxLabel *over = guard ? body_label(c->body) : NULL;
  PtxVar *vars[32], *returned = NULL;
  CHECK(nargs == f->nparams && nargs <= ARRAY_LEN(vars) && f->nreturns == (result != NULL));
  if (guard) {
    code_guard(c, guard, !negated);
    EMIT(c, "bra", opd_label(over));
    code_guard(c, NULL, false);
  }
  add_stmt(c, (PtxStmt){.kind = STMT_SCOPE_BEGIN});
  for (unsigned i = 0; i < nargs; i++) {
    bool wide = f->params[i]->size == 8;
    vars[i] = body_param(c->body, wide ? TYPE_B64 : TYPE_B32);
    add_stmt(c, (PtxStmt){.kind = STMT_VAR, .var = vars[i]});
    PtxOperand to = opd_at(c, opd_var(vars[i]), 0);
    if (wide) EMIT(c, "st.param.b64", to, args[i]);
    else EMIT(c, "st.param.b32", to, args[i]);
  }
  if (result) {
    returned = body_param(c->body, f->returns[0]->size == 8 ? TYPE_B64 : TYPE_B32);
    add_stmt(c, (PtxStmt){.kind = STMT_VAR, .var = returned});
  }
  EMIT(c, "call", opd_list(c, &returned, result != NULL), (PtxOperand){.kind = OPD_FUNC, .func = f},
       opd_list(c, vars, nargs));
  if (result && returned->size == 8)
    EMIT(c, "ld.param.b64", opd_reg(result), opd_at(c, opd_var(returned), 0));
  else if (result) EMIT(c, "ld.param.b32", opd_reg(result), opd_at(c, opd_var(returned), 0));
  add_stmt(c, (PtxStmt){.kind = STMT_SCOPE_END});
  if (guard) code_label(c, over);
  code_guard(c, guard, negated);
}

void code_elect(Code *c, PtxReg *lanes, PtxReg *leads, PtxReg *lower) {
  Body *b = c->body;
  PtxReg *guard = c->guard, *below = body_temp(b, TYPE_B32, BODY_TEMPS - 3);
  bool negated = c->guard_negated;
  EMIT(c, "activemask.b32", opd_reg(lanes));  // under the guard: lanes it stops are not in the mask
  code_guard(c, NULL, false);
  if (!lower) EMIT(c, "mov.u32", opd_reg(below), opd_sreg(SREG_LANEMASK_LT, SEL_NONE));
  EMIT(c, "and.b32", opd_reg(below), opd_reg(lanes), opd_reg(lower ? lower : below));
  if (guard)
    EMIT(c, "setp.eq.and.u32", opd_reg(leads), opd_reg(below), opd_imm(0),
         negated ? opd_not(guard) : opd_reg(guard));
  else EMIT(c, "setp.eq.u32", opd_reg(leads), opd_reg(below), opd_imm(0));
  code_guard(c, guard, negated);
}

void code_call(Code *c, PtxFunc *f, const PtxOperand *args, unsigned nargs) {
  code_call_value(c, f, NULL, args, nargs);
}

// Inlining renames registers: the original name counts.
bool code_is_named(const PtxReg *r, const char *name) {
  const char *given = r->original ? r->original : r->name;
  size_t n = strlen(name);
  return !strncmp(given, name, n) && (!given[n] || !strncmp(given + n, "__", 2));
}
