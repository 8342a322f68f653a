// Accesses that are performed later than they are issued: cp.async, bulk and tensor copies, and the
// reads of wgmma through the asynchronous proxy.
//
// Their entries have WG_RACE_CTA without WG_RACE_STRONG: only a clock orders them. The order of the
// issuing thread does not, nor does a barrier. A wait (a wait_group, an mbarrier that has reached
// its next phase) acquires a later clock. Writes must be followed by a fence.proxy.async before the
// asynchronous proxy reads them: see tools/racecheck/probe_async.c of the probes.
#include "tools/racecheck/internal.h"

// bytes to check if the size is not known: the first bytes of a tensor's tile; of a matrix, for
// each lane
enum { TILE = 16, MATRIX = 4 };

static bool is_shared(const PtxInstr *in, unsigned operand) {
  unsigned n = 0;
  for (unsigned i = 0; i < in->nmods; i++) {
    bool shared = in->mods[i] == MOD_SHARED_CTA || in->mods[i] == MOD_SHARED_CLUSTER ||
                  in->mods[i] == MOD_SHARED;
    if ((shared || in->mods[i] == MOD_GLOBAL) && n++ == operand) return shared;
  }
  return false;
}

static void add_shared(RaceCheck *k, RaceAccess a) {
  a.flags |= WG_RACE_CTA;
  a.is_shared_space = true;
  a.place = RACE_SHARED_MEMORY;
  vec_push(&k->accesses, a);
  k->uses_shared = true;
}

// Adds the accesses of a bulk copy in global memory. A reduction there is done by atomics.
static void add_global(RaceCheck *k, uint32_t i, const PtxOperand *address, const PtxOperand *size,
                       uint32_t flags) {
  vec_push(&k->accesses, ((RaceAccess){.instr = i,
                                       .address = address,
                                       .size = size,
                                       .flags = flags,
                                       .range = RACE_RANGE_GLOBAL,
                                       .place = RACE_LOOKUP}));
  k->looks_up = k->has_global_async = true;
  k->stores_anywhere |= (flags & WG_RACE_WRITE) != 0;
}

bool race_is_async(const PtxInstr *in) {
  switch (ptx_op_memory(in->op)) {
    case MEMORY_COPY:
    case MEMORY_BULK:
    case MEMORY_TENSOR: return true;
    default: return in->op == OP_WGMMA_MMA_ASYNC;
  }
}

bool race_stores_later(const PtxInstr *in) {
  return ptx_op_memory(in->op) == MEMORY_REMOTE && in->nops == 3 && ptx_has(in, MOD_SHARED_CLUSTER);
}

// If consecutive products have no order between them, only the first is checked: the others read
// further parts of the same tiles.
void race_join_products(RaceCheck *k) {
  const IrCfg *c = k->body->cfg;
  const PtxInstr *first = NULL;
  for (uint32_t i = 0, n = 0; i < c->ninstrs; i++) {
    const PtxInstr *in = c->instrs[i];
    bool product = in->op == OP_WGMMA_MMA_ASYNC;
    if (c->blocks[c->block_of[i]].first == i || (race_is_order(in) && !product)) first = NULL;
    while (n < k->accesses.len && k->accesses.data[n].instr < i) n++;
    for (; product && n < k->accesses.len && k->accesses.data[n].instr == i; n++)
      k->accesses.data[n].gone |= first != NULL;
    if (product && !first) first = in;
  }
}

// Copies to several blocks at once, or to another block of the cluster, are not checked.
void race_plan_async(RaceCheck *k, uint32_t i) {
  const PtxInstr *in = k->body->cfg->instrs[i];
  bool told = ptx_has(in, MOD_COMPLETE_TX_BYTES),
       several = ptx_has(in, MOD_MULTICAST_CLUSTER) || ptx_has(in, MOD_CP_MASK);
  switch (in->op) {
    case OP_CP_ASYNC_BULK:
    case OP_CP_REDUCE_ASYNC_BULK:
      if (is_shared(in, 1)) {
        if (!is_shared(in, 0) && !several)
          add_global(k, i, &in->ops[0], &in->ops[2],
                     in->op == OP_CP_ASYNC_BULK ? WG_RACE_WRITE | WG_RACE_CTA
                                                : WG_RACE_WRITE | WG_RACE_STRONG);
        add_shared(k, (RaceAccess){.instr = i,
                                   .address = &in->ops[1],
                                   .size = &in->ops[2],
                                   .range = is_shared(in, 0) ? RACE_RANGE_LOOK : RACE_RANGE_KEEP});
      } else if (in->op == OP_CP_ASYNC_BULK && is_shared(in, 0) && told && !several) {
        add_global(k, i, &in->ops[1], &in->ops[2], WG_RACE_CTA);
        add_shared(k, (RaceAccess){.instr = i,
                                   .address = &in->ops[0],
                                   .size = &in->ops[2],
                                   .flags = WG_RACE_WRITE,
                                   .range = RACE_RANGE_KEEP});
      }
      return;
    case OP_CP_ASYNC_BULK_TENSOR:
    case OP_CP_REDUCE_ASYNC_BULK_TENSOR:
      if (!told || !several)
        add_shared(k, (RaceAccess){.instr = i,
                                   .address = &in->ops[told ? 0 : 1],
                                   .bytes = TILE,
                                   .flags = told ? WG_RACE_WRITE : 0,
                                   .range = RACE_RANGE_KEEP});
      return;
    case OP_WGMMA_MMA_ASYNC:
      for (unsigned o = 1; o <= 2 && o < in->nops; o++)
        if (in->ops[o].kind == OPD_REG)
          add_shared(k, (RaceAccess){.instr = i,
                                     .address = &in->ops[o],
                                     .bytes = MATRIX,
                                     .range = RACE_RANGE_MATRIX});
      return;
    default: return;
  }
}

static const PtxOperand *told_barrier(const PtxInstr *in) {
  if (!ptx_has(in, MOD_COMPLETE_TX_BYTES)) return NULL;
  const PtxOperand *o = &in->ops[in->op == OP_CP_ASYNC_BULK_TENSOR ? 2 : 3];
  return in->op == OP_CP_ASYNC_BULK || in->op == OP_CP_ASYNC_BULK_TENSOR ? o : NULL;
}

// with: the entry it races with, or 0; launches: filled here
typedef struct FoundRace {
  PtxReg *with, *at, *layout, *launches;
} FoundRace;
static void report_if(RaceCheck *k, Code *c, uint32_t what, const FoundRace *r) {
  Body *b = k->body;
  PtxReg *none = body_temp(b, TYPE_PRED, 0);
  PtxLabel *over = body_label(b);
  EMIT(c, "setp.eq.u64", opd_reg(none), opd_reg(r->with), opd_imm(0));
  code_branch(c, none, false, over);
  RACE_LOAD(k, c, r->launches, launches);
  const PtxOperand args[] = {opd_imm(what),      opd_reg(r->at),    opd_imm(0),
                             opd_imm(0),         opd_reg(r->with),  opd_reg(k->me),
                             opd_reg(r->layout), opd_reg(k->first), opd_reg(r->launches),
                             opd_reg(k->knows),  opd_imm(0),        opd_imm(0)};
  code_call(c, probe_function(b->program, b->unit, "wg_race_report"), args, ARRAY_LEN(args));
  code_label(c, over);
}

static void global_range(RaceCheck *k, const RaceAccess *a) {
  Body *b = k->body;
  const PtxInstr *in = b->cfg->instrs[a->instr];
  Code *hot = body_before(b, a->instr), *c = body_cold(b);
  PtxReg *at = body_temp(b, TYPE_B64, 0), *table = body_temp(b, TYPE_B64, 1),
         *with = body_temp(b, TYPE_B64, 2), *launches = body_temp(b, TYPE_B64, 3),
         *some = body_temp(b, TYPE_PRED, 0);
  PtxReg *layout = body_temp(b, TYPE_B32, 0), *bytes = body_temp(b, TYPE_B32, 2);
  PtxLabel *slow = body_label(b), *back = body_label(b);
  uint32_t what = TILE | (a->flags & 7) << WG_RACE_ACCESS_FLAGS_AT |
                  a->site << WG_RACE_ACCESS_SITE_AT;
  if (in->guard)
    EMIT(hot, "setp.ne.and.u64", opd_reg(some), opd_reg(k->me), opd_imm(0), opd_guard(in));
  else EMIT(hot, "setp.ne.u64", opd_reg(some), opd_reg(k->me), opd_imm(0));
  code_branch(hot, some, false, slow);
  code_label(hot, back);
  c->near = in;
  code_label(c, slow);
  access_address(c, at, a->address);
  EMIT(c, "mov.b32", opd_reg(bytes), *a->size);
  record_load(c, table, offsetof(WgLaunch, memory));
  const PtxOperand find[] = {opd_reg(table), opd_reg(at)};
  code_call_value(c, probe_function(b->program, b->unit, "wg_init_find"), with, find, 2);
  EMIT(c, "setp.eq.u64", opd_reg(some), opd_reg(with), opd_imm(0));
  code_branch(c, some, false, back);
  RACE_LOAD(k, c, layout, layout);
  RACE_LOAD(k, c, table, unordered);
  const PtxOperand args[] = {opd_reg(with),          opd_reg(at),    opd_reg(bytes),
                             opd_imm((int32_t)what), opd_reg(k->me), opd_reg(layout),
                             opd_reg(k->first),      opd_reg(table), opd_reg(k->knows)};
  code_call_value(c, probe_function(b->program, b->unit, "wg_race_global_range"), with, args,
                  ARRAY_LEN(args));
  report_if(k, c, what, &(FoundRace){with, at, layout, launches});
  EMIT(c, "bra", opd_label(back));
}

void race_range(RaceCheck *k, const RaceAccess *a) {
  if (a->range == RACE_RANGE_GLOBAL) {
    global_range(k, a);
    return;
  }
  Body *b = k->body;
  const PtxInstr *in = b->cfg->instrs[a->instr];
  Code *hot = body_before(b, a->instr), *c = body_cold(b);
  PtxReg *at = body_temp(b, TYPE_B64, 0), *slots = body_temp(b, TYPE_B64, 1),
         *with = body_temp(b, TYPE_B64, 2), *launches = body_temp(b, TYPE_B64, 3),
         *some = body_temp(b, TYPE_PRED, 0);
  PtxReg *stride = body_temp(b, TYPE_B32, 1), *layout = body_temp(b, TYPE_B32, 0),
         *bytes = body_temp(b, TYPE_B32, 2), *serial = body_temp(b, TYPE_B32, 3);
  PtxLabel *slow = body_label(b), *back = body_label(b);
  uint32_t what = TILE | WG_RACE_ACCESS_SHARED |
                  (a->range == RACE_RANGE_KEEP ? 0u : (uint32_t)WG_RACE_ACCESS_LOOK) |
                  (a->flags & 7) << WG_RACE_ACCESS_FLAGS_AT | a->site << WG_RACE_ACCESS_SITE_AT;
  RACE_LOAD(k, hot, stride, shared_stride);
  if (in->guard)
    EMIT(hot, "setp.ne.and.u32", opd_reg(some), opd_reg(stride), opd_imm(0), opd_guard(in));
  else EMIT(hot, "setp.ne.u32", opd_reg(some), opd_reg(stride), opd_imm(0));
  code_branch(hot, some, false, slow);
  code_label(hot, back);
  c->near = in;
  code_label(c, slow);
  // bits 0 to 13 of the descriptor; they are the same in all lanes: each lane checks one word
  if (a->range == RACE_RANGE_MATRIX) {
    EMIT(c, "mov.u32", opd_reg(bytes), opd_sreg(SREG_LANEID, SEL_NONE));
    EMIT(c, "mul.wide.u32", opd_reg(slots), opd_reg(bytes), opd_imm(4));
    EMIT(c, "and.b64", opd_reg(at), *a->address, opd_imm(0x3fff));
    EMIT(c, "shl.b64", opd_reg(at), opd_reg(at), opd_imm(4));
    EMIT(c, "add.u64", opd_reg(at), opd_reg(at), opd_reg(slots));
  } else access_address(c, at, a->address);
  if (a->size) EMIT(c, "mov.b32", opd_reg(bytes), *a->size);
  else EMIT(c, "mov.b32", opd_reg(bytes), opd_imm(a->bytes));
  RACE_LOAD(k, c, stride, shared_stride);
  RACE_LOAD(k, c, layout, layout);
  const PtxOperand args[] = {
      opd_reg(k->shared_at),  opd_reg(at),    opd_reg(bytes),  opd_reg(stride),
      opd_imm((int32_t)what), opd_reg(k->me), opd_reg(layout), opd_reg(k->first),
      opd_reg(k->knows)};
  code_call_value(c, probe_function(b->program, b->unit, "wg_race_range"), with, args,
                  ARRAY_LEN(args));
  report_if(k, c, what, &(FoundRace){with, at, layout, launches});
  if (!(a->flags & WG_RACE_WRITE)) {
    RACE_LOAD(k, c, slots, slots);
    RACE_LOAD(k, c, serial, serial);
    const PtxOperand proxy[] = {opd_reg(k->shared_at), opd_reg(at),     opd_reg(bytes),
                                opd_reg(stride),       opd_reg(slots),  opd_reg(serial),
                                opd_reg(k->me),        opd_reg(layout), opd_reg(k->first)};
    code_call_value(c, probe_function(b->program, b->unit, "wg_race_unfenced"), with, proxy,
                    ARRAY_LEN(proxy));
    report_if(k, c, what | WG_RACE_ACCESS_PROXY, &(FoundRace){with, at, layout, launches});
  }
  const PtxOperand *barrier = told_barrier(in);
  if (barrier && a->flags & WG_RACE_WRITE) race_completes(k, c, barrier);
  EMIT(c, "bra", opd_label(back));
}
