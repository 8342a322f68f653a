// Finds what a kernel stores in global memory, and through which parameters: follows each store's
// value and address backwards.
#include "sass/flow.h"

enum { MOST_STEPS = 512, MOST_WRITERS = 16, MOST_SEARCHED = 1 << 14 };

typedef struct Reader {
  const SassKernel *kernel;
  SassInstruction *code;
  uint32_t n;
  SassFlow flow;
  uint32_t shared, local;  // formats of what is stored there
  uint32_t *seen, search;  // by instruction: the last search that came by
  uint32_t *stack;
} Reader;

// --- who wrote a register ---

typedef struct Writers {
  uint32_t list[MOST_WRITERS], n;
} Writers;

static bool writes(const SassInstruction *i, SassOperand o) {
  return (i->result == RESULT_UNIFORM) == (o.place == PLACE_UNIFORM) && o.number >= i->to &&
         o.number < (uint32_t)i->to + i->registers;
}

static void push(Reader *r, uint32_t at, uint32_t *depth) {
  if (r->seen[at] == r->search) return;
  r->seen[at] = r->search;
  r->stack[(*depth)++] = at;
}

// A predicated instruction may not have written the register; but for a user with the same
// predicate it has.
static bool is_certain(const Reader *r, uint32_t writer, uint32_t user) {
  const SassInstruction *w = &r->code[writer], *u = &r->code[user];
  return !w->predicated || sass_bits(w, 12, 4) == sass_bits(u, 12, 4);
}

// Finds the instructions that may have written the register's value before `at`.
static void find_writers(Reader *r, uint32_t at, SassOperand o, Writers *out) {
  uint32_t depth = 0, searched = 0;
  r->search++;
  out->n = 0;
  r->stack[depth++] = at;
  while (depth && searched++ < MOST_SEARCHED && out->n < MOST_WRITERS) {
    uint32_t i = r->stack[--depth];
    for (uint32_t e = r->flow.first[i]; e < r->flow.first[i + 1]; e++)
      push(r, r->flow.from[e], &depth);  // a branch writes nothing
    if (!i || !r->flow.falls[i]) continue;
    bool is_writer = writes(&r->code[i - 1], o);
    if (is_writer && r->seen[i - 1] != r->search) out->list[out->n++] = i - 1;
    if (!is_writer || !is_certain(r, i - 1, at)) push(r, i - 1, &depth);
    else r->seen[i - 1] = r->search;
  }
}

// --- the format of a value ---

static uint32_t formats_of(Reader *r, uint32_t at, SassOperand o, unsigned depth);

// A part of a number's bytes is not a number. Exceptions: the upper halves of two F32, which are
// BF16, and halves that only change their place.
static uint32_t after_bytes(const SassInstruction *i, uint32_t formats) {
  enum { UPPER_HALVES = 0x7632, FORM_CONSTANT = 4 };
  uint32_t kept = formats & (SASS_BIT(SASS_F16) | SASS_BIT(SASS_BF16) | SASS_BIT(SASS_OTHER));
  if (formats & SASS_BIT(SASS_F32) && sass_bits(i, 9, 3) == FORM_CONSTANT &&
      sass_bits(i, 32, 16) == UPPER_HALVES)
    kept |= SASS_BIT(SASS_BF16);
  return kept ? kept : SASS_BIT(SASS_OTHER);
}

static uint32_t formats_of_result(Reader *r, uint32_t at, uint32_t number, unsigned depth) {
  const SassInstruction *i = &r->code[at];
  uint32_t found = 0;
  if (i->result == RESULT_FROM_SHARED || i->result == RESULT_FOUR_FROM_SHARED)
    return r->shared | SASS_BIT(SASS_OTHER);
  if (i->result == RESULT_FROM_LOCAL) return r->local | SASS_BIT(SASS_OTHER);
  if (!i->follows) return i->formats;
  SassOperand a = i->a, b = i->b, c = i->c;
  b.number += number - i->to;  // the second register of a move
  if (i->follows & OPERAND_A) found |= formats_of(r, at, a, depth + 1);
  if (i->follows & OPERAND_B) found |= formats_of(r, at, b, depth + 1);
  if (i->follows & OPERAND_C) found |= formats_of(r, at, c, depth + 1);
  if (i->result == RESULT_BYTES) found = after_bytes(i, found);
  return found ? found : SASS_BIT(SASS_OTHER);
}

static uint32_t formats_of(Reader *r, uint32_t at, SassOperand o, unsigned depth) {
  enum { DEEPEST = 12 };
  uint32_t found = 0;
  Writers w;
  if (o.place != PLACE_REGISTER || depth > DEEPEST) return SASS_BIT(SASS_OTHER);
  find_writers(r, at, o, &w);
  for (uint32_t i = 0; i < w.n; i++) found |= formats_of_result(r, w.list[i], o.number, depth);
  return found;
}

// The formats that fit the width of the store.
static uint32_t formats_that_fit(const SassInstruction *i) {
  enum { HALF = 2, SIGNED_HALF = 3, WORD = 4 };
  unsigned width = i->name == SASS_STSM ? WORD : sass_bits(i, 73, 3);
  if (width < HALF) return 0;
  uint32_t fit = SASS_BIT(SASS_F16) | SASS_BIT(SASS_BF16);
  if (width > SIGNED_HALF) fit |= SASS_BIT(SASS_F32);
  if (width > WORD) fit |= SASS_BIT(SASS_F64);
  return fit;
}

// The formats that all registers of the store share; if there are none, those of any register. A
// path through the code that is never taken adds to one register at most.
static uint32_t formats_stored(Reader *r, uint32_t at) {
  const SassInstruction *i = &r->code[at];
  uint32_t any = 0, all = SASS_FLOATS;
  SassOperand value = i->b;
  unsigned registers = i->name == SASS_STSM ? 1 : sass_width(i);
  for (unsigned k = 0; k < registers; k++, value.number++) {
    uint32_t found = formats_of(r, at, value, 0);
    any |= found;
    all &= found;
  }
  // formats that come only from masks or constants do not count against those of results
  uint32_t fit = SASS_FLOATS & formats_that_fit(i), found = all & fit ? all & fit : any & fit;
  return found ? found : SASS_BIT(SASS_OTHER);
}

// --- the parameter that an address comes from ---

typedef struct Params {
  uint32_t list[16], n;
  bool others;  // it also comes from a variable, or from one of a list of parameters
} Params;

static void add_param(const Reader *r, Params *p, SassOperand o) {
  const SassKernel *k = r->kernel;
  if (o.place != PLACE_CONSTANT || o.number < k->param_base ||
      o.number - k->param_base + 8 > k->param_bytes || (o.number - k->param_base) % 8)
    return;
  for (uint32_t i = 0; i < p->n; i++)
    if (p->list[i] == o.number - k->param_base) return;
  if (p->n < ARRAY_LEN(p->list)) p->list[p->n++] = o.number - k->param_base;
}

typedef struct Step {
  uint32_t at;  // the instruction that uses the register
  SassOperand of;
} Step;

typedef struct Follow {  // an address that is followed
  Step steps[MOST_STEPS];
  uint32_t n;
} Follow;

static void add_step(Follow *f, uint32_t at, SassOperand o) {
  if (o.place != PLACE_REGISTER && o.place != PLACE_UNIFORM) return;
  for (uint32_t i = 0; i < f->n; i++)
    if (f->steps[i].at == at && f->steps[i].of.place == o.place &&
        f->steps[i].of.number == o.number)
      return;
  if (f->n < MOST_STEPS) f->steps[f->n++] = (Step){at, o};
}

static void follow(Reader *r, Follow *f, uint32_t writer, Params *out) {
  const SassInstruction *i = &r->code[writer];
  const SassOperand *operands[] = {&i->a, &i->b, &i->c};
  if (i->name == SASS_LDC && i->a.place != PLACE_NONE) {
    out->others = true;  // one of a list
    return;
  }
  for (unsigned k = 0; k < ARRAY_LEN(operands); k++) {
    if (!(i->pointers >> k & 1)) continue;
    add_param(r, out, *operands[k]);
    out->others |= operands[k]->place == PLACE_VARIABLE;
    add_step(f, writer, *operands[k]);
  }
}

static void params_of(Reader *r, uint32_t at, Params *out) {
  Follow f = {.n = 0};
  Writers w;
  add_step(&f, at, r->code[at].a);
  if (r->code[at].c.place == PLACE_UNIFORM) add_step(&f, at, r->code[at].c);
  for (uint32_t i = 0; i < f.n; i++) {
    find_writers(r, f.steps[i].at, f.steps[i].of, &w);
    for (uint32_t k = 0; k < w.n; k++) follow(r, &f, w.list[k], out);
  }
}

// --- all stores ---

static void add_store(Arena *arena, SassStores *s, uint32_t param, uint32_t formats, bool plain) {
  s->formats |= formats;
  for (uint32_t i = 0; i < s->n; i++)
    if (s->list[i].param == param) {
      s->list[i].formats |= formats;
      s->list[i].plain |= plain;
      return;
    }
  enum { STEP = 16 };
  if (s->n % STEP == 0) {
    SassStore *more = ARENA_ARRAY(arena, SassStore, s->n + STEP);
    if (s->n) memcpy(more, s->list, s->n * sizeof *more);
    s->list = more;
  }
  s->list[s->n++] = (SassStore){param, formats, plain};
}

static bool is_global_store(const SassInstruction *i) {
  return i->name == SASS_STG || i->name == SASS_ST || i->name == SASS_RED ||
         i->name == SASS_REDG_FLOAT || i->name == SASS_ATOMG || i->name == SASS_ATOMG_FLOAT;
}

static void read_stores(Reader *r, Arena *arena, SassStores *out) {
  for (uint32_t at = 0; at < r->n; at++) {
    const SassInstruction *i = &r->code[at];
    if (i->name == SASS_UTMASTG || i->name == SASS_UTMAREDG) {
      out->through_tensor = true;
      add_store(arena, out, SASS_NO_PARAM, r->shared ? r->shared : SASS_BIT(SASS_OTHER),
                i->name == SASS_UTMASTG);
    }
    if (!is_global_store(i)) continue;
    bool plain = i->name == SASS_STG || i->name == SASS_ST;
    uint32_t formats = plain ? formats_stored(r, at) : sass_atomic_format(i);
    Params params = {.n = 0};
    params_of(r, at, &params);
    for (uint32_t p = 0; p < params.n; p++) add_store(arena, out, params.list[p], formats, plain);
    if (!params.n) add_store(arena, out, SASS_NO_PARAM, formats, plain);
    out->anywhere |= !params.n && !params.others;
  }
}

// --- all loads ---

static bool is_global_load(const SassInstruction *i) {
  return i->name == SASS_LDG || i->name == SASS_LD || i->name == SASS_LDGSTS;
}

static void read_loads(Reader *r, Arena *arena, SassStores *out) {
  enum { MOST = 64 };
  out->reads = ARENA_ARRAY(arena, uint32_t, MOST);
  for (uint32_t at = 0; at < r->n; at++) {
    Params params = {.n = 0};
    if (is_global_load(&r->code[at])) params_of(r, at, &params);
    for (uint32_t p = 0; p < params.n; p++) {
      bool known = false;
      for (uint32_t i = 0; i < out->nreads; i++) known |= out->reads[i] == params.list[p];
      if (!known && out->nreads < MOST) out->reads[out->nreads++] = params.list[p];
    }
  }
}

// Notes formats that are stored to shared and local memory: loads return the same formats.
static void read_inner_stores(Reader *r) {
  for (uint32_t at = 0; at < r->n; at++) {
    const SassInstruction *i = &r->code[at];
    if (i->name == SASS_STS || i->name == SASS_STSM)
      r->shared |= formats_stored(r, at) & SASS_FLOATS;
    if (i->name == SASS_STL) r->local |= formats_stored(r, at) & SASS_FLOATS;
  }
}

bool sass_stores(const SassKernel *k, Arena *arena, SassStores *out) {
  enum { FIRST_SM = 70, LAST_SM = 129 };
  *out = (SassStores){.n = 0};
  if (k->sm < FIRST_SM || k->sm > LAST_SM) return false;
  Reader r = {.kernel = k, .n = (uint32_t)(k->bytes / SASS_BYTES)};
  r.code = mem_alloc((r.n + 1) * sizeof *r.code);
  for (uint32_t i = 0; i < r.n; i++)
    sass_decode((const char *)k->code + (size_t)i * SASS_BYTES, k->sm, &r.code[i]);
  sass_flow_open(&r.flow, r.code, r.n, k->sm);
  r.seen = mem_alloc((r.n + 1) * sizeof *r.seen);
  r.stack = mem_alloc((2 * (size_t)r.n + 2) * sizeof *r.stack);
  read_inner_stores(&r);
  read_inner_stores(&r);  // local memory that was filled from shared memory, and the other way
  read_stores(&r, arena, out);
  read_loads(&r, arena, out);
  sass_flow_close(&r.flow);
  free(r.seen);
  free(r.stack);
  free(r.code);
  return true;
}
