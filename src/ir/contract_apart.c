// contract_apart: keeps products and additions apart that ptxas did not fuse, whatever a later pass
// does to the code.
//
// A product and an addition can only ever become one FMA if neither has a rounding mode and the
// value flows from one to the other. Only such pairs get .rn, on one side: elsewhere a plain mul or
// sub allows ptxas other things that .rn forbids, for example x - y > 0 becoming x > y, and (x * y)
// * 0.5 one scaled multiplication. So the product gets it, or if it goes into a multiplication by a
// constant, the addition. A pair that only meets across iterations of a loop which ptxas may unroll
// first is left alone: it may or may not be fused.
#include "ir/contract.h"

typedef struct Flow {
  const IrCfg *c;
  ContractPlan *plan;
  Arena arena;
  uint32_t *from, *to, ncopies;  // registers copied, in any form
  uint32_t *at, *list;           // the same by register, for the direction at hand
} Flow;

typedef struct CopyRegs {
  uint32_t reads[8], writes[8];
  uint32_t nreads, nwrites;
} CopyRegs;

static void collect(void *ctx, PtxReg **reg, bool is_def) {
  CopyRegs *r = ctx;
  if (is_def && r->nwrites < ARRAY_LEN(r->writes)) r->writes[r->nwrites++] = (*reg)->id;
  if (!is_def && (*reg)->type != TYPE_PRED && r->nreads < ARRAY_LEN(r->reads))
    r->reads[r->nreads++] = (*reg)->id;
}

static bool is_copy(const PtxInstr *in) {
  return in->op == OP_MOV || in->op == OP_NEG || in->op == OP_SELP;
}

static void find_copies(Flow *f) {
  for (int pass = 0; pass < 2; pass++) {
    if (pass) {
      f->from = ARENA_ARRAY(&f->arena, uint32_t, f->ncopies + 1);
      f->to = ARENA_ARRAY(&f->arena, uint32_t, f->ncopies + 1);
      f->ncopies = 0;
    }
    for (uint32_t i = 0; i < f->c->ninstrs; i++) {
      if (!is_copy(f->c->instrs[i])) continue;
      CopyRegs r = {.nreads = 0};
      ptx_visit_regs(f->c->instrs[i], collect, &r);
      for (uint32_t k = 0; k < r.nreads; k++)
        for (uint32_t j = 0; j < r.nwrites; j++, f->ncopies++)
          if (pass) {
            f->from[f->ncopies] = r.reads[k];
            f->to[f->ncopies] = r.writes[j];
          }
    }
  }
}

// Spreads marks along copies: from `a` to `b`.
static void spread(Flow *f, bool *marked, const uint32_t *a, const uint32_t *b) {
  uint32_t nregs = f->c->func->nregs, top = 0;
  uint32_t *stack = ARENA_ARRAY(&f->arena, uint32_t, nregs + 1);
  f->at = ARENA_ARRAY(&f->arena, uint32_t, nregs + 2);
  f->list = ARENA_ARRAY(&f->arena, uint32_t, f->ncopies + 1);
  for (uint32_t i = 0; i < f->ncopies; i++) f->at[a[i] + 1]++;
  for (uint32_t r = 0; r < nregs; r++) f->at[r + 1] += f->at[r];
  for (uint32_t i = 0; i < f->ncopies; i++) f->list[f->at[a[i]]++] = b[i];
  for (uint32_t r = nregs; r > 0; r--) f->at[r] = f->at[r - 1];
  f->at[0] = 0;
  for (uint32_t r = 0; r < nregs; r++)
    if (marked[r]) stack[top++] = r;
  while (top) {
    uint32_t r = stack[--top];
    for (uint32_t k = f->at[r]; k < f->at[r + 1]; k++) {
      if (marked[f->list[k]]) continue;
      marked[f->list[k]] = true;
      stack[top++] = f->list[k];
    }
  }
}

static bool is_open_addition(const Flow *f, uint32_t i) {
  const PtxInstr *in = f->c->instrs[i];
  return (in->op == OP_ADD || in->op == OP_SUB) && contract_is_candidate(in) &&
         f->plan->steps[i].action == CONTRACT_NONE;
}

static bool reads_marked(const PtxInstr *in, const bool *marked) {
  for (int k = 1; k < 3; k++)
    if (in->ops[k].kind == OPD_REG && marked[in->ops[k].reg->id]) return true;
  return false;
}

// A multiplication that ptxas turns into a move or a constant, but would not with .rn. The sum is
// the same, fused or not.
static bool is_trivial(const PtxInstr *in, const ContractFacts *facts) {
  uint64_t a, b;
  if (in->op != OP_MUL) return false;
  bool ca = contract_constant(facts, &in->ops[1], &a),
       cb = contract_constant(facts, &in->ops[2], &b);
  return (ca && cb) || (ca && contract_is_one(in->types[0], a)) ||
         (cb && contract_is_one(in->types[0], b));
}

// Per register: the last multiplication by a constant that reads it, as a place in the order, and
// the number of such multiplications.
typedef struct Scaling {
  uint64_t last;
  uint32_t count;
} Scaling;

static uint64_t place(const IrCfg *c, uint32_t i) {
  return (uint64_t)c->blocks[c->block_of[i]].rpo << 32 | i;
}

static bool reads_scaled(const PtxInstr *in, const ContractFacts *facts, int k) {
  uint64_t bits;
  return in->op == OP_MUL && in->nops == 3 && in->ops[k].kind == OPD_REG &&
         contract_constant(facts, &in->ops[3 - k], &bits);
}

// Whether the value that instruction i writes to register r may later be multiplied by a constant.
static bool is_scaled_later(const IrCfg *c, const ContractFacts *facts, const Scaling *scaling,
                            uint32_t i, uint32_t r) {
  uint32_t own = 0;  // x = x * 2 reads the old x
  for (int k = 1; k < 3; k++)
    own += reads_scaled(c->instrs[i], facts, k) && c->instrs[i]->ops[k].reg->id == r;
  if (scaling[r].count == own) return false;
  return scaling[r].last > place(c, i) || c->blocks[c->block_of[i]].loop != IR_NONE;
}

void contract_keep_apart(const IrCfg *c, const ContractFacts *facts, ContractPlan *plan) {
  Flow f = {.c = c, .plan = plan};
  uint32_t nregs = c->func->nregs;
  bool *added = ARENA_ARRAY(&f.arena, bool, nregs + 1),
       *product = ARENA_ARRAY(&f.arena, bool, nregs + 1);
  Scaling *scaling = ARENA_ARRAY(&f.arena, Scaling, nregs + 1);
  bool *added_in_loop = ARENA_ARRAY(&f.arena, bool, nregs + 1);
  bool *unrollable = contract_find_unrollable(c, facts, &f.arena);
  find_copies(&f);
  for (uint32_t i = 0; i < c->ninstrs; i++) {
    const PtxInstr *in = c->instrs[i];
    for (int k = 1; k < 3 && is_open_addition(&f, i); k++)
      if (in->ops[k].kind == OPD_REG) {
        added[in->ops[k].reg->id] = true;
        added_in_loop[in->ops[k].reg->id] |= unrollable[c->block_of[i]];
      }
    for (int k = 1; k < 3; k++)
      if (reads_scaled(in, facts, k) && c->blocks[c->block_of[i]].rpo != IR_NONE) {
        Scaling *n = &scaling[in->ops[k].reg->id];
        n->count++;
        n->last = MAX(n->last, place(c, i));
      }
  }
  spread(&f, added, f.to, f.from);
  spread(&f, added_in_loop, f.to, f.from);
  for (uint32_t i = 0; i < c->ninstrs; i++) {
    const PtxInstr *in = c->instrs[i];
    if (plan->steps[i].action != CONTRACT_NONE || !contract_makes_product(in) ||
        in->ops[0].kind != OPD_REG)
      continue;
    uint32_t r = in->ops[0].reg->id;
    if (!added[r] || is_trivial(in, facts)) continue;
    if (!plan->steps[i].near_addition && (added_in_loop[r] || unrollable[c->block_of[i]])) continue;
    if (in->op == OP_MUL && !is_scaled_later(c, facts, scaling, i, r))
      plan->steps[i].action = CONTRACT_EXPLICIT;
    else product[r] = true;
  }
  spread(&f, product, f.from, f.to);
  for (uint32_t i = 0; i < c->ninstrs; i++)
    if (is_open_addition(&f, i) && reads_marked(c->instrs[i], product))
      plan->steps[i].action = CONTRACT_EXPLICIT;
  arena_free(&f.arena);
}
