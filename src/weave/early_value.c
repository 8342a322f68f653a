// Computes, at an earlier instruction of a basic block, what a register will hold at a later one.
// Works for values that follow from other registers by simple arithmetic.
#include "weave/pass.h"

enum { DEEPEST = 10 };

static bool is_comparison(const PtxInstr *in) {
  return in->op == OP_SETP && !in->guard && in->ops[0].kind == OPD_REG;
}

bool early_is_pure(const PtxInstr *in) {
  if (!ir_is_simple_arithmetic(in) && !is_comparison(in)) return false;
  for (unsigned k = 1; k < in->nops; k++)
    if ((in->ops[k].kind != OPD_REG && in->ops[k].kind != OPD_INT && in->ops[k].kind != OPD_VAR) ||
        in->ops[k].selector != SEL_NONE || (in->ops[k].kind == OPD_REG && in->ops[k].reg->vector))
      return false;
  return true;
}

typedef struct Wanted {
  const PtxReg *reg;
  bool defined;
} Wanted;
static void look_for(void *ctx, PtxReg **reg, bool is_def) {
  Wanted *wanted = ctx;
  wanted->defined |= is_def && *reg == wanted->reg;
}

// The last instruction before `at` that writes the register; UINT32_MAX: none from `first` on.
static uint32_t written_at(const Early *e, const PtxReg *r, uint32_t at) {
  for (uint32_t i = at; i-- > e->first;) {
    Wanted wanted = {r, false};
    ptx_visit_regs(e->body->cfg->instrs[i], look_for, &wanted);
    if (wanted.defined) return i;
  }
  return UINT32_MAX;
}

static bool is_known(const Early *e, const PtxReg *r, uint32_t at, unsigned depth) {
  uint32_t d = written_at(e, r, at);
  if (d == UINT32_MAX) return true;
  const PtxInstr *in = e->body->cfg->instrs[d];
  if (depth == DEEPEST || !early_is_pure(in)) return false;
  for (unsigned k = 1; k < in->nops; k++)
    if (in->ops[k].kind == OPD_REG && !is_known(e, in->ops[k].reg, d, depth + 1)) return false;
  return true;
}

Early early_begin(Body *b, uint32_t first) { return (Early){.body = b, .first = first}; }
bool early_is_unwritten(const Early *e, const PtxReg *r, uint32_t at) {
  return written_at(e, r, at) == UINT32_MAX;
}
bool early_is_known(const Early *e, const PtxReg *r, uint32_t at) { return is_known(e, r, at, 0); }

typedef struct Read {
  Early *early;
  Code *code;
  uint32_t at;
} Read;
static PtxReg *value_read(void *user, PtxReg *r) {
  const Read *read = user;
  return early_value(read->early, read->code, r, read->at);
}

PtxReg *early_value(Early *e, Code *code, PtxReg *r, uint32_t at) {
  uint32_t d = written_at(e, r, at);
  if (d == UINT32_MAX) return r;
  const PtxInstr *in = e->body->cfg->instrs[d];
  for (unsigned i = 0; i < e->n; i++)
    if (e->in[i] == in) return e->reg[i];
  Read read = {e, code, d};
  PtxReg *to = code_recompute(code, in, value_read, &read);
  if (e->n < EARLY_MOST) {
    e->in[e->n] = in;
    e->reg[e->n++] = to;
  }
  return to;
}
