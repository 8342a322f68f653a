// Rules about launches, copies and waits: the order in which the host requests them.
#include "tools/profile/report_model.h"

static double peak(const ProfileModel *m, PeakId id) { return m->peaks->of[id]; }

enum { MANY_COPIES = 32, SMALL_COPY = 64 << 10, MANY_LAUNCHES = 100, MANY_WAITS = 16, MANY = 4 };
enum { LARGE_BYTES = 1 << 20 };

// Calls of one line of the program.
typedef struct Line {
  const RunMeasure *first;
  uint64_t n, bytes, pageable, pageable_bytes, small;
  uint64_t host_ns;
} Line;
typedef VEC(Line) Lines;

static bool is_copy(const RunMeasure *x) {
  return x->v[CALL_KIND] == CALL_TO_DEVICE || x->v[CALL_KIND] == CALL_TO_HOST;
}

static Line *line_of(Lines *lines, const RunMeasure *x) {
  for (uint32_t i = 0; i < lines->len; i++) {
    const RunMeasure *f = lines->data[i].first;
    if (f->file == x->file && f->line == x->line && f->v[CALL_KIND] == x->v[CALL_KIND])
      return &lines->data[i];
  }
  vec_push(lines, (Line){.first = x});
  return &lines->data[lines->len - 1];
}

// Calls have no kernel with parts to compare; gain is in nanoseconds.
static void advise(ProfileModel *m, RuleId rule, const RunMeasure *at, const char *evidence,
                   double gain) {
  Advice a = {.rule = rule, .evidence = evidence};
  if (at && at->file) {
    a.file = at->file;
    a.line = at->line;
  }
  if (at && at->kernel) a.kernel = run_readable_name(m->run, at->kernel);
  profile_advise(m, NULL, a, PART_COUNT, gain);
  if (m->has_times) m->advice.data[m->advice.len - 1].worth_ms = gain / 1e6;
}

static const char *direction(const RunMeasure *x) {
  return x->v[CALL_KIND] == CALL_TO_DEVICE ? "to the device" : "to the host";
}

static void check_copies(ProfileModel *m, const Line *l) {
  if (l->pageable_bytes >= LARGE_BYTES)
    advise(m, RULE_PAGEABLE_COPY, l->first,
           arena_printf(&m->arena, "%llu cop%s of %.1f MB in all %s, from or to pageable memory",
                        (unsigned long long)l->pageable, l->pageable == 1 ? "y" : "ies",
                        (double)l->pageable_bytes / 1e6, direction(l->first)),
           (double)l->pageable_bytes * (1 / peak(m, PEAK_PAGEABLE) - 1 / peak(m, PEAK_PINNED)));
  if (l->small >= MANY_COPIES)
    advise(m, RULE_SMALL_COPIES, l->first,
           arena_printf(&m->arena, "%llu copies of %.0f bytes on average %s",
                        (unsigned long long)l->small, (double)l->bytes / (double)l->n,
                        direction(l->first)),
           (double)(l->small - 1) * peak(m, PEAK_SMALL_COPY));
}

static void copies(ProfileModel *m) {
  Lines lines = {0};
  for (uint32_t i = 0; i < m->calls.len; i++) {
    const RunMeasure *x = m->calls.data[i];
    if (!is_copy(x)) continue;
    Line *l = line_of(&lines, x);
    l->n++;
    l->bytes += x->v[CALL_BYTES];
    l->small += x->v[CALL_BYTES] <= SMALL_COPY;
    if (x->v[CALL_HOST_MEMORY] != HOST_PAGEABLE) continue;
    l->pageable++;
    l->pageable_bytes += x->v[CALL_BYTES];
  }
  for (uint32_t i = 0; i < lines.len; i++) check_copies(m, &lines.data[i]);
  vec_free(&lines);
}

// Large copies that alternate with launches, all in one stream, or in several streams with a wait
// of the host for each.
static void no_overlap(ProfileModel *m) {
  uint64_t turns = 0, bytes = 0, waits = 0, kind = CALL_WAIT;
  bool several_streams = false;
  const RunMeasure *first = NULL, *launch = NULL;
  for (uint32_t i = 0; i < m->calls.len; i++) {
    const RunMeasure *x = m->calls.data[i];
    bool copies = is_copy(x) && x->v[CALL_BYTES] >= LARGE_BYTES / 4;
    waits += x->v[CALL_KIND] == CALL_WAIT && launch;
    if (x->v[CALL_KIND] == CALL_LAUNCH) launch = x;
    else if (!copies) continue;
    waits += copies && !x->v[CALL_ASYNC] && launch;
    if (!first && copies) first = x;
    several_streams |= first && x->v[CALL_STREAM] != first->v[CALL_STREAM];
    if (copies) bytes += x->v[CALL_BYTES];
    if (copies && kind == CALL_LAUNCH) turns++;
    kind = x->v[CALL_KIND];
  }
  // the last wait is for the results
  if (turns < MANY || (several_streams && waits < turns) || !launch) return;
  advise(m, RULE_NO_OVERLAP, first,
         arena_printf(&m->arena, "copies of %.1f MB in all and launches take turns %llu times %s",
                      (double)bytes / 1e6, (unsigned long long)turns,
                      several_streams ? "in several streams, and the host waits in between"
                                      : "in one stream"),
         (double)bytes / peak(m, PEAK_PINNED) / 2);
}

// The work that could overlap if copies and launches did not wait for each other: limited by the
// room that launches leave on the device, and by how fast the host can request them.
enum { THREADS_EACH = 2048 };  // of a multiprocessor
static double overlap_of_streams(const ProfileModel *m) {
  double busy[2] = {0}, work = 0, launches = 0;
  for (uint32_t i = 0; i < m->calls.len; i++) {
    const uint64_t *v = m->calls.data[i]->v;
    if (v[CALL_KIND] != CALL_LAUNCH || !v[CALL_STARTED]) continue;
    double ns = (double)(v[CALL_ENDED] - v[CALL_STARTED]);
    double fills = (double)(v[CALL_BLOCKS] * v[CALL_THREADS]) /
                   (peak(m, PEAK_PROCESSORS) * THREADS_EACH);
    busy[v[CALL_STREAM] > 2] += ns;
    work += ns * MIN(fills, 1.0);
    launches++;
  }
  double after = MAX(MAX(busy[0], busy[1]), MAX(work, launches * peak(m, PEAK_LAUNCH)));
  return MAX(0.0, busy[0] + busy[1] - after);
}

// Work in the default stream between work in streams that wait for the default stream.
static void default_stream(ProfileModel *m) {
  uint64_t turns = 0, last = 0;
  const RunMeasure *first = NULL;
  for (uint32_t i = 0; i < m->calls.len; i++) {
    const RunMeasure *x = m->calls.data[i];
    if (x->v[CALL_KIND] == CALL_WAIT || x->v[CALL_KIND] == CALL_NODE || x->v[CALL_NON_BLOCKING])
      continue;
    // copies that wait are in the default stream, and would wait in any stream
    if (is_copy(x) && !x->v[CALL_ASYNC]) continue;
    bool created = x->v[CALL_STREAM] > 2;
    if (!created && last == 1) {
      turns++;
      if (!first) first = x;
    }
    last = created ? 1 : last == 1 ? 2 : last;
  }
  if (turns < MANY) return;
  advise(m, RULE_DEFAULT_STREAM, first,
         arena_printf(&m->arena,
                      "work in the default stream comes %llu times between work of other streams, "
                      "which wait for it",
                      (unsigned long long)turns),
         m->has_times ? overlap_of_streams(m) : (double)turns * peak(m, PEAK_LAUNCH));
}

// Launches that take less time than a launch costs, as measured or by the kernel's model. Other
// launches at the same time are no excuse: the GPU may have been busy with these.
typedef struct ShortLaunches {
  uint64_t n;
  double each_ns;
} ShortLaunches;
static ShortLaunches short_launches(const ProfileModel *m, const KernelProfile *k) {
  // Counting makes a launch longer: the times of counted launches say nothing about it.
  bool own_times = m->has_plain || k->warp_instructions == 0;
  // if there are many launches, only some are timed
  if (k->timed && own_times)
    return (ShortLaunches){k->launches * k->short_launches / k->timed,
                           (double)k->short_ns / (double)MAX(k->short_launches, 1ull)};
  double each = profile_kernel_ns(k) / (double)MAX(k->launches, 1ull);
  return (ShortLaunches){each <= peak(m, PEAK_LAUNCH) ? k->launches : 0, each};
}

static const RunMeasure *first_launch(const ProfileModel *m, const KernelProfile *k) {
  for (uint32_t c = 0; c < m->calls.len; c++)
    if (m->calls.data[c]->kernel && !strcmp(m->calls.data[c]->kernel, k->name))
      return m->calls.data[c];
  return NULL;
}

static void advise_fewer(ProfileModel *m, const KernelProfile *k, ShortLaunches s, const char *of) {
  advise(m, RULE_SMALL_LAUNCHES, first_launch(m, k),
         arena_printf(&m->arena,
                      "%llu launches%s of %.1f microseconds each; a launch costs some %.0f",
                      (unsigned long long)s.n, of, s.each_ns / 1e3, peak(m, PEAK_LAUNCH) / 1e3),
         (double)s.n * peak(m, PEAK_LAUNCH));
}

// Reports kernels that are launched often; if no kernel is, all of them together.
static void small_launches(ProfileModel *m) {
  ShortLaunches all = {0};
  const KernelProfile *most = NULL;
  uint64_t most_launches = 0;
  bool advised = false;
  for (uint32_t i = 0; i < m->kernels.len; i++) {
    const KernelProfile *k = m->kernels.data[i];
    ShortLaunches s = short_launches(m, k);
    all.n += s.n;
    all.each_ns += s.each_ns * (double)s.n;
    if (s.n > most_launches) {
      most = k;
      most_launches = s.n;
    }
    if (s.n < MANY_LAUNCHES) continue;
    advise_fewer(m, k, s, "");
    advised = true;
  }
  if (advised || all.n < MANY_LAUNCHES || !most) return;
  all.each_ns /= (double)all.n;
  advise_fewer(m, most, all, " of several kernels");
}

// Waits after a launch that are followed by another launch or a set.
static void sync_wait(ProfileModel *m) {
  Lines lines = {0};
  for (uint32_t i = 1; i + 1 < m->calls.len; i++) {
    const RunMeasure *x = m->calls.data[i];
    uint64_t before = m->calls.data[i - 1]->v[CALL_KIND],
             after = m->calls.data[i + 1]->v[CALL_KIND];
    if (x->v[CALL_KIND] != CALL_WAIT || before != CALL_LAUNCH ||
        (after != CALL_LAUNCH && after != CALL_SET))
      continue;
    line_of(&lines, x)->n++;
  }
  for (uint32_t i = 0; i < lines.len; i++)
    if (lines.data[i].n >= MANY_WAITS)
      advise(m, RULE_SYNC_WAIT, lines.data[i].first,
             arena_printf(&m->arena, "the host waits %llu times between two launches",
                          (unsigned long long)lines.data[i].n),
             (double)lines.data[i].n * peak(m, PEAK_WAIT));
  vec_free(&lines);
}

static int by_number(const void *x, const void *y) {
  const RunMeasure *a = *(const RunMeasure *const *)x, *b = *(const RunMeasure *const *)y;
  if (a->process != b->process) return a->process < b->process ? -1 : 1;
  return a->v[CALL_NUMBER] < b->v[CALL_NUMBER] ? -1 : a->v[CALL_NUMBER] > b->v[CALL_NUMBER];
}

void profile_rules_calls(ProfileModel *m) {
  for (uint32_t i = 0; i < m->run->measures.len; i++) {
    const RunMeasure *x = m->run->measures.data[i];
    if (!strcmp(x->what, MEASURE_CALL) && (x->v[CALL_PLAIN] != 0) == m->has_plain)
      vec_push(&m->calls, x);
  }
  qsort(m->calls.data, m->calls.len, sizeof *m->calls.data, by_number);
  copies(m);
  no_overlap(m);
  default_stream(m);
  small_launches(m);
  sync_wait(m);
}
