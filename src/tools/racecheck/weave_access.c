// One access: finds its entries, and calls the probe that compares and updates them.
//
//     @size bra Slow                   size: in the launch record; 0: no write in this launch
//   Back:
//     ld …
//   Slow:                              out of line
//     off = address - base;  @off >= size bra Back
//     the entry says that this is known: bra Back; it is of an earlier launch: swap, bra Back
//     wg_race_access(entries, off, …);  bra Back
#include "tools/racecheck/weave_emit.h"

void race_load(const RaceCheck *k, Code *c, PtxReg *to, size_t field) {
  record_load(c, to, k->record + (uint32_t)field);
}

// The address of this lane's bytes; lanes without bytes branch back.
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
  if (i->guard) EMIT(c, "setp.lt.and.u64", opd_reg(in), opd_reg(e->off), size, opd_guard(i));
  else EMIT(c, "setp.lt.u64", opd_reg(in), opd_reg(e->off), size);
}

// The bytes of shared memory that have entries: 16 bytes of entries for 4 of them.
static void shared_size(Emit *e, Code *c, PtxReg *to) {
  PtxReg *stride = word(e, 0);
  RACE_LOAD(e->k, c, stride, shared_stride);
  EMIT(c, "shr.u32", opd_reg(stride), opd_reg(stride), opd_imm(2));
  EMIT(c, "cvt.u64.u32", opd_reg(to), opd_reg(stride));
}

// Branches to the slow code if there is something to check, which the launch record tells.
static void go_if(Emit *e, Code *hot, PtxReg *size) {
  PtxReg *some = pred(e, 0);
  if (ptx_type_size(size->type) == 4)
    EMIT(hot, "setp.ne.u32", opd_reg(some), opd_reg(size), opd_imm(0));
  else EMIT(hot, "setp.ne.u64", opd_reg(some), opd_reg(size), opd_imm(0));
  if (e->a->once) {
    PtxReg *done = word(e, 1);
    EMIT(hot, "and.b32", opd_reg(done), opd_reg(e->k->once), opd_imm((int32_t)e->a->once));
    EMIT(hot, "setp.eq.and.u32", opd_reg(some), opd_reg(done), opd_imm(0), opd_reg(some));
  }
  code_branch(hot, some, false, e->slow);
}

static void keep_once(Emit *e, Code *c) {
  if (e->a->once)
    EMIT(c, "or.b32", opd_reg(e->k->once), opd_reg(e->k->once), opd_imm((int32_t)e->a->once));
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
  if (e->a->group_at) record_load(hot, stride, e->a->group_at);
  else RACE_LOAD(e->k, hot, stride, shared_stride);
  go_if(e, hot, stride);
  code_label(cold, e->slow);
  race_gather_row(e, cold);
  find_address(e, cold, e->off);
  if (!e->a->is_shared_space) EMIT(cold, "cvta.to.shared.u64", opd_reg(e->off), opd_reg(e->off));
  EMIT(cold, "mov.b64", opd_reg(e->at), opd_reg(e->off));
  shared_size(e, cold, wide(e, 3));
  test_inside(e, cold, pred(e, 0), opd_reg(wide(e, 3)));
  code_branch(cold, pred(e, 0), true, e->back);
  keep_once(e, cold);
}

// e->at: an address of the cluster's shared memory, rank << 24 | offset; addresses of the own block
// may have no rank.
static void find_remote(Emit *e, Code *c) {
  RaceCheck *k = e->k;
  PtxReg *a = word(e, 0), *rank = word(e, 1), *own = word(e, 2), *stride = word(e, 3),
         *slots = word(e, 4), *shared = wide(e, 3), *alone = pred(e, 0);
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
  code_call_value(c, probe_function(k->body->program, k->body->unit, "wg_race_remote"), e->entries,
                  args, 4);
}

static void go_to_cluster(Emit *e, Code *hot, Code *cold) {
  PtxReg *stride = word(e, 0), *some = pred(e, 0);
  const PtxInstr *in = e->in;
  RACE_LOAD(e->k, hot, stride, shared_stride);
  if (in->guard)
    EMIT(hot, "setp.ne.and.u32", opd_reg(some), opd_reg(stride), opd_imm(0), opd_guard(in));
  else EMIT(hot, "setp.ne.u32", opd_reg(some), opd_reg(stride), opd_imm(0));
  code_branch(hot, some, false, e->slow);
  code_label(cold, e->slow);
  find_address(e, cold, e->at);
  find_remote(e, cold);
}

// An address of unknown origin: looks in the range found last, then in the table; shared memory by
// its generic address.
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
  EMIT(cold, "ld.global.u64", opd_reg(k->cache_base),
       opd_at(cold, opd_reg(range), offsetof(WgMemoryRange, base)));
  EMIT(cold, "ld.global.u64", opd_reg(k->cache_size),
       opd_at(cold, opd_reg(range), offsetof(WgMemoryRange, size)));
  EMIT(cold, "ld.global.u64", opd_reg(k->cache_entries),
       opd_at(cold, opd_reg(range), offsetof(WgMemoryRange, tools.race)));
  EMIT(cold, "sub.s64", opd_reg(e->off), opd_reg(e->at), opd_reg(k->cache_base));
  EMIT(cold, "setp.eq.u64", opd_reg(other), opd_reg(k->cache_entries), opd_imm(0));
  code_branch(cold, other, false, e->back);
  EMIT(cold, "bra", opd_label(e->slow));
}

enum {
  VALUE = offsetof(WgRaceWaiting, value),
  THERE = offsetof(WgRaceWaiting, there),
  FOUND = offsetof(WgRaceWaiting, entries)
};

// Queues a WgRaceWaiting. The value of the store is in wide(4) and wide(8).
static void wait_for_look(Emit *e, Code *c, bool shared, uint32_t what, bool stores) {
  RaceCheck *k = e->k;
  PtxReg *said = wide(e, 3), *value = wide(e, 4), *there = wide(e, 5), *high = wide(e, 9);
  bool found = (!shared && e->a->place == RACE_LOOKUP) || e->entries;
  uint32_t at = k->nwaiting * (uint32_t)sizeof(WgRaceWaiting);
  if (e->a->size) what -= e->a->bytes;
  EMIT(c, "mov.b64", opd_reg(said),
       opd_imm((int64_t)WG_RACE_ACCESS_OF(
           what | (found ? WG_RACE_ACCESS_FOUND : 0u),
           found || shared ? 0 : (int32_t)e->a->fact_at - (int32_t)k->record)));
  if (e->a->size) {
    EMIT(c, "cvt.u64.u32", opd_reg(there), opd_reg(word(e, 5)));
    EMIT(c, "or.b64", opd_reg(said), opd_reg(said), opd_reg(there));
  }
  if (shared && k->cluster) {
    EMIT(c, "cvt.u64.u32", opd_reg(there), opd_reg(k->cluster));
    EMIT(c, "or.b64", opd_reg(said), opd_reg(said), opd_reg(there));
  }
  EMIT(c, "st.local.v2.b64", opd_at(c, opd_var(k->waiting_at), at),
       opd_vector(c, (const PtxOperand[]){opd_reg(e->off), opd_reg(said)}, 2));
  if (stores) {
    race_load_content(e, c, there, high, shared);
    EMIT(c, "st.local.b64", opd_at(c, opd_var(k->waiting_at), at + VALUE), opd_reg(value));
    EMIT(c, "st.local.b64", opd_at(c, opd_var(k->waiting_at), at + THERE), opd_reg(there));
    if (e->a->bytes > 8) {
      EMIT(c, "st.local.b64", opd_at(c, opd_var(k->waiting_at), at + VALUE + 8),
           opd_reg(wide(e, 8)));
      EMIT(c, "st.local.b64", opd_at(c, opd_var(k->waiting_at), at + THERE + 8), opd_reg(high));
    }
  }
  if (e->entries) EMIT(c, "mov.b64", opd_reg(there), opd_imm(0));
  if (found)
    EMIT(c, "st.local.v2.b64", opd_at(c, opd_var(k->waiting_at), at + FOUND),
         opd_vector(c,
                    (const PtxOperand[]){opd_reg(e->entries ? e->entries : k->cache_entries),
                                         opd_reg(e->entries ? there : k->cache_base)},
                    2));
  EMIT(c, "or.b32", opd_reg(k->waiting), opd_reg(k->waiting), opd_imm(1 << k->nwaiting));
  EMIT(c, "bra", opd_label(e->back));
}

void race_look(RaceCheck *k, Code *c) {
  Body *b = k->body;
  Code *cold = body_cold(b);
  PtxReg *some = body_temp(b, TYPE_PRED, 0), *record = body_temp(b, TYPE_B64, 0),
         *list = body_temp(b, TYPE_B64, 1);
  PtxLabel *look = body_label(b), *back = body_label(b);
  EMIT(c, "setp.ne.u32", opd_reg(some), opd_reg(k->waiting), opd_imm(0));
  code_branch(c, some, false, look);
  code_label(c, back);
  code_label(cold, look);
  record_address(cold, record, k->record);
  EMIT(cold, "mov.u64", opd_reg(list), opd_var(k->waiting_at));
  EMIT(cold, "cvta.local.u64", opd_reg(list), opd_reg(list));
  const PtxOperand args[] = {opd_reg(record),
                             opd_reg(list),
                             opd_reg(k->waiting),
                             opd_reg(k->me),
                             opd_reg(k->me_shared ? k->me_shared : k->me),
                             k->has_clock ? opd_reg(k->knows) : opd_imm(0)};
  code_call(cold, probe_function(b->program, b->unit, "wg_race_access"), args, ARRAY_LEN(args));
  EMIT(cold, "mov.b32", opd_reg(k->waiting), opd_imm(0));
  EMIT(cold, "bra", opd_label(back));
  k->nwaiting = 0;
}

// The virtual device calls wg_race_check in C; that does not report.
static void compare(Emit *e, Code *c, bool shared) {
  RaceCheck *k = e->k;
  Body *b = k->body;
  Program *p = b->program;
  PtxReg *entries = wide(e, 3), *value = wide(e, 4), *unordered = wide(e, 5),
         *launches = wide(e, 6), *with = wide(e, 7), *layout = word(e, 0), *none = pred(e, 0);
  bool constant, stores = !e->entries && race_written(e, c, value, wide(e, 8), &constant);
  uint32_t what = e->a->bytes | (stores ? WG_RACE_ACCESS_STORES : 0u) |
                  (shared ? WG_RACE_ACCESS_SHARED : 0u) |
                  (stores && constant ? WG_RACE_ACCESS_CONSTANT : 0u) |
                  (e->a->reads_too ? WG_RACE_ACCESS_READS : 0u) |
                  (e->a->flags & 7) << WG_RACE_ACCESS_FLAGS_AT |
                  e->a->site << WG_RACE_ACCESS_SITE_AT;
  PtxOperand stored = stores ? opd_reg(value) : opd_imm(0),
             high = stores && e->a->bytes > 8 ? opd_reg(wide(e, 8)) : opd_imm(0),
             knows = k->has_clock ? opd_reg(k->knows) : opd_imm(0);
  if (k->defers) {
    wait_for_look(e, c, shared, what, stores);
    return;
  }
  race_find_entries(e, c, entries, shared);
  RACE_LOAD(k, c, layout, layout);
  RACE_LOAD(k, c, unordered, unordered);
  RACE_LOAD(k, c, launches, launches);
  PtxOperand told = opd_imm(what), slots = opd_imm(0), serial = opd_imm(0);
  if (k->bounds) {
    slots = opd_reg(wide(e, 9));
    serial = opd_reg(word(e, 4));
    RACE_LOAD(k, c, slots.reg, slots);
    RACE_LOAD(k, c, serial.reg, serial);
  }
  if (e->a->size) {
    EMIT(c, "or.b32", opd_reg(word(e, 3)), opd_reg(word(e, 5)),
         opd_imm((int32_t)(what - e->a->bytes)));
    told = opd_reg(word(e, 3));
  } else if (shared && k->cluster) {
    EMIT(c, "or.b32", opd_reg(word(e, 3)), opd_reg(k->cluster), opd_imm((int32_t)what));
    told = opd_reg(word(e, 3));
  }
  const PtxOperand args[] = {
      opd_reg(entries), opd_reg(e->off),   opd_reg(e->at),     told,  stored, high,  opd_reg(k->me),
      opd_reg(layout),  opd_reg(k->first), opd_reg(unordered), knows, slots,  serial};
  code_call_value(c, probe_function(p, b->unit, "wg_race_check"), with, args, ARRAY_LEN(args));
  EMIT(c, "setp.eq.u64", opd_reg(none), opd_reg(with), opd_imm(0));
  code_branch(c, none, false, e->back);
  const PtxOperand report[] = {told,
                               opd_reg(e->at),
                               stored,
                               high,
                               opd_reg(with),
                               opd_reg(k->me),
                               opd_reg(layout),
                               opd_reg(k->first),
                               opd_reg(launches),
                               knows,
                               slots,
                               serial};
  code_call(c, probe_function(p, b->unit, "wg_race_report"), report, ARRAY_LEN(report));
  EMIT(c, "bra", opd_label(e->back));
}

// If not all bytes are read: nothing to check if none are, and a call if only some are. word(5):
// the number of bytes read.
static void count_bytes(Emit *e, Code *c, PtxLabel *some) {
  PtxReg *bytes = word(e, 5), *p = pred(e, 0);
  if (e->a->ignored) code_branch(c, e->a->ignored->reg, e->a->ignored->negated, e->back);
  if (!e->a->size) return;
  EMIT(c, "min.u32", opd_reg(bytes), *e->a->size, opd_imm(e->a->bytes));
  EMIT(c, "setp.eq.u32", opd_reg(p), opd_reg(bytes), opd_imm(0));
  code_branch(c, p, false, e->back);
  EMIT(c, "setp.lt.u32", opd_reg(p), opd_reg(bytes), opd_imm(e->a->bytes));
  code_branch(c, p, false, some);
}

void race_access(RaceCheck *k, const RaceAccess *a) {
  Body *b = k->body;
  if (a->range) {
    race_range(k, a);
    return;
  }
  Emit e = {
      .k = k, .a = a, .in = b->cfg->instrs[a->instr], .slow = body_label(b), .back = body_label(b)};
  e.at = wide(&e, 0);
  e.off = wide(&e, 1);
  race_plan_row(&e);
  Code *hot = body_before(b, a->instr), *c = body_cold(b);
  c->near = e.in;
  bool shared = a->place == RACE_SHARED_MEMORY || a->place == RACE_CLUSTER_MEMORY;
  switch (a->place) {
    case RACE_PARAM: go_by_param(&e, hot, c); break;
    case RACE_SHARED_MEMORY: go_to_shared(&e, hot, c); break;
    case RACE_CLUSTER_MEMORY: go_to_cluster(&e, hot, c); break;
    default:
      look_up(&e, hot);
      code_label(c, e.slow);
      keep_once(&e, c);
      break;
  }
  code_label(hot, e.back);
  PtxLabel *some = body_label(b);
  count_bytes(&e, c, some);
  race_without_call(&e, c, shared);
  if (a->size) code_label(c, some);
  compare(&e, c, shared);
  if (e.shared_slow) {
    code_label(c, e.shared_slow);
    race_without_call(&e, c, true);
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
