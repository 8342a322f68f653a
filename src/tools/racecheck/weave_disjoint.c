// Accesses that cannot race: every thread only accesses bytes of its own.
//
// This depends on the launch: on the grid, and on parameters such as row lengths and loop bounds.
// So addresses are expressed here as terms over the thread's coordinates and the parameters,
// together with the conditions under which the access is made; host_disjoint.c evaluates them for a
// launch.
//
// A register that is written at several places holds the value of one of the writes that reach its
// use (merges), or is the counter of a loop. 32-bit sums are assumed not to overflow, except that
// they must fit where they are widened.
#include "tools/racecheck/internal.h"

enum { DEPTH = 40, MOST_TERMS = 1500, MOST_WRITES = 4 };
typedef struct Known {
  const PtxReg *reg;
  uint32_t block, at, fewer;
  uint16_t term;
} Known;
typedef struct Apart {
  const RaceCheck *k;
  const IrCfg *cfg;
  VEC(RaceTerm) terms;
  VEC(Known) known;       // uses that were evaluated
  uint16_t *count_of;     // by loop: its RACE_COUNT term, plus 1
  uint32_t *seen, stamp;  // by block: of the search for writes
} Apart;
// A use is before instruction `at`. fewer: a loop whose last iteration does not count, since no
// further iteration uses the value it leaves; IR_NONE: none.

static uint16_t add(Apart *a, RaceTerm t) {
  if (a->terms.len >= MOST_TERMS) return 0;
  for (uint32_t i = 0; i < a->terms.len; i++)
    if (!memcmp(&a->terms.data[i], &t, sizeof t)) return (uint16_t)i;
  vec_push(&a->terms, t);
  return (uint16_t)(a->terms.len - 1);
}
static uint16_t anything(void) { return 0; }  // the first term
static uint16_t term(Apart *a, RaceTermOp op, uint16_t x, uint16_t y, int64_t imm) {
  RaceTerm t;
  memset(&t, 0, sizeof t);  // terms are compared as bytes
  t.op = op;
  t.a = x;
  t.b = y;
  t.imm = imm;
  return add(a, t);
}
static uint16_t number(Apart *a, int64_t n) { return term(a, RACE_NUMBER, 0, 0, n); }

// --- which writes reach a use ---

typedef struct Writes {
  uint32_t at[MOST_WRITES], n;
  bool all;
} Writes;

static bool writes(const PtxInstr *in, const PtxReg *r) {
  if (!in->nops) return false;
  const PtxOperand *o = &in->ops[0];
  if (o->kind == OPD_REG && o->reg == r) return in->op != OP_ST && in->op != OP_RED;
  for (unsigned i = 0; i < o->nlist; i++)
    if (o->kind != OPD_ADDR && o->list[i].kind == OPD_REG && o->list[i].reg == r) return true;
  return o->kind != OPD_ADDR && o->kind != OPD_REG && in->nops > 1 && in->ops[1].kind == OPD_REG &&
         in->ops[1].reg == r && in->op == OP_CALL;
}

static void search(Apart *a, const PtxReg *r, uint32_t block, uint32_t end, Writes *w) {
  const IrBlock *b = &a->cfg->blocks[block];
  for (uint32_t i = end; i-- > b->first;) {
    if (!writes(a->cfg->instrs[i], r)) continue;
    if (w->n == MOST_WRITES) w->all = false;
    else w->at[w->n++] = i;
    if (!a->cfg->instrs[i]->guard) return;
  }
  if (!b->npred) w->all = false;  // on this path it is never written
  for (uint32_t i = 0; i < b->npred && w->all; i++) {
    if (a->seen[b->pred[i]] == a->stamp || a->cfg->blocks[b->pred[i]].rpo == IR_NONE) continue;
    a->seen[b->pred[i]] = a->stamp;
    search(a, r, b->pred[i], a->cfg->blocks[b->pred[i]].end, w);
  }
}

static Writes find_writes(Apart *a, const PtxReg *r, uint32_t block, uint32_t at) {
  Writes w = {.all = true};
  a->stamp++;
  search(a, r, block, at, &w);
  for (uint32_t i = 0; i < w.n; i++)  // a guarded write and its block may be found twice
    for (uint32_t k = i + 1; k < w.n; k++)
      if (w.at[i] == w.at[k]) w.at[k--] = w.at[--w.n];
  return w;
}

// --- instructions ---

static uint16_t use(Apart *a, const PtxReg *r, uint32_t block, uint32_t at, uint32_t fewer,
                    unsigned depth);

static uint16_t of_special(Apart *a, const PtxOperand *o) {
  int axis = o->selector == SEL_X ? 0 : o->selector == SEL_Y ? 1 : o->selector == SEL_Z ? 2 : -1;
  if (axis < 0) return anything();
  switch (o->sreg) {
    case SREG_TID: return term(a, RACE_COORDINATE, 0, 0, axis);
    case SREG_CTAID: return term(a, RACE_COORDINATE, 0, 0, 3 + axis);
    case SREG_NTID: return term(a, RACE_EXTENT, 0, 0, axis);
    case SREG_NCTAID: return term(a, RACE_EXTENT, 0, 0, 3 + axis);
    default: return anything();
  }
}

static uint16_t of_operand(Apart *a, const PtxOperand *o, unsigned bytes, uint32_t at,
                           uint32_t fewer, unsigned depth) {
  if (o->kind == OPD_INT) return number(a, bytes == 4 ? (int32_t)o->imm : o->imm);
  if (o->kind == OPD_SREG) return of_special(a, o);
  // of several variables only one is looked at
  if (o->kind == OPD_VAR && o->var->space == SPACE_SHARED) return number(a, o->imm);
  if (o->kind == OPD_REG && o->selector == SEL_NONE && !o->negated)
    return use(a, o->reg, a->cfg->block_of[at], at, fewer, depth);
  return anything();
}

static uint16_t of_param(Apart *a, const PtxInstr *in) {
  const PtxOperand *o = &in->ops[1];
  unsigned bytes = in->ntypes ? ptx_type_size(in->types[0]) : 0;
  if (in->space != SPACE_PARAM || o->kind != OPD_ADDR || !o->nlist || o->list[0].kind != OPD_VAR ||
      !ir_is_kernel_param(a->k->body->func, &o->list[0]))
    return anything();
  uint32_t param = facts_param(a->k->body, o->list[0].var);
  int64_t offset = o->imm + o->list[0].imm;
  if (param > 255 || offset < 0 || offset > UINT16_MAX || (bytes != 4 && bytes != 8) ||
      ptx_type_kind(in->types[0]) == KIND_FLOAT)
    return anything();
  RaceTerm t;
  memset(&t, 0, sizeof t);
  t.op = RACE_PARAMETER;
  t.a = (uint16_t)param;
  t.b = (uint16_t)offset;
  t.bytes = (uint8_t)bytes;
  t.imm = (int64_t)(o->list[0].var->param_offset + (uint64_t)offset);
  return add(a, t);
}

static bool is_integer(const PtxInstr *in) {
  return in->ntypes && ptx_type_kind(in->types[0]) != KIND_FLOAT &&
         ptx_type_size(in->types[0]) >= 4 && !ptx_has(in, MOD_SAT) && !ptx_has(in, MOD_CC) &&
         !ptx_has(in, MOD_HI);
}

static uint16_t widened(Apart *a, uint16_t x, PtxType t) {
  return term(a, ptx_type_kind(t) == KIND_SIGNED ? RACE_SIGN_EXTENDED : RACE_ZERO_EXTENDED, x, 0,
              0);
}

static uint16_t of_instr(Apart *a, uint32_t i, uint32_t fewer, unsigned depth) {
  const PtxInstr *in = a->cfg->instrs[i];
  unsigned bytes = in->ntypes ? ptx_type_size(in->types[0]) : 0;
  if (!depth-- || in->guard || !in->nops || in->ops[0].kind != OPD_REG) return anything();
#define OPERAND(n) of_operand(a, &in->ops[n], bytes, i, fewer, depth)
  switch (ptx_op_result(in->op)) {
    case RESULT_COPY:
    case RESULT_ADDRESS: return in->nops == 2 ? OPERAND(1) : anything();
    case RESULT_CONVERT: {
      if (in->ntypes != 2 || !is_integer(in) || ptx_type_kind(in->types[1]) == KIND_FLOAT ||
          ptx_type_size(in->types[1]) < 4)
        return anything();
      uint16_t x = of_operand(a, &in->ops[1], ptx_type_size(in->types[1]), i, fewer, depth);
      if (bytes < ptx_type_size(in->types[1])) {  // truncated again
        RaceTerm t = a->terms.data[x];
        return t.op == RACE_SIGN_EXTENDED || t.op == RACE_ZERO_EXTENDED ? t.a : anything();
      }
      return bytes == 8 && ptx_type_size(in->types[1]) == 4 ? widened(a, x, in->types[1]) : x;
    }
    case RESULT_LOAD: return of_param(a, in);
    case RESULT_ADD:
    case RESULT_SUB:
      return is_integer(in)
                 ? term(a, ptx_op_result(in->op) == RESULT_ADD ? RACE_ADD : RACE_SUBTRACT,
                        OPERAND(1), OPERAND(2), 0)
                 : anything();
    case RESULT_MUL:
    case RESULT_MAD: {
      if (!is_integer(in)) return anything();
      uint16_t x = OPERAND(1), y = OPERAND(2);
      if (ptx_has(in, MOD_WIDE)) {
        x = widened(a, x, in->types[0]);
        y = widened(a, y, in->types[0]);
      }
      uint16_t product = term(a, RACE_MULTIPLY, x, y, 0);
      if (ptx_op_result(in->op) == RESULT_MUL) return product;
      return term(a, RACE_ADD, product,
                  of_operand(a, &in->ops[3], ptx_has(in, MOD_WIDE) ? 8 : bytes, i, fewer, depth),
                  0);
    }
    case RESULT_SHL:
      if (in->ops[2].kind != OPD_INT || in->ops[2].imm < 0 || in->ops[2].imm > 31)
        return anything();
      return term(a, RACE_MULTIPLY, OPERAND(1), number(a, (int64_t)1 << in->ops[2].imm), 0);
    case RESULT_AND:
      return is_integer(in) ? term(a, RACE_AND, OPERAND(1), OPERAND(2), 0) : anything();
    case RESULT_OR:
      return is_integer(in) ? term(a, RACE_OR, OPERAND(1), OPERAND(2), 0) : anything();
    case RESULT_SHR:
      return is_integer(in) ? term(a, RACE_SHIFT_RIGHT, OPERAND(1), OPERAND(2), 0) : anything();
    case RESULT_MIN:
      return is_integer(in) ? term(a, RACE_LEAST, OPERAND(1), OPERAND(2), 0) : anything();
    case RESULT_MAX:
      return is_integer(in) ? term(a, RACE_MOST, OPERAND(1), OPERAND(2), 0) : anything();
    case RESULT_NOT:
      return is_integer(in) ? term(a, RACE_SUBTRACT, number(a, -1), OPERAND(1), 0) : anything();
    case RESULT_NEG:
      return is_integer(in) ? term(a, RACE_SUBTRACT, number(a, 0), OPERAND(1), 0) : anything();
    default: return anything();
  }
#undef OPERAND
}

// --- loops ---

static uint16_t of_linear(Apart *a, const IrLinear *sum, uint32_t block, unsigned depth) {
  uint16_t all = number(a, sum->constant);
  for (unsigned i = 0; i < sum->n; i++) {
    uint16_t x = use(a, sum->terms[i].reg, block, a->cfg->blocks[block].end, IR_NONE, depth);
    if (sum->terms[i].widened)
      x = term(a,
               sum->terms[i].widened == IR_SIGN_EXTENDED ? RACE_SIGN_EXTENDED : RACE_ZERO_EXTENDED,
               x, 0, 0);
    all = term(a, RACE_ADD, all, term(a, RACE_MULTIPLY, x, number(a, sum->terms[i].factor), 0), 0);
  }
  return all;
}

// The maximal number of iterations of a loop.
static uint16_t turns(Apart *a, uint32_t loop, unsigned depth) {
  if (a->count_of[loop]) return (uint16_t)(a->count_of[loop] - 1);
  a->count_of[loop] = 1;  // unknown, until this function returns
  IrLoopPlan plan;
  uint16_t count = anything();
  if (ir_loop_plan(a->cfg, loop, &plan)) {
    if (plan.counted && plan.distance.known && plan.distance_step) {
      RaceTerm t;
      memset(&t, 0, sizeof t);
      t.op = RACE_COUNT;
      t.a = of_linear(a, &plan.distance, plan.entry, depth);
      t.imm = plan.distance_step;
      t.bytes = plan.goes_on == MOD_NE                             ? RACE_UNTIL
                : plan.goes_on == MOD_LT || plan.goes_on == MOD_GT ? RACE_BELOW
                : plan.goes_on == MOD_LE || plan.goes_on == MOD_GE ? RACE_UP_TO
                                                                   : 0;
      bool down = plan.goes_on == MOD_GT || plan.goes_on == MOD_GE;
      if (t.bytes && (t.bytes == RACE_UNTIL || down == (plan.distance_step < 0))) count = add(a, t);
    }
    ir_loop_plan_free(&plan);
  }
  a->count_of[loop] = (uint16_t)(count + 1);
  return count;
}

// The value that instruction i reads was written by the update, or outside of the loop.
static bool comes_from(Apart *a, const PtxReg *r, uint32_t i, uint32_t update, uint32_t loop) {
  Writes w = find_writes(a, r, a->cfg->block_of[i], i);
  for (uint32_t n = 0; n < w.n; n++)
    if (w.at[n] != update && ir_in_loop(a->cfg, a->cfg->block_of[w.at[n]], loop)) return false;
  return w.all;
}

// Copies, and values that were widened and truncated again.
static bool is_copy(const PtxInstr *in) {
  if (in->op == OP_MOV) return in->nops == 2;
  return in->op == OP_CVT && in->ntypes == 2 && is_integer(in) &&
         ptx_type_kind(in->types[1]) != KIND_FLOAT && ptx_type_size(in->types[1]) >= 4;
}

// Whether the update in the loop adds only constants to the register; *by: their sum.
static bool moves_by(Apart *a, const PtxReg *r, uint32_t update, uint32_t loop, int64_t *by) {
  uint32_t i = update;
  *by = 0;
  for (unsigned steps = 0; steps < 6; steps++) {
    const PtxInstr *in = a->cfg->instrs[i];
    if (in->guard || !in->nops || a->cfg->blocks[a->cfg->block_of[i]].loop != loop) return false;
    const PtxOperand *from;
    if (is_copy(in)) from = &in->ops[1];
    else if ((in->op == OP_ADD || (in->op == OP_SUB && in->ops[2].kind == OPD_INT)) &&
             is_integer(in)) {
      int n = in->ops[2].kind == OPD_INT ? 2 : 1;
      if (in->ops[n].kind != OPD_INT) return false;
      int64_t imm = ptx_type_size(in->types[0]) == 4 ? (int32_t)in->ops[n].imm : in->ops[n].imm;
      *by += in->op == OP_SUB ? -imm : imm;
      from = &in->ops[3 - n];
    } else return false;
    if (from->kind != OPD_REG || from->selector != SEL_NONE) return false;
    if (from->reg == r) return comes_from(a, r, i, update, loop);
    Writes w = find_writes(a, from->reg, a->cfg->block_of[i], i);
    if (!w.all || w.n != 1) return false;
    i = w.at[0];
  }
  return false;
}

// The term of the operand's value at instruction i, if it is constant in the loop; 0: it is not, or
// is not known.
static uint16_t of_fixed(Apart *a, const PtxOperand *o, uint32_t i, uint32_t loop, unsigned depth) {
  if (o->kind == OPD_INT) return number(a, o->imm);
  if (o->kind != OPD_REG || o->selector != SEL_NONE) return 0;
  Writes w = find_writes(a, o->reg, a->cfg->block_of[i], i);
  for (uint32_t n = 0; n < w.n; n++)
    if (ir_in_loop(a->cfg, a->cfg->block_of[w.at[n]], loop)) return 0;
  return w.all ? use(a, o->reg, a->cfg->block_of[i], i, IR_NONE, depth) : 0;
}

// The same for an update that adds registers which are constant in the loop: the sum of their
// terms; 0: it does not. An unrolled loop adds several times.
static uint16_t moves_by_registers(Apart *a, const PtxReg *r, uint32_t update, uint32_t loop,
                                   unsigned depth) {
  uint32_t i = update;
  uint16_t sum = 0;
  for (unsigned steps = 0; steps < 12; steps++) {
    const PtxInstr *in = a->cfg->instrs[i];
    const PtxOperand *from = &in->ops[1];
    if (in->guard || in->nops < 2 || a->cfg->blocks[a->cfg->block_of[i]].loop != loop) return 0;
    if (!is_copy(in)) {
      if (in->op != OP_ADD || in->nops != 3 || !is_integer(in)) return 0;
      uint16_t by = of_fixed(a, &in->ops[2], i, loop, depth);
      if (!by) {
        by = of_fixed(a, &in->ops[1], i, loop, depth);
        from = &in->ops[2];
      }
      if (!by) return 0;
      sum = sum ? term(a, RACE_ADD, sum, by, 0) : by;
    }
    if (from->kind != OPD_REG || from->selector != SEL_NONE) return 0;
    if (from->reg == r) return comes_from(a, r, i, update, loop) ? sum : 0;
    Writes w = find_writes(a, from->reg, a->cfg->block_of[i], i);
    if (!w.all || w.n != 1) return 0;
    i = w.at[0];
  }
  return 0;
}

// Whether each execution of the loop starts with the value that the one before left in the
// register.
static bool goes_on(Apart *a, const PtxReg *r, uint32_t loop) {
  const IrBlock *header = &a->cfg->blocks[a->cfg->loops[loop].header];
  for (uint32_t i = 0; i < header->npred; i++) {
    if (ir_in_loop(a->cfg, header->pred[i], loop)) continue;
    Writes w = find_writes(a, r, header->pred[i], a->cfg->blocks[header->pred[i]].end);
    for (uint32_t n = 0; n < w.n; n++)
      if (ir_in_loop(a->cfg, a->cfg->block_of[w.at[n]], loop)) return true;
    if (!w.all) return true;
  }
  return false;
}

// --- a register where it is used ---

static uint16_t merge(Apart *a, uint16_t x, uint16_t y, bool first) {
  return first ? y : term(a, RACE_MERGE, x, y, 0);
}

// Whether a path leads from one block to the other within an iteration of the loop.
static bool leads_to(Apart *a, uint32_t from, uint32_t to, uint32_t loop) {
  const IrBlock *b = &a->cfg->blocks[from];
  for (uint32_t i = 0; i < b->nsucc; i++) {
    uint32_t next = b->succ[i];
    if (next == a->cfg->loops[loop].header || a->seen[next] == a->stamp ||
        !ir_in_loop(a->cfg, next, loop))
      continue;
    a->seen[next] = a->stamp;
    if (next == to || leads_to(a, next, to, loop)) return true;
  }
  return false;
}

// Whether the use comes before the write within an iteration of the loop.
static bool comes_before(Apart *a, uint32_t block, uint32_t at, uint32_t write, uint32_t loop) {
  uint32_t from = a->cfg->block_of[write];
  if (block == from) return at <= write;
  a->stamp++;
  return !leads_to(a, from, block, loop);
}

static uint8_t in_every_turn(const Apart *a, uint32_t update, uint32_t loop) {
  const IrBlock *header = &a->cfg->blocks[a->cfg->loops[loop].header];
  for (uint32_t i = 0; i < header->npred; i++)
    if (ir_in_loop(a->cfg, header->pred[i], loop) &&
        !ir_dominates(a->cfg, a->cfg->block_of[update], header->pred[i]))
      return 0;
  return RACE_EVERY_TURN;
}

static uint16_t of_writes(Apart *a, const Known *u, const Writes *w, unsigned depth) {
  const PtxReg *r = u->reg;
  uint32_t block = u->block, at = u->at, fewer = u->fewer;
  uint32_t loop = a->cfg->blocks[block].loop, inside = 0, update = 0;
  if (w->n == 1) return of_instr(a, w->at[0], fewer, depth);
  uint16_t start = 0;
  for (uint32_t i = 0, outside = 0; i < w->n; i++)
    if (loop != IR_NONE && ir_in_loop(a->cfg, a->cfg->block_of[w->at[i]], loop)) {
      inside++;
      update = w->at[i];
    } else start = merge(a, start, of_instr(a, w->at[i], IR_NONE, depth), !outside++);
  int64_t by;
  if (inside == 1 && comes_before(a, block, at, update, loop) &&
      moves_by(a, r, update, loop, &by)) {
    RaceTerm t;
    memset(&t, 0, sizeof t);
    t.op = RACE_STEPS;
    t.a = start;
    t.b = goes_on(a, r, loop) ? anything() : turns(a, loop, depth);
    t.imm = by;
    t.bytes = (uint8_t)((fewer == loop ? RACE_FEWER : 0) | in_every_turn(a, update, loop));
    t.loop = (uint8_t)MIN(loop, 255u);
    return add(a, t);
  }
  uint16_t step = inside == 1 && comes_before(a, block, at, update, loop) && !goes_on(a, r, loop)
                      ? moves_by_registers(a, r, update, loop, depth)
                      : 0;
  if (step) {
    RaceTerm t;
    memset(&t, 0, sizeof t);
    t.op = RACE_STRIDES;
    t.a = start;
    t.b = step;
    t.loop = (uint8_t)MIN(loop, 255u);
    t.bytes = in_every_turn(a, update, loop);
    return add(a, t);
  }
  for (uint32_t i = 0; i < w->n; i++)
    if (loop != IR_NONE && ir_in_loop(a->cfg, a->cfg->block_of[w->at[i]], loop))
      start = merge(
          a, start,
          of_instr(a, w->at[i], comes_before(a, block, at, w->at[i], loop) ? loop : fewer, depth),
          inside-- == w->n);
  return start;
}

static uint16_t use(Apart *a, const PtxReg *r, uint32_t block, uint32_t at, uint32_t fewer,
                    unsigned depth) {
  if (!depth || r->vector) return anything();
  for (uint32_t i = 0; i < a->known.len; i++) {
    const Known *k = &a->known.data[i];
    if (k->reg == r && k->block == block && k->at == at && k->fewer == fewer) return k->term;
  }
  uint32_t index = a->known.len;
  // a value that depends on itself in any other way is the top value
  Known known = {r, block, at, fewer, anything()};
  vec_push(&a->known, known);
  Writes w = find_writes(a, r, block, at);
  uint16_t t = w.all && w.n ? of_writes(a, &known, &w, depth - 1) : anything();
  a->known.data[index].term = t;
  return t;
}

// --- conditions ---

// Less than the minimum of two means less than each of them.
static void add_limit(const Apart *a, RaceReach *x, uint16_t less, uint16_t than) {
  RaceTerm t = a->terms.data[than];
  if (t.op == RACE_LEAST) {
    add_limit(a, x, less, t.a);
    add_limit(a, x, less, t.b);
    return;
  }
  if (x->nlimits < RACE_LIMITS && less && than) {
    x->limits[x->nlimits].less = less;
    x->limits[x->nlimits++].than = than;
  }
}

// The predicate has this value before instruction `at` of the block.
typedef struct Condition {
  const PtxReg *p;
  bool holds;
  uint32_t block, at;
} Condition;
static void add_condition(Apart *a, RaceReach *x, Condition c, unsigned depth) {
  bool holds = c.holds;
  Writes w = find_writes(a, c.p, c.block, c.at);
  if (!depth || !w.all || w.n != 1) return;
  const PtxInstr *in = a->cfg->instrs[w.at[0]];
  if (in->guard) return;
  if ((in->op == OP_OR && !holds) || (in->op == OP_AND && holds)) {
    for (unsigned i = 1; i < 3 && in->nops == 3; i++)
      if (in->ops[i].kind == OPD_REG)
        add_condition(a, x,
                      (Condition){in->ops[i].reg, holds != in->ops[i].negated,
                                  a->cfg->block_of[w.at[0]], w.at[0]},
                      depth - 1);
    return;
  }
  if (in->op == OP_NOT && in->nops == 2 && in->ops[1].kind == OPD_REG) {
    add_condition(a, x, (Condition){in->ops[1].reg, !holds, a->cfg->block_of[w.at[0]], w.at[0]},
                  depth - 1);
    return;
  }
  if (in->op != OP_SETP || in->nops != 3 || in->ops[0].kind != OPD_REG || !is_integer(in)) return;
  unsigned bytes = ptx_type_size(in->types[0]);
  uint16_t l = of_operand(a, &in->ops[1], bytes, w.at[0], IR_NONE, DEPTH),
           r = of_operand(a, &in->ops[2], bytes, w.at[0], IR_NONE, DEPTH), one = number(a, 1);
  bool lt = ptx_has(in, MOD_LT) || ptx_has(in, MOD_LO),
       le = ptx_has(in, MOD_LE) || ptx_has(in, MOD_LS),
       gt = ptx_has(in, MOD_GT) || ptx_has(in, MOD_HI),
       ge = ptx_has(in, MOD_GE) || ptx_has(in, MOD_HS);
  bool eq = holds ? ptx_has(in, MOD_EQ) : ptx_has(in, MOD_NE);
  if (eq) {
    add_limit(a, x, l, term(a, RACE_ADD, r, one, 0));
    add_limit(a, x, r, term(a, RACE_ADD, l, one, 0));
  } else if (holds ? lt : ge) add_limit(a, x, l, r);
  else if (holds ? le : gt) add_limit(a, x, l, term(a, RACE_ADD, r, one, 0));
  else if (holds ? gt : le) add_limit(a, x, r, l);
  else if (holds ? ge : lt) add_limit(a, x, r, term(a, RACE_ADD, l, one, 0));
}

static void add_conditions(Apart *a, RaceReach *x, uint32_t instr) {
  const IrCfg *c = a->cfg;
  const PtxInstr *in = c->instrs[instr];
  uint32_t block = c->block_of[instr];
  if (in->guard) add_condition(a, x, (Condition){in->guard, !in->guard_negated, block, instr}, 4);
  for (uint32_t d = c->blocks[block].idom, low = block; d != IR_NONE;
       low = d, d = c->blocks[d].idom) {
    const IrBlock *b = &c->blocks[d];
    if (b->nsucc != 2 || b->first == b->end) continue;
    const PtxInstr *last = c->instrs[b->end - 1];
    if (last->op != OP_BRA || !last->guard) continue;
    for (unsigned s = 0; s < 2; s++) {
      const IrBlock *next = &c->blocks[b->succ[s]];
      if (b->succ[0] == b->succ[1] || next->npred != 1 || !ir_dominates(c, b->succ[s], low))
        continue;
      add_condition(a, x, (Condition){last->guard, (s == 0) != last->guard_negated, d, b->end - 1},
                    4);
    }
  }
}

// A loop that goes back while its counter is below a limit: so it is below in every iteration but
// the first.
static void add_turn_limit(Apart *a, RaceReach *x, uint32_t loop) {
  const IrCfg *c = a->cfg;
  uint32_t at = c->loops[loop].header, latch = IR_NONE;
  const IrBlock *header = &c->blocks[at];
  for (uint32_t i = 0; i < header->npred; i++) {
    if (!ir_in_loop(c, header->pred[i], loop)) continue;
    if (latch != IR_NONE) return;
    latch = header->pred[i];
  }
  if (latch == IR_NONE || c->blocks[latch].nsucc != 2 ||
      c->blocks[latch].succ[0] == c->blocks[latch].succ[1])
    return;
  uint32_t last = c->blocks[latch].end - 1;
  const PtxInstr *branch = c->instrs[last];
  if (branch->op != OP_BRA || !branch->guard) return;
  bool holds = (c->blocks[latch].succ[0] == at) != branch->guard_negated;
  Writes w = find_writes(a, branch->guard, latch, last);
  if (!w.all || w.n != 1) return;
  const PtxInstr *test = c->instrs[w.at[0]];
  if (test->op != OP_SETP || test->guard || test->nops != 3 || test->ops[0].kind != OPD_REG ||
      test->ops[1].kind != OPD_REG || !is_integer(test))
    return;
  bool lt = ptx_has(test, MOD_LT) || ptx_has(test, MOD_LO),
       le = ptx_has(test, MOD_LE) || ptx_has(test, MOD_LS),
       gt = ptx_has(test, MOD_GT) || ptx_has(test, MOD_HI),
       ge = ptx_has(test, MOD_GE) || ptx_has(test, MOD_HS);
  if (!(holds ? lt || le : ge || gt)) return;
  const PtxReg *counter = test->ops[1].reg;
  Writes update = find_writes(a, counter, c->block_of[w.at[0]], w.at[0]);
  if (!update.all || update.n != 1 || !ir_in_loop(c, c->block_of[update.at[0]], loop)) return;
  uint16_t less = use(a, counter, at, header->first, IR_NONE, DEPTH),
           than = of_operand(a, &test->ops[2], ptx_type_size(test->types[0]), w.at[0], IR_NONE,
                             DEPTH);
  if (a->terms.data[less].op != RACE_STRIDES || a->terms.data[less].loop != MIN(loop, 255u)) return;
  uint32_t n = x->nlimits;
  add_limit(a, x, less, (holds ? le : gt) ? term(a, RACE_ADD, than, number(a, 1), 0) : than);
  if (x->nlimits > n) x->limits[n].later = true;
}

// --- all accesses through a pointer ---

static bool reach(Apart *a, const RaceAccess *x, RaceReach *out) {
  const PtxOperand *o = x->address;
  if (x->flags & WG_RACE_STRONG || o->nlist != 1) return false;
  *out = (RaceReach){.bytes = x->bytes, .writes = x->flags & WG_RACE_WRITE};
  uint16_t base = of_operand(a, &o->list[0], 8, x->instr, IR_NONE, DEPTH);
  if (!base) return false;
  out->address = term(a, RACE_ADD, base, number(a, o->imm), 0);
  uint32_t loop = a->cfg->blocks[a->cfg->block_of[x->instr]].loop;
  if (loop != IR_NONE) add_turn_limit(a, out, loop);
  add_conditions(a, out, x->instr);
  return out->address != 0;
}

// of: the record offset of a fact or group.
static RaceReaches settle(Apart *a, RacePlaceKind place, uint32_t of) {
  VEC(RaceReach) list = {0};
  bool known = true;
  for (uint32_t i = 0; known && i < a->k->accesses.len; i++) {
    const RaceAccess *x = &a->k->accesses.data[i];
    RaceReach r;
    if (x->place != place || (place == RACE_PARAM ? x->fact_at : x->group_at) != of) continue;
    known = reach(a, x, &r);
    if (known) vec_push(&list, r);
  }
  uint32_t n = known ? list.len : 0;
  RaceReach *kept = ARENA_ARRAY(&a->k->body->program->out->arena, RaceReach, n + 1);
  for (uint32_t i = 0; i < n; i++) kept[i] = list.data[i];
  vec_free(&list);
  return (RaceReaches){kept, n};
}

void race_find_private(RaceCheck *k) {
  Arena *scratch = &k->body->program->scratch;
  Apart a = {.k = k, .cfg = k->body->cfg};
  a.count_of = ARENA_ARRAY(scratch, uint16_t, a.cfg->nloops + 1);
  a.seen = ARENA_ARRAY(scratch, uint32_t, a.cfg->nblocks + 1);
  vec_push(&a.terms, ((RaceTerm){.op = RACE_ANYTHING}));
  RaceReaches *reaches = ARENA_ARRAY(&k->body->program->out->arena, RaceReaches, k->facts.len + 1);
  for (uint32_t i = 0; i < k->facts.len && !k->looks_up && !k->stores_anywhere; i++)
    reaches[i] = settle(&a, RACE_PARAM, k->facts.data[i].record_offset);
  RaceGroup *groups = ARENA_ARRAY(&k->body->program->out->arena, RaceGroup,
                                  k->shared_groups.len + 1);
  for (uint32_t i = 0; i < k->shared_groups.len; i++) {
    groups[i] = k->shared_groups.data[i];
    if (groups[i].needs_rehearsal) continue;
    groups[i].reaches = settle(&a, RACE_SHARED_MEMORY, groups[i].record_offset);
  }
  RaceKernel *out = race_kernel_of(k->body);
  RaceTerm *kept = ARENA_ARRAY(&k->body->program->out->arena, RaceTerm, a.terms.len);
  if (a.terms.len) memcpy(kept, a.terms.data, sizeof *kept * a.terms.len);
  out->terms = kept;
  out->nterms = a.terms.len;
  out->groups = groups;
  out->ngroups = k->shared_groups.len;
  out->reaches = reaches;
  out->nreaches = k->facts.len;
  vec_free(&a.terms);
  vec_free(&a.known);
}
