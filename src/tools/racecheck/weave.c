// racecheck: finds accesses of two threads to the same byte, at least one of them a write, without
// an order between them. docs/racecheck.md.
#include "tools/options.h"
#include "tools/racecheck/internal.h"

// Shared variables have no addresses that the host could look up: the code tells which variable it
// is.
static void name_variable(RaceCheck *k, const RaceAccess *a, Site *s) {
  IrOrigin o = ir_access_origin(k->provenance, a->address);
  if (o.kind == IR_FROM_VAR && o.var->space == SPACE_SHARED)
    s->object = arena_strdup(&k->body->program->out->arena, o.var->name);
}

// Sites of one kernel have consecutive numbers, so that an entry needs few bits for one.
static void number_sites(RaceCheck *k) {
  Body *b = k->body;
  for (uint32_t i = 0; i < k->accesses.len; i++) {
    RaceAccess *a = &k->accesses.data[i];
    if (i >= WG_RACE_NO_SITE) a->site = WG_RACE_NO_SITE;
    else if (i && k->accesses.data[i - 1].instr == a->instr &&
             k->accesses.data[i - 1].source == a->source &&
             b->cfg->instrs[a->instr]->op != OP_CP_ASYNC)
      a->site = k->accesses.data[i - 1].site;
    else {
      uint32_t site = program_site(b->program, b, b->cfg->instrs[a->source ? a->source : a->instr]);
      name_variable(k, a, &b->program->sites.data[site]);
      if (!i) k->first_site = site;
      a->site = site - k->first_site;
    }
  }
}

static void prepare_cluster(RaceCheck *k, Code *c) {
  Body *b = k->body;
  PtxReg *in_x = body_temp(b, TYPE_B32, 0), *side_by_side = body_temp(b, TYPE_PRED, 0);
  k->cluster = body_reg(b, TYPE_B32);
  EMIT(c, "mov.u32", opd_reg(k->cluster), opd_sreg(SREG_CLUSTER_NCTARANK, SEL_NONE));
  EMIT(c, "mov.u32", opd_reg(in_x), opd_sreg(SREG_CLUSTER_NCTAID, SEL_X));
  EMIT(c, "setp.eq.u32", opd_reg(side_by_side), opd_reg(in_x), opd_reg(k->cluster));
  EMIT(c, "sub.u32", opd_reg(k->cluster), opd_reg(k->cluster), opd_imm(1));
  EMIT(c, "shl.b32", opd_reg(k->cluster), opd_reg(k->cluster), opd_imm(WG_RACE_ACCESS_CLUSTER_AT));
  EMIT(c, "selp.b32", opd_reg(k->cluster), opd_reg(k->cluster), opd_imm(0), opd_reg(side_by_side));
}

static void prepare(RaceCheck *k) {
  Body *b = k->body;
  Program *p = b->program;
  Code *c = body_entry(b);
  PtxReg *start = body_temp(b, TYPE_B64, 0), *layout = body_temp(b, TYPE_B32, 0),
         *stride = body_temp(b, TYPE_B32, 1), *slots = body_temp(b, TYPE_B32, 2);
  k->me = body_reg(b, TYPE_B64);
  k->first = body_reg(b, TYPE_B32);
  RACE_LOAD(k, c, layout, layout);
  RACE_LOAD(k, c, start, start);
  const PtxOperand first[] = {opd_reg(layout)},
                   begin[] = {opd_reg(start), opd_reg(layout), opd_reg(k->first)};
  code_call_value(c, probe_function(p, b->unit, "wg_race_first"), k->first, first, 1);
  code_call_value(c, probe_function(p, b->unit, "wg_race_begin"), k->me, begin, 3);
  if (k->uses_shared) {
    k->shared_at = body_reg(b, TYPE_B64);
    RACE_LOAD(k, c, start, shared);
    RACE_LOAD(k, c, stride, shared_stride);
    RACE_LOAD(k, c, slots, shared_slots);
    const PtxOperand args[] = {opd_reg(start), opd_reg(stride), opd_reg(slots)};
    code_call_value(c, probe_function(p, b->unit, "wg_race_shared"), k->shared_at, args, 3);
    const PtxOperand round[] = {opd_reg(k->me), opd_reg(layout), opd_reg(slots)};
    code_call_value(c, probe_function(p, b->unit, "wg_race_round"), k->me, round, 3);
    if (k->has_clusters) prepare_cluster(k, c);
  }
  if (k->splits_memories) {
    k->me_shared = body_reg(b, TYPE_B64);
    EMIT(c, "mov.b64", opd_reg(k->me_shared), opd_reg(k->me));
  }
  if (k->has_clock) {
    k->fences = body_reg(b, TYPE_B64);
    k->knows = body_reg(b, TYPE_B64);
    EMIT(c, "mov.b64", opd_reg(k->fences), opd_imm(0));
    EMIT(c, "mov.b64", opd_reg(k->knows), opd_imm(0));
    if (k->has_clusters) {
      k->phase = body_reg(b, TYPE_B32);
      EMIT(c, "mov.b32", opd_reg(k->phase), opd_imm(1));
    }
    for (int i = 0; i < 2 && k->has_async; i++) {
      k->groups[i] = body_reg(b, TYPE_B64);
      EMIT(c, "mov.b64", opd_reg(k->groups[i]), opd_imm(0));
    }
  }
  k->defers = p->plan->spare_registers && record_can_point(b);
  if (k->defers) {
    k->waiting = body_reg(b, TYPE_B32);
    EMIT(c, "mov.b32", opd_reg(k->waiting), opd_imm(0));
    k->waiting_at = body_area(b, "races");
    k->waiting_at->size = k->waiting_at->dims[0] = WG_RACE_WAITING * sizeof(WgRaceWaiting);
    k->waiting_at->align = 16;
    body_declare(b, k->waiting_at);
  }
  if (k->looks_up) {
    k->cache_base = body_reg(b, TYPE_B64);
    k->cache_size = body_reg(b, TYPE_B64);
    k->cache_entries = body_reg(b, TYPE_B64);
    EMIT(c, "mov.b64", opd_reg(k->cache_base), opd_imm(0));
    EMIT(c, "mov.b64", opd_reg(k->cache_size), opd_imm(0));
    EMIT(c, "mov.b64", opd_reg(k->cache_entries), opd_imm(0));
  }
}

// An upper bound for the bytes of the kernel's own variables in shared memory.
typedef struct Named {
  uint64_t bytes;
  VEC(const PtxVar *) seen;
} Named;
static void add_named(Named *n, const PtxOperand *o) {
  if (o->kind == OPD_VAR && o->var->space == SPACE_SHARED) {
    for (uint32_t i = 0; i < n->seen.len; i++)
      if (n->seen.data[i] == o->var) return;
    vec_push(&n->seen, o->var);
    n->bytes += o->var->size + o->var->align;
  }
  for (unsigned i = 0; i < o->nlist; i++) add_named(n, &o->list[i]);
}

static uint32_t shared_bytes(const Body *b) {
  Named n = {0};
  for (uint32_t u = 0; b->info->calls_functions && u < b->program->nunits; u++)
    for (uint32_t i = 0; i < b->program->units[u]->nvars; i++) {
      const PtxVar *v = b->program->units[u]->vars[i];
      if (v->space == SPACE_SHARED) n.bytes += v->size + v->align;
    }
  for (uint32_t i = 0; i < b->cfg->ninstrs; i++)
    for (unsigned o = 0; o < b->cfg->instrs[i]->nops; o++)
      add_named(&n, &b->cfg->instrs[i]->ops[o]);
  vec_free(&n.seen);
  return (uint32_t)MIN(n.bytes, (uint64_t)1 << 20);
}

// Whether some shared memory needs a check in every launch.
static bool has_shared_left(const RaceCheck *k) {
  for (uint32_t i = 0; i < k->accesses.len; i++)
    if (!k->accesses.data[i].gone && k->accesses.data[i].place == RACE_SHARED_MEMORY &&
        !k->accesses.data[i].group_at)
      return true;
  return k->has_clusters;
}

RaceKernel *race_kernel_of(const Body *b) {
  Woven *out = b->program->out;
  void **data = &out->kernels[b->info->kernel].tool_data[TOOL_RACECHECK];
  if (!*data) *data = ARENA_ARRAY(&out->arena, RaceKernel, 1);
  return *data;
}

static void tell_host(RaceCheck *k) {
  WovenKernel *woven = &k->body->program->out->kernels[k->body->info->kernel];
  RaceKernel *out = race_kernel_of(k->body);
  woven->waits_for_launch = k->waits;
  woven->tells_host = k->tells_host;
  out->record_at = k->record;
  out->first_site = k->first_site;
  out->first_fact = woven->nfacts;
  out->shared = k->uses_shared ? shared_bytes(k->body) + 1 : 0;
  out->clock = k->has_clock;
  out->bounds = k->bounds;
  out->syncs = k->has_syncs;
  out->lets = k->lets;
  out->by_facts = !k->looks_up && !k->stores_anywhere && !has_shared_left(k) && !k->calls;
  out->looks_up = k->looks_up;
  out->stores_anywhere = k->stores_anywhere;
  facts_keep(k->body, k->facts.data, k->facts.len);
}

// --- accesses that wait for a full check, in machine code ---
//
// They wait across blocks, each in a place of its own, until an instruction orders accesses, a loop
// goes back, the thread ends, or there is no room.

static bool is_end(const PtxInstr *in) {
  return in->op == OP_RET || in->op == OP_EXIT || in->op == OP_TRAP;
}

static bool turns_loop(const IrCfg *c, const IrBlock *b) {
  for (uint32_t i = 0; i < b->nsucc; i++)
    if (c->blocks[b->succ[i]].rpo <= b->rpo) return true;
  return false;
}

static void weave_access(RaceCheck *k, const RaceAccess *a) {
  PtxReg *me = k->me;
  if (k->me_shared && a->place == RACE_SHARED_MEMORY) k->me = k->me_shared;
  race_access(k, a);
  k->me = me;
}

static void weave_instr(RaceCheck *k, uint32_t i, uint32_t *a) {
  Body *b = k->body;
  const PtxInstr *in = b->cfg->instrs[i];
  bool orders = race_is_order(in);
  if (k->nwaiting && (orders || is_end(in) || k->nwaiting + 2 > WG_RACE_WAITING))
    race_look(k, body_before(b, i));
  race_order_before(k, i);
  for (; *a < k->accesses.len && k->accesses.data[*a].instr == i; ++*a) {
    RaceAccess *x = &k->accesses.data[*a];
    if (!x->gone) weave_access(k, x);
    if (k->nwaiting && orders) race_look(k, body_before(b, i));
    race_tells(k, x);
  }
  race_order(k, i);
  race_said(k, i);
}

static void weave_blocks(RaceCheck *k) {
  Body *b = k->body;
  const IrCfg *c = b->cfg;
  uint32_t *first = ARENA_ARRAY(&b->program->scratch, uint32_t, c->nblocks + 1),
           *out = ARENA_ARRAY(&b->program->scratch, uint32_t, c->nblocks + 1);
  for (uint32_t i = k->accesses.len; i-- > 0;)
    first[c->block_of[k->accesses.data[i].instr]] = i + 1;
  for (uint32_t n = 0; n < c->norder; n++) {
    const IrBlock *block = &c->blocks[c->order[n]];
    uint32_t a = first[c->order[n]] ? first[c->order[n]] - 1 : k->accesses.len;
    k->nwaiting = 0;
    for (uint32_t i = 0; i < block->npred; i++)
      if (c->blocks[block->pred[i]].rpo < block->rpo)
        k->nwaiting = MAX(k->nwaiting, out[block->pred[i]]);
    for (uint32_t i = block->first; i < block->end; i++) {
      if (i + 1 == block->end && k->nwaiting && turns_loop(c, block) && c->instrs[i]->op == OP_BRA)
        race_look(k, body_before(b, i));
      weave_instr(k, i, &a);
    }
    if (k->nwaiting && block->first < block->end && (turns_loop(c, block) || !block->nsucc))
      race_look(k, body_after(b, block->end - 1));
    out[c->order[n]] = k->nwaiting;
  }
}

static void name_unseen(RaceCheck *k) {
  Arena *a = &k->body->program->out->arena;
  const FuncInfo *f = program_callee(k->unseen);
  race_kernel_of(k->body)->unseen =
      f ? arena_printf(a, "the function %s, which could not be put in the place of its call",
                       f->func->name)
        : "functions that it calls through pointers";
}

// Functions that inline_calls.c has not inlined are not woven: they run for any kernel, and the
// counters of a kernel are in its registers.
static void weave(Body *b) {
  if (!b->func->is_entry || !b->info->record || b->info->is_twin) return;
  RaceCheck k = {.body = b, .provenance = ir_provenance_build(b->cfg)};
  race_plan(&k);
  const RaceRehearsal *rehearsal = race_take_apart(&k);
  race_move_masked_reads(&k);
  RaceIntervals *intervals = race_intervals(&k);
  race_join_same(&k);
  race_join_products(&k);
  race_find_unread(&k, intervals);
  if (k.accesses.len) k.record = record_reserve(b, sizeof(WgRaceRecord));
  if (k.record) race_find_groups(&k, intervals);
  if (k.record && rehearsal) race_group_rest(&k, rehearsal);
  if (k.record) {
    number_sites(&k);
    prepare(&k);
    race_find_once(&k);
    weave_blocks(&k);
    race_find_private(&k);
    tell_host(&k);
  }
  if (!k.accesses.len) race_kernel_of(b)->by_facts = !k.calls;
  if (k.unseen) name_unseen(&k);
  vec_free(&k.accesses);
  vec_free(&k.facts);
  vec_free(&k.shared_groups);
  ir_provenance_free(k.provenance);
}

static unsigned options(const Options *o, const WeavePlan *plan) {
  return options_is(o, OPT_RACE, "full") ? RACE_FULL : 0;
}

// Inlines calls: registers are followed through these.
const Pass pass_racecheck = {
    .options = options, .begin = race_survey_calls, .weave = weave, .inlines = 30000};
