// mbarriers of a kernel that calls interrupts. Their bits are the hardware's own and cannot be
// saved with shared memory: operations on them become atomic operations on a word of ours, which
// has the same place and can be saved. A loop that waits for an mbarrier then waits for memory.
//
// The word: bits 0 to 19: arrivals that are missing in this phase; 20 to 39: how many a phase has;
// 40 to 63: the number of the phase. A token is the word before its arrival.
#include "interrupt/stops.h"

enum { EXPECTED = 20, PHASE = 40, COUNT_MASK = (1 << 20) - 1 };

// --- which can be replaced ---

static bool is_mbarrier(const PtxInstr *in) { return ptx_op_order(in->op) == ORDER_MBARRIER; }

// Only the hardware can count bytes, or serve barriers of other blocks.
static bool can_replace(const PtxInstr *in) {
  if (ptx_has(in, MOD_EXPECT_TX) || ptx_has(in, MOD_SHARED_CLUSTER)) return false;
  switch (in->op) {
    case OP_MBARRIER_INIT:
    case OP_MBARRIER_INVAL:
    case OP_MBARRIER_TEST_WAIT:
    case OP_MBARRIER_TRY_WAIT:
    case OP_CP_ASYNC_MBARRIER_ARRIVE: return true;
    case OP_MBARRIER_ARRIVE:
    case OP_MBARRIER_ARRIVE_DROP: return in->nops >= 2;
    default: return false;
  }
}

static bool can_replace_all(const PtxFunc *f, bool *any) {
  for (uint32_t i = 0; i < f->nstmts; i++) {
    const PtxInstr *in = f->stmts[i].kind == STMT_INSTR ? f->stmts[i].instr : NULL;
    if (!in || !is_mbarrier(in)) continue;
    *any = true;
    if (!can_replace(in)) return false;
  }
  return true;
}

// --- operations ---

static bool in_shared(const PtxInstr *in) { return in->space == SPACE_SHARED; }

static void add_to(Code *c, const PtxInstr *in, PtxOperand at, PtxReg *old, PtxReg *by) {
  if (in_shared(in)) EMIT(c, "atom.acq_rel.cta.shared.add.u64", opd_reg(old), at, opd_reg(by));
  else EMIT(c, "atom.acq_rel.cta.add.u64", opd_reg(old), at, opd_reg(by));
}

static void begin(Code *c, const PtxInstr *in) {
  PtxReg *count = wide(c, 0), *expected = wide(c, 1);
  EMIT(c, "cvt.u64.u32", opd_reg(count), in->ops[1]);
  EMIT(c, "shl.b64", opd_reg(expected), opd_reg(count), opd_imm(EXPECTED));
  EMIT(c, "or.b64", opd_reg(count), opd_reg(count), opd_reg(expected));
  if (in_shared(in)) EMIT(c, "st.volatile.shared.u64", in->ops[0], opd_reg(count));
  else EMIT(c, "st.volatile.u64", in->ops[0], opd_reg(count));
}

typedef struct Arrival {
  PtxOperand at;
  const PtxOperand *count;  // NULL: 1
  const PtxOperand *token;  // where the token goes; NULL: the program does not use it
  bool drops;               // later phases expect this many arrivals less
} Arrival;

// The last arrival begins the next phase. Until then no other thread can arrive.
static void arrive(Code *c, const PtxInstr *in, Arrival a) {
  PtxReg *count = wide(c, 0), *old = wide(c, 1), *by = wide(c, 2), *pending = wide(c, 3);
  PtxLabel *done = body_label(c->body);
  if (a.count) EMIT(c, "cvt.u64.u32", opd_reg(count), *a.count);
  else EMIT(c, "mov.u64", opd_reg(count), opd_imm(1));
  EMIT(c, "neg.s64", opd_reg(by), opd_reg(count));
  if (a.drops) {
    EMIT(c, "shl.b64", opd_reg(pending), opd_reg(count), opd_imm(EXPECTED));
    EMIT(c, "sub.u64", opd_reg(by), opd_reg(by), opd_reg(pending));
  }
  add_to(c, in, a.at, old, by);
  EMIT(c, "and.b64", opd_reg(pending), opd_reg(old), opd_imm(COUNT_MASK));
  EMIT(c, "setp.ne.u64", opd_reg(pred(c, 0)), opd_reg(pending), opd_reg(count));
  code_branch(c, pred(c, 0), false, done);
  EMIT(c, "shr.u64", opd_reg(by), opd_reg(old), opd_imm(EXPECTED));
  EMIT(c, "and.b64", opd_reg(by), opd_reg(by), opd_imm(COUNT_MASK));
  if (a.drops) EMIT(c, "sub.u64", opd_reg(by), opd_reg(by), opd_reg(count));
  EMIT(c, "add.u64", opd_reg(by), opd_reg(by), opd_imm(INT64_C(1) << PHASE));
  add_to(c, in, a.at, pending, by);
  code_label(c, done);
  if (a.token) EMIT(c, "mov.b64", *a.token, opd_reg(old));
}

static void test(Code *c, const PtxInstr *in) {
  PtxReg *now = wide(c, 0);
  if (in_shared(in)) EMIT(c, "ld.acquire.cta.shared.u64", opd_reg(now), in->ops[1]);
  else EMIT(c, "ld.acquire.cta.u64", opd_reg(now), in->ops[1]);
  if (!ptx_has(in, MOD_PARITY)) EMIT(c, "xor.b64", opd_reg(now), opd_reg(now), in->ops[2]);
  EMIT(c, "shr.u64", opd_reg(now), opd_reg(now), opd_imm(PHASE));
  if (!ptx_has(in, MOD_PARITY)) {
    EMIT(c, "setp.ne.u64", in->ops[0], opd_reg(now), opd_imm(0));
    return;
  }
  EMIT(c, "cvt.u32.u64", opd_reg(word(c, 0)), opd_reg(now));
  EMIT(c, "and.b32", opd_reg(word(c, 0)), opd_reg(word(c, 0)), opd_imm(1));
  EMIT(c, "setp.ne.u32", in->ops[0], opd_reg(word(c, 0)), in->ops[2]);
}

// Waits for the thread's copies. Without .noinc the arrival was not counted beforehand, so that it
// changes nothing.
static void arrive_after_copies(Code *c, const PtxInstr *in) {
  code_emit(c, "cp.async.wait_all", NULL, 0);
  if (ptx_has(in, MOD_NOINC)) arrive(c, in, (Arrival){.at = in->ops[0]});
}

static void replace(Body *b, uint32_t i) {
  const PtxInstr *in = b->cfg->instrs[i];
  Code *c = body_instead(b, i);
  PtxLabel *skip = in->guard ? body_label(b) : NULL;
  if (skip) code_branch(c, in->guard, !in->guard_negated, skip);
  switch (in->op) {
    case OP_MBARRIER_INIT: begin(c, in); break;
    case OP_MBARRIER_ARRIVE:
    case OP_MBARRIER_ARRIVE_DROP:
      arrive(c, in,
             (Arrival){.at = in->ops[1],
                       .count = in->nops > 2 ? &in->ops[2] : NULL,
                       .token = in->ops[0].kind == OPD_REG ? &in->ops[0] : NULL,
                       .drops = in->op == OP_MBARRIER_ARRIVE_DROP});
      break;
    case OP_CP_ASYNC_MBARRIER_ARRIVE: arrive_after_copies(c, in); break;
    case OP_MBARRIER_INVAL: break;
    default: test(c, in);
  }
  if (skip) code_label(c, skip);
}

// pending_count: the missing arrivals in the token
static void count_pending(Body *b, uint32_t i) {
  const PtxInstr *in = b->cfg->instrs[i];
  Code *c = body_instead(b, i);
  code_guard(c, in->guard, in->guard_negated);
  EMIT(c, "and.b64", opd_reg(wide(c, 0)), in->ops[1], opd_imm(COUNT_MASK));
  EMIT(c, "cvt.u32.u64", in->ops[0], opd_reg(wide(c, 0)));
  code_guard(c, NULL, false);
}

static bool replace_all(PtxFunc *f, Program *p, Error *err) {
  Body b;
  if (!body_open(&b, p, f, 0, err)) return false;
  for (uint32_t i = 0; i < b.cfg->ninstrs; i++) {
    if (b.cfg->instrs[i]->op == OP_MBARRIER_PENDING_COUNT) count_pending(&b, i);
    else if (is_mbarrier(b.cfg->instrs[i])) replace(&b, i);
  }
  return body_close(&b, err);
}

bool mbarriers_replace(PtxFunc *f, Program *p, Error *err) {
  bool any = false;
  if (!can_replace_all(f, &any) || !any) return true;
  PassNames before = names_use(p, (PassNames){"__wgmb", "%wgmb_"});
  bool ok = replace_all(f, p, err);
  names_use(p, before);
  return ok;
}
