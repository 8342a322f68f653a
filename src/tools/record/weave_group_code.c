// The code that writes a group's record. The active lanes write one together; as many lanes as it
// has 16-byte units at its beginning write those with one instruction.
#include "tools/record/weave_group.h"

enum { TOP = (int)0x80000000, GAP_BITS = 30 };
// Registers that all groups of a function share.
enum {
  LANES,
  LEADER,
  SECOND,
  RANK,
  COUNT,
  RELATIVE,
  GAP,
  EACH,
  WORDS,
  VALUES,
  BYTES,
  TURNS,
  TIME,
  UNIT,
  W0,
  W1,
  W2,
  W3,
  LOW,
  HIGH,
  STEP,
  TMP,
  BEGIN,
  FACTS,
  PLACE,
  COUNTS,
  FOUR,
  STRIDE,
  OP_WORD = STRIDE + WG_TRACE_GROUP_UNITS,
  ALL_32 = OP_WORD + WG_TRACE_GROUP_OPS
};
enum {
  AT,
  ROW,
  END,
  FIRST,
  OFFSET,
  WIDE,
  RINGS,
  HEADS,
  GEOMETRY,
  BASE,
  ALL_64 = BASE + WG_TRACE_GROUP_UNITS
};
enum {
  SPREAD,
  OK,
  FAR,
  SPLIT,
  NONE,
  WANT,
  ONE,
  MINE,
  AFFINE,
  FACT = AFFINE + WG_TRACE_GROUP_UNITS,
  ALL_PRED = FACT + RECORDER_GROUP_FACTS
};
_Static_assert((int)ALL_32 <= (int)RECORDER_GROUP_REGS && (int)ALL_64 <= (int)RECORDER_GROUP_REGS &&
                   (int)ALL_PRED <= (int)RECORDER_GROUP_REGS,
               "there is room for all");

typedef struct Making {
  Recorder *t;
  Code *c;
  const RecorderGroup *g;
  const RecorderGroupInput *in;
  uint32_t head_units, line_units;
  int facts[RECORDER_GROUP_FACTS];
  unsigned nfacts;
} Making;

static PtxReg *one_of(Recorder *t, PtxReg **list, unsigned k, PtxType type) {
  if (!list[k]) list[k] = body_reg(t->body, type);
  return list[k];
}
static PtxOperand R(Making *m, unsigned k) {
  return opd_reg(one_of(m->t, m->t->group_words, k, TYPE_B32));
}
static PtxOperand D(Making *m, unsigned k) {
  return opd_reg(one_of(m->t, m->t->group_wides, k, TYPE_B64));
}
static PtxReg *P(Making *m, unsigned k) { return one_of(m->t, m->t->group_preds, k, TYPE_PRED); }
static PtxOperand imm(int64_t v) { return opd_imm(v); }

static void read_lane(Making *m, PtxOperand to, PtxOperand from, unsigned lane) {
  EMIT(m->c, "shfl.sync.idx.b32", to, from, R(m, lane), imm(31), R(m, LANES));
}
static void lowest(Making *m, unsigned to, unsigned lanes) {
  EMIT(m->c, "brev.b32", R(m, TMP), R(m, lanes));
  EMIT(m->c, "clz.b32", R(m, to), R(m, TMP));
}

static void find_lanes(Making *m) {
  Code *c = m->c;
  EMIT(c, "activemask.b32", R(m, LANES));
  lowest(m, LEADER, LANES);
  EMIT(c, "mov.u32", R(m, RELATIVE), opd_sreg(SREG_LANEID, SEL_NONE));
  EMIT(c, "sub.s32", R(m, RELATIVE), R(m, RELATIVE), R(m, LEADER));
  EMIT(c, "mov.u32", R(m, RANK), opd_sreg(SREG_LANEMASK_LT, SEL_NONE));
  EMIT(c, "and.b32", R(m, RANK), R(m, RANK), R(m, LANES));
  EMIT(c, "popc.b32", R(m, RANK), R(m, RANK));
  EMIT(c, "popc.b32", R(m, COUNT), R(m, LANES));
  EMIT(c, "add.s32", R(m, SECOND), R(m, LANES), imm(-1));
  EMIT(c, "and.b32", R(m, SECOND), R(m, SECOND), R(m, LANES));
  EMIT(c, "setp.eq.u32", opd_reg(P(m, OK)), R(m, SECOND), imm(0));
  lowest(m, SECOND, SECOND);
  EMIT(c, "selp.b32", R(m, SECOND), R(m, LEADER), R(m, SECOND), opd_reg(P(m, OK)));
  EMIT(c, "sub.s32", R(m, GAP), R(m, SECOND), R(m, LEADER));
  EMIT(c, "setp.gt.u32", opd_reg(P(m, SPREAD)), R(m, GAP), imm(1));
}

// If the first two lanes are not neighbours their distance is divided, roughly: whether the stride
// fits is tested anyway.
static void divide_step(Making *m) {
  Code *c = m->c;
  PtxReg *step = body_temp(m->t->body, TYPE_F32, 0), *gap = body_temp(m->t->body, TYPE_F32, 1);
  code_guard(c, P(m, SPREAD), false);
  EMIT(c, "cvt.rn.f32.s32", opd_reg(step), R(m, STEP));
  EMIT(c, "cvt.rn.f32.u32", opd_reg(gap), R(m, GAP));
  EMIT(c, "div.approx.f32", opd_reg(step), opd_reg(step), opd_reg(gap));
  EMIT(c, "cvt.rni.s32.f32", R(m, STEP), opd_reg(step));
  code_guard(c, NULL, false);
}

// Finds base + stride * lane, or else an address for each lane.
static void find_unit(Making *m, uint32_t u) {
  Code *c = m->c;
  PtxOperand address = opd_reg(m->in->address[u]), affine = opd_reg(P(m, AFFINE + u));
  EMIT(c, "mov.b64", opd_vector(c, (PtxOperand[]){R(m, LOW), R(m, HIGH)}, 2), address);
  read_lane(m, R(m, LOW), R(m, LOW), LEADER);
  read_lane(m, R(m, HIGH), R(m, HIGH), LEADER);
  EMIT(c, "mov.b64", D(m, FIRST), opd_vector(c, (PtxOperand[]){R(m, LOW), R(m, HIGH)}, 2));
  EMIT(c, "sub.s64", D(m, OFFSET), address, D(m, FIRST));
  EMIT(c, "cvt.u32.u64", R(m, STEP), D(m, OFFSET));
  read_lane(m, R(m, STEP), R(m, STEP), SECOND);
  divide_step(m);
  EMIT(c, "mul.wide.s32", D(m, WIDE), R(m, STEP), R(m, RELATIVE));
  EMIT(c, "setp.eq.s64", opd_reg(P(m, OK)), D(m, OFFSET), D(m, WIDE));
  EMIT(c, "add.s32", R(m, TMP), R(m, STEP), imm(1 << GAP_BITS));
  EMIT(c, "setp.ge.and.s32", opd_reg(P(m, OK)), R(m, TMP), imm(0), opd_reg(P(m, OK)));
  EMIT(c, "vote.sync.all.pred", affine, opd_reg(P(m, OK)), R(m, LANES));
  EMIT(c, "mul.wide.s32", D(m, WIDE), R(m, STEP), R(m, LEADER));
  EMIT(c, "sub.s64", D(m, BASE + u), D(m, FIRST), D(m, WIDE));
  EMIT(c, "selp.b64", D(m, BASE + u), D(m, BASE + u), D(m, FIRST), affine);
  EMIT(c, "selp.b32", R(m, STRIDE + u), R(m, STEP), imm(0), affine);
  EMIT(c, "selp.b32", R(m, u ? TMP : EACH), imm(0), imm(1 << u), affine);
  if (u) EMIT(c, "or.b32", R(m, EACH), R(m, EACH), R(m, TMP));
}

static void find_far(Making *m) {
  Code *c = m->c;
  PtxLabel *over = body_label(m->t->body);
  EMIT(c, "setp.eq.u32", opd_reg(P(m, NONE)), R(m, EACH), imm(0));
  EMIT(c, "setp.ne.u32", opd_reg(P(m, FAR)), R(m, EACH), R(m, EACH));
  EMIT(c, "mov.u32", R(m, WORDS), imm(0));
  code_branch(c, P(m, NONE), false, over);
  for (uint32_t u = 0; u < m->g->nunits; u++) {
    EMIT(c, "sub.s64", D(m, OFFSET), opd_reg(m->in->address[u]), D(m, BASE + u));
    EMIT(c, "add.s64", D(m, OFFSET), D(m, OFFSET), imm(1ll << GAP_BITS));
    EMIT(c, "setp.lt.or.u64", opd_reg(P(m, OK)), D(m, OFFSET), imm(2ll << GAP_BITS),
         opd_reg(P(m, AFFINE + u)));
    EMIT(c, "vote.sync.all.pred", opd_reg(P(m, OK)), opd_reg(P(m, OK)), R(m, LANES));
    EMIT(c, "not.pred", opd_reg(P(m, OK)), opd_reg(P(m, OK)));
    EMIT(c, "or.pred", opd_reg(P(m, FAR)), opd_reg(P(m, FAR)), opd_reg(P(m, OK)));
  }
  EMIT(c, "popc.b32", R(m, TMP), R(m, EACH));
  EMIT(c, "mul.lo.s32", R(m, WORDS), R(m, TMP), R(m, COUNT));
  code_guard(c, P(m, FAR), false);
  EMIT(c, "shl.b32", R(m, WORDS), R(m, WORDS), imm(1));
  code_guard(c, NULL, false);
  code_label(c, over);
}

// --- values ---

static unsigned fact_number(Making *m, int fact) {
  for (unsigned k = 0; k < m->nfacts; k++)
    if (m->facts[k] == fact) return k;
  CHECK(m->nfacts < RECORDER_GROUP_FACTS);
  m->facts[m->nfacts] = fact;
  return m->nfacts++;
}

static void find_facts(Making *m) {
  Code *c = m->c;
  for (uint32_t k = 0; k < m->g->nops; k++)
    if (m->g->ops[k].fact >= 0) fact_number(m, m->g->ops[k].fact);
  if (m->nfacts) record_load(c, R(m, FACTS).reg, m->t->kept + WG_TRACE_KEPT);
  for (unsigned k = 0; k < m->nfacts; k++) {
    EMIT(c, "and.b32", R(m, TMP), R(m, FACTS), imm(1ll << m->facts[k]));
    EMIT(c, "setp.ne.u32", opd_reg(P(m, FACT + k)), R(m, TMP), imm(0));
  }
}

static bool has_values(const Making *m, const RecorderGroupOp *o) {
  return m->in->values && o->planes;
}

static void find_one(Making *m, const RecorderGroupOp *o) {
  EMIT(m->c, "setp.eq.and.u32", opd_reg(P(m, ONE)), R(m, STRIDE + o->unit), imm(0),
       opd_reg(P(m, AFFINE + o->unit)));
}

// Counts the words, and finds out whether one of them is WG_TRACE_KEY.
static void count_values(Making *m) {
  Code *c = m->c;
  bool any = false;
  unsigned stored = 0;
  for (uint32_t k = 0; k < m->g->nops; k++) {
    const RecorderGroupOp *o = &m->g->ops[k];
    if (!has_values(m, o)) continue;
    for (unsigned i = 0; i < o->planes; i++) {
      if (any)
        EMIT(c, "setp.eq.or.u32", opd_reg(P(m, OK)), opd_reg(o->values[i]), imm(WG_TRACE_KEY),
             opd_reg(P(m, OK)));
      else EMIT(c, "setp.eq.u32", opd_reg(P(m, OK)), opd_reg(o->values[i]), imm(WG_TRACE_KEY));
      any = true;
    }
    stored += o->is_load ? 0 : o->planes;
  }
  if (!any) return;
  EMIT(c, "vote.sync.any.pred", opd_reg(P(m, SPLIT)), opd_reg(P(m, OK)), R(m, LANES));
  EMIT(c, "mul.lo.s32", R(m, VALUES), R(m, COUNT), imm(stored));
  for (uint32_t k = 0; k < m->g->nops; k++) {
    const RecorderGroupOp *o = &m->g->ops[k];
    if (!has_values(m, o) || !o->is_load) continue;
    find_one(m, o);
    EMIT(c, "selp.b32", R(m, TMP), imm(1), R(m, COUNT), opd_reg(P(m, ONE)));
    if (o->fact >= 0) code_guard(c, P(m, FACT + fact_number(m, o->fact)), false);
    EMIT(c, "mad.lo.s32", R(m, VALUES), R(m, TMP), imm(o->planes), R(m, VALUES));
    code_guard(c, NULL, false);
  }
  code_guard(c, P(m, SPLIT), false);
  EMIT(c, "shl.b32", R(m, VALUES), R(m, VALUES), imm(1));
  code_guard(c, NULL, false);
  EMIT(c, "add.s32", R(m, WORDS), R(m, WORDS), R(m, VALUES));
}

// ROW is where this lane's word of the next plane goes.
static void put_plane(Making *m, PtxReg *value, PtxReg *mine, PtxReg *there, bool one, bool split) {
  Code *c = m->c;
  unsigned shift = split ? 3 : 2;
  if (split) {
    EMIT(c, "and.b32", R(m, LOW), opd_reg(value), imm(0xffff));
    EMIT(c, "or.b32", R(m, LOW), R(m, LOW), imm(TOP));
    EMIT(c, "shr.u32", R(m, HIGH), opd_reg(value), imm(16));
    EMIT(c, "or.b32", R(m, HIGH), R(m, HIGH), imm(TOP));
  } else {
    EMIT(c, "xor.b32", R(m, LOW), opd_reg(value), imm(WG_TRACE_KEY));
  }
  code_guard(c, mine, false);
  EMIT(c, "st.volatile.global.u32", opd_at(c, D(m, ROW), 0), R(m, LOW));
  if (split) EMIT(c, "st.volatile.global.u32", opd_at(c, D(m, ROW), 4), R(m, HIGH));
  code_guard(c, NULL, false);
  PtxOperand moves = R(m, FOUR);
  if (one) {
    EMIT(c, "selp.b32", R(m, TMP), imm(1ll << shift), R(m, FOUR), opd_reg(P(m, ONE)));
    moves = R(m, TMP);
  }
  EMIT(c, "cvt.u64.u32", D(m, OFFSET), moves);
  code_guard(c, there, false);
  EMIT(c, "add.s64", D(m, ROW), D(m, ROW), D(m, OFFSET));
  code_guard(c, NULL, false);
}

static void put_values(Making *m, bool split) {
  Code *c = m->c;
  for (uint32_t k = 0; k < m->g->nops; k++) {
    const RecorderGroupOp *o = &m->g->ops[k];
    if (!has_values(m, o)) continue;
    PtxReg *there = o->fact >= 0 ? P(m, FACT + fact_number(m, o->fact)) : NULL, *mine = there;
    if (o->is_load) {
      find_one(m, o);  // then only the first lane writes
      EMIT(c, "not.pred", opd_reg(P(m, WANT)), opd_reg(P(m, ONE)));
      EMIT(c, "or.pred", opd_reg(P(m, WANT)), opd_reg(P(m, WANT)), opd_reg(P(m, MINE)));
      mine = P(m, WANT);
      if (there) EMIT(c, "and.pred", opd_reg(mine), opd_reg(mine), opd_reg(there));
    }
    for (unsigned i = 0; i < o->planes; i++)
      put_plane(m, o->values[i], mine, there, o->is_load, split);
  }
}

static void begin_rows(Making *m, unsigned shift) {
  Code *c = m->c;
  EMIT(c, "shl.b32", R(m, FOUR), R(m, COUNT), imm(shift));
  EMIT(c, "mul.wide.u32", D(m, OFFSET), R(m, RANK), imm(1ll << shift));
  EMIT(c, "add.s64", D(m, ROW), D(m, END), D(m, OFFSET));
}

static void put_offsets(Making *m, bool far) {
  Code *c = m->c;
  begin_rows(m, far ? 3 : 2);
  for (uint32_t u = 0; u < m->g->nunits; u++) {
    PtxOperand address = opd_reg(m->in->address[u]);
    if (!far) EMIT(c, "sub.s64", D(m, OFFSET), address, D(m, BASE + u));
    EMIT(c, "cvt.u32.u64", R(m, LOW), far ? address : D(m, OFFSET));
    EMIT(c, "or.b32", R(m, LOW), R(m, LOW), imm(TOP));
    code_guard(c, P(m, AFFINE + u), true);
    EMIT(c, "st.volatile.global.u32", opd_at(c, D(m, ROW), 0), R(m, LOW));
    if (far) {
      EMIT(c, "shr.u64", D(m, OFFSET), address, imm(31));
      EMIT(c, "cvt.u32.u64", R(m, LOW), D(m, OFFSET));
      EMIT(c, "or.b32", R(m, LOW), R(m, LOW), imm(TOP));
      EMIT(c, "st.volatile.global.u32", opd_at(c, D(m, ROW), 4), R(m, LOW));
    }
    EMIT(c, "cvt.u64.u32", D(m, OFFSET), R(m, FOUR));
    EMIT(c, "add.s64", D(m, ROW), D(m, ROW), D(m, OFFSET));
    EMIT(c, "add.s64", D(m, END), D(m, END), D(m, OFFSET));
    code_guard(c, NULL, false);
  }
}

// --- the units at the beginning ---

static void find_head(Making *m) {
  Code *c = m->c;
  record_site(c, R(m, PLACE).reg, m->g->first_site);
  EMIT(c, "or.b32", R(m, PLACE), R(m, PLACE),
       imm((int32_t)(0x80000000u | (uint32_t)WG_TRACE_GROUP << 24)));
  code_guard(c, P(m, FAR), false);
  EMIT(c, "or.b32", R(m, PLACE), R(m, PLACE), imm(WG_TRACE_GROUP_FAR << 24));
  code_guard(c, NULL, false);
  if (m->in->values && m->g->nplanes) {
    code_guard(c, P(m, SPLIT), false);
    EMIT(c, "or.b32", R(m, PLACE), R(m, PLACE), imm(WG_TRACE_SPLIT << 24));
    code_guard(c, NULL, false);
  }
  EMIT(c, "shl.b32", R(m, COUNTS), R(m, BYTES), imm(8));  // of 16 bytes, from bit 12
  EMIT(c, "or.b32", R(m, COUNTS), R(m, COUNTS),
       imm((int32_t)(0x80000000u | m->g->nops | m->g->nunits << 8)));
  EMIT(c, "shl.b32", R(m, TURNS), R(m, EACH), imm(16));
  EMIT(c, "or.b32", R(m, TURNS), R(m, TURNS), m->in->turns ? opd_reg(m->in->turns) : imm(1));
  EMIT(c, "or.b32", R(m, TURNS), R(m, TURNS), imm(TOP));
  EMIT(c, "mov.u32", R(m, TIME), opd_sreg(SREG_GLOBALTIMER_LO, SEL_NONE));
  EMIT(c, "or.b32", R(m, TIME), R(m, TIME), imm(TOP));
}

// The word of operation k: constant, except for whether the launch records its values.
static PtxOperand op_word(Making *m, uint32_t k) {
  if (k >= m->g->nops) return imm(TOP);
  const RecorderGroupOp *o = &m->g->ops[k];
  uint32_t word = 0x80000000u | o->unit << 27 | (o->is_load ? WG_TRACE_GROUP_LOAD : 0) |
                  ((uint32_t)o->distance & 0xFFFFFF);
  uint32_t full = word | (o->planes == 4 ? 3u : o->planes) << 24;
  if (!has_values(m, o)) return imm((int32_t)word);
  if (o->fact < 0) return imm((int32_t)full);
  EMIT(m->c, "selp.b32", R(m, OP_WORD + k), imm((int32_t)full), imm((int32_t)word),
       opd_reg(P(m, FACT + fact_number(m, o->fact))));
  return R(m, OP_WORD + k);
}

// Sets this lane's 16 bytes to those of unit `k`, if it writes that unit.
static void choose_words(Making *m, uint32_t k, const PtxOperand *words) {
  Code *c = m->c;
  EMIT(c, "setp.eq.u32", opd_reg(P(m, OK)), R(m, UNIT), imm(k));
  code_guard(c, P(m, OK), false);
  for (unsigned i = 0; i < 4; i++) EMIT(c, "mov.b32", R(m, W0 + i), words[i]);
  code_guard(c, NULL, false);
}

static void address_words(Making *m, uint32_t u, PtxOperand *w) {
  Code *c = m->c;
  EMIT(c, "cvt.u32.u64", R(m, LOW), D(m, BASE + u));
  EMIT(c, "or.b32", R(m, LOW), R(m, LOW), imm(TOP));
  EMIT(c, "shr.u64", D(m, OFFSET), D(m, BASE + u), imm(31));
  EMIT(c, "cvt.u32.u64", R(m, HIGH), D(m, OFFSET));
  EMIT(c, "or.b32", R(m, HIGH), R(m, HIGH), imm(TOP));
  EMIT(c, "or.b32", R(m, STEP), R(m, STRIDE + u), imm(TOP));
  w[0] = R(m, LOW);
  w[1] = R(m, HIGH);
  w[2] = R(m, STEP);
  w[3] = imm(TOP);
  if (!m->in->turns) return;
  EMIT(c, "cvt.u32.u64", R(m, TMP), opd_reg(m->in->step[u]));
  EMIT(c, "or.b32", R(m, TMP), R(m, TMP), imm(TOP));
  w[3] = R(m, TMP);
}

static void put_head(Making *m) {
  Code *c = m->c;
  PtxLabel *again = body_label(m->t->body), *over = body_label(m->t->body);
  PtxReg *more = P(m, WANT);
  uint32_t units = m->head_units;
  // Whole lines, if there are enough lanes to write them with one instruction.
  EMIT(c, "setp.eq.u32", opd_reg(P(m, OK)), R(m, WORDS), imm(0));
  EMIT(c, "setp.eq.or.u32", opd_reg(P(m, OK)), R(m, BEGIN), imm(16 * m->line_units),
       opd_reg(P(m, OK)));
  EMIT(c, "setp.ge.and.u32", opd_reg(P(m, OK)), R(m, COUNT), imm(m->line_units), opd_reg(P(m, OK)));
  EMIT(c, "selp.b32", R(m, TMP), imm(m->line_units), imm(units), opd_reg(P(m, OK)));
  EMIT(c, "mov.u32", R(m, UNIT), R(m, RANK));
  EMIT(c, "setp.ge.u32", opd_reg(more), R(m, RANK), R(m, TMP));
  code_branch(c, more, false, over);
  for (unsigned i = 0; i < 4; i++) EMIT(c, "mov.b32", R(m, W0 + i), imm(TOP));
  code_label(c, again);
  choose_words(
      m, 0, (PtxOperand[]){R(m, PLACE), R(m, LANES), opd_reg(m->t->warp), opd_reg(m->t->launch)});
  uint32_t unit = 1;
  choose_words(m, unit++, (PtxOperand[]){R(m, COUNTS), R(m, TURNS), R(m, TIME), op_word(m, 0)});
  for (uint32_t k = 1; k < m->g->nops; k += 4)
    choose_words(
        m, unit++,
        (PtxOperand[]){op_word(m, k), op_word(m, k + 1), op_word(m, k + 2), op_word(m, k + 3)});
  for (uint32_t u = 0; u < m->g->nunits; u++) {
    PtxOperand w[4];
    address_words(m, u, w);
    choose_words(m, unit++, w);
  }
  CHECK(unit == units);
  EMIT(c, "mul.wide.u32", D(m, WIDE), R(m, UNIT), imm(16));
  EMIT(c, "add.s64", D(m, WIDE), D(m, WIDE), D(m, AT));
  EMIT(c, "st.volatile.global.v4.u32", opd_at(c, D(m, WIDE), 0),
       opd_vector(c, (PtxOperand[]){R(m, W0), R(m, W1), R(m, W2), R(m, W3)}, 4));
  EMIT(c, "add.s32", R(m, UNIT), R(m, UNIT), R(m, COUNT));  // fewer lanes than units
  EMIT(c, "setp.lt.u32", opd_reg(more), R(m, UNIT), imm(units));
  code_branch(c, more, false, again);
  code_label(c, over);
}

static void put_rest(Making *m) {
  Code *c = m->c;
  Body *b = m->t->body;
  PtxLabel *over = body_label(b), *far = body_label(b), *split = body_label(b),
           *end = body_label(b);
  EMIT(c, "cvt.u64.u32", D(m, END), R(m, BEGIN));
  EMIT(c, "add.s64", D(m, END), D(m, AT), D(m, END));
  EMIT(c, "setp.eq.u32", opd_reg(P(m, MINE)), R(m, RANK), imm(0));
  code_branch(c, P(m, NONE), false, over);
  code_branch(c, P(m, FAR), false, far);
  put_offsets(m, false);
  EMIT(c, "bra", opd_label(over));
  code_label(c, far);
  put_offsets(m, true);
  code_label(c, over);
  if (m->in->values && m->g->nplanes) {
    code_branch(c, P(m, SPLIT), false, split);
    begin_rows(m, 2);
    put_values(m, false);
    EMIT(c, "bra", opd_label(end));
    code_label(c, split);
    begin_rows(m, 3);
    put_values(m, true);
  }
  code_label(c, end);
}

void recorder_group_emit(Recorder *t, Code *c, const RecorderGroup *g,
                         const RecorderGroupInput *in) {
  Making m = {
      .t = t, .c = c, .g = g, .in = in, .head_units = 1 + (3 + g->nops + 3) / 4 + g->nunits};
  m.line_units = (m.head_units * 16 + WG_TRACE_LINE - 1) / WG_TRACE_LINE * (WG_TRACE_LINE / 16);
  PtxLabel *over = body_label(t->body);
  find_lanes(&m);
  for (uint32_t u = 0; u < g->nunits; u++) find_unit(&m, u);
  find_far(&m);
  if (in->values) {
    find_facts(&m);
    count_values(&m);
  }
  EMIT(c, "setp.le.u32", opd_reg(P(&m, OK)), R(&m, WORDS), imm(4 * (m.line_units - m.head_units)));
  EMIT(c, "selp.b32", R(&m, BEGIN), imm(16 * m.head_units), imm(16 * m.line_units),
       opd_reg(P(&m, OK)));
  EMIT(c, "mad.lo.s32", R(&m, BYTES), R(&m, WORDS), imm(4), R(&m, BEGIN));
  EMIT(c, "add.s32", R(&m, BYTES), R(&m, BYTES), imm(WG_TRACE_LINE - 1));
  EMIT(c, "and.b32", R(&m, BYTES), R(&m, BYTES), imm(-WG_TRACE_LINE));
  recorder_field(t, c, D(&m, RINGS).reg, offsetof(WgTrace, rings));
  recorder_field(t, c, D(&m, HEADS).reg, offsetof(WgTrace, heads));
  recorder_field(t, c, D(&m, GEOMETRY).reg, offsetof(WgTrace, nrings));
  const PtxOperand args[] = {D(&m, RINGS),     D(&m, HEADS), D(&m, GEOMETRY),
                             opd_reg(t->slot), R(&m, LANES), R(&m, BYTES)};
  recorder_inline(t, c, "wg_trace_room", D(&m, AT).reg, args, ARRAY_LEN(args));
  EMIT(c, "setp.eq.u64", opd_reg(P(&m, OK)), D(&m, AT), imm(0));
  code_branch(c, P(&m, OK), false, over);
  find_head(&m);
  put_head(&m);
  put_rest(&m);
  code_label(c, over);
}
