// Two runs: which launches differ, and in which buffers (diff/), searched while the page is open.
#include "view/server.h"

#include "diff/diff.h"

enum { ROWS = 20000, SHOWN = 1 };

// A buffer after a launch of the first run and after its counterpart
typedef struct Differing {
  uint32_t launch, other_launch, number, buffer, other_buffer;
  char kernel[160], name[80];
  bool within;  // by no more than the rules allow
  bool has_elements;
  uint64_t compared, different, nans, first, ulps;
  double absolute, relative;
  const char *why;  // NULL: the contents differ
} Differing;
struct ViewCompare {
  const char *paths[2];
  pthread_mutex_t lock;
  uint32_t done, total;
  uint64_t equal, different, unmatched, not_compared;
  bool finished;
  Error failed;  // "": it did not
  VEC(Differing) rows;
  _Atomic bool stop;
};

static void note(ViewCompare *c, const DiffResult *r) {
  for (uint32_t i = 0; i < r->n && c->rows.len < ROWS; i++) {
    const DiffBufferResult *b = &r->buffers[i];
    if (b->outcome != DIFF_DIFFERENT && b->outcome != DIFF_WITHIN) continue;
    Differing d = {.launch = r->pair.a->launch_id,
                   .other_launch = r->pair.b->launch_id,
                   .number = r->pair.a->launch,
                   .buffer = b->a ? b->a->allocation : 0,
                   .other_buffer = b->b ? b->b->allocation : 0,
                   .within = b->outcome == DIFF_WITHIN,
                   .has_elements = b->has_elements,
                   .compared = b->elements.compared,
                   .different = b->elements.different,
                   .nans = b->elements.nans,
                   .first = b->elements.first,
                   .ulps = b->elements.most_ulps,
                   .absolute = b->elements.most_absolute,
                   .relative = b->elements.most_relative,
                   .why = b->why};
    Str name = {0};
    diff_buffer_name(b->a ? b->a : b->b, i, &name);
    snprintf(d.name, sizeof d.name, "%s", name.data);
    snprintf(d.kernel, sizeof d.kernel, "%s", r->pair.a->kernel ? r->pair.a->kernel : "a graph");
    str_free(&name);
    vec_push(&c->rows, d);
  }
}

static void compare(ViewCompare *c, const DiffRun *a, const DiffRun *b) {
  Diff d = {.most_shown = SHOWN};
  diff_match(&d, a, b);
  pthread_mutex_lock(&c->lock);
  c->total = d.pairs.len;
  pthread_mutex_unlock(&c->lock);
  for (uint32_t i = 0; i < d.pairs.len && !c->stop; i++) {
    const DiffPair *p = &d.pairs.data[i];
    bool both = p->a && p->b && !diff_is_beyond(&d, p);
    DiffResult r = {0};
    if (both) diff_compare(&d, *p, &r);
    pthread_mutex_lock(&c->lock);
    if (both) note(c, &r);
    else c->unmatched++;
    c->done++;
    c->equal = d.equal;
    c->different = d.different;
    c->not_compared = d.not_compared + d.left_out;
    pthread_mutex_unlock(&c->lock);
    if (both) diff_result_free(&r);
  }
  diff_free(&d);
}

static void *work(void *user) {
  ViewCompare *c = user;
  DiffRun a, b;
  Error err = {{0}};
  bool first = diff_run_load(c->paths[0], &a, &err),
       second = first && diff_run_load(c->paths[1], &b, &err);
  if (second) compare(c, &a, &b);
  pthread_mutex_lock(&c->lock);
  if (!second) c->failed = err;
  c->finished = true;
  pthread_mutex_unlock(&c->lock);
  if (second) diff_run_free(&b);
  if (first) diff_run_free(&a);
  return NULL;
}

ViewCompare *view_compare_start(const char *a, const char *b) {
  ViewCompare *c = mem_alloc(sizeof *c);
  pthread_t thread;
  c->paths[0] = a;
  c->paths[1] = b;
  pthread_mutex_init(&c->lock, NULL);
  if (thread_start(&thread, work, c) != 0) c->finished = true;
  else pthread_detach(thread);
  return c;
}

void view_compare_stop(ViewCompare *c) {
  if (c) c->stop = true;
}

static void real(Str *s, const char *key, double v) {
  json_key(s, key);
  if (v - v == 0) str_printf(s, "%.9g", v);
  else str_add(s, "null");
}

static void row_json(Str *s, const Differing *d) {
  json_open(s, NULL, '{');
  json_number(s, "launch", d->launch);
  json_number(s, "other_launch", d->other_launch);
  json_number(s, "number", d->number);
  json_text(s, "kernel", d->kernel);
  json_text(s, "name", d->name);
  json_number(s, "buffer", d->buffer);
  json_number(s, "other_buffer", d->other_buffer);
  if (d->within) json_number(s, "within", 1);
  json_text(s, "why", d->why);
  if (d->has_elements) {
    json_number(s, "compared", d->compared);
    json_number(s, "different", d->different);
    json_number(s, "nans", d->nans);
    json_number(s, "first", d->first);
    json_number(s, "ulps", d->ulps);
    real(s, "absolute", d->absolute);
    real(s, "relative", d->relative);
  }
  str_add(s, "}");
}

// {"files":[a, b], "done", "total", "finished", "equal", …, "rows":[…]}; NULL: one run only
void view_answer_compare(ViewCompare *c, ViewAnswer *a) {
  *a = (ViewAnswer){.status = 200, .type = "application/json"};
  Str *s = &a->body;
  str_add(s, "{");
  if (c) {
    pthread_mutex_lock(&c->lock);
    json_open(s, "files", '[');
    json_string(s, c->paths[0]);
    str_addc(s, ',');
    json_string(s, c->paths[1]);
    str_add(s, "]");
    json_number(s, "done", c->done);
    json_number(s, "total", c->total);
    json_key(s, "finished");
    str_add(s, c->finished ? "true" : "false");
    json_number(s, "equal", c->equal);
    json_number(s, "different", c->different);
    json_number(s, "unmatched", c->unmatched);
    json_number(s, "not_compared", c->not_compared);
    if (c->failed.text[0]) json_text(s, "failed", c->failed.text);
    json_open(s, "rows", '[');
    for (uint32_t i = 0; i < c->rows.len; i++) row_json(s, &c->rows.data[i]);
    str_add(s, "]");
    pthread_mutex_unlock(&c->lock);
  }
  str_add(s, "}");
}
