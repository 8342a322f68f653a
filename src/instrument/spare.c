// Calls of code out of line keep no register of the kernel.
//
// A value that is live across a call lies where the callee leaves it alone, and the compiler of machine code decides that for
// the whole life of the value: a call that is hardly ever reached makes it keep the variables of the hottest loop in local memory.
// So code out of line puts away itself what is live across its calls and takes it back afterwards; then nothing is.
#include "instrument/pass.h"

typedef struct Spare {
  Body body;
  IrLiveness *live;
  uint64_t *now;                           // registers live at the instruction looked at
  bool before_it;                          // now: what it reads counts, what it writes does not
  PtxVar *area;
  uint32_t *slot;                          // by register: where in the area, plus 1
  PtxReg *word;                            // for predicates
} Spare;

static void visit(void *user, PtxReg **r, bool is_def) {
  Spare *s = user;
  uint64_t *word = &s->now[(*r)->id / 64], bit = 1ull << ((*r)->id % 64);
  if (s->before_it && !is_def) *word |= bit;
  if (!s->before_it && is_def) *word &= ~bit;
}

// What is live behind instruction i, without what the call itself gives back.
static void find_live(Spare *s, uint32_t i, const PtxReg *result) {
  const IrCfg *c = s->body.cfg;
  uint32_t b = c->block_of[i];
  memcpy(s->now, s->live->live_out[b], sizeof *s->now * s->live->words);
  for (uint32_t k = c->blocks[b].end; --k > i;) {
    s->before_it = false;
    if (!c->instrs[k]->guard) ptx_visit_regs(c->instrs[k], visit, s);
    s->before_it = true;
    ptx_visit_regs(c->instrs[k], visit, s);
  }
  if (result) s->now[result->id / 64] &= ~(1ull << (result->id % 64));
}

static bool can_spare(const PtxReg *r) { return !r->vector && (r->type == TYPE_PRED || ptx_type_size(r->type) <= 8); }

static uint32_t slot_of(Spare *s, const PtxReg *r) {
  uint32_t bytes = r->type == TYPE_PRED ? 4 : MAX(ptx_type_size(r->type), 2u), *slot = &s->slot[r->id];
  if (!*slot) {
    uint32_t at = (s->area->size + bytes - 1) / bytes * bytes;
    s->area->size = at + bytes;
    s->area->dims[0] = s->area->size;
    *slot = at + 1;
  }
  return *slot - 1;
}

static void put_away(Spare *s, Code *c, PtxReg *r) {
  PtxOperand to = opd_at(c, opd_var(s->area), slot_of(s, r));
  if (r->type == TYPE_PRED) {
    EMIT(c, "selp.b32", opd_reg(s->word), opd_imm(1), opd_imm(0), opd_reg(r));
    EMIT(c, "st.local.b32", to, opd_reg(s->word));
  } else if (ptx_type_size(r->type) == 8) EMIT(c, "st.local.b64", to, opd_reg(r));
  else if (ptx_type_size(r->type) == 4) EMIT(c, "st.local.b32", to, opd_reg(r));
  else EMIT(c, "st.local.b16", to, opd_reg(r));
}

static void take_back(Spare *s, Code *c, PtxReg *r) {
  PtxOperand from = opd_at(c, opd_var(s->area), slot_of(s, r));
  if (r->type == TYPE_PRED) {
    EMIT(c, "ld.local.b32", opd_reg(s->word), from);
    EMIT(c, "setp.ne.u32", opd_reg(r), opd_reg(s->word), opd_imm(0));
  } else if (ptx_type_size(r->type) == 8) EMIT(c, "ld.local.b64", opd_reg(r), from);
  else if (ptx_type_size(r->type) == 4) EMIT(c, "ld.local.b32", opd_reg(r), from);
  else EMIT(c, "ld.local.b16", opd_reg(r), from);
}

// Large kernels have hundreds of calls, and the compiler would take minutes for what is put away around them: those are left to it.
enum { MOST_PUT_AWAY = 2000 };

static bool is_argument(const PtxInstr *in) { return in->op == OP_ST && in->space == SPACE_PARAM; }

// Without `emit` it only counts what would be put away.
static uint32_t spare_call(Spare *s, uint32_t call, bool emit) {
  const IrCfg *c = s->body.cfg;
  uint32_t first = call, last = call;
  while (first > 0 && is_argument(c->instrs[first - 1])) first--;
  const PtxReg *result = NULL;
  if (c->instrs[call]->ops[0].nlist && c->instrs[call]->nops > 1 && call + 1 < c->ninstrs && c->instrs[call + 1]->op == OP_LD &&
      c->instrs[call + 1]->space == SPACE_PARAM) {
    last = call + 1;
    result = c->instrs[last]->ops[0].reg;
  }
  find_live(s, last, result);
  uint32_t count = 0;
  for (uint32_t r = 0; r < s->body.func->nregs; r++) {
    if (!(s->now[r / 64] >> (r % 64) & 1)) continue;
    PtxReg *reg = s->body.func->regs[r];
    if (!can_spare(reg)) continue;
    count++;
    if (!emit) continue;
    put_away(s, body_before(&s->body, first), reg);
    take_back(s, body_after(&s->body, last), reg);
  }
  return count;
}

// All calls of statements cold to cold_end.
static uint32_t spare_calls(Spare *s, uint32_t cold, uint32_t cold_end, bool emit) {
  const PtxFunc *f = s->body.func;
  uint32_t count = 0;
  for (uint32_t i = 0, n = 0; i < cold_end && count <= MOST_PUT_AWAY; i++) {
    if (f->stmts[i].kind != STMT_INSTR) continue;
    if (i >= cold && f->stmts[i].instr->op == OP_CALL) count += spare_call(s, n, emit);
    n++;
  }
  return count;
}

static bool has_calls(const PtxFunc *f, uint32_t from, uint32_t to) {
  for (uint32_t i = from; i < to; i++)
    if (f->stmts[i].kind == STMT_INSTR && f->stmts[i].instr->op == OP_CALL) return true;
  return false;
}

bool spare_registers(Program *p, PtxFunc *f, uint32_t unit, uint32_t cold, uint32_t cold_end, Error *err) {
  if (!has_calls(f, cold, cold_end)) return true;
  Spare s;
  if (!body_open(&s.body, p, f, unit, err)) return false;
  Arena *a = &s.body.cfg->arena;
  s.live = ir_liveness_build(s.body.cfg);
  s.now = ARENA_ARRAY(a, uint64_t, s.live->words + 1);
  s.slot = ARENA_ARRAY(a, uint32_t, f->nregs + 1);
  s.area = body_area(&s.body, "spared");
  s.word = body_reg(&s.body, TYPE_B32);
  s.word->name = arena_printf(&f->module->arena, "%sword", p->reg_prefix);
  if (spare_calls(&s, cold, cold_end, false) <= MOST_PUT_AWAY) spare_calls(&s, cold, cold_end, true);
  ir_liveness_free(s.live);
  if (s.area->size) body_declare(&s.body, s.area);
  return body_close(&s.body, err);
}
