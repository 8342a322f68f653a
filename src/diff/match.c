// Matches the launches of two runs, and compares their outputs.
//
// The n-th launch of a kernel in one run is its n-th launch in the other. Launches that one run has
// and the other has not are named, not compared.
#include "diff/diff.h"

#include "base/hash_option.h"

// --- launches ---

typedef struct Queue {
  VEC(const DiffStep *) steps;
  uint32_t next;
} Queue;

// The n-th processes of the runs match: their numbers differ.
static void key_of(const DiffStep *s, uint32_t process, Str *out) {
  out->len = 0;
  str_printf(out, "%u %s", process, s->kernel ? s->kernel : s->launch ? "?" : "(graph)");
}

typedef struct Ordinals {
  uint32_t last, n;
} Ordinals;
static uint32_t ordinal(Ordinals *o, uint32_t process) {
  if (!o->n || o->last != process) {
    o->n++;
    o->last = process;
  }
  return o->n;
}

static void add_pair(Diff *d, DiffPair p) {
  bool beyond = diff_is_beyond(d, &p);
  if (beyond) d->beyond++;
  else if (!p.a || !p.b) d->first_unmatched = MIN(d->first_unmatched, d->pairs.len);
  vec_push(&d->pairs, p);
}

void diff_match(Diff *d, const DiffRun *a, const DiffRun *b) {
  StrMap queues = {0};
  Str key = {0};
  Ordinals oa = {0}, ob = {0};
  d->first_unmatched = UINT32_MAX;
  d->a = a;
  d->b = b;
  for (uint32_t i = 0; i < b->nsteps; i++) {
    key_of(&b->steps[i], ordinal(&ob, b->steps[i].process), &key);
    Queue *q = strmap_get(&queues, key.data);
    if (!q) strmap_put(&queues, arena_strdup(&d->arena, key.data), q = ARENA_NEW(&d->arena, Queue));
    vec_push(&q->steps, &b->steps[i]);
  }
  for (uint32_t i = 0; i < a->nsteps; i++) {
    key_of(&a->steps[i], ordinal(&oa, a->steps[i].process), &key);
    Queue *q = strmap_get(&queues, key.data);
    const DiffStep *other = q && q->next < q->steps.len ? q->steps.data[q->next++] : NULL;
    add_pair(d, (DiffPair){&a->steps[i], other});
  }
  uint32_t it = 0;
  const char *name;
  void *found;
  while (strmap_next(&queues, &it, &name, &found)) {
    Queue *q = found;
    for (; q->next < q->steps.len; q->next++) add_pair(d, (DiffPair){NULL, q->steps.data[q->next]});
    vec_free(&q->steps);
  }
  strmap_free(&queues);
  str_free(&key);
}

// --- buffers ---

static bool same_name(const char *a, const char *b) { return a && b ? !strcmp(a, b) : a == b; }

// The i-th buffer, if its parameter and name agree; else one with the same parameter or the same
// name; else the i-th, if both launches have as many buffers.
static const DiffBuffer *counterpart(const DiffStep *s, const DiffStep *of, uint32_t i) {
  const DiffBuffer *b = &of->buffers[i];
  if (of->nbuffers == s->nbuffers && s->buffers[i].parameter == b->parameter &&
      same_name(s->buffers[i].name, b->name))
    return &s->buffers[i];
  for (uint32_t k = 0; b->parameter && of->launch && k < s->nbuffers; k++)
    if (s->buffers[k].parameter == b->parameter) return &s->buffers[k];
  for (uint32_t k = 0; b->name && k < s->nbuffers; k++)
    if (s->buffers[k].name && !strcmp(s->buffers[k].name, b->name)) return &s->buffers[k];
  return of->nbuffers == s->nbuffers && !s->buffers[i].name == !b->name ? &s->buffers[i] : NULL;
}

static bool equal(const char *a, const char *b) { return a && b && !strcmp(a, b); }

// The hashes differ: compares the contents by the rules, where they are known.
static void look_inside(Diff *d, DiffPair p, DiffBufferResult *r) {
  Error err = {{0}};
  char *a = diff_contents(d->a, p.a, r->a, r->type, &err),
       *b = a ? diff_contents(d->b, p.b, r->b, r->type, &err) : NULL;
  if (a && b) {
    DiffBuffers both = {a, b, r->a->bytes};
    diff_elements(&both, r->type, &d->rules, d->most_shown, &r->elements);
    r->has_elements = true;
    if (!r->elements.different)
      r->outcome = r->a->hash && r->b->hash    ? DIFF_WITHIN
                   : memcmp(a, b, r->a->bytes) ? DIFF_WITHIN
                                               : DIFF_EQUAL;
  } else if (!r->a->hash || !r->b->hash) {
    r->outcome = DIFF_NOT_COMPARED;
    r->why = arena_strdup(&d->arena, err.text);
  } else if (diff_has_contents(d->a, r->a) || diff_has_contents(d->b, r->b) ||
             d->rules.has_tolerance) {
    r->why = arena_printf(&d->arena, "its elements were not compared: %s", err.text);
  }
  free(a);
  free(b);
}

static bool is_left_out(const DiffBuffer *b) {
  return b->state && !strcmp(b->state, HASH_LEFT_OUT);
}

// Keeps launches that may have been the first to differ: launches that were not hashed, until their
// buffer is found equal again.
static void follow(Diff *d, const DiffStep *s, const DiffBufferResult *r) {
  uint64_t key = r->a->allocation ? r->a->allocation : UINT64_MAX - r->a->parameter;
  bool known = u64map_get(&d->unseen, key) != NULL;
  if (r->outcome == DIFF_LEFT_OUT && !known) u64map_put(&d->unseen, key, (void *)(uintptr_t)s);
  if (known && (r->outcome == DIFF_EQUAL || r->outcome == DIFF_WITHIN))
    u64map_remove(&d->unseen, key);
}

const DiffStep *diff_first_unseen(const Diff *d) {
  uint32_t it = 0;
  uint64_t key;
  void *value;
  const DiffStep *least = NULL;
  while (u64map_next(&d->unseen, &it, &key, &value))
    if (!least || (const DiffStep *)value < least) least = value;
  return least;
}

static void compare_buffers(Diff *d, DiffPair p, DiffBufferResult *r) {
  const DiffBuffer *a = r->a, *b = r->b;
  r->type = diff_type(a->type, a->element);
  if (is_left_out(a) || is_left_out(b)) {
    r->outcome = DIFF_LEFT_OUT;
    r->why = HASH_LEFT_OUT;
  } else if (a->state || b->state) {
    r->outcome = DIFF_NOT_COMPARED;
    r->why = a->state ? a->state : b->state;
  } else if (a->bytes != b->bytes) {
    r->outcome = DIFF_DIFFERENT;
    r->why = arena_printf(&d->arena, "it has %llu bytes in the first run and %llu in the second",
                          (unsigned long long)a->bytes, (unsigned long long)b->bytes);
  } else if (equal(a->hash, b->hash)) {
    r->outcome = DIFF_EQUAL;
  } else if (d->rules.unordered && a->element == b->element && equal(a->multiset, b->multiset)) {
    r->outcome = DIFF_EQUAL;
  } else {
    r->outcome = DIFF_DIFFERENT;
    look_inside(d, p, r);
  }
}

void diff_compare(Diff *d, DiffPair p, DiffResult *out) {
  *out = (DiffResult){.pair = p, .n = p.a->nbuffers};
  out->buffers = mem_alloc(sizeof *out->buffers * (out->n + 1));
  for (uint32_t i = 0; i < out->n; i++) {
    DiffBufferResult *r = &out->buffers[i];
    r->a = &p.a->buffers[i];
    r->b = counterpart(p.b, p.a, i);
    if (r->b) compare_buffers(d, p, r);
    else {
      r->outcome = DIFF_NOT_COMPARED;
      r->why = "the other run has no such buffer";
    }
    d->buffers++;
    switch (r->outcome) {
      case DIFF_EQUAL: d->equal++; break;
      case DIFF_WITHIN:
        d->within++;
        out->inexact = true;
        break;
      case DIFF_DIFFERENT:
        d->different++;
        out->different = true;
        break;
      case DIFF_NOT_COMPARED:
        d->not_compared++;
        out->skipped = true;
        break;
      case DIFF_LEFT_OUT: d->left_out++; break;
    }
    follow(d, p.a, r);
  }
}

void diff_result_free(DiffResult *r) {
  for (uint32_t i = 0; i < r->n; i++)
    if (r->buffers[i].has_elements) diff_elements_free(&r->buffers[i].elements);
  free(r->buffers);
  *r = (DiffResult){0};
}

void diff_free(Diff *d) {
  vec_free(&d->pairs);
  u64map_free(&d->unseen);
  arena_free(&d->arena);
}
