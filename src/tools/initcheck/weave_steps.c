// Writes steps that compute the shadows of registers and memory; wg_init_follow executes them. The
// rules are those of tools/initcheck/rules.def, and of weave_memory.c and weave_use.c, which give
// the reasons.
#include "tools/initcheck/internal.h"

// The build fails if the switch below lacks a rule.
#pragma GCC diagnostic error "-Wswitch"

enum { LOCAL = 0x8000 };  // while lists are written: the first of the numbers that are reused

typedef enum { VALUE_REGISTER, VALUE_CONSTANT, VALUE_ADDRESS, VALUE_PLACE } ValueKind;
struct InitValue {
  ValueKind kind;
  PtxReg *reg;
  int64_t constant;
  bool negated;
  uint32_t instr;
  InitPlace place;
  bool generic;
  uint16_t number;
};

static const PtxInstr *instr(const InitSteps *s, uint32_t i) { return s->k->body->cfg->instrs[i]; }
static uint8_t bits_of(const PtxReg *r) {
  return (uint8_t)(r->type == TYPE_PRED ? 32 : ptx_type_size(r->type) * 8);
}

InitSteps init_steps(InitCheck *k) {
  Arena *a = &k->body->cfg->arena;
  uint32_t n = k->body->func->nregs + 1;
  return (InitSteps){.k = k,
                     .number = ARENA_ARRAY(a, uint16_t, n),
                     .is_local = ARENA_ARRAY(a, bool, n),
                     .nshadows = WG_SHADOW_FIRST};
}

uint16_t init_shadow_number(InitSteps *s, const PtxReg *r) {
  if (!init_shadow(s->k, r)) return WG_NO_NUMBER;
  if (s->number[r->id]) return s->number[r->id];
  if (!s->is_local[r->id]) return s->number[r->id] = (uint16_t)s->nshadows++;
  s->number[r->id] = s->unused.len ? s->unused.data[--s->unused.len]
                                   : (uint16_t)(LOCAL + s->nlocal++);
  return s->number[r->id];
}

void init_shadow_release(InitSteps *s, const PtxReg *r) {
  if (s->number[r->id] < LOCAL) return;
  vec_push(&s->unused, s->number[r->id]);
  s->number[r->id] = 0;
}

static uint16_t number_of(InitSteps *s, const PtxOperand *o) {
  return o->kind == OPD_REG && !o->selector ? init_shadow_number(s, o->reg) : WG_NO_NUMBER;
}

// --- values ---

static uint16_t add_value(InitSteps *s, InitValue v) {
  for (uint32_t i = 0; i < s->values.len; i++) {
    const InitValue *o = s->values.data[i];
    if (o->kind == v.kind && o->reg == v.reg && o->constant == v.constant &&
        o->negated == v.negated && o->instr == v.instr && o->place.kind == v.place.kind &&
        o->place.fact_at == v.place.fact_at && o->place.var == v.place.var &&
        o->generic == v.generic)
      return o->number;
  }
  InitValue *kept = ARENA_NEW(&s->k->body->program->scratch, InitValue);
  *kept = v;
  kept->number = (uint16_t)s->nvalues;
  s->nvalues += v.kind == VALUE_PLACE ? 3 : 1;
  vec_push(&s->values, kept);
  return kept->number;
}

static uint16_t value_of(InitSteps *s, const PtxOperand *o) {
  if (o->kind == OPD_INT)
    return add_value(s, (InitValue){.kind = VALUE_CONSTANT, .constant = o->imm});
  return add_value(s, (InitValue){.kind = VALUE_REGISTER, .reg = o->reg, .negated = o->negated});
}

// --- steps ---

static WgStep *add_step(InitSteps *s, const PtxInstr *in, WgStepKind what, const PtxReg *to) {
  WgStep step = {.what = (uint8_t)what,
                 .bits = to ? bits_of(to) : 64,
                 .to = to ? init_shadow_number(s, to) : WG_NO_NUMBER,
                 .a = WG_NO_NUMBER,
                 .b = WG_NO_NUMBER};
  if (in && in->guard) {
    step.guard = (uint16_t)(add_value(s, (InitValue){.kind = VALUE_REGISTER, .reg = in->guard}) +
                            1);
    step.flags = in->guard_negated ? WG_STEP_NOT : 0;
  }
  vec_push(&s->steps, step);
  return &s->steps.data[s->steps.len - 1];
}

void init_steps_begin(InitSteps *s, bool looks_up) {
  s->first = s->steps.len;
  s->values.len = 0;
  s->nvalues = looks_up ? 3 : 0;
  s->looks_up = looks_up;
  s->knows_alive = false;
  if (looks_up && s->k->shared_at)
    add_value(s, (InitValue){.kind = VALUE_PLACE, .place = {PLACE_SHARED, 0, NULL, false}});
}

void init_steps_clear(InitSteps *s, const PtxReg *r) {
  if (init_shadow(s->k, r)) add_step(s, NULL, WG_STEP_CLEAR, r);
}

// --- uses ---

static void use(InitSteps *s, uint32_t i, const PtxReg *r, unsigned what) {
  uint16_t number = init_shadow_number(s, r);
  if (number == WG_NO_NUMBER) return;
  Body *b = s->k->body;
  WgStep *step = add_step(s, what == WG_INIT_BRANCH ? NULL : instr(s, i), WG_STEP_USE, NULL);
  step->a = number;
  step->imm = what;
  step->site = program_site(b->program, b, instr(s, i));
}

typedef struct Uses {
  InitSteps *steps;
  uint32_t instr;
} Uses;
static void add_use(void *user, PtxReg *r, unsigned what) {
  const Uses *u = user;
  use(u->steps, u->instr, r, what);
}

void init_steps_uses(InitSteps *s, uint32_t i) {
  init_each_use(instr(s, i), add_use, &(Uses){s, i});
}

// --- memory ---

// The step of an access, with its address and place.
static WgStep *access_step(InitSteps *s, uint32_t i, WgStepKind what, const PtxReg *to) {
  InitCheck *k = s->k;
  const PtxInstr *in = instr(s, i);
  InitPlace place = k->place[i];
  uint16_t address = add_value(s,
                               (InitValue){.kind = VALUE_ADDRESS, .instr = i + 1, .place = place}),
           at = WG_PLACE_LOOKUP;
  if (place.kind == PLACE_LOOKUP)
    at = in->space == SPACE_GENERIC && k->shared_at ? WG_PLACE_LOOKUP_SHARED : WG_PLACE_LOOKUP;
  else
    at = add_value(s,
                   (InitValue){.kind = VALUE_PLACE,
                               .place = place,
                               .generic = place.kind == PLACE_LOCAL && in->space == SPACE_GENERIC});
  WgStep *step = add_step(s, in, what, to);
  step->v = address;
  step->w = at;
  step->from = (uint8_t)access_bytes(in);
  return step;
}

static unsigned signed_flag(const PtxInstr *in) {
  return ptx_type_kind(in->types[0]) == KIND_SIGNED ? WG_STEP_SIGNED : 0;
}

// first: the destination of the first element read
static void read(InitSteps *s, uint32_t i, const PtxReg *first) {
  InitCheck *k = s->k;
  const PtxInstr *in = instr(s, i);
  WgStep *step = access_step(s, i, WG_STEP_READ, first);
  step->site = program_site(k->body->program, k->body, in);
  if (k->place[i].kind == PLACE_PARAM || k->place[i].kind == PLACE_LOOKUP)
    step->flags |= WG_STEP_ORIGIN;
  if (first) {
    step->imm = ptx_type_size(in->types[0]);
    step->flags |= (uint16_t)signed_flag(in);
  }
}

// from: the first element to write
static void destinations(InitSteps *s, const PtxInstr *in, unsigned from) {
  PtxReg *regs[8];
  unsigned n = 0, bytes = ptx_type_size(in->types[0]);
  init_elements(&in->ops[0], regs, &n);
  for (unsigned e = from; e < n; e++) {
    if (!regs[e] || !init_shadow(s->k, regs[e])) continue;
    WgStep *step = add_step(s, in, WG_STEP_DESTINATION, regs[e]);
    step->from = (uint8_t)bytes;
    step->imm = e * bytes;
    step->flags |= (uint16_t)signed_flag(in);
  }
}

// The register that gets the first element read; NULL: it has no shadow.
static const PtxReg *first_destination(const InitSteps *s, const PtxInstr *in) {
  PtxReg *regs[8];
  unsigned n = 0;
  init_elements(&in->ops[0], regs, &n);
  return n && regs[0] && init_shadow(s->k, regs[0]) ? regs[0] : NULL;
}

// Registers that are stored, with their offset in the access. moved: WgStep.moved
typedef struct Sources {
  struct {
    uint16_t number;
    uint8_t bytes, at;
  } list[16];
  unsigned n;
  uint8_t moved;
} Sources;
static void find_sources(InitSteps *s, const PtxInstr *in, const PtxOperand *o, Sources *found) {
  PtxReg *regs[8];
  unsigned n = 0, bytes = ptx_type_size(in->types[0]);
  init_elements(o, regs, &n);
  for (unsigned e = 0; e < n; e++) {
    if (!regs[e] || !init_shadow(s->k, regs[e]) || e * bytes >= access_bytes(in)) continue;
    CHECK(found->n < ARRAY_LEN(found->list));
    found->list[found->n].number = init_shadow_number(s, regs[e]);
    found->list[found->n].bytes = (uint8_t)bytes;
    found->list[found->n++].at = (uint8_t)(e * bytes);
    if (init_is_copy(s->k, regs[e], 0))
      found->moved |= (uint8_t)(((1u << 8 / n) - 1) << e * (8 / n));
  }
}

static void add_sources(InitSteps *s, const Sources *sources, bool first) {
  for (unsigned n = 0; n < sources->n; n++) {
    WgStep *step = add_step(s, NULL, WG_STEP_SOURCE, NULL);
    step->a = sources->list[n].number;
    step->from = sources->list[n].bytes;
    step->imm = sources->list[n].at;
    if (first && !n) step->flags |= WG_STEP_FIRST;
  }
}

static void clear_destination(void *ctx, PtxReg **reg, bool is_def) {
  struct {
    InitSteps *s;
    const PtxInstr *in;
  } *x = ctx;
  if (is_def && init_shadow(x->s->k, *reg)) add_step(x->s, x->in, WG_STEP_CLEAR, *reg);
}

static void store(InitSteps *s, uint32_t i) {
  const PtxInstr *in = instr(s, i);
  InitPlaceKind place = s->k->place[i].kind;
  Sources sources = {0};
  find_sources(s, in, init_stored(in), &sources);
  if (sources.n > 1) add_sources(s, &sources, true);
  bool reports = sources.n && (place == PLACE_PARAM || place == PLACE_LOOKUP);
  WgStep *step = access_step(s, i, WG_STEP_STORE, NULL);
  if (sources.n == 1) {
    step->a = sources.list[0].number;
    step->imm = sources.list[0].at | sources.list[0].bytes << 8;
  }
  step->moved = sources.moved;
  step->flags |= (uint16_t)((sources.n < 2 ? WG_STEP_FIRST : 0) |
                            (init_sets_bits(s->k, in) ? WG_STEP_WHOLE : 0) |
                            (reports ? WG_STEP_REPORTS : 0) |
                            (place == PLACE_LOCAL ? WG_STEP_PRIVATE : 0));
  if (reports) step->site = program_site(s->k->body->program, s->k->body, in);
}

static void update(InitSteps *s, uint32_t i) {
  const PtxInstr *in = instr(s, i);
  Sources sources = {0};
  read(s, i, NULL);
  WgStep *start = add_step(s, NULL, WG_STEP_START_WRITE, NULL);
  if (!ptx_has(in, MOD_EXCH)) start->flags |= WG_STEP_FIRST;
  for (unsigned o = in->op == OP_ATOM ? 2 : 1; o < in->nops; o++)
    find_sources(s, in, &in->ops[o], &sources);
  add_sources(s, &sources, false);
  if (in->op == OP_ATOM) destinations(s, in, 0);
  InitPlaceKind place = s->k->place[i].kind;
  bool reports = place == PLACE_PARAM || place == PLACE_LOOKUP;
  WgStep *write = add_step(s, NULL, WG_STEP_WRITE, NULL);
  write->flags = (uint16_t)(WG_STEP_ATOMIC | (reports ? WG_STEP_REPORTS : 0) |
                            (place == PLACE_LOCAL ? WG_STEP_PRIVATE : 0));
  if (reports) write->site = program_site(s->k->body->program, s->k->body, in);
}

void init_steps_access(InitSteps *s, uint32_t i) {
  PtxInstr *in = (PtxInstr *)instr(s, i);
  bool loads = in->op == OP_LD || in->op == OP_LDU, updates = in->op == OP_ATOM || in->op == OP_RED;
  struct {
    InitSteps *s;
    const PtxInstr *in;
  } x = {s, in};
  if (!init_is_followed(s->k, i)) {
    if (loads || updates) ptx_visit_regs(in, clear_destination, &x);
  } else if (loads) {
    const PtxReg *first = first_destination(s, in);
    read(s, i, first);
    destinations(s, in, first != NULL);
  } else if (updates) update(s, i);
  else if (in->op == OP_ST) store(s, i);
}

// --- registers ---

typedef struct Results {
  InitSteps *s;
  const PtxInstr *in;
  const InitResult *r;  // of in
} Results;

// The step of the first result takes two of the operands' shadows itself; OR steps add up the
// others.
static void spread(const Results *x, WgStepKind how) {
  const InitResult *r = x->r;
  unsigned own = MIN(r->nuses, 2u), before = r->nuses - own;
  for (unsigned n = 0; n < before && r->ndefs; n++) {
    WgStep *step = add_step(x->s, x->in, WG_STEP_OR, NULL);
    step->a = init_shadow_number(x->s, r->uses[n]);
    if (!n) step->flags |= WG_STEP_FIRST;
  }
  for (unsigned n = 0; n < r->ndefs; n++) {
    WgStep *step = add_step(x->s, x->in, how, r->defs[n]);
    if (n) continue;
    step->a = init_shadow_number(x->s, r->uses[before]);
    if (own == 2) step->b = init_shadow_number(x->s, r->uses[before + 1]);
    if (!before) step->flags |= WG_STEP_FIRST;
  }
}

static void clear_results(const Results *x) {
  for (unsigned n = 0; n < x->r->ndefs; n++) add_step(x->s, x->in, WG_STEP_CLEAR, x->r->defs[n]);
}

static void pack(const Results *r) {
  const PtxOperand *to = &r->in->ops[0], *from = &r->in->ops[1];
  unsigned bits = bits_of(to->reg) / from->nlist;
  bool first = true;
  for (unsigned e = 0; e < from->nlist; e++) {
    if (number_of(r->s, &from->list[e]) == WG_NO_NUMBER) continue;
    WgStep *step = add_step(r->s, r->in, WG_STEP_OR, NULL);
    step->a = number_of(r->s, &from->list[e]);
    step->imm = bits * e;
    if (first) step->flags |= WG_STEP_FIRST;
    first = false;
  }
  add_step(r->s, r->in, first ? WG_STEP_CLEAR : WG_STEP_SET, to->reg);
}

static void take_apart(const Results *r) {
  const PtxOperand *to = &r->in->ops[0], *from = &r->in->ops[1];
  unsigned bits = bits_of(from->reg) / to->nlist;
  for (unsigned e = 0; e < to->nlist; e++) {
    if (number_of(r->s, &to->list[e]) == WG_NO_NUMBER) continue;
    WgStep *step = add_step(r->s, r->in, WG_STEP_PART, to->list[e].reg);
    step->a = number_of(r->s, from);
    step->bits = (uint8_t)MIN(bits, 32u);
    step->imm = bits * e;
  }
}

static void parts(const Results *r) {
  spread(r, WG_STEP_HALVES);
  r->s->steps.data[r->s->steps.len - 1].imm = init_part_bits(r->in);
}

// For two operands, registers or constants; swapped: the second comes first.
static WgStep *logic(const Results *r, WgStepKind what, bool swapped) {
  const PtxInstr *in = r->in;
  const PtxOperand *first = &in->ops[swapped ? 2 : 1], *second = &in->ops[swapped ? 1 : 2];
  uint16_t values[3] = {0};
  for (unsigned o = 1; o <= 2; o++)
    values[o] = in->ops[o].kind == OPD_REG ? value_of(r->s, &in->ops[o]) : 0;
  WgStep *step = add_step(r->s, in, what, in->ops[0].reg);
  step->a = number_of(r->s, first);
  step->b = number_of(r->s, second);
  step->v = values[swapped ? 2 : 1];
  step->w = values[swapped ? 1 : 2];
  if (first->kind != OPD_REG) {
    step->flags |= WG_STEP_IMM_V;
    step->imm = (uint64_t)first->imm;
  }
  if (second->kind != OPD_REG) {
    step->flags |= WG_STEP_IMM_W;
    step->imm = (uint64_t)second->imm;
  }
  return step;
}

static void compare(const Results *r) {
  InitComparison how = init_comparison(r->in);
  WgStep *step = logic(r, WG_STEP_COMPARE, how.swapped);
  step->from = (uint8_t)(ptx_type_size(r->in->types[0]) * 8);
  step->flags |= (uint16_t)((how.order ? WG_STEP_ORDER : 0) | (how.is_signed ? WG_STEP_SIGNED : 0));
}

static void by_table(const Results *r) {
  const PtxInstr *in = r->in;
  uint16_t v = value_of(r->s, &in->ops[1]), w = value_of(r->s, &in->ops[2]);
  uint64_t third = value_of(r->s, &in->ops[3]);
  WgStep *step = add_step(r->s, in, WG_STEP_TABLE, in->ops[0].reg);
  step->a = number_of(r->s, &in->ops[1]);
  step->b = number_of(r->s, &in->ops[2]);
  step->v = v;
  step->w = w;
  step->imm = number_of(r->s, &in->ops[3]) | third << 16;
  step->from = init_table(in);
}

static void shift(const Results *r) {
  const PtxInstr *in = r->in;
  uint16_t v = in->ops[2].kind == OPD_REG ? value_of(r->s, &in->ops[2]) : 0;
  WgStep *step = add_step(r->s, in, WG_STEP_SHIFT, in->ops[0].reg);
  step->a = number_of(r->s, &in->ops[1]);
  step->v = v;
  if (in->ops[2].kind != OPD_REG) {
    step->flags |= WG_STEP_IMM_V;
    step->imm = (uint32_t)in->ops[2].imm;
  }
  if (in->op == OP_SHR)
    step->flags |= WG_STEP_RIGHT |
                   (ptx_type_kind(in->types[0]) == KIND_SIGNED ? WG_STEP_SIGNED : 0);
}

static void convert(const Results *r) {
  const PtxInstr *in = r->in;
  WgStep *step = add_step(r->s, in, WG_STEP_CONVERT, in->ops[0].reg);
  step->a = number_of(r->s, &in->ops[1]);
  InitConversion how = init_conversion(in);
  step->from = (uint8_t)how.from;
  step->imm = how.to;
  if (how.is_signed) step->flags |= WG_STEP_SIGNED;
}

static void select_one(const Results *r) {
  const PtxInstr *in = r->in;
  uint16_t v = value_of(r->s, &in->ops[3]);
  WgStep *step = add_step(r->s, in, WG_STEP_SELECT, in->ops[0].reg);
  step->a = number_of(r->s, &in->ops[1]);
  step->b = number_of(r->s, &in->ops[2]);
  step->v = v;
  step->imm = number_of(r->s, &in->ops[3]);
}

// Moves the bits of shadows, of the first `data` operands, as the instruction moves those of
// values.
static void move_bits(const Results *r, unsigned data) {
  const PtxInstr *in = r->in;
  uint16_t how[2] = {0, 0};
  for (unsigned o = 1 + data; o < in->nops; o++) how[o - 1 - data] = value_of(r->s, &in->ops[o]);
  WgStep *step = add_step(r->s, in, WG_STEP_BITS, in->ops[0].reg);
  step->a = number_of(r->s, &in->ops[1]);
  if (data == 2) step->b = number_of(r->s, &in->ops[2]);
  step->v = how[0];
  step->w = how[1];
  if (in->ntypes && ptx_type_kind(in->types[0]) == KIND_SIGNED) step->flags |= WG_STEP_SIGNED;
  if (!ptx_has(in, MOD_WRAP)) step->flags |= WG_STEP_FIRST;
  step->imm = in->op == OP_BREV    ? WG_BITS_REVERSE
              : in->op == OP_BFE   ? WG_BITS_EXTRACT
              : in->op == OP_BFI   ? WG_BITS_INSERT
              : in->op == OP_PRMT  ? WG_BITS_PERMUTE
              : ptx_has(in, MOD_L) ? WG_BITS_FUNNEL_LEFT
                                   : WG_BITS_FUNNEL_RIGHT;
}

// --- lanes ---

static void exchange(const Results *r) {
  static const struct {
    PtxMod mod;
    unsigned how;
  } modes[] = {{MOD_UP, WG_SHUFFLE_UP},
               {MOD_DOWN, WG_SHUFFLE_DOWN},
               {MOD_BFLY, WG_SHUFFLE_BUTTERFLY},
               {MOD_IDX, WG_SHUFFLE_INDEX}};
  const PtxInstr *in = r->in;
  const PtxOperand *to = in->ops[0].kind == OPD_PAIR ? &in->ops[0].list[0] : &in->ops[0];
  bool shuffles = r->r->rule == RULE_SHUFFLE, transposes = r->r->rule == RULE_TRANSPOSE;
  PtxOperand taking_part;
  init_exchanges(r->s->k, in, &taking_part);
  for (unsigned n = 0; n < r->r->ndefs; n++)
    // "in range": known from the lane alone
    if (to->kind != OPD_REG || r->r->defs[n] != to->reg)
      add_step(r->s, NULL, WG_STEP_CLEAR, r->r->defs[n]);
  if (to->kind != OPD_REG || !init_shadow(r->s->k, to->reg)) return;
  uint16_t v = shuffles ? value_of(r->s, &in->ops[2]) : 0,
           w = shuffles ? value_of(r->s, &in->ops[3]) : 0, lanes = value_of(r->s, &taking_part);
  WgStepKind what = shuffles                  ? WG_STEP_SHUFFLE
                    : transposes              ? WG_STEP_TRANSPOSE
                    : ptx_has(in, MOD_BALLOT) ? WG_STEP_BALLOT
                                              : WG_STEP_ANY_LANE;
  WgStep *step = add_step(r->s, NULL, what, to->reg);
  step->a = number_of(r->s, &in->ops[1]);
  step->v = v;
  step->w = w;
  step->b = lanes;
  for (unsigned n = 0; shuffles && n < ARRAY_LEN(modes); n++)
    if (ptx_has(in, modes[n].mod)) step->imm = modes[n].how;
}

// --- two values in one register ---

static uint16_t spare_number(InitSteps *s) {
  return s->unused.len ? s->unused.data[--s->unused.len] : (uint16_t)(LOCAL + s->nlocal++);
}

// cvt.f16x2.f32 d, a, b: each half by itself, then both together; the result may be one of the
// operands.
static void make_halves(const Results *r) {
  InitSteps *s = r->s;
  uint16_t half[2];
  for (unsigned n = 0; n < 2; n++) {
    half[n] = spare_number(s);
    uint16_t from = number_of(s, &r->in->ops[1 + n]);
    WgStep *step = add_step(s, r->in, WG_STEP_SPREAD, NULL);
    step->to = half[n];
    step->bits = 16;
    step->a = from;
    step->flags |= WG_STEP_FIRST;
  }
  WgStep *upper = add_step(s, r->in, WG_STEP_OR, NULL);
  upper->a = half[0];
  upper->imm = 16;
  upper->flags |= WG_STEP_FIRST;
  add_step(s, r->in, WG_STEP_SET, r->in->ops[0].reg)->a = half[1];
  vec_push(&s->unused, half[0]);
  vec_push(&s->unused, half[1]);
}

static void follow_rule(const Results *r) {
  switch (r->r->rule) {
    case RULE_CLEAR: clear_results(r); return;
    case RULE_SPREAD: spread(r, WG_STEP_SPREAD); return;
    case RULE_UPWARDS: spread(r, WG_STEP_UPWARDS); return;
    case RULE_JOIN:
    case RULE_COPY: spread(r, WG_STEP_SET); return;
    case RULE_PACK: pack(r); return;
    case RULE_TAKE_APART: take_apart(r); return;
    case RULE_PARTS: parts(r); return;
    case RULE_TWO_HALVES: make_halves(r); return;
    case RULE_AND: logic(r, WG_STEP_AND, false); return;
    case RULE_OR: logic(r, WG_STEP_OR_BITS, false); return;
    case RULE_TABLE: by_table(r); return;
    case RULE_COMPARE: compare(r); return;
    case RULE_SHIFT: shift(r); return;
    case RULE_CONVERT: convert(r); return;
    case RULE_SELECT: select_one(r); return;
    case RULE_MOVE_BITS: move_bits(r, 1); return;
    case RULE_MOVE_TWO: move_bits(r, 2); return;
    case RULE_SHUFFLE:
    case RULE_VOTE:
    case RULE_REDUCE:
    case RULE_TRANSPOSE: exchange(r); return;
  }
}

void init_steps_transfer(InitSteps *s, uint32_t i) {
  const PtxInstr *in = instr(s, i);
  InitResult r;
  if (!init_result(s->k, in, &r)) return;
  follow_rule(&(Results){s, in, &r});
  for (unsigned n = 0; r.spoiled_by && n < r.ndefs; n++)
    add_step(s, NULL, WG_STEP_SPOIL, r.defs[n])->a = init_shadow_number(s, r.spoiled_by);
}

// --- shadows that are live after a list ---

enum { MOST_ALIVE = 1 << 19 };  // of all lists; after any further list a dirty thread stays dirty

void init_steps_keep(InitSteps *s, const uint64_t *live) {
  const PtxFunc *f = s->k->body->func;
  uint32_t first = s->alive.len;
  if (first > MOST_ALIVE) return;
  for (uint32_t r = 0; r < f->nregs; r++)
    if (s->k->shadow[r] && live[r / 64] >> r % 64 & 1)
      vec_push(&s->alive, init_shadow_number(s, f->regs[r]));
  vec_push(&s->alive, WG_NO_NUMBER);
  uint32_t n = s->alive.len - first;
  // the same numbers as after the list before
  if (first - s->last_alive == n &&
      !memcmp(s->alive.data + s->last_alive, s->alive.data + first, n * sizeof *s->alive.data))
    s->alive.len = first;
  else s->last_alive = first;
  s->knows_alive = true;
}

static void end_list(InitSteps *s) {
  if (s->knows_alive) {
    vec_push(&s->ends, s->steps.len);
    vec_push(&s->alive_at, s->last_alive);
  }
  add_step(s, NULL, WG_STEP_END, NULL);
}

// --- the call ---

static PtxVar *shadows_of(InitSteps *s) {
  if (!s->shadows) {
    s->shadows = body_area(s->k->body, "shadows");
    body_declare(s->k->body, s->shadows);
  }
  return s->shadows;
}

static PtxOperand place_of(InitSteps *s, Code *c, unsigned number) {
  return opd_at(c, opd_var(s->area), number * 8);
}

static void put_register(InitSteps *s, Code *c, const InitValue *v) {
  PtxReg *word = body_temp(s->k->body, TYPE_B32, 0);
  if (v->reg->type == TYPE_PRED) {
    EMIT(c, "selp.b32", opd_reg(word), opd_imm(v->negated ? 0 : -1), opd_imm(v->negated ? -1 : 0),
         opd_reg(v->reg));
    EMIT(c, "st.local.b32", place_of(s, c, v->number), opd_reg(word));
  } else code_store_local(c, place_of(s, c, v->number), v->reg);
}

static void put_constant(InitSteps *s, Code *c, const InitValue *v) {
  PtxReg *value = body_temp(s->k->body, TYPE_B64, 0);
  EMIT(c, "mov.u64", opd_reg(value), opd_imm(v->constant));
  EMIT(c, "st.local.b64", place_of(s, c, v->number), opd_reg(value));
}

static void put_address(InitSteps *s, Code *c, const InitValue *v) {
  const PtxInstr *in = instr(s, v->instr - 1);
  PtxReg *at = body_temp(s->k->body, TYPE_B64, 0);
  access_address(c, at, init_address(in));
  if (v->place.kind == PLACE_SHARED && in->space == SPACE_GENERIC)
    EMIT(c, "cvta.to.shared.u64", opd_reg(at), opd_reg(at));
  EMIT(c, "st.local.b64", place_of(s, c, v->number), opd_reg(at));
}

static void put_place(InitSteps *s, Code *c, const InitValue *v) {
  InitCheck *k = s->k;
  PtxReg *base = body_temp(k->body, TYPE_B64, 0), *size = body_temp(k->body, TYPE_B64, 1),
         *shadow = body_temp(k->body, TYPE_B64, 2);
  switch (v->place.kind) {
    case PLACE_PARAM:
      record_load(c, base, v->place.fact_at);
      record_load(c, size, v->place.fact_at + 8);
      record_load(c, shadow, v->place.fact_at + 16);
      break;
    case PLACE_SHARED:
      EMIT(c, "mov.u64", opd_reg(base), opd_imm(0));
      EMIT(c, "mov.u64", opd_reg(size), opd_reg(k->shared_bytes));
      EMIT(c, "mov.u64", opd_reg(shadow), opd_reg(k->shared_at));
      break;
    default:
      init_local_address(c, base, v->place.var, v->generic);
      EMIT(c, "mov.u64", opd_reg(size), opd_imm((int64_t)v->place.var->size));
      init_local_address(c, shadow, k->local_shadow[v->place.var->id], true);
      break;
  }
  EMIT(c, "st.local.b64", place_of(s, c, v->number), opd_reg(base));
  EMIT(c, "st.local.b64", place_of(s, c, v->number + 1u), opd_reg(size));
  EMIT(c, "st.local.b64", place_of(s, c, v->number + 2u), opd_reg(shadow));
}

PtxVar *init_new_variable(PtxModule *m, const char *name, uint32_t bytes) {
  PtxVar *v = ARENA_NEW(&m->arena, PtxVar);
  bytes = (bytes + 7) & ~7u;
  *v = (PtxVar){.name = name,
                .space = SPACE_GLOBAL,
                .type = TYPE_B64,
                .align = 16,
                .align_given = true,
                .ndims = 1,
                .dims = {bytes / 8},
                .size = bytes,
                .id = m->nvars};
  if (bytes) v->init = arena_alloc(&m->arena, bytes);
  ARENA_APPEND(&m->arena, m->vars, m->nvars, &v, 1);
  // before every use of it
  PtxItem *items = ARENA_ARRAY(&m->arena, PtxItem, m->nitems + 1);
  memcpy(items + 1, m->items, sizeof *items * m->nitems);
  items[0] = (PtxItem){.kind = ITEM_VAR, .var = v};
  m->items = items;
  m->nitems++;
  return v;
}

static PtxVar *step_list(InitSteps *s) {
  PtxModule *m = s->k->body->func->module;
  if (!s->list)
    s->list = init_new_variable(
        m, arena_printf(&m->arena, "%ssteps%u", s->k->body->program->prefix, m->nvars), 0);
  return s->list;
}

void init_steps_call(InitSteps *s, Code *c) {
  InitCheck *k = s->k;
  Body *b = k->body;
  end_list(s);
  if (!s->area) {
    s->area = body_area(b, "values");
    s->area->size = 8;
    body_declare(b, s->area);
  }
  s->area->size = s->area->dims[0] = MAX(s->area->size, (uint64_t)s->nvalues * 8);
  PtxReg *const cache[] = {k->cache_base, k->cache_size, k->cache_shadow};
  for (unsigned n = 0; s->looks_up && n < 3; n++)
    EMIT(c, "st.local.b64", place_of(s, c, n), opd_reg(cache[n]));
  for (uint32_t n = 0; n < s->values.len; n++) {
    const InitValue *v = s->values.data[n];
    if (v->kind == VALUE_REGISTER) put_register(s, c, v);
    else if (v->kind == VALUE_CONSTANT) put_constant(s, c, v);
    else if (v->kind == VALUE_ADDRESS) put_address(s, c, v);
    else put_place(s, c, v);
  }
  PtxReg *steps = body_temp(b, TYPE_B64, 0), *values = body_temp(b, TYPE_B64, 1),
         *shadows = body_temp(b, TYPE_B64, 2), *table = body_temp(b, TYPE_B64, 3),
         *channel = body_temp(b, TYPE_B64, 5);
  PtxReg *count = body_temp(b, TYPE_B32, 0), *dirty = body_temp(b, TYPE_B32, 1),
         *launch = body_temp(b, TYPE_B32, 2), *sites = body_temp(b, TYPE_B32, 3);
  EMIT(c, "mov.u64", opd_reg(steps), opd_var(step_list(s)));
  EMIT(c, "add.u64", opd_reg(steps), opd_reg(steps), opd_imm((int64_t)(s->first * sizeof(WgStep))));
  EMIT(c, "cvta.global.u64", opd_reg(steps), opd_reg(steps));
  EMIT(c, "mov.u64", opd_reg(values), opd_var(s->area));
  EMIT(c, "cvta.local.u64", opd_reg(values), opd_reg(values));
  EMIT(c, "mov.u64", opd_reg(shadows), opd_var(shadows_of(s)));
  EMIT(c, "cvta.local.u64", opd_reg(shadows), opd_reg(shadows));
  vec_push(&s->counts, EMIT(c, "mov.u32", opd_reg(count), opd_imm(0)));
  EMIT(c, "selp.b32", opd_reg(dirty), opd_imm(1), opd_imm(0), opd_reg(k->dirty));
  record_load(c, table, offsetof(WgLaunch, init_memory));
  record_load(c, channel, offsetof(WgLaunch, channel));
  record_load(c, launch, offsetof(WgLaunch, launch));
  record_load(c, sites, offsetof(WgLaunch, site_base));
  const PtxOperand args[] = {opd_reg(steps),   opd_reg(values), opd_reg(shadows),
                             opd_reg(count),   opd_reg(dirty),  opd_reg(table),
                             opd_reg(channel), opd_reg(launch), opd_reg(sites)};
  code_call_value(c, probe_function(b->program, b->unit, "wg_init_follow"), dirty, args,
                  ARRAY_LEN(args));
  EMIT(c, "setp.ne.u32", opd_reg(k->dirty), opd_reg(dirty), opd_imm(0));
  for (unsigned n = 0; s->looks_up && n < 3; n++)
    EMIT(c, "ld.local.b64", opd_reg(cache[n]), place_of(s, c, n));
}

static void place_local(const InitSteps *s, uint16_t *number) {
  if (*number >= LOCAL && *number != WG_NO_NUMBER)
    *number = (uint16_t)(*number - LOCAL + s->nshadows);
}

void init_steps_finish(InitSteps *s) {
  uint32_t n = s->nshadows + s->nlocal;
  for (uint32_t i = 0; i < s->steps.len; i++) {
    WgStep *step = &s->steps.data[i];
    bool selects = step->what == WG_STEP_SELECT || step->what == WG_STEP_TABLE,
         exchanges = step->what == WG_STEP_SHUFFLE || step->what == WG_STEP_BALLOT ||
                     step->what == WG_STEP_ANY_LANE || step->what == WG_STEP_TRANSPOSE;
    uint16_t by = (uint16_t)step->imm;
    place_local(s, &step->to);
    place_local(s, &step->a);
    if (!exchanges) place_local(s, &step->b);
    if (selects) {
      place_local(s, &by);
      step->imm = (step->imm & ~0xffffull) | by;
    }
  }
  if (s->shadows) s->shadows->size = s->shadows->dims[0] = n * 8;
  for (uint32_t i = 0; i < s->counts.len; i++) s->counts.data[i]->ops[1].imm = n;
  for (uint32_t i = 0; i < s->alive.len; i++) place_local(s, &s->alive.data[i]);
  for (uint32_t i = 0; i < s->ends.len; i++)
    s->steps.data[s->ends.data[i]].imm = (s->steps.len - s->ends.data[i]) * sizeof(WgStep) +
                                         s->alive_at.data[i] * sizeof *s->alive.data;
  if (s->list) {
    size_t bytes = s->steps.len * sizeof(WgStep), more = s->alive.len * sizeof *s->alive.data;
    s->list->size = (bytes + MAX(more, sizeof(WgStep)) + 7) / 8 * 8;
    s->list->dims[0] = s->list->size / 8;
    s->list->init = arena_alloc(&s->k->body->func->module->arena, s->list->size);
    memcpy(s->list->init, s->steps.data, bytes);
    if (more) memcpy((char *)s->list->init + bytes, s->alive.data, more);
  }
  vec_free(&s->steps);
  vec_free(&s->values);
  vec_free(&s->unused);
  vec_free(&s->counts);
  vec_free(&s->alive);
  vec_free(&s->ends);
  vec_free(&s->alive_at);
}
