// mbarriers in the shared memory of the block: initialised before they are used, once, with a count that can be.
#include "instrument/synccheck.h"

enum { MB_INIT, MB_INVAL, MB_USE, MB_ARRIVE };           // as in probe/sync.c

// The operand with its address; NULL: it may be another block's, or in no place we know.
static const PtxOperand *own_address(const PtxInstr *in) {
  if (ptx_has(in, MOD_SHARED_CLUSTER) || in->space != SPACE_SHARED) return NULL;
  for (unsigned i = 0; i < in->nops; i++)
    if (in->ops[i].kind == OPD_ADDR && in->ops[i].nlist == 1) return &in->ops[i];
  return NULL;
}

static int what_of(const PtxInstr *in) {
  switch (in->op) {
    case OP_MBARRIER_INIT: return MB_INIT;
    case OP_MBARRIER_INVAL: return MB_INVAL;
    case OP_MBARRIER_ARRIVE: case OP_MBARRIER_ARRIVE_DROP: return ptx_has(in, MOD_EXPECT_TX) ? MB_USE : MB_ARRIVE;
    case OP_MBARRIER_TEST_WAIT: case OP_MBARRIER_TRY_WAIT: case OP_MBARRIER_EXPECT_TX: case OP_MBARRIER_COMPLETE_TX: case OP_CP_ASYNC_MBARRIER_ARRIVE:
      return MB_USE;
    default: return -1;
  }
}

void synccheck_weave_mbarriers(Sync *s) {
  Body *b = s->body;
  for (uint32_t i = 0; i < b->cfg->ninstrs; i++) {
    const PtxInstr *in = b->cfg->instrs[i];
    int what = what_of(in);
    const PtxOperand *address = what >= 0 ? own_address(in) : NULL;
    if (!address) continue;
    Code *c = body_before(b, i);
    PtxReg *wide = body_temp(b, TYPE_B64, 0), *at = body_temp(b, TYPE_B32, 0), *number = body_temp(b, TYPE_B32, 1), *count = body_temp(b, TYPE_B32, 2);
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
    EMIT(c, "mov.b32", opd_reg(count), counted ? in->ops[last] : opd_imm(1));
    PtxOperand site = synccheck_site(s, c, in, number);
    SYNC_CALL(s, c, "wg_sync_mbarrier", site, opd_reg(at), opd_imm(what), opd_reg(count));
    if (over) code_label(c, over);
  }
}
