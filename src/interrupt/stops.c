// Finds the stops of a kernel: calls of interrupts, and places where a kernel with such calls waits
// for other threads. Code that cannot be suspended is refused by name.
#define _GNU_SOURCE
#include "interrupt/stops.h"

static bool is_named(const PtxInstr *in, const char *name) {
  return in->op == OP_MOV && in->nops == 2 && in->ops[0].kind == OPD_REG &&
         code_is_named(in->ops[0].reg, name);
}
bool stops_is_call(const PtxInstr *in) { return is_named(in, "wg_interrupt_wait"); }

bool stops_is_overflow(const PtxInstr *in) {
  return in->op == OP_MOV && in->ops[0].kind == OPD_REG &&
         code_is_named(in->ops[0].reg, MERGE_OVERFLOW);
}

bool interrupt_occurs(const char *text, size_t len) {
  return memmem(text, len, "wg_interrupt_wait", strlen("wg_interrupt_wait")) != NULL;
}

bool stops_has_calls(const PtxFunc *f) {
  for (uint32_t i = 0; i < f->nstmts; i++)
    if (f->stmts[i].kind == STMT_INSTR && stops_is_call(f->stmts[i].instr)) return true;
  return false;
}

// --- messages ---

static bool is_our_header(const char *path) {
  const char *slash = path ? strrchr(path, '/') : NULL;
  const char *name = slash ? slash + 1 : path;
  return name && !strncmp(name, "warpgrind", strlen("warpgrind"));
}

// The place of an instruction in the program's own code: not in our header nor in one of the
// toolkit, and not in the function of this name that the declaration of an interrupt defines.
static const SitePlace *own_place(Arena *a, const PtxFunc *f, const PtxInstr *in,
                                  const char *declared) {
  const SitePlace *places;
  uint32_t n = in->loc ? weave_places(a, f->module, in->loc, &places) : 0;
  for (uint32_t i = 0; i < n; i++) {
    if (!places[i].file || !places[i].line || is_our_header(places[i].file) ||
        (weave_is_toolkit_header(places[i].file) && i + 1 < n))
      continue;
    bool declares = declared && places[i].function && strstr(places[i].function, declared);
    if (!declares || i + 1 == n) return &places[i];
  }
  return NULL;
}

const char *stops_place(Arena *a, const PtxFunc *f, const PtxInstr *in) {
  const SitePlace *p = own_place(a, f, in, NULL);
  if (p) return arena_printf(a, "%s:%u", p->file, p->line);
  return arena_printf(a, "line %u of the PTX of %s", in->ptx_line, f->module->name);
}

bool stops_refuse(Error *err, const PtxFunc *f, const PtxInstr *in, const char *what) {
  Arena a = {0};
  error_set(err, "kernel %s calls interrupts and cannot be suspended at %s: %s", f->name,
            stops_place(&a, f, in), what);
  arena_free(&a);
  return false;
}

// --- calls of interrupts ---

static bool read_call(Stops *s, Stop *stop, const IrProvenance *from, Error *err) {
  const IrCfg *c = s->cfg;
  const PtxInstr *wait = c->instrs[stop->at];
  const PtxReg *pointer = NULL;
  uint32_t first = c->blocks[c->block_of[stop->at]].first;
  if (wait->guard) return stops_refuse(err, s->func, wait, "the call is predicated");
  for (uint32_t i = stop->at; i-- > first && !pointer;) {
    const PtxInstr *in = c->instrs[i];
    if (in->op != OP_MOV || in->ops[0].kind != OPD_REG) break;
    PtxReg *r = in->ops[0].reg;
    char name[32];
    for (unsigned k = 0; k < INTERRUPT_WORDS; k++) {
      snprintf(name, sizeof name, "wg_interrupt_a%u", k);
      if (code_is_named(r, name)) stop->args[k] = r;
      snprintf(name, sizeof name, "wg_interrupt_r%u", k);
      if (k < INTERRUPT_RESULT_WORDS && code_is_named(r, name)) stop->results[k] = r;
    }
    if (code_is_named(r, "wg_interrupt_s")) stop->served = r;
    if (code_is_named(r, "wg_interrupt_call")) pointer = r;
  }
  IrOrigin origin = pointer ? from->reg[pointer->id] : (IrOrigin){0};
  const PtxVar *info = origin.kind == IR_FROM_VAR && !origin.offset ? origin.var : NULL;
  if (pointer && !info) {
    IrDefs *defs = ir_defs_build(c);
    info = trace_variable(c, defs, pointer);
    ir_defs_free(defs);
  }
  if (!stops_describe(s->func, &s->arena, info, &stop->call))
    return stops_refuse(err, s->func, wait, "which interrupt is called is not known in the PTX");
  const SitePlace *place = own_place(&s->arena, s->func, wait, stop->call.name);
  if (place && !stop->call.file) {
    stop->call.file = place->file;
    stop->call.line = place->line;
  }
  return true;
}

// --- where threads wait for each other ---

// __syncthreads() and its variants with a result, with any number of a barrier.
bool stops_is_block_barrier(const PtxInstr *in) {
  if (ptx_op_order(in->op) != ORDER_BLOCK || in->guard) return false;
  unsigned id = ptx_has(in, MOD_RED) ? 1 : 0;
  if (!ptx_has(in, MOD_SYNC) && !ptx_has(in, MOD_RED)) return false;
  return in->nops == (id ? 3 : 1) && in->ops[id].kind == OPD_INT;
}

static bool waits_for_lanes(const PtxInstr *in) {
  PtxOrder order = ptx_op_order(in->op);
  return (order == ORDER_WARP || order == ORDER_LANES) && in->op != OP_ACTIVEMASK;
}

// An mbarrier that was not replaced (mbarriers.c), or a copy that it counts.
static const char *counts_bytes(const PtxInstr *in) {
  PtxMemory memory = ptx_op_memory(in->op);
  if (ptx_op_order(in->op) == ORDER_MBARRIER) return "an mbarrier that counts bytes";
  if ((memory == MEMORY_BULK || memory == MEMORY_TENSOR) && !ptx_has(in, MOD_BULK_GROUP))
    return "a bulk copy that an mbarrier counts";
  return NULL;
}

// Names state that cannot be saved, or a wait that cannot be left; NULL: neither.
static const char *unsavable(const PtxInstr *in) {
  if (!strncmp(ptx_op_name(in->op), "tcgen05.", strlen("tcgen05."))) return "tcgen05 memory";
  switch (ptx_op_order(in->op)) {
    case ORDER_WGMMA_WAIT: return "wgmma";
    case ORDER_GRID: return "griddepcontrol";
    default: break;
  }
  switch (in->op) {
    case OP_SETMAXNREG: return "setmaxnreg";
    case OP_ALLOCA:
    case OP_STACKSAVE:
    case OP_STACKRESTORE: return "memory that grows on the stack";
    default: break;
  }
  switch (ptx_op_memory(in->op)) {
    case MEMORY_DESCRIPTOR: return "wgmma";
    case MEMORY_REMOTE: return "shared memory of another block";
    default: return NULL;
  }
}

// --- what a suspended thread can still reach ---

static bool names_shared(const PtxOperand *o) {
  if (o->kind == OPD_VAR && o->var->space == SPACE_SHARED) return true;
  for (unsigned i = 0; i < o->nlist; i++)
    if (names_shared(&o->list[i])) return true;
  return false;
}

static bool has_shared(const IrCfg *c) {
  for (uint32_t i = 0; i < c->ninstrs; i++)
    for (unsigned o = 0; o < c->instrs[i]->nops; o++)
      if (names_shared(&c->instrs[i]->ops[o])) return true;
  return false;
}

// Generic addresses may lead to shared memory; so may functions that are given one.
static bool uses_shared(const PtxInstr *in) {
  if (in->op == OP_CALL) return true;
  return (in->space == SPACE_SHARED || in->space == SPACE_GENERIC) &&
         ptx_op_classes(in) & (CLASS_LOAD | CLASS_STORE | CLASS_ATOMIC);
}

// Marks the instructions from `at` on that can follow it.
void stops_mark_from(Arena *a, const IrCfg *c, uint32_t at, bool *marks) {
  bool *seen = ARENA_ARRAY(a, bool, c->nblocks + 1);
  uint32_t *stack = ARENA_ARRAY(a, uint32_t, c->nblocks + 1), top = 0;
  const IrBlock *b = &c->blocks[c->block_of[at]];
  for (uint32_t k = at; k < b->end; k++) marks[k] = true;
  for (;;) {
    for (uint32_t k = 0; k < b->nsucc; k++)
      if (!seen[b->succ[k]]) {
        seen[b->succ[k]] = true;
        stack[top++] = b->succ[k];
      }
    if (!top) return;
    b = &c->blocks[stack[--top]];
    for (uint32_t k = b->first; k < b->end; k++) marks[k] = true;
  }
}

// Marks the instructions that a suspended thread may still execute. All others need no care: no
// suspended thread is missing there, and the shared memory that they use is not used again.
static bool *after_stops(Stops *s) {
  bool *after = ARENA_ARRAY(&s->arena, bool, s->cfg->ninstrs + 1);
  for (uint32_t i = 0; i < s->n; i++) stops_mark_from(&s->arena, s->cfg, s->list[i].at, after);
  return after;
}

static void add(Stops *s, StopKind kind, uint32_t at) {
  s->list[s->n++] = (Stop){.kind = kind, .at = at};
}

static bool add_barrier(Stops *s, uint32_t i, Error *err) {
  const PtxInstr *in = s->cfg->instrs[i];
  if (!stops_is_block_barrier(in))
    return stops_refuse(err, s->func, in,
                        "a reduction by a part of the block, or a barrier whose number is not a "
                        "constant");
  add(s, STOP_BARRIER, i);
  return true;
}

static bool add_cluster_barrier(Stops *s, uint32_t i, Error *err) {
  if (!ptx_has(s->cfg->instrs[i], MOD_WAIT)) return true;  // its first half
  if (clusters_arrive_of(s->cfg, i) == IR_NONE)
    return stops_refuse(err, s->func, s->cfg->instrs[i],
                        "a barrier of the cluster whose wait does not follow its arrive");
  s->uses_blocks = s->uses_clusters = true;
  add(s, STOP_CLUSTER, i);
  return true;
}

// Refuses shared memory of another block, unless barriers of the cluster keep that block there.
static bool check_remote(const Stops *s, const bool *after, Error *err) {
  for (uint32_t i = 0; i < s->cfg->ninstrs; i++) {
    const PtxInstr *in = s->cfg->instrs[i];
    if (after[i] && !s->uses_clusters && (in->op == OP_MAPA || ptx_has(in, MOD_SHARED_CLUSTER)))
      return stops_refuse(
          err, s->func, in,
          "shared memory of another block, with no barrier of the cluster after it");
  }
  return true;
}

// Does the loop read memory that other threads write meanwhile?
static bool polls(const IrCfg *c, uint32_t loop) {
  for (uint32_t i = 0; i < c->ninstrs; i++) {
    const PtxInstr *in = c->instrs[i];
    if (c->blocks[c->block_of[i]].loop == IR_NONE || !ir_in_loop(c, c->block_of[i], loop)) continue;
    bool strong = ptx_has(in, MOD_VOLATILE) || ptx_has(in, MOD_ACQUIRE) ||
                  ptx_has(in, MOD_RELAXED) || ptx_op_classes(in) & CLASS_ATOMIC;
    if (strong && in->space != SPACE_LOCAL && in->op != OP_RED) return true;
  }
  return false;
}

// Does the loop wait for an mbarrier? Then it waits for the hardware alone, or for threads that
// cannot be suspended yet: if they could, the mbarrier would be after a call.
static bool has_mbarrier(const IrCfg *c, uint32_t loop) {
  for (uint32_t i = 0; i < c->ninstrs; i++)
    if (ptx_op_order(c->instrs[i]->op) == ORDER_MBARRIER && ir_in_loop(c, c->block_of[i], loop))
      return true;
  return false;
}

static void add_loops(Stops *s) {
  const IrCfg *c = s->cfg;
  for (uint32_t l = 0; l < c->nloops; l++) {
    IrLoopEnd end;
    ir_loop_end(c, l, &end);
    bool waits = end.kind == IR_END_WAITS || (end.kind == IR_END_OPEN && polls(c, l));
    if (waits && end.branch < c->ninstrs && !has_mbarrier(c, l)) add(s, STOP_LOOP, end.branch);
  }
}

static bool add_wait(Stops *s, uint32_t i, Error *err) {
  const PtxInstr *in = s->cfg->instrs[i];
  PtxOrder order = ptx_op_order(in->op);
  bool stops = order == ORDER_BLOCK || waits_for_lanes(in) || (ptx_op_classes(in) & CLASS_TENSOR);
  if (stops && in->guard) return stops_refuse(err, s->func, in, "it is predicated");
  if ((in->op == OP_SHFL || in->op == OP_VOTE) && !ptx_has(in, MOD_SYNC))
    return stops_refuse(err, s->func, in, "an operation between lanes that has no mask");
  if (order == ORDER_BLOCK) return add_barrier(s, i, err);
  if (order == ORDER_CLUSTER) return add_cluster_barrier(s, i, err);
  if (stops) {
    s->uses_warps = true;
    add(s, STOP_WARP, i);
  }
  return true;
}

static bool add_waits(Stops *s, Error *err) {
  const IrCfg *c = s->cfg;
  add_loops(s);
  const bool *after = after_stops(s);
  bool shared = has_shared(c);
  for (uint32_t i = 0; i < c->ninstrs; i++) {
    const PtxInstr *in = c->instrs[i];
    const char *what = unsavable(in);
    if (what) return stops_refuse(err, s->func, in, what);
    s->uses_async |= ptx_op_memory(in->op) == MEMORY_COPY;
    s->uses_bulk |= in->op == OP_CP_ASYNC_BULK_COMMIT_GROUP;
    if (!after[i]) continue;
    if (counts_bytes(in)) return stops_refuse(err, s->func, in, counts_bytes(in));
    s->uses_blocks |= (shared && uses_shared(in)) || ptx_op_order(in->op) == ORDER_BLOCK ||
                      waits_for_lanes(in) || (ptx_op_classes(in) & CLASS_TENSOR);
    if (!add_wait(s, i, err)) return false;
  }
  return check_remote(s, after, err);
}

// --- all of them ---

// Puts calls of one interrupt side by side, in the order of the source.
static int by_interrupt(const void *a, const void *b) {
  const Stop *x = a, *y = b;
  int order = strcmp(x->call.name, y->call.name);
  return order ? order : x->at < y->at ? -1 : 1;
}

static bool find_calls(Stops *s, Error *err) {
  IrProvenance *from = ir_provenance_build(s->cfg);
  bool ok = true;
  for (uint32_t i = 0; i < s->cfg->ninstrs && ok; i++)
    if (stops_is_call(s->cfg->instrs[i])) {
      add(s, STOP_CALL, i);
      ok = read_call(s, &s->list[s->n - 1], from, err);
    }
  ir_provenance_free(from);
  s->ncalls = s->n;
  if (ok) qsort(s->list, s->n, sizeof *s->list, by_interrupt);
  return ok;
}

bool stops_find(Stops *s, PtxFunc *f, PtxReg *locals, Error *err) {
  *s = (Stops){.func = f, .locals = locals};
  s->cfg = ir_cfg_build(f, err);
  if (!s->cfg) return false;
  s->list = ARENA_ARRAY(&s->arena, Stop, s->cfg->ninstrs + s->cfg->nloops + 1);
  if (!find_calls(s, err) || !add_waits(s, err)) return false;
  settled_find(s);
  if (!stops_find_live(s, err)) return false;
  for (uint32_t i = 0; i < s->n; i++) s->list[i].number = i + 1;
  return true;
}

void stops_free(Stops *s) {
  ir_cfg_free(s->cfg);
  arena_free(&s->arena);
}
