// contract: rewrites mul, add and sub so that nothing is left for ptxas to fuse, with the same
// machine code.
//
// requires: a verified module. keeps: the machine code. breaks: an IrCfg of any function in it.
#include "ir/contract.h"

typedef struct Rewriter {
  PtxFunc *func;
  Arena *arena;  // the module's
  const IrCfg *c;
  const ContractPlan *plan;
  ContractFacts facts;
  VEC(PtxStmt) stmts;
  VEC(PtxReg *) regs;      // new ones
  const char *prefix;      // of their names
  PtxOperand (*saved)[2];  // per instruction: copies of a product's sources
  Str *log;
  bool changed;
} Rewriter;

static PtxType bits_type(PtxType t) {
  unsigned size = ptx_type_size(t);
  return size == 2 ? TYPE_B16 : size == 4 ? TYPE_B32 : TYPE_B64;
}

// A prefix no register of the function starts with.
static const char *fresh_prefix(const PtxFunc *f, Arena *a) {
  for (unsigned n = 0;; n++) {
    const char *prefix = arena_printf(a, "%%wgc%u_", n);
    size_t len = strlen(prefix);
    bool taken = false;
    for (uint32_t r = 0; r < f->nregs && !taken; r++)
      taken = !strncmp(f->regs[r]->name, prefix, len);
    if (!taken) return prefix;
  }
}

static PtxOperand new_register(Rewriter *w, PtxType t) {
  PtxReg *r = ARENA_NEW(w->arena, PtxReg);
  *r = (PtxReg){.name = arena_printf(w->arena, "%s%u", w->prefix, w->regs.len),
                .type = bits_type(t),
                .id = w->func->nregs + w->regs.len};
  vec_push(&w->regs, r);
  return (PtxOperand){.kind = OPD_REG, .reg = r};
}

// A one-source instruction `op.type d, a` next to `near`.
static PtxInstr *emit_unary(Rewriter *w, PtxOp op, PtxType op_type, PtxOperand d, PtxOperand a,
                            const PtxInstr *near) {
  PtxInstr *in = ARENA_NEW(w->arena, PtxInstr);
  *in = (PtxInstr){.op = op,
                   .nmods = 1,
                   .nops = 2,
                   .types = {op_type},
                   .ntypes = 1,
                   .ptx_line = near->ptx_line,
                   .loc = near->loc};
  in->mods = ARENA_NEW(w->arena, PtxMod);
  in->mods[0] = (PtxMod)op_type;  // mods.def starts with the types, in their order
  in->ops = ARENA_ARRAY(w->arena, PtxOperand, 2);
  in->ops[0] = d;
  in->ops[1] = a;
  vec_push(&w->stmts, (PtxStmt){.kind = STMT_INSTR, .instr = in});
  return in;
}

static bool is_constant(const Rewriter *w, const PtxOperand *o, uint64_t *bits) {
  // never called for registers that this pass made
  return contract_constant(&w->facts, o, bits);
}

static PtxOperand negate(Rewriter *w, PtxOperand o, PtxType t, const PtxInstr *near) {
  if (o.kind == OPD_FLOAT) {
    o.imm ^= o.is_double ? INT64_MIN : (int64_t)0x80000000;
    return o;
  }
  PtxOperand d = new_register(w, t);
  uint64_t bits;
  if (t == TYPE_BF16X2 && o.reg->id < w->c->func->nregs && is_constant(w, &o, &bits))
    return emit_unary(w, OP_MOV, TYPE_B32, d,
                      (PtxOperand){.kind = OPD_INT, .imm = (int64_t)((uint32_t)bits ^ 0x80008000u)},
                      near)
        ->ops[0];
  return emit_unary(w, OP_NEG, t, d, o, near)->ops[0];
}

static void put_rn_first(Rewriter *w, PtxInstr *in) {
  PtxMod *mods = ARENA_ARRAY(w->arena, PtxMod, in->nmods + 1);
  mods[0] = MOD_RN;
  if (in->nmods) memcpy(mods + 1, in->mods, sizeof *mods * in->nmods);
  in->mods = mods;
  in->nmods++;
  in->form = 0;
  w->changed = true;
}

// Which source of a product ptxas negates: a constant, else one that is not in the constant bank,
// else the first.
static bool negates_second(const Rewriter *w, const PtxInstr *mul) {
  uint64_t bits;
  if (is_constant(w, &mul->ops[2], &bits)) return true;
  if (mul->op != OP_MUL) return false;
  return !is_constant(w, &mul->ops[1], &bits) && contract_is_banked(&w->facts, &mul->ops[1]) &&
         !contract_is_banked(&w->facts, &mul->ops[2]);
}

static void emit_fma(Rewriter *w, PtxInstr *in, const ContractStep *s) {
  const PtxInstr *mul = w->c->instrs[s->mul];
  PtxType t = in->types[0];
  PtxOperand a = w->saved[s->mul][0], b = w->saved[s->mul][1], addend = in->ops[2 - s->operand];
  if (s->negate_product) {
    if (negates_second(w, mul)) b = negate(w, b, t, in);
    else a = negate(w, a, t, in);
  }
  if (s->negate_addend) addend = negate(w, addend, t, in);
  PtxOperand *ops = ARENA_ARRAY(w->arena, PtxOperand, 4);
  ops[0] = in->ops[0];
  ops[1] = a;
  ops[2] = b;
  ops[3] = addend;
  in->op = OP_FMA;
  in->ops = ops;
  in->nops = 4;
  put_rn_first(w, in);
}

static void emit_reciprocal(Rewriter *w, PtxOperand d, PtxOperand a, bool ftz,
                            const PtxInstr *near) {
  PtxInstr *in = emit_unary(w, OP_RCP, TYPE_F32, d, a, near);
  PtxMod *mods = in->mods = ARENA_ARRAY(w->arena, PtxMod, 3);
  *mods++ = MOD_APPROX;
  if (ftz) *mods++ = MOD_FTZ;
  *mods++ = MOD_F32;
  in->nmods = (uint8_t)(mods - in->mods);
}

// Chooses what the fused additions read instead of the product: its sources, or copies made where
// the product was computed. Runs first, because an addition may precede its product in the text.
static void choose_sources(Rewriter *w) {
  for (uint32_t i = 0; i < w->c->ninstrs; i++) {
    const ContractStep *s = &w->plan->steps[i];
    const PtxInstr *in = w->c->instrs[i];
    if (!s->feeds_fma || s->action == CONTRACT_LEAVE) continue;
    PtxType t = in->types[0];
    w->saved[i][0] = s->save_a ? new_register(w, t) : in->ops[1];
    w->saved[i][1] = s->save_b || in->op == OP_DIV ? new_register(w, t) : in->ops[2];
  }
}

static void keep_sources(Rewriter *w, uint32_t i, const ContractStep *s) {
  PtxInstr *in = w->c->instrs[i];
  PtxType bits = bits_type(in->types[0]);
  if (s->save_a) emit_unary(w, OP_MOV, bits, w->saved[i][0], in->ops[1], in);
  if (in->op == OP_DIV) emit_reciprocal(w, w->saved[i][1], in->ops[2], ptx_has(in, MOD_FTZ), in);
  else if (s->save_b) emit_unary(w, OP_MOV, bits, w->saved[i][1], in->ops[2], in);
}

static void log_step(Rewriter *w, uint32_t i, const ContractStep *s) {
  static const char *const what[] = {NULL, "stays apart", "fused with the product of line",
                                     "gone into fma", "left to ptxas"};
  if (!w->log || s->action == CONTRACT_NONE) return;
  str_printf(w->log, "%s:%u: ", w->func->name, w->c->instrs[i]->ptx_line);
  ptx_print_instr(w->c->instrs[i], w->log);
  str_printf(w->log, "  // %s", what[s->action]);
  if (s->action == CONTRACT_FUSE) str_printf(w->log, " %u", w->c->instrs[s->mul]->ptx_line);
  str_addc(w->log, '\n');
}

static void rewrite_body(Rewriter *w) {
  PtxFunc *f = w->func;
  uint32_t at = 0;
  choose_sources(w);
  for (uint32_t i = 0; i < f->nstmts; i++) {
    PtxStmt s = f->stmts[i];
    if (s.kind != STMT_INSTR) {
      vec_push(&w->stmts, s);
      continue;
    }
    const ContractStep *step = &w->plan->steps[at];
    log_step(w, at, step);
    if (step->feeds_fma && step->action != CONTRACT_LEAVE) keep_sources(w, at, step);
    if (step->action == CONTRACT_FUSE) emit_fma(w, s.instr, step);
    else if (step->action == CONTRACT_EXPLICIT) put_rn_first(w, s.instr);
    if (step->action != CONTRACT_DELETE) vec_push(&w->stmts, s);
    else w->changed = true;
    at++;
  }
}

// Puts the new statements and registers into the function.
static void install_body(Rewriter *w) {
  PtxFunc *f = w->func;
  uint32_t nregs = w->regs.len, n = w->stmts.len + nregs;
  PtxStmt *stmts = ARENA_ARRAY(w->arena, PtxStmt, n + 1);
  for (uint32_t i = 0; i < nregs; i++) {
    stmts[i].kind = STMT_REGS;
    stmts[i].regs.first = w->regs.data[i];
    stmts[i].regs.count = 1;
  }
  if (w->stmts.len) memcpy(stmts + nregs, w->stmts.data, sizeof *stmts * w->stmts.len);
  f->stmts = stmts;
  f->nstmts = n;
  ptx_number_labels(f);
  if (!nregs) return;
  PtxReg **regs = ARENA_ARRAY(w->arena, PtxReg *, f->nregs + nregs);
  if (f->nregs) memcpy(regs, f->regs, sizeof *regs * f->nregs);
  if (nregs) memcpy(regs + f->nregs, w->regs.data, sizeof *regs * nregs);
  f->regs = regs;
  f->nregs += nregs;
}

static bool contract_function(PtxFunc *f, uint32_t sm, Str *log, bool *changed, Error *err) {
  IrCfg *c = ir_cfg_build(f, err);
  if (!c) return false;
  ContractPlan plan = {{0}, NULL};
  contract_plan(c, sm, f->module->debug, &plan);
  Rewriter w = {.func = f, .arena = &f->module->arena, .c = c, .plan = &plan, .log = log};
  contract_find_facts(c, &plan.arena, &w.facts);
  w.saved = arena_alloc(&plan.arena, sizeof *w.saved * (c->ninstrs + 1));
  w.prefix = fresh_prefix(f, w.arena);
  rewrite_body(&w);
  if (w.changed) install_body(&w);
  *changed |= w.changed;
  vec_free(&w.stmts);
  vec_free(&w.regs);
  arena_free(&plan.arena);
  ir_cfg_free(c);
  if (!w.changed) return true;
  c = ir_cfg_build(f, err);
  bool ok = c && ir_verify(c, err);
  ir_cfg_free(c);
  return ok;
}

bool ir_contract_for(PtxModule *m, uint32_t sm, Str *log, Error *err) {
  bool changed = false;
  for (uint32_t i = 0; i < m->nfuncs; i++)
    if (!m->funcs[i]->is_declaration &&
        !contract_function(m->funcs[i], sm ? sm : m->sm, log, &changed, err))
      return false;
  return !changed || ptx_verify(m, err);
}

bool ir_contract(PtxModule *m, Error *err) { return ir_contract_for(m, 0, NULL, err); }
