// Spills registers around calls of out-of-line code, so that nothing is live across them.
//
// A value that is live across a call must lie in a register that the callee preserves, and the
// compiler of machine code keeps it there for its whole life. Across a call through a pointer
// (weave/cold_calls.c) some sixteen registers are preserved. A loop that needs more of them gets
// slower, since fewer threads fit. So registers that are live across a call are stored to local
// memory before it and loaded after it.
#include "weave/pass.h"

struct Spill {
  Body *body;
  IrLiveness *live;
  uint64_t *now;   // registers live at the instruction looked at
  bool before_it;  // reads add to now; else writes remove from it
  PtxVar *area;
  uint32_t *slot;  // by register: where in the area, plus 1
  PtxReg *word;    // for predicates
  // by register: the same in all threads of the block. The compiler may keep such values in
  // registers that lanes share, unless they come from local memory
  bool *common;
};

static void visit(void *user, PtxReg **r, bool is_def) {
  Spill *s = user;
  uint64_t *word = &s->now[(*r)->id / 64], bit = 1ull << ((*r)->id % 64);
  if (s->before_it && !is_def) *word |= bit;
  if (!s->before_it && is_def) *word &= ~bit;
}

static void find_live_behind(Spill *s, uint32_t i) {
  const IrCfg *c = s->body->cfg;
  uint32_t b = c->block_of[i];
  memcpy(s->now, s->live->live_out[b], sizeof *s->now * s->live->words);
  for (uint32_t k = c->blocks[b].end; --k > i;) {
    s->before_it = false;
    if (!c->instrs[k]->guard) ptx_visit_regs(c->instrs[k], visit, s);
    s->before_it = true;
    ptx_visit_regs(c->instrs[k], visit, s);
  }
}

static uint32_t slot_of(Spill *s, const PtxReg *r) {
  uint32_t bytes = r->type == TYPE_PRED ? 4 : MAX(ptx_type_size(r->type), 2u),
           *slot = &s->slot[r->id];
  if (!*slot) {
    uint32_t at = (s->area->size + bytes - 1) / bytes * bytes;
    s->area->size = at + bytes;
    s->area->align = MAX(s->area->align, bytes);
    s->area->dims[0] = s->area->size;
    *slot = at + 1;
  }
  return *slot - 1;
}

static void put(Spill *s, Code *c, PtxReg *r) {
  PtxOperand to = opd_at(c, opd_var(s->area), slot_of(s, r));
  if (r->type == TYPE_PRED) {
    EMIT(c, "selp.b32", opd_reg(s->word), opd_imm(1), opd_imm(0), opd_reg(r));
    EMIT(c, "st.local.b32", to, opd_reg(s->word));
  } else code_store_local(c, to, r);
}

static void take(Spill *s, Code *c, PtxReg *r) {
  PtxOperand from = opd_at(c, opd_var(s->area), slot_of(s, r));
  if (r->type == TYPE_PRED) {
    EMIT(c, "ld.local.b32", opd_reg(s->word), from);
    EMIT(c, "setp.ne.u32", opd_reg(r), opd_reg(s->word), opd_imm(0));
  } else code_load_local(c, r, from);
}

// --- values that are equal in all threads of a block ---
typedef struct Sources {
  const bool *common;
  bool all;
} Sources;
static void look_at_source(void *user, PtxReg **r, bool is_def) {
  Sources *s = user;
  if (!is_def && !s->common[(*r)->id]) s->all = false;
}

static bool varies(const PtxOperand *o) {
  if (o->kind == OPD_SREG && o->sreg != SREG_NTID && o->sreg != SREG_CTAID &&
      o->sreg != SREG_NCTAID)
    return true;
  for (unsigned i = 0; i < o->nlist; i++)
    if (varies(&o->list[i])) return true;
  return false;
}

static bool makes_common(const Spill *s, PtxInstr *in) {
  unsigned classes = ptx_op_classes(in);
  if (in->guard || in->nops < 2 ||
      classes & (CLASS_STORE | CLASS_ATOMIC | CLASS_CALL | CLASS_WARP | CLASS_BRANCH | CLASS_SYNC))
    return false;
  if (classes & CLASS_LOAD && in->space != SPACE_PARAM) return false;
  for (unsigned i = 1; i < in->nops; i++)
    if (varies(&in->ops[i])) return false;
  Sources all = {s->common, true};
  ptx_visit_regs(in, look_at_source, &all);
  return all.all;
}

typedef struct Defined {
  bool *others, by_common;
} Defined;
static void note_others(void *user, PtxReg **r, bool is_def) {
  Defined *d = user;
  if (is_def && !d->by_common) d->others[(*r)->id] = true;
}

// A register is common if all its writes are: both bodies write the same registers. A register that
// depends on itself, as in a loop, is not common.
static void find_common(Spill *s) {
  const IrCfg *c = s->body->cfg;
  uint32_t n = s->body->func->nregs;
  bool *others = ARENA_ARRAY(&s->body->cfg->arena, bool, n + 1);
  for (bool changed = true; changed;) {
    changed = false;
    memset(others, 0, n);
    for (uint32_t i = 0; i < c->ninstrs; i++) {
      Defined d = {others, makes_common(s, c->instrs[i])};
      ptx_visit_regs(c->instrs[i], note_others, &d);
    }
    for (uint32_t r = 0; r < n; r++)
      if (!others[r] && !s->common[r]) changed = s->common[r] = true;
  }
}

Spill *spill_begin(Body *b) {
  Arena *a = &b->cfg->arena;
  Spill *s = ARENA_NEW(a, Spill);
  s->body = b;
  s->live = ir_liveness_build(b->cfg);
  s->common = ARENA_ARRAY(a, bool, b->func->nregs + 1);
  find_common(s);
  s->now = ARENA_ARRAY(a, uint64_t, s->live->words + 1);
  s->slot = ARENA_ARRAY(a, uint32_t, b->func->nregs + 1);
  s->area = body_area(b, "spared");
  s->word = body_reg(b, TYPE_B32);
  s->word->name = arena_printf(&b->func->module->arena, "%sword", b->program->reg_prefix);
  return s;
}

static bool is_argument(const PtxInstr *in) { return in->op == OP_ST && in->space == SPACE_PARAM; }
static bool can_be_put(const PtxReg *r) {
  return !r->vector && (r->type == TYPE_PRED || ptx_type_size(r->type) <= 8);
}

void spill_call(Spill *s, uint32_t call) {
  const IrCfg *c = s->body->cfg;
  uint32_t first = call;
  while (first > 0 && is_argument(c->instrs[first - 1])) first--;
  find_live_behind(s, call);
  for (uint32_t r = 0; r < s->body->func->nregs; r++) {
    PtxReg *reg = s->body->func->regs[r];
    if (r / 64 >= s->live->words || !(s->now[r / 64] >> (r % 64) & 1) || !can_be_put(reg) ||
        s->common[reg->id])
      continue;
    put(s, body_before(s->body, first), reg);
    take(s, body_after(s->body, call), reg);
  }
}

void spill_end(Spill *s) {
  ir_liveness_free(s->live);
  if (s->area->size) body_declare(s->body, s->area);
}
