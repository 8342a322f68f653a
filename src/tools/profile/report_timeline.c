// The device's time from the first work to the last: kernels, copies, both at once, and gaps. A gap
// is attributed to the host's activity before it requested the work after the gap.
#include "tools/profile/report_timeline.h"

#include "base/json.h"
#include "report/report.h"

typedef enum Cause { CAUSE_WAIT, CAUSE_HOST, CAUSE_DEVICE, CAUSE_COUNT } Cause;
static const char *const cause_names[CAUSE_COUNT] = {"wait", "host", "device"};

typedef struct Gap {  // all gaps of one cause and line
  Cause cause;
  const char *file;
  uint32_t line;
  uint64_t ns, n;
} Gap;
typedef VEC(const RunMeasure *) Works;
typedef struct Timeline {
  uint64_t span, kernels, copies, either, n;
  VEC(Gap) gaps;  // the longest first
} Timeline;

enum { GAPS_SHOWN = 3 };

static bool is_launch(const RunMeasure *x) {
  return x->v[CALL_KIND] == CALL_LAUNCH || x->v[CALL_KIND] == CALL_NODE;
}
static bool is_timed(const RunMeasure *x) {
  return x->v[CALL_STARTED] && x->v[CALL_ENDED] >= x->v[CALL_STARTED];
}
static bool makes_host_wait(const RunMeasure *x) {
  return x->v[CALL_KIND] == CALL_WAIT || (!is_launch(x) && !x->v[CALL_ASYNC]);
}

static int by_start(const void *x, const void *y) {
  const RunMeasure *a = *(const RunMeasure *const *)x, *b = *(const RunMeasure *const *)y;
  if (a->process != b->process) return a->process < b->process ? -1 : 1;
  if (a->v[CALL_DEVICE] != b->v[CALL_DEVICE]) return a->v[CALL_DEVICE] < b->v[CALL_DEVICE] ? -1 : 1;
  if (a->v[CALL_STARTED] != b->v[CALL_STARTED])
    return a->v[CALL_STARTED] < b->v[CALL_STARTED] ? -1 : 1;
  return a->v[CALL_NUMBER] < b->v[CALL_NUMBER] ? -1 : a->v[CALL_NUMBER] > b->v[CALL_NUMBER];
}

// The call that the same thread of the host made before this one; NULL: none.
static const RunMeasure *call_before(const ProfileModel *m, const RunMeasure *x) {
  const RunMeasure *last = NULL;
  uint32_t low = 0, high = m->calls.len;  // calls are ordered by process and number
  while (low < high) {
    uint32_t at = low + (high - low) / 2;
    const RunMeasure *c = m->calls.data[at];
    if (c->process < x->process ||
        (c->process == x->process && c->v[CALL_NUMBER] < x->v[CALL_NUMBER]))
      low = at + 1;
    else high = at;
  }
  while (low-- > 0 && !last && m->calls.data[low]->process == x->process)
    if (m->calls.data[low]->v[CALL_HOST_THREAD] == x->v[CALL_HOST_THREAD])
      last = m->calls.data[low];
  return last;
}

static void add_gap(const ProfileModel *m, Timeline *t, const RunMeasure *next,
                    uint64_t idle_from) {
  Gap g = {CAUSE_DEVICE, next->file, next->line, next->v[CALL_STARTED] - idle_from, 1};
  if (next->v[CALL_BEGIN] > idle_from) {  // the host requested it while the device was idle
    const RunMeasure *before = call_before(m, next);
    g.cause = before && makes_host_wait(before) ? CAUSE_WAIT : CAUSE_HOST;
    if (g.cause == CAUSE_WAIT) {
      g.file = before->file;
      g.line = before->line;
    }
  }
  for (uint32_t i = 0; i < t->gaps.len; i++) {
    Gap *old = &t->gaps.data[i];
    if (old->cause != g.cause || old->file != g.file || old->line != g.line) continue;
    old->ns += g.ns;
    old->n++;
    return;
  }
  vec_push(&t->gaps, g);
}

// How long work of this kind was running; kinds: 1 kernels, 2 copies and sets.
static uint64_t busy(const Works *w, unsigned kinds) {
  uint64_t sum = 0, until = 0;
  const RunMeasure *last = NULL;
  for (uint32_t i = 0; i < w->len; i++) {
    const RunMeasure *x = w->data[i];
    if (!(kinds & (is_launch(x) ? 1 : 2))) continue;
    if (last && (last->process != x->process || last->v[CALL_DEVICE] != x->v[CALL_DEVICE]))
      until = 0;
    uint64_t from = MAX(x->v[CALL_STARTED], until);
    if (x->v[CALL_ENDED] > from) sum += x->v[CALL_ENDED] - from;
    until = MAX(until, x->v[CALL_ENDED]);
    last = x;
  }
  return sum;
}

static int by_length(const void *x, const void *y) {
  const Gap *a = x, *b = y;
  return a->ns < b->ns ? 1 : a->ns > b->ns ? -1 : (int)a->line - (int)b->line;
}

static void build(const ProfileModel *m, Timeline *t) {
  Works w = {0};
  for (uint32_t i = 0; i < m->calls.len; i++)
    if (is_timed(m->calls.data[i])) vec_push(&w, m->calls.data[i]);
  if (w.len) qsort(w.data, w.len, sizeof *w.data, by_start);
  *t = (Timeline){.kernels = busy(&w, 1), .copies = busy(&w, 2), .either = busy(&w, 3), .n = w.len};
  uint64_t until = 0;
  for (uint32_t i = 0; i < w.len; i++) {
    const RunMeasure *x = w.data[i], *before = i ? w.data[i - 1] : NULL;
    bool first = !before || before->process != x->process ||
                 before->v[CALL_DEVICE] != x->v[CALL_DEVICE];
    if (first) until = x->v[CALL_STARTED];
    if (x->v[CALL_STARTED] > until) {
      t->span += x->v[CALL_STARTED] - until;
      add_gap(m, t, x, until);
    }
    until = MAX(until, x->v[CALL_ENDED]);
  }
  t->span += t->either;
  if (t->gaps.len) qsort(t->gaps.data, t->gaps.len, sizeof *t->gaps.data, by_length);
  vec_free(&w);
}

static void add_gap_text(const Gap *g, Str *out) {
  Str place = {0};
  if (g->file) str_printf(&place, "%s:%u", report_path(g->file), g->line);
  else str_add(&place, "a place without lines");
  str_printf(out, "  idle for %.3g ms ", (double)g->ns / 1e6);
  if (g->cause == CAUSE_WAIT) str_printf(out, "after the host waited at %s", place.data);
  else if (g->cause == CAUSE_HOST)
    str_printf(out, "because the host asked late for the work at %s", place.data);
  else str_printf(out, "before work at %s that had been asked for", place.data);
  str_printf(out, " (%llu time%s)\n", (unsigned long long)g->n, g->n == 1 ? "" : "s");
  str_free(&place);
}

static double percent(uint64_t part, uint64_t all) { return 100 * (double)part / (double)all; }

void timeline_text(const ProfileModel *m, bool all, Str *out) {
  Timeline t;
  build(m, &t);
  if (t.n > 1 && t.span) {
    str_printf(out, " \nprofile: %.3g ms of the device, by %s: kernels %.0f%%, copies %.0f%%",
               (double)t.span / 1e6, m->times ? m->times : "events", percent(t.kernels, t.span),
               percent(t.copies, t.span));
    uint64_t both = t.kernels + t.copies - t.either;
    if (t.copies && t.kernels) str_printf(out, ", both at once %.0f%%", percent(both, t.span));
    str_printf(out, ", idle %.0f%%\n", percent(t.span - t.either, t.span));
    uint32_t shown = all ? t.gaps.len : MIN(t.gaps.len, (uint32_t)GAPS_SHOWN);
    for (uint32_t i = 0; i < shown; i++)
      if (all || t.gaps.data[i].ns * 50 > t.span) add_gap_text(&t.gaps.data[i], out);
  }
  vec_free(&t.gaps);
}

static void json_ms(Str *s, const char *key, uint64_t ns) {
  json_key(s, key);
  str_printf(s, "%.6g", (double)ns / 1e6);
}

void timeline_json(const ProfileModel *m, Str *s) {
  Timeline t;
  build(m, &t);
  if (t.n) {
    json_open(s, "device_time", '{');
    json_text(s, "times", m->times);
    json_ms(s, "ms", t.span);
    json_ms(s, "kernel_ms", t.kernels);
    json_ms(s, "copy_ms", t.copies);
    json_ms(s, "both_ms", t.kernels + t.copies - t.either);
    json_ms(s, "idle_ms", t.span - t.either);
    json_key(s, "gaps");
    str_addc(s, '[');
    for (uint32_t i = 0; i < t.gaps.len; i++) {
      const Gap *g = &t.gaps.data[i];
      str_add(s, i ? ",{" : "{");
      json_text(s, "cause", cause_names[g->cause]);
      json_text(s, "file", g->file);
      if (g->line) json_number(s, "line", g->line);
      json_ms(s, "ms", g->ns);
      json_number(s, "times", g->n);
      str_addc(s, '}');
    }
    str_add(s, "]}");
  }
  vec_free(&t.gaps);
}
