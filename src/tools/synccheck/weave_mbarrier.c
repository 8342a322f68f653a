// mbarriers in the shared memory of the block: they must be initialised before use, once, and with
// a possible count.
#include "tools/synccheck/internal.h"

enum { MB_INIT, MB_INVAL, MB_USE, MB_ARRIVE };  // as in tools/synccheck/probe.c

// The operand with the mbarrier's address; NULL: it may be another block's, or its place is not
// known.
static const PtxOperand *own_address(const PtxInstr *in) {
  if (ptx_has(in, MOD_SHARED_CLUSTER) || in->space != SPACE_SHARED) return NULL;
  for (unsigned i = 0; i < in->nops; i++)
    if (in->ops[i].kind == OPD_ADDR && in->ops[i].nlist == 1) return &in->ops[i];
  return NULL;
}

static int what_of(const PtxInstr *in) {
  switch (access_orders(in)) {
    case WG_ORDERS_MBARRIER_INIT: return MB_INIT;
    case WG_ORDERS_MBARRIER_INVAL: return MB_INVAL;
    case WG_ORDERS_MBARRIER_ARRIVE: return ptx_has(in, MOD_EXPECT_TX) ? MB_USE : MB_ARRIVE;
    case WG_ORDERS_MBARRIER_WAIT:
    case WG_ORDERS_MBARRIER_COUNT:
    case WG_ORDERS_COPIES_ARRIVE: return MB_USE;
    default: return -1;
  }
}

// --- phases: a thread that has arrived in a phase waits for that phase, and not for the one
// before, which is over. Tokens cannot be wrong in this way, but parities can ---

static bool waits_for_parity(const PtxInstr *in) {
  return access_orders(in) == WG_ORDERS_MBARRIER_WAIT && ptx_has(in, MOD_PARITY);
}
static bool arrives(const PtxInstr *in) {
  return in->op == OP_MBARRIER_ARRIVE && !ptx_has(in, MOD_NOCOMPLETE);
}

static void follow_phases(Sync *s) {
  bool waits = false, comes = false;
  for (uint32_t i = 0; i < s->body->cfg->ninstrs; i++) {
    const PtxInstr *in = s->body->cfg->instrs[i];
    waits |= waits_for_parity(in) && own_address(in);
    comes |= arrives(in) && own_address(in);
  }
  if (!waits || !comes) return;
  s->arrived_at = body_reg(s->body, TYPE_B32);
  s->arrived_in = body_reg(s->body, TYPE_B32);
  EMIT(body_entry(s->body), "mov.b32", opd_reg(s->arrived_at), opd_imm(-1));
  EMIT(body_entry(s->body), "mov.b32", opd_reg(s->arrived_in), opd_imm(0));
}

// Notes the parity of the current phase. The phase cannot end before this thread arrives, so a test
// of parity 0 gives the parity.
static void note_phase(Sync *s, Code *c, PtxReg *at) {
  PtxReg *over = body_temp(s->body, TYPE_PRED, 0);
  EMIT(c, "mbarrier.test_wait.parity.shared.b64", opd_reg(over), opd_at(c, opd_reg(at), 0),
       opd_imm(0));
  EMIT(c, "selp.u32", opd_reg(s->arrived_in), opd_imm(1), opd_imm(0), opd_reg(over));
  EMIT(c, "mov.b32", opd_reg(s->arrived_at), opd_reg(at));
}

static void test_phase(Sync *s, Code *c, const PtxInstr *in, PtxReg *at) {
  Body *b = s->body;
  PtxReg *same = body_temp(b, TYPE_PRED, 0), *parity = body_temp(b, TYPE_B32, 3),
         *value = body_temp(b, TYPE_B64, 1), *where = body_temp(b, TYPE_B64, 2);
  const PtxOperand *waited = NULL;
  for (unsigned i = 0; i + 1 < in->nops; i++)
    if (in->ops[i].kind == OPD_ADDR) waited = &in->ops[i + 1];
  if (!waited) return;
  EMIT(c, "and.b32", opd_reg(parity), *waited, opd_imm(1));
  EMIT(c, "setp.eq.u32", opd_reg(same), opd_reg(at), opd_reg(s->arrived_at));
  EMIT(c, "setp.ne.and.u32", opd_reg(same), opd_reg(parity), opd_reg(s->arrived_in), opd_reg(same));
  code_guard(c, same, false);
  EMIT(c, "cvt.u64.u32", opd_reg(value), opd_reg(parity));
  EMIT(c, "cvt.u64.u32", opd_reg(where), opd_reg(at));
  code_report(c, &(CodeReport){.site = program_site(b->program, b, in),
                               .kind = opd_imm(KIND_BARRIER_MISUSE),
                               .size = opd_imm(WG_SYNC_PHASE),
                               .address = opd_reg(where),
                               .value = opd_reg(value),
                               .extra = opd_imm(0)});
  code_guard(c, NULL, false);
  EMIT(c, "mov.b32", opd_reg(s->arrived_at), opd_imm(-1));
}

void synccheck_weave_mbarriers(Sync *s) {
  Body *b = s->body;
  if (s->is_kernel) follow_phases(s);
  for (uint32_t i = 0; i < b->cfg->ninstrs; i++) {
    const PtxInstr *in = b->cfg->instrs[i];
    int what = what_of(in);
    const PtxOperand *address = what >= 0 ? own_address(in) : NULL;
    if (!address) continue;
    Code *c = body_before(b, i);
    PtxReg *wide = body_temp(b, TYPE_B64, 0), *at = body_temp(b, TYPE_B32, 0),
           *number = body_temp(b, TYPE_B32, 1), *count = body_temp(b, TYPE_B32, 2);
    unsigned last = in->nops - 1;
    bool counted = (what == MB_INIT || what == MB_ARRIVE) && in->ops[last].kind != OPD_ADDR;
    PtxLabel *over = in->guard ? body_label(b) : NULL;
    if (in->guard) code_branch(c, in->guard, !in->guard_negated, over);
    if (address->list[0].kind == OPD_REG && ptx_type_size(address->list[0].reg->type) == 4)
      EMIT(c, "add.u32", opd_reg(at), address->list[0], opd_imm(address->imm));
    else {
      access_address(c, wide, address);
      EMIT(c, "cvt.u32.u64", opd_reg(at), opd_reg(wide));
    }
    if (s->arrived_at && arrives(in)) note_phase(s, c, at);
    if (s->arrived_at && waits_for_parity(in)) test_phase(s, c, in, at);
    EMIT(c, "mov.b32", opd_reg(count), counted ? in->ops[last] : opd_imm(1));
    PtxOperand site = synccheck_site(s, c, in, number);
    SYNC_CALL(s, c, "wg_sync_mbarrier", site, opd_reg(at), opd_imm(what), opd_reg(count));
    if (over) code_label(c, over);
  }
}
