// Barriers of a part of the block ("bar.sync 1, 64") in a kernel that calls interrupts. The
// hardware waits for so many threads, and a suspended one has left: it would wait for ever. So they
// become words of shared memory, which are saved with it, and waiting becomes a loop that reads
// them.
//
// As in the hardware a warp counts as 32 threads, when all its lanes have arrived or ended. For
// each barrier there are 32 pairs of words (lanes of the warp that have arrived, lanes that have
// ended), then how many threads it waits for, then the number of its phase (upper half) and the
// threads that have arrived (lower half).
#include "interrupt/stops.h"

enum { MOST_BARRIERS = 16, PAIRS = 32 * 8, NEEDED = PAIRS, STATE = PAIRS + 4, EACH = PAIRS + 8 };

typedef struct Named {
  Body *body;
  PtxVar *words;
  bool by_register;  // a register says which barrier: there are words for all
  unsigned slots[MOST_BARRIERS], nslots;
} Named;

// emit_thread_in_block overwrites the first temporaries.
static PtxReg *own(Code *c, unsigned k) { return word(c, 3 + k); }

// --- which there are ---

static bool is_partial(const PtxInstr *in) {
  return ptx_op_order(in->op) == ORDER_BLOCK && in->nops == 2 && !ptx_has(in, MOD_RED);
}

// false: there is another one that cannot be replaced, which is refused later
static bool find(const PtxFunc *f, Named *n) {
  for (uint32_t i = 0; i < f->nstmts; i++) {
    const PtxInstr *in = f->stmts[i].kind == STMT_INSTR ? f->stmts[i].instr : NULL;
    if (!in || ptx_op_order(in->op) != ORDER_BLOCK) continue;
    if (in->nops == 4) return false;  // a reduction
    if (!is_partial(in)) continue;
    unsigned k = 0, id = (unsigned)in->ops[0].imm & (MOST_BARRIERS - 1);
    n->by_register |= in->ops[0].kind != OPD_INT;
    while (k < n->nslots && n->slots[k] != id) k++;
    if (k == n->nslots) n->slots[n->nslots++] = id;
  }
  for (unsigned k = 0; n->by_register && k < MOST_BARRIERS; k++) n->slots[k] = k;
  if (n->by_register) n->nslots = MOST_BARRIERS;
  return n->nslots != 0;
}

static unsigned slot_of(const Named *n, int64_t id) {
  unsigned k = 0;
  while (k + 1 < n->nslots && n->slots[k] != (unsigned)id) k++;
  return k;
}

// --- at the entry: all words are 0; lanes that the last warp lacks have ended ---

static void clear(const Named *n, Code *c) {
  PtxReg *at = own(c, 0), *count = own(c, 1), *mask = own(c, 2);
  PtxLabel *others = body_label(c->body), *again = body_label(c->body);
  emit_thread_in_block(c, at);
  EMIT(c, "setp.ne.u32", opd_reg(pred(c, 0)), opd_reg(at), opd_imm(0));
  code_branch(c, pred(c, 0), false, others);
  EMIT(c, "mov.u32", opd_reg(at), opd_var(n->words));
  EMIT(c, "add.u32", opd_reg(count), opd_reg(at), opd_imm(n->nslots * EACH));
  EMIT(c, "mov.u32", opd_reg(mask), opd_imm(0));
  code_label(c, again);
  EMIT(c, "st.volatile.shared.u32", opd_at(c, opd_reg(at), 0), opd_reg(mask));
  EMIT(c, "add.u32", opd_reg(at), opd_reg(at), opd_imm(4));
  EMIT(c, "setp.lt.u32", opd_reg(pred(c, 0)), opd_reg(at), opd_reg(count));
  code_branch(c, pred(c, 0), false, again);
  emit_block_threads(c, count);
  EMIT(c, "and.b32", opd_reg(mask), opd_reg(count), opd_imm(31));
  EMIT(c, "setp.eq.u32", opd_reg(pred(c, 0)), opd_reg(mask), opd_imm(0));
  code_branch(c, pred(c, 0), false, others);
  EMIT(c, "mov.u32", opd_reg(at), opd_imm(-1));
  EMIT(c, "shl.b32", opd_reg(mask), opd_reg(at), opd_reg(mask));
  EMIT(c, "shr.u32", opd_reg(count), opd_reg(count), opd_imm(5));
  EMIT(c, "shl.b32", opd_reg(count), opd_reg(count), opd_imm(3));
  EMIT(c, "mov.u32", opd_reg(at), opd_var(n->words));
  EMIT(c, "add.u32", opd_reg(at), opd_reg(at), opd_reg(count));
  for (unsigned k = 0; k < n->nslots; k++)
    EMIT(c, "st.volatile.shared.u32", opd_at(c, opd_reg(at), k * EACH + 4), opd_reg(mask));
  code_label(c, others);
  EMIT(c, "bar.sync", opd_imm(0));
}

// --- a lane arrives or ends ---

// own(0): the words of its barrier. The lane that completes its warp clears the warp's arrivals and
// counts 32 threads; the lane that completes the count begins the next phase.
static void lane_comes(Code *c, bool ends) {
  PtxReg *words = own(c, 0), *pair = own(c, 1), *arrived = own(c, 2), *ended = own(c, 3),
         *bit = own(c, 4), *old = own(c, 5), *needed = own(c, 6);
  PtxReg *before = wide(c, 0), *behind = wide(c, 1), *seen = wide(c, 2);
  PtxLabel *again = body_label(c->body), *done = body_label(c->body), *part = body_label(c->body);
  emit_thread_in_block(c, pair);
  EMIT(c, "shr.u32", opd_reg(pair), opd_reg(pair), opd_imm(5));
  EMIT(c, "shl.b32", opd_reg(pair), opd_reg(pair), opd_imm(3));
  EMIT(c, "add.u32", opd_reg(pair), opd_reg(pair), opd_reg(words));
  EMIT(c, "mov.u32", opd_reg(bit), opd_sreg(SREG_LANEMASK_EQ, SEL_NONE));
  code_label(c, again);
  EMIT(c, "ld.volatile.shared.u64", opd_reg(before), opd_at(c, opd_reg(pair), 0));
  EMIT(c, "cvt.u32.u64", opd_reg(arrived), opd_reg(before));
  EMIT(c, "shr.u64", opd_reg(behind), opd_reg(before), opd_imm(32));
  EMIT(c, "cvt.u32.u64", opd_reg(ended), opd_reg(behind));
  PtxReg *set = ends ? ended : arrived;
  EMIT(c, "or.b32", opd_reg(set), opd_reg(set), opd_reg(bit));
  EMIT(c, "or.b32", opd_reg(old), opd_reg(arrived), opd_reg(ended));
  EMIT(c, "setp.eq.u32", opd_reg(pred(c, 0)), opd_reg(old), opd_imm(-1));
  EMIT(c, "setp.ne.u32", opd_reg(pred(c, 1)), opd_reg(arrived), opd_imm(0));
  EMIT(c, "and.pred", opd_reg(pred(c, 0)), opd_reg(pred(c, 0)), opd_reg(pred(c, 1)));
  EMIT(c, "selp.b32", opd_reg(arrived), opd_imm(0), opd_reg(arrived), opd_reg(pred(c, 0)));
  EMIT(c, "mov.b64", opd_reg(behind),
       opd_vector(c, (const PtxOperand[]){opd_reg(arrived), opd_reg(ended)}, 2));
  EMIT(c, "atom.acq_rel.cta.shared.cas.b64", opd_reg(seen), opd_at(c, opd_reg(pair), 0),
       opd_reg(before), opd_reg(behind));
  EMIT(c, "setp.ne.u64", opd_reg(pred(c, 1)), opd_reg(seen), opd_reg(before));
  code_branch(c, pred(c, 1), false, again);
  code_branch(c, pred(c, 0), true, done);
  EMIT(c, "ld.volatile.shared.u32", opd_reg(needed), opd_at(c, opd_reg(words), NEEDED));
  EMIT(c, "atom.acq_rel.cta.shared.add.u32", opd_reg(old), opd_at(c, opd_reg(words), STATE),
       opd_imm(32));
  EMIT(c, "and.b32", opd_reg(arrived), opd_reg(old), opd_imm(0xffff));
  EMIT(c, "add.u32", opd_reg(arrived), opd_reg(arrived), opd_imm(32));
  EMIT(c, "setp.lt.u32", opd_reg(pred(c, 0)), opd_reg(arrived), opd_reg(needed));
  code_branch(c, pred(c, 0), false, part);
  EMIT(c, "and.b32", opd_reg(old), opd_reg(old), opd_imm(0xffff0000));
  EMIT(c, "add.u32", opd_reg(old), opd_reg(old), opd_imm(0x10000));
  EMIT(c, "atom.acq_rel.cta.shared.exch.b32", opd_reg(arrived), opd_at(c, opd_reg(words), STATE),
       opd_reg(old));
  code_label(c, part);
  code_label(c, done);
}

static void read_phase(Code *c, PtxReg *to) {
  EMIT(c, "ld.acquire.cta.shared.u32", opd_reg(to), opd_at(c, opd_reg(own(c, 0)), STATE));
  EMIT(c, "shr.u32", opd_reg(to), opd_reg(to), opd_imm(16));
}

static void replace(const Named *n, uint32_t i) {
  const PtxInstr *in = n->body->cfg->instrs[i];
  Code *c = body_instead(n->body, i);
  PtxReg *words = own(c, 0), *phase = own(c, 7), *now = own(c, 8);
  PtxLabel *skip = in->guard ? body_label(n->body) : NULL;
  if (skip) code_branch(c, in->guard, !in->guard_negated, skip);
  EMIT(c, "mov.u32", opd_reg(words), opd_var(n->words));
  if (in->ops[0].kind == OPD_INT) {
    EMIT(c, "add.u32", opd_reg(words), opd_reg(words), opd_imm(slot_of(n, in->ops[0].imm) * EACH));
  } else {
    EMIT(c, "and.b32", opd_reg(now), in->ops[0], opd_imm(MOST_BARRIERS - 1));
    EMIT(c, "mad.lo.u32", opd_reg(words), opd_reg(now), opd_imm(EACH), opd_reg(words));
  }
  EMIT(c, "mov.u32", opd_reg(now), in->ops[1]);
  EMIT(c, "st.volatile.shared.u32", opd_at(c, opd_reg(words), NEEDED), opd_reg(now));
  bool waits = !ptx_has(in, MOD_ARRIVE);
  if (waits) read_phase(c, phase);
  lane_comes(c, false);
  if (waits) {
    PtxLabel *again = body_label(n->body);
    code_label(c, again);
    read_phase(c, now);
    EMIT(c, "setp.eq.u32", opd_reg(pred(c, 0)), opd_reg(now), opd_reg(phase));
    code_branch(c, pred(c, 0), false, again);
  }
  if (skip) code_label(c, skip);
}

static void lane_ends(const Named *n, uint32_t i) {
  const PtxInstr *in = i < n->body->cfg->ninstrs ? n->body->cfg->instrs[i] : NULL;
  Code *c = body_before(n->body, i);
  PtxLabel *skip = in && in->guard ? body_label(n->body) : NULL;
  if (skip) code_branch(c, in->guard, !in->guard_negated, skip);
  for (unsigned k = 0; k < n->nslots; k++) {
    EMIT(c, "mov.u32", opd_reg(own(c, 0)), opd_var(n->words));
    EMIT(c, "add.u32", opd_reg(own(c, 0)), opd_reg(own(c, 0)), opd_imm(k * EACH));
    lane_comes(c, true);
  }
  if (skip) code_label(c, skip);
}

static bool replace_all(Named *n, PtxFunc *f, Program *p, Error *err) {
  Body b;
  if (!body_open(&b, p, f, 0, err)) return false;
  n->body = &b;
  clear(n, body_entry(&b));
  for (uint32_t i = 0; i < b.cfg->ninstrs; i++) {
    const PtxInstr *in = b.cfg->instrs[i];
    if (is_partial(in)) replace(n, i);
    else if (in->op == OP_RET || in->op == OP_EXIT) lane_ends(n, i);
  }
  lane_ends(n, b.cfg->ninstrs);
  return body_close(&b, err);
}

bool named_barriers_replace(PtxFunc *f, Program *p, Error *err) {
  Named n = {0};
  if (!find(f, &n)) return true;
  n.words = stops_new_shared(f, "barriers", n.nslots * EACH);
  PassNames before = names_use(p, (PassNames){"__wgnb", "%wgnb_"});
  bool ok = replace_all(&n, f, p, err);
  names_use(p, before);
  return ok;
}
