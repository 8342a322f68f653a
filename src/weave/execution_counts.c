// Counts how often every instruction is executed, by how many threads and how many warps. Code that
// several tools need is woven once for all of them. The example to learn passes from.
//
// All instructions of a basic block run equally often, so one set of counters serves the block. At
// its beginning lane 0 adds 1 to one of them if all 32 lanes are active; otherwise, out of line,
// one lane adds the number of lanes to another and 1 to a third. A guarded instruction runs for
// fewer lanes and gets a thread counter of its own, which it shares with the instructions of the
// block that have the same guard. lane_counters.c, loop_counters.c and short_sides.c save atomic
// operations. A table says what each counter means (weave/execution_counts.h);
// weave/execution_rows.c turns it into rows.
//
// A counter exists several times (CountTable.replicas), one for some of the multiprocessors each,
// so that not all of them add to the same address.
#include "weave/execution_counts.h"

// --- the code ---
static void prepare(Counting *w) {
  Body *b = w->body;
  Code *c = body_entry(b);
  w->counters = body_reg(b, TYPE_B64);
  w->lower = body_reg(b, TYPE_B32);
  w->is_first = body_reg(b, TYPE_PRED);
  PtxReg *replica = body_temp(b, TYPE_B32, 0), *one = body_temp(b, TYPE_B32, 1),
         *off = body_temp(b, TYPE_PRED, 0), *offset = body_temp(b, TYPE_B64, 0);
  record_load(c, w->counters, offsetof(WgLaunch, counters));
  EMIT(c, "mov.u32", opd_reg(w->lower), opd_sreg(SREG_LANEMASK_LT, SEL_NONE));
  EMIT(c, "setp.eq.u64", opd_reg(off), opd_reg(w->counters), opd_imm(0));
  EMIT(c, "selp.b32", opd_reg(w->lower), opd_imm(-1), opd_reg(w->lower), opd_reg(off));
  EMIT(c, "setp.eq.u32", opd_reg(w->is_first), opd_reg(w->lower), opd_imm(0));
  // ptxas combines the atomics of a warp to one address before it issues them; here one lane
  // already adds for all. So ptxas must not see that all lanes have the same address: it does not
  // know that %lanemask_eq has one bit.
  EMIT(c, "mov.u32", opd_reg(one), opd_sreg(SREG_LANEMASK_EQ, SEL_NONE));
  EMIT(c, "popc.b32", opd_reg(one), opd_reg(one));
  EMIT(c, "mov.u32", opd_reg(replica), opd_sreg(SREG_SMID, SEL_NONE));
  vec_push(&w->count->masks,
           &EMIT(c, "and.b32", opd_reg(replica), opd_reg(replica), opd_imm(0))->ops[2]);
  EMIT(c, "mul.lo.u32", opd_reg(replica), opd_reg(replica), opd_reg(one));
  vec_push(&w->count->strides,
           &EMIT(c, "mul.wide.u32", opd_reg(offset), opd_reg(replica), opd_imm(0))->ops[2]);
  EMIT(c, "add.u64", opd_reg(w->counters), opd_reg(w->counters), opd_reg(offset));
  EMIT(c, "selp.b64", opd_reg(w->counters), opd_imm(0), opd_reg(w->counters), opd_reg(off));
}

void count_add_to_memory(Counting *w, Code *c, uint32_t counter, PtxOperand by) {
  EMIT(c, "red.global.add.u64", opd_at(c, opd_reg(w->counters), counter * 8ll), by);
}

// The active lanes that the code's guard lets pass: whether this one leads them, and their number.
typedef struct Here {
  PtxReg *leads, *n;
} Here;
static Here look_around(Counting *w, Code *c) {
  Body *b = w->body;
  Here h = {body_temp(b, TYPE_PRED, 0), body_temp(b, TYPE_B64, 0)};
  PtxReg *lanes = body_temp(b, TYPE_B32, 0), *n = body_temp(b, TYPE_B32, 1);
  code_elect(c, lanes, h.leads, w->lower);
  code_guard(c, NULL, false);
  EMIT(c, "popc.b32", opd_reg(n), opd_reg(lanes));
  EMIT(c, "cvt.u64.u32", opd_reg(h.n), opd_reg(n));
  return h;
}

// Out of line: counts warps with missing lanes. One branch around both atomics: if they were
// guarded, ptxas would make a branch around each.
static void count_fewer(Counting *w, Code *cold, PtxReg *lanes, uint32_t counters) {
  Body *b = w->body;
  PtxReg *below = body_temp(b, TYPE_B32, 1), *leads = body_temp(b, TYPE_PRED, 0),
         *n = body_temp(b, TYPE_B64, 0);
  PtxLabel *over = body_label(b);
  EMIT(cold, "and.b32", opd_reg(below), opd_reg(lanes), opd_reg(w->lower));
  EMIT(cold, "setp.eq.u32", opd_reg(leads), opd_reg(below), opd_imm(0));
  code_branch(cold, leads, true, over);
  EMIT(cold, "popc.b32", opd_reg(below), opd_reg(lanes));
  EMIT(cold, "cvt.u64.u32", opd_reg(n), opd_reg(below));
  count_add_to_memory(w, cold, counters + BLOCK_THREADS, opd_reg(n));
  count_add_to_memory(w, cold, counters + BLOCK_WARPS, opd_imm(1));
  code_label(cold, over);
}

// Whether the block counts the executions of its short sides.
static bool counts_sides(const Counting *w, uint32_t block) {
  return w->in_lanes && w->sides[block].has_sides;
}

static bool is_counted_elsewhere(const Counting *w, uint32_t block) {
  return w->in_lanes && w->sides[block].of != IR_NONE;
}

// A full warp adds 1. In a loop every lane adds to its own register, and lane 0's counts, because
// lane 0 took part each time. Elsewhere the lane of this block adds, or the count goes to memory.
static void count_full_warp(Counting *w, Code *c, uint32_t block, uint32_t counter) {
  PtxReg *mine = body_temp(w->body, TYPE_PRED, 0);
  PtxReg *full = count_loops_register(w, block, counter, w->is_first);
  if (full) {
    EMIT(c, "add.u64", opd_reg(full), opd_reg(full), opd_imm(1));
    return;
  }
  full = count_lanes_choose(w, c, block, counter, mine);
  code_guard(c, full ? mine : w->is_first, false);
  if (full) EMIT(c, "add.u32", opd_reg(full), opd_reg(full), opd_imm(1));
  else count_add_to_memory(w, c, counter, opd_imm(1));
  code_guard(c, NULL, false);
}

static void count_lanes(Counting *w, uint32_t block, uint32_t i, uint32_t counters) {
  Body *b = w->body;
  Code *c = body_before(b, i), *cold = body_cold(b);
  bool begins = counters == w->entry[block], keeps = w->lanes && begins,
       sides = begins && counts_sides(w, block);
  PtxReg *lanes = keeps || sides ? body_reg(b, TYPE_B32) : body_temp(b, TYPE_B32, 0),
         *fewer = body_temp(b, TYPE_PRED, 1);
  if (keeps) w->lanes[block] = lanes;
  PtxLabel *out = body_label(b), *back = body_label(b);
  code_guard(c, NULL, false);
  EMIT(c, "activemask.b32", opd_reg(lanes));
  EMIT(c, "setp.ne.u32", opd_reg(fewer), opd_reg(lanes), opd_imm(-1));
  code_branch(c, fewer, false, out);
  count_full_warp(w, c, block, counters + BLOCK_FULL);
  code_label(c, back);
  cold->near = c->near;
  code_guard(cold, NULL, false);
  code_label(cold, out);
  count_fewer(w, cold, lanes, counters);
  EMIT(cold, "bra", opd_label(back));
  if (sides) short_sides_count(w, block, lanes);
}

static void count_guarded(Counting *w, uint32_t block, Code *c, uint32_t counter, PtxReg *guard,
                          bool negated) {
  code_guard(c, guard, negated);
  Here h = look_around(w, c);
  PtxReg *kept = count_loops_register(w, block, counter, NULL);
  code_guard(c, h.leads, false);
  if (kept) EMIT(c, "add.u64", opd_reg(kept), opd_reg(kept), opd_reg(h.n));
  else count_add_to_memory(w, c, counter, opd_reg(h.n));
  code_guard(c, NULL, false);
}

// --- the table ---
// An atomicAdd counts for the line that calls it, not for a line of the toolkit's headers.
bool weave_is_toolkit_header(const char *path) {
  const char *at = strstr(path, "/targets/");
  if (at && strstr(at, "-linux/include/")) return true;
  if (strstr(path, "/cuda_runtime/include/")) return true;
  for (at = path; (at = strstr(at, "/cuda")); at++) {
    size_t n = 5 + strspn(at + 5, "-.0123456789");
    if (!strncmp(at + n, "/include/", 9)) return true;
  }
  return false;
}

static void list_files(Count *t, const Body *b) {
  const PtxModule *m = b->func->module;
  if (t->files && t->unit == b->unit) return;
  t->nfiles = 0;
  for (uint32_t i = 0; i < m->nfiles; i++)
    t->nfiles = MAX(t->nfiles, MIN(m->files[i]->index, 1u << 20) + 1);
  t->files = ARENA_ARRAY(&b->program->scratch, struct CountFile, t->nfiles + 1);
  for (uint32_t i = 0; i < m->nfiles; i++)
    if (m->files[i]->index < t->nfiles)
      t->files[m->files[i]->index] = (struct CountFile){
          arena_strdup(&b->program->out->arena, m->files[i]->path),
          weave_is_toolkit_header(m->files[i]->path)};
  t->unit = b->unit;
}

// The place that an instruction counts for: its own line, or the place where a line of the toolkit
// was inlined. NULL: not known.
static const PtxLoc *counted_at(const Count *t, const PtxLoc *loc) {
  const PtxLoc *best = NULL;
  for (const PtxLoc *l = loc; l && l->file && l->file < t->nfiles && t->files[l->file].path;
       l = l->inlined_at) {
    if (!best) best = l;
    if (!t->files[l->file].is_toolkit) return l;
  }
  return best;
}

// How often an instruction is executed, as a CountItem says it.
typedef struct Times {
  uint32_t block, guard, but_not, warps;
} Times;

CountPlace count_place(const Count *t, const PtxInstr *in) {
  const PtxLoc *loc = counted_at(t, in->loc);
  if (!loc) return (CountPlace){NULL, in->ptx_line};
  return (CountPlace){t->files[loc->file].path, loc->line};
}

static void list_instruction(Counting *w, const PtxInstr *in, Times times) {
  Count *t = w->count;
  if (!in->ptx_line) return;  // the branch between two bodies, not the program's
  CountPlace place = count_place(t, in);
  const char *file = place.file;
  uint32_t line = place.line;
  CountItem *item = t->items.len ? &t->items.data[t->items.len - 1] : NULL;
  bool same = item && item->kernel == w->kernel && item->file == file && item->line == line &&
              item->block == times.block && item->guard == times.guard &&
              item->but_not == times.but_not && item->warps == times.warps && item->n < UINT16_MAX;
  if (!same) {
    vec_push(&t->items, (CountItem){.kernel = w->kernel,
                                    .file = file,
                                    .line = line,
                                    .block = times.block,
                                    .guard = times.guard,
                                    .but_not = times.but_not,
                                    .warps = times.warps});
    item = &t->items.data[t->items.len - 1];
  }
  unsigned classes = ptx_op_classes(in);
  item->n++;
  for (unsigned rest = classes; rest; rest &= rest - 1) item->by_class[__builtin_ctz(rest)]++;
  if (!access_is_memory(in)) return;
  uint32_t bytes = access_bytes(in);
  if (classes & CLASS_ATOMIC) {
    item->atomics++;
    item->atomic_bytes += bytes;
  } else {
    if (classes & CLASS_LOAD) {
      item->loads++;
      item->load_bytes += bytes;
    }
    if (classes & CLASS_STORE) {
      item->stores++;
      item->store_bytes += bytes;
    }
  }
}

// --- the pass ---
uint32_t count_reserve(Count *t, uint32_t n) {
  uint32_t first = (t->ncounters + 3) & ~3u;
  t->ncounters = first + n;
  return first;
}

static uint32_t reserve_block(Count *t) {
  if (t->next_block == t->end_of_group) {
    t->next_block = count_reserve(t, COUNT_GROUP_SIZE);
    t->end_of_group = t->next_block + COUNT_GROUP;
  }
  return t->next_block++;
}

typedef struct Guard {
  const PtxReg *reg;
  bool negated;
  uint32_t threads;
} Guard;
typedef struct Guards {
  Guard list[16];
  uint32_t n;
} Guards;

static void forget_guard(void *ctx, PtxReg **reg, bool is_def) {
  Guards *g = ctx;
  for (uint32_t i = 0; is_def && i < g->n; i++)
    if (g->list[i].reg == *reg) g->list[i--] = g->list[--g->n];
}

// The counter of the lanes that a guard lets pass: a known one while the predicate keeps its value,
// else a new one.
static uint32_t guard_counter(Counting *w, Guards *g, uint32_t block, uint32_t i,
                              const PtxInstr *in) {
  for (uint32_t k = 0; k < g->n; k++)
    if (g->list[k].reg == in->guard && g->list[k].negated == in->guard_negated)
      return g->list[k].threads;
  uint32_t threads = w->count->ncounters++;
  count_guarded(w, block, body_before(w->body, i), threads, in->guard, in->guard_negated);
  if (g->n < ARRAY_LEN(g->list)) g->list[g->n++] = (Guard){in->guard, in->guard_negated, threads};
  return threads;
}

// The counter of all threads that go from `from` to its only successor: COUNT_NONE if one may be
// lost on the way.
static uint32_t edge_counter(const Counting *w, uint32_t from) {
  const IrBlock *b = &w->body->cfg->blocks[from];
  if (b->nsucc != 1 || w->entry[from] == COUNT_NONE) return COUNT_NONE;
  for (uint32_t i = b->first; i < b->end; i++) {
    const PtxInstr *in = w->body->cfg->instrs[i];
    if (in->op == OP_CALL && program_may_not_return(in)) return COUNT_NONE;
    if (in->guard && in->op != OP_BRA && i == b->end - 1) return COUNT_NONE;  // @p exit
  }
  return w->entry[from];
}

// A guarded branch or exit at the end of a block needs no counter of its own if other counters tell
// how many threads took it: those of the next block, if only this block leads there, or those of
// its target, if that has at most one other predecessor.
static bool derive_branch(const Counting *w, uint32_t block, const PtxInstr *in, Times *times) {
  const IrCfg *cfg = w->body->cfg;
  const IrBlock *b = &cfg->blocks[block];
  uint32_t next = block + 1;
  bool branches = in->op == OP_BRA,
       ends = in->op == OP_RET || in->op == OP_EXIT || in->op == OP_TRAP;
  if ((branches && b->nsucc != 2) || (!branches && !ends) || next >= cfg->nblocks) return false;
  if (cfg->blocks[next].npred == 1 && w->entry[next] != COUNT_NONE) {
    times->but_not = w->entry[next];
    return true;
  }
  if (!branches) return false;
  const IrBlock *to = &cfg->blocks[b->succ[0]];
  if (b->succ[0] == 0 || w->entry[b->succ[0]] == COUNT_NONE || to->npred > 2) return false;
  uint32_t other = COUNT_NONE;
  for (uint32_t i = 0; i < to->npred; i++)
    if (to->pred[i] != block && (other = edge_counter(w, to->pred[i])) == COUNT_NONE) return false;
  times->block = w->entry[b->succ[0]];
  times->but_not = other;
  return true;
}

static void count_block(Counting *w, uint32_t block) {
  const IrCfg *cfg = w->body->cfg;
  const IrBlock *b = &cfg->blocks[block];
  Guards guards = {.n = 0};
  uint32_t counters = COUNT_NONE;
  for (uint32_t i = b->first; i < b->end; i++) {
    PtxInstr *in = cfg->instrs[i];
    if (counters == COUNT_NONE) {
      counters = i == b->first ? w->entry[block] : reserve_block(w->count);
      if (!is_counted_elsewhere(w, block)) count_lanes(w, block, i, counters);
    }
    Times times = {counters, COUNT_NONE, COUNT_NONE, counters};
    if (in->guard && !(i == b->end - 1 && derive_branch(w, block, in, &times)))
      times.guard = guard_counter(w, &guards, block, i, in);
    list_instruction(w, in, times);
    if (guards.n) ptx_visit_regs(in, forget_guard, &guards);
    // fewer threads may come back
    if (in->op == OP_CALL && program_may_not_return(in)) {
      counters = COUNT_NONE;
      guards.n = 0;
    }
  }
}

static bool is_counted(const IrCfg *cfg, const IrBlock *b) {
  if (b->rpo == IR_NONE || b->first == b->end) return false;
  // the branch between two bodies is not the program's
  return b->end != b->first + 1 || cfg->instrs[b->first]->ptx_line;
}

// Counters of the beginnings of blocks are known before any block is looked at. Those of short
// sides come last, so that counters of one kind are together (lane_counters.c).
static void number_blocks(Counting *w) {
  const IrCfg *cfg = w->body->cfg;
  Count *t = w->count;
  uint32_t first = count_reserve(t, 0);
  t->next_block = t->end_of_group;
  w->entry = ARENA_ARRAY(&w->body->cfg->arena, uint32_t, cfg->nblocks);
  for (uint32_t i = 0; i < cfg->nblocks; i++) w->entry[i] = COUNT_NONE;
  for (unsigned pass = 0; pass < 2; pass++)
    for (uint32_t i = 0; i < cfg->nblocks; i++) {
      const ShortSide *s = &w->sides[i];
      if (!is_counted(cfg, &cfg->blocks[i]) || (s->of != IR_NONE) != (pass == 1)) continue;
      w->entry[i] = reserve_block(t);
    }
  t->next_block = t->end_of_group;  // the rest of the group stays with these
  count_lanes_open(w, first);
  for (uint32_t i = 0; i < cfg->nblocks && w->in_lanes; i++)
    if (is_counted_elsewhere(w, i)) w->entry[i] = w->entry[w->sides[i].first];
}

void execution_counts_begin(Program *p) {
  if (!p->counts) p->counts = ARENA_NEW(&p->scratch, Count);
}

Counting *execution_counts_weave(Body *b) {
  Count *t = b->program->counts;
  if (!b->cfg->ninstrs || b->counting) return b->counting;
  Counting *w = b->counting = ARENA_NEW(&b->cfg->arena, Counting);
  *w = (Counting){.count = t, .body = b};
  const char *kernel = b->info->kernel < b->program->out->nkernels
                           ? b->program->out->kernels[b->info->kernel].name
                           : NULL;
  w->kernel = kernel ? kernel : arena_strdup(&b->program->out->arena, b->func->name);
  list_files(t, b);
  prepare(w);
  short_sides_find(w);
  number_blocks(w);
  if (t->keeps_lanes) w->lanes = ARENA_ARRAY(&b->cfg->arena, PtxReg *, b->cfg->nblocks);
  count_loops_choose(w);
  for (uint32_t i = 0; i < b->cfg->nblocks; i++)
    if (w->entry[i] != COUNT_NONE) count_block(w, i);
  return w;
}

void execution_counts_flush(Body *b) {
  if (b->counting && b->counting->loops) count_loops_flush(b->counting);
  if (b->counting) count_lanes_flush(b->counting);
}

bool execution_counts_end(Program *p) {
  Count *t = p->counts;
  Woven *out = p->out;
  if (out->counts) return true;  // another tool did it
  CountTable *table = out->counts = ARENA_NEW(&out->arena, CountTable);
  t->ncounters = (t->ncounters + 15) & ~15u;  // whole lines of the cache
  table->ncounters = t->ncounters;
  table->replicas = t->ncounters <= 8192     ? 128
                    : t->ncounters <= 32768  ? 32
                    : t->ncounters <= 131072 ? 8
                                             : 1;
  table->nitems = t->items.len;
  table->items = ARENA_ARRAY(&out->arena, CountItem, t->items.len + 1);
  if (t->items.len) memcpy(table->items, t->items.data, sizeof *table->items * t->items.len);
  out->ncounters = table->ncounters * table->replicas;
  for (uint32_t i = 0; i < t->masks.len; i++) t->masks.data[i]->imm = table->replicas - 1;
  for (uint32_t i = 0; i < t->strides.len; i++) t->strides.data[i]->imm = table->ncounters * 8ll;
  vec_free(&t->items);
  vec_free(&t->masks);
  vec_free(&t->strides);
  return true;
}
