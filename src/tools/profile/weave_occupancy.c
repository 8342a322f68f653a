// --profile-occupancy: how long warps are on their multiprocessor, and how long that has any warps.
// Only the entry and the exits of kernels get code, and no warp waits for it: the results of the
// atomic and the load at the entry are only used when the warp ends.
//
// A multiprocessor is active while threads are on it. A warp that finds none at its entry begins an
// active period, and knows when the last one ended. Multiprocessors beyond the replicas of the
// counters are left out.
#include "tools/profile/internal.h"

typedef struct Stamps {
  Body *body;
  Count *count;
  uint32_t slot;
  PtxReg *began;     // 32 bits of the clock
  PtxReg *resident;  // threads before this warp came; not 0 in all lanes but one
  PtxReg *last;      // the clock at the end of the last thread before
} Stamps;

static PtxOperand counter(const Stamps *s, Code *c, PtxReg *counters, unsigned which) {
  return opd_at(c, opd_reg(counters), (s->slot + which) * 8ll);
}

// The counters of this multiprocessor; counts: this launch is measured, and the multiprocessor has
// counters.
static void find_counters(const Stamps *s, Code *c, PtxReg *counters, PtxReg *counts) {
  Body *b = s->body;
  PtxReg *sm = body_temp(b, TYPE_B32, 3), *offset = body_temp(b, TYPE_B64, 1);
  record_load(c, counters, offsetof(WgLaunch, counters));
  EMIT(c, "mov.u32", opd_reg(sm), opd_sreg(SREG_SMID, SEL_NONE));
  EMIT(c, "setp.ne.u64", opd_reg(counts), opd_reg(counters), opd_imm(0));
  vec_push(&s->count->masks,
           &EMIT(c, "setp.le.and.u32", opd_reg(counts), opd_reg(sm), opd_imm(0), opd_reg(counts))
                ->ops[2]);
  vec_push(&s->count->strides,
           &EMIT(c, "mul.wide.u32", opd_reg(offset), opd_reg(sm), opd_imm(0))->ops[2]);
  EMIT(c, "add.u64", opd_reg(counters), opd_reg(counters), opd_reg(offset));
}

static void begin_warp(Stamps *s) {
  Body *b = s->body;
  Code *c = body_entry(b);
  PtxReg *counters = body_temp(b, TYPE_B64, 0), *counts = body_temp(b, TYPE_PRED, 1),
         *lanes = body_temp(b, TYPE_B32, 0), *n = body_temp(b, TYPE_B32, 1),
         *leads = body_temp(b, TYPE_PRED, 0);
  s->began = body_reg(b, TYPE_B32);
  s->resident = body_reg(b, TYPE_B32);
  s->last = body_reg(b, TYPE_B64);
  code_guard(c, NULL, false);
  EMIT(c, "mov.u32", opd_reg(s->began), opd_sreg(SREG_CLOCK, SEL_NONE));
  EMIT(c, "mov.u32", opd_reg(s->resident), opd_imm(1));
  EMIT(c, "mov.u64", opd_reg(s->last), opd_imm(0));
  find_counters(s, c, counters, counts);
  code_elect(c, lanes, leads, NULL);
  EMIT(c, "and.pred", opd_reg(leads), opd_reg(leads), opd_reg(counts));
  EMIT(c, "popc.b32", opd_reg(n), opd_reg(lanes));
  code_guard(c, leads, false);
  // The order matters: a warp's own atomic precedes its end, and follows the first warp's. So the
  // first warp never sees the end of a warp that came after it.
  EMIT(c, "ld.volatile.global.u64", opd_reg(s->last), counter(s, c, counters, STAMP_LAST));
  EMIT(c, "atom.global.add.u32", opd_reg(s->resident), counter(s, c, counters, STAMP_RESIDENT),
       opd_reg(n));
  code_guard(c, NULL, false);
}

// The additions of the leader of the lanes that end here.
static void end_lanes(const Stamps *s, Code *c, PtxReg *counters, PtxReg *now, PtxReg *lanes) {
  Body *b = s->body;
  PtxReg *n = body_temp(b, TYPE_B32, 1), *less = body_temp(b, TYPE_B32, 2),
         *lived = body_temp(b, TYPE_B32, 3), *sum = body_temp(b, TYPE_B64, 3);
  EMIT(c, "popc.b32", opd_reg(n), opd_reg(lanes));
  EMIT(c, "neg.s32", opd_reg(less), opd_reg(n));
  EMIT(c, "cvt.u32.u64", opd_reg(lived), opd_reg(now));
  EMIT(c, "sub.u32", opd_reg(lived), opd_reg(lived), opd_reg(s->began));
  EMIT(c, "mul.wide.u32", opd_reg(sum), opd_reg(lived), opd_reg(n));
  EMIT(c, "red.global.max.u64", counter(s, c, counters, STAMP_LAST), opd_reg(now));
  EMIT(c, "red.global.add.u32", counter(s, c, counters, STAMP_RESIDENT), opd_reg(less));
  EMIT(c, "red.global.add.u64", counter(s, c, counters, STAMP_CYCLES), opd_reg(sum));
}

static void end_warp(Code *c, void *user) {
  const Stamps *s = user;
  Body *b = s->body;
  PtxReg *guard = c->guard, *counters = body_temp(b, TYPE_B64, 0),
         *counts = body_temp(b, TYPE_PRED, 1), *lanes = body_temp(b, TYPE_B32, 0),
         *leads = body_temp(b, TYPE_PRED, 0), *starts = body_temp(b, TYPE_PRED, 2),
         *now = body_temp(b, TYPE_B64, 4), *active = body_temp(b, TYPE_B64, 2),
         *lived = body_temp(b, TYPE_B32, 3), *wide = body_temp(b, TYPE_B64, 3);
  bool negated = c->guard_negated;
  code_guard(c, NULL, false);
  find_counters(s, c, counters, counts);
  EMIT(c, "mov.u64", opd_reg(now), opd_sreg(SREG_CLOCK64, SEL_NONE));
  code_guard(c, guard, negated);
  code_elect(c, lanes, leads, NULL);
  code_guard(c, NULL, false);
  EMIT(c, "and.pred", opd_reg(leads), opd_reg(leads), opd_reg(counts));
  code_guard(c, leads, false);
  end_lanes(s, c, counters, now, lanes);
  code_guard(c, NULL, false);
  // the warp that began an active period subtracts the clock at its entry
  if (guard)
    EMIT(c, "setp.eq.and.u32", opd_reg(starts), opd_reg(s->resident), opd_imm(0),
         negated ? opd_not(guard) : opd_reg(guard));
  else EMIT(c, "setp.eq.u32", opd_reg(starts), opd_reg(s->resident), opd_imm(0));
  EMIT(c, "and.pred", opd_reg(starts), opd_reg(starts), opd_reg(counts));
  EMIT(c, "cvt.u32.u64", opd_reg(lived), opd_reg(now));
  EMIT(c, "sub.u32", opd_reg(lived), opd_reg(lived), opd_reg(s->began));
  EMIT(c, "cvt.u64.u32", opd_reg(wide), opd_reg(lived));
  EMIT(c, "sub.u64", opd_reg(active), opd_reg(s->last), opd_reg(now));
  EMIT(c, "add.u64", opd_reg(active), opd_reg(active), opd_reg(wide));
  code_guard(c, starts, false);
  EMIT(c, "red.global.add.u64", counter(s, c, counters, STAMP_ACTIVE), opd_reg(active));
  code_guard(c, NULL, false);
}

void weave_occupancy(Body *b, Profile *profile) {
  if (!b->func->is_entry || !b->info->record || !b->cfg->ninstrs ||
      b->info->kernel >= b->program->out->nkernels)
    return;
  Stamps s = {.body = b, .count = b->program->counts};
  s.slot = count_reserve(s.count, STAMP_WORDS);
  ProfileSite site = {.kernel = b->program->out->kernels[b->info->kernel].name,
                      .text = "",
                      .space = SITE_OCCUPANCY,
                      .slot = s.slot,
                      .block = COUNT_NONE,
                      .outside = COUNT_NONE};
  vec_push(&profile->sites, site);
  begin_warp(&s);
  body_at_exits(b, end_warp, &s);
}
