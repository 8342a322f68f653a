// Finds whether the addresses that a launch accesses follow from its key alone (sass.h): then a
// launch that was checked need not be checked again.
//
// Values of registers are followed along all paths that the key allows (values.h), until nothing
// changes. Values loaded from memory are data. A branch that depends on data makes everything that
// is written between it and the place where its paths meet depend on data, too.
#include "sass/walk.h"

// --- a program ---

// Does the stack pointer change after the first block?
static bool moves_stack(const SassProgram *p) {
  for (uint32_t at = p->paths.list[0].end; at < p->n; at++) {
    SassWritten out = sass_written(&p->code[at], &p->effects[at]);
    if (!out.uniform && out.first <= STACK_POINTER && out.first + out.n > STACK_POINTER)
      return true;
  }
  return false;
}

static unsigned count_places(const SassProgram *p) {
  unsigned n = LOCAL_WORDS;
  for (uint32_t i = 0; i < p->n; i++) {
    bool local = p->effects[i].rule == RULE_LOCAL_LOAD || p->effects[i].rule == RULE_LOCAL_STORE;
    unsigned place = local ? walk_local_word(&p->code[i]) : NO_PLACE;
    if (place != NO_PLACE) n = MAX(n, place + sass_width(&p->code[i]));
  }
  return n;
}

SassProgram *sass_program_open(const SassKernel *k) {
  enum { FIRST_SM = 90, LAST_SM = 90 };
  if (k->sm < FIRST_SM || k->sm > LAST_SM) return NULL;
  SassProgram *p = mem_alloc(sizeof *p);
  p->kernel = *k;
  p->kernel.code = NULL;
  p->n = (uint32_t)(k->bytes / SASS_BYTES);
  p->code = mem_alloc((p->n + 1) * sizeof *p->code);
  p->effects = mem_alloc((p->n + 1) * sizeof *p->effects);
  for (uint32_t i = 0; i < p->n; i++) {
    sass_decode((const char *)k->code + (size_t)i * SASS_BYTES, k->sm, &p->code[i]);
    p->effects[i] = sass_effect(&p->code[i]);
  }
  p->has_paths = p->n && sass_paths_open(&p->paths, p->code, p->n, k->sm);
  p->moves_stack = p->has_paths && moves_stack(p);
  p->places = count_places(p);
  return p;
}

void sass_program_close(SassProgram *p) {
  if (!p) return;
  sass_paths_close(&p->paths);
  free(p->code);
  free(p->effects);
  free(p);
}

// --- blocks ---

static void wait_for(Walk *w, uint32_t block) {
  if (w->waiting[block]) return;
  w->waiting[block] = true;
  w->list[w->waits++] = block;
}

static void go_to(Walk *w, uint32_t block) {
  enum { MOST_TURNS = 6 };
  unsigned n = w->program->places;
  Place *at = w->at + (size_t)block * n;
  bool changed = !w->reached[block], widen = w->turns[block] >= MOST_TURNS;
  if (changed) {
    memcpy(at, w->now, n * sizeof *at);
    w->reached[block] = true;
  } else {
    changed = places_merge(at, w->now, n, widen);
  }
  if (!changed) return;
  if (!widen) w->turns[block]++;
  wait_for(w, block);
}

// A predicate whose condition is not known where a block begins gets one of the block.
static void name_conditions(Walk *w, uint32_t block) {
  enum { OF_A_BLOCK = LOCAL_WORDS - PREDICATES };
  Condition first = 1 + 2 * (Condition)w->program->n + OF_A_BLOCK * (Condition)block;
  for (unsigned k = 0; k < OF_A_BLOCK; k++) {
    const Value *v = &w->now[PREDICATES + k].value;
    if (v->condition || !value_is_same(*v) || value_is_number(*v)) continue;
    places_forget(w->now, w->program->places, first + (Condition)k, &w->implied);
    implied_clear(&w->implied, first + (Condition)k);
    w->now[PREDICATES + k].value.condition = first + (Condition)k;
  }
}

static void enter(Walk *w, uint32_t block) {
  unsigned n = w->program->places;
  memcpy(w->now, w->at + (size_t)block * n, n * sizeof *w->now);
  w->dependent = w->depends[block];
  for (unsigned i = 0; w->changes[block] && i < n; i++)
    if (w->changes[block][i]) w->now[i] = (Place){.value = value_of(VALUE_DATA)};
  name_conditions(w, block);
}

static void go_through(Walk *w, uint32_t block) {
  const SassBlock *b = &w->program->paths.list[block];
  const SassInstruction *last = &w->program->code[b->end - 1];
  const SassEffect *e = &w->program->effects[b->end - 1];
  enter(w, block);
  for (uint32_t i = b->first; i < b->end && !w->failed; i++)
    walk_step(w, &w->program->code[i], &w->program->effects[i]);
  if (b->how == END_UNKNOWN && w->check)
    walk_fail(w, last, "it jumps to an address that is not known");
  if (b->how == END_FALLS) w->go_next[block] = true;
  if (b->how == END_BRANCH || b->how == END_EXIT) {
    Value v = walk_condition(w, last, e);
    if (!value_is(v, 0)) w->go_taken[block] = true;
    if (!value_is(v, 1)) w->go_next[block] = true;
    w->by_data[block] = value_data_bits(v) != 0;
  }
  if (w->check) return;
  if (w->go_taken[block] && b->taken != SASS_NO_BLOCK) go_to(w, b->taken);
  if (w->go_next[block] && b->next != SASS_NO_BLOCK) go_to(w, b->next);
}

static void settle(Walk *w) {
  while (!w->failed && w->waits) {
    bool was_wild = w->wild;
    uint32_t block = w->list[--w->waits];
    w->waiting[block] = false;
    go_through(w, block);
    for (uint32_t i = 0; w->wild != was_wild && i < w->program->paths.n; i++)
      if (w->reached[i]) wait_for(w, i);
  }
}

// --- branches that depend on data ---

static void note_written(Walk *w, uint32_t block, bool *places) {
  const SassBlock *b = &w->program->paths.list[block];
  for (uint32_t i = b->first; i < b->end; i++) {
    const SassInstruction *in = &w->program->code[i];
    const SassEffect *e = &w->program->effects[i];
    SassWritten out = sass_written(in, e);
    for (unsigned k = 0; k < out.n; k++)
      places[place_of_register(out.first + k, out.uniform)] = true;
    for (unsigned which = OUT_1; which <= OUT_2; which *= 2) {
      unsigned p = sass_predicate_written(in, which);
      if (e->predicates & which && p != SASS_ALWAYS)
        places[place_of_predicate(p, e->predicates & OUT_U)] = true;
    }
    for (unsigned k = 0; e->rule == RULE_UNPACK && k < SASS_ALWAYS; k++)
      places[place_of_predicate(k, e->predicates & OUT_U)] = true;
    unsigned word = e->rule == RULE_LOCAL_STORE ? walk_local_word(in) : NO_PLACE;
    for (unsigned k = 0; word != NO_PLACE && k < sass_width(in); k++) places[word + k] = true;
  }
}

// Data decide how often a loop runs. Then the changes from one iteration to the next depend on
// data; what each turn computes anew from other things does not.
static void mark_loop(Walk *w, const SassTaken *t, uint32_t first, uint32_t from) {
  const SassPaths *p = &w->program->paths;
  unsigned n = w->program->places;
  bool *loop = mem_alloc(p->n + 1), *places = mem_alloc(n), more = !w->changes[first];
  sass_loop(p, t, first, from, loop);
  for (uint32_t i = 0; i < p->n; i++)
    if (loop[i] && w->reached[i]) note_written(w, i, places);
  if (more) w->changes[first] = mem_alloc(n);
  for (unsigned i = 0; i < n; i++) {
    more |= places[i] && !w->changes[first][i];
    w->changes[first][i] |= places[i];
  }
  if (more) wait_for(w, first);
  free(loop);
  free(places);
}

typedef struct Marking {
  uint32_t *stack, depth;
  bool *seen;
  const uint32_t *gates;
} Marking;

// Goes on to a block after the branch `branch`, unless a new turn of a loop around it begins there.
static void mark_next(Walk *w, const SassTaken *t, Marking *m, uint32_t branch, uint32_t from,
                      uint32_t to) {
  if (to == SASS_NO_BLOCK) return;
  if (sass_gate_of(m->gates, to, branch) && sass_gate_of(m->gates, to, from))
    mark_loop(w, t, to, from);
  else m->stack[m->depth++] = to;
}

// Marks what lies between the branch and the block in which its paths meet: data decide whether it
// runs.
static void mark_dependent(Walk *w, const SassTaken *t, Marking *m, uint32_t branch,
                           uint32_t join) {
  const SassBlock *list = w->program->paths.list;
  memset(m->seen, 0, w->program->paths.n);
  m->depth = 0;
  for (uint32_t i = branch;;) {
    if (w->go_taken[i]) mark_next(w, t, m, branch, i, list[i].taken);
    if (w->go_next[i]) mark_next(w, t, m, branch, i, list[i].next);
    while (m->depth && (m->stack[m->depth - 1] == join || m->seen[m->stack[m->depth - 1]]))
      m->depth--;
    if (!m->depth) break;
    i = m->stack[--m->depth];
    m->seen[i] = true;
    if (w->depends[i]) continue;
    w->depends[i] = true;
    wait_for(w, i);
  }
}

static void mark_all_dependent(Walk *w) {
  uint32_t n = w->program->paths.n;
  size_t words = (n + 1) * sizeof(uint32_t);
  SassTaken t = {w->go_taken, w->go_next};
  uint32_t *joins = mem_alloc(words), *gates = mem_alloc(words);
  Marking m = {.stack = mem_alloc(4 * words), .seen = mem_alloc(n + 1), .gates = gates};
  sass_joins(&w->program->paths, &t, joins);
  sass_gates(&w->program->paths, &t, gates);
  for (uint32_t i = 0; i < n; i++)
    if (w->reached[i] && w->by_data[i]) mark_dependent(w, &t, &m, i, joins[i]);
  free(joins);
  free(gates);
  free(m.stack);
  free(m.seen);
}

static void check_all(Walk *w) {
  w->check = true;
  for (uint32_t i = 0; i < w->program->paths.n && !w->failed; i++)
    if (w->reached[i]) go_through(w, i);
  w->check = false;
}

bool sass_repeats(const SassProgram *p, const SassKey *key, Error *why) {
  if (!p->has_paths)
    return error_set(why, "its code is too large, or its functions call functions");
  uint32_t n = p->paths.n;
  Walk *w = mem_alloc(sizeof *w);
  bool *flags = mem_alloc(6 * ((size_t)n + 1));
  *w = (Walk){
      .program = p,
      .key = key,
      .at = mem_alloc((size_t)n * p->places * sizeof *w->at),
      .now = mem_alloc(p->places * sizeof *w->now),
      .implied = {mem_alloc((2 * (size_t)p->n + 16 * (size_t)n + 2) * 2 * sizeof *w->implied.list)},
      .turns = mem_alloc(n),
      .changes = mem_alloc((n + 1) * sizeof *w->changes),
      .reached = flags,
      .depends = flags + n,
      .go_taken = flags + 2 * (size_t)n,
      .go_next = flags + 3 * (size_t)n,
      .by_data = flags + 4 * (size_t)n,
      .waiting = flags + 5 * (size_t)n,
      .list = mem_alloc((n + 1) * sizeof *w->list),
      .why = why};
  go_to(w, 0);
  while (w->waits && !w->failed) {
    settle(w);
    if (!w->failed) check_all(w);
    if (!w->failed) mark_all_dependent(w);
  }
  bool repeats = !w->failed;
  free(w->at);
  free(w->now);
  free(w->implied.list);
  free(w->turns);
  for (uint32_t i = 0; i < n; i++) free(w->changes[i]);
  free(w->changes);
  free(w->list);
  free(flags);
  free(w);
  return repeats;
}
