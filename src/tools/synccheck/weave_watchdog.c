// The watchdog's part of a kernel: warps write where they are, so that the host can distinguish a
// launch that hangs from one that works.
//
// Loops whose number of iterations is fixed when they begin need nothing. In other loops a register
// counts the iterations. At intervals one lane writes the loop, the count and the values that
// decide about the loop, and all lanes test whether the host wants them to stop. At a barrier that
// some threads may miss, one lane writes two words before and after it. See docs/hangs.md.
#include "tools/synccheck/internal.h"

// iterations between reports, powers of two: about a millisecond of either
enum { TURNS_WAITING = 1 << 10, TURNS_WORKING = 1 << 16 };

void watch_enter(Sync *s, Code *c) {
  Body *b = s->body;
  PtxReg *watch = body_temp(b, TYPE_B64, 0), *sm = body_temp(b, TYPE_B32, 0),
         *warp = body_temp(b, TYPE_B32, 1), *on = body_temp(b, TYPE_PRED, 0);
  s->slot = body_reg(b, TYPE_B64);
  s->leads = body_reg(b, TYPE_PRED);
  record_load(c, watch, offsetof(WgLaunch, progress));
  EMIT(c, "setp.ne.u64", opd_reg(on), opd_reg(watch), opd_imm(0));
  EMIT(c, "mov.u32", opd_reg(sm), opd_sreg(SREG_SMID, SEL_NONE));
  EMIT(c, "mov.u32", opd_reg(warp), opd_sreg(SREG_WARPID, SEL_NONE));
  EMIT(c, "and.b32", opd_reg(warp), opd_reg(warp), opd_imm(63));
  EMIT(c, "shl.b32", opd_reg(sm), opd_reg(sm), opd_imm(6));
  EMIT(c, "add.u32", opd_reg(sm), opd_reg(sm), opd_reg(warp));
  EMIT(c, "and.b32", opd_reg(sm), opd_reg(sm), opd_imm(WG_WATCH_WARPS - 1));
  EMIT(c, "mul.wide.u32", opd_reg(s->slot), opd_reg(sm), opd_imm(sizeof(WgWatchWarp)));
  EMIT(c, "add.u64", opd_reg(s->slot), opd_reg(s->slot), opd_reg(watch));
  EMIT(c, "mov.u32", opd_reg(warp), opd_sreg(SREG_LANEID, SEL_NONE));
  EMIT(c, "setp.eq.and.u32", opd_reg(s->leads), opd_reg(warp), opd_imm(0), opd_reg(on));
}

// Lane 0 acts for its warp. If it does not arrive, no lane writes; missing lanes are reported
// anyway.
void watch_barrier(Sync *s, uint32_t i) {
  Body *b = s->body;
  PtxInstr *in = b->cfg->instrs[i];
  if (in->guard) return;
  int64_t at = offsetof(WgWatch, warps) + offsetof(WgWatchWarp, barrier_site);
  PtxReg *number = body_temp(b, TYPE_B32, 0);
  Code *c = body_before(b, i);
  code_guard(c, s->leads, false);
  record_site(c, number, program_site(b->program, b, in) + 1);
  EMIT(c, "st.volatile.global.u32", opd_at(c, opd_reg(s->slot), at), opd_reg(number));
  code_guard(c, NULL, false);
  c = body_after(b, i);
  code_guard(c, s->leads, false);
  EMIT(c, "mov.u32", opd_reg(number), opd_imm(0));
  EMIT(c, "st.volatile.global.u32", opd_at(c, opd_reg(s->slot), at), opd_reg(number));
  code_guard(c, NULL, false);
}

// --- loops ---

// Mixes a register into the word that stands for all values that decide about the loop.
static void mix_in(Code *c, PtxReg *state, PtxReg *scratch, const PtxReg *r) {
  unsigned size = ptx_type_size(r->type);
  PtxOperand from = opd_reg((PtxReg *)r);
  if (r->type == TYPE_PRED) EMIT(c, "selp.u32", opd_reg(scratch), opd_imm(1), opd_imm(0), from);
  else if (size == 8 && ptx_type_kind(r->type) != KIND_FLOAT)
    EMIT(c, "cvt.u32.u64", opd_reg(scratch), from);
  else if (size == 4) EMIT(c, "mov.b32", opd_reg(scratch), from);
  else if (size == 2 && ptx_type_kind(r->type) != KIND_FLOAT)
    EMIT(c, "cvt.u32.u16", opd_reg(scratch), from);
  else return;
  EMIT(c, "mul.lo.u32", opd_reg(state), opd_reg(state), opd_imm(31));
  EMIT(c, "add.u32", opd_reg(state), opd_reg(state), opd_reg(scratch));
}

static bool can_read(const PtxReg *r) {
  unsigned size = ptx_type_size(r->type);
  return !r->vector && (r->type == TYPE_PRED || size == 4 ||
                        ((size == 8 || size == 2) && ptx_type_kind(r->type) != KIND_FLOAT));
}

// The address that the loop reads again and again, computed from what its register holds now.
static void find_address(Code *c, PtxReg *to, const PtxInstr *load) {
  EMIT(c, "mov.u64", opd_reg(to), opd_imm(0));
  for (unsigned k = 0; load && k < load->nops; k++) {
    const PtxOperand *o = &load->ops[k];
    if (o->kind != OPD_ADDR || o->nlist != 1) continue;
    if (o->list[0].kind == OPD_REG && ptx_type_size(o->list[0].reg->type) == 8)
      EMIT(c, "add.u64", opd_reg(to), o->list[0], opd_imm(o->imm));
    else if (o->list[0].kind == OPD_REG && ptx_type_size(o->list[0].reg->type) == 4)
      EMIT(c, "cvt.u64.u32", opd_reg(to), o->list[0]);
    return;
  }
}

static void watch_loop(Sync *s, uint32_t loop, const IrLoopEnd *e) {
  Body *b = s->body;
  const IrCfg *cfg = b->cfg;
  const IrLoop *l = &cfg->loops[loop];
  uint32_t header = cfg->blocks[l->header].first;
  if (header >= cfg->blocks[l->header].end) return;
  PtxReg *turns = body_reg(b, TYPE_B32), *rest = body_temp(b, TYPE_B32, 0),
         *due = body_temp(b, TYPE_PRED, 0);
  EMIT(body_entry(b), "mov.u32", opd_reg(turns), opd_imm(0));
  // The count starts again when the loop is entered again.
  const IrBlock *h = &cfg->blocks[l->header];
  for (uint32_t i = 0; i < h->npred; i++) {
    const IrBlock *p = &cfg->blocks[h->pred[i]];
    if (ir_in_loop(cfg, h->pred[i], loop) || p->nsucc != 1 || p->first == p->end) continue;
    const PtxInstr *last = cfg->instrs[p->end - 1];
    EMIT(last->op == OP_BRA ? body_before(b, p->end - 1) : body_after(b, p->end - 1), "mov.u32",
         opd_reg(turns), opd_imm(0));
  }
  Code *c = body_before(b, header), *cold = body_cold(b);
  PtxLabel *rare = body_label(b), *back = body_label(b);
  EMIT(c, "add.u32", opd_reg(turns), opd_reg(turns), opd_imm(1));
  EMIT(c, "and.b32", opd_reg(rest), opd_reg(turns),
       opd_imm((e->kind == IR_END_WAITS ? TURNS_WAITING : TURNS_WORKING) - 1));
  EMIT(c, "setp.eq.u32", opd_reg(due), opd_reg(rest), opd_imm(0));
  code_branch(c, due, false, rare);
  code_label(c, back);

  const PtxInstr *branch = cfg->instrs[e->branch],
                 *load = e->load == IR_NONE ? NULL : cfg->instrs[e->load];
  PtxReg *state = body_temp(b, TYPE_B32, 0), *scratch = body_temp(b, TYPE_B32, 1),
         *flags = body_temp(b, TYPE_B32, 2), *number = body_temp(b, TYPE_B32, 3);
  PtxReg *launch = body_temp(b, TYPE_B32, 4), *stop = body_temp(b, TYPE_B32, 5),
         *watch = body_temp(b, TYPE_B64, 0), *address = body_temp(b, TYPE_B64, 1),
         *zero = body_temp(b, TYPE_PRED, 0);
  bool shared = load && load->space == SPACE_SHARED;
  cold->near = branch;
  code_label(cold, rare);
  EMIT(cold, "mov.u32", opd_reg(state), opd_imm(1));
  bool readable = e->all_watched;
  for (uint32_t i = 0; i < e->nwatched; i++) readable &= can_read(e->watched[i]);
  // not known: whatever it does counts as progress
  if (!readable) EMIT(cold, "mov.u32", opd_reg(state), opd_reg(turns));
  for (uint32_t i = 0; readable && i < e->nwatched; i++)
    mix_in(cold, state, scratch, e->watched[i]);
  EMIT(cold, "mov.u32", opd_reg(flags),
       opd_imm((e->kind == IR_END_FIXED ? WG_WATCH_FIXED : 0) | (load ? WG_WATCH_WAITS : 0) |
               (shared ? WG_WATCH_SHARED : 0)));
  if (e->kind == IR_END_STEPS && e->step->kind == OPD_REG && can_read(e->step->reg) &&
      ptx_type_size(e->step->reg->type) >= 4) {
    if (ptx_type_size(e->step->reg->type) == 8)
      EMIT(cold, "setp.eq.u64", opd_reg(zero), *e->step, opd_imm(0));
    else EMIT(cold, "setp.eq.u32", opd_reg(zero), *e->step, opd_imm(0));
    code_guard(cold, zero, false);
    EMIT(cold, "or.b32", opd_reg(flags), opd_reg(flags), opd_imm(WG_WATCH_NO_STEP));
    code_guard(cold, NULL, false);
  }
  find_address(cold, address, load);
  record_load(cold, watch, offsetof(WgLaunch, progress));
  record_load(cold, launch, offsetof(WgLaunch, launch));
  record_site(cold, number, program_site(b->program, b, branch));
  const PtxOperand args[] = {opd_reg(watch), opd_reg(launch), opd_reg(number), opd_reg(flags),
                             opd_reg(turns), opd_reg(state),  opd_reg(address)};
  code_call_value(cold, probe_function(b->program, b->unit, "wg_watch_loop"), stop, args,
                  ARRAY_LEN(args));
  EMIT(cold, "setp.ne.u32", opd_reg(zero), opd_reg(stop), opd_imm(0));
  code_guard(cold, zero, false);
  EMIT(cold, "exit");
  code_guard(cold, NULL, false);
  EMIT(cold, "bra", opd_label(back));
}

void watch_weave_loops(Sync *s) {
  for (uint32_t k = 0; k < s->body->cfg->nloops; k++) {
    IrLoopEnd e;
    ir_loop_end(s->body->cfg, k, &e);
    // i += blockDim.x
    bool by_extent = e.kind == IR_END_STEPS && e.step && constant_is_extent(s->body, e.step);
    if (e.kind != IR_END_BOUNDED && !by_extent) watch_loop(s, k, &e);
  }
}
