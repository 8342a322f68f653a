// Determines which accesses are checked, where their entries are, and which kinds of order a kernel
// uses.
#include "tools/racecheck/internal.h"

bool race_is_strong(const PtxInstr *in) { return access_order(in) & WG_ACCESS_STRONG; }

// --- places ---

static uint32_t fact_of(RaceCheck *k, const IrOrigin *o, bool writes) {
  Body *b = k->body;
  uint32_t param = facts_param(b, o->var);
  if (param == UINT32_MAX) return 0;
  for (uint32_t i = 0; i < k->facts.len; i++)
    if (k->facts.data[i].param == param && k->facts.data[i].param_offset == (uint32_t)o->offset) {
      if (writes) k->facts.data[i].read_only = false;
      return k->facts.data[i].record_offset;
    }
  WeaveFact f = {.kind = FACT_RACE,
                 .param = param,
                 .param_offset = (uint32_t)o->offset,
                 .param_at = (uint32_t)(o->var->param_offset + (uint64_t)o->offset),
                 .read_only = !writes};
  f.record_offset = record_reserve(b, 24);
  if (f.record_offset) vec_push(&k->facts, f);
  return f.record_offset;
}

static void find_place(RaceCheck *k, RaceAccess *a) {
  const PtxInstr *in = k->body->cfg->instrs[a->instr];
  IrOrigin o = ir_access_origin(k->provenance, a->address);
  bool writes = a->flags & WG_RACE_WRITE;
  a->place = RACE_NOWHERE;
  if (o.kind == IR_FROM_VAR &&
      (o.var->space == SPACE_LOCAL || o.var->space == SPACE_PARAM || o.var->space == SPACE_CONST))
    return;
  if (a->is_shared_space || (o.kind == IR_FROM_VAR && o.var->space == SPACE_SHARED)) {
    a->place = ptx_has(in, MOD_SHARED_CLUSTER) && in->op != OP_CP_ASYNC ? RACE_CLUSTER_MEMORY
                                                                        : RACE_SHARED_MEMORY;
    return;
  }
  if (in->space != SPACE_GLOBAL && in->space != SPACE_GENERIC && in->op != OP_CP_ASYNC) return;
  a->fact_at = o.kind == IR_FROM_PARAM ? fact_of(k, &o, writes) : 0;
  a->place = a->fact_at ? RACE_PARAM : RACE_LOOKUP;
}

// --- accesses ---

static void add_one(RaceCheck *k, RaceAccess a) {
  uint32_t i = a.instr, flags = a.flags;
  if (!a.address || a.address->kind != OPD_ADDR || !a.bytes) return;
  find_place(k, &a);
  if (a.place == RACE_NOWHERE) return;
  k->uses_shared |= a.place == RACE_SHARED_MEMORY || a.place == RACE_CLUSTER_MEMORY ||
                    (a.place == RACE_LOOKUP && k->body->cfg->instrs[i]->space == SPACE_GENERIC);
  k->looks_up |= a.place == RACE_LOOKUP;
  k->stores_anywhere |= a.place == RACE_LOOKUP && flags & WG_RACE_WRITE;
  vec_push(&k->accesses, a);
}

static void add(RaceCheck *k, uint32_t i, const PtxOperand *address, uint32_t bytes, uint32_t flags,
                bool shared) {
  add_one(k, (RaceAccess){.instr = i,
                          .address = address,
                          .bytes = bytes,
                          .flags = flags,
                          .is_shared_space = shared});
}

// ldmatrix, stmatrix: the first lanes hold the addresses of rows. wmma: each of the first lanes
// stands for one line of the tile, since PTX does not say which lane holds which elements.
static void add_matrix(RaceCheck *k, uint32_t i) {
  const PtxInstr *in = k->body->cfg->instrs[i];
  bool loads = in->op == OP_LDMATRIX || in->op == OP_WMMA_LOAD;
  RaceAccess a = {.instr = i,
                  .address = &in->ops[loads ? 1 : 0],
                  .flags = loads ? 0 : WG_RACE_WRITE,
                  .is_shared_space = in->space == SPACE_SHARED};
  if (in->op == OP_LDMATRIX || in->op == OP_STMATRIX) {
    a.bytes = 16;
    a.lanes = access_matrix_lanes(in);
    add_one(k, a);
    return;
  }
  uint32_t lines, elements, bits = in->ntypes ? access_type_bits(in->types[0]) : 0;
  if (!access_tile_shape(in, &lines, &elements) || elements * bits % 8 || lines > 32) return;
  a.bytes = elements * bits / 8;
  a.lanes = lines;
  a.apart = in->nops > 2 ? &in->ops[2] : NULL;
  a.apart_bits = a.apart ? bits : elements * bits;
  add_one(k, a);
}

static const PtxOperand *address_of(const PtxInstr *in) {
  for (unsigned i = 0; i < in->nops; i++)
    if (in->ops[i].kind == OPD_ADDR) return &in->ops[i];
  return NULL;
}

// cp.async: a fourth operand says how many bytes are read, or that none are.
static void add_copy(RaceCheck *k, uint32_t i) {
  const PtxInstr *in = k->body->cfg->instrs[i];
  const PtxOperand *more = in->nops > 3 ? &in->ops[3] : NULL;
  bool is_reg = more && more->kind == OPD_REG;
  RaceAccess from = {.instr = i, .address = &in->ops[1], .bytes = access_bytes(in)};
  if (is_reg && more->reg->type == TYPE_PRED) from.ignored = more;
  else if (more && (more->kind == OPD_INT || (is_reg && ptx_type_size(more->reg->type) == 4)))
    from.size = more;
  if (from.size && from.size->kind == OPD_INT) {
    from.bytes = (uint32_t)MIN((uint64_t)from.size->imm, (uint64_t)from.bytes);
    from.size = NULL;
  }
  add_one(k, from);
  add(k, i, &in->ops[0], access_bytes(in), WG_RACE_WRITE | WG_RACE_CTA, true);
}

static void add_access(RaceCheck *k, uint32_t i) {
  const PtxInstr *in = k->body->cfg->instrs[i];
  unsigned order = access_order(in);
  uint32_t scope = order & WG_ACCESS_OF_BLOCK ? WG_RACE_CTA : 0,
           strong = order & WG_ACCESS_STRONG ? WG_RACE_STRONG | scope : 0;
  switch (ptx_op_memory(in->op)) {
    case MEMORY_SCALAR:
      if (in->space == SPACE_PARAM || in->space == SPACE_CONST || in->space == SPACE_LOCAL) return;
      add(k, i, address_of(in), access_bytes(in),
          strong | (ptx_op_classes(in) & CLASS_STORE ? WG_RACE_WRITE : 0),
          in->space == SPACE_SHARED);
      return;
    case MEMORY_MATRIX:
    case MEMORY_TILE: add_matrix(k, i); return;
    case MEMORY_COPY: add_copy(k, i); return;
    case MEMORY_REMOTE:
      if (race_stores_later(in))
        add(k, i, &in->ops[0], access_bytes(in),
            WG_RACE_WRITE | (ptx_op_classes(in) & CLASS_ATOMIC ? WG_RACE_STRONG : WG_RACE_CTA),
            true);
      return;
    default: race_plan_async(k, i); return;
  }
}

// --- order ---

static bool is_warp_sync(const PtxInstr *in) {
  PtxOrder order = ptx_op_order(in->op);
  return order == ORDER_WARP || order == ORDER_LANES || race_is_matrix(in);
}

static bool makes_clocks(const PtxInstr *in) {
  switch (ptx_op_order(in->op)) {
    case ORDER_FENCE:
    case ORDER_CLUSTER:
    case ORDER_MBARRIER: return true;
    case ORDER_BLOCK: return access_orders(in) != WG_ORDERS_BLOCK;
    default:
      return race_is_async(in) || race_stores_later(in) ||
             access_order(in) & (WG_ACCESS_RELEASES | WG_ACCESS_ACQUIRES);
  }
}

bool race_orders(const PtxInstr *in) {
  return makes_clocks(in) || is_warp_sync(in) || ptx_op_order(in->op) == ORDER_BLOCK;
}

// Barriers that order only one memory need a count for each memory. Clocks, and addresses that may
// be in either memory, have one count for both: there every barrier counts for both, which can only
// hide races.
static bool splits_memories(const RaceCheck *k) {
  const IrCfg *cfg = k->body->cfg;
  bool some = false;
  if (k->has_clock || k->has_clusters || k->has_async || k->unseen) return false;
  for (uint32_t i = 0; i < cfg->ninstrs && !some; i++)
    some = access_orders(cfg->instrs[i]) == WG_ORDERS_BLOCK &&
           race_barrier_memory(k, i) != RACE_ORDERS_ALL;
  for (uint32_t i = 0; i < k->accesses.len; i++)
    if (k->accesses.data[i].place == RACE_LOOKUP &&
        cfg->instrs[k->accesses.data[i].instr]->space == SPACE_GENERIC)
      return false;
  return some;
}

void race_plan(RaceCheck *k) {
  const IrCfg *cfg = k->body->cfg;
  bool unseen_order = false;
  for (uint32_t i = 0; i < cfg->ninstrs; i++) {
    const PtxInstr *in = cfg->instrs[i];
    if (cfg->blocks[cfg->block_of[i]].rpo == IR_NONE) continue;
    k->has_syncs |= is_warp_sync(in) && race_barrier_memory(k, i);
    k->has_clock |= makes_clocks(in) || (in->op == OP_CALL && race_call_orders(in));
    k->has_async |= race_is_async(in);
    k->has_clusters |= in->op == OP_MAPA || ptx_op_order(in->op) == ORDER_CLUSTER ||
                       (ptx_has(in, MOD_SHARED_CLUSTER) && !race_is_async(in)) ||
                       ptx_has(in, MOD_MULTICAST_CLUSTER);
    k->waits |= in->op == OP_GRIDDEPCONTROL && ptx_has(in, MOD_WAIT);
    k->lets |= in->op == OP_GRIDDEPCONTROL && ptx_has(in, MOD_LAUNCH_DEPENDENTS);
    k->tells_host |= ptx_has(in, MOD_SYS);
    k->calls |= in->op == OP_CALL;
    if (in->op == OP_CALL && (program_callee(in) || (in->nops > 1 && in->ops[1].kind != OPD_FUNC)))
      k->stores_anywhere = true;
    if (in->op == OP_CALL && !k->unseen && race_call_accesses(in)) k->unseen = in;
    if (race_says(k, i)) k->looks_up = k->uses_shared = true;  // then all memory has entries
    unseen_order |= in->op == OP_CALL && race_call_orders(in);
    add_access(k, i);
  }
  for (uint32_t i = 0; i < k->accesses.len; i++)
    k->writes_strong |= (k->accesses.data[i].flags & WG_RACE_WRITE) &&
                        (k->accesses.data[i].flags & WG_RACE_STRONG);
  k->bounds = k->has_clock && !k->has_clusters && !unseen_order;
  k->splits_memories = splits_memories(k);
}
