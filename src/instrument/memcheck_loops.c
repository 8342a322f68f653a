// Checks of a counted loop, done once before it: where the first and the last iteration's addresses are inside their objects, so
// are all between. Where a loop moves by a register (`i += blockDim.x`) the last iteration is not computed, only where it must stop. Then a copy of the loop without these checks runs; else the loop with them. The two are the same program at
// every instruction, so an exact test that was reached from the copy may return into the loop.
#include "instrument/memcheck.h"

enum { LARGEST_LOOP = 1500, MOST_STREAMS = 32 };

// Addresses that differ by constants only and move by the same step.
typedef struct Stream { const Check *low, *high; IrLinear first, step; int64_t low_constant, high_constant; } Stream;

typedef struct Hoist {
  Memcheck *m;
  const IrLoopPlan *plan;
  Code *code;
  PtxReg *safe, *more;                     // more: iterations after the first; moves by a register: at least as far as distance_moves takes them together
  Stream streams[MOST_STREAMS]; unsigned nstreams;
} Hoist;

static bool is_zero(IrLinear l) { return l.known && !l.n && !l.constant; }

static bool same_but_constant(IrLinear a, IrLinear b) {
  IrLinear d = ir_linear_add(a, b, -1);
  return d.known && !d.n;
}

static bool is_hoistable(const Check *c) { return c->range_at && !c->test_align && !c->size && (c->kind == CHECK_RANGE || c->kind == CHECK_INDEX); }

static const Check *check_at(const Memcheck *m, const IrLoopAccess *a) {
  for (uint32_t i = m->check_of[a->instr]; i < m->nchecks && m->checks[i].instr == a->instr; i++)
    if (m->checks[i].operand == a->operand) return is_hoistable(&m->checks[i]) ? &m->checks[i] : NULL;
  return NULL;
}

static bool same_object(const Check *a, const Check *b) {
  return a->address.origin.var == b->address.origin.var && a->address.origin.offset == b->address.origin.offset;
}

static bool add_stream(Hoist *h, const Check *c, const IrLoopAccess *a) {
  for (unsigned i = 0; i < h->nstreams; i++) {
    Stream *s = &h->streams[i];
    if (!same_object(s->low, c) || !same_but_constant(s->first, a->first) || !is_zero(ir_linear_add(s->step, a->step, -1))) continue;
    if (a->first.constant < s->low_constant) s->low = c, s->low_constant = a->first.constant;
    if (a->first.constant + c->bytes > s->high_constant + s->high->bytes) s->high = c, s->high_constant = a->first.constant;
    return true;
  }
  if (h->nstreams == MOST_STREAMS) return false;
  h->streams[h->nstreams++] = (Stream){c, c, a->first, a->step, a->first.constant, a->first.constant};
  return true;
}

// --- code before the loop ---

static PtxReg *fresh(Hoist *h) { return body_reg(h->m->body, TYPE_B64); }

// The sum of a linear form without its constant.
static void emit_terms(Hoist *h, PtxReg *to, IrLinear l) {
  Code *c = h->code;
  EMIT(c, "mov.u64", opd_reg(to), opd_imm(0));
  for (unsigned i = 0; i < l.n; i++) {
    PtxReg *value = (PtxReg *)l.terms[i].reg, *wide = body_temp(h->m->body, TYPE_B64, 3);
    if (l.terms[i].widened == IR_SIGN_EXTENDED) EMIT(c, "cvt.s64.s32", opd_reg(wide), opd_reg(value));
    else if (l.terms[i].widened == IR_ZERO_EXTENDED) EMIT(c, "cvt.u64.u32", opd_reg(wide), opd_reg(value));
    else EMIT(c, "mov.b64", opd_reg(wide), opd_reg(value));
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

// Can it be told how far this step goes in all iterations? A loop that moves by a register makes at most as many as it moves in all.
static bool can_travel(const Hoist *h, IrLinear step) {
  int64_t factor;
  return !moves_by_register(h) || !step.n || (is_multiple(step, h->plan->distance_moves, &factor) && factor > -(1 << 20) && factor < 1 << 20);
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

// How often the loop goes on: the first k for which distance + k * step does not let it. See IrLoopPlan.
static bool can_count(const IrLoopPlan *p) {
  int64_t step = p->distance_step, size = step < 0 ? -step : step;
  if (!step) return p->goes_on == MOD_LT || p->goes_on == MOD_LE;
  if (size & (size - 1) || size > 1 << 20) return false;
  switch ((int)p->goes_on) {
    case MOD_NE: return true;
    case MOD_LT: case MOD_LE: return step > 0;
    case MOD_GT: case MOD_GE: return step < 0;
    default: return false;
  }
}

// The loop goes on after iteration k if distance + k * moves < 0 (or <= 0), with moves > 0. So all iterations after the first together move by at most
// moves - distance - 1 (or one more), if there are any.
static void emit_reach(Hoist *h) {
  Code *c = h->code;
  const IrLoopPlan *p = h->plan;
  bool inclusive = p->goes_on == MOD_LE;
  PtxReg *left = fresh(h), *moves = body_temp(h->m->body, TYPE_B64, 5), *below = body_temp(h->m->body, TYPE_B64, 4), *any = body_temp(h->m->body, TYPE_PRED, 0);
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
  if (p->goes_on == MOD_NE) {                               // must hit zero, from the right side
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
  PtxReg *distance = body_temp(h->m->body, TYPE_B64, 3), *last = body_temp(h->m->body, TYPE_B64, 4);
  EMIT(h->code, "sub.s64", opd_reg(distance), opd_reg(address), opd_reg(base));
  record_load(h->code, last, c->range_at + 8);
  require_at_most(h, distance, opd_reg(last));
}

static void emit_stream(Hoist *h, const Stream *s) {
  Code *c = h->code;
  PtxReg *terms = body_temp(h->m->body, TYPE_B64, 0), *address = body_temp(h->m->body, TYPE_B64, 1), *base = body_temp(h->m->body, TYPE_B64, 2);
  PtxReg *travel = body_temp(h->m->body, TYPE_B64, 5);
  bool moves = !is_zero(s->step);
  if (moves) emit_travel(h, travel, s->step);
  emit_terms(h, terms, s->first);
  record_load(c, base, s->low->range_at);                   // the same base for every size of access
  for (int end = 0; end < 2; end++) {
    const Check *check = end ? s->high : s->low;
    EMIT(c, "add.s64", opd_reg(address), opd_reg(terms), opd_imm(end ? s->high_constant : s->low_constant));
    require_inside(h, address, base, check);
    if (!moves) continue;
    EMIT(c, "add.s64", opd_reg(address), opd_reg(address), opd_reg(travel));
    require_inside(h, address, base, check);
  }
}

static void emit_widened(Hoist *h, const IrLoopWidened *w) {
  Code *c = h->code;
  PtxReg *value = body_temp(h->m->body, TYPE_B64, 0), *travel = body_temp(h->m->body, TYPE_B64, 5), *shifted = body_temp(h->m->body, TYPE_B64, 3);
  int64_t lift = w->is_signed ? (int64_t)1 << 31 : 0;
  bool moves = !is_zero(w->step);
  if (moves) emit_travel(h, travel, w->step);
  emit_linear(h, value, w->first);
  for (int end = 0; end < (moves ? 2 : 1); end++) {
    if (end) EMIT(c, "add.s64", opd_reg(value), opd_reg(value), opd_reg(travel));
    EMIT(c, "add.s64", opd_reg(shifted), opd_reg(value), opd_imm(lift));
    require_at_most(h, shifted, opd_imm(UINT32_MAX));
  }
}

static bool gather(Hoist *h) {
  const IrLoopPlan *p = h->plan;
  for (uint32_t i = 0; i < p->naccesses; i++) {
    Check *c = (Check *)check_at(h->m, &p->accesses[i]);
    if (c && can_travel(h, p->accesses[i].step) && add_stream(h, c, &p->accesses[i])) c->hoisted = true;
  }
  return h->nstreams != 0;
}

static uint32_t loop_size(const IrCfg *cfg, const IrLoop *l) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < l->nblocks; i++) n += cfg->blocks[l->blocks[i]].end - cfg->blocks[l->blocks[i]].first;
  return n;
}

// Where lanes of a warp wait for each other, all of them must be in the same copy: bar.sync passes early if they are not.
static bool meets_other_lanes(const IrCfg *cfg, const IrLoop *l) {
  for (uint32_t i = 0; i < l->nblocks; i++)
    for (uint32_t k = cfg->blocks[l->blocks[i]].first; k < cfg->blocks[l->blocks[i]].end; k++)
      if (ptx_op_classes(cfg->instrs[k]) & (CLASS_SYNC | CLASS_WARP | CLASS_CALL | CLASS_TENSOR | CLASS_ASYNC)) return true;
  return false;
}

static void hoist_loop(Memcheck *m, const IrLoopPlan *plan) {
  Hoist h = {.m = m, .plan = plan};
  const IrCfg *cfg = m->body->cfg;
  if (!can_count(plan) || loop_size(cfg, &cfg->loops[plan->loop]) > LARGEST_LOOP || !body_can_copy(m->body, plan->loop)) return;
  for (uint32_t i = 0; i < plan->nwidened; i++)
    if (!can_travel(&h, plan->widened[i].step)) return;
  if (meets_other_lanes(cfg, &cfg->loops[plan->loop]) || !gather(&h)) return;
  h.safe = body_reg(m->body, TYPE_PRED);
  h.code = body_copy_loop(m->body, plan->loop, h.safe);
  PtxReg *zero = body_temp(m->body, TYPE_B32, 0);
  EMIT(h.code, "mov.u32", opd_reg(zero), opd_imm(0));
  EMIT(h.code, "setp.eq.u32", opd_reg(h.safe), opd_reg(zero), opd_imm(0));
  emit_iterations(&h);
  for (uint32_t i = 0; i < plan->nwidened; i++) emit_widened(&h, &plan->widened[i]);
  for (unsigned i = 0; i < h.nstreams; i++) emit_stream(&h, &h.streams[i]);
}

void memcheck_hoist(Memcheck *m) {
  if (!m->body->info->record) return;
  for (uint32_t l = 0; l < m->body->cfg->nloops; l++) {
    IrLoopPlan plan;
    if (!ir_loop_plan(m->body->cfg, l, &plan)) continue;
    hoist_loop(m, &plan);
    ir_loop_plan_free(&plan);
  }
  for (uint32_t i = 0; i < m->nchecks; i++) m->checks[i].leads_hoisted = true;
  for (uint32_t i = 0; i < m->nchecks; i++)
    if (!m->checks[i].hoisted) m->checks[m->checks[i].leader].leads_hoisted = false;
}
