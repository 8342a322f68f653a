// Records which mbarrier and which of its phases an instruction uses (probe/trace_abi.h). From that
// a reader of the recording knows when an asynchronous copy was complete.
//
// A wait has a record when it succeeds, and none when it has to be repeated.
#include "tools/record/internal.h"

static const PtxOperand *address_of(const PtxInstr *in) {
  for (unsigned o = 0; o < in->nops && o < 2; o++)
    if (in->ops[o].kind == OPD_ADDR && in->ops[o].nlist == 1) return &in->ops[o];
  return NULL;
}

// Puts its offset in shared memory into the first word. others: it may belong to another block; a
// bit of the second word says so.
static void place(Recorder *t, Code *c, const PtxOperand *address, bool generic, bool others,
                  int64_t bits) {
  Body *b = t->body;
  PtxReg *at = body_temp(b, TYPE_B64, 0), *rank = body_temp(b, TYPE_B32, 0),
         *own = body_temp(b, TYPE_B32, 1), *there = body_temp(b, TYPE_PRED, 1);
  PtxReg *word = recorder_word(t, &t->values[0]), *info = recorder_word(t, &t->values[1]);
  access_address(c, at, address);
  if (generic) EMIT(c, "cvta.to.shared.u64", opd_reg(at), opd_reg(at));
  EMIT(c, "cvt.u32.u64", opd_reg(word), opd_reg(at));
  EMIT(c, "mov.u32", opd_reg(info), opd_imm(bits));
  if (others) {
    EMIT(c, "getctarank.shared::cluster.u32", opd_reg(rank), opd_reg(word));
    EMIT(c, "mov.u32", opd_reg(own), opd_sreg(SREG_CLUSTER_CTARANK, SEL_NONE));
    EMIT(c, "setp.ne.u32", opd_reg(there), opd_reg(rank), opd_reg(own));
    EMIT(c, "selp.u32", opd_reg(info), opd_imm(bits | WG_TRACE_MBARRIER_REMOTE), opd_imm(bits),
         opd_reg(there));
  }
}

static void put(Recorder *t, Code *c, uint32_t site) {
  PtxReg *word = t->values[0];
  EMIT(c, "and.b32", opd_reg(word), opd_reg(word), opd_imm(0xffffff));
  recorder_emit(t, c, &(RecorderRecord){RECORDER_OF_VALUE, site, 2});
}

bool recorder_mbarrier(Recorder *t, uint32_t i, const PtxInstr *in) {
  const PtxOperand *address = address_of(in);
  bool waits = access_orders(in) == WG_ORDERS_MBARRIER_WAIT, generic = in->space != SPACE_SHARED;
  if (ptx_op_memory(in->op) != MEMORY_MBARRIER || !address ||
      (waits && (in->ops[0].kind != OPD_REG || in->nops < 3)))
    return false;
  Code *c = waits ? body_after(t->body, i) : body_before(t->body, i);
  uint32_t site = recorder_site(t, in, NULL, CLASS_SYNC, SPACE_NONE, 0);
  PtxLabel *over = recorder_guard(t, c, in);
  if (waits) code_branch(c, in->ops[0].reg, true, over);
  place(t, c, address, generic, ptx_has(in, MOD_SHARED_CLUSTER), 0);
  if (waits && ptx_has(in, MOD_PARITY)) {
    PtxReg *info = t->values[1];
    EMIT(c, "and.b32", opd_reg(info), in->ops[2], opd_imm(1));
    EMIT(c, "or.b32", opd_reg(info), opd_reg(info), opd_imm(WG_TRACE_MBARRIER_KNOWN));
  }
  put(t, c, site);
  code_label(c, over);
  return true;
}

// The copy completes in the current phase, which cannot end before. A test_wait tells its parity;
// the mbarrier of another block cannot be tested.
void recorder_completes_at(Recorder *t, Code *c, const PtxInstr *in, const PtxOperand *barrier) {
  PtxReg *phase = body_temp(t->body, TYPE_PRED, 0), *remote = body_temp(t->body, TYPE_PRED, 1),
         *bit = body_temp(t->body, TYPE_B32, 0);
  PtxLabel *over = body_label(t->body);
  uint32_t site = recorder_site(t, in, NULL, CLASS_SYNC, SPACE_NONE, 0);
  place(t, c, barrier, in->space == SPACE_NONE || in->space == SPACE_GENERIC, true, 0);
  PtxReg *word = t->values[0], *info = t->values[1];
  EMIT(c, "setp.ne.u32", opd_reg(remote), opd_reg(info), opd_imm(0));
  code_branch(c, remote, false, over);
  EMIT(c, "mbarrier.test_wait.parity.shared::cta.b64", opd_reg(phase), opd_at(c, opd_reg(word), 0),
       opd_imm(0));
  EMIT(c, "selp.u32", opd_reg(bit), opd_imm(1), opd_imm(0), opd_reg(phase));
  EMIT(c, "or.b32", opd_reg(info), opd_reg(bit), opd_imm(WG_TRACE_MBARRIER_KNOWN));
  code_label(c, over);
  put(t, c, site);
}
