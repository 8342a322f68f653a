// One test after several instructions of a block, for code that is compiled to machine code: a
// thread that has read nothing bad so far needs no shadows of registers.
//
//     @dirty bra Uses;                     only if an address or guard here has a shadow
//   UsesBack:
//     the program's own instructions
//     any = dirty || something that was accessed is in memory that is followed;   @any bra Test;
//   Back:
//     …
//   Test:
//     dirty? bra Follow;   what was read is not all good? bra Follow
//     what was written is good;   bra Back
//   Follow:
//     what the instructions had for operands, as far as it matters, into local memory
//     dirty = wg_init_follow(a list of steps: tools/initcheck/weave_steps.c);   bra Back
//
// Shadows of registers are in local memory, and one call serves many instructions. So machine code
// compiles fast, and little code stands next to the program's instructions. Operands that Follow
// reads must still have their values after the region, and no access in it may be addressed by data
// read in it: both end a region, and so do barriers, calls and branches. If a region has shuffles
// whose lanes exchange shadows, all of these lanes take the same branch.
#include "tools/initcheck/internal.h"

enum { MOST_ACCESSES = INIT_MOST_GROUPS, MOST_INSTRS = 160 };

typedef struct Region {
  uint32_t first, end;
  // instruction `end` is of the same block, and Follow runs before it: the bits that decide there,
  // and the shadows it computes, belong to this region
  bool has_tail;
  uint32_t accesses[MOST_ACCESSES];
  unsigned n;        // the last one may be the tail
  bool writes;       // followed memory
  PtxOperand lanes;  // the lanes that exchange shadows; kind OPD_NONE: none do
  bool uses;         // some address or guard has a shadow
} Region;

// registers of the program that have shadows
typedef struct Regs {
  PtxReg **list;
  uint32_t n;
  uint8_t *seen;
} Regs;

typedef struct Weaver {
  InitCheck *k;
  IrLiveness *live;
  Region region;
  InitSteps steps;
  bool *cuts;
  // registers whose shadows are live into the region, and out of it
  Regs before, behind;
  uint64_t *now;
  bool uses_count;
  // by register of the region: Follow reads its value; its value depends on data read in the region
  uint64_t *needed, *read;
  bool *sliced;  // by instruction: Uses needs the shadow it computes
  // the region whose Follow is not written yet: it can also do the work of the next region's Uses,
  // if that region follows immediately
  Region last;
  PtxLabel *last_follow, *last_back;  // NULL: there is none
} Weaver;

static const PtxInstr *instr(const Weaver *w, uint32_t i) { return w->k->body->cfg->instrs[i]; }

// --- which shadows a region touches ---

static void add_reg(Regs *r, PtxReg *reg, uint8_t bit) {
  if (r->seen[reg->id] & bit) return;
  r->seen[reg->id] |= bit;
  r->list[r->n++] = reg;
}

static void drop_regs(Regs *r) {
  for (uint32_t i = 0; i < r->n; i++) r->seen[r->list[i]->id] = 0;
  r->n = 0;
}

enum { SEEN = 1, WRITTEN = 2 };

static void see_use(void *ctx, PtxReg **reg, bool is_def) {
  Weaver *w = ctx;
  if (is_def || !init_shadow(w->k, *reg) || !w->uses_count) return;
  if (!(w->behind.seen[(*reg)->id] & WRITTEN)) add_reg(&w->before, *reg, SEEN);
}

typedef struct Def {
  Weaver *w;
  bool guarded;
} Def;
static void see_def(void *ctx, PtxReg **reg, bool is_def) {
  const Def *d = ctx;
  Weaver *w = d->w;
  if (!is_def || !init_shadow(w->k, *reg)) return;
  if (d->guarded && !(w->behind.seen[(*reg)->id] & WRITTEN)) add_reg(&w->before, *reg, SEEN);
  add_reg(&w->behind, *reg, SEEN);
  w->behind.seen[(*reg)->id] |= WRITTEN;
}

static void see_instr(Weaver *w, uint32_t i) {
  PtxInstr *in = (PtxInstr *)instr(w, i);
  w->uses_count = init_rule(in) != RULE_CLEAR || init_is_decision(in);
  ptx_visit_regs(in, see_use, w);
  Def d = {w, in->guard != NULL};
  ptx_visit_regs(in, see_def, &d);
}

// A report clears the shadow of the register it names: so the shadow is an output of the region.
static void see_reported(void *ctx, PtxReg **reg, bool is_def) {
  Weaver *w = ctx;
  if (!is_def && init_shadow(w->k, *reg)) add_reg(&w->behind, *reg, SEEN);
}

static void visit_live(void *ctx, PtxReg **reg, bool is_def) {
  Weaver *w = ctx;
  uint64_t *word = &w->now[(*reg)->id / 64], bit = 1ull << (*reg)->id % 64;
  if (is_def) *word &= ~bit;
}
static void visit_used(void *ctx, PtxReg **reg, bool is_def) {
  Weaver *w = ctx;
  if (!is_def) w->now[(*reg)->id / 64] |= 1ull << (*reg)->id % 64;
}

static void mark_defined(void *ctx, PtxReg **reg, bool is_def) {
  Weaver *w = ctx;
  if (is_def) w->now[(*reg)->id / 64] |= 1ull << (*reg)->id % 64;
}

// Registers that are dead after instruction i - 1 need no shadow there.
static void find_live(Weaver *w, uint32_t i) {
  const IrCfg *c = w->k->body->cfg;
  uint32_t b = c->block_of[w->region.first];
  memcpy(w->now, w->live->live_out[b], sizeof *w->now * w->live->words);
  for (uint32_t n = c->blocks[b].end; n-- > i;) {
    if (!c->instrs[n]->guard) ptx_visit_regs(c->instrs[n], visit_live, w);
    ptx_visit_regs(c->instrs[n], visit_used, w);
  }
}

static void find_registers(Weaver *w) {
  const Region *r = &w->region;
  drop_regs(&w->before);
  drop_regs(&w->behind);
  for (uint32_t i = r->first; i < r->end; i++) see_instr(w, i);
  if (r->has_tail) {
    const PtxInstr *tail = instr(w, r->end);
    w->uses_count = true;
    ptx_visit_regs((PtxInstr *)tail, see_use, w);
    Def d = {w, tail->guard != NULL};
    ptx_visit_regs((PtxInstr *)tail, see_def, &d);
  }
  for (uint32_t i = r->first; i < r->end + r->has_tail; i++)
    if (init_is_decision(instr(w, i))) ptx_visit_regs((PtxInstr *)instr(w, i), see_reported, w);
  if (r->end > r->first) find_live(w, r->end);
  else memset(w->now, 0xff, sizeof *w->now * w->live->words);
  if (r->has_tail) ptx_visit_regs((PtxInstr *)instr(w, r->end), mark_defined, w);
  for (uint32_t i = 0; i < w->behind.n;) {
    PtxReg *reg = w->behind.list[i];
    if (w->now[reg->id / 64] >> reg->id % 64 & 1) i++;
    else {
      w->behind.seen[reg->id] = 0;
      w->behind.list[i] = w->behind.list[--w->behind.n];
    }
  }
}

// --- the code of a region ---

// any = dirty || followed memory is accessed. A known object is followed as a whole or not at all.
static bool emit_hot_tests(Weaver *w, Code *c, PtxReg *any, bool shadows) {
  InitCheck *k = w->k;
  Body *b = k->body;
  PtxReg *sum = body_temp(b, TYPE_B64, 3), *one = body_temp(b, TYPE_B64, 4),
         *cached = body_temp(b, TYPE_B64, 5);
  uint32_t facts[MOST_ACCESSES] = {0};
  unsigned nfacts = 0;
  bool shared = false, always = false, lookup = false;
  for (unsigned n = 0; n < w->region.n; n++) {
    InitPlace place = k->place[w->region.accesses[n]];
    unsigned known = 0;
    while (known < nfacts && facts[known] != place.fact_at) known++;
    if (place.kind == PLACE_PARAM && !place.is_whole && known == nfacts)
      facts[nfacts++] = place.fact_at;
    shared |= place.kind == PLACE_SHARED;
    always |= place.kind == PLACE_LOCAL;
    lookup |= place.kind == PLACE_LOOKUP;
  }
  if (always) return true;
  if (lookup) EMIT(c, "mov.b64", opd_reg(sum), opd_reg(k->cache_shadow));
  else EMIT(c, "mov.b64", opd_reg(sum), shared ? opd_reg(k->shared_bytes) : opd_imm(0));
  if (lookup && shared) EMIT(c, "or.b64", opd_reg(sum), opd_reg(sum), opd_reg(k->shared_bytes));
  for (unsigned n = 0; n < nfacts; n++) {
    record_load(c, one, facts[n] + 8);
    EMIT(c, "or.b64", opd_reg(sum), opd_reg(sum), opd_reg(one));
  }
  if (shadows) EMIT(c, "setp.ne.or.u64", opd_reg(any), opd_reg(sum), opd_imm(0), opd_reg(k->dirty));
  else EMIT(c, "setp.ne.u64", opd_reg(any), opd_reg(sum), opd_imm(0));
  for (unsigned n = 0; n < w->region.n; n++) {
    if (k->place[w->region.accesses[n]].kind != PLACE_LOOKUP) continue;
    access_address(c, cached, init_address(instr(w, w->region.accesses[n])));
    EMIT(c, "sub.s64", opd_reg(cached), opd_reg(cached), opd_reg(k->cache_base));
    EMIT(c, "setp.ge.or.u64", opd_reg(any), opd_reg(cached), opd_reg(k->cache_size), opd_reg(any));
  }
  return false;
}

// On the virtual device all lanes take the same branch if something is stored: if they store to the
// same address, the final shadow must belong to the final value.
static bool stores_together(const Weaver *w) {
  return w->region.writes && !w->k->body->program->plan->spare_registers;
}

// Lanes that exchange shadows take the same branch.
static void ask_lanes(const Weaver *w, Code *c, PtxReg *any) {
  if (w->region.lanes.kind != OPD_NONE)
    EMIT(c, "vote.sync.any.pred", opd_reg(any), opd_reg(any), w->region.lanes);
  else if (stores_together(w)) EMIT(c, "vote.any.pred", opd_reg(any), opd_reg(any));
}

// Branches to follow if something bad was read; else marks stored memory as good.
static void emit_clean(Weaver *w, Code *c, InitClean *z, PtxLabel *follow) {
  InitCheck *k = w->k;
  PtxReg *bad = body_temp(k->body, TYPE_PRED, 5);
  if (follow) {
    init_clean_test(z, c, bad, k->dirty);
    ask_lanes(w, c, bad);
    code_branch(c, bad, false, follow);
  }
  init_clean_mark(z, c);
}

// Clears the shadows of registers that address or guard accesses: Uses has reported bad ones.
static void clear_used(Weaver *w, const PtxInstr *in) {
  if (!init_is_decision(in)) return;
  if (in->guard) init_steps_clear(&w->steps, in->guard);
  for (unsigned o = 0; o < in->nops; o++) {
    const PtxOperand *base = in->ops[o].kind == OPD_ADDR && in->space != SPACE_PARAM
                                 ? &in->ops[o].list[0]
                                 : NULL;
    if (base && base->kind == OPD_REG) init_steps_clear(&w->steps, base->reg);
  }
}

static bool looks_up(const Weaver *w) {
  for (unsigned n = 0; n < w->region.n; n++)
    if (w->k->place[w->region.accesses[n]].kind == PLACE_LOOKUP) return true;
  return false;
}

// Releases the numbers of shadows that are dead after the region.
static void release(void *ctx, PtxReg **reg, bool is_def) {
  Weaver *w = ctx;
  (void)is_def;
  if (init_shadow(w->k, *reg) && !(w->now[(*reg)->id / 64] >> (*reg)->id % 64 & 1))
    init_shadow_release(&w->steps, *reg);
}
static void release_dead(Weaver *w) {
  if (w->region.end == w->region.first) return;
  for (uint32_t i = w->region.first; i < w->region.end; i++)
    ptx_visit_regs((PtxInstr *)instr(w, i), release, w);
}

static void add_uses(Weaver *w, const Region *r) {
  for (uint32_t i = r->first; i < r->end; i++) {
    if (init_is_decision(instr(w, i))) init_steps_uses(&w->steps, i);
    else if (w->sliced[i]) init_steps_transfer(&w->steps, i);
  }
}

static void emit_follow(Weaver *w, Code *c, PtxLabel *follow, PtxLabel *back, const Region *next) {
  const Region *r = &w->region;
  InitSteps *s = &w->steps;
  code_label(c, follow);
  init_steps_begin(s, looks_up(w));
  for (uint32_t i = r->first; i < r->end; i++) {
    init_steps_access(s, i);
    init_steps_transfer(s, i);
    clear_used(w, instr(w, i));
  }
  if (r->has_tail) {
    init_steps_uses(s, r->end);
    if (r->n && r->accesses[r->n - 1] == r->end) init_steps_access(s, r->end);
    init_steps_transfer(s, r->end);
  }
  if (next) add_uses(w, next);
  find_live(w, r->end);
  if (r->has_tail) ptx_visit_regs((PtxInstr *)instr(w, r->end), mark_defined, w);
  init_steps_keep(s, w->now);
  init_steps_call(s, c);
  EMIT(c, "bra", opd_label(back));
}

// Reports bad bits in addresses and guards, before the access.
static void emit_uses(Weaver *w) {
  Body *b = w->k->body;
  const Region *r = &w->region;
  PtxLabel *uses = body_label(b), *back = body_label(b);
  Code *hot = body_before(b, r->first), *c = body_cold(b);
  w->cuts[r->first] = true;
  code_branch(hot, w->k->dirty, false, uses);
  code_label(hot, back);
  c->near = instr(w, r->first);
  code_label(c, uses);
  init_steps_begin(&w->steps, false);
  add_uses(w, r);
  init_steps_call(&w->steps, c);
  EMIT(c, "bra", opd_label(back));
}

static void defines_predicate(void *ctx, PtxReg **reg, bool is_def) {
  *(bool *)ctx |= is_def && (*reg)->type == TYPE_PRED;
}

// Does every dirty thread that reaches this region come from the last region's Follow, and does
// that Follow know every shadow that Uses reads?
static bool comes_from_last(const Weaver *w) {
  const Region *last = &w->last, *r = &w->region;
  bool tests = false;
  if (!w->last_follow || last->end + last->has_tail != r->first ||
      w->k->body->cfg->block_of[last->first] != w->k->body->cfg->block_of[r->first])
    return false;
  if (last->has_tail) ptx_visit_regs((PtxInstr *)instr(w, last->end), defines_predicate, &tests);
  return !tests;
}

// Writes the Follow of the last region. told: it also does the work of this region's Uses.
static void finish_last(Weaver *w, bool told) {
  if (!w->last_follow) return;
  Region r = w->region;
  w->region = w->last;
  Code *c = body_cold(w->k->body);
  c->near = instr(w, w->region.first);
  emit_follow(w, c, w->last_follow, w->last_back, told ? &r : NULL);
  release_dead(w);
  w->region = r;
  w->last_follow = NULL;
}

static bool touches_shadows(const Weaver *w) { return w->before.n || w->behind.n; }

static bool reads_memory(const Weaver *w) {
  for (unsigned n = 0; n < w->region.n; n++)
    if (instr(w, w->region.accesses[n])->op != OP_ST ||
        w->k->place[w->region.accesses[n]].kind == PLACE_LOOKUP)
      return true;
  return false;
}

// Is something followed most of the time? This is so for shared memory, and for reads of the first
// of two bodies, which runs only if something may be bad.
static bool is_in_line(const Weaver *w, const InitClean *z) {
  bool shared = false;
  for (unsigned n = 0; n < z->n; n++) shared |= w->k->place[z->accesses[n]].kind == PLACE_SHARED;
  bool first_of_two = w->k->second != UINT32_MAX && w->region.first < w->k->second;
  return (shared || (first_of_two && reads_memory(w))) && init_clean_is_short(z);
}

// Shared memory that is all good is no longer followed: then this region has nothing to do.
static bool may_have_settled(const Weaver *w) {
  bool only_shared = true;
  for (unsigned n = 0; n < w->region.n; n++)
    only_shared &= w->k->place[w->region.accesses[n]].kind == PLACE_SHARED;
  return w->k->asks && w->region.first >= w->k->second && only_shared;
}

static void begin_region(Weaver *w, uint32_t first) {
  w->region = (Region){.first = first, .end = first};
  memset(w->needed, 0, sizeof *w->needed * w->live->words);
  memset(w->read, 0, sizeof *w->read * w->live->words);
}

static void close_region(Weaver *w, uint32_t end, bool has_tail) {
  InitCheck *k = w->k;
  Body *b = k->body;
  Region *r = &w->region;
  r->end = end;
  r->has_tail = has_tail;
  bool told = r->uses && comes_from_last(w);
  finish_last(w, told);
  find_registers(w);
  bool shadows = touches_shadows(w), follows = shadows || reads_memory(w);
  for (uint32_t i = r->first; i < r->end + r->has_tail && (r->n || shadows); i++) body_copied(b, i);
  if (r->uses && !told) emit_uses(w);
  if (r->n || shadows) {
    InitClean z = init_clean(k, r->accesses, r->n, follows);
    bool in_line = r->n && is_in_line(w, &z);
    PtxLabel *test = r->n && !in_line ? body_label(b) : NULL,
             *follow = follows ? body_label(b) : NULL, *back = body_label(b);
    PtxReg *any = body_temp(b, TYPE_PRED, 7);
    bool goes_on = has_tail || (r->end < b->cfg->ninstrs &&
                                b->cfg->block_of[r->end] == b->cfg->block_of[r->end - 1]);
    Code *hot = goes_on ? body_before(b, r->end) : body_after(b, r->end - 1);
    w->cuts[r->end] = true;
    hot->near = instr(w, r->end - !has_tail);
    if (!r->n) {
      bool alone = r->lanes.kind == OPD_NONE;
      if (!alone) EMIT(hot, "mov.pred", opd_reg(any), opd_reg(k->dirty));
      ask_lanes(w, hot, any);
      code_branch(hot, alone ? k->dirty : any, false, follow);
    } else if (in_line) {
      if (may_have_settled(w)) {
        EMIT(hot, "setp.eq.u32", opd_reg(any), opd_reg(k->shared_limit), opd_imm(0));
        code_branch(hot, any, false, back);
      }
      emit_clean(w, hot, &z, follow);
    } else if (emit_hot_tests(w, hot, any, follows)) EMIT(hot, "bra", opd_label(test));
    else {
      ask_lanes(w, hot, any);
      code_branch(hot, any, false, test);
    }
    code_label(hot, back);
    Code *c = body_cold(b);
    c->near = instr(w, r->first);
    if (test) {
      code_label(c, test);
      if (follow && r->lanes.kind == OPD_NONE && !stores_together(w))
        code_branch(c, k->dirty, false, follow);
      emit_clean(w, c, &z, follow);
      EMIT(c, "bra", opd_label(back));
    }
    if (follow) {
      w->last = *r;
      w->last_follow = follow;
      w->last_back = back;
    }
  }
  if (!w->last_follow) release_dead(w);
  begin_region(w, end);
}

// --- instructions that end a region ---

static bool stops(const InitCheck *k, const PtxInstr *in) {
  bool decides = false;  // a bad operand decides which lanes exchange
  for (unsigned o = 2; o < in->nops; o++)
    decides |= in->ops[o].kind == OPD_REG && init_shadow(k, in->ops[o].reg);
  if (init_is_exchange(in) && !decides) return false;
  return ptx_op_classes(in) &
         (CLASS_SYNC | CLASS_WARP | CLASS_CALL | CLASS_TENSOR | CLASS_ASYNC | CLASS_BRANCH |
          CLASS_RETURN | CLASS_MEMFENCE | CLASS_TEXTURE | CLASS_SURFACE);
}

// --- cutting the function into regions ---

static bool has(const uint64_t *set, const PtxReg *r) { return set[r->id / 64] >> r->id % 64 & 1; }
static void put(uint64_t *set, const PtxReg *r) { set[r->id / 64] |= 1ull << r->id % 64; }

// The registers whose values the code of Follow reads for this instruction.
typedef struct Values {
  PtxReg *regs[16];
  unsigned n;
} Values;
static void add_value(Values *v, const PtxOperand *o) {
  if (o->kind == OPD_REG && v->n < ARRAY_LEN(v->regs)) v->regs[v->n++] = o->reg;
}

static void has_shadowed_def(void *ctx, PtxReg **reg, bool is_def) {
  struct {
    const InitCheck *k;
    bool found;
  } *x = ctx;
  x->found |= is_def && init_shadow(x->k, *reg);
}
static bool defines_shadow(const InitCheck *k, const PtxInstr *in) {
  struct {
    const InitCheck *k;
    bool found;
  } x = {k, false};
  ptx_visit_regs((PtxInstr *)in, has_shadowed_def, &x);
  return x.found;
}

static Values values_of(const Weaver *w, uint32_t i) {
  const PtxInstr *in = instr(w, i);
  Values v = {.n = 0};
  if (in->guard) v.regs[v.n++] = in->guard;
  if (init_is_followed(w->k, i)) add_value(&v, &init_address(in)->list[0]);
  unsigned values = defines_shadow(w->k, in) ? init_rule_values(init_rule(in)) : 0;
  for (unsigned o = values; values && o < in->nops; o++) add_value(&v, &in->ops[o]);
  return v;
}

typedef struct Defined {
  const Weaver *w;
  const Values *values;
  bool own, needed;
} Defined;
static void see_overwritten(void *ctx, PtxReg **reg, bool is_def) {
  Defined *d = ctx;
  if (!is_def) return;
  d->needed |= has(d->w->needed, *reg);
  for (unsigned n = 0; n < d->values->n; n++) d->own |= d->values->regs[n] == *reg;
}

typedef struct Reads {
  Weaver *w;
  bool from_memory;
} Reads;
static void see_read(void *ctx, PtxReg **reg, bool is_def) {
  Reads *r = ctx;
  r->from_memory |= !is_def && has(r->w->read, *reg);
}
static void set_read(void *ctx, PtxReg **reg, bool is_def) {
  Reads *r = ctx;
  if (is_def && r->from_memory) put(r->w->read, *reg);
}

// The last instruction of the region before i that writes the register; UINT32_MAX: none.
typedef struct Wanted {
  const PtxReg *reg;
  bool defined;
} Wanted;
static void look_for(void *ctx, PtxReg **reg, bool is_def) {
  Wanted *x = ctx;
  x->defined |= is_def && *reg == x->reg;
}
static uint32_t written_at(const Weaver *w, const PtxReg *r, uint32_t i) {
  while (i-- > w->region.first) {
    Wanted x = {r, false};
    ptx_visit_regs((PtxInstr *)instr(w, i), look_for, &x);
    if (x.defined) return i;
  }
  return UINT32_MAX;
}

// Is the register mentioned in the region up to instruction i, except as the destination of i?
static void count_mentions(void *ctx, PtxReg **reg, bool is_def) {
  struct {
    const PtxReg *reg;
    unsigned n;
    bool ends;
  } *x = ctx;
  x->n += *reg == x->reg && !(is_def && x->ends);
}
static bool is_mentioned(const Weaver *w, const PtxReg *r, uint32_t i) {
  struct {
    const PtxReg *reg;
    unsigned n;
    bool ends;
  } x = {r, 0, false};
  for (uint32_t n = w->region.first; n <= i; n++) {
    x.ends = n == i;
    ptx_visit_regs((PtxInstr *)instr(w, n), count_mentions, &x);
  }
  return x.n > 0;
}

// Can Uses compute the shadow of this register? Marks the instructions it needs.
static bool slice(Weaver *w, const PtxReg *r, uint32_t i, unsigned depth) {
  enum { DEEPEST = 12 };
  if (!init_shadow(w->k, r)) return true;
  uint32_t d = written_at(w, r, i);
  if (d == UINT32_MAX) return true;
  const PtxInstr *in = instr(w, d);
  if (depth == DEEPEST || init_is_decision(in) || values_of(w, d).n || in->guard ||
      is_mentioned(w, r, d))
    return false;
  for (unsigned o = 1; o < in->nops; o++) {
    if (in->ops[o].kind == OPD_REG && !slice(w, in->ops[o].reg, d, depth + 1)) return false;
    if (in->ops[o].kind != OPD_REG && in->ops[o].kind != OPD_INT && in->ops[o].kind != OPD_VAR)
      return false;
  }
  w->sliced[d] = true;
  return true;
}

// The address and guard of an access, and their shadows, must be known at the start of the region.
static bool may_use(Weaver *w, uint32_t i, bool *uses) {
  const PtxInstr *in = instr(w, i);
  for (unsigned o = 0; o <= in->nops; o++) {
    const PtxOperand *base = o < in->nops && in->ops[o].kind == OPD_ADDR && in->space != SPACE_PARAM
                                 ? &in->ops[o].list[0]
                                 : NULL;
    const PtxReg *r = o == in->nops ? in->guard : base && base->kind == OPD_REG ? base->reg : NULL;
    if (!r) continue;
    if (has(w->read, r) || !slice(w, r, i, 0)) return false;
    *uses |= init_shadow(w->k, r) != NULL;
    // Uses reads the guard
    if (r != in->guard && init_shadow(w->k, r) && in->guard &&
        written_at(w, in->guard, i) != UINT32_MAX)
      return false;
  }
  return true;
}

// Instructions that may signal a write to other threads: the write's shadow must be stored before.
static bool tells_others(const PtxInstr *in) {
  return in->op == OP_ATOM || in->op == OP_RED ||
         (in->op == OP_ST &&
          (ptx_has(in, MOD_RELEASE) || ptx_has(in, MOD_VOLATILE) || ptx_has(in, MOD_RELAXED)));
}

// Lanes of a warp may exchange data by volatile accesses alone: a write's shadow must be marked
// before the data is read.
static bool hears_others(const PtxInstr *in) {
  return in->op == OP_LD &&
         (ptx_has(in, MOD_VOLATILE) || ptx_has(in, MOD_RELAXED) || ptx_has(in, MOD_ACQUIRE));
}

// The carry between two instructions is in no register that survives a branch.
static bool takes_carry(const PtxInstr *in) {
  return in->op == OP_ADDC || in->op == OP_SUBC || in->op == OP_MADC;
}

static void add_instr(Weaver *w, uint32_t i) {
  Values values = values_of(w, i);
  bool followed = init_is_followed(w->k, i);
  Reads r = {.w = w, .from_memory = followed && instr(w, i)->op != OP_ST};
  for (unsigned n = 0; n < values.n; n++) put(w->needed, values.regs[n]);
  if (!r.from_memory) ptx_visit_regs((PtxInstr *)instr(w, i), see_read, &r);
  ptx_visit_regs((PtxInstr *)instr(w, i), set_read, &r);
  if (followed) w->region.accesses[w->region.n++] = i;
  w->region.writes |= followed && instr(w, i)->op != OP_LD && instr(w, i)->op != OP_LDU;
  init_exchanges(w->k, instr(w, i), &w->region.lanes);
}

// A shuffle may signal a write to other lanes; and the lanes that exchange shadows must be the
// lanes that exchange values.
static bool exchanges_here(const Weaver *w, const PtxInstr *in) {
  PtxOperand lanes, *known = (PtxOperand *)&w->region.lanes;
  if (w->region.writes && ptx_op_classes(in) & CLASS_WARP) return false;
  if (!init_exchanges(w->k, in, &lanes) || known->kind == OPD_NONE) return true;
  return lanes.kind == known->kind &&
         (lanes.kind == OPD_REG ? lanes.reg == known->reg : lanes.imm == known->imm);
}

static bool ends_before(Weaver *w, uint32_t i, const Defined *d, bool *uses) {
  const PtxInstr *in = instr(w, i);
  if (takes_carry(in)) return false;
  if (!exchanges_here(w, in)) return true;
  if (d->needed || w->region.n == MOST_ACCESSES || i - w->region.first > MOST_INSTRS) return true;
  if (w->region.writes && (hears_others(in) || tells_others(in))) return true;
  return init_is_decision(in) && !may_use(w, i, uses);
}

static void cut_block(Weaver *w, const IrBlock *block) {
  begin_region(w, block->first);
  for (uint32_t i = block->first; i < block->end; i++) {
    const PtxInstr *in = instr(w, i);
    Values values = values_of(w, i);
    Defined d = {.w = w, .values = &values};
    ptx_visit_regs((PtxInstr *)in, see_overwritten, &d);
    if (stops(w->k, in) || d.own) {
      bool joins = d.own && !stops(w->k, in) && init_is_followed(w->k, i);
      PtxOperand lanes;
      bool exchanges = !stops(w->k, in) && init_exchanges(w->k, in, &lanes);
      if (((joins && w->region.n == MOST_ACCESSES) || (exchanges && !exchanges_here(w, in))) &&
          i > w->region.first)
        close_region(w, i, false);
      if (exchanges) w->region.lanes = lanes;
      if (joins) w->region.accesses[w->region.n++] = i;
      close_region(w, i, true);
      if (init_is_followed(w->k, i) && !joins) init_access(w->k, i);
      init_settle(w->k, i, w->cuts);
      begin_region(w, i + 1);
      continue;
    }
    bool uses = false;
    if (ends_before(w, i, &d, &uses)) {
      if (i > w->region.first) close_region(w, i, false);
      uses = false;
      if (init_is_decision(in)) may_use(w, i, &uses);
    }
    w->region.uses |= uses;
    add_instr(w, i);
  }
  if (block->end > w->region.first) close_region(w, block->end, false);
  finish_last(w, false);
}

bool init_can_use_regions(const InitCheck *k) {
  const Body *b = k->body;
  const WeavePlan *plan = b->program->plan;
  if (plan->tool_options[TOOL_INITCHECK] & INIT_ONE_BY_ONE ||
      plan->tools & ~(TOOL_BIT(INITCHECK) | TOOL_BIT(MEMCHECK)) || init_says_anything(b->func))
    return false;
  for (uint32_t i = 0; i < b->cfg->ninstrs; i++) {
    const PtxInstr *before = i ? b->cfg->instrs[i - 1] : NULL;
    if (!init_can_follow(k, b->cfg->instrs[i]) && defines_shadow(k, b->cfg->instrs[i]))
      return false;
    // no code may stand between the stores of arguments and the call
    if (b->cfg->instrs[i]->op == OP_CALL) return false;
    if (!takes_carry(b->cfg->instrs[i])) continue;
    if (!before || stops(k, before) || access_is_memory(before) ||
        b->cfg->block_of[i] != b->cfg->block_of[i - 1])
      return false;
  }
  return true;
}

static bool is_dead_between_blocks(const Weaver *w, uint32_t r) {
  for (uint32_t i = 0; i < w->k->body->cfg->nblocks; i++)
    if (w->live->live_in[i][r / 64] >> r % 64 & 1 || w->live->live_out[i][r / 64] >> r % 64 & 1)
      return false;
  return true;
}

void init_emit_regions(InitCheck *k, bool *cuts) {
  Body *b = k->body;
  Arena *a = &b->cfg->arena;
  uint32_t nregs = b->func->nregs + 1;
  Weaver w = {.k = k, .live = ir_liveness_build(b->cfg), .steps = init_steps(k), .cuts = cuts};
  w.now = ARENA_ARRAY(a, uint64_t, w.live->words + 1);
  w.needed = ARENA_ARRAY(a, uint64_t, w.live->words + 1);
  w.read = ARENA_ARRAY(a, uint64_t, w.live->words + 1);
  w.sliced = ARENA_ARRAY(a, bool, b->cfg->ninstrs + 1);
  w.before = (Regs){.list = ARENA_ARRAY(a, PtxReg *, nregs),
                    .seen = ARENA_ARRAY(a, uint8_t, nregs)};
  w.behind = (Regs){.list = ARENA_ARRAY(a, PtxReg *, nregs),
                    .seen = ARENA_ARRAY(a, uint8_t, nregs)};
  for (uint32_t r = 0; r < b->func->nregs; r++) w.steps.is_local[r] = is_dead_between_blocks(&w, r);
  for (uint32_t i = 0; i < b->cfg->nblocks; i++)
    if (b->cfg->blocks[i].rpo != IR_NONE) cut_block(&w, &b->cfg->blocks[i]);
  init_steps_finish(&w.steps);
  ir_liveness_free(w.live);
}
