// One access: where its entries are, and the call that compares and keeps.
//
//     @size bra Slow                                 in the launch record; size 0: nobody writes there in this launch
//   Back:
//     ld …
//   Slow:                                            out of line
//     off = address - base;  @off >= size bra Back
//     the entry says that this is known: bra Back; it is of an earlier launch: swap, bra Back
//     wg_race_access(entries, off, …);  bra Back
#include "instrument/racecheck.h"

typedef struct Emit {
  RaceCheck *k;
  const RaceAccess *a;
  PtxInstr *in;
  PtxReg *at, *off;
  PtxLabel *slow, *back, *shared_slow, *remote_slow;     // shared_slow: a generic address of shared memory; remote_slow: of another block's
  PtxReg *entries;                         // of another block of the cluster; NULL: its own
} Emit;

void race_load(const RaceCheck *k, Code *c, PtxReg *to, size_t field) { record_load(c, to, k->record + (uint32_t)field); }

static PtxReg *wide(Emit *e, unsigned n) { return body_temp(e->k->body, TYPE_B64, n); }
static PtxReg *word(Emit *e, unsigned n) { return body_temp(e->k->body, TYPE_B32, n); }
static PtxReg *pred(Emit *e, unsigned n) { return body_temp(e->k->body, TYPE_PRED, n); }

// Where this lane's bytes are; lanes that have none go back.
static void find_address(Emit *e, Code *c, PtxReg *to) {
  const RaceAccess *a = e->a;
  access_address(c, to, a->address);
  if (!a->lanes) return;
  PtxReg *lane = word(e, 1), *none = pred(e, 1), *more = wide(e, 7);
  EMIT(c, "mov.u32", opd_reg(lane), opd_sreg(SREG_LANEID, SEL_NONE));
  if (a->lanes < 32) {
    EMIT(c, "setp.ge.u32", opd_reg(none), opd_reg(lane), opd_imm(a->lanes));
    code_branch(c, none, false, e->back);
  }
  if (!a->apart_bits) return;
  EMIT(c, "mul.lo.u32", opd_reg(lane), opd_reg(lane), opd_imm(a->apart_bits));
  if (a->apart) EMIT(c, "mul.wide.u32", opd_reg(more), opd_reg(lane), *a->apart);
  else EMIT(c, "cvt.u64.u32", opd_reg(more), opd_reg(lane));
  EMIT(c, "shr.u64", opd_reg(more), opd_reg(more), opd_imm(3));
  EMIT(c, "add.u64", opd_reg(to), opd_reg(to), opd_reg(more));
}

// in = guard && off < size
static void test_inside(Emit *e, Code *c, PtxReg *in, PtxOperand size) {
  const PtxInstr *i = e->in;
  if (i->guard) EMIT(c, "setp.lt.and.u64", opd_reg(in), opd_reg(e->off), size, i->guard_negated ? opd_not(i->guard) : opd_reg(i->guard));
  else EMIT(c, "setp.lt.u64", opd_reg(in), opd_reg(e->off), size);
}

// Bytes of shared memory that have entries: 4 for 16 of them.
static void shared_size(Emit *e, Code *c, PtxReg *to) {
  PtxReg *stride = word(e, 0);
  RACE_LOAD(e->k, c, stride, shared_stride);
  EMIT(c, "shr.u32", opd_reg(stride), opd_reg(stride), opd_imm(2));
  EMIT(c, "cvt.u64.u32", opd_reg(to), opd_reg(stride));
}

// Branches to the slow code where there is something to check, which the launch record knows.
static void go_if(Emit *e, Code *hot, PtxReg *size) {
  PtxReg *some = pred(e, 0);
  if (ptx_type_size(size->type) == 4) EMIT(hot, "setp.ne.u32", opd_reg(some), opd_reg(size), opd_imm(0));
  else EMIT(hot, "setp.ne.u64", opd_reg(some), opd_reg(size), opd_imm(0));
  if (e->a->once) {
    PtxReg *done = word(e, 1);
    EMIT(hot, "and.b32", opd_reg(done), opd_reg(e->k->once), opd_imm((int32_t)e->a->once));
    EMIT(hot, "setp.eq.and.u32", opd_reg(some), opd_reg(done), opd_imm(0), opd_reg(some));
  }
  code_branch(hot, some, false, e->slow);
}

static void keep_once(Emit *e, Code *c) {
  if (e->a->once) EMIT(c, "or.b32", opd_reg(e->k->once), opd_reg(e->k->once), opd_imm((int32_t)e->a->once));
}

static void go_by_param(Emit *e, Code *hot, Code *cold) {
  PtxReg *base = wide(e, 3), *size = wide(e, 4);
  record_load(hot, size, e->a->fact_at + 8);
  go_if(e, hot, size);
  code_label(cold, e->slow);
  find_address(e, cold, e->at);
  record_load(cold, base, e->a->fact_at);
  record_load(cold, size, e->a->fact_at + 8);
  EMIT(cold, "sub.s64", opd_reg(e->off), opd_reg(e->at), opd_reg(base));
  test_inside(e, cold, pred(e, 0), opd_reg(size));
  code_branch(cold, pred(e, 0), true, e->back);
  keep_once(e, cold);
}

static void go_to_shared(Emit *e, Code *hot, Code *cold) {
  PtxReg *stride = word(e, 0);
  RACE_LOAD(e->k, hot, stride, shared_stride);
  go_if(e, hot, stride);
  code_label(cold, e->slow);
  find_address(e, cold, e->off);
  if (!e->a->is_shared_space) EMIT(cold, "cvta.to.shared.u64", opd_reg(e->off), opd_reg(e->off));
  EMIT(cold, "mov.b64", opd_reg(e->at), opd_reg(e->off));
  shared_size(e, cold, wide(e, 3));
  test_inside(e, cold, pred(e, 0), opd_reg(wide(e, 3)));
  code_branch(cold, pred(e, 0), true, e->back);
  keep_once(e, cold);
}

// e->at: an address of shared memory of the cluster, rank << 24 | offset; addresses of the own block may be without a rank.
static void find_remote(Emit *e, Code *c) {
  RaceCheck *k = e->k;
  PtxReg *a = word(e, 0), *rank = word(e, 1), *own = word(e, 2), *stride = word(e, 3), *slots = word(e, 4), *shared = wide(e, 3), *alone = pred(e, 0);
  EMIT(c, "setp.eq.u32", opd_reg(alone), opd_reg(k->cluster), opd_imm(0));
  code_branch(c, alone, false, e->back);
  EMIT(c, "cvt.u32.u64", opd_reg(a), opd_reg(e->at));
  EMIT(c, "getctarank.shared::cluster.u32", opd_reg(rank), opd_reg(a));
  EMIT(c, "mov.u32", opd_reg(own), opd_sreg(SREG_CLUSTER_CTARANK, SEL_NONE));
  EMIT(c, "sub.u32", opd_reg(rank), opd_reg(rank), opd_reg(own));
  EMIT(c, "and.b32", opd_reg(a), opd_reg(a), opd_imm(0xffffff));
  EMIT(c, "cvt.u64.u32", opd_reg(e->off), opd_reg(a));
  EMIT(c, "mov.b64", opd_reg(e->at), opd_reg(e->off));
  shared_size(e, c, shared);
  EMIT(c, "setp.lt.u64", opd_reg(alone), opd_reg(e->off), opd_reg(shared));
  code_branch(c, alone, true, e->back);
  RACE_LOAD(k, c, shared, shared);
  RACE_LOAD(k, c, stride, shared_stride);
  RACE_LOAD(k, c, slots, shared_slots);
  e->entries = wide(e, 6);
  const PtxOperand args[] = {opd_reg(shared), opd_reg(stride), opd_reg(slots), opd_reg(rank)};
  code_call_value(c, probe_function(k->body->program, k->body->unit, "wg_race_remote"), e->entries, args, 4);
}

static void go_to_cluster(Emit *e, Code *hot, Code *cold) {
  PtxReg *stride = word(e, 0), *some = pred(e, 0);
  const PtxInstr *in = e->in;
  RACE_LOAD(e->k, hot, stride, shared_stride);
  if (in->guard) EMIT(hot, "setp.ne.and.u32", opd_reg(some), opd_reg(stride), opd_imm(0), in->guard_negated ? opd_not(in->guard) : opd_reg(in->guard));
  else EMIT(hot, "setp.ne.u32", opd_reg(some), opd_reg(stride), opd_imm(0));
  code_branch(hot, some, false, e->slow);
  code_label(cold, e->slow);
  find_address(e, cold, e->at);
  find_remote(e, cold);
}

// Nothing is known of the address: the range found last, else the table; shared memory by its generic address.
static void look_up(Emit *e, Code *hot) {
  RaceCheck *k = e->k;
  Body *b = k->body;
  Code *cold = body_cold(b);
  PtxReg *outside = pred(e, 0), *other = pred(e, 1), *range = wide(e, 3), *table = wide(e, 4);
  PtxLabel *miss = body_label(b), *found = body_label(b);
  bool generic = e->in->space == SPACE_GENERIC && e->in->op != OP_CP_ASYNC;
  find_address(e, hot, e->at);
  if (e->in->guard) code_branch(hot, e->in->guard, !e->in->guard_negated, e->back);
  if (e->a->once) {
    EMIT(hot, "and.b32", opd_reg(word(e, 1)), opd_reg(k->once), opd_imm((int32_t)e->a->once));
    EMIT(hot, "setp.ne.u32", opd_reg(other), opd_reg(word(e, 1)), opd_imm(0));
    code_branch(hot, other, false, e->back);
  }
  EMIT(hot, "sub.s64", opd_reg(e->off), opd_reg(e->at), opd_reg(k->cache_base));
  EMIT(hot, "setp.ge.u64", opd_reg(outside), opd_reg(e->off), opd_reg(k->cache_size));
  code_branch(hot, outside, false, miss);
  EMIT(hot, "setp.ne.u64", opd_reg(other), opd_reg(k->cache_entries), opd_imm(0));
  code_branch(hot, other, false, e->slow);

  cold->near = e->in;
  code_label(cold, miss);
  EMIT(cold, "setp.eq.u64", opd_reg(other), opd_reg(k->me), opd_imm(0));
  code_branch(cold, other, false, e->back);
  if (generic) {
    EMIT(cold, "isspacep.global", opd_reg(other), opd_reg(e->at));
    code_branch(cold, other, false, found);
    EMIT(cold, "isspacep.shared", opd_reg(other), opd_reg(e->at));
    if (k->cluster) {
      PtxLabel *own = body_label(b);
      e->remote_slow = body_label(b);
      code_branch(cold, other, false, own);
      EMIT(cold, "isspacep.shared::cluster", opd_reg(other), opd_reg(e->at));
      code_branch(cold, other, false, e->remote_slow);
      EMIT(cold, "bra", opd_label(e->back));
      code_label(cold, own);
    } else code_branch(cold, other, true, e->back);
    EMIT(cold, "cvta.to.shared.u64", opd_reg(e->off), opd_reg(e->at));
    EMIT(cold, "mov.b64", opd_reg(e->at), opd_reg(e->off));
    shared_size(e, cold, wide(e, 3));
    EMIT(cold, "setp.lt.u64", opd_reg(other), opd_reg(e->off), opd_reg(wide(e, 3)));
    e->shared_slow = body_label(b);
    code_branch(cold, other, false, e->shared_slow);
    EMIT(cold, "bra", opd_label(e->back));
    code_label(cold, found);
  }
  record_load(cold, table, offsetof(WgLaunch, memory));
  const PtxOperand args[] = {opd_reg(table), opd_reg(e->at)};
  code_call_value(cold, probe_function(b->program, b->unit, "wg_init_find"), range, args, 2);
  EMIT(cold, "setp.eq.u64", opd_reg(other), opd_reg(range), opd_imm(0));
  code_branch(cold, other, false, e->back);
  EMIT(cold, "ld.global.u64", opd_reg(k->cache_base), opd_at(cold, opd_reg(range), offsetof(WgMemoryRange, base)));
  EMIT(cold, "ld.global.u64", opd_reg(k->cache_size), opd_at(cold, opd_reg(range), offsetof(WgMemoryRange, size)));
  EMIT(cold, "ld.global.u64", opd_reg(k->cache_entries), opd_at(cold, opd_reg(range), offsetof(WgMemoryRange, race)));
  EMIT(cold, "sub.s64", opd_reg(e->off), opd_reg(e->at), opd_reg(k->cache_base));
  EMIT(cold, "setp.eq.u64", opd_reg(other), opd_reg(k->cache_entries), opd_imm(0));
  code_branch(cold, other, false, e->back);
  EMIT(cold, "bra", opd_label(e->slow));
}

// The value a store is about to write, in a register of 8 bytes; false: it is none of one register or constant, and of up to 8 bytes.
static bool written(Emit *e, Code *c, PtxReg *to, bool *constant) {
  const PtxInstr *in = e->in;
  const PtxOperand *o = in->nops == 2 ? &in->ops[1] : NULL;
  uint64_t mask = e->a->bytes < 8 ? (1ull << 8 * e->a->bytes) - 1 : ~0ull;
  *constant = o && (o->kind == OPD_INT || o->kind == OPD_FLOAT);
  if (in->op != OP_ST || !o || e->a->bytes > 8) return false;
  if (*constant) {
    if (c) EMIT(c, "mov.b64", opd_reg(to), opd_imm((int64_t)((uint64_t)o->imm & mask)));
    return true;
  }
  if (o->kind != OPD_REG || o->reg->vector || o->reg->type == TYPE_PRED || o->selector != SEL_NONE) return false;
  unsigned size = ptx_type_size(o->reg->type);
  if (size == 8) {
    if (c) EMIT(c, "mov.b64", opd_reg(to), *o);
    if (c && e->a->bytes < 8) EMIT(c, "and.b64", opd_reg(to), opd_reg(to), opd_imm((int64_t)mask));
  } else if (size == 4) {
    PtxReg *w = word(e, 2);
    if (c) EMIT(c, "mov.b32", opd_reg(w), *o);
    if (c) EMIT(c, "cvt.u64.u32", opd_reg(to), opd_reg(w));
  } else if (size == 2 && ptx_type_kind(o->reg->type) != KIND_FLOAT) {
    if (c) EMIT(c, "cvt.u64.u16", opd_reg(to), *o);
  } else return false;
  return true;
}

// --- what needs no call: words of 4 bytes, accesses that are not strong ---
//
// Entries are read as any memory is: from a cache, which may be late. Whoever has replaced an entry since has seen it, and everything that an entry has ever said was so.

enum { WHOLE = 15 << WG_RACE_BYTES_AT };
static const int64_t not_the_time = (int64_t)1023 << WG_RACE_SITE_AT | WG_RACE_FLAGS;
static const int64_t one_launch = (int64_t)1 << WG_RACE_LAUNCH_AT;

// The entry of this access.
static void make_entry(Emit *e, Code *c, PtxReg *to) {
  bool constant;
  int64_t rest = (int64_t)e->a->site << WG_RACE_SITE_AT | e->a->flags | WHOLE;
  if (!written(e, c, to, &constant)) {
    EMIT(c, "or.b64", opd_reg(to), opd_reg(e->k->me), opd_imm(rest));
    return;
  }
  EMIT(c, "mul.lo.u64", opd_reg(to), opd_reg(to), opd_imm((int64_t)0x9e3779b97f4a7c15));
  EMIT(c, "shr.u64", opd_reg(to), opd_reg(to), opd_imm(61));
  EMIT(c, "shl.b64", opd_reg(to), opd_reg(to), opd_imm(3));
  EMIT(c, "or.b64", opd_reg(to), opd_reg(to), opd_reg(e->k->me));
  EMIT(c, "or.b64", opd_reg(to), opd_reg(to), opd_imm(rest));
}

// Loads an entry, and what it has different from this thread's into `other`.
static void load_entry(Emit *e, Code *c, PtxReg *to, PtxReg *other, PtxReg *at, int64_t offset) {
  EMIT(c, "ld.global.u64", opd_reg(to), opd_at(c, opd_reg(at), offset));
  EMIT(c, "xor.b64", opd_reg(other), opd_reg(to), opd_reg(e->k->me));
}

// Branches where what is different is this, as far as one looks.
static void branch_if(Emit *e, Code *c, PtxReg *other, int64_t want, int64_t look, PtxLabel *to) {
  PtxReg *t = wide(e, 5), *p = pred(e, 0);
  EMIT(c, "and.b64", opd_reg(t), opd_reg(other), opd_imm(look));
  EMIT(c, "setp.eq.u64", opd_reg(p), opd_reg(t), opd_imm(want));
  code_branch(c, p, false, to);
}

// Branches where the entry is of this launch and barrier interval, or where it is not.
static void branch_if_now(Emit *e, Code *c, PtxReg *other, bool now, PtxLabel *to) {
  PtxReg *t = wide(e, 5), *p = pred(e, 0);
  RACE_LOAD(e->k, c, t, interval);
  EMIT(c, "and.b64", opd_reg(t), opd_reg(other), opd_reg(t));
  EMIT(c, "setp.eq.u64", opd_reg(p), opd_reg(t), opd_imm(0));
  code_branch(c, p, !now, to);
}

// Puts the access into the entry at [at + offset], which held `entry`. It branches to `done`, or goes on: somebody was faster.
static void swap_in(Emit *e, Code *c, PtxReg *at, int64_t offset, PtxReg *entry, PtxLabel *done) {
  PtxReg *t = wide(e, 5), *p = pred(e, 0);
  make_entry(e, c, t);
  EMIT(c, "atom.global.cas.b64", opd_reg(t), opd_at(c, opd_reg(at), offset), opd_reg(entry), opd_reg(t));
  EMIT(c, "setp.eq.u64", opd_reg(p), opd_reg(t), opd_reg(entry));
  code_branch(c, p, false, done);
}

// All of these go on where a call is needed.
static void read_of_pair(Emit *e, Code *c, PtxReg *at) {
  PtxReg *entry = wide(e, 3), *other = wide(e, 4), *moment = wide(e, 6), *t = wide(e, 5), *p = pred(e, 0);
  PtxLabel *old = body_label(e->k->body), *kept = body_label(e->k->body), *call = body_label(e->k->body);
  load_entry(e, c, entry, other, at, 8);
  branch_if_now(e, c, other, false, old);
  branch_if(e, c, other, WHOLE, ~not_the_time | WG_RACE_STRONG, kept);               // this thread, before
  RACE_LOAD(e->k, c, moment, moment);                                               // several
  EMIT(c, "or.b64", opd_reg(moment), opd_reg(moment), opd_imm(WHOLE | WG_RACE_MANY | WG_RACE_STRONG));
  EMIT(c, "and.b64", opd_reg(t), opd_reg(other), opd_reg(moment));
  EMIT(c, "setp.eq.u64", opd_reg(p), opd_reg(t), opd_imm(WHOLE | WG_RACE_MANY));
  code_branch(c, p, false, kept);
  EMIT(c, "setp.ne.u64", opd_reg(p), opd_reg(t), opd_imm(WHOLE));
  code_branch(c, p, false, call);
  if (e->k->has_clock) EMIT(c, "bra", opd_label(call));
  else {                                                                            // another one before
    EMIT(c, "mov.b64", opd_reg(t), opd_imm(WG_RACE_MANY));
    EMIT(c, "red.global.or.b64", opd_at(c, opd_reg(at), 8), opd_reg(t));
  }
  code_label(c, kept);
  load_entry(e, c, entry, other, at, 0);
  branch_if_now(e, c, other, false, e->back);
  branch_if(e, c, other, WHOLE | WG_RACE_WRITE, ~not_the_time | WG_RACE_WRITE, e->back);
  EMIT(c, "bra", opd_label(call));
  code_label(c, old);
  swap_in(e, c, at, 8, entry, kept);
  code_label(c, call);
}

// Atomic operations: somebody has made one of the same kind since the same barrier. It stays.
static void branch_if_strong(Emit *e, Code *c, PtxReg *other, bool shared, PtxLabel *to) {
  PtxReg *t = wide(e, 5), *p = pred(e, 0);
  int64_t scope = shared ? 0 : WG_RACE_CTA, kind = WHOLE | WG_RACE_WRITE | WG_RACE_STRONG;
  RACE_LOAD(e->k, c, t, interval);
  EMIT(c, "or.b64", opd_reg(t), opd_reg(t), opd_imm(kind | scope));
  EMIT(c, "and.b64", opd_reg(t), opd_reg(other), opd_reg(t));
  EMIT(c, "setp.eq.u64", opd_reg(p), opd_reg(t), opd_imm(kind));
  code_branch(c, p, false, to);
}

static void write_of_pair(Emit *e, Code *c, PtxReg *at) {
  PtxReg *entry = wide(e, 3), *other = wide(e, 4), *p = pred(e, 0), *t = wide(e, 5);
  PtxLabel *call = body_label(e->k->body), *kept = body_label(e->k->body);
  bool strong = e->a->flags & WG_RACE_STRONG;
  load_entry(e, c, entry, other, at, 0);
  if (strong) branch_if_strong(e, c, other, true, kept);
  branch_if_now(e, c, other, true, call);
  EMIT(c, "setp.eq.u64", opd_reg(p), opd_reg(entry), opd_imm((int64_t)WG_RACE_BENIGN));
  code_branch(c, p, false, e->back);
  swap_in(e, c, at, 0, entry, kept);
  EMIT(c, "bra", opd_label(call));
  code_label(c, kept);
  load_entry(e, c, entry, other, at, 8);
  branch_if_now(e, c, other, false, e->back);
  if (strong) {
    EMIT(c, "and.b64", opd_reg(t), opd_reg(entry), opd_imm(WG_RACE_STRONG));
    EMIT(c, "setp.ne.u64", opd_reg(p), opd_reg(t), opd_imm(0));
    code_branch(c, p, false, e->back);
  } else branch_if(e, c, other, WHOLE, ~not_the_time | WG_RACE_MANY | WG_RACE_STRONG, e->back);
  code_label(c, call);
}

static void one_entry(Emit *e, Code *c, PtxReg *at) {
  RaceCheck *k = e->k;
  bool writes = e->a->flags & WG_RACE_WRITE;
  PtxReg *entry = wide(e, 3), *other = wide(e, 4), *t = wide(e, 5), *p = pred(e, 0);
  PtxLabel *call = body_label(k->body);
  load_entry(e, c, entry, other, at, 0);
  if (e->a->flags & WG_RACE_STRONG) branch_if_strong(e, c, other, false, e->back);
  else branch_if(e, c, other, WHOLE | (writes ? WG_RACE_WRITE : 0), ~not_the_time | (writes ? WG_RACE_WRITE | WG_RACE_STRONG : 0), e->back);
  if (!writes && !k->has_clock)            // reads of several blocks
    branch_if(e, c, other, WHOLE | WG_RACE_BLOCKS, ~(one_launch - 1) | WHOLE | WG_RACE_BLOCKS | WG_RACE_WRITE | WG_RACE_WROTE | WG_RACE_STRONG, e->back);
  RACE_LOAD(k, c, t, replace);
  EMIT(c, "setp.lt.u64", opd_reg(p), opd_reg(entry), opd_reg(t));
  EMIT(c, "setp.ge.and.u64", opd_reg(p), opd_reg(other), opd_imm(one_launch), opd_reg(p));
  code_branch(c, p, true, call);
  swap_in(e, c, at, 0, entry, e->back);
  code_label(c, call);
}

static void find_entries(Emit *e, Code *c, PtxReg *to, bool shared) {
  if (shared) EMIT(c, "mov.b64", opd_reg(to), opd_reg(e->entries ? e->entries : e->k->shared_at));
  else if (e->a->place == RACE_PARAM) record_load(c, to, e->a->fact_at + 16);
  else EMIT(c, "mov.b64", opd_reg(to), opd_reg(e->k->cache_entries));
}

// Several words: only what is known already goes without a call. In shared memory that is: several threads have read all of it since the last barrier, and nobody has written it.
static void several_words(Emit *e, Code *c, PtxReg *at, unsigned n, bool shared) {
  bool writes = e->a->flags & WG_RACE_WRITE;
  int64_t want = shared ? WHOLE | WG_RACE_MANY : WHOLE | (writes ? WG_RACE_WRITE : 0), look = ~not_the_time | (writes ? WG_RACE_WRITE | WG_RACE_STRONG : 0);
  PtxReg *entry = wide(e, 3), *other = wide(e, 4), *mask = wide(e, 5), *interval = wide(e, 6), *p = pred(e, 0);
  if (shared) {
    RACE_LOAD(e->k, c, mask, moment);
    EMIT(c, "or.b64", opd_reg(mask), opd_reg(mask), opd_imm(want | WG_RACE_STRONG));
    RACE_LOAD(e->k, c, interval, interval);
  }
  for (unsigned i = 0; i < n; i++) {
    load_entry(e, c, entry, other, at, shared ? 16 * i + 8 : 8 * i);
    if (shared) EMIT(c, "and.b64", opd_reg(other), opd_reg(other), opd_reg(mask));
    else EMIT(c, "and.b64", opd_reg(other), opd_reg(other), opd_imm(look));
    if (i) EMIT(c, "setp.eq.and.u64", opd_reg(p), opd_reg(other), opd_imm(want), opd_reg(p));
    else EMIT(c, "setp.eq.u64", opd_reg(p), opd_reg(other), opd_imm(want));
    if (!shared) continue;
    load_entry(e, c, entry, other, at, 16 * i);
    EMIT(c, "and.b64", opd_reg(other), opd_reg(other), opd_reg(interval));
    EMIT(c, "setp.ne.and.u64", opd_reg(p), opd_reg(other), opd_imm(0), opd_reg(p));
  }
  code_branch(c, p, false, e->back);
}

// The call begins where this ends.
static void without_call(Emit *e, Code *c, bool shared) {
  bool writes = e->a->flags & WG_RACE_WRITE;
  unsigned n = e->a->bytes / 4;
  bool strong = e->a->flags & WG_RACE_STRONG;
  if (strong && (!writes || e->k->has_clock || n != 1 || (!shared && e->a->flags & WG_RACE_CTA))) return;
  if (e->a->bytes % 4 || n > 4 || e->a->site == WG_RACE_NO_SITE || (!shared && e->k->body->program->plan->race_full)) return;
  if (!shared && e->k->has_global_async) return;
  if (shared && (e->k->has_async || e->k->has_clusters)) return;       // a barrier of the block does not order what is not done yet, nor what another block does
  if (shared && writes && n > 1) return;   // mostly the first write since a barrier
  if (ptx_has(e->in, MOD_NC)) return;      // the compiler was told that nobody writes there: it is hardly ever reached, and need not be fast
  PtxReg *at = wide(e, 2), *entries = wide(e, 3);
  find_entries(e, c, entries, shared);
  if (e->a->place == RACE_LOOKUP && !shared) {           // a variable may begin within a word, which counts as a whole; the address is a multiple of 4
    EMIT(c, "add.u64", opd_reg(at), opd_reg(e->off), opd_imm(3));
    EMIT(c, "and.b64", opd_reg(at), opd_reg(at), opd_imm(~3));
  } else EMIT(c, "and.b64", opd_reg(at), opd_reg(e->off), opd_imm(~3));
  EMIT(c, "shl.b64", opd_reg(at), opd_reg(at), opd_imm(shared ? 2 : 1));
  EMIT(c, "add.u64", opd_reg(at), opd_reg(at), opd_reg(entries));
  if (n > 1) several_words(e, c, at, n, shared);
  else if (!shared) one_entry(e, c, at);
  else if (writes) write_of_pair(e, c, at);
  else read_of_pair(e, c, at);
}

// What memory holds that is about to be written.
static void load_content(Emit *e, Code *c, PtxReg *to, bool shared) {
  PtxReg *w = word(e, 2), *at = shared ? e->off : e->at;
  switch (e->a->bytes) {
    case 1: shared ? EMIT(c, "ld.volatile.shared.u8", opd_reg(w), opd_at(c, opd_reg(at), 0)) : EMIT(c, "ld.volatile.global.u8", opd_reg(w), opd_at(c, opd_reg(at), 0)); break;
    case 2: shared ? EMIT(c, "ld.volatile.shared.u16", opd_reg(w), opd_at(c, opd_reg(at), 0)) : EMIT(c, "ld.volatile.global.u16", opd_reg(w), opd_at(c, opd_reg(at), 0)); break;
    case 4: shared ? EMIT(c, "ld.volatile.shared.u32", opd_reg(w), opd_at(c, opd_reg(at), 0)) : EMIT(c, "ld.volatile.global.u32", opd_reg(w), opd_at(c, opd_reg(at), 0)); break;
    default: shared ? EMIT(c, "ld.volatile.shared.u64", opd_reg(to), opd_at(c, opd_reg(at), 0)) : EMIT(c, "ld.volatile.global.u64", opd_reg(to), opd_at(c, opd_reg(at), 0)); return;
  }
  EMIT(c, "cvt.u64.u32", opd_reg(to), opd_reg(w));
}

// Leaves a WgRaceWaiting.
static void wait_for_look(Emit *e, Code *c, bool shared, uint32_t what, bool stores) {
  RaceCheck *k = e->k;
  PtxReg *said = wide(e, 3), *value = wide(e, 4), *there = wide(e, 5);
  bool found = (!shared && e->a->place == RACE_LOOKUP) || e->entries;
  uint32_t at = k->nwaiting * (uint32_t)sizeof(WgRaceWaiting);
  EMIT(c, "mov.b64", opd_reg(said), opd_imm((int64_t)WG_RACE_ACCESS_OF(what | (found ? WG_RACE_ACCESS_FOUND : 0u), found || shared ? 0 : (int32_t)e->a->fact_at - (int32_t)k->record)));
  if (shared && k->cluster) {
    EMIT(c, "cvt.u64.u32", opd_reg(there), opd_reg(k->cluster));
    EMIT(c, "or.b64", opd_reg(said), opd_reg(said), opd_reg(there));
  }
  EMIT(c, "st.local.v2.b64", opd_at(c, opd_var(k->waiting_at), at), opd_vector(c, (const PtxOperand[]){opd_reg(e->off), opd_reg(said)}, 2));
  if (stores) {
    load_content(e, c, there, shared);
    EMIT(c, "st.local.v2.b64", opd_at(c, opd_var(k->waiting_at), at + 16), opd_vector(c, (const PtxOperand[]){opd_reg(value), opd_reg(there)}, 2));
  }
  if (e->entries) EMIT(c, "mov.b64", opd_reg(there), opd_imm(0));
  if (found) EMIT(c, "st.local.v2.b64", opd_at(c, opd_var(k->waiting_at), at + 32), opd_vector(c, (const PtxOperand[]){opd_reg(e->entries ? e->entries : k->cache_entries), opd_reg(e->entries ? there : k->cache_base)}, 2));
  EMIT(c, "or.b32", opd_reg(k->waiting), opd_reg(k->waiting), opd_imm(1 << k->nwaiting));
  EMIT(c, "bra", opd_label(e->back));
}

void race_look(RaceCheck *k, Code *c) {
  Body *b = k->body;
  Code *cold = body_cold(b);
  PtxReg *some = body_temp(b, TYPE_PRED, 0), *record = body_temp(b, TYPE_B64, 0), *list = body_temp(b, TYPE_B64, 1);
  PtxLabel *look = body_label(b), *back = body_label(b);
  EMIT(c, "setp.ne.u32", opd_reg(some), opd_reg(k->waiting), opd_imm(0));
  code_branch(c, some, false, look);
  code_label(c, back);
  code_label(cold, look);
  record_address(cold, record, k->record);
  EMIT(cold, "mov.u64", opd_reg(list), opd_var(k->waiting_at));
  EMIT(cold, "cvta.local.u64", opd_reg(list), opd_reg(list));
  const PtxOperand args[] = {opd_reg(record), opd_reg(list), opd_reg(k->waiting), opd_reg(k->me), k->has_clock ? opd_reg(k->knows) : opd_imm(0)};
  code_call(cold, probe_function(b->program, b->unit, "wg_race_access"), args, ARRAY_LEN(args));
  EMIT(cold, "mov.b32", opd_reg(k->waiting), opd_imm(0));
  EMIT(cold, "bra", opd_label(back));
  k->nwaiting = 0;
}

// The virtual device has wg_race_check in C, and that does not report.
static void compare(Emit *e, Code *c, bool shared) {
  RaceCheck *k = e->k;
  Body *b = k->body;
  Program *p = b->program;
  PtxReg *entries = wide(e, 3), *value = wide(e, 4), *unordered = wide(e, 5), *launches = wide(e, 6), *with = wide(e, 7), *layout = word(e, 0), *none = pred(e, 0);
  bool constant, stores = !e->entries && written(e, c, value, &constant);
  uint32_t what = e->a->bytes | (stores ? WG_RACE_ACCESS_STORES : 0u) | (shared ? WG_RACE_ACCESS_SHARED : 0u) | (stores && constant ? WG_RACE_ACCESS_CONSTANT : 0u) |
                  (e->a->reads_too ? WG_RACE_ACCESS_READS : 0u) | (e->a->flags & 7) << WG_RACE_ACCESS_FLAGS_AT | e->a->site << WG_RACE_ACCESS_SITE_AT;
  PtxOperand stored = stores ? opd_reg(value) : opd_imm(0), knows = k->has_clock ? opd_reg(k->knows) : opd_imm(0);
  if (k->defers) {
    wait_for_look(e, c, shared, what, stores);
    return;
  }
  find_entries(e, c, entries, shared);
  RACE_LOAD(k, c, layout, layout);
  RACE_LOAD(k, c, unordered, unordered);
  RACE_LOAD(k, c, launches, launches);
  PtxOperand told = opd_imm(what);
  if (shared && k->cluster) {
    EMIT(c, "or.b32", opd_reg(word(e, 3)), opd_reg(k->cluster), opd_imm((int32_t)what));
    told = opd_reg(word(e, 3));
  }
  const PtxOperand args[] = {opd_reg(entries), opd_reg(e->off), opd_reg(e->at), told, stored, opd_reg(k->me), opd_reg(layout), opd_reg(k->first), opd_reg(unordered), knows};
  code_call_value(c, probe_function(p, b->unit, "wg_race_check"), with, args, 10);
  EMIT(c, "setp.eq.u64", opd_reg(none), opd_reg(with), opd_imm(0));
  code_branch(c, none, false, e->back);
  const PtxOperand report[] = {told, opd_reg(e->at), stored, opd_reg(with), opd_reg(k->me), opd_reg(layout), opd_reg(k->first), opd_reg(launches), knows};
  code_call(c, probe_function(p, b->unit, "wg_race_report"), report, ARRAY_LEN(report));
  EMIT(c, "bra", opd_label(e->back));
}

void race_access(RaceCheck *k, const RaceAccess *a) {
  Body *b = k->body;
  if (a->range) {
    race_range(k, a);
    return;
  }
  Emit e = {.k = k, .a = a, .in = b->cfg->instrs[a->instr], .slow = body_label(b), .back = body_label(b)};
  e.at = wide(&e, 0), e.off = wide(&e, 1);
  Code *hot = body_before(b, a->instr), *c = body_cold(b);
  c->near = e.in;
  bool shared = a->place == RACE_SHARED_MEMORY || a->place == RACE_CLUSTER_MEMORY;
  switch (a->place) {
    case RACE_PARAM: go_by_param(&e, hot, c); break;
    case RACE_SHARED_MEMORY: go_to_shared(&e, hot, c); break;
    case RACE_CLUSTER_MEMORY: go_to_cluster(&e, hot, c); break;
    default: look_up(&e, hot); code_label(c, e.slow); keep_once(&e, c); break;
  }
  code_label(hot, e.back);
  without_call(&e, c, shared);
  compare(&e, c, shared);
  if (e.shared_slow) {
    code_label(c, e.shared_slow);
    without_call(&e, c, true);
    compare(&e, c, true);
  }
  if (e.remote_slow) {
    code_label(c, e.remote_slow);
    EMIT(c, "cvta.to.shared::cluster.u64", opd_reg(e.at), opd_reg(e.at));
    find_remote(&e, c);
    compare(&e, c, true);
  }
  if (k->defers) k->nwaiting++;
}
