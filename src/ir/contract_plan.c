// contract_plan: predicts which mul and add instructions ptxas (CUDA 13.0) fuses into one FMA.
//
// Found by experiment (tests/ir/contract_gen.py holds the shapes, docs/ir.md the account), the same
// from sm_75 to sm_120:
//  1. Only inside one basic block, as ptxas sees blocks: straight-line code is one block, but
//     instructions that become code with branches cut it (division, fences, calls, guarded memory
//     accesses …: cuts_block below). A product with an immediate, a kernel parameter or a constant
//     variable is fused in any block its value reaches unmerged.
//  2. Only a product without guard, rounding mode or .sat, whose every use is an add or sub of the
//     same type and .ftz, without rounding mode. Moves and negations in between are ignored; dead
//     code does not count.
//  3. An addition takes one product. Products with a single use are placed first, in program order,
//     first operand first. Products with several uses follow; of two, the one with fewer uses comes
//     first. A product that is the addend of an FMA is never fused. Packed types have only the
//     second round.
//  4. x + x is not fused, nor a sum of two equal products with single uses. A product with +1 or -1
//     is a move, not a product.
#include "ir/contract.h"

enum { NO_VALUE = UINT32_MAX };

typedef struct Value {  // what one instruction writes, where it matters to us
  enum { VALUE_PRODUCT, VALUE_COPY } kind;
  uint32_t instr, region;
  uint32_t source;  // COPY: the value copied
  bool negated;     // COPY: by neg
  bool needs_ftz;   // COPY: by neg.ftz, which is only transparent between .ftz instructions
  // PRODUCT
  uint32_t nuses;                 // additions that read it, through copies too
  bool blocked;                   // some use is not a fusable addition
  bool mobile;                    // an operand costs no register: may be fused in any block
  uint32_t version_a, version_b;  // of the source registers when it was computed
} Value;

typedef struct Addition {
  uint32_t instr, region;
  uint32_t product[2];  // value index or NO_VALUE
  bool negated[2];
  bool stale_a[2], stale_b[2];  // the product's sources were overwritten since
  uint32_t fused;               // product taken, or NO_VALUE
  uint8_t fused_operand;
} Addition;

typedef struct Planner {
  const IrCfg *c;
  uint32_t sm;
  ContractPlan *plan;
  Arena arena;
  ContractFacts facts;
  bool *dead;         // instruction has no effect
  uint32_t *current;  // register -> value it holds, NO_VALUE: something else
  uint32_t *version;  // register -> how many writes so far
  uint32_t region;
  VEC(Value) values;
  VEC(Addition) additions;
  VEC(uint32_t) touched;  // registers with a current value
} Planner;

static bool is_arithmetic_type(PtxType t) {
  return t == TYPE_F32 || t == TYPE_F64 || t == TYPE_F16 || t == TYPE_F16X2 || t == TYPE_BF16 ||
         t == TYPE_BF16X2;
}

static bool has_rounding(const PtxInstr *in) {
  return ptx_has(in, MOD_RN) || ptx_has(in, MOD_RZ) || ptx_has(in, MOD_RM) || ptx_has(in, MOD_RP);
}

bool contract_is_candidate(const PtxInstr *in) {
  return (in->op == OP_MUL || in->op == OP_ADD || in->op == OP_SUB) && in->ntypes == 1 &&
         is_arithmetic_type(in->types[0]) && in->nops == 3 && !has_rounding(in);
}

static bool is_quick_division(const PtxInstr *in) {
  return in->op == OP_DIV && in->ntypes == 1 && in->types[0] == TYPE_F32 &&
         (ptx_has(in, MOD_APPROX) || ptx_has(in, MOD_FULL));
}

// An approximate division is a product with a reciprocal. A reciprocal that keeps subnormals ends
// in a multiplication by a scale.
bool contract_makes_product(const PtxInstr *in) {
  if (in->op == OP_MUL) return contract_is_candidate(in);
  if (in->op == OP_RCP)
    return in->ntypes == 1 && in->types[0] == TYPE_F32 && ptx_has(in, MOD_APPROX) &&
           !ptx_has(in, MOD_FTZ);
  return is_quick_division(in);
}

// --- dead code ---

// Instructions that ptxas drops when the result is unread.
static bool has_no_side_effect(const PtxInstr *in) {
  if (ptx_op_is_arith(in->op)) return !ptx_has(in, MOD_CC);
  if (in->op == OP_LD)
    return !ptx_has(in, MOD_VOLATILE) && !ptx_has(in, MOD_ACQUIRE) && !ptx_has(in, MOD_RELAXED) &&
           !ptx_has(in, MOD_MMIO);
  return in->op == OP_CVTA || in->op == OP_ISSPACEP;
}

typedef struct Marker {
  bool *needed;
  VEC(uint32_t) queue;  // registers newly needed
} Marker;

static void mark_reads(void *ctx, PtxReg **reg, bool is_def) {
  Marker *m = ctx;
  if (is_def || m->needed[(*reg)->id]) return;
  m->needed[(*reg)->id] = true;
  vec_push(&m->queue, (*reg)->id);
}

typedef struct DefList {
  uint32_t *count;
  uint32_t *list;
  uint32_t instr;
  bool any_def;
  bool fill;
} DefList;

static void list_def(void *ctx, PtxReg **reg, bool is_def) {
  DefList *d = ctx;
  if (!is_def) return;
  d->any_def = true;
  if (d->fill) d->list[--d->count[(*reg)->id]] = d->instr;
  else d->count[(*reg)->id]++;
}

static void find_dead_code(Planner *p) {
  const IrCfg *c = p->c;
  uint32_t nregs = c->func->nregs, total = 0;
  DefList d = {.count = ARENA_ARRAY(&p->arena, uint32_t, nregs + 1)};
  p->dead = ARENA_ARRAY(&p->arena, bool, c->ninstrs + 1);
  Marker m = {.needed = ARENA_ARRAY(&p->arena, bool, nregs + 1)};
  for (uint32_t i = 0; i < c->ninstrs; i++) {
    d.any_def = false;
    ptx_visit_regs(c->instrs[i], list_def, &d);
    p->dead[i] = d.any_def && has_no_side_effect(c->instrs[i]);
  }
  for (uint32_t r = 0; r <= nregs; r++) d.count[r] = total += r < nregs ? d.count[r] : 0;
  d.list = ARENA_ARRAY(&p->arena, uint32_t, total + 1);
  d.fill = true;
  for (uint32_t i = 0; i < c->ninstrs; i++) {
    d.instr = i;
    ptx_visit_regs(c->instrs[i], list_def, &d);
  }
  for (uint32_t i = 0; i < c->ninstrs; i++)
    if (!p->dead[i]) ptx_visit_regs(c->instrs[i], mark_reads, &m);
  while (m.queue.len) {
    uint32_t r = m.queue.data[--m.queue.len];
    for (uint32_t k = d.count[r]; k < d.count[r + 1]; k++) {
      if (!p->dead[d.list[k]]) continue;
      p->dead[d.list[k]] = false;
      ptx_visit_regs(c->instrs[d.list[k]], mark_reads, &m);
    }
  }
  vec_free(&m.queue);
}

// --- blocks as ptxas sees them ---

static bool is_variable_mask(const Planner *p, const PtxInstr *in) {
  uint64_t bits;
  return in->nops && !contract_constant(&p->facts, &in->ops[in->nops - 1], &bits);
}

// Instructions that become code with branches, so that what follows is another block.
static bool cuts_block(const Planner *p, const PtxInstr *in) {
  PtxType t = in->ntypes ? in->types[0] : TYPE_NONE;
  if (in->guard && !ptx_op_is_arith(in->op) && !(ptx_op_classes(in) & CLASS_ADDRESS) &&
      in->op != OP_CREATEPOLICY)
    return true;
  switch (in->op) {
    case OP_DIV: return t != TYPE_U32 && !ptx_has(in, MOD_APPROX) && !ptx_has(in, MOD_FULL);
    case OP_REM: return t != TYPE_U32;
    case OP_RCP:
    case OP_SQRT: return !ptx_has(in, MOD_APPROX);
    case OP_RSQRT: return t == TYPE_F64 && !ptx_has(in, MOD_FTZ);
    case OP_BFIND: return ptx_type_size(t) == 8;
    case OP_MEMBAR: return !ptx_has(in, MOD_PROXY);
    case OP_FENCE: return ptx_has(in, MOD_ACQ_REL) || ptx_has(in, MOD_SC);
    case OP_CALL:
    case OP_BRKPT:
    case OP_PMEVENT: return true;
    case OP_ATOM:
    case OP_RED: return p->sm < 90 && (ptx_has(in, MOD_ACQ_REL) || ptx_has(in, MOD_RELEASE));
    case OP_SHFL:
    case OP_VOTE:
    case OP_MATCH:
    case OP_REDUX:
    case OP_BAR_WARP_SYNC: return p->sm >= 80 && p->sm < 90 && is_variable_mask(p, in);
    default: return false;
  }
}

// --- values ---

static uint32_t value_of(const Planner *p, const PtxOperand *o) {
  return o->kind == OPD_REG && o->selector == SEL_NONE && !o->negated ? p->current[o->reg->id]
                                                                      : NO_VALUE;
}

static void forget(Planner *p, uint32_t reg) { p->current[reg] = NO_VALUE; }

static void hold(Planner *p, uint32_t reg, uint32_t value) {
  if (p->current[reg] == NO_VALUE) vec_push(&p->touched, reg);
  p->current[reg] = value;
}

// The product a value is a copy of, if any.
static uint32_t root_of(const Planner *p, uint32_t v, bool *negated, bool *needs_ftz) {
  *negated = *needs_ftz = false;
  while (v != NO_VALUE && p->values.data[v].kind == VALUE_COPY) {
    *negated ^= p->values.data[v].negated;
    *needs_ftz |= p->values.data[v].needs_ftz;
    v = p->values.data[v].source;
  }
  return v;
}

static void block_value(Planner *p, uint32_t v) {
  bool negated, ftz;
  v = root_of(p, v, &negated, &ftz);
  if (v != NO_VALUE) p->values.data[v].blocked = true;
}

static bool is_product(const Planner *p, const PtxInstr *in) {
  if (!contract_makes_product(in) || in->guard || ptx_has(in, MOD_SAT)) return false;
  uint64_t a, b;
  if (in->op == OP_RCP) return true;
  bool ca = contract_constant(&p->facts, &in->ops[1], &a);
  bool cb = contract_constant(&p->facts, &in->ops[2], &b);
  if (ca && cb) return false;  // folded
  // 1 / y is a reciprocal
  return !(ca && contract_is_one(in->types[0], a)) && !(cb && contract_is_one(in->types[0], b));
}

// Whether PTX can express a fused addition with this product. For a division, rcp and fma compute
// the same, but ptxas schedules and shares them differently; only a constant divisor is folded in
// both forms.
static bool is_expressible(const Planner *p, const PtxInstr *product) {
  uint64_t bits;
  return product->op == OP_MUL ||
         (product->op == OP_DIV && contract_constant(&p->facts, &product->ops[2], &bits));
}

static bool is_addition(const PtxInstr *in) {
  return (in->op == OP_ADD || in->op == OP_SUB) && contract_is_candidate(in);
}

static bool is_copy(const PtxInstr *in, bool *negated) {
  if (in->guard || in->nops != 2 || in->ops[0].kind != OPD_REG || in->ops[1].kind != OPD_REG)
    return false;
  if (in->ops[0].selector != SEL_NONE || in->ops[0].reg->vector || in->ops[1].reg->vector)
    return false;
  *negated = in->op == OP_NEG;
  if (in->op == OP_NEG)
    return in->ntypes == 1 && is_arithmetic_type(in->types[0]) && in->types[0] != TYPE_BF16X2;
  return in->op == OP_MOV;
}

static uint32_t source_version(const Planner *p, const PtxOperand *o) {
  return o->kind == OPD_REG ? p->version[o->reg->id] : 0;
}

static bool same_operand(const PtxOperand *a, uint32_t version_a, const PtxOperand *b,
                         uint32_t version_b) {
  if (a->kind != b->kind || a->selector != b->selector) return false;
  return a->kind == OPD_REG ? a->reg == b->reg && version_a == version_b : a->imm == b->imm;
}

static bool equal_products(const Planner *p, uint32_t v, uint32_t w) {
  const Value *x = &p->values.data[v], *y = &p->values.data[w];
  if (p->c->instrs[x->instr]->op != OP_MUL || p->c->instrs[y->instr]->op != OP_MUL) return false;
  const PtxOperand *a = p->c->instrs[x->instr]->ops, *b = p->c->instrs[y->instr]->ops;
  return (same_operand(&a[1], x->version_a, &b[1], y->version_a) &&
          same_operand(&a[2], x->version_b, &b[2], y->version_b)) ||
         (same_operand(&a[1], x->version_a, &b[2], y->version_b) &&
          same_operand(&a[2], x->version_b, &b[1], y->version_a));
}

// Fusing in another block makes both sources live longer, unless one is in the constant bank.
static bool is_mobile(const Planner *p, const PtxInstr *in) {
  if (in->op == OP_RCP || !p->facts.once[in->ops[0].reg->id]) return false;
  uint64_t bits;
  if (in->op == OP_DIV && !contract_constant(&p->facts, &in->ops[2], &bits))
    return contract_is_banked(&p->facts, &in->ops[1]);
  return contract_is_banked(&p->facts, &in->ops[1]) || contract_is_banked(&p->facts, &in->ops[2]);
}

// Whether a source of the product may have changed before the addition.
static bool is_stale(const Planner *p, const Value *product, const PtxOperand *source,
                     uint32_t version) {
  if (source->kind != OPD_REG || p->facts.once[source->reg->id]) return false;
  return product->region != p->region || p->version[source->reg->id] != version;
}

// The product behind one source of an addition, if the two could become one FMA.
static uint32_t fusable_product(Planner *p, const PtxInstr *in, const PtxOperand *o,
                                bool *negated) {
  bool needs_ftz;
  uint32_t v = root_of(p, value_of(p, o), negated, &needs_ftz);
  if (v == NO_VALUE) return v;
  const PtxInstr *mul = p->c->instrs[p->values.data[v].instr];
  bool ftz = ptx_has(mul, MOD_FTZ);
  if ((p->values.data[v].region == p->region || p->values.data[v].mobile) &&
      mul->types[0] == in->types[0] && ftz == ptx_has(in, MOD_FTZ) && (!needs_ftz || ftz))
    return v;
  p->values.data[v].blocked = true;
  return NO_VALUE;
}

static void note_addition(Planner *p, uint32_t i) {
  const PtxInstr *in = p->c->instrs[i];
  Addition a = {.instr = i, .region = p->region, .fused = NO_VALUE};
  for (int k = 0; k < 2; k++) a.product[k] = fusable_product(p, in, &in->ops[1 + k], &a.negated[k]);
  uint32_t v = a.product[0], w = a.product[1];
  if (v != NO_VALUE && w != NO_VALUE && v == w) {
    p->values.data[v].blocked = true;
    return;
  }
  for (int k = 0; k < 2; k++) {
    if (a.product[k] == NO_VALUE) continue;
    Value *product = &p->values.data[a.product[k]];
    const PtxOperand *sources = p->c->instrs[product->instr]->ops;
    product->nuses++;
    a.stale_a[k] = is_stale(p, product, &sources[1], product->version_a);
    a.stale_b[k] = p->c->instrs[product->instr]->nops > 2 &&
                   is_stale(p, product, &sources[2], product->version_b);
  }
  if (v != NO_VALUE || w != NO_VALUE) vec_push(&p->additions, a);
}

static void block_reads(void *ctx, PtxReg **reg, bool is_def) {
  if (!is_def) block_value(ctx, ((Planner *)ctx)->current[(*reg)->id]);
}

typedef struct Writes {
  Planner *p;
  bool merges;
  uint32_t value;
} Writes;

static void apply_writes(void *ctx, PtxReg **reg, bool is_def) {
  Writes *w = ctx;
  uint32_t r = (*reg)->id;
  if (!is_def) return;
  if (w->merges || (*reg)->vector) block_value(w->p, w->p->current[r]);
  w->p->version[r]++;
  if (w->value == NO_VALUE) forget(w->p, r);
  else hold(w->p, r, w->value);
}

static void scan_instruction(Planner *p, uint32_t i) {
  PtxInstr *in = p->c->instrs[i];
  Writes w = {.p = p, .merges = in->guard, .value = NO_VALUE};
  bool negated = false;
  if (p->dead[i]) {
    // a dead instruction keeps its place but does not use its operands
  } else if (is_addition(in)) {
    note_addition(p, i);
  } else if (is_copy(in, &negated)) {
    uint32_t source = value_of(p, &in->ops[1]);
    if (source != NO_VALUE) {
      vec_push(&p->values, (Value){.kind = VALUE_COPY,
                                   .instr = i,
                                   .region = p->region,
                                   .source = source,
                                   .negated = negated,
                                   .needs_ftz = negated && ptx_has(in, MOD_FTZ)});
      w.value = p->values.len - 1;
    }
  } else {
    ptx_visit_regs(in, block_reads, p);
    if (is_product(p, in)) {
      vec_push(&p->values, (Value){.kind = VALUE_PRODUCT,
                                   .instr = i,
                                   .region = p->region,
                                   .mobile = is_mobile(p, in),
                                   .version_a = source_version(p, &in->ops[1]),
                                   .version_b = in->nops > 2 ? source_version(p, &in->ops[2]) : 0});
      w.value = p->values.len - 1;
    }
  }
  ptx_visit_regs(in, apply_writes, &w);
  if (!p->dead[i] && cuts_block(p, in)) p->region++;
}

// The block in which straight-line code continues: the only successor, if it has no other
// predecessor. A guarded ret, exit or trap is a branch.
static uint32_t continuation(const IrCfg *c, uint32_t block) {
  const IrBlock *b = &c->blocks[block];
  if (b->nsucc != 1 || b->succ[0] == 0) return IR_NONE;
  const PtxInstr *last = b->end > b->first ? c->instrs[b->end - 1] : NULL;
  if (last && last->guard && ptx_op_classes(last) & CLASS_RETURN) return IR_NONE;
  const IrBlock *next = &c->blocks[b->succ[0]];
  uint32_t ways = 0;
  for (uint32_t k = 0; k < next->npred && ways < 2; k++)
    ways += c->blocks[next->pred[k]].rpo != IR_NONE;
  return ways == 1 ? b->succ[0] : IR_NONE;
}

static void scan_chain(Planner *p, const IrLiveness *live, uint32_t block) {
  const IrCfg *c = p->c;
  p->touched.len = 0;
  p->region++;
  for (uint32_t next = block; next != IR_NONE; next = continuation(c, block)) {
    block = next;
    for (uint32_t i = c->blocks[block].first; i < c->blocks[block].end; i++) scan_instruction(p, i);
  }
  const uint64_t *out = live->live_out[block];
  for (uint32_t i = 0; i < p->touched.len; i++) {
    uint32_t r = p->touched.data[i];
    bool negated, ftz;
    uint32_t root = root_of(p, p->current[r], &negated, &ftz);
    // the register keeps the product in all later blocks
    if (root != NO_VALUE && p->values.data[root].mobile && p->facts.once[r]) continue;
    if (out[r / 64] >> (r % 64) & 1) block_value(p, p->current[r]);
    forget(p, r);
  }
}

static void scan_chains(Planner *p, const IrLiveness *live) {
  const IrCfg *c = p->c;
  bool *inside = ARENA_ARRAY(&p->arena, bool, c->nblocks);
  for (uint32_t i = 0; i < c->norder; i++) {
    uint32_t next = continuation(c, c->order[i]);
    if (next != IR_NONE) inside[next] = true;
  }
  for (uint32_t i = 0; i < c->norder; i++)
    if (!inside[c->order[i]]) scan_chain(p, live, c->order[i]);
}

// --- decisions ---

static bool is_free(const Planner *p, uint32_t v, uint32_t most_uses) {
  return v != NO_VALUE && !p->values.data[v].blocked && p->values.data[v].nuses <= most_uses;
}

static void fuse(Planner *p, Addition *a, int k) {
  a->fused = a->product[k];
  a->fused_operand = (uint8_t)k;
  uint32_t other = a->product[1 - k];
  if (other != NO_VALUE) p->values.data[other].blocked = true;  // it is an addend now
}

// Whether an addition is looked at in the first round. Packed types have only the second.
static bool has_first_round(const Planner *p, const Addition *a) {
  PtxType t = p->c->instrs[a->instr]->types[0];
  return t != TYPE_F16X2 && t != TYPE_BF16X2;
}

static bool is_plain_add(const PtxInstr *in) { return in->op == OP_ADD && !ptx_has(in, MOD_FTZ); }

static void decide(Planner *p) {
  for (int round = 1; round <= 2; round++)
    for (uint32_t i = 0; i < p->additions.len; i++) {
      Addition *a = &p->additions.data[i];
      if (a->fused != NO_VALUE || (round == 1 && !has_first_round(p, a))) continue;
      uint32_t v = a->product[0], w = a->product[1], most = round == 1 ? 1 : UINT32_MAX;
      bool first = is_free(p, v, most), second = is_free(p, w, most);
      if (!first && !second) continue;
      bool equal = round == 1 && v != NO_VALUE && w != NO_VALUE &&
                   is_plain_add(p->c->instrs[a->instr]) && equal_products(p, v, w);
      if (equal) p->values.data[v].blocked = p->values.data[w].blocked = true;
      else if (first && (!second || p->values.data[v].nuses <= p->values.data[w].nuses))
        fuse(p, a, 0);
      else fuse(p, a, 1);
    }
}

// --- the plan ---

// A product stays if some use of it was not fused. `left` counts those.
static void write_plan(Planner *p) {
  const IrCfg *c = p->c;
  ContractStep *steps = p->plan->steps;
  uint32_t *left = ARENA_ARRAY(&p->arena, uint32_t, p->values.len + 1);
  bool *stuck = ARENA_ARRAY(&p->arena, bool, p->values.len + 1);
  for (uint32_t v = 0; v < p->values.len; v++) left[v] = p->values.data[v].nuses;
  for (uint32_t i = 0; i < p->additions.len; i++) {
    const Addition *a = &p->additions.data[i];
    for (int k = 0; k < 2; k++)
      if (a->product[k] != NO_VALUE && a->product[k] != a->fused)
        steps[p->values.data[a->product[k]].instr].near_addition = true;
    if (a->fused == NO_VALUE) continue;
    const PtxInstr *in = c->instrs[a->instr], *mul = c->instrs[p->values.data[a->fused].instr];
    ContractStep *s = &steps[a->instr];
    s->mul = p->values.data[a->fused].instr;
    s->operand = a->fused_operand;
    s->negate_product = a->negated[s->operand] ^ (in->op == OP_SUB && s->operand == 1);
    s->negate_addend = in->op == OP_SUB && s->operand == 0;
    s->action = CONTRACT_FUSE;
    steps[s->mul].feeds_fma = true;
    steps[s->mul].save_a |= a->stale_a[s->operand];
    steps[s->mul].save_b |= a->stale_b[s->operand];
    left[a->fused]--;
    // ptxas negates packed bfloat16 inside the FMA, but PTX cannot express that.
    uint64_t bits;
    bool const_product = mul->op == OP_MUL && (contract_constant(&p->facts, &mul->ops[1], &bits) ||
                                               contract_constant(&p->facts, &mul->ops[2], &bits));
    bool const_addend = contract_constant(&p->facts, &in->ops[2 - s->operand], &bits);
    if (!is_expressible(p, mul)) stuck[a->fused] = true;
    if (in->types[0] == TYPE_BF16X2 &&
        ((s->negate_product && !const_product) || (s->negate_addend && !const_addend)))
      stuck[a->fused] = true;
  }
  for (uint32_t v = 0; v < p->values.len; v++) {
    bool negated, ftz;
    uint32_t root = root_of(p, v, &negated, &ftz);
    const Value *r = &p->values.data[root];
    // A division that stays for other uses would be computed twice.
    if (left[root] && c->instrs[r->instr]->op == OP_DIV && steps[r->instr].feeds_fma)
      stuck[root] = true;
    if (stuck[root]) steps[r->instr].action = CONTRACT_LEAVE;
    else if (!r->blocked && r->nuses && left[root] == 0)
      steps[p->values.data[v].instr].action = CONTRACT_DELETE;
  }
  for (uint32_t i = 0; i < p->additions.len; i++)
    if (p->additions.data[i].fused != NO_VALUE && stuck[p->additions.data[i].fused])
      steps[p->additions.data[i].instr].action = CONTRACT_LEAVE;
}

void contract_plan(const IrCfg *c, uint32_t sm, bool debug, ContractPlan *plan) {
  Planner p = {.c = c, .sm = sm, .plan = plan};
  uint32_t nregs = c->func->nregs;
  plan->steps = ARENA_ARRAY(&plan->arena, ContractStep, c->ninstrs + 1);
  contract_find_facts(c, &p.arena, &p.facts);
  p.current = ARENA_ARRAY(&p.arena, uint32_t, nregs + 1);
  p.version = ARENA_ARRAY(&p.arena, uint32_t, nregs + 1);
  for (uint32_t r = 0; r < nregs; r++) p.current[r] = NO_VALUE;
  if (!debug) {  // ptxas -g does not fuse
    find_dead_code(&p);
    IrLiveness *live = liveness_without(c, p.dead);
    scan_chains(&p, live);
    ir_liveness_free(live);
    decide(&p);
  }
  write_plan(&p);
  contract_keep_apart(c, &p.facts, plan);
  vec_free(&p.values);
  vec_free(&p.additions);
  vec_free(&p.touched);
  arena_free(&p.arena);
}
