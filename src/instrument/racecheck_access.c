// One access: where its entries are, and the call that compares and keeps.
//
//     off = address - base;  in = off < size        in the launch record; size 0: nobody writes there in this launch
//     @in bra Slow
//   Back:
//     ld …
//   Slow:                                            out of line
//     with = wg_race_check(entries, off, …);  with == 0? bra Back
//     wg_race_report(…);  bra Back
#include "instrument/racecheck.h"

typedef struct Emit {
  RaceCheck *k;
  const RaceAccess *a;
  PtxInstr *in;
  PtxReg *at, *off, *entries;
  PtxLabel *slow, *back, *shared_slow;     // shared_slow: a generic address of shared memory
} Emit;

void race_load(const RaceCheck *k, Code *c, PtxReg *to, size_t field) { record_load(c, to, k->record + (uint32_t)field); }

static PtxReg *wide(Emit *e, unsigned n) { return body_temp(e->k->body, TYPE_B64, n); }
static PtxReg *word(Emit *e, unsigned n) { return body_temp(e->k->body, TYPE_B32, n); }
static PtxReg *pred(Emit *e, unsigned n) { return body_temp(e->k->body, TYPE_PRED, n); }

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

static void go_by_param(Emit *e, Code *hot) {
  PtxReg *base = wide(e, 3), *size = wide(e, 4);
  access_address(hot, e->at, e->a->address);
  record_load(hot, base, e->a->fact_at);
  record_load(hot, size, e->a->fact_at + 8);
  EMIT(hot, "sub.s64", opd_reg(e->off), opd_reg(e->at), opd_reg(base));
  test_inside(e, hot, pred(e, 0), opd_reg(size));
  code_branch(hot, pred(e, 0), false, e->slow);
}

static void go_to_shared(Emit *e, Code *hot) {
  access_address(hot, e->off, e->a->address);
  if (!e->a->is_shared_space) EMIT(hot, "cvta.to.shared.u64", opd_reg(e->off), opd_reg(e->off));
  EMIT(hot, "mov.b64", opd_reg(e->at), opd_reg(e->off));
  shared_size(e, hot, wide(e, 3));
  test_inside(e, hot, pred(e, 0), opd_reg(wide(e, 3)));
  code_branch(hot, pred(e, 0), false, e->slow);
}

// Nothing is known of the address: the range found last, else the table; shared memory by its generic address.
static void look_up(Emit *e, Code *hot) {
  RaceCheck *k = e->k;
  Body *b = k->body;
  Code *cold = body_cold(b);
  PtxReg *outside = pred(e, 0), *other = pred(e, 1), *range = wide(e, 3), *table = wide(e, 4);
  PtxLabel *miss = body_label(b), *found = body_label(b);
  bool generic = e->in->space == SPACE_GENERIC && e->in->op != OP_CP_ASYNC;
  access_address(hot, e->at, e->a->address);
  if (e->in->guard) code_branch(hot, e->in->guard, !e->in->guard_negated, e->back);
  EMIT(hot, "sub.s64", opd_reg(e->off), opd_reg(e->at), opd_reg(k->cache_base));
  EMIT(hot, "setp.ge.u64", opd_reg(outside), opd_reg(e->off), opd_reg(k->cache_size));
  code_branch(hot, outside, false, miss);
  EMIT(hot, "mov.b64", opd_reg(e->entries), opd_reg(k->cache_entries));
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
    code_branch(cold, other, true, e->back);
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
  EMIT(cold, "mov.b64", opd_reg(e->entries), opd_reg(k->cache_entries));
  EMIT(cold, "setp.eq.u64", opd_reg(other), opd_reg(k->cache_entries), opd_imm(0));
  code_branch(cold, other, false, e->back);
  EMIT(cold, "bra", opd_label(e->slow));
}

// The value a store is about to write, in a register of 8 bytes; false: it is none of one register or constant, and of up to 8 bytes.
static bool written(Emit *e, Code *c, PtxReg *to, bool *constant) {
  const PtxInstr *in = e->in;
  const PtxOperand *o = in->nops == 2 ? &in->ops[1] : NULL;
  *constant = o && (o->kind == OPD_INT || o->kind == OPD_FLOAT);
  if (in->op != OP_ST || !o || e->a->bytes > 8) return false;
  if (*constant) {
    EMIT(c, "mov.b64", opd_reg(to), opd_imm(o->imm));
    return true;
  }
  if (o->kind != OPD_REG || o->reg->vector || o->reg->type == TYPE_PRED || o->selector != SEL_NONE) return false;
  unsigned size = ptx_type_size(o->reg->type);
  if (size == 8) EMIT(c, "mov.b64", opd_reg(to), *o);
  else if (size == 4) {
    PtxReg *w = body_temp(c->body, TYPE_B32, 2);
    EMIT(c, "mov.b32", opd_reg(w), *o);
    EMIT(c, "cvt.u64.u32", opd_reg(to), opd_reg(w));
  } else if (size == 2 && ptx_type_kind(o->reg->type) != KIND_FLOAT) EMIT(c, "cvt.u64.u16", opd_reg(to), *o);
  else return false;
  return true;
}

// --- what needs no call: words of 4 bytes, aligned, accesses that are not strong ---

enum { WHOLE = 15 << WG_RACE_BYTES_AT };
static const int64_t not_the_time = (int64_t)1023 << WG_RACE_SITE_AT | WG_RACE_FLAGS;

// The entry of this access, with WG_RACE_VALUE where it is known.
static void make_entry(Emit *e, Code *c, PtxReg *to, int64_t bytes) {
  bool constant;
  int64_t rest = (int64_t)e->a->site << WG_RACE_SITE_AT | e->a->flags | bytes;
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

// Branches where (entry ^ me ^ want) & look == 0.
static void branch_if(Emit *e, Code *c, PtxReg *entry, int64_t want, int64_t look, PtxLabel *to) {
  PtxReg *t = wide(e, 4), *p = pred(e, 0);
  EMIT(c, "xor.b64", opd_reg(t), opd_reg(entry), opd_reg(e->k->me));
  if (want) EMIT(c, "xor.b64", opd_reg(t), opd_reg(t), opd_imm(want));
  EMIT(c, "and.b64", opd_reg(t), opd_reg(t), opd_imm(look));
  EMIT(c, "setp.eq.u64", opd_reg(p), opd_reg(t), opd_imm(0));
  code_branch(c, p, false, to);
}

// Branches where the entry is of this launch and barrier interval, or where it is not.
static void branch_if_now(Emit *e, Code *c, PtxReg *entry, bool now, PtxLabel *to) {
  PtxReg *t = wide(e, 4), *mask = wide(e, 2), *p = pred(e, 0);
  RACE_LOAD(e->k, c, mask, interval);
  EMIT(c, "xor.b64", opd_reg(t), opd_reg(entry), opd_reg(e->k->me));
  EMIT(c, "and.b64", opd_reg(t), opd_reg(t), opd_reg(mask));
  EMIT(c, "setp.eq.u64", opd_reg(p), opd_reg(t), opd_imm(0));
  code_branch(c, p, !now, to);
}

// Puts the access into the entry at [at + offset], which held `entry`; somebody was faster: to the call.
static void swap_in(Emit *e, Code *c, PtxReg *at, int64_t offset, PtxReg *entry, PtxLabel *call) {
  PtxReg *t = wide(e, 4), *p = pred(e, 0);
  make_entry(e, c, t, WHOLE);
  EMIT(c, "atom.global.cas.b64", opd_reg(t), opd_at(c, opd_reg(at), offset), opd_reg(entry), opd_reg(t));
  EMIT(c, "setp.ne.u64", opd_reg(p), opd_reg(t), opd_reg(entry));
  code_branch(c, p, false, call);
}

static void load_entry(Code *c, PtxReg *to, PtxReg *at, int64_t offset) { EMIT(c, "ld.volatile.global.u64", opd_reg(to), opd_at(c, opd_reg(at), offset)); }

static void read_of_pair(Emit *e, Code *c, PtxReg *at, PtxLabel *call) {
  PtxReg *entry = wide(e, 3), *t = wide(e, 4), *moment = wide(e, 2), *p = pred(e, 0);
  PtxLabel *old = body_label(e->k->body), *kept = body_label(e->k->body);
  load_entry(c, entry, at, 8);
  branch_if_now(e, c, entry, false, old);
  branch_if(e, c, entry, WHOLE, ~not_the_time | WG_RACE_STRONG, kept);               // this thread, before
  RACE_LOAD(e->k, c, moment, moment);                                               // several
  EMIT(c, "or.b64", opd_reg(moment), opd_reg(moment), opd_imm(WHOLE | WG_RACE_MANY | WG_RACE_STRONG));
  EMIT(c, "xor.b64", opd_reg(t), opd_reg(entry), opd_reg(e->k->me));
  EMIT(c, "xor.b64", opd_reg(t), opd_reg(t), opd_imm(WHOLE | WG_RACE_MANY));
  EMIT(c, "and.b64", opd_reg(t), opd_reg(t), opd_reg(moment));
  EMIT(c, "setp.eq.u64", opd_reg(p), opd_reg(t), opd_imm(0));
  code_branch(c, p, false, kept);
  EMIT(c, "bra", opd_label(call));
  code_label(c, old);
  swap_in(e, c, at, 8, entry, call);
  code_label(c, kept);
  load_entry(c, entry, at, 0);
  branch_if_now(e, c, entry, false, e->back);
  branch_if(e, c, entry, WHOLE | WG_RACE_WRITE, ~not_the_time | WG_RACE_WRITE, e->back);
}

static void write_of_pair(Emit *e, Code *c, PtxReg *at, PtxLabel *call) {
  PtxReg *entry = wide(e, 3), *p = pred(e, 0);
  load_entry(c, entry, at, 0);
  EMIT(c, "setp.eq.u64", opd_reg(p), opd_reg(entry), opd_imm((int64_t)WG_RACE_BENIGN));
  code_branch(c, p, false, e->back);
  branch_if_now(e, c, entry, true, call);
  swap_in(e, c, at, 0, entry, call);
  load_entry(c, entry, at, 8);
  branch_if_now(e, c, entry, false, e->back);
  branch_if(e, c, entry, WHOLE, ~not_the_time | WG_RACE_MANY | WG_RACE_STRONG, e->back);
}

static void one_entry(Emit *e, Code *c, PtxReg *at, PtxLabel *call) {
  RaceCheck *k = e->k;
  bool writes = e->a->flags & WG_RACE_WRITE;
  PtxReg *entry = wide(e, 3), *t = wide(e, 4), *p = pred(e, 0);
  int64_t launch = (int64_t)511 << WG_RACE_LAUNCH_AT;
  load_entry(c, entry, at, 0);
  branch_if(e, c, entry, WHOLE | (writes ? WG_RACE_WRITE : 0), ~not_the_time | (writes ? WG_RACE_WRITE | WG_RACE_STRONG : 0), e->back);
  if (!writes && !k->has_clock)            // reads of several blocks
    branch_if(e, c, entry, WHOLE | WG_RACE_BLOCKS, launch | WHOLE | WG_RACE_BLOCKS | WG_RACE_WRITE | WG_RACE_WROTE | WG_RACE_STRONG, e->back);
  branch_if(e, c, entry, 0, launch, call);
  EMIT(c, "setp.eq.u64", opd_reg(p), opd_reg(entry), opd_imm((int64_t)WG_RACE_BENIGN));
  code_branch(c, p, false, e->back);
  RACE_LOAD(k, c, t, unordered);           // of an earlier launch
  EMIT(c, "setp.ne.u64", opd_reg(p), opd_reg(t), opd_imm(0));
  code_branch(c, p, false, call);
  swap_in(e, c, at, 0, entry, call);
  EMIT(c, "bra", opd_label(e->back));
}

// The call begins where this ends. Overwrites e->entries, which find_entries sets again.
static void without_call(Emit *e, Code *c, bool shared) {
  bool writes = e->a->flags & WG_RACE_WRITE;
  if (e->a->bytes != 4 || e->a->flags & WG_RACE_STRONG || e->a->site == WG_RACE_NO_SITE || (!shared && e->k->body->program->plan->race_full)) return;
  PtxReg *at = wide(e, 5), *p = pred(e, 0);
  PtxLabel *call = body_label(e->k->body);
  EMIT(c, "and.b64", opd_reg(at), opd_reg(e->off), opd_imm(3));
  EMIT(c, "setp.ne.u64", opd_reg(p), opd_reg(at), opd_imm(0));
  code_branch(c, p, false, call);
  EMIT(c, "shl.b64", opd_reg(at), opd_reg(e->off), opd_imm(shared ? 2 : 1));
  EMIT(c, "add.u64", opd_reg(at), opd_reg(at), opd_reg(e->entries));
  if (!shared) one_entry(e, c, at, call);
  else if (writes) write_of_pair(e, c, at, call);
  else read_of_pair(e, c, at, call);
  code_label(c, call);
}

static void compare(Emit *e, Code *c, bool shared) {
  RaceCheck *k = e->k;
  Body *b = k->body;
  Program *p = b->program;
  PtxReg *mine = wide(e, 3), *with = wide(e, 4), *unordered = wide(e, 5), *layout = word(e, 0), *t = word(e, 1), *know = word(e, 3), *none = pred(e, 0);
  make_entry(e, c, mine, 0);
  bool constant;
  RACE_LOAD(k, c, layout, layout);
  RACE_LOAD(k, c, unordered, unordered);
  if (shared) EMIT(c, "or.b32", opd_reg(layout), opd_reg(layout), opd_imm((int64_t)(uint32_t)(WG_RACE_PAIRS | (uint32_t)WG_RACE_SHARED)));
  if (k->has_clock) {
    EMIT(c, "and.b64", opd_reg(with), opd_reg(k->knows), opd_imm(0x1fffff));
    EMIT(c, "cvt.u32.u64", opd_reg(know), opd_reg(with));
  } else EMIT(c, "mov.b32", opd_reg(know), opd_imm(0));
  const PtxOperand args[] = {opd_reg(e->entries), opd_reg(e->off), opd_imm(e->a->bytes), opd_reg(mine), opd_reg(layout), opd_reg(k->first), opd_reg(unordered), opd_reg(know)};
  code_call_value(c, probe_function(p, b->unit, "wg_race_check"), with, args, ARRAY_LEN(args));
  EMIT(c, "setp.eq.u64", opd_reg(none), opd_reg(with), opd_imm(0));
  code_branch(c, none, false, e->back);
  PtxReg *channel = wide(e, 1), *value = wide(e, 2), *launches = unordered, *launch = word(e, 2);     // entries and off have done their part
  bool stored = written(e, c, value, &constant);
  if (!stored) EMIT(c, "mov.b64", opd_reg(value), opd_imm(0));
  record_load(c, channel, offsetof(WgLaunch, channel));
  record_load(c, launch, offsetof(WgLaunch, launch));
  record_site(c, t, k->first_site);
  RACE_LOAD(k, c, launches, launches);
  uint32_t what = e->a->bytes | (stored ? 256u : 0u) | (shared ? 512u : 0u) | (stored && constant ? 1024u : 0u);
  const PtxOperand report[] = {opd_reg(channel), opd_reg(launch), opd_reg(t), opd_imm(what), opd_reg(e->at), opd_reg(value), opd_reg(with), opd_reg(mine),
                               opd_reg(layout), opd_reg(k->first), opd_reg(launches), opd_reg(know)};
  code_call(c, probe_function(p, b->unit, "wg_race_report"), report, ARRAY_LEN(report));
  EMIT(c, "bra", opd_label(e->back));
}

static void find_entries(Emit *e, Code *c, bool shared) {
  if (shared) EMIT(c, "mov.b64", opd_reg(e->entries), opd_reg(e->k->shared_at));
  else if (e->a->place == RACE_PARAM) record_load(c, e->entries, e->a->fact_at + 16);
  else EMIT(c, "mov.b64", opd_reg(e->entries), opd_reg(e->k->cache_entries));
}

void race_access(RaceCheck *k, const RaceAccess *a) {
  Body *b = k->body;
  Emit e = {.k = k, .a = a, .in = b->cfg->instrs[a->instr], .slow = body_label(b), .back = body_label(b)};
  e.at = wide(&e, 0), e.off = wide(&e, 1), e.entries = wide(&e, 2);
  Code *hot = body_before(b, a->instr);
  switch (a->place) {
    case RACE_PARAM: go_by_param(&e, hot); break;
    case RACE_SHARED_MEMORY: go_to_shared(&e, hot); break;
    default: look_up(&e, hot); break;
  }
  code_label(hot, e.back);
  Code *c = body_cold(b);
  c->near = e.in;
  code_label(c, e.slow);
  bool shared = a->place == RACE_SHARED_MEMORY;
  find_entries(&e, c, shared);
  without_call(&e, c, shared);
  find_entries(&e, c, shared);
  compare(&e, c, shared);
  if (!e.shared_slow) return;
  code_label(c, e.shared_slow);
  find_entries(&e, c, true);
  without_call(&e, c, true);
  find_entries(&e, c, true);
  compare(&e, c, true);
}
