#include "tools/profile/report_ranges.h"

#include "base/json.h"

enum { RANGES_SHOWN = 20, MOST_BARS = 5000 };

// --- which calls belong to a range ---

// Calls of one thread, or of all (thread 0), by their begin times.
typedef struct ThreadCalls {
  uint64_t process, thread;
  VEC(uint32_t) calls;    // ProfileModel.calls
  VEC(RangeSums) before;  // sums of all calls before this one
} ThreadCalls;
typedef VEC(ThreadCalls) Threads;

static const ProfileModel *sorted;  // for by_begin
static int by_begin(const void *x, const void *y) {
  uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
  uint64_t first = sorted->calls.data[a]->v[CALL_BEGIN],
           second = sorted->calls.data[b]->v[CALL_BEGIN];
  return first != second ? (first < second ? -1 : 1) : a < b ? -1 : a > b;
}

static void add_call(RangeSums *s, const uint64_t *v) {
  switch (v[CALL_KIND]) {
    case CALL_WAIT: return;
    case CALL_LAUNCH:
      s->launches++;
      s->device_ns += v[CALL_ENDED] - v[CALL_STARTED];
      return;
    default: s->copies++; s->bytes += v[CALL_BYTES];
  }
}

static ThreadCalls *calls_of(const ProfileModel *m, Threads *threads, const RunMeasure *range) {
  uint64_t thread = range->v[RANGE_HOST_THREAD];
  for (uint32_t i = 0; i < threads->len; i++)
    if (threads->data[i].thread == thread && threads->data[i].process == range->process)
      return &threads->data[i];
  ThreadCalls t = {.process = range->process, .thread = thread};
  for (uint32_t i = 0; i < m->calls.len; i++) {
    const RunMeasure *x = m->calls.data[i];
    bool own = x->process == range->process && (!thread || x->v[CALL_HOST_THREAD] == thread);
    if (own) vec_push(&t.calls, i);
  }
  sorted = m;
  qsort(t.calls.data, t.calls.len, sizeof *t.calls.data, by_begin);
  RangeSums sums = {0};
  for (uint32_t i = 0; i < t.calls.len; i++) {
    vec_push(&t.before, sums);
    add_call(&sums, m->calls.data[t.calls.data[i]]->v);
  }
  vec_push(&t.before, sums);
  vec_push(threads, t);
  return &threads->data[threads->len - 1];
}

// How many calls began before this time.
static uint32_t calls_before(const ProfileModel *m, const ThreadCalls *t, uint64_t ns) {
  uint32_t low = 0, high = t->calls.len;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (m->calls.data[t->calls.data[middle]]->v[CALL_BEGIN] < ns) low = middle + 1;
    else high = middle;
  }
  return low;
}

static void add_sums(RangeSums *to, const ThreadCalls *t, const RangeBar *bar) {
  const RangeSums *first = &t->before.data[bar->first], *end = &t->before.data[bar->end];
  to->launches += end->launches - first->launches;
  to->copies += end->copies - first->copies;
  to->bytes += end->bytes - first->bytes;
  to->device_ns += end->device_ns - first->device_ns;
}

// --- adding up ranges with the same name and the same enclosing ranges ---

static int by_thread(const void *x, const void *y) {
  const RunMeasure *a = ((const RangeBar *)x)->m, *b = ((const RangeBar *)y)->m;
  if (a->process != b->process) return a->process < b->process ? -1 : 1;
  const uint64_t *v = a->v, *w = b->v;
  if (v[RANGE_HOST_THREAD] != w[RANGE_HOST_THREAD])
    return v[RANGE_HOST_THREAD] < w[RANGE_HOST_THREAD] ? -1 : 1;
  if (v[RANGE_BEGIN] != w[RANGE_BEGIN]) return v[RANGE_BEGIN] < w[RANGE_BEGIN] ? -1 : 1;
  return v[RANGE_DEPTH] < w[RANGE_DEPTH] ? -1 : v[RANGE_DEPTH] > w[RANGE_DEPTH];
}

static uint32_t find_profile(RangeModel *r, const char *name, uint32_t parent) {
  for (uint32_t i = 0; i < r->list.len; i++)
    if (r->list.data[i].parent == parent && !strcmp(r->list.data[i].name, name)) return i;
  uint32_t depth = parent == UINT32_MAX ? 0 : r->list.data[parent].depth + 1;
  vec_push(&r->list, (RangeProfile){.name = name, .depth = depth, .parent = parent});
  return r->list.len - 1;
}

static bool contains(const RunMeasure *outer, const RunMeasure *inner) {
  return outer->process == inner->process &&
         outer->v[RANGE_HOST_THREAD] == inner->v[RANGE_HOST_THREAD] &&
         outer->v[RANGE_DEPTH] < inner->v[RANGE_DEPTH] &&
         outer->v[RANGE_END] >= inner->v[RANGE_END];
}

// Ranges that had not ended when the program ended are not known: ranges inside them have no
// parent.
static void find_profiles(RangeModel *r) {
  VEC(uint32_t) around = {0};
  for (uint32_t i = 0; i < r->bars.len; i++) {
    RangeBar *b = &r->bars.data[i];
    while (around.len && !contains(r->bars.data[around.data[around.len - 1]].m, b->m)) around.len--;
    uint32_t parent = around.len ? r->bars.data[around.data[around.len - 1]].profile : UINT32_MAX;
    b->profile = find_profile(r, b->m->text ? b->m->text : "", parent);
    vec_push(&around, i);
  }
  vec_free(&around);
}

void ranges_build(const ProfileModel *m, RangeModel *out) {
  Threads threads = {0};
  *out = (RangeModel){0};
  for (uint32_t i = 0; i < m->run->measures.len; i++) {
    const RunMeasure *x = m->run->measures.data[i];
    if (!strcmp(x->what, MEASURE_RANGE) && (x->v[RANGE_PLAIN] != 0) == m->has_plain)
      vec_push(&out->bars, (RangeBar){.m = x});
  }
  if (out->bars.len) qsort(out->bars.data, out->bars.len, sizeof *out->bars.data, by_thread);
  find_profiles(out);
  for (uint32_t i = 0; i < out->bars.len; i++) {
    RangeBar *b = &out->bars.data[i];
    const ThreadCalls *t = calls_of(m, &threads, b->m);
    RangeProfile *p = &out->list.data[b->profile];
    b->first = calls_before(m, t, b->m->v[RANGE_BEGIN]);
    b->end = calls_before(m, t, b->m->v[RANGE_END]);
    add_sums(&p->sums, t, b);
    p->times++;
    p->host_ns += b->m->v[RANGE_END] - b->m->v[RANGE_BEGIN];
    // from here on as indices into ProfileModel.calls
    b->first = b->first < t->calls.len ? t->calls.data[b->first] : m->calls.len;
    b->end = b->end ? t->calls.data[b->end - 1] + 1 : 0;
  }
  for (uint32_t i = 0; i < threads.len; i++) {
    vec_free(&threads.data[i].calls);
    vec_free(&threads.data[i].before);
  }
  vec_free(&threads);
}

void ranges_free(RangeModel *r) {
  vec_free(&r->list);
  vec_free(&r->bars);
}

// --- text ---

typedef struct Table {
  const ProfileModel *m;
  const RangeModel *r;
  uint32_t left;  // rows that may still be printed
  uint32_t hidden;
  Str *out;
} Table;

static void add_row(Table *t, const RangeProfile *p) {
  str_printf(t->out, "  %8llu %9llu %9llu %12.1f ", (unsigned long long)p->times,
             (unsigned long long)p->sums.launches, (unsigned long long)p->sums.copies,
             (double)p->sums.bytes / 1e3);
  if (t->m->has_times)
    str_printf(t->out, "%10.3f %10.3f ", (double)p->host_ns / 1e6, (double)p->sums.device_ns / 1e6);
  str_printf(t->out, " %*s%s\n", (int)MIN(2 * p->depth, 40u), "", p->name);
}

static void add_below(Table *t, uint32_t parent) {
  for (uint32_t i = 0; i < t->r->list.len; i++) {
    if (t->r->list.data[i].parent != parent) continue;
    if (t->left) add_row(t, &t->r->list.data[i]);
    t->hidden += !t->left;
    t->left -= t->left > 0;
    add_below(t, i);
  }
}

void ranges_text(const ProfileModel *m, bool all, Str *out) {
  RangeModel r;
  ranges_build(m, &r);
  if (r.list.len) {
    str_printf(out, " \nprofile: ranges of the program (NVTX), with the ranges inside them\n");
    str_printf(out, "  %8s %9s %9s %12s ", "times", "launches", "copies", "KB copied");
    if (m->has_times) str_printf(out, "%10s %10s ", "host ms", "kernel ms");
    str_add(out, " range\n");
    Table t = {m, &r, all ? r.list.len : RANGES_SHOWN, 0, out};
    add_below(&t, UINT32_MAX);
    if (t.hidden) str_printf(out, "  and %u more ranges (-v names them all)\n", t.hidden);
  }
  ranges_free(&r);
}

// --- JSON ---

static void bar_json(const ProfileModel *m, const RangeModel *r, const RangeBar *b, uint64_t zero,
                     Str *s) {
  const uint64_t *v = b->m->v;
  json_open(s, NULL, '{');
  json_text(s, "name", b->m->text);
  json_number(s, "depth", r->list.data[b->profile].depth);
  json_number(s, "thread", v[RANGE_HOST_THREAD]);
  if (m->has_times) {
    json_number(s, "begin", v[RANGE_BEGIN] > zero ? v[RANGE_BEGIN] - zero : 0);
    json_number(s, "end", v[RANGE_END] > zero ? v[RANGE_END] - zero : 0);
  } else {  // calls have an order only
    json_number(s, "begin", b->first);
    json_number(s, "end", MAX(b->first, b->end));
  }
  str_addc(s, '}');
}

void ranges_json(const ProfileModel *m, Str *s) {
  RangeModel r;
  uint64_t zero = UINT64_MAX;
  ranges_build(m, &r);
  for (uint32_t i = 0; i < m->calls.len; i++) zero = MIN(zero, m->calls.data[i]->v[CALL_BEGIN]);
  json_open(s, "ranges", '[');
  for (uint32_t i = 0; i < r.list.len; i++) {
    const RangeProfile *p = &r.list.data[i];
    json_open(s, NULL, '{');
    json_text(s, "name", p->name);
    if (p->parent != UINT32_MAX) json_number(s, "parent", p->parent);
    json_number(s, "times", p->times);
    json_number(s, "launches", p->sums.launches);
    json_number(s, "copies", p->sums.copies);
    json_number(s, "bytes", p->sums.bytes);
    if (m->has_times) {
      json_number(s, "host_ns", p->host_ns);
      json_number(s, "kernel_ns", p->sums.device_ns);
    }
    str_addc(s, '}');
  }
  str_addc(s, ']');
  json_open(s, "range_bars", '[');
  for (uint32_t i = 0; i < r.bars.len && i < MOST_BARS; i++)
    bar_json(m, &r, &r.bars.data[i], zero, s);
  str_addc(s, ']');
  ranges_free(&r);
}
