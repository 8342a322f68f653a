// linear: describes the addresses of a loop in each iteration, as sums over values at the loop's
// entry.
//
// Runs the body of an innermost loop symbolically once, block by block in IrCfg.order. Every
// register starts as itself; additions, multiplications by constants and widenings turn it into a
// sum. If two paths merge with different sums, the value is unknown. A register that ends an
// iteration as itself plus a sum of registers the loop does not write moves by that sum in each
// iteration; everything that depends on such registers only is then known for all iterations.
// A register that each iteration recomputes from loop-invariant values (the address of a variable,
// a maximum of two bounds) has one value throughout: the plan names it, because it may not be set
// yet when the loop is entered. Widened 32-bit sums and 32-bit addresses (shared memory) are
// assumed not to wrap; the plan lists them, so that a test can confirm it first.
#include "ir/ir.h"

typedef struct Value {
  IrLinear sum;
  uint8_t bytes;
} Value;  // bytes 4: modulo 2^32
typedef struct Widening {
  IrLinear sum;
  bool is_signed;
} Widening;  // of this iteration
typedef struct Use {
  uint32_t instr;
  unsigned operand;
  IrLinear address;
} Use;

typedef struct Run {
  const IrCfg *c;
  const IrDefs *defs;
  const IrLoop *loop;
  Arena arena;
  bool *inside, *written;  // by block; by register: written in the loop
  bool *recomputed;        // by register: see IrLoopPlan; NULL: not asked for
  Value **out;             // by block: registers at its end
  VEC(Widening) widenings;
  VEC(Use) uses;
  Value at_test[2];
  PtxMod comparison;
  bool has_test;
} Run;

static const IrLinear unknown = {.known = false};

static IrLinear number(int64_t n) { return (IrLinear){.known = true, .constant = n}; }

IrLinear ir_linear_add(IrLinear a, IrLinear b, int64_t scale) {
  int64_t moved;
  if (!a.known || !b.known || __builtin_mul_overflow(b.constant, scale, &moved) ||
      __builtin_add_overflow(a.constant, moved, &a.constant))
    return unknown;
  for (unsigned i = 0; i < b.n; i++) {
    unsigned k = 0;
    while (k < a.n &&
           (a.terms[k].reg != b.terms[i].reg || a.terms[k].widened != b.terms[i].widened))
      k++;
    if (k == IR_LINEAR_TERMS) return unknown;
    if (k == a.n) {
      a.terms[a.n++] = b.terms[i];
      a.terms[k].factor = 0;
    }
    if (__builtin_mul_overflow(b.terms[i].factor, scale, &moved) ||
        __builtin_add_overflow(a.terms[k].factor, moved, &a.terms[k].factor))
      return unknown;
    if (!a.terms[k].factor) a.terms[k] = a.terms[--a.n];
  }
  return a;
}

static bool same(IrLinear a, IrLinear b) {
  if (!a.known || !b.known) return a.known == b.known;
  IrLinear d = ir_linear_add(a, b, -1);
  return d.known && !d.n && !d.constant;
}

// --- one instruction ---

static Value of_register(const PtxReg *r) {
  uint8_t bytes = (uint8_t)ptx_type_size(r->type);
  Value v = {.bytes = bytes, .sum = {.known = bytes == 4 || bytes == 8, .n = 1}};
  v.sum.terms[0] = (IrTerm){r, IR_NOT_WIDENED, 1};
  return v;
}

static Value operand(const Value *now, const PtxOperand *o, uint8_t bytes) {
  if (o->kind == OPD_INT) return (Value){number(bytes == 4 ? (int32_t)o->imm : o->imm), bytes};
  if (o->kind == OPD_REG && o->selector == SEL_NONE) return now[o->reg->id];
  return (Value){unknown, bytes};
}

static bool is_number(const Value *v, int64_t *n) {
  *n = v->sum.constant;
  return v->sum.known && !v->sum.n;
}

// A 32-bit sum as a 64-bit one, provided it does not leave 32 bits.
static Value widen(Run *r, Value v, bool is_signed) {
  Value w = {v.sum, 8};
  if (!v.sum.known) return w;
  if (!v.sum.n)
    w.sum.constant = is_signed ? (int32_t)v.sum.constant : (int64_t)(uint32_t)v.sum.constant;
  for (unsigned i = 0; i < w.sum.n; i++)
    w.sum.terms[i].widened = is_signed ? IR_SIGN_EXTENDED : IR_ZERO_EXTENDED;
  bool plain = v.sum.n == 1 && v.sum.terms[0].factor == 1 && !v.sum.constant;
  // nothing was computed: nothing can wrap
  if (!v.sum.n || (plain && !r->written[v.sum.terms[0].reg->id])) return w;
  for (unsigned i = 0; i < r->widenings.len; i++)
    if (r->widenings.data[i].is_signed == is_signed && same(r->widenings.data[i].sum, w.sum))
      return w;
  vec_push(&r->widenings, (Widening){w.sum, is_signed});
  return w;
}

static Value times(Value v, int64_t factor) {
  return (Value){ir_linear_add(number(0), v.sum, factor), v.bytes};
}

static bool is_integer(const PtxInstr *in) {
  return in->ntypes && ptx_type_kind(in->types[0]) != KIND_FLOAT &&
         (ptx_type_size(in->types[0]) == 4 || ptx_type_size(in->types[0]) == 8) &&
         !ptx_has(in, MOD_SAT) && !ptx_has(in, MOD_CC) && !ptx_has(in, MOD_HI);
}

static Value product(Run *r, const Value *now, const PtxInstr *in, uint8_t bytes) {
  Value a = operand(now, &in->ops[1], bytes), b = operand(now, &in->ops[2], bytes);
  int64_t n;
  if (!is_number(&b, &n)) {
    Value swap = a;
    a = b;
    b = swap;
    if (!is_number(&b, &n)) return (Value){unknown, bytes};
  }
  bool is_signed = ptx_type_kind(in->types[0]) == KIND_SIGNED;
  if (!ptx_has(in, MOD_WIDE)) return times(a, n);
  if (bytes != 4) return (Value){unknown, 8};
  return times(widen(r, a, is_signed), is_signed ? n : (int64_t)(uint32_t)n);
}

static Value result(Run *r, const Value *now, const PtxInstr *in) {
  uint8_t bytes = in->ntypes ? (uint8_t)ptx_type_size(in->types[0]) : 0;
  Value none = {unknown, bytes};
  switch (ptx_op_result(in->op)) {
    case RESULT_COPY:
      return in->nops == 2 && in->ops[0].kind == OPD_REG ? operand(now, &in->ops[1], bytes) : none;
    case RESULT_ADDRESS: return operand(now, &in->ops[1], bytes);
    case RESULT_ADD:
    case RESULT_SUB: {
      if (!is_integer(in)) return none;
      Value a = operand(now, &in->ops[1], bytes), b = operand(now, &in->ops[2], bytes);
      return (Value){ir_linear_add(a.sum, b.sum, ptx_op_result(in->op) == RESULT_ADD ? 1 : -1),
                     bytes};
    }
    case RESULT_MUL: return is_integer(in) ? product(r, now, in, bytes) : none;
    case RESULT_MAD: {
      if (!is_integer(in)) return none;
      Value p = product(r, now, in, bytes), c = operand(now, &in->ops[3], p.bytes);
      return (Value){ir_linear_add(p.sum, c.sum, 1), p.bytes};
    }
    case RESULT_SHL: {
      Value a = operand(now, &in->ops[1], bytes), by = operand(now, &in->ops[2], 4);
      int64_t n;
      return is_number(&by, &n) && n >= 0 && n < 8 * bytes - 1 ? times(a, (int64_t)1 << n) : none;
    }
    case RESULT_CONVERT: {
      if (in->ntypes != 2 || ptx_type_kind(in->types[0]) == KIND_FLOAT ||
          ptx_type_kind(in->types[1]) == KIND_FLOAT || ptx_has(in, MOD_SAT))
        return none;
      unsigned from = ptx_type_size(in->types[1]);
      Value a = operand(now, &in->ops[1], (uint8_t)from);
      if (a.bytes != from) return none;  // the lower part of a wider register
      if (bytes == 8 && from == 4) return widen(r, a, ptx_type_kind(in->types[1]) == KIND_SIGNED);
      return bytes == from && (bytes == 4 || bytes == 8) ? a : none;
    }
    default: return none;
  }
}

typedef struct Definition {
  Value *now;
  Value value;
  bool guarded, first;
} Definition;

static void define(void *ctx, PtxReg **reg, bool is_def) {
  Definition *d = ctx;
  if (!is_def) return;
  uint8_t bytes = (uint8_t)ptx_type_size((*reg)->type);
  // a cvt may write a wider register
  bool whole = d->first && !d->guarded && d->value.bytes == bytes;
  d->now[(*reg)->id] = whole ? d->value : (Value){unknown, bytes};
  d->first = false;
}

static void note_addresses(Run *r, const Value *now, uint32_t i) {
  const PtxInstr *in = r->c->instrs[i];
  if (!(ptx_op_classes(in) & (CLASS_LOAD | CLASS_STORE | CLASS_ATOMIC)) || in->space == SPACE_PARAM)
    return;
  for (unsigned k = 0; k < in->nops; k++) {
    const PtxOperand *o = &in->ops[k];
    if (o->kind != OPD_ADDR || !o->nlist) continue;
    Value v = operand(now, &o->list[0], 8);
    if (v.bytes == 4 && in->space == SPACE_SHARED && r->recomputed) v = widen(r, v, true);
    IrLinear a = v.bytes == 8 ? ir_linear_add(v.sum, number(o->imm), 1) : unknown;
    vec_push(&r->uses, (Use){i, k, a});
  }
}

// --- recomputed values ---

bool ir_is_simple_arithmetic(const PtxInstr *in) {
  if (in->guard || in->nops < 2 || in->ops[0].kind != OPD_REG || in->ops[0].selector != SEL_NONE ||
      in->ops[0].reg->vector || ptx_has(in, MOD_CC))
    return false;
  switch (ptx_op_result(in->op)) {
    case RESULT_ADD:
    case RESULT_SUB:
    case RESULT_MUL:
    case RESULT_MAD:
    case RESULT_SHL:
    case RESULT_SHR:
    case RESULT_AND:
    case RESULT_OR:
    case RESULT_XOR:
    case RESULT_CONVERT:
    case RESULT_COPY:
    case RESULT_ADDRESS:
    case RESULT_MIN:
    case RESULT_MAX:
    case RESULT_NEG:
    case RESULT_SELECT: return true;
    default: return false;
  }
}

static bool is_pure(const PtxInstr *in) {
  if (!ir_is_simple_arithmetic(in) || ptx_op_result(in->op) == RESULT_SELECT) return false;
  for (unsigned k = 0; k < in->nops; k++) {
    const PtxOperand *o = &in->ops[k];
    bool is_number = o->kind == OPD_REG && o->selector == SEL_NONE && !o->reg->vector &&
                     (ptx_type_size(o->reg->type) == 4 || ptx_type_size(o->reg->type) == 8) &&
                     o->reg->type != TYPE_PRED;
    bool is_variable = o->kind == OPD_VAR && o->var->space != SPACE_REG &&
                       o->var->space != SPACE_PARAM;
    bool is_fixed = o->kind == OPD_SREG &&
                    (o->sreg == SREG_TID || o->sreg == SREG_NTID || o->sreg == SREG_CTAID ||
                     o->sreg == SREG_NCTAID || o->sreg == SREG_LANEID);
    if (!is_number && !is_variable && !is_fixed && o->kind != OPD_INT) return false;
  }
  return true;
}

static bool is_recomputed(const Run *r, const PtxReg *reg, int depth) {
  enum { DEEPEST = 6 };
  const PtxInstr *in = ir_single_def(r->defs, reg);
  if (r->recomputed[reg->id]) return true;
  if (!in || depth == DEEPEST || !is_pure(in)) return false;
  for (unsigned k = 1; k < in->nops; k++)
    if (in->ops[k].kind == OPD_REG && r->written[in->ops[k].reg->id] &&
        !is_recomputed(r, in->ops[k].reg, depth + 1))
      return false;
  return r->recomputed[reg->id] = true;
}

static void run_instruction(Run *r, PtxInstr *in, Value *now) {
  Definition d = {now,
                  in->nops && in->ops[0].kind == OPD_REG ? result(r, now, in) : (Value){unknown, 8},
                  in->guard != NULL, true};
  if (r->recomputed && !d.value.sum.known && is_pure(in) && is_recomputed(r, in->ops[0].reg, 0))
    d.value = of_register(in->ops[0].reg);
  ptx_visit_regs(in, define, &d);
}

static void run_block(Run *r, uint32_t block, Value *now) {
  const IrBlock *b = &r->c->blocks[block];
  for (uint32_t i = b->first; i < b->end; i++) {
    note_addresses(r, now, i);
    run_instruction(r, r->c->instrs[i], now);
  }
}

// --- the loop ---

static void mark_written(void *ctx, PtxReg **reg, bool is_def) {
  if (is_def) ((bool *)ctx)[(*reg)->id] = true;
}

// The only edge into the header from outside, and the only one from inside.
static bool find_edges(const Run *r, uint32_t *entry, uint32_t *latch) {
  const IrBlock *h = &r->c->blocks[r->loop->header];
  *entry = *latch = IR_NONE;
  for (uint32_t i = 0; i < h->npred; i++) {
    uint32_t *slot = r->inside[h->pred[i]] ? latch : entry;
    if (*slot != IR_NONE) return false;
    *slot = h->pred[i];
  }
  return *entry != IR_NONE && *latch != IR_NONE;
}

// The registers at the beginning of a block: in the header, as they are at the loop's entry;
// elsewhere, as far as its predecessors agree.
static void enter_block(const Run *r, uint32_t block, Value *now) {
  const IrBlock *b = &r->c->blocks[block];
  uint32_t n = r->c->func->nregs;
  if (block == r->loop->header) {
    for (uint32_t k = 0; k < n; k++) now[k] = of_register(r->c->func->regs[k]);
    return;
  }
  bool first = true;
  for (uint32_t i = 0; i < b->npred; i++) {
    const Value *from = r->inside[b->pred[i]] ? r->out[b->pred[i]] : NULL;
    if (!from) continue;
    for (uint32_t k = 0; k < n; k++) {
      if (first) now[k] = from[k];
      else if (!same(now[k].sum, from[k].sum)) now[k].sum = unknown;
    }
    first = false;
  }
}

static const PtxInstr *last_write(const IrCfg *c, const IrBlock *b, const PtxReg *r,
                                  uint32_t *where) {
  for (uint32_t i = b->end; i-- > b->first;) {
    const PtxInstr *in = c->instrs[i];
    if (in->nops && in->ops[0].kind == OPD_REG && in->ops[0].reg == r) {
      *where = i;
      return in;
    }
  }
  return NULL;
}

static PtxMod comparison_of(const PtxInstr *in) {
  static const PtxMod all[] = {MOD_EQ, MOD_NE, MOD_LT, MOD_LE, MOD_GT, MOD_GE};
  for (unsigned i = 0; i < ARRAY_LEN(all); i++)
    if (ptx_has(in, all[i])) return all[i];
  return 0;
}

static PtxMod negated(PtxMod m) {
  switch (m) {
    case MOD_EQ: return MOD_NE;
    case MOD_NE: return MOD_EQ;
    case MOD_LT: return MOD_GE;
    case MOD_GE: return MOD_LT;
    case MOD_GT: return MOD_LE;
    case MOD_LE: return MOD_GT;
    default: return 0;
  }
}

// LLVM writes a back edge as  @p bra Leave;  bra Header:  the second branch is a block of its own.
static bool is_only_branch(const Run *r, uint32_t block) {
  const IrBlock *b = &r->c->blocks[block];
  const PtxInstr *in = b->end == b->first + 1 ? r->c->instrs[b->first] : NULL;
  return in && in->op == OP_BRA && !in->guard && b->npred == 1;
}

// Finds the back branch at the end of the latch, and the setp in the same block that decides it.
// Evaluates the compared values again from the beginning of the block, because they may change
// after the setp.
static void find_test(Run *r, uint32_t latch, Value *scratch) {
  uint32_t back = r->loop->header;
  if (is_only_branch(r, latch)) {
    back = latch;
    latch = r->c->blocks[latch].pred[0];
  }
  const IrBlock *b = &r->c->blocks[latch];
  const PtxInstr *branch = b->end > b->first ? r->c->instrs[b->end - 1] : NULL;
  if (!branch || branch->op != OP_BRA || !branch->guard || b->nsucc != 2) return;
  bool back_when_taken = b->succ[0] == back;
  uint32_t at;
  const PtxInstr *test = last_write(r->c, b, branch->guard, &at);
  if (!test || test->op != OP_SETP || test->guard || test->nops != 3 || test->ntypes != 1 ||
      ptx_type_kind(test->types[0]) == KIND_FLOAT)
    return;
  uint8_t bytes = (uint8_t)ptx_type_size(test->types[0]);
  if (bytes != 4 && bytes != 8) return;
  enter_block(r, latch, scratch);
  // lists no new widenings: run_block has listed them
  for (uint32_t i = b->first; i < at; i++) run_instruction(r, r->c->instrs[i], scratch);
  bool is_signed = ptx_type_kind(test->types[0]) != KIND_UNSIGNED;
  for (int k = 0; k < 2; k++) {
    Value v = operand(scratch, &test->ops[k + 1], bytes);
    if (bytes == 4 && test->ops[k + 1].kind == OPD_INT && !is_signed)
      v.sum.constant = (uint32_t)v.sum.constant;
    r->at_test[k] = bytes == 4 ? widen(r, v, is_signed) : v;
  }
  r->comparison = comparison_of(test);
  if (back_when_taken == branch->guard_negated) r->comparison = negated(r->comparison);
  r->has_test = r->comparison != 0;
}

// --- from one iteration to all ---

// The step of a sum: the amount that an iteration adds to it.
static bool step_of(const Run *r, const Value *end, IrLinear sum, IrLinear *step) {
  *step = number(0);
  if (!sum.known) return false;
  for (unsigned i = 0; i < sum.n; i++) {
    const PtxReg *reg = sum.terms[i].reg;
    if (!r->written[reg->id]) continue;
    IrLinear moved = ir_linear_add(end[reg->id].sum, of_register(reg).sum, -1);
    if (!moved.known) return false;
    for (unsigned k = 0; k < moved.n; k++) {
      if (r->written[moved.terms[k].reg->id]) return false;
      moved.terms[k].widened = sum.terms[i].widened;
    }
    *step = ir_linear_add(*step, moved, sum.terms[i].factor);
    if (!step->known) return false;
  }
  return true;
}

// The 32-bit register that this instruction widens, if the loop does not change it, as a term.
static bool widened_term(const Run *r, const PtxInstr *in, IrTerm *out) {
  PtxType from = in && in->ntypes ? in->types[in->ntypes - 1] : TYPE_F32;
  const PtxOperand *o = in && in->nops > 1 ? &in->ops[1] : NULL;
  bool widens = in && (in->op == OP_CVT ? in->ntypes == 2 && ptx_type_size(in->types[0]) == 8
                                        : in->op == OP_MUL && ptx_has(in, MOD_WIDE));
  if (!widens || in->guard || ptx_type_size(from) != 4 || ptx_type_kind(from) == KIND_FLOAT ||
      o->kind != OPD_REG || o->selector != SEL_NONE || ptx_type_size(o->reg->type) != 4 ||
      r->written[o->reg->id] || !ir_single_def(r->defs, o->reg))
    return false;
  bool is_signed = ptx_type_kind(from) == KIND_SIGNED;
  *out = (IrTerm){o->reg, is_signed ? IR_SIGN_EXTENDED : IR_ZERO_EXTENDED, 1};
  return true;
}

// A register that holds such a term times a number: mul.wide, or shl of a cvt.
static bool product_term(const Run *r, const PtxReg *reg, IrTerm *out) {
  const PtxInstr *in = ir_single_def(r->defs, reg);
  if (!in || r->written[reg->id] || in->guard || in->nops != 3 || in->ops[2].kind != OPD_INT)
    return false;
  int64_t n = in->ops[2].imm;
  if (in->op == OP_MUL && n > 0 && n < INT32_MAX) {
    if (!widened_term(r, in, out)) return false;
    out->factor = n;
    return true;
  }
  if (in->op != OP_SHL || in->ops[1].kind != OPD_REG || n < 0 || n > 30 ||
      !widened_term(r, ir_single_def(r->defs, in->ops[1].reg), out))
    return false;
  out->factor = (int64_t)1 << n;
  return true;
}

// Expresses the step of a pointer by the step of the loop's counter: for  i += n;  p += 4 * n  LLVM
// computes the product before the loop.
static IrLinear in_widened_terms(const Run *r, IrLinear step, bool *changed) {
  IrLinear out = number(step.constant);
  if (!r->defs) return step;
  for (unsigned i = 0; i < step.n; i++) {
    IrLinear term = {.known = true, .n = 1};
    term.terms[0] = (IrTerm){step.terms[i].reg, step.terms[i].widened, 1};
    if (step.terms[i].widened == IR_NOT_WIDENED)
      *changed |= product_term(r, step.terms[i].reg, &term.terms[0]);
    int64_t factor = term.terms[0].factor;
    term.terms[0].factor = 1;
    if (__builtin_mul_overflow(factor, step.terms[i].factor, &factor)) return step;
    out = ir_linear_add(out, term, factor);
    if (!out.known) return step;
  }
  return out;
}

static void fill_plan(Run *r, const Value *end, IrLoopPlan *p) {
  IrLinear distance = ir_linear_add(r->at_test[0].sum, r->at_test[1].sum, -1), step;
  if (!r->has_test || !step_of(r, end, distance, &step) || (!step.n && !step.constant)) return;
  p->distance = distance;
  p->distance_moves = step;
  p->distance_step = step.n ? 0 : step.constant;
  p->goes_on = r->comparison;
  p->accesses = ARENA_ARRAY(&p->arena, IrLoopAccess, r->uses.len + 1);
  p->widened = ARENA_ARRAY(&p->arena, IrLoopWidened, r->widenings.len + 1);
  for (uint32_t i = 0; i < r->widenings.len; i++) {
    const Widening *w = &r->widenings.data[i];
    if (!step_of(r, end, w->sum, &step)) continue;  // addresses that use it are unknown as well
    p->widened[p->nwidened++] = (IrLoopWidened){w->sum, step, w->is_signed};
  }
  for (uint32_t i = 0; i < r->uses.len; i++) {
    const Use *u = &r->uses.data[i];
    if (!step_of(r, end, u->address, &step)) continue;
    if (!p->distance_step) step = in_widened_terms(r, step, &p->by_products);
    p->accesses[p->naccesses++] = (IrLoopAccess){u->instr, u->operand, u->address, step};
  }
  p->counted = true;
}

bool ir_loop_plan(const IrCfg *c, uint32_t loop, IrLoopPlan *p) {
  return ir_loop_plan_shared(c, NULL, loop, p);
}

bool ir_loop_plan_shared(const IrCfg *c, const IrDefs *defs, uint32_t loop, IrLoopPlan *p) {
  *p = (IrLoopPlan){.loop = loop};
  for (uint32_t i = 0; i < c->nloops; i++)
    if (c->loops[i].parent == loop) return false;
  Run r = {.c = c, .defs = defs, .loop = &c->loops[loop]};
  uint32_t nregs = c->func->nregs, latch;
  r.inside = ARENA_ARRAY(&r.arena, bool, c->nblocks);
  r.written = ARENA_ARRAY(&r.arena, bool, nregs + 1);
  r.out = ARENA_ARRAY(&r.arena, Value *, c->nblocks);
  if (defs) r.recomputed = p->recomputed = ARENA_ARRAY(&p->arena, bool, nregs + 1);
  for (uint32_t i = 0; i < r.loop->nblocks; i++) {
    const IrBlock *b = &c->blocks[r.loop->blocks[i]];
    r.inside[r.loop->blocks[i]] = true;
    for (uint32_t k = b->first; k < b->end; k++)
      ptx_visit_regs(c->instrs[k], mark_written, r.written);
  }
  if (find_edges(&r, &p->entry, &latch)) {
    for (uint32_t i = 0; i < c->norder; i++) {
      uint32_t b = c->order[i];
      if (!r.inside[b]) continue;
      Value *now = r.out[b] = ARENA_ARRAY(&r.arena, Value, nregs + 1);
      enter_block(&r, b, now);
      run_block(&r, b, now);
    }
    find_test(&r, latch, ARENA_ARRAY(&r.arena, Value, nregs + 1));
    if (r.has_test) fill_plan(&r, r.out[latch], p);
  }
  vec_free(&r.widenings);
  vec_free(&r.uses);
  arena_free(&r.arena);
  if (!p->counted) ir_loop_plan_free(p);
  return p->counted;
}

void ir_loop_plan_free(IrLoopPlan *p) { arena_free(&p->arena); }
