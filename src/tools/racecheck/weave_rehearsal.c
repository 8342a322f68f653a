// Extracts the part of a kernel that decides which bytes of shared memory each thread accesses, and
// when: addresses, branches, barriers, groups of asynchronous copies. Everything else is left out.
// If nothing in this part depends on data or on the block's number, all blocks behave alike, and
// the host finds out by executing it for one of them (host_rehearsal.c) whether threads of a block
// race.
#include "tools/racecheck/internal.h"

enum { MOST_STEPS = 20000 };
typedef struct Taking {
  const RaceCheck *k;
  const IrCfg *cfg;
  uint32_t *access;  // by instruction: index in RaceCheck.accesses, plus 1
  bool *needed;      // by PtxReg.id
  uint16_t *reg_of;  // by PtxReg.id: its number, plus 1
  uint32_t *start;   // by block: its first step
  const PtxVar *variables[RACE_MOST_VARIABLES];
  VEC(RaceStep) steps;
  RaceRehearsal *out;
  bool failed;
} Taking;

// --- which registers matter ---

typedef struct Marking {
  Taking *t;
  bool any, uses;
} Marking;

static void mark_use(void *ctx, PtxReg **reg, bool is_def) {
  Marking *m = ctx;
  if (is_def || m->t->needed[(*reg)->id]) return;
  m->t->needed[(*reg)->id] = m->any = true;
}
static void find_needed_def(void *ctx, PtxReg **reg, bool is_def) {
  Marking *m = ctx;
  m->uses |= is_def && m->t->needed[(*reg)->id];
}

static bool writes_needed(Taking *t, PtxInstr *in) {
  Marking m = {.t = t};
  ptx_visit_regs(in, find_needed_def, &m);
  return m.uses;
}

static const RaceAccess *shared_access(const Taking *t, uint32_t instr) {
  return t->access[instr] ? &t->k->accesses.data[t->access[instr] - 1] : NULL;
}

static void need(Taking *t, const PtxOperand *o) {
  if (o->kind == OPD_REG) t->needed[o->reg->id] = true;
  for (unsigned i = 0; i < o->nlist; i++) need(t, &o->list[i]);
}

static bool is_control(const PtxInstr *in) {
  switch (access_orders(in)) {
    case WG_ORDERS_BLOCK:
    case WG_ORDERS_COMMIT:
    case WG_ORDERS_WAIT:
    case WG_ORDERS_WAIT_ALL: return true;
    default: return ptx_op_classes(in) & (CLASS_BRANCH | CLASS_RETURN);
  }
}

static void find_needed(Taking *t) {
  const IrCfg *c = t->cfg;
  for (uint32_t i = 0; i < c->ninstrs; i++) {
    const PtxInstr *in = c->instrs[i];
    const RaceAccess *a = shared_access(t, i);
    if (a) need(t, a->address);
    if (a && a->apart) need(t, a->apart);
    if ((a || is_control(in)) && in->guard) t->needed[in->guard->id] = true;
  }
  bool any = true;
  while (any) {
    any = false;
    for (uint32_t i = c->ninstrs; i-- > 0;) {
      Marking m = {.t = t};
      if (!writes_needed(t, c->instrs[i]) ||
          (ptx_op_memory(c->instrs[i]->op) != MEMORY_NONE && c->instrs[i]->space != SPACE_PARAM))
        continue;
      ptx_visit_regs(c->instrs[i], mark_use, &m);
      any |= m.any;
    }
  }
}

// --- operands ---

static uint16_t number_of(Taking *t, const PtxReg *r) {
  if (!t->reg_of[r->id]) t->reg_of[r->id] = (uint16_t)++t->out->nregs;
  if (t->out->nregs > UINT16_MAX - 1) t->failed = true;
  return (uint16_t)(t->reg_of[r->id] - 1);
}

static RaceOperand of_variable(Taking *t, const PtxVar *v, int64_t offset) {
  uint32_t n = 0;
  if (v->space != SPACE_SHARED) return (RaceOperand){.kind = RACE_OPD_UNKNOWN};
  while (n < t->out->nvariables && t->variables[n] != v) n++;
  if (n == RACE_MOST_VARIABLES) {
    t->failed = true;
    return (RaceOperand){.kind = RACE_OPD_UNKNOWN};
  }
  t->variables[n] = v;
  t->out->nvariables = MAX(t->out->nvariables, n + 1);
  return (RaceOperand){.kind = RACE_OPD_VARIABLE, .n = (uint16_t)n, .imm = offset};
}

static RaceOperand of_special(Taking *t, const PtxOperand *o) {
  int axis = o->selector == SEL_X ? 0 : o->selector == SEL_Y ? 1 : o->selector == SEL_Z ? 2 : -1;
  RaceOperandKind kind = RACE_OPD_UNKNOWN;
  if (o->sreg == SREG_LANEID) return (RaceOperand){.kind = RACE_OPD_LANE};
  if (axis >= 0 && o->sreg == SREG_TID) kind = RACE_OPD_THREAD;
  if (axis >= 0 && o->sreg == SREG_NTID) kind = RACE_OPD_BLOCK_DIM;
  if (axis >= 0 && o->sreg == SREG_NCTAID) kind = RACE_OPD_GRID_DIM;
  t->out->uses_grid |= kind == RACE_OPD_GRID_DIM;
  return (RaceOperand){.kind = (uint8_t)kind, .n = (uint16_t)MAX(axis, 0)};
}

static RaceOperand of_operand(Taking *t, const PtxOperand *o) {
  switch (o->kind) {
    case OPD_REG:
      if (o->selector != SEL_NONE || o->reg->vector || !t->needed[o->reg->id]) break;
      return (RaceOperand){
          .kind = RACE_OPD_REGISTER, .n = number_of(t, o->reg), .negated = o->negated};
    case OPD_INT: return (RaceOperand){.kind = RACE_OPD_NUMBER, .imm = o->imm};
    case OPD_SREG: return of_special(t, o);
    case OPD_VAR: return of_variable(t, o->var, o->imm);
    default: break;
  }
  return (RaceOperand){.kind = RACE_OPD_UNKNOWN};
}

static RaceOperand of_parameter(Taking *t, const PtxInstr *in) {
  const PtxOperand *o = &in->ops[1];
  const RaceOperand unknown = {.kind = RACE_OPD_UNKNOWN};
  unsigned bytes = ptx_type_size(in->types[0]);
  RaceRehearsal *out = t->out;
  if (o->kind != OPD_ADDR || o->nlist != 1 || o->list[0].kind != OPD_VAR ||
      !ir_is_kernel_param(t->k->body->func, &o->list[0]) ||
      bytes != ptx_type_size(in->ops[0].reg->type))
    return unknown;
  const PtxVar *v = o->list[0].var;
  uint32_t param = facts_param(t->k->body, v), n = 0;
  int64_t offset = o->imm + o->list[0].imm;
  if (param == UINT32_MAX || offset < 0 || (uint64_t)offset + bytes > v->size) return unknown;
  RaceParam p = {param, (uint32_t)offset, (uint32_t)(v->param_offset + (uint64_t)offset), bytes};
  while (n < out->nparams && memcmp(&out->params[n], &p, sizeof p)) n++;
  if (n == RACE_MOST_PARAMS) return unknown;
  out->params[n] = p;
  out->nparams = MAX(out->nparams, n + 1);
  return (RaceOperand){.kind = RACE_OPD_PARAMETER, .n = (uint16_t)n};
}

// --- arithmetic ---

static void add_step(Taking *t, RaceStep s) {
  if (t->steps.len >= MOST_STEPS) t->failed = true;
  else vec_push(&t->steps, s);
}

static bool is_plain(const PtxInstr *in) {
  return !ptx_has(in, MOD_SAT) && !ptx_has(in, MOD_CC) && in->ntypes &&
         ptx_type_kind(in->types[0]) != KIND_FLOAT;
}

static RaceStepOp operation(const PtxInstr *in) {
  if (in->op == OP_LOP3) return RACE_DO_TABLE;
  switch (ptx_op_result(in->op)) {
    case RESULT_COPY:
    case RESULT_ADDRESS: return in->nops == 2 ? RACE_DO_MOVE : RACE_DO_LOSE;
    case RESULT_LOAD: return in->space == SPACE_PARAM ? RACE_DO_MOVE : RACE_DO_LOSE;
    case RESULT_CONVERT: return RACE_DO_CONVERT;
    case RESULT_ADD: return RACE_DO_ADD;
    case RESULT_SUB: return RACE_DO_SUBTRACT;
    case RESULT_MUL: return RACE_DO_MULTIPLY;
    case RESULT_MAD: return RACE_DO_MULTIPLY_ADD;
    case RESULT_DIV: return RACE_DO_DIVIDE;
    case RESULT_REM: return RACE_DO_REMAINDER;
    case RESULT_MIN: return RACE_DO_LEAST;
    case RESULT_MAX: return RACE_DO_MOST;
    case RESULT_NEG: return RACE_DO_NEGATE;
    case RESULT_AND: return RACE_DO_AND;
    case RESULT_OR: return RACE_DO_OR;
    case RESULT_XOR: return RACE_DO_XOR;
    case RESULT_NOT: return RACE_DO_NOT;
    case RESULT_SHL: return RACE_DO_SHIFT_LEFT;
    case RESULT_SHR: return RACE_DO_SHIFT_RIGHT;
    case RESULT_SELECT: return RACE_DO_SELECT;
    case RESULT_FIELD: return RACE_DO_FIELD;
    default: return in->op == OP_SETP ? RACE_DO_COMPARE : RACE_DO_LOSE;
  }
}

static bool set_compare(const PtxInstr *in, RaceStep *s) {
  static const struct {
    PtxMod mod;
    RaceCompare compare;
  } all[] = {{MOD_EQ, RACE_EQ}, {MOD_NE, RACE_NE}, {MOD_LT, RACE_LT}, {MOD_LE, RACE_LE},
             {MOD_GT, RACE_GT}, {MOD_GE, RACE_GE}, {MOD_LO, RACE_LT}, {MOD_LS, RACE_LE},
             {MOD_HI, RACE_GT}, {MOD_HS, RACE_GE}};
  if (in->nops == 4)
    s->flags |= ptx_has(in, MOD_AND)  ? RACE_STEP_HAS_AND
                : ptx_has(in, MOD_OR) ? RACE_STEP_HAS_OR
                                      : RACE_STEP_HAS_XOR;
  for (unsigned i = 0; i < ARRAY_LEN(all); i++)
    if (ptx_has(in, all[i].mod)) {
      s->compare = (uint8_t)all[i].compare;
      return true;
    }
  return false;
}

static unsigned bits_of(PtxType type) { return type == TYPE_PRED ? 1 : 8 * ptx_type_size(type); }

// The result of the instruction, as a step. false: it is not known
static bool compute(Taking *t, const PtxInstr *in, RaceStep *s) {
  if (in->ops[0].kind != OPD_REG || in->ops[0].selector != SEL_NONE || in->ops[0].reg->vector ||
      !is_plain(in) || in->nops > 5)
    return false;
  s->op = (uint8_t)operation(in);
  s->bits = (uint8_t)bits_of(in->types[0]);
  if (s->op == RACE_DO_LOSE || s->bits > 64 || (s->bits < 16 && s->bits != 1 && in->op != OP_CVT))
    return false;
  if (ptx_type_kind(in->types[0]) == KIND_SIGNED) s->flags |= RACE_STEP_SIGNED;
  if (ptx_has(in, MOD_WIDE)) s->flags |= RACE_STEP_WIDE;
  if (ptx_has(in, MOD_HI) && in->op != OP_SETP) s->flags |= RACE_STEP_HIGH;
  if (in->op == OP_SETP && !set_compare(in, s)) return false;
  if (in->op == OP_CVT) {
    if (in->ntypes != 2 || ptx_type_kind(in->types[1]) == KIND_FLOAT ||
        (s->flags & RACE_STEP_SIGNED &&
         ptx_type_size(in->types[0]) < ptx_type_size(in->ops[0].reg->type)))
      return false;
    s->from_bits = (uint8_t)bits_of(in->types[1]);
    s->flags = ptx_type_kind(in->types[1]) == KIND_SIGNED ? RACE_STEP_SIGNED : 0;
  }
  s->to = number_of(t, in->ops[0].reg);
  for (unsigned i = 1; i < in->nops; i++) s->operand[i - 1] = of_operand(t, &in->ops[i]);
  if (in->space == SPACE_PARAM) s->operand[0] = of_parameter(t, in);
  return true;
}

typedef struct Losing {
  Taking *t;
  RaceStep step;
} Losing;
static void lose(void *ctx, PtxReg **reg, bool is_def) {
  Losing *l = ctx;
  if (!is_def || !l->t->needed[(*reg)->id]) return;
  l->step.to = number_of(l->t, *reg);
  add_step(l->t, l->step);
}

static RaceOperand guard_of(Taking *t, const PtxInstr *in) {
  if (!in->guard) return (RaceOperand){0};
  return (RaceOperand){
      .kind = RACE_OPD_REGISTER, .n = number_of(t, in->guard), .negated = in->guard_negated};
}

static void take_arithmetic(Taking *t, PtxInstr *in) {
  RaceStep s;
  memset(&s, 0, sizeof s);  // steps are compared as bytes
  if (!writes_needed(t, in)) return;
  if (compute(t, in, &s)) {
    s.guard = guard_of(t, in);
    add_step(t, s);
    return;
  }
  Losing l = {.t = t};
  memset(&l.step, 0, sizeof l.step);
  ptx_visit_regs(in, lose, &l);
}

// --- accesses and order ---

static RaceOperand address_of(Taking *t, const PtxOperand *address, int64_t *offset) {
  RaceOperand base = of_operand(t, &address->list[0]);
  *offset = address->imm;
  return base;
}

static void take_access(Taking *t, const PtxInstr *in, const RaceAccess *a) {
  RaceStep s;
  memset(&s, 0, sizeof s);
  bool later = a->flags & WG_RACE_CTA && !(a->flags & WG_RACE_STRONG);
  if (a->range != RACE_RANGE_NONE || a->address->kind != OPD_ADDR || a->address->nlist != 1 ||
      (later && in->op != OP_CP_ASYNC) || a->lanes > 32 || a->apart_bits % 8) {
    t->failed = true;
    return;
  }
  s.op = later ? RACE_DO_COPY : RACE_DO_ACCESS;
  s.flags = (uint8_t)((a->flags & WG_RACE_WRITE ? RACE_STEP_WRITES : 0) |
                      (a->flags & WG_RACE_STRONG ? RACE_STEP_STRONG : 0));
  s.bytes = a->bytes;
  s.lanes = (uint8_t)a->lanes;
  s.guard = guard_of(t, in);
  s.operand[0] = address_of(t, a->address, &s.operand[2].imm);
  if (a->lanes && a->apart) s.operand[1] = of_operand(t, a->apart);
  else if (a->lanes && a->apart_bits)
    s.operand[1] = (RaceOperand){.kind = RACE_OPD_NUMBER, .imm = 1};
  s.from_bits = (uint8_t)MIN(a->apart_bits / 8, 255u);  // bytes of an element between lines
  if (a->lanes && a->apart_bits / 8 > 255) t->failed = true;
  uint32_t unit = a->bytes & -a->bytes;
  t->out->unit = t->out->unit ? MIN(t->out->unit, unit) : unit;
  add_step(t, s);
}

static bool take_order(Taking *t, const PtxInstr *in) {
  RaceStep s;
  memset(&s, 0, sizeof s);
  switch (access_orders(in)) {
    case WG_ORDERS_BLOCK: s.op = RACE_DO_BARRIER; break;
    case WG_ORDERS_COMMIT: s.op = RACE_DO_COMMIT; break;
    case WG_ORDERS_WAIT: s.op = RACE_DO_WAIT; break;
    case WG_ORDERS_WAIT_ALL: s.op = RACE_DO_WAIT_ALL; break;
    // These order more accesses than the rehearsal knows: it may only find races that are none.
    case WG_ORDERS_NOTHING:
    case WG_ORDERS_WARP:
    case WG_ORDERS_LANES:
    case WG_ORDERS_FENCE:
    case WG_ORDERS_OTHER_FENCE:
    case WG_ORDERS_COPY: return false;
    default: t->failed = true; return false;
  }
  s.guard = guard_of(t, in);
  // Which barrier of the block: the last operand, or the one before a predicate
  unsigned at = ptx_has(in, MOD_RED) ? 1 : 0;
  if (s.op == RACE_DO_WAIT || s.op == RACE_DO_BARRIER) {
    if (at >= in->nops && s.op == RACE_DO_BARRIER) s.operand[0].kind = RACE_OPD_NUMBER;
    else if (at >= in->nops || in->ops[at].kind != OPD_INT) t->failed = true;
    else s.operand[0] = (RaceOperand){.kind = RACE_OPD_NUMBER, .imm = in->ops[at].imm};
  }
  add_step(t, s);
  return true;
}

// --- control ---

// jump and join are blocks here; they become steps once all blocks have a place.
static void take_branch(Taking *t, uint32_t block, const PtxInstr *in) {
  const IrBlock *b = &t->cfg->blocks[block];
  RaceStep s;
  memset(&s, 0, sizeof s);
  s.guard = guard_of(t, in);
  if (in->op != OP_BRA) {
    s.op = RACE_DO_END;
    add_step(t, s);
    return;
  }
  if (in->nops != 1 || in->ops[0].kind != OPD_LABEL || !b->nsucc) {
    t->failed = true;
    return;
  }
  s.op = RACE_DO_JUMP;
  s.jump = b->succ[0];
  s.join = b->ipdom;
  add_step(t, s);
}

static void take_block(Taking *t, uint32_t block) {
  const IrBlock *b = &t->cfg->blocks[block];
  RaceStep s;
  memset(&s, 0, sizeof s);
  t->start[block] = t->steps.len;
  for (uint32_t i = b->first; i < b->end && !t->failed; i++) {
    PtxInstr *in = t->cfg->instrs[i];
    if (in->op == OP_CALL || in->op == OP_BRX_IDX) t->failed = true;
    const RaceAccess *a = shared_access(t, i);
    if (a) take_access(t, in, a);
    if (ptx_op_classes(in) & (CLASS_BRANCH | CLASS_RETURN)) take_branch(t, block, in);
    else {
      take_order(t, in);
      take_arithmetic(t, in);
    }
  }
  const PtxInstr *last = b->first < b->end ? t->cfg->instrs[b->end - 1] : NULL;
  bool falls = !last || !(ptx_op_classes(last) & (CLASS_BRANCH | CLASS_RETURN)) || last->guard;
  if (!falls) return;
  s.op = b->nsucc ? RACE_DO_JUMP : RACE_DO_END;
  s.jump = b->nsucc ? b->succ[b->nsucc - 1] : 0;
  s.join = IR_NONE;
  add_step(t, s);
}

static void find_places(Taking *t) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < t->steps.len; i++) {
    RaceStep *s = &t->steps.data[i];
    if (s->op != RACE_DO_JUMP) continue;
    s->jump = t->start[s->jump];
    if (s->join != IR_NONE) s->join = t->start[s->join];
  }
  for (int unsized = 0; unsized < 2; unsized++)  // all without a size begin at the same place
    for (uint32_t i = 0; i < t->out->nvariables; i++) {
      uint32_t size = (uint32_t)MIN(t->variables[i]->size, (uint64_t)1 << 20);
      if (unsized != !size) continue;
      t->out->variables[i] = (RaceVariable){at, size};
      at = (at + size + 15) & ~15u;
    }
  t->out->bytes = at;
}

static bool is_eligible(const RaceCheck *k) {
  if (!k->uses_shared || k->has_clusters || k->unseen || k->calls || k->splits_memories)
    return false;
  for (uint32_t i = 0; i < k->accesses.len; i++) {
    const RaceAccess *a = &k->accesses.data[i];
    if (a->place == RACE_CLUSTER_MEMORY || a->range != RACE_RANGE_NONE ||
        (a->place == RACE_LOOKUP && k->body->cfg->instrs[a->instr]->space == SPACE_GENERIC))
      return false;
  }
  return true;
}

const RaceRehearsal *race_take_apart(RaceCheck *k) {
  const IrCfg *c = k->body->cfg;
  Arena *scratch = &k->body->program->scratch, *arena = &k->body->program->out->arena;
  if (!is_eligible(k)) return NULL;
  Taking t = {.k = k, .cfg = c, .out = ARENA_ARRAY(arena, RaceRehearsal, 1)};
  t.needed = ARENA_ARRAY(scratch, bool, c->func->nregs + 1);
  t.reg_of = ARENA_ARRAY(scratch, uint16_t, c->func->nregs + 1);
  t.start = ARENA_ARRAY(scratch, uint32_t, c->nblocks + 1);
  t.access = ARENA_ARRAY(scratch, uint32_t, c->ninstrs + 1);
  for (uint32_t i = 0; i < k->accesses.len; i++)
    if (k->accesses.data[i].place == RACE_SHARED_MEMORY)
      t.access[k->accesses.data[i].instr] = i + 1;
  find_needed(&t);
  for (uint32_t i = 0; i < c->nblocks && !t.failed; i++) take_block(&t, i);
  if (!t.failed) {
    find_places(&t);
    RaceStep *kept = ARENA_ARRAY(arena, RaceStep, t.steps.len + 1);
    memcpy(kept, t.steps.data, t.steps.len * sizeof *kept);
    t.out->steps = kept;
    t.out->nsteps = t.steps.len;
    uint64_t parts[] = {base_hash(kept, t.steps.len * sizeof *kept),
                        base_hash(t.out->variables, sizeof t.out->variables),
                        base_hash(t.out->params, sizeof t.out->params)};
    t.out->hash = base_hash(parts, sizeof parts);
  }
  vec_free(&t.steps);
  return t.failed || !t.out->unit ? NULL : t.out;
}

// Gives accesses without any other proof a word of the launch record, too.
void race_group_rest(RaceCheck *k, const RaceRehearsal *r) {
  uint32_t word = 0;
  race_kernel_of(k->body)->rehearsal = r;
  for (uint32_t i = 0; i < k->accesses.len; i++) {
    RaceAccess *a = &k->accesses.data[i];
    if (a->gone || a->place != RACE_SHARED_MEMORY || a->group_at) continue;
    if (!word) {
      word = record_reserve(k->body, 8);
      if (!word) return;
      vec_push(&k->shared_groups, ((RaceGroup){.record_offset = word, .needs_rehearsal = true}));
    }
    a->group_at = word;
  }
}
