// What a kernel stores in global memory, and through which parameters: for each store the value and
// the address are followed backwards.
#include "sass/decode.h"

enum { MOST_STEPS = 512 };  // of following one value

typedef struct Reader {
  const SassKernel *kernel;
  SassInstruction *code;
  uint32_t n;
  uint32_t shared, local;  // formats of what is stored there
} Reader;

typedef struct Step {
  uint32_t at;  // the instruction that uses the register
  SassOperand of;
} Step;

typedef struct Follow {  // a value that is followed
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

// The last instruction before `at` that writes the register; UINT32_MAX: none.
static uint32_t writer_before(const Reader *r, uint32_t at, SassOperand o) {
  bool uniform = o.place == PLACE_UNIFORM;
  while (at-- > 0) {
    const SassInstruction *i = &r->code[at];
    if ((i->result == RESULT_UNIFORM) == uniform && o.number >= i->to &&
        o.number < (uint32_t)i->to + i->registers)
      return at;
  }
  return UINT32_MAX;
}

// --- the format of a value ---

static uint32_t formats_of(Reader *r, uint32_t at, SassOperand o, unsigned depth);

// Bytes of a number are no number, but for the upper halves of two F32, which are BF16, and for
// halves that change their place.
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

// An instruction with a predicate may leave the register as it was: those before it count, too.
static uint32_t formats_of(Reader *r, uint32_t at, SassOperand o, unsigned depth) {
  enum { DEEPEST = 24, MOST_WRITERS = 8 };
  uint32_t found = 0;
  if (o.place != PLACE_REGISTER || depth > DEEPEST) return SASS_BIT(SASS_OTHER);
  for (unsigned i = 0; i < MOST_WRITERS; i++) {
    at = writer_before(r, at, o);
    if (at == UINT32_MAX) break;
    found |= formats_of_result(r, at, o.number, depth);
    if (!r->code[at].predicated) break;
  }
  return found;
}

static uint32_t formats_stored(Reader *r, uint32_t at) {
  const SassInstruction *i = &r->code[at];
  uint32_t found = 0;
  SassOperand value = i->b;
  unsigned registers = i->name == SASS_STSM ? 1 : sass_width(i);
  for (unsigned k = 0; k < registers; k++, value.number++) found |= formats_of(r, at, value, 0);
  // what a mask or a choice of constants adds does not change what is stored there
  return found & SASS_FLOATS ? found & SASS_FLOATS : SASS_BIT(SASS_OTHER);
}

// --- the parameter that an address comes from ---

typedef struct Params {
  uint32_t list[16], n;
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

// An index that was loaded is not followed further: what it was loaded through is not stored to.
static void params_of(const Reader *r, uint32_t at, Params *out) {
  Follow f = {.n = 0};
  add_step(&f, at, r->code[at].a);
  if (r->code[at].c.place == PLACE_UNIFORM) add_step(&f, at, r->code[at].c);
  for (uint32_t i = 0; i < f.n; i++) {
    uint32_t writer = f.steps[i].at;
    SassOperand o = f.steps[i].of;
    do {
      writer = writer_before(r, writer, o);
      if (writer == UINT32_MAX) break;
      const SassInstruction *w = &r->code[writer];
      bool loads = w->result == RESULT_LOADED && w->name != SASS_LDC;
      if (w->name == SASS_LDC && w->a.place != PLACE_NONE) loads = true;  // with an index
      if (loads) continue;
      add_param(r, out, w->b);
      add_param(r, out, w->c);
      add_step(&f, writer, w->a);
      add_step(&f, writer, w->b);
      add_step(&f, writer, w->c);
    } while (r->code[writer].predicated);
  }
}

// --- all stores ---

static void add_store(Arena *arena, SassStores *s, uint32_t param, uint32_t formats) {
  s->formats |= formats;
  for (uint32_t i = 0; i < s->n; i++)
    if (s->list[i].param == param) {
      s->list[i].formats |= formats;
      return;
    }
  enum { STEP = 16 };
  if (s->n % STEP == 0) {
    SassStore *more = ARENA_ARRAY(arena, SassStore, s->n + STEP);
    if (s->n) memcpy(more, s->list, s->n * sizeof *more);
    s->list = more;
  }
  s->list[s->n++] = (SassStore){param, formats};
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
      out->formats |= r->shared;
    }
    if (!is_global_store(i)) continue;
    bool plain = i->name == SASS_STG || i->name == SASS_ST;
    uint32_t formats = plain ? formats_stored(r, at) : sass_atomic_format(i);
    Params params = {.n = 0};
    params_of(r, at, &params);
    for (uint32_t p = 0; p < params.n; p++) add_store(arena, out, params.list[p], formats);
    if (!params.n) add_store(arena, out, SASS_NO_PARAM, formats);
  }
}

// What goes through shared and local memory keeps its format.
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
  read_inner_stores(&r);
  read_inner_stores(&r);  // local memory that was filled from shared memory, and the other way
  read_stores(&r, arena, out);
  free(r.code);
  return true;
}
