// The words that stmatrix writes. A lane provides the address of a row of 16 bytes; other lanes
// hold its elements. Lane 8 * m + r provides the address of row r of matrix m, and register m of
// lane 4 * row + word holds a word of a row. With .trans that register holds elements 2 * word and
// 2 * word + 1 of a column, and rows are columns.
#include "tools/racecheck/weave_emit.h"

enum { ROWS = 8, WORDS = 4 };

static unsigned matrices(const PtxInstr *in) {
  const PtxOperand *from = &in->ops[1];
  return from->kind == OPD_VECTOR ? from->nlist : 1;
}

static const PtxOperand *matrix(const PtxInstr *in, unsigned m) {
  const PtxOperand *from = &in->ops[1];
  return from->kind == OPD_VECTOR ? &from->list[m] : from;
}

static bool is_known(const RaceAccess *a, const PtxInstr *in) {
  if (in->op != OP_STMATRIX || in->guard || in->nops != 2 || a->place != RACE_SHARED_MEMORY ||
      !in->ntypes || in->types[0] != TYPE_B16)
    return false;
  for (unsigned m = 0; m < matrices(in); m++)
    if (matrix(in, m)->kind != OPD_REG) return false;
  return true;
}

void race_plan_row(Emit *e) {
  RaceCheck *k = e->k;
  if (!is_known(e->a, e->in)) return;
  for (unsigned w = 0; w < WORDS; w++) {
    if (!k->row[w]) k->row[w] = body_reg(k->body, TYPE_B32);
    e->row[w] = opd_reg(k->row[w]);
  }
  e->has_row = true;
}

// to = register m of the lane whose number is in `lane` plus `more`.
static void ask_lane(Emit *e, Code *c, PtxReg *to, unsigned m, PtxReg *lane, unsigned more) {
  PtxReg *from = word(e, 3);
  EMIT(c, "add.u32", opd_reg(from), opd_reg(lane), opd_imm(more));
  EMIT(c, "shfl.sync.idx.b32", opd_reg(to), *matrix(e->in, m), opd_reg(from), opd_imm(31),
       opd_imm(-1));
}

// A word of a row of matrix m. lane: with .trans half the row's number, else the row's first lane.
static void ask_word(Emit *e, Code *c, PtxReg *to, unsigned m, PtxReg *lane, unsigned w) {
  if (!ptx_has(e->in, MOD_TRANS)) {
    ask_lane(e, c, to, m, lane, w);
    return;
  }
  PtxReg *second = word(e, 4);
  ask_lane(e, c, to, m, lane, 4 * (2 * w));
  ask_lane(e, c, second, m, lane, 4 * (2 * w + 1));
  EMIT(c, "prmt.b32", opd_reg(to), opd_reg(to), opd_reg(second), opd_reg(e->k->row_half));
}

// All lanes are active: the instruction is .aligned, and the path to this code is the same for all
// of them.
void race_gather_row(Emit *e, Code *c) {
  if (!e->has_row) return;
  RaceCheck *k = e->k;
  bool transposed = ptx_has(e->in, MOD_TRANS);
  PtxReg *lane = word(e, 0), *own = word(e, 1), *other = word(e, 2), *p = pred(e, 0);
  EMIT(c, "mov.u32", opd_reg(own), opd_sreg(SREG_LANEID, SEL_NONE));
  EMIT(c, "and.b32", opd_reg(lane), opd_reg(own), opd_imm(ROWS - 1));
  EMIT(c, "shr.u32", opd_reg(own), opd_reg(own), opd_imm(3));
  if (transposed) {
    if (!k->row_half) k->row_half = body_reg(k->body, TYPE_B32);
    EMIT(c, "and.b32", opd_reg(other), opd_reg(lane), opd_imm(1));
    EMIT(c, "setp.ne.u32", opd_reg(p), opd_reg(other), opd_imm(0));
    // the upper halves of two words, or the lower ones
    EMIT(c, "selp.b32", opd_reg(k->row_half), opd_imm(0x7632), opd_imm(0x5410), opd_reg(p));
    EMIT(c, "shr.u32", opd_reg(lane), opd_reg(lane), opd_imm(1));
  } else EMIT(c, "shl.b32", opd_reg(lane), opd_reg(lane), opd_imm(2));
  for (unsigned w = 0; w < WORDS; w++)
    for (unsigned m = 0; m < matrices(e->in); m++) {
      ask_word(e, c, m ? other : k->row[w], m, lane, w);
      if (!m) continue;
      EMIT(c, "setp.eq.u32", opd_reg(p), opd_reg(own), opd_imm(m));
      EMIT(c, "selp.b32", opd_reg(k->row[w]), opd_reg(other), opd_reg(k->row[w]), opd_reg(p));
    }
}
