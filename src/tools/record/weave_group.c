// Finds the loads and stores that form a group: those of a basic block without a guard, up to the
// next operation that has a record of its own.
//
// Addresses that differ by a constant share an address unit. Within the block a register is known
// as a root plus a constant. The sum of two roots is a root again, and equal sums are the same
// root. All of this is exact modulo 2^64.
#include "tools/record/weave_group.h"

typedef struct Known {
  uint64_t root;
  int64_t constant;
  uint32_t block;
} Known;
typedef struct Sum {
  uint64_t a, b, root;
} Sum;
struct RecorderValues {
  uint32_t block;  // counts
  Known *regs;     // by register, where of this block
  VEC(Sum) sums;
  uint64_t next;
};

void recorder_groups_begin(Recorder *t) {
  t->group = mem_alloc(sizeof *t->group);
  t->known = mem_alloc(sizeof *t->known);
  t->known->regs = mem_alloc(sizeof *t->known->regs * (t->body->cfg->func->nregs + 1));
  t->known->next = t->body->cfg->func->nregs;
  recorder_group_block(t);
}

void recorder_groups_end(Recorder *t) {
  if (!t->group) return;
  vec_free(&t->known->sums);
  free(t->known->regs);
  free(t->known);
  free(t->group);
}

void recorder_group_block(Recorder *t) {
  t->known->block++;
  t->known->sums.len = 0;
}

// --- what registers hold ---

static Known known_of(const Recorder *t, const PtxReg *r) {
  const Known *k = &t->known->regs[r->id];
  return k->block == t->known->block ? *k : (Known){r->id, 0, t->known->block};
}

static uint64_t sum_of(struct RecorderValues *v, uint64_t a, uint64_t b) {
  uint64_t low = MIN(a, b), high = MAX(a, b);
  for (uint32_t i = 0; i < v->sums.len; i++)
    if (v->sums.data[i].a == low && v->sums.data[i].b == high) return v->sums.data[i].root;
  vec_push(&v->sums, (Sum){low, high, v->next});
  return v->next++;
}

static bool is_wide(const PtxOperand *o) {
  return o->kind == OPD_REG && !o->reg->vector && o->selector == SEL_NONE && !o->negated &&
         ptx_type_size(o->reg->type) == 8;
}

static bool result_of(Recorder *t, const PtxInstr *in, Known *out) {
  if (in->guard || !in->nops || !is_wide(&in->ops[0]) || !in->ntypes ||
      ptx_type_size(in->types[0]) != 8 || ptx_type_kind(in->types[0]) == KIND_FLOAT)
    return false;
  if (in->op == OP_MOV && in->nops == 2 && is_wide(&in->ops[1])) {
    *out = known_of(t, in->ops[1].reg);
    return true;
  }
  if (in->op != OP_ADD || in->nops != 3 || ptx_has(in, MOD_SAT) || ptx_has(in, MOD_CC) ||
      !is_wide(&in->ops[1]))
    return false;
  *out = known_of(t, in->ops[1].reg);
  if (in->ops[2].kind == OPD_INT) {
    out->constant = (int64_t)((uint64_t)out->constant + (uint64_t)in->ops[2].imm);
    return true;
  }
  if (!is_wide(&in->ops[2])) return false;
  Known b = known_of(t, in->ops[2].reg);
  *out = (Known){sum_of(t->known, out->root, b.root),
                 (int64_t)((uint64_t)out->constant + (uint64_t)b.constant), t->known->block};
  return true;
}

typedef struct Writing {
  Recorder *t;
  Known value;
  bool has;
} Writing;
static void write_register(void *ctx, PtxReg **reg, bool is_def) {
  Writing *w = ctx;
  if (!is_def) return;
  struct RecorderValues *v = w->t->known;
  v->regs[(*reg)->id] = w->has ? w->value : (Known){v->next++, 0, v->block};
  v->regs[(*reg)->id].block = v->block;
}

void recorder_group_follow(Recorder *t, uint32_t i) {
  Writing w = {.t = t};
  PtxInstr *in = t->body->cfg->instrs[i];
  w.has = result_of(t, in, &w.value);
  ptx_visit_regs(in, write_register, &w);
}

// --- the current group ---

static const PtxOperand *address_of(const PtxInstr *in) {
  return &in->ops[in->op == OP_ST ? 0 : 1];
}
static const PtxOperand *value_of(const PtxInstr *in) { return &in->ops[in->op == OP_ST ? 1 : 0]; }

bool recorder_group_may_hold(const Recorder *t, const PtxInstr *in) {
  if (!t->group || in->guard || (in->op != OP_LD && in->op != OP_LDU && in->op != OP_ST) ||
      in->space == SPACE_PARAM || in->space == SPACE_CONST)
    return false;
  unsigned operand = in->op == OP_ST ? 0 : 1;
  return operand < in->nops && in->ops[operand].kind == OPD_ADDR && in->ops[operand].nlist == 1 &&
         (in->ops[operand].list[0].kind == OPD_REG || in->ops[operand].list[0].kind == OPD_VAR);
}

static int unit_for(Recorder *t, const PtxInstr *in, int64_t *distance) {
  RecorderGroup *g = t->group;
  const PtxOperand *address = address_of(in), *base = &address->list[0];
  Known k = {(uint64_t)(uintptr_t)base->var | 1ull << 63, 0, 0};
  if (base->kind == OPD_REG) k = known_of(t, base->reg);
  int64_t constant = (int64_t)((uint64_t)k.constant + (uint64_t)address->imm);
  for (uint32_t u = 0; u < g->nunits; u++) {
    *distance = (int64_t)((uint64_t)constant - (uint64_t)g->units[u].constant);
    if (g->units[u].root == k.root && g->units[u].space == in->space && *distance >= -(1 << 23) &&
        *distance < 1 << 23)
      return (int)u;
  }
  *distance = 0;
  if (g->nunits == WG_TRACE_GROUP_UNITS) return -1;
  g->units[g->nunits] = (RecorderGroupUnit){
      .root = k.root, .constant = constant, .space = in->space};
  return (int)g->nunits++;
}

static bool never_written(const PtxInstr *in) { return in->op == OP_LDU || ptx_has(in, MOD_NC); }

static bool has_fact(const RecorderGroup *g, int fact) {
  uint32_t mask = recorder_group_mask(g) | 1u << fact;
  return __builtin_popcount(mask) <= RECORDER_GROUP_FACTS;
}

bool recorder_group_take(Recorder *t, uint32_t i) {
  RecorderGroup *g = t->group;
  const PtxInstr *in = t->body->cfg->instrs[i];
  if (!recorder_group_may_hold(t, in) || g->nops == WG_TRACE_GROUP_OPS) return false;
  PtxReg *words[RECORDER_PLANES];
  RecorderGroupOp o = {
      .instr = i, .is_load = in->op != OP_ST, .planes = recorder_planes(in), .fact = -1};
  if (!recorder_value(t, NULL, in, value_of(in), words) || (o.is_load && never_written(in)))
    o.planes = 0;
  if (g->nplanes + o.planes > WG_TRACE_GROUP_PLANES) return false;
  if (o.is_load && o.planes && (in->space == SPACE_GLOBAL || in->space == SPACE_GENERIC))
    o.fact = recorder_fact_of(t, address_of(in));
  if (o.fact >= 0 && !has_fact(g, o.fact)) return false;
  int unit = unit_for(t, in, &o.distance);
  if (unit < 0) return false;
  o.unit = (unsigned)unit;
  g->nplanes += o.planes;
  g->ops[g->nops++] = o;
  return true;
}

uint32_t recorder_group_mask(const RecorderGroup *g) {
  uint32_t mask = 0;
  for (uint32_t k = 0; k < g->nops; k++)
    if (g->ops[k].fact >= 0) mask |= 1u << g->ops[k].fact;
  return mask;
}

// Addresses and values are kept in registers at each operation; the record is written at the last
// one: after a load, before a store.
void recorder_group_put(Recorder *t) {
  RecorderGroup *g = t->group;
  Body *b = t->body;
  bool folds = recorder_fold_can(t, g);
  for (uint32_t k = 0; k < g->nops; k++) {
    RecorderGroupOp *o = &g->ops[k];
    const PtxInstr *in = b->cfg->instrs[o->instr];
    uint32_t site = recorder_site(t, in, address_of(in), o->is_load ? CLASS_LOAD : CLASS_STORE,
                                  in->space, access_bytes(in));
    if (!k) g->first_site = site;
    CHECK(site == g->first_site + k);
    RecorderGroupUnit *u = &g->units[o->unit];
    if (!u->address) {
      PtxReg *other = t->address;
      t->address = u->address = body_reg(b, TYPE_B64);
      recorder_address(t, body_before(b, o->instr), in, address_of(in), in->space);
      t->address = other;
    }
    if (o->planes)
      recorder_value(t, o->is_load ? body_after(b, o->instr) : body_before(b, o->instr), in,
                     value_of(in), o->values);
  }
  const RecorderGroupOp *last = &g->ops[g->nops - 1];
  Code *c = last->is_load ? body_after(b, last->instr) : body_before(b, last->instr);
  if (folds) {
    recorder_fold_put(t, c, g);
    return;
  }
  PtxLabel *over = recorder_guard(t, c, b->cfg->instrs[last->instr]);
  RecorderGroupInput in = {.values = true};
  for (uint32_t u = 0; u < g->nunits; u++) in.address[u] = g->units[u].address;
  recorder_group_emit(t, c, g, &in);
  code_label(c, over);
}
