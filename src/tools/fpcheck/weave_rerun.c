// Finds a birth without another launch. If a value of a thread came to a sink in the fast body, the
// thread runs again when it is done: through the full body, from the beginning and without storing
// anything. It sees the same numbers if threads do not cooperate and the kernel writes nothing that
// it reads. The pass proves this as far as code can; the host completes the proof with the
// allocations that a launch's pointers belong to.
#include "tools/fpcheck/internal.h"

enum { POINTERS = 16 };
typedef struct Accesses {
  const PtxVar *vars[POINTERS];
  int64_t offsets[POINTERS];
  uint32_t n;
} Accesses;

static bool add_pointer(Accesses *a, IrOrigin o) {
  if (o.kind != IR_FROM_PARAM) return false;
  for (uint32_t i = 0; i < a->n; i++)
    if (a->vars[i] == o.var && a->offsets[i] == o.offset) return true;
  if (a->n == POINTERS) return false;
  a->vars[a->n] = o.var;
  a->offsets[a->n++] = o.offset;
  return true;
}

// Reads memory that other threads may change, or that changes by itself.
static bool is_volatile(const PtxInstr *in) {
  static const PtxMod mods[] = {MOD_VOLATILE, MOD_RELAXED, MOD_ACQUIRE,
                                MOD_RELEASE,  MOD_CV,      MOD_MMIO};
  for (size_t i = 0; i < ARRAY_LEN(mods); i++)
    if (ptx_has(in, mods[i])) return true;
  return false;
}

static bool sees_clock(const PtxOperand *o) {
  if (o->kind == OPD_SREG) switch (o->sreg) {
      case SREG_TID:
      case SREG_NTID:
      case SREG_CTAID:
      case SREG_NCTAID:
      case SREG_LANEID: break;
      default: return true;
    }
  for (unsigned i = 0; i < o->nlist; i++)
    if (sees_clock(&o->list[i])) return true;
  return false;
}

static bool allowed(const PtxInstr *in, const IrProvenance *p, Accesses *reads, Accesses *writes) {
  for (unsigned i = 0; i < in->nops; i++)
    if (sees_clock(&in->ops[i])) return false;
  unsigned classes = ptx_op_classes(in);
  if (classes & (CLASS_CALL | CLASS_SYNC | CLASS_ASYNC | CLASS_ATOMIC | CLASS_WARP | CLASS_TENSOR |
                 CLASS_TEXTURE | CLASS_SURFACE | CLASS_MEMFENCE))
    return false;
  if (in->op == OP_TRAP || in->op == OP_BRKPT || in->op == OP_ALLOCA) return false;
  if (!(classes & (CLASS_LOAD | CLASS_STORE))) return true;
  if ((in->op != OP_LD && in->op != OP_ST && in->op != OP_LDU) || is_volatile(in)) return false;
  if (in->space == SPACE_PARAM || in->space == SPACE_CONST || in->space == SPACE_LOCAL) return true;
  if (in->space != SPACE_GLOBAL && in->space != SPACE_GENERIC) return false;
  return add_pointer(in->op == OP_ST ? writes : reads,
                     ir_access_origin(p, &in->ops[in->op == OP_ST ? 0 : 1]));
}

static const WeaveFact *facts_of(FpCheck *k, const Accesses *a) {
  WeaveFact *facts = ARENA_ARRAY(&k->body->program->out->arena, WeaveFact, a->n + 1);
  for (uint32_t i = 0; i < a->n; i++)
    facts[i] = (WeaveFact){
        .param = a->vars[i]->id,
        .param_at = (uint32_t)(a->vars[i]->param_offset + (uint64_t)a->offsets[i]),
        .param_offset = (uint32_t)a->offsets[i]};
  return facts;
}

bool fp_can_run_again(FpCheck *k) {
  const IrCfg *cfg = k->body->cfg;
  Accesses reads = {.n = 0}, writes = {.n = 0};
  IrProvenance *p = ir_provenance_build(cfg);
  bool can = true;
  for (uint32_t i = 0; i < cfg->ninstrs && can; i++)
    can = allowed(cfg->instrs[i], p, &reads, &writes);
  for (uint32_t r = 0; r < reads.n && can; r++)
    for (uint32_t w = 0; w < writes.n && can; w++)
      can = reads.vars[r] != writes.vars[w] || reads.offsets[r] != writes.offsets[w];
  ir_provenance_free(p);
  if (!can || !cfg->ninstrs || cfg->instrs[cfg->ninstrs - 1]->op != OP_RET) return false;
  WovenKernel *out = &k->body->program->out->kernels[k->body->info->kernel];
  FpPointers *pointers = ARENA_NEW(&k->body->program->out->arena, FpPointers);
  *pointers = (FpPointers){facts_of(k, &reads), facts_of(k, &writes), reads.n, writes.n};
  out->tool_data[TOOL_FPCHECK] = pointers;
  return true;
}

static void set(FpCheck *k, Code *c, PtxReg *p, bool value) {
  PtxOperand zero = opd_reg(body_temp(k->body, TYPE_B32, 0));
  EMIT(c, "mov.u32", zero, opd_imm(0));
  if (value) EMIT(c, "setp.eq.u32", opd_reg(p), zero, opd_imm(0));
  else EMIT(c, "setp.ne.u32", opd_reg(p), zero, opd_imm(0));
}

void fp_again_never(FpCheck *k, Code *c) { set(k, c, k->repeats, false); }

bool fp_again_at_once(const FpCheck *k) {
  const IrCfg *cfg = k->body->cfg;
  enum { STEPS = 4 };
  if (!k->seen || k->clone) return false;
  for (uint32_t i = k->next, n = 0; i < cfg->ninstrs && n < STEPS; n++) {
    const PtxInstr *in = cfg->instrs[i];
    if (in->guard) return false;
    if (in->op == OP_RET || in->op == OP_EXIT) return true;
    if (in->op != OP_BRA) return false;
    i = cfg->blocks[cfg->label_block[in->ops[0].label->id]].first;
  }
  return false;
}

// In the slow path of a sink.
void fp_again_mark(FpCheck *k, Code *c) {
  if (k->seen && !fp_again_at_once(k)) set(k, c, k->seen, true);
}

// Weaves the ends of the fast body; `again` stands at the end of the function.
void fp_again_weave(FpCheck *k, PtxLabel *full) {
  Body *b = k->body;
  if (k->asks_at_end) set(k, body_entry(b), k->seen, false);
  for (uint32_t i = 0; i < b->cfg->ninstrs && k->asks_at_end; i++) {
    const PtxInstr *in = b->cfg->instrs[i];
    if (in->op != OP_RET && in->op != OP_EXIT) continue;
    Code *c = body_before(b, i);
    PtxReg *q = k->seen;
    if (in->guard) {
      q = body_temp(b, TYPE_PRED, 1);
      if (in->guard_negated) EMIT(c, "not.pred", opd_reg(q), opd_reg(in->guard));
      else EMIT(c, "mov.pred", opd_reg(q), opd_reg(in->guard));
      EMIT(c, "and.pred", opd_reg(q), opd_reg(q), opd_reg(k->seen));
    }
    code_branch(c, q, false, k->again);
  }
  Code *c = body_cold(k->body);
  PtxReg *flags = body_temp(b, TYPE_B32, 0), *hot = body_temp(b, TYPE_B32, 2),
         *known = body_temp(b, TYPE_B32, 4), *apart = body_temp(b, TYPE_PRED, 1),
         *yes = body_temp(b, TYPE_PRED, 0);
  code_label(c, k->again);
  record_load(c, flags, offsetof(WgLaunch, flags));
  EMIT(c, "and.b32", opd_reg(hot), opd_reg(flags), opd_imm(WG_LAUNCH_FP_APART));
  EMIT(c, "setp.ne.u32", opd_reg(apart), opd_reg(hot), opd_imm(0));
  if (k->hot >= 0) {  // only in turns that must be tested everywhere
    // lanes without this flag may have no counter
    fp_load_counter(k, c, "ld.volatile.global.v2.u32", apart, hot, known);
    EMIT(c, "setp.ne.and.u32", opd_reg(apart), opd_reg(hot), opd_imm(0), opd_reg(apart));
    fp_ask_counter(k, c, (FpCounter){flags, hot, known, yes}, false);
    EMIT(c, "and.pred", opd_reg(apart), opd_reg(apart), opd_reg(yes));
  }
  set(k, c, k->repeats, true);
  code_branch(c, apart, false, full);
  code_emit(c, "ret", (const PtxOperand[]){{0}}, 0);
}
