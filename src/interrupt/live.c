// Which registers a stop saves: those that are live there, except those that the second kernel can
// compute again from its parameters and thread numbers.
#include "interrupt/stops.h"

enum { MOST_AGAIN = 6 };  // instructions to compute one register again

typedef struct Live {
  uint64_t *bits;
  bool defs;
  bool kills;
} Live;

static void visit(void *ctx, PtxReg **reg, bool is_def) {
  Live *l = ctx;
  uint64_t bit = 1ull << ((*reg)->id % 64), *word = &l->bits[(*reg)->id / 64];
  if (is_def != l->defs) return;
  if (!is_def) *word |= bit;
  else if (l->kills && !(*reg)->vector) *word &= ~bit;
}

// Turns the registers that are live after the instruction into those that are live before it.
static void step_back(Live *l, PtxInstr *in) {
  l->kills = !in->guard;
  l->defs = true;
  ptx_visit_regs(in, visit, l);
  l->defs = false;
  ptx_visit_regs(in, visit, l);
}

void stops_live_at(const IrCfg *c, const IrLiveness *live, uint32_t at, bool behind,
                   uint64_t *bits) {
  const IrBlock *b = &c->blocks[c->block_of[at]];
  memcpy(bits, live->live_out[c->block_of[at]], sizeof *bits * live->words);
  Live l = {.bits = bits};
  for (uint32_t i = b->end; i-- > at + (behind ? 1 : 0);) step_back(&l, c->instrs[i]);
}

// --- registers that are computed again ---

static bool same_in_second_kernel(PtxSreg s) {
  switch (s) {
    case SREG_TID:
    case SREG_NTID:
    case SREG_CTAID:
    case SREG_NCTAID:
    case SREG_LANEID:
    case SREG_LANEMASK_EQ:
    case SREG_LANEMASK_LE:
    case SREG_LANEMASK_LT:
    case SREG_LANEMASK_GE:
    case SREG_LANEMASK_GT: return true;
    default: return false;
  }
}

typedef struct Again {
  const IrCfg *cfg;
  const IrDefs *defs;
  uint32_t list[MOST_AGAIN];
  uint32_t n;
} Again;

static bool add_again(Again *a, const PtxReg *r);

static bool operand_again(Again *a, const PtxInstr *in, const PtxOperand *o) {
  switch (o->kind) {
    case OPD_REG: return add_again(a, o->reg);
    case OPD_INT:
    case OPD_FLOAT: return true;
    case OPD_SREG: return same_in_second_kernel(o->sreg);
    case OPD_VAR: return o->var->space != SPACE_LOCAL;
    case OPD_ADDR:
      return in->op == OP_LD && in->space == SPACE_PARAM && o->nlist == 1 &&
             ir_is_kernel_param(a->cfg->func, &o->list[0]);
    default: return false;
  }
}

// true: the register's only write follows from parameters, special registers and constants. Adds
// the instructions in the order in which they are executed.
static bool add_again(Again *a, const PtxReg *r) {
  uint32_t def = a->defs->instr[r->id];
  if (def == IR_NONE || def == IR_SEVERAL || r->vector) return false;
  const PtxInstr *in = a->cfg->instrs[def];
  for (uint32_t i = 0; i < a->n; i++)
    if (a->list[i] == def) return true;
  bool simple = in->op == OP_LD || in->op == OP_MOV || in->op == OP_CVTA ||
                ir_is_simple_arithmetic(in);
  if (in->guard || !simple || ptx_op_defs(in->op) != 1 || in->ops[0].kind != OPD_REG ||
      in->ops[0].selector)
    return false;
  if (in->op == OP_LD && in->nops != 2) return false;
  for (unsigned o = 1; o < in->nops; o++)
    if (!operand_again(a, in, &in->ops[o])) return false;
  if (a->n == MOST_AGAIN) return false;
  a->list[a->n++] = def;
  return true;
}

typedef struct Instructions {
  uint32_t *list;
  uint32_t n;
} Instructions;

static bool compute_again(const IrCfg *c, const IrDefs *defs, const PtxReg *r, Instructions *out) {
  Again a = {.cfg = c, .defs = defs};
  if (!add_again(&a, r)) return false;
  for (uint32_t i = 0; i < a.n; i++) {
    bool known = false;
    for (uint32_t k = 0; k < out->n; k++) known |= out->list[k] == a.list[i];
    if (!known) out->list[out->n++] = a.list[i];
  }
  return true;
}

// --- the layout ---

static bool is_of_call(const Stop *s, const PtxReg *r) {
  bool is = r == s->served;
  for (unsigned i = 0; i < INTERRUPT_RESULT_WORDS; i++) is |= r == s->results[i];
  return is;
}

static bool can_save(const PtxReg *r) {
  unsigned size = ptx_type_size(r->type);
  return !r->vector && (r->type == TYPE_PRED || size == 2 || size == 4 || size == 8);
}

static bool lay_out(Stops *s, Stop *stop, const uint64_t *bits, const IrDefs *defs, Error *err) {
  const PtxFunc *f = s->func;
  PtxReg **wide = ARENA_ARRAY(&s->arena, PtxReg *, f->nregs * 3 + 1), **narrow = wide + f->nregs,
         **preds = narrow + f->nregs;
  Instructions again = {ARENA_ARRAY(&s->arena, uint32_t, s->cfg->ninstrs + 1), 0};
  for (uint32_t r = 0; r < f->nregs; r++) {
    PtxReg *reg = f->regs[r];
    if (!(bits[r / 64] >> (r % 64) & 1) || is_of_call(stop, reg) || reg == s->locals) continue;
    if (compute_again(s->cfg, defs, reg, &again)) continue;
    if (!can_save(reg))
      return stops_refuse(err, f, s->cfg->instrs[stop->at],
                          arena_printf(&s->arena, "register %s, a %s of .%s, is live", reg->name,
                                       reg->vector ? "vector" : "value", ptx_type_name(reg->type)));
    if (reg->type == TYPE_PRED) preds[stop->npreds++] = reg;
    else if (ptx_type_size(reg->type) == 8) wide[stop->nwide++] = reg;
    else narrow[stop->nnarrow++] = reg;
  }
  uint32_t n = stop->nwide + stop->nnarrow + stop->npreds;
  stop->saved = ARENA_ARRAY(&s->arena, PtxReg *, n + 1);
  memcpy(stop->saved, wide, sizeof *wide * stop->nwide);
  memcpy(stop->saved + stop->nwide, narrow, sizeof *wide * stop->nnarrow);
  memcpy(stop->saved + stop->nwide + stop->nnarrow, preds, sizeof *wide * stop->npreds);
  stop->again = again.list;
  stop->nagain = again.n;
  s->nwide = MAX(s->nwide, stop->nwide);
  return true;
}

bool stops_find_live(Stops *s, Error *err) {
  IrLiveness *live = ir_liveness_build(s->cfg);
  IrDefs *defs = ir_defs_build(s->cfg);
  uint64_t *bits = ARENA_ARRAY(&s->arena, uint64_t, live->words + 1);
  bool ok = true;
  for (uint32_t i = 0; i < s->n && ok; i++) {
    stops_live_at(s->cfg, live, s->list[i].at, s->list[i].kind == STOP_CALL, bits);
    ok = lay_out(s, &s->list[i], bits, defs, err);
  }
  // A column has the same size at all stops: threads that are at different ones share it.
  for (uint32_t i = 0; i < s->n; i++) {
    Stop *stop = &s->list[i];
    stop->bytes = 8 * s->nwide + 4 * stop->nnarrow + 4 * ((stop->npreds + 31) / 32);
    stop->call.args_at = stop->bytes;
  }
  ir_defs_free(defs);
  ir_liveness_free(live);
  return ok;
}
