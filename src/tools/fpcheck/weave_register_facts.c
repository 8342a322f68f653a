// Facts about the registers of a function: their contents, their uses, and comparisons that only
// test for exceptions.
#include "tools/fpcheck/internal.h"

// --- what a register holds ---
static bool set_type(FpFlow *f, const PtxOperand *o, FpType t) {
  if (o->kind == OPD_VECTOR) {
    bool any = false;
    for (unsigned i = 0; i < o->nlist; i++) any |= set_type(f, &o->list[i], t);
    return any;
  }
  if (o->kind != OPD_REG || o->selector != SEL_NONE || !t.format || f->type[o->reg->id].format)
    return false;
  unsigned bytes = (t.format == WG_FP_F64 ? 8u : t.format == WG_FP_F32 ? 4u : 2u) << t.packed;
  if (ptx_type_size(o->reg->type) != bytes) return false;
  f->type[o->reg->id] = t;
  return true;
}

static bool is_copy(const PtxInstr *in) {
  if (in->op == OP_MOV)
    return in->nops == 2 && in->ops[0].kind == OPD_REG && in->ops[1].kind == OPD_REG;
  return in->op == OP_SELP || in->op == OP_SHFL;
}

static bool copy_types(FpFlow *f, const PtxInstr *in) {
  const PtxOperand *d = &in->ops[0];
  if (d->kind == OPD_PAIR) d = &d->list[0];
  if (d->kind != OPD_REG) return false;
  bool changed = false;
  unsigned sources = in->op == OP_SELP ? 2 : 1;
  for (unsigned i = 1; i <= sources; i++) {
    const PtxOperand *s = &in->ops[i];
    if (s->kind != OPD_REG) continue;
    changed |= set_type(f, d, f->type[s->reg->id]);
    changed |= set_type(f, s, f->type[d->reg->id]);
  }
  return changed;
}

// A pair and its halves: mov.b32 {a, b}, r and back.
static bool split_types(FpFlow *f, const PtxInstr *in) {
  bool apart = in->ops[0].kind == OPD_VECTOR;
  const PtxOperand *halves = &in->ops[apart ? 0 : 1], *whole = &in->ops[apart ? 1 : 0];
  if (halves->nlist != 2 || whole->kind != OPD_REG || halves->list[0].kind != OPD_REG ||
      halves->list[1].kind != OPD_REG)
    return false;
  FpType pair = f->type[whole->reg->id], lower = f->type[halves->list[0].reg->id],
         upper = f->type[halves->list[1].reg->id];
  bool changed = pair.packed && set_type(f, halves, (FpType){.format = pair.format});
  if (lower.format && lower.format == upper.format && !lower.packed && !upper.packed &&
      lower.format != WG_FP_F64)
    changed |= set_type(f, whole, (FpType){.format = lower.format, .packed = true});
  return changed;
}
static bool is_split(const PtxInstr *in) {
  return in->op == OP_MOV && in->nops == 2 &&
         (in->ops[0].kind == OPD_VECTOR) != (in->ops[1].kind == OPD_VECTOR);
}

static void seed_types(FpFlow *f, const IrCfg *cfg) {
  for (uint32_t r = 0; r < cfg->func->nregs; r++)
    f->type[cfg->func->regs[r]->id] = fp_type(cfg->func->regs[r]->type);
  for (uint32_t i = 0; i < cfg->ninstrs; i++) {
    const PtxInstr *in = cfg->instrs[i];
    FpOperation o;
    FpType d, a, b, c;
    if (fp_operation(in, &o)) {
      if (o.op != WG_FP_SATURATE) set_type(f, &in->ops[0], o.result);
      for (unsigned k = 0; k < o.n; k++) set_type(f, o.operands[k], o.types[k]);
    } else if (fp_is_matrix(in, &d, &a, &b, &c)) {
      set_type(f, &in->ops[0], d);
      set_type(f, &in->ops[1], a);
      set_type(f, &in->ops[2], b);
      set_type(f, &in->ops[3], c);
    } else if (in->ntypes && fp_type(in->types[0]).format) {
      FpType t = fp_type(in->types[0]);
      unsigned first = in->op == OP_SETP || in->op == OP_SET || in->op == OP_TESTP ? 1 : 0;
      if (in->op == OP_SET && in->ntypes > 1) t = fp_type(in->types[1]);
      if (in->op == OP_CVT) set_type(f, &in->ops[0], t);
      else
        for (unsigned k = first; k < in->nops; k++) set_type(f, &in->ops[k], t);
    }
    if (in->op == OP_CVT && in->ntypes == 2 && in->nops >= 2)
      set_type(f, &in->ops[1], fp_type(in->types[1]));
  }
}

static void count_use(void *ctx, PtxReg **reg, bool is_def) {
  if (!is_def) ((uint32_t *)ctx)[(*reg)->id]++;
}

static void nest(FpFlow *f, const Body *b) {
  int depth = 0;
  uint32_t n = 0;
  for (uint32_t i = 0; i < b->func->nstmts; i++) {
    if (b->func->stmts[i].kind == STMT_SCOPE_BEGIN) depth++;
    if (b->func->stmts[i].kind == STMT_SCOPE_END) depth--;
    if (b->func->stmts[i].kind == STMT_INSTR) f->depth[n++] = depth;
  }
}

// --- values that may have been born here ---
// A loaded value was tested when it was stored, or came in from outside, unless it was kept in
// memory of the kernel (tools/fpcheck/weave_carry.c). A value made from bits was tested when it
// became bits. So only results, and copies and selections of results, can be new exceptions.
typedef struct Made {
  const FpFlow *f;
  bool any;
} Made;
static void look_at_source(void *ctx, PtxReg **reg, bool is_def) {
  Made *m = ctx;
  if (!is_def && m->f->made[(*reg)->id]) m->any = true;
}
static void mark(void *ctx, PtxReg **reg, bool is_def) {
  FpFlow *f = ctx;
  if (is_def) f->made[(*reg)->id] = true;
}

static bool may_make(FpFlow *f, PtxInstr *in) {
  FpOperation o;
  FpType d, a, b, c;
  if (fp_operation(in, &o) || fp_is_matrix(in, &d, &a, &b, &c) || in->op == OP_WGMMA_MMA_ASYNC)
    return true;
  if (in->op == OP_CALL) return true;
  if (in->op == OP_LD && in->space == SPACE_PARAM && in->ops[1].kind == OPD_ADDR &&
      in->ops[1].list[0].kind == OPD_VAR)
    // a call's result, or a function's parameter
    return in->ops[1].list[0].var->func && !in->ops[1].list[0].var->func->is_entry;
  if (in->op == OP_LD && ((in->space == SPACE_LOCAL && f->local_made) ||
                          (in->space == SPACE_SHARED && f->shared_made)))
    return true;
  if (ptx_op_classes(in) & (CLASS_LOAD | CLASS_STORE | CLASS_ATOMIC)) return false;
  Made m = {f, false};
  ptx_visit_regs(in, look_at_source, &m);
  return m.any;
}

// A store of a value made here to memory that carries it. true: it is the first.
static bool keeps_made(FpFlow *f, PtxInstr *in) {
  bool *kept = in->op != OP_ST                                  ? NULL
               : in->space == SPACE_LOCAL && f->local_carries   ? &f->local_made
               : in->space == SPACE_SHARED && f->shared_carries ? &f->shared_made
                                                                : NULL;
  if (!kept || *kept) return false;
  Made m = {f, false};
  ptx_visit_regs(in, look_at_source, &m);
  *kept = m.any;
  return m.any;
}

static void find_made(FpFlow *f, const IrCfg *cfg) {
  FpOperation o;
  FpType d, a, b, c;
  for (uint32_t i = 0; i < cfg->ninstrs; i++)
    f->makes |= fp_operation(cfg->instrs[i], &o) || fp_is_matrix(cfg->instrs[i], &d, &a, &b, &c) ||
                cfg->instrs[i]->op == OP_WGMMA_MMA_ASYNC || cfg->instrs[i]->op == OP_CALL;
  for (uint32_t i = 0; i < cfg->ninstrs; i++)
    f->decides |=
        (cfg->instrs[i]->op == OP_SETP || cfg->instrs[i]->op == OP_SET) &&
        fp_type(cfg->instrs[i]->types[cfg->instrs[i]->ntypes ? cfg->instrs[i]->ntypes - 1 : 0])
            .format;
  for (bool changed = f->makes; changed;) {
    changed = false;
    for (uint32_t i = 0; i < cfg->ninstrs; i++) {
      PtxInstr *in = cfg->instrs[i];
      changed |= keeps_made(f, in);
      const PtxOperand *to = in->nops ? &in->ops[0] : NULL;
      while (to && (to->kind == OPD_PAIR || to->kind == OPD_VECTOR) && to->nlist) to = &to->list[0];
      bool known = !to || to->kind != OPD_REG || f->made[to->reg->id];
      if (known || !may_make(f, in)) continue;
      ptx_visit_regs(in, mark, f);
      changed = true;
    }
  }
}

FpFlow *fp_flow_build(Body *b) {
  IrCfg *cfg = b->cfg;
  Arena *a = &cfg->arena;
  FpFlow *f = ARENA_NEW(a, FpFlow);
  f->defs = ir_defs_build(cfg);
  f->nregs = b->func->nregs;
  fp_index_build(cfg, f->nregs, &f->reads, &f->writes);
  f->type = ARENA_ARRAY(a, FpType, b->func->nregs + 1);
  f->uses = ARENA_ARRAY(a, uint32_t, b->func->nregs + 1);
  f->select_uses = ARENA_ARRAY(a, uint32_t, b->func->nregs + 1);
  f->depth = ARENA_ARRAY(a, int, cfg->ninstrs + 1);
  f->made = ARENA_ARRAY(a, bool, b->func->nregs + 1);
  nest(f, b);
  seed_types(f, cfg);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < cfg->ninstrs; i++)
      if (is_copy(cfg->instrs[i])) changed |= copy_types(f, cfg->instrs[i]);
      else if (is_split(cfg->instrs[i])) changed |= split_types(f, cfg->instrs[i]);
  }
  f->local_carries = fp_carries(f, cfg, SPACE_LOCAL);
  f->shared_carries = fp_carries(f, cfg, SPACE_SHARED);
  find_made(f, cfg);
  for (uint32_t i = 0; i < cfg->ninstrs; i++) {
    PtxInstr *in = cfg->instrs[i];
    ptx_visit_regs(in, count_use, f->uses);
    for (unsigned k = 1; in->op == OP_SELP && !in->guard && k <= 2; k++)
      if (in->ops[k].kind == OPD_REG) f->select_uses[in->ops[k].reg->id]++;
  }
  return f;
}

void fp_flow_free(FpFlow *f) { ir_defs_free(f->defs); }

const PtxInstr *fp_def(const FpFlow *f, const PtxOperand *o) {
  return o->kind == OPD_REG && o->reg->id < f->nregs ? ir_single_def(f->defs, o->reg) : NULL;
}

bool fp_is_fixed(const FpFlow *f, const PtxOperand *o) {
  return o->kind != OPD_REG || fp_def(f, o);
}

// The parameters of a function that is no kernel were computed by its caller.
bool fp_is_input(const PtxFunc *f, const PtxInstr *in) {
  if (in->op == OP_TEX || in->op == OP_SULD || in->op == OP_LDU) return true;
  if (in->op != OP_LD) return false;
  if (in->space == SPACE_PARAM) return ir_is_kernel_param(f, &in->ops[1].list[0]);
  return in->space == SPACE_GLOBAL || in->space == SPACE_CONST || in->space == SPACE_GENERIC;
}

// --- idioms ---
// x - x is 0 if x is a number.
bool fp_is_own_difference(const PtxInstr *in) {
  return in && in->op == OP_SUB && in->nops == 3 && in->ops[1].kind == OPD_REG &&
         in->ops[2].kind == OPD_REG && in->ops[1].reg == in->ops[2].reg;
}

// Infinity, or the largest number there is.
static bool is_bound(const FpFlow *f, const PtxOperand *o) {
  return fp_is_infinity(f, o) || fp_is_largest(f, o);
}

// x - x == 0, x != x, a comparison with .nan or .num, or one with infinity or the largest number.
bool fp_is_test(const FpFlow *f, const PtxInstr *in) {
  if (in->op == OP_TESTP || ptx_has(in, MOD_NAN) || ptx_has(in, MOD_NUM)) return true;
  if (in->nops < 3) return false;
  const PtxOperand *a = &in->ops[1], *b = &in->ops[2];
  if (a->kind == OPD_REG && b->kind == OPD_REG && a->reg == b->reg) return true;
  return is_bound(f, a) || is_bound(f, b) || fp_is_own_difference(fp_def(f, a)) ||
         fp_is_own_difference(fp_def(f, b));
}
