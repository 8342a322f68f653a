// Accesses in a loop whose address stays the same. If a thread repeats an access, with nothing
// between that orders accesses, the repetition adds nothing. Such an access is checked once for
// each execution of the loop: a bit of a register tells that it was done.
#include "tools/racecheck/internal.h"

enum { MOST = 32 };  // in one kernel

typedef struct Loops {
  const IrCfg *cfg;
  uint64_t **written;
  bool *orders;
  uint32_t words;
  uint32_t now;
} Loops;

static void note_written(void *user, PtxReg **r, bool is_def) {
  Loops *l = user;
  if (is_def) l->written[l->now][(*r)->id / 64] |= 1ull << ((*r)->id % 64);
}

static bool can_enter(const IrCfg *c, uint32_t loop);

static void survey(Loops *l) {
  const IrCfg *c = l->cfg;
  for (uint32_t n = 0; n < c->nloops; n++) {
    l->now = n;
    l->orders[n] = !can_enter(c, n);
    for (uint32_t b = 0; b < c->loops[n].nblocks && !l->orders[n]; b++) {
      const IrBlock *block = &c->blocks[c->loops[n].blocks[b]];
      for (uint32_t i = block->first; i < block->end; i++) {
        l->orders[n] |= race_is_order(c->instrs[i]) && c->instrs[i]->op != OP_RET &&
                        c->instrs[i]->op != OP_EXIT && c->instrs[i]->op != OP_TRAP;
        ptx_visit_regs(c->instrs[i], note_written, l);
      }
    }
  }
}

// Every way into the loop has a place for code.
static bool can_enter(const IrCfg *c, uint32_t loop) {
  const IrBlock *header = &c->blocks[c->loops[loop].header];
  for (uint32_t i = 0; i < header->npred; i++)
    if (!ir_in_loop(c, header->pred[i], loop) &&
        c->blocks[header->pred[i]].first == c->blocks[header->pred[i]].end)
      return false;
  return header->npred > 0 && c->loops[loop].header != 0;
}

static bool stays(const Loops *l, uint32_t loop, const PtxOperand *o) {
  return o->kind != OPD_REG || !(l->written[loop][o->reg->id / 64] >> (o->reg->id % 64) & 1);
}

// The written value distinguishes races of equal values from others, so it must be constant in the
// loop, too, unless it is a running sum.
static bool does_the_same(const RaceCheck *k, const Loops *l, uint32_t loop, const RaceAccess *a) {
  const PtxInstr *in = l->cfg->instrs[a->instr];
  if (l->orders[loop] || !stays(l, loop, &a->address->list[0])) return false;
  if (!(a->flags & WG_RACE_WRITE) || a->reads_too) return true;
  if (in->nops != 2 || in->ops[1].kind == OPD_VECTOR) return false;
  return stays(l, loop, &in->ops[1]) || race_writes_sum(k, a);
}

static bool ends_block(const PtxInstr *in) { return in->op == OP_BRA || in->op == OP_BRX_IDX; }

static void forget_on_entry(RaceCheck *k, uint32_t loop, uint32_t bits) {
  const IrCfg *c = k->body->cfg;
  const IrBlock *header = &c->blocks[c->loops[loop].header];
  for (uint32_t i = 0; i < header->npred; i++) {
    const IrBlock *from = &c->blocks[header->pred[i]];
    if (ir_in_loop(c, header->pred[i], loop) || from->rpo == IR_NONE) continue;
    uint32_t last = from->end - 1;
    Code *code = ends_block(c->instrs[last]) ? body_before(k->body, last)
                                             : body_after(k->body, last);
    EMIT(code, "and.b32", opd_reg(k->once), opd_reg(k->once), opd_imm((int32_t)~bits));
  }
}

void race_find_once(RaceCheck *k) {
  const IrCfg *c = k->body->cfg;
  Arena *a = &k->body->program->scratch;
  if (!c->nloops) return;
  Loops l = {.cfg = c,
             .words = k->body->func->nregs / 64 + 1,
             .written = ARENA_ARRAY(a, uint64_t *, c->nloops),
             .orders = ARENA_ARRAY(a, bool, c->nloops)};
  uint32_t *bits = ARENA_ARRAY(a, uint32_t, c->nloops), n = 0;
  for (uint32_t i = 0; i < c->nloops; i++) l.written[i] = ARENA_ARRAY(a, uint64_t, l.words);
  survey(&l);
  for (uint32_t i = 0; i < k->accesses.len && n < MOST; i++) {
    RaceAccess *x = &k->accesses.data[i];
    PtxOp op = c->instrs[x->instr]->op;
    if (x->gone || x->flags & WG_RACE_STRONG || (op != OP_LD && op != OP_LDU && op != OP_ST) ||
        x->address->nlist != 1)
      continue;
    uint32_t in = IR_NONE;
    for (uint32_t loop = c->blocks[c->block_of[x->instr]].loop;
         loop != IR_NONE && does_the_same(k, &l, loop, x); loop = c->loops[loop].parent)
      in = loop;
    if (in == IR_NONE) continue;
    x->once = 1u << n++;
    if (x->flags & WG_RACE_WRITE && !stays(&l, in, &c->instrs[x->instr]->ops[1]))
      x->reads_too = true;
    bits[in] |= x->once;
  }
  if (!n) return;
  k->once = body_reg(k->body, TYPE_B32);
  EMIT(body_entry(k->body), "mov.b32", opd_reg(k->once), opd_imm(0));
  for (uint32_t i = 0; i < c->nloops; i++)
    if (bits[i]) forget_on_entry(k, i, bits[i]);
}
