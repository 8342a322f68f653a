// Checks of a counted loop, made once before it: if the addresses of the first and the last
// iteration are inside their objects, so are all others. If a loop moves by a register (`i +=
// blockDim.x`), the code computes not the last iteration but the bound at which the loop must stop.
// Then a copy of the loop without these checks runs; else the loop with them. Code out of line
// serves both, and returns to the one that it was reached from (weave/loop_copy.c).
#include "tools/memcheck/internal.h"

enum { LARGEST_LOOP = 1500, MOST_STREAMS = 32, MOST_KNOWN = 16 };

// Addresses that differ by constants only and move by the same step.
typedef struct Stream {
  const Check *low, *high;
  IrLinear first, step;
  int64_t low_constant, high_constant;
} Stream;

typedef struct Hoist {
  Memcheck *m;
  const IrLoopPlan *plan;
  Code *code;
  // more: iterations after the first; moves by a register: at least as far as distance_moves takes
  // them together
  PtxReg *safe, *more;
  Stream streams[MOST_STREAMS];
  unsigned nstreams;
  // registers that the loop computes anew, computed before it
  struct {
    const PtxReg *of;
    PtxReg *is;
  } known[MOST_KNOWN];
  unsigned nknown;
} Hoist;

static bool is_zero(IrLinear l) { return l.known && !l.n && !l.constant; }

static bool same_but_constant(IrLinear a, IrLinear b) {
  IrLinear d = ir_linear_add(a, b, -1);
  return d.known && !d.n;
}

// A size that is known at run time only must be so before the loop.
static bool is_hoistable(const Hoist *h, const Check *c) {
  const IrCfg *cfg = h->m->body->cfg;
  if (c->size && (c->size_at == UINT32_MAX || ir_in_loop(cfg, c->size_at, h->plan->loop) ||
                  !ir_dominates(cfg, c->size_at, cfg->loops[h->plan->loop].header)))
    return false;
  if (c->test_align) return false;
  if (c->space == SPACE_SHARED && c->var && !c->size && !c->lanes)
    return c->kind == CHECK_INDEX || c->kind == CHECK_VARIABLE || c->kind == CHECK_DYNAMIC;
  return c->range_at && (c->kind == CHECK_RANGE || c->kind == CHECK_INDEX);
}

static const Check *check_at(const Hoist *h, const IrLoopAccess *a) {
  const Memcheck *m = h->m;
  for (uint32_t i = m->check_of[a->instr]; i < m->nchecks && m->checks[i].instr == a->instr; i++)
    if (m->checks[i].operand == a->operand)
      return is_hoistable(h, &m->checks[i]) ? &m->checks[i] : NULL;
  return NULL;
}

static bool same_object(const Check *a, const Check *b) {
  return a->address.origin.var == b->address.origin.var &&
         a->address.origin.offset == b->address.origin.offset;
}

static bool add_stream(Hoist *h, const Check *c, const IrLoopAccess *a) {
  for (unsigned i = 0; i < h->nstreams; i++) {
    Stream *s = &h->streams[i];
    if (c->size != s->low->size || !same_object(s->low, c) ||
        !same_but_constant(s->first, a->first) || !is_zero(ir_linear_add(s->step, a->step, -1)))
      continue;
    if (a->first.constant < s->low_constant) {
      s->low = c;
      s->low_constant = a->first.constant;
    }
    if (a->first.constant + c->bytes > s->high_constant + s->high->bytes) {
      s->high = c;
      s->high_constant = a->first.constant;
    }
    return true;
  }
  if (h->nstreams == MOST_STREAMS) return false;
  h->streams[h->nstreams++] = (Stream){
      c, c, a->first, a->step, a->first.constant, a->first.constant};
  return true;
}

// --- code before the loop ---

static PtxReg *fresh(Hoist *h) { return body_reg(h->m->body, TYPE_B64); }

// The value of a register when the loop is entered, or in all of its iterations.
static PtxReg *at_entry(void *user, PtxReg *r) {
  Hoist *h = user;
  if (!h->plan->recomputed || !h->plan->recomputed[r->id]) return r;
  for (unsigned i = 0; i < h->nknown; i++)
    if (h->known[i].of == r) return h->known[i].is;
  PtxReg *to = code_recompute(h->code, ir_single_def(h->m->defs, r), at_entry, h);
  if (h->nknown < MOST_KNOWN) {
    h->known[h->nknown].of = r;
    h->known[h->nknown++].is = to;
  }
  return to;
}

// The sum of a linear form without its constant.
static void emit_terms(Hoist *h, PtxReg *to, IrLinear l) {
  Code *c = h->code;
  EMIT(c, "mov.u64", opd_reg(to), opd_imm(0));
  for (unsigned i = 0; i < l.n; i++) {
    PtxReg *wide = body_temp(h->m->body, TYPE_B64, 3);
    PtxOperand value = opd_reg(at_entry(h, (PtxReg *)l.terms[i].reg));
    if (l.terms[i].widened == IR_SIGN_EXTENDED) EMIT(c, "cvt.s64.s32", opd_reg(wide), value);
    else if (l.terms[i].widened == IR_ZERO_EXTENDED) EMIT(c, "cvt.u64.u32", opd_reg(wide), value);
    else EMIT(c, "mov.b64", opd_reg(wide), value);
    EMIT(c, "mad.lo.s64", opd_reg(to), opd_reg(wide), opd_imm(l.terms[i].factor), opd_reg(to));
  }
}

static void emit_linear(Hoist *h, PtxReg *to, IrLinear l) {
  emit_terms(h, to, l);
  if (l.constant) EMIT(h->code, "add.s64", opd_reg(to), opd_reg(to), opd_imm(l.constant));
}

// safe = safe && a <= b, unsigned.
static void require_at_most(Hoist *h, PtxReg *a, PtxOperand b) {
  EMIT(h->code, "setp.le.and.u64", opd_reg(h->safe), opd_reg(a), b, opd_reg(h->safe));
}

// step = factor * unit?
static bool is_multiple(IrLinear step, IrLinear unit, int64_t *factor) {
  if (!step.n || step.n != unit.n || step.terms[0].factor % unit.terms[0].factor) return false;
  *factor = step.terms[0].factor / unit.terms[0].factor;
  return is_zero(ir_linear_add(step, unit, -*factor));
}

static bool moves_by_register(const Hoist *h) { return h->plan->distance_step == 0; }

// Is it known how far this step goes in all iterations? A loop that moves by a register makes at
// most as many iterations as its total distance.
static bool can_travel(const Hoist *h, IrLinear step) {
  int64_t factor;
  return !moves_by_register(h) || !step.n ||
         (is_multiple(step, h->plan->distance_moves, &factor) && factor > -(1 << 20) &&
          factor < 1 << 20);
}

// to = more * step, for steps whose product cannot leave 64 bits.
static void emit_travel(Hoist *h, PtxReg *to, IrLinear step) {
  Code *c = h->code;
  int64_t factor;
  if (moves_by_register(h) && is_multiple(step, h->plan->distance_moves, &factor)) {
    EMIT(c, "mul.lo.s64", opd_reg(to), opd_reg(h->more), opd_imm(factor));
    return;
  }
  if (!step.n) {
    EMIT(c, "mul.lo.s64", opd_reg(to), opd_reg(h->more), opd_imm(step.constant));
    return;
  }
  PtxReg *size = body_temp(h->m->body, TYPE_B64, 4);
  emit_linear(h, to, step);
  EMIT(c, "add.s64", opd_reg(size), opd_reg(to), opd_imm((int64_t)1 << 31));
  require_at_most(h, size, opd_imm(((int64_t)1 << 32) - 1));
  EMIT(c, "mul.lo.s64", opd_reg(to), opd_reg(to), opd_reg(h->more));
}

// How often the loop goes on: the first k for which distance + k * step does not let it. See
// IrLoopPlan.
static bool can_count(const IrLoopPlan *p) {
  int64_t step = p->distance_step, size = step < 0 ? -step : step;
  if (!step) return p->goes_on == MOD_LT || p->goes_on == MOD_LE;
  if (size & (size - 1) || size > 1 << 20) return false;
  switch ((int)p->goes_on) {
    case MOD_NE: return true;
    case MOD_LT:
    case MOD_LE: return step > 0;
    case MOD_GT:
    case MOD_GE: return step < 0;
    default: return false;
  }
}

// The loop goes on after iteration k if distance + k * moves < 0 (or <= 0), with moves > 0. So all
// iterations after the first together move by at most moves - distance - 1 (or one more), if there
// are any.
static void emit_reach(Hoist *h) {
  Code *c = h->code;
  const IrLoopPlan *p = h->plan;
  bool inclusive = p->goes_on == MOD_LE;
  PtxReg *left = fresh(h), *moves = body_temp(h->m->body, TYPE_B64, 5),
         *below = body_temp(h->m->body, TYPE_B64, 4), *any = body_temp(h->m->body, TYPE_PRED, 0);
  h->more = fresh(h);
  emit_linear(h, left, p->distance);
  EMIT(c, "neg.s64", opd_reg(left), opd_reg(left));
  emit_linear(h, moves, p->distance_moves);
  EMIT(c, "add.s64", opd_reg(below), opd_reg(moves), opd_imm(-1));
  require_at_most(h, below, opd_imm(INT32_MAX));
  EMIT(c, "add.s64", opd_reg(h->more), opd_reg(left), opd_reg(inclusive ? moves : below));
  EMIT(c, "setp.ge.s64", opd_reg(any), opd_reg(left), opd_imm(inclusive ? 0 : 1));
  EMIT(c, "selp.b64", opd_reg(h->more), opd_reg(h->more), opd_imm(0), opd_reg(any));
  require_at_most(h, h->more, opd_imm(INT32_MAX));
}

static void emit_iterations(Hoist *h) {
  if (moves_by_register(h)) {
    emit_reach(h);
    return;
  }
  Code *c = h->code;
  const IrLoopPlan *p = h->plan;
  int64_t step = p->distance_step, size = step < 0 ? -step : step;
  bool up = step > 0;
  bool inclusive = p->goes_on == MOD_LE || p->goes_on == MOD_GE;
  PtxReg *left = fresh(h), *bits = body_temp(h->m->body, TYPE_B64, 4);
  h->more = fresh(h);
  emit_linear(h, left, p->distance);
  if (up) EMIT(c, "neg.s64", opd_reg(left), opd_reg(left));
  int shift = __builtin_ctzll((uint64_t)size);
  if (p->goes_on == MOD_NE) {  // must hit zero, from the right side
    require_at_most(h, left, opd_imm(INT64_MAX));
    EMIT(c, "and.b64", opd_reg(bits), opd_reg(left), opd_imm(size - 1));
    require_at_most(h, bits, opd_imm(0));
    EMIT(c, "shr.s64", opd_reg(h->more), opd_reg(left), opd_imm(shift));
  } else {
    EMIT(c, "add.s64", opd_reg(left), opd_reg(left), opd_imm(inclusive ? size : size - 1));
    EMIT(c, "shr.s64", opd_reg(h->more), opd_reg(left), opd_imm(shift));
    EMIT(c, "max.s64", opd_reg(h->more), opd_reg(h->more), opd_imm(0));
  }
  require_at_most(h, h->more, opd_imm(INT32_MAX));
}

static void require_inside(Hoist *h, PtxReg *address, PtxReg *base, const Check *c) {
  PtxReg *distance = body_temp(h->m->body, TYPE_B64, 3), *last = body_temp(h->m->body, TYPE_B64, 4),
         *word = body_temp(h->m->body, TYPE_B32, 0);
  EMIT(h->code, "sub.s64", opd_reg(distance), opd_reg(address), opd_reg(base));
  if (c->kind == CHECK_DYNAMIC) {
    EMIT(h->code, "mov.u32", opd_reg(word), opd_sreg(SREG_DYNAMIC_SMEM_SIZE, SEL_NONE));
    EMIT(h->code, "cvt.u64.u32", opd_reg(last), opd_reg(word));
    require_at_most(h, distance, opd_reg(last));
    EMIT(h->code, "add.s64", opd_reg(distance), opd_reg(distance), opd_imm(c->bytes));
    require_at_most(h, distance, opd_reg(last));
    return;
  }
  if (c->var) {
    require_at_most(h, distance, opd_imm((int64_t)c->var->size - c->bytes));
    return;
  }
  record_load(h->code, last, c->range_at + 8);
  require_at_most(h, distance, opd_reg(last));
}

static void emit_stream(Hoist *h, const Stream *s) {
  Code *c = h->code;
  PtxReg *terms = body_temp(h->m->body, TYPE_B64, 0), *address = body_temp(h->m->body, TYPE_B64, 1),
         *base = body_temp(h->m->body, TYPE_B64, 2);
  PtxReg *travel = body_temp(h->m->body, TYPE_B64, 5), *size = body_temp(h->m->body, TYPE_B64, 3);
  bool moves = !is_zero(s->step);
  if (moves) emit_travel(h, travel, s->step);
  emit_terms(h, terms, s->first);
  if (s->low->var) EMIT(c, "mov.u64", opd_reg(base), opd_var((PtxVar *)s->low->var));
  else record_load(c, base, s->low->range_at);  // the same base for every size of access
  for (int end = 0; end < 2; end++) {
    const Check *check = end ? s->high : s->low;
    EMIT(c, "add.s64", opd_reg(address), opd_reg(terms),
         opd_imm(end ? s->high_constant : s->low_constant));
    if (end && check->size) {  // the last of its bytes
      EMIT(c, "cvt.u64.u32", opd_reg(size), *check->size);
      EMIT(c, "add.s64", opd_reg(address), opd_reg(address), opd_reg(size));
      EMIT(c, "add.s64", opd_reg(address), opd_reg(address), opd_imm(-1));
    }
    require_inside(h, address, base, check);
    if (!moves) continue;
    EMIT(c, "add.s64", opd_reg(address), opd_reg(address), opd_reg(travel));
    require_inside(h, address, base, check);
  }
}

static bool same_but_moved(const IrLoopWidened *a, const IrLoopWidened *b) {
  return a->is_signed == b->is_signed && same_but_constant(a->first, b->first) &&
         is_zero(ir_linear_add(a->step, b->step, -1));
}

// Sums that differ by constants only: the least and the largest of them.
static void emit_widened(Hoist *h, uint32_t number) {
  Code *c = h->code;
  const IrLoopWidened *w = &h->plan->widened[number];
  int64_t low = w->first.constant, high = w->first.constant;
  for (uint32_t i = 0; i < h->plan->nwidened; i++) {
    if (!same_but_moved(&h->plan->widened[i], w)) continue;
    if (i < number) return;
    low = MIN(low, h->plan->widened[i].first.constant);
    high = MAX(high, h->plan->widened[i].first.constant);
  }
  PtxReg *value = body_temp(h->m->body, TYPE_B64, 0), *travel = body_temp(h->m->body, TYPE_B64, 5),
         *shifted = body_temp(h->m->body, TYPE_B64, 3);
  int64_t lift = w->is_signed ? (int64_t)1 << 31 : 0;
  bool moves = !is_zero(w->step);
  if (moves) emit_travel(h, travel, w->step);
  emit_terms(h, value, w->first);
  for (int end = 0; end < (moves ? 2 : 1); end++) {
    if (end) EMIT(c, "add.s64", opd_reg(value), opd_reg(value), opd_reg(travel));
    EMIT(c, "add.s64", opd_reg(shifted), opd_reg(value), opd_imm(low + lift));
    require_at_most(h, shifted, opd_imm(UINT32_MAX));
    if (high == low) continue;
    EMIT(c, "add.s64", opd_reg(shifted), opd_reg(value), opd_imm(high + lift));
    require_at_most(h, shifted, opd_imm(UINT32_MAX));
  }
}

static bool gather(Hoist *h) {
  const IrLoopPlan *p = h->plan;
  for (uint32_t i = 0; i < p->naccesses; i++) {
    Check *c = (Check *)check_at(h, &p->accesses[i]);
    if (c && can_travel(h, p->accesses[i].step) && add_stream(h, c, &p->accesses[i]))
      c->hoisted = true;
  }
  return h->nstreams != 0;
}

static uint32_t loop_size(const IrCfg *cfg, const IrLoop *l) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < l->nblocks; i++)
    n += cfg->blocks[l->blocks[i]].end - cfg->blocks[l->blocks[i]].first;
  return n;
}

// --- loops in which lanes wait for each other ---

static bool meets_other_lanes(const PtxInstr *in) {
  return ptx_op_classes(in) & (CLASS_SYNC | CLASS_WARP | CLASS_CALL | CLASS_TENSOR | CLASS_ASYNC);
}

// All lanes of the warp that have not ended execute it together, or the program is wrong.
static bool takes_all_lanes(const PtxInstr *in) {
  if (in->guard) return false;
  switch (in->op) {
    case OP_LDMATRIX:
    case OP_STMATRIX:
    case OP_WMMA_LOAD:
    case OP_WMMA_STORE:
    case OP_WMMA_MMA:
    case OP_MMA: return true;
    case OP_BAR: return ptx_has(in, MOD_SYNC) && in->nops == 1;
    case OP_BARRIER: return ptx_has(in, MOD_SYNC) && ptx_has(in, MOD_ALIGNED) && in->nops == 1;
    default: return false;
  }
}

static bool leaves(const IrCfg *cfg, uint32_t loop, uint32_t block) {
  const IrBlock *b = &cfg->blocks[block];
  for (uint32_t i = 0; i < b->nsucc; i++)
    if (!ir_in_loop(cfg, b->succ[i], loop)) return true;
  return !b->nsucc;
}

// Does every thread that enters the loop execute the instruction before it can leave?
static bool comes_before_leaving(const IrCfg *cfg, uint32_t loop, uint32_t instr) {
  const IrLoop *l = &cfg->loops[loop];
  for (uint32_t i = 0; i < l->nblocks; i++)
    if (leaves(cfg, loop, l->blocks[i]) && !ir_dominates(cfg, cfg->block_of[instr], l->blocks[i]))
      return false;
  return true;
}

typedef enum Company { ALONE, WHOLE_WARP, UNKNOWN_COMPANY } Company;

// If lanes of a warp wait for each other, all of them must be in the same copy: bar.sync passes
// early if they are not. That can be arranged for where it is certain that all of them come.
static Company company_of(const IrCfg *cfg, uint32_t loop) {
  const IrLoop *l = &cfg->loops[loop];
  bool meets = false, all = false;
  for (uint32_t i = 0; i < l->nblocks; i++)
    for (uint32_t k = cfg->blocks[l->blocks[i]].first; k < cfg->blocks[l->blocks[i]].end; k++) {
      if (ptx_op_classes(cfg->instrs[k]) & CLASS_CALL) return UNKNOWN_COMPANY;
      if (!meets_other_lanes(cfg->instrs[k])) continue;
      meets = true;
      all = all || (takes_all_lanes(cfg->instrs[k]) && comes_before_leaving(cfg, loop, k));
    }
  return !meets ? ALONE : all ? WHOLE_WARP : UNKNOWN_COMPANY;
}

// The vote on the copy needs sm_70. Other tools' code in such loops has not been tried in copies.
static bool can_keep_together(const Memcheck *m) {
  const PtxModule *module = m->body->func->module;
  return m->body->program->plan->tools == TOOL_BIT(MEMCHECK) && module->sm >= 70 &&
         module->version_major >= 6;
}

// Code of other tools out of line serves the loop and its copy, so the two are one cycle with two
// entries, which the search for the cause of a hang does not take for a loop. A step in a register
// may be 0: such loops hang. So those whose pointers move by a product stay without a copy then.
static void hoist_loop(Memcheck *m, const IrLoopPlan *plan) {
  Hoist h = {.m = m, .plan = plan};
  const IrCfg *cfg = m->body->cfg;
  if (plan->by_products && m->body->program->plan->tools != TOOL_BIT(MEMCHECK)) return;
  if (!can_count(plan) || loop_size(cfg, &cfg->loops[plan->loop]) > LARGEST_LOOP ||
      !body_can_copy(m->body, plan->loop))
    return;
  for (uint32_t i = 0; i < plan->nwidened; i++)
    if (!can_travel(&h, plan->widened[i].step)) return;
  Company company = company_of(cfg, plan->loop);
  if (company == UNKNOWN_COMPANY || (company == WHOLE_WARP && !can_keep_together(m)) || !gather(&h))
    return;
  h.safe = body_reg(m->body, TYPE_PRED);
  h.code = body_copy_loop(m->body, plan->loop, h.safe);
  PtxReg *zero = body_temp(m->body, TYPE_B32, 0);
  EMIT(h.code, "mov.u32", opd_reg(zero), opd_imm(0));
  EMIT(h.code, "setp.eq.u32", opd_reg(h.safe), opd_reg(zero), opd_imm(0));
  emit_iterations(&h);
  for (uint32_t i = 0; i < plan->nwidened; i++) emit_widened(&h, i);
  for (unsigned i = 0; i < h.nstreams; i++) emit_stream(&h, &h.streams[i]);
  memcheck_hoist_index_tests(m, plan->loop, h.code, h.safe);
  if (company == WHOLE_WARP)
    EMIT(h.code, "vote.sync.all.pred", opd_reg(h.safe), opd_reg(h.safe), opd_imm(-1));
}

void memcheck_hoist(Memcheck *m) {
  if (!m->body->info->record) return;
  for (uint32_t l = 0; l < m->body->cfg->nloops; l++) {
    IrLoopPlan plan;
    if (!ir_loop_plan_shared(m->body->cfg, m->defs, l, &plan)) continue;
    hoist_loop(m, &plan);
    ir_loop_plan_free(&plan);
  }
  for (uint32_t i = 0; i < m->nchecks; i++) m->checks[i].leads_hoisted = true;
  for (uint32_t i = 0; i < m->nchecks; i++)
    if (!m->checks[i].hoisted) m->checks[m->checks[i].leader].leads_hoisted = false;
}
