// Instructions that move more than one value: asynchronous copies, and matrices that the lanes of a
// warp load and store together.
#include "tools/memcheck/internal.h"

// --- copies ---

// cp.async: 4, 8 or 16 bytes from global to shared memory. With a fourth operand only so many are
// read, and zeros fill the rest; a predicate there says that nothing is read.
static void plan_small_copy(Memcheck *m, uint32_t instr) {
  const PtxInstr *in = m->body->cfg->instrs[instr];
  uint32_t bytes = access_bytes(in);
  if (!bytes) return;
  const PtxOperand *more = in->nops > 3 ? &in->ops[3] : NULL;
  bool is_size = more && (more->kind == OPD_INT ||
                          (more->kind == OPD_REG && ptx_type_size(more->reg->type) == 4));
  bool may_ignore = more && more->kind == OPD_REG && more->reg->type == TYPE_PRED;
  Check to = {.instr = instr,
              .operand = 0,
              .space = SPACE_SHARED,
              .access = WG_ACCESS_WRITE,
              .bytes = bytes,
              .align = bytes};
  Check from = {.instr = instr,
                .operand = 1,
                .space = SPACE_GLOBAL,
                .access = WG_ACCESS_READ,
                .bytes = bytes,
                .align = bytes};
  if (is_size) {
    from.size = more;
    from.size_at = UINT32_MAX;
    from.bytes = 1;
  }
  memcheck_plan_address(m, to);
  if (!may_ignore) memcheck_plan_address(m, from);
}

// Shared memory of a cluster is this block's where the address is that of a variable; mapa gives
// the others'.
static bool is_own(const Memcheck *m, uint32_t instr, unsigned operand) {
  return ir_address(m->defs, m->provenance, instr, &m->body->cfg->instrs[instr]->ops[operand])
             .origin.kind == IR_FROM_VAR;
}

// A bulk copy to several blocks is left alone: each of them waits for its bytes. So are copies
// whose ends may be left out.
static void plan_bulk_copy(Memcheck *m, uint32_t instr) {
  enum { BULK_ALIGN = 16 };
  const PtxInstr *in = m->body->cfg->instrs[instr];
  if (ptx_has(in, MOD_MULTICAST_CLUSTER) || ptx_has(in, MOD_CP_MASK) || ptx_has(in, MOD_IGNORE_OOB))
    return;
  bool reduces = in->op == OP_CP_REDUCE_ASYNC_BULK;
  const PtxOperand *size = &in->ops[2];
  for (unsigned k = 0; k < 2; k++) {
    bool cluster = false;
    Check c = {.instr = instr,
               .operand = k,
               .space = access_bulk_space(in, k, &cluster),
               .access = k         ? WG_ACCESS_READ
                         : reduces ? WG_ACCESS_ATOMIC
                                   : WG_ACCESS_WRITE,
               .bytes = size->kind == OPD_INT ? (uint32_t)size->imm : 1,
               .size = size->kind == OPD_INT ? NULL : size,
               .size_at = UINT32_MAX,
               .align = BULK_ALIGN};
    if (c.bytes && c.space != SPACE_NONE && (!cluster || is_own(m, instr, k)))
      memcheck_plan_address(m, c);
  }
}

void memcheck_complete(Memcheck *m, Code *code, const PtxInstr *in) {
  if ((in->op != OP_CP_ASYNC_BULK && in->op != OP_CP_REDUCE_ASYNC_BULK) || in->nops < 4 ||
      in->ops[3].kind != OPD_ADDR)
    return;
  if (!ptx_has(in, MOD_COMPLETE_TX_BYTES)) return;
  EMIT(code, "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64", in->ops[3], in->ops[2]);
}

// --- matrices ---

static void plan_matrix(Memcheck *m, uint32_t instr) {
  enum { ROW = 16 };
  const PtxInstr *in = m->body->cfg->instrs[instr];
  bool loads = in->op == OP_LDMATRIX;
  memcheck_plan_address(m, (Check){.instr = instr,
                                   .operand = loads ? 1 : 0,
                                   .space = in->space,
                                   .access = loads ? WG_ACCESS_READ : WG_ACCESS_WRITE,
                                   .bytes = ROW,
                                   .align = ROW,
                                   .lanes = access_matrix_lanes(in)});
}

// Where the extent of a tile is computed: where the distance of its lines is, if that is one place,
// so that it is known before a loop; else at the access.
static Code *extent_code(Memcheck *m, const PtxReg *stride, Check *c) {
  const IrCfg *cfg = m->body->cfg;
  uint32_t at = ir_single_def(m->defs, stride) ? m->defs->instr[stride->id] : UINT32_MAX;
  c->size_at = at == UINT32_MAX || !ir_dominates(cfg, cfg->block_of[at], cfg->block_of[c->instr])
                   ? UINT32_MAX
                   : cfg->block_of[at];
  return c->size_at == UINT32_MAX ? body_before(m->body, c->instr) : body_after(m->body, at);
}

static void plan_extent(Memcheck *m, Check *c, PtxReg *stride, uint32_t factor, uint32_t more) {
  for (unsigned i = 0; i < m->nextents; i++) {
    const Extent *e = &m->extents[i];
    if (e->stride != stride || e->factor != factor || e->more != more ||
        !ir_dominates(m->body->cfg, e->size_at, m->body->cfg->block_of[c->instr]))
      continue;
    c->size = e->size;
    c->size_at = e->size_at;
    return;
  }
  Code *code = extent_code(m, stride, c);
  PtxReg *span = body_reg(m->body, TYPE_B32);
  EMIT(code, "mad.lo.u32", opd_reg(span), opd_reg(stride), opd_imm(factor), opd_imm(more));
  EMIT(code, "shr.u32", opd_reg(span), opd_reg(span), opd_imm(3));
  PtxOperand *size = ARENA_NEW(&m->body->program->scratch, PtxOperand);
  *size = opd_reg(span);
  c->size = size;
  if (c->size_at != UINT32_MAX && m->nextents < MEMCHECK_EXTENTS)
    m->extents[m->nextents++] = (Extent){stride, factor, more, size, c->size_at};
}

// wmma: from the first line to the end of the last. The distance of lines is an operand, else they
// follow each other.
static void plan_tile(Memcheck *m, uint32_t instr) {
  const PtxInstr *in = m->body->cfg->instrs[instr];
  bool loads = in->op == OP_WMMA_LOAD;
  uint32_t lines, elements, bits = in->ntypes ? access_type_bits(in->types[0]) : 0;
  if (!access_tile_shape(in, &lines, &elements) || bits * elements < 8) return;
  Check c = {.instr = instr,
             .operand = loads ? 1 : 0,
             .space = in->space,
             .access = loads ? WG_ACCESS_READ : WG_ACCESS_WRITE,
             .bytes = lines * elements * bits / 8,
             .align = 1,
             .lanes = 32};
  const PtxOperand *stride = in->nops > 2 ? &in->ops[2] : NULL;
  if (stride && stride->kind == OPD_INT)
    c.bytes = (uint32_t)(((lines - 1) * stride->imm + elements) * bits / 8);
  if (stride && stride->kind == OPD_REG) {
    plan_extent(m, &c, stride->reg, (lines - 1) * bits, elements * bits);
    c.bytes = 1;
  }
  memcheck_plan_address(m, c);
}

bool memcheck_plan_wide(Memcheck *m, uint32_t instr) {
  switch (ptx_op_memory(m->body->cfg->instrs[instr]->op)) {
    case MEMORY_COPY: plan_small_copy(m, instr); return true;
    case MEMORY_BULK: plan_bulk_copy(m, instr); return true;
    case MEMORY_MATRIX: plan_matrix(m, instr); return true;
    case MEMORY_TILE: plan_tile(m, instr); return true;
    default: return false;
  }
}

// All lanes of the warp go the same way: if one of them has a bad address, the instruction is left
// out for all.
//
//     bad = the quick test fails and this lane's address counts
//     any = vote.any(bad);  @any bra Slow;
//   Slow:
//     kind = bad ? exact : 0;
//     any = vote.any(kind != 0);  @!any bra Back;
//     @kind != 0 report;  destination = 0;  bra After;
void memcheck_emit_together(Memcheck *m, Check *c) {
  Body *b = m->body;
  PtxInstr *in = b->cfg->instrs[c->instr];
  PtxLabel *slow = body_label(b), *back = body_label(b), *after = body_label(b);
  PtxReg *any = body_temp(b, TYPE_PRED, 3), *wrong = body_temp(b, TYPE_PRED, 4),
         *lane = body_temp(b, TYPE_B32, 0), *kind = body_temp(b, TYPE_B32, 2);
  Code *code = c->hoisted ? body_before_once(b, c->instr) : body_before(b, c->instr);
  PtxReg *bad = memcheck_test(m, code, c);
  if (c->lanes < 32) {
    EMIT(code, "mov.u32", opd_reg(lane), opd_sreg(SREG_LANEID, SEL_NONE));
    EMIT(code, "setp.lt.and.u32", opd_reg(bad), opd_reg(lane), opd_imm(c->lanes), opd_reg(bad));
  }
  EMIT(code, "vote.sync.any.pred", opd_reg(any), opd_reg(bad), opd_imm(-1));
  code_branch(code, any, false, slow);
  code_label(code, back);
  code_label_first(body_after(b, c->instr), after);
  code = body_cold(b);
  code->near = in;
  code_label(code, slow);
  PtxReg *address = memcheck_address(m, code, c, 0);
  EMIT(code, "mov.u32", opd_reg(kind), opd_imm(0));
  code_guard(code, bad, false);
  memcheck_emit_exact(m, code, c, kind, address);
  code_guard(code, NULL, false);
  EMIT(code, "setp.ne.u32", opd_reg(wrong), opd_reg(kind), opd_imm(0));
  EMIT(code, "vote.sync.any.pred", opd_reg(any), opd_reg(wrong), opd_imm(-1));
  PtxLabel *report = body_label(b);
  code_branch(code, any, false, report);
  EMIT(code, "bra", opd_label(back));
  code_label(code, report);
  code_guard(code, wrong, false);
  memcheck_report(m, code, c, kind, address);
  code_guard(code, NULL, false);
  memcheck_zero(code, in);
  EMIT(code, "bra", opd_label(after));
}
