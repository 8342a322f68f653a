// Order between accesses: barriers of the block and syncs of a warp are counted; all other
// synchronization uses clocks.
#include "tools/racecheck/internal.h"

// The build fails if the switch below lacks an order.
#pragma GCC diagnostic error "-Wswitch"

static Code *guarded(RaceCheck *k, uint32_t i, bool after) {
  const PtxInstr *in = k->body->cfg->instrs[i];
  Code *c = after ? body_after(k->body, i) : body_before(k->body, i);
  code_guard(c, in->guard, in->guard_negated);
  return c;
}

static PtxReg *wide(RaceCheck *k, unsigned n) { return body_temp(k->body, TYPE_B64, n); }
static PtxReg *word(RaceCheck *k, unsigned n) { return body_temp(k->body, TYPE_B32, n); }

// Calls probes only if the guard passes: not all PTX versions can guard a call, but a branch around
// it works.
static PtxLabel *around(RaceCheck *k, Code *c, const PtxInstr *in) {
  code_guard(c, NULL, false);
  if (!in->guard) return NULL;
  PtxLabel *over = body_label(k->body);
  code_branch(c, in->guard, !in->guard_negated, over);
  return over;
}
static void end_around(Code *c, PtxLabel *over) {
  if (over) code_label(c, over);
}

// --- counters ---

static void count_barrier_in(RaceCheck *k, uint32_t i, PtxReg *me) {
  Code *c = guarded(k, i, true);
  PtxReg *all = wide(k, 0), *t = wide(k, 1), *more = body_temp(k->body, TYPE_PRED, 0),
         *next = wide(k, 2);
  const PtxInstr *in = k->body->cfg->instrs[i];
  code_guard(c, NULL, false);
  RACE_LOAD(k, c, all, barriers);
  EMIT(c, "and.b64", opd_reg(t), opd_reg(me), opd_reg(all));
  if (in->guard) EMIT(c, "setp.ne.and.u64", opd_reg(more), opd_reg(t), opd_reg(all), opd_guard(in));
  else EMIT(c, "setp.ne.u64", opd_reg(more), opd_reg(t), opd_reg(all));
  if (k->has_syncs) {
    RACE_LOAD(k, c, t, syncs);
    EMIT(c, "not.b64", opd_reg(t), opd_reg(t));
    EMIT(c, "and.b64", opd_reg(next), opd_reg(me), opd_reg(t));
  } else EMIT(c, "mov.b64", opd_reg(next), opd_reg(me));
  RACE_LOAD(k, c, t, barrier);
  EMIT(c, "add.u64", opd_reg(next), opd_reg(next), opd_reg(t));
  EMIT(c, "selp.b64", opd_reg(me), opd_reg(next), opd_reg(me), opd_reg(more));
}

static void count_barrier(RaceCheck *k, uint32_t i) {
  unsigned memory = k->me_shared ? race_barrier_memory(k, i) : RACE_ORDERS_ALL;
  if (memory & RACE_ORDERS_GLOBAL) count_barrier_in(k, i, k->me);
  if (k->me_shared && memory & RACE_ORDERS_SHARED) count_barrier_in(k, i, k->me_shared);
}

static bool is_everybody(const RaceCheck *k, const PtxOperand *o) {
  int64_t mask;
  return constant_value(k->body, o, &mask) && (uint32_t)mask == UINT32_MAX;
}

// everybody: the whole warp takes part. Otherwise the lanes are not known, and the order within the
// warp is unknown until the next barrier.
static void count_sync_in(RaceCheck *k, uint32_t i, bool everybody, bool after, PtxReg *me) {
  Code *c = guarded(k, i, after);
  PtxReg *all = wide(k, 0), *t = wide(k, 1), *more = body_temp(k->body, TYPE_PRED, 0);
  RACE_LOAD(k, c, all, syncs);
  if (!everybody) {
    EMIT(c, "or.b64", opd_reg(me), opd_reg(me), opd_reg(all));
    return;
  }
  EMIT(c, "and.b64", opd_reg(t), opd_reg(me), opd_reg(all));
  EMIT(c, "setp.ne.u64", opd_reg(more), opd_reg(t), opd_reg(all));
  RACE_LOAD(k, c, t, sync);
  EMIT(c, "add.u64", opd_reg(t), opd_reg(me), opd_reg(t));
  EMIT(c, "selp.b64", opd_reg(me), opd_reg(t), opd_reg(me), opd_reg(more));
  code_guard(c, NULL, false);
}

static void count_sync(RaceCheck *k, uint32_t i, bool everybody, bool after) {
  count_sync_in(k, i, everybody, after, k->me);
  if (k->me_shared) count_sync_in(k, i, everybody, after, k->me_shared);
}

bool race_is_matrix(const PtxInstr *in) {
  PtxMemory memory = ptx_op_memory(in->op);
  return memory == MEMORY_MATRIX || memory == MEMORY_TILE;
}

// All lanes of a warp execute it together, and programs rely on that; it is not known which lane
// accesses which bytes.
void race_order_before(RaceCheck *k, uint32_t i) {
  if (race_is_matrix(k->body->cfg->instrs[i])) count_sync(k, i, true, false);
}

// --- clocks ---

static PtxFunc *probe(RaceCheck *k, const char *name) {
  return probe_function(k->body->program, k->body->unit, name);
}

static void tick(RaceCheck *k, Code *c) {
  PtxReg *layout = word(k, 0);
  RACE_LOAD(k, c, layout, layout);
  const PtxOperand args[] = {opd_reg(k->me), opd_reg(layout)};
  code_call_value(c, probe(k, "wg_race_tick"), k->me, args, 2);
}

// The thread's knowledge has changed: its accesses get a later clock.
static void after(RaceCheck *k, Code *c) {
  PtxReg *layout = word(k, 0);
  RACE_LOAD(k, c, layout, layout);
  const PtxOperand args[] = {opd_reg(k->me), opd_reg(layout), opd_reg(k->knows)};
  code_call_value(c, probe(k, "wg_race_after"), k->me, args, 3);
}

static void settle(RaceCheck *k, Code *c, bool only_block) {
  const PtxOperand args[] = {opd_reg(k->knows), opd_imm(only_block)};
  code_call_value(c, probe(k, "wg_race_settle"), k->knows, args, 2);
  after(k, c);
}

static void fence(RaceCheck *k, Code *c, bool only_block) {
  PtxReg *layout = word(k, 0);
  tick(k, c);
  const PtxOperand args[] = {opd_reg(k->me), opd_reg(layout), opd_reg(k->fences),
                             opd_imm(only_block)};
  code_call_value(c, probe(k, "wg_race_fenced"), k->fences, args, 4);
}

static void load_common(RaceCheck *k, Code *c, PtxReg *slots, PtxReg *serial, PtxReg *layout) {
  RACE_LOAD(k, c, slots, slots);
  RACE_LOAD(k, c, serial, serial);
  RACE_LOAD(k, c, layout, layout);
}

// where: WG_RACE_MEET_…; number: of a barrier, NULL: none
static void arrive(RaceCheck *k, Code *c, unsigned where, const PtxOperand *number) {
  PtxReg *slots = wide(k, 0), *serial = word(k, 1), *layout = word(k, 0), *place = word(k, 2),
         *nothing = word(k, 3);
  load_common(k, c, slots, serial, layout);
  EMIT(c, "mov.b32", opd_reg(place), opd_imm(where));
  if (number) {
    EMIT(c, "mov.b32", opd_reg(place), *number);
    EMIT(c, "shl.b32", opd_reg(place), opd_reg(place), opd_imm(8));
    EMIT(c, "or.b32", opd_reg(place), opd_reg(place), opd_imm(where));
  }
  const PtxOperand args[] = {opd_reg(slots),     opd_reg(serial),  opd_reg(place),
                             opd_reg(k->me),     opd_reg(layout),  opd_reg(k->first),
                             opd_reg(k->fences), opd_reg(k->knows)};
  code_call_value(c, probe(k, "wg_race_arrive"), nothing, args, ARRAY_LEN(args));
}

static void depart(RaceCheck *k, Code *c, unsigned where, const PtxOperand *number) {
  PtxReg *slots = wide(k, 0), *serial = word(k, 1), *layout = word(k, 0), *place = word(k, 2);
  load_common(k, c, slots, serial, layout);
  EMIT(c, "mov.b32", opd_reg(place), opd_imm(where));
  if (number) {
    EMIT(c, "mov.b32", opd_reg(place), *number);
    EMIT(c, "shl.b32", opd_reg(place), opd_reg(place), opd_imm(8));
    EMIT(c, "or.b32", opd_reg(place), opd_reg(place), opd_imm(where));
  }
  const PtxOperand args[] = {opd_reg(slots),  opd_reg(serial),   opd_reg(place),    opd_reg(k->me),
                             opd_reg(layout), opd_reg(k->first), opd_reg(k->fences)};
  const PtxOperand known[] = {opd_reg(slots),  opd_reg(serial),   opd_reg(place),   opd_reg(k->me),
                              opd_reg(layout), opd_reg(k->first), opd_reg(k->knows)};
  code_call_value(c, probe(k, "wg_race_depart_fences"), k->fences, args, 7);
  code_call_value(c, probe(k, "wg_race_depart_knows"), k->knows, known, 7);
  code_call_value(c, probe(k, "wg_race_depart"), k->me, args, 6);
  after(k, c);
}

static void at_barrier(RaceCheck *k, uint32_t i, WgOrders what) {
  const PtxInstr *in = k->body->cfg->instrs[i];
  bool red = ptx_has(in, MOD_RED), part = what != WG_ORDERS_BLOCK;
  const PtxOperand *number = part ? &in->ops[red ? 1 : 0] : NULL;
  unsigned where = part ? WG_RACE_MEET_PART : WG_RACE_MEET_BLOCK;
  if (k->has_clock) {
    Code *c = guarded(k, i, false);
    PtxLabel *over = around(k, c, in);
    settle(k, c, false);  // a barrier after a read of a flag counts as the read's fence
    if (part) tick(k, c);
    arrive(k, c, where, number);
    end_around(c, over);
    if (what != WG_ORDERS_PART_ARRIVE) {
      c = guarded(k, i, true);
      over = around(k, c, in);
      depart(k, c, where, number);
      end_around(c, over);
    }
  }
  if (!part) count_barrier(k, i);
}

static void at_warp_sync(RaceCheck *k, uint32_t i, bool everybody) {
  const PtxInstr *in = k->body->cfg->instrs[i];
  if (!race_barrier_memory(k, i)) return;
  if (k->has_clock) {
    Code *c = guarded(k, i, false);
    PtxLabel *over = around(k, c, in);
    settle(k, c, false);
    arrive(k, c, WG_RACE_MEET_WARP, NULL);
    end_around(c, over);
    c = guarded(k, i, true);
    over = around(k, c, in);
    depart(k, c, WG_RACE_MEET_WARP, NULL);
    end_around(c, over);
  }
  count_sync(k, i, everybody, true);
}

static void at_fence(RaceCheck *k, uint32_t i) {
  const PtxInstr *in = k->body->cfg->instrs[i];
  Code *c = guarded(k, i, true);
  PtxLabel *over = around(k, c, in);
  bool only_block = access_order(in) & WG_ACCESS_OF_BLOCK;
  settle(k, c, only_block);
  fence(k, c, only_block);
  end_around(c, over);
}

static void at_cluster_barrier(RaceCheck *k, uint32_t i, bool waits) {
  const PtxInstr *in = k->body->cfg->instrs[i];
  Code *c = guarded(k, i, waits);
  PtxLabel *over = around(k, c, in);
  // a thread that is ahead must not release its next phase to threads that are still in this one
  const PtxOperand phase = opd_reg(k->phase);
  if (!waits) {
    settle(k, c, false);
    tick(k, c);
    arrive(k, c, WG_RACE_MEET_ALL, &phase);
  } else {
    depart(k, c, WG_RACE_MEET_ALL, &phase);
    EMIT(c, "add.u32", opd_reg(k->phase), opd_reg(k->phase), opd_imm(1));
  }
  end_around(c, over);
  if (waits) count_barrier(k, i);
}

// Releases the thread's accesses before its last fence at this address.
static void release(RaceCheck *k, Code *c, const PtxOperand *address, bool to_shared,
                    unsigned how) {
  PtxReg *slots = wide(k, 0), *at = wide(k, 1), *serial = word(k, 1), *layout = word(k, 0),
         *nothing = word(k, 3);
  access_address(c, at, address);
  if (to_shared) EMIT(c, "cvta.to.shared.u64", opd_reg(at), opd_reg(at));
  load_common(k, c, slots, serial, layout);
  const PtxOperand args[] = {opd_reg(slots),    opd_reg(serial),   opd_reg(at),
                             opd_imm(how),      opd_reg(k->me),    opd_reg(layout),
                             opd_reg(k->first), opd_reg(k->fences)};
  code_call_value(c, probe(k, "wg_race_release"), nothing, args, ARRAY_LEN(args));
}

static void acquire(RaceCheck *k, Code *c, PtxReg *at, unsigned how) {
  PtxReg *slots = wide(k, 0), *serial = word(k, 1);
  RACE_LOAD(k, c, slots, slots);
  RACE_LOAD(k, c, serial, serial);
  const PtxOperand args[] = {opd_reg(slots), opd_reg(serial),   opd_reg(at),
                             opd_imm(how),   opd_reg(k->first), opd_reg(k->knows)};
  code_call_value(c, probe(k, "wg_race_acquire"), k->knows, args, ARRAY_LEN(args));
  if (how & WG_RACE_TELL_ACQUIRE) after(k, c);
}

// Copies the address before the instruction, which may overwrite the registers it is computed from.
static PtxReg *keep_address(RaceCheck *k, uint32_t i, const PtxOperand *address, bool to_shared) {
  Code *c = body_before(k->body, i);
  PtxReg *at = body_reg(k->body, TYPE_B64);
  access_address(c, at, address);
  if (to_shared) EMIT(c, "cvta.to.shared.u64", opd_reg(at), opd_reg(at));
  return at;
}

void race_tells(RaceCheck *k, const RaceAccess *a) {
  const PtxInstr *in = k->body->cfg->instrs[a->instr];
  if (!k->has_clock || !(a->flags & WG_RACE_STRONG)) return;
  bool shared = a->place == RACE_SHARED_MEMORY, to_shared = shared && !a->is_shared_space;
  unsigned how = (shared                       ? WG_RACE_TELL_SHARED
                  : in->space == SPACE_GENERIC ? WG_RACE_TELL_GENERIC
                                               : 0u) |
                 (a->flags & WG_RACE_CTA);
  if (!shared && !(a->flags & WG_RACE_CTA) && (in->op == OP_LD || in->op == OP_ST))
    how |= WG_RACE_TELL_FLAG;
  // Other blocks of the cluster use a different address for the same shared memory: all share one
  // place.
  bool for_cluster = k->has_clusters &&
                     (shared || a->place == RACE_CLUSTER_MEMORY || in->space == SPACE_GENERIC);
  if (a->flags & WG_RACE_WRITE) {
    Code *c = guarded(k, a->instr, false);
    PtxLabel *over = around(k, c, in);
    if (access_order(in) & WG_ACCESS_RELEASES) fence(k, c, a->flags & WG_RACE_CTA);
    if (for_cluster) {
      tick(k, c);
      arrive(k, c, WG_RACE_MEET_ALL, NULL);
    } else release(k, c, a->address, to_shared, how);
    end_around(c, over);
  }
  if (for_cluster && (in->op == OP_LD || in->op == OP_ATOM)) {
    Code *c = guarded(k, a->instr, true);
    PtxLabel *over = around(k, c, in);
    depart(k, c, WG_RACE_MEET_ALL, NULL);
    end_around(c, over);
  } else if (in->op == OP_LD || in->op == OP_ATOM) {
    PtxReg *at = keep_address(k, a->instr, a->address, to_shared);
    Code *c = guarded(k, a->instr, true);
    PtxLabel *over = around(k, c, in);
    // otherwise a fence or a barrier must follow
    bool acquires = access_order(in) & WG_ACCESS_ACQUIRES;
    acquire(k, c, at, how | (acquires ? WG_RACE_TELL_ACQUIRE : 0u));
    end_around(c, over);
  }
}

// Barriers in memory: a thread that waits acquires the clocks of all that arrived. Other blocks of
// a cluster may use a different address: all share one place.
static void at_mbarrier(RaceCheck *k, uint32_t i, bool waits) {
  const PtxInstr *in = k->body->cfg->instrs[i];
  const PtxOperand *address = NULL;
  for (unsigned o = 0; o < in->nops; o++)
    if (in->ops[o].kind == OPD_ADDR) address = &in->ops[o];
  if (!address) return;
  bool generic = in->space != SPACE_SHARED;
  PtxReg *at = waits && !k->has_clusters ? keep_address(k, i, address, generic) : NULL;
  Code *c = guarded(k, i, waits);
  PtxLabel *over = around(k, c, in),
           *not_yet = waits && in->ops[0].kind == OPD_REG ? body_label(k->body) : NULL;
  if (not_yet) code_branch(c, in->ops[0].reg, true, not_yet);
  if (!waits) settle(k, c, true);
  if (!waits) fence(k, c, true);
  if (k->has_clusters) {
    if (waits) depart(k, c, WG_RACE_MEET_ALL, NULL);
    else arrive(k, c, WG_RACE_MEET_ALL, NULL);
  } else if (waits) acquire(k, c, at, WG_RACE_TELL_SHARED | WG_RACE_CTA | WG_RACE_TELL_ACQUIRE);
  else release(k, c, address, generic, WG_RACE_TELL_SHARED | WG_RACE_CTA);
  end_around(c, not_yet);
  end_around(c, over);
}

void race_completes(RaceCheck *k, Code *c, const PtxOperand *barrier) {
  PtxReg *slots = wide(k, 0), *at = wide(k, 1), *serial = word(k, 1), *layout = word(k, 0),
         *nothing = word(k, 3);
  tick(k, c);
  if (k->has_clusters) {
    arrive(k, c, WG_RACE_MEET_ALL, NULL);
    return;
  }
  access_address(c, at, barrier);
  load_common(k, c, slots, serial, layout);
  const PtxOperand args[] = {opd_reg(slots), opd_reg(serial), opd_reg(at),
                             opd_reg(k->me), opd_reg(layout), opd_reg(k->first)};
  code_call_value(c, probe(k, "wg_race_issued"), nothing, args, ARRAY_LEN(args));
}

// Groups of copies: copies issued before a commit have an earlier clock than later ones.
static void at_commit(RaceCheck *k, uint32_t i, unsigned which) {
  Code *c = guarded(k, i, true);
  PtxReg *layout = word(k, 0);
  PtxLabel *over = around(k, c, k->body->cfg->instrs[i]);
  tick(k, c);
  const PtxOperand args[] = {opd_reg(k->groups[which]), opd_reg(k->me), opd_reg(layout)};
  code_call_value(c, probe(k, "wg_race_commit"), k->groups[which], args, 3);
  end_around(c, over);
}

static void at_wait_group(RaceCheck *k, uint32_t i, unsigned which) {
  const PtxInstr *in = k->body->cfg->instrs[i];
  Code *c = guarded(k, i, true);
  PtxReg *layout = word(k, 0);
  PtxLabel *over = around(k, c, in);
  bool all = in->op == OP_CP_ASYNC_WAIT_ALL || !in->nops || in->ops[0].kind != OPD_INT ||
             in->ops[0].imm > 3;
  tick(k, c);
  const PtxOperand args[] = {opd_reg(k->groups[which]), opd_imm(all ? 4 : in->ops[0].imm),
                             opd_reg(k->me), opd_reg(layout), opd_reg(k->knows)};
  code_call_value(c, probe(k, "wg_race_waited"), k->knows, args, 5);
  end_around(c, over);
}

static void at_proxy_fence(RaceCheck *k, uint32_t i) {
  Code *c = guarded(k, i, true);
  PtxReg *slots = wide(k, 0), *serial = word(k, 1), *layout = word(k, 0), *nothing = word(k, 3);
  PtxLabel *over = around(k, c, k->body->cfg->instrs[i]);
  load_common(k, c, slots, serial, layout);
  const PtxOperand args[] = {opd_reg(slots), opd_reg(serial), opd_reg(k->me), opd_reg(layout),
                             opd_reg(k->first)};
  code_call_value(c, probe(k, "wg_race_proxied"), nothing, args, ARRAY_LEN(args));
  end_around(c, over);
}

// The effects of the function are not known: from here on the order is unknown.
static void at_call(RaceCheck *k, uint32_t i) {
  if (!k->has_clock) return;
  Code *c = guarded(k, i, true);
  PtxReg *layout = word(k, 0);
  PtxLabel *over = around(k, c, k->body->cfg->instrs[i]);
  RACE_LOAD(k, c, layout, layout);
  const PtxOperand args[] = {opd_reg(k->me), opd_reg(layout)};
  code_call_value(c, probe(k, "wg_race_unknown"), k->me, args, 2);
  end_around(c, over);
}

// The stored value is visible once the mbarrier reaches its next phase.
static void at_store_later(RaceCheck *k, uint32_t i) {
  const PtxInstr *in = k->body->cfg->instrs[i];
  if (!race_stores_later(in)) return;
  Code *c = guarded(k, i, true);
  PtxLabel *over = around(k, c, in);
  race_completes(k, c, &in->ops[2]);
  end_around(c, over);
}

void race_order(RaceCheck *k, uint32_t i) {
  const PtxInstr *in = k->body->cfg->instrs[i];
  WgOrders what = access_orders(in);
  switch (what) {
    case WG_ORDERS_BLOCK:
    case WG_ORDERS_PART:
    case WG_ORDERS_PART_ARRIVE: at_barrier(k, i, what); return;
    case WG_ORDERS_CLUSTER_ARRIVE:
    case WG_ORDERS_CLUSTER_WAIT: at_cluster_barrier(k, i, what == WG_ORDERS_CLUSTER_WAIT); return;
    case WG_ORDERS_WARP: at_warp_sync(k, i, is_everybody(k, &in->ops[0])); return;
    case WG_ORDERS_LANES:
      at_warp_sync(k, i, !ptx_has(in, MOD_SYNC) || is_everybody(k, &in->ops[in->nops - 1]));
      return;
    case WG_ORDERS_FENCE:
      at_fence(k, i);
      if (k->has_async && ptx_has(in, MOD_PROXY) && ptx_has(in, MOD_ASYNC)) at_proxy_fence(k, i);
      return;
    case WG_ORDERS_COMMIT:
    case WG_ORDERS_BULK_COMMIT:
      if (k->has_async) at_commit(k, i, what == WG_ORDERS_BULK_COMMIT);
      return;
    case WG_ORDERS_WAIT:
    case WG_ORDERS_WAIT_ALL:
    case WG_ORDERS_BULK_WAIT:
      if (k->has_async) at_wait_group(k, i, what == WG_ORDERS_BULK_WAIT);
      return;
    case WG_ORDERS_MBARRIER_WAIT: at_mbarrier(k, i, true); return;
    case WG_ORDERS_COPIES_ARRIVE:
    case WG_ORDERS_MBARRIER_INIT:
    case WG_ORDERS_MBARRIER_ARRIVE:
    case WG_ORDERS_MBARRIER_COUNT: at_mbarrier(k, i, false); return;
    case WG_ORDERS_MBARRIER_INVAL: return;
    case WG_ORDERS_COPY:  // weave_async.c
    case WG_ORDERS_BULK_COPY:
    case WG_ORDERS_OTHER_FENCE:
    case WG_ORDERS_NOTHING: break;
  }
  if (ptx_op_memory(in->op) == MEMORY_REMOTE) at_store_later(k, i);
  if (in->op == OP_CALL && race_call_orders(in)) at_call(k, i);
}
