// Joins all measures by kernel, and applies all rules.
#include "tools/profile/report_model.h"
#include "tools/profile/report_resources.h"

const Rule profile_rules[RULE_COUNT] = {
#define RULE(id, name, what, instead) {name, what, instead},
#include "tools/profile/rules.def"
#undef RULE
};

// a measured time includes the cost of the events around a launch
enum { SHORT_LAUNCH_NS = 6000 };
enum { FLOAT_CLASS = 8 };  // bit number of CLASS_FLOAT

static KernelProfile *kernel_of(ProfileModel *m, StrMap *by_name, const char *name) {
  KernelProfile *k = strmap_get(by_name, name);
  if (k) return k;
  k = ARENA_NEW(&m->arena, KernelProfile);
  k->name = name;
  k->readable = run_readable_name(m->run, name);
  strmap_put(by_name, name, k);
  vec_push(&m->kernels, k);
  return k;
}

uint64_t profile_looked_at(const RunMeasure *m) {
  return m->v[ACCESS_LOOKED] ? m->v[ACCESS_LOOKED] : m->v[ACCESS_REQUESTS];
}

static bool same_place(const RunMeasure *a, const RunMeasure *b) {
  return a->line == b->line && a->file == b->file &&
         a->v[ACCESS_PTX_LINE] == b->v[ACCESS_PTX_LINE] &&
         a->v[ACCESS_SPACE] == b->v[ACCESS_SPACE] && a->v[ACCESS_WHAT] == b->v[ACCESS_WHAT];
}

// Adds measures of the same instruction: from another process or device, or after the module was
// loaded again.
static void merge(RunMeasure *to, const RunMeasure *m) {
  bool both = to->v[ACCESS_STRIDE] && m->v[ACCESS_STRIDE];
  uint64_t least = both ? MIN(to->v[ACCESS_LEAST], m->v[ACCESS_LEAST])
                        : to->v[ACCESS_LEAST] | m->v[ACCESS_LEAST];
  uint64_t looked = profile_looked_at(to) + profile_looked_at(m);
  for (unsigned i = ACCESS_REQUESTS; i <= ACCESS_OFF; i++) to->v[i] += m->v[i];
  to->v[ACCESS_LOOKED] = looked < to->v[ACCESS_REQUESTS] ? looked : 0;
  to->v[ACCESS_LEAST] = least;
  to->v[ACCESS_MOST] = MAX(to->v[ACCESS_MOST], m->v[ACCESS_MOST]);
  to->v[ACCESS_OFFSETS] |= m->v[ACCESS_OFFSETS];
  to->v[ACCESS_AGAIN] += m->v[ACCESS_AGAIN];
}

static void add_access(ProfileModel *m, KernelProfile *k, const RunMeasure *x) {
  for (uint32_t i = 0; i < k->accesses.len; i++)
    if (same_place(k->accesses.data[i].m, x)) {
      merge((RunMeasure *)k->accesses.data[i].m, x);
      return;
    }
  RunMeasure *own = ARENA_NEW(&m->arena, RunMeasure);
  *own = *x;
  vec_push(&k->accesses, (Access){.m = own});
}

static void add_branch(KernelProfile *k, const RunMeasure *x) {
  for (uint32_t i = 0; i < k->branches.len; i++) {
    Branch *b = &k->branches.data[i];
    if (b->file != x->file || b->line != x->line) continue;
    b->warps += x->v[BRANCH_WARPS];
    b->parted += x->v[BRANCH_PARTED];
    b->idle += x->v[BRANCH_IDLE];
    return;
  }
  vec_push(&k->branches,
           (Branch){x->file, x->line, x->v[BRANCH_WARPS], x->v[BRANCH_PARTED], x->v[BRANCH_IDLE]});
}

static void add_launch(ProfileModel *m, KernelProfile *k, const RunMeasure *x) {
  const uint64_t *v = x->v;
  bool larger = v[CALL_THREADS] * v[CALL_BLOCKS] >= k->threads * k->blocks;
  // times of a run without our code take precedence
  if (m->has_plain != (v[CALL_PLAIN] != 0)) return;
  bool node = v[CALL_KIND] == CALL_NODE;
  k->launches += !node;
  k->nodes += node && !v[CALL_STARTED];
  k->node_runs += node && v[CALL_STARTED];
  if (larger) {
    k->threads = v[CALL_THREADS];
    k->shared = v[CALL_SHARED];
    k->blocks = v[CALL_BLOCKS];
    k->cluster = v[CALL_CLUSTER];
  }
  if (!v[CALL_STARTED]) return;
  uint64_t ns = v[CALL_ENDED] - v[CALL_STARTED];
  k->ns += ns;
  if (node) return;
  k->timed++;
  if (ns > SHORT_LAUNCH_NS) return;
  k->short_launches++;
  k->short_ns += ns;
}

static double ideal_of(const RunMeasure *m) {
  const uint64_t *v = m->v;
  switch (v[ACCESS_SPACE]) {
    case SITE_GLOBAL:
      return v[ACCESS_SAME] == v[ACCESS_REQUESTS]
                 ? (double)v[ACCESS_REQUESTS]
                 : MAX((double)v[ACCESS_THREADS] * (double)v[ACCESS_BYTES] / 32,
                       (double)v[ACCESS_REQUESTS] * (double)MIN(v[ACCESS_BYTES], 1ull));
    case SITE_SHARED: return (double)v[ACCESS_LINES];
    default: return (double)v[ACCESS_REQUESTS];
  }
}

// Defined as in Nsight Compute: warps on a multiprocessor, averaged over the cycles in which it has
// any. If these exceed the kernel's time on all multiprocessors, some stamp was seen too late.
enum { FASTEST_GHZ = 3, MOST_PROCESSORS = 192 };
double profile_achieved_warps(const KernelProfile *k) {
  const uint64_t *v = k->achieved;
  if (!v[OCCUPANCY_ACTIVE] || !k->threads) return 0;
  if (k->ns && v[OCCUPANCY_ACTIVE] / FASTEST_GHZ / MOST_PROCESSORS > k->ns) return 0;
  double warps = (double)v[OCCUPANCY_CYCLES] / (double)v[OCCUPANCY_ACTIVE] *
                 (double)((k->threads + 31) / 32) / (double)k->threads;
  return warps <= 128 ? warps : 0;  // more than any device holds: a clock went back
}

double profile_spilled_bytes(const KernelProfile *k) {
  if (!k->resources) return 0;
  const uint64_t *v = k->resources->v;
  return (double)(v[RESOURCES_SPILL_STORES] + v[RESOURCES_SPILL_LOADS]) * (double)k->runs *
         (double)(k->blocks * k->threads);
}

// How long the kernel keeps each part of the device busy. If a GPU has measured the kernel's time,
// only the ratios of the peaks matter.
static void add_parts(const double *peak, KernelProfile *k) {
  k->parts[PART_ISSUE] = (double)k->warp_instructions / peak[PEAK_ISSUE];
  k->parts[PART_MEMORY] = profile_spilled_bytes(k) / peak[PEAK_MEMORY];
  for (uint32_t i = 0; i < k->accesses.len; i++) {
    Access *a = &k->accesses.data[i];
    const uint64_t *v = a->m->v;
    a->ideal = ideal_of(a->m);
    if (v[ACCESS_SPACE] == SITE_GLOBAL)
      k->parts[PART_MEMORY] += (double)v[ACCESS_UNITS] * 32 / peak[PEAK_MEMORY];
    if (v[ACCESS_SPACE] == SITE_SHARED)
      k->parts[PART_SHARED] += (double)v[ACCESS_UNITS] / peak[PEAK_SHARED];
    if (v[ACCESS_SPACE] == SITE_CONSTANT)
      k->parts[PART_ISSUE] += (double)(v[ACCESS_UNITS] - v[ACCESS_REQUESTS]) / peak[PEAK_ISSUE] * 4;
    if (v[ACCESS_SPACE] == SITE_GLOBAL && v[ACCESS_WHAT] == SITE_ATOMIC &&
        v[ACCESS_LEAST] == v[ACCESS_MOST])
      k->parts[PART_ATOMICS] += (double)v[ACCESS_REQUESTS] / peak[PEAK_ATOMICS];
  }
}

double profile_kernel_ns(const KernelProfile *k) {
  double most = 0;
  for (unsigned i = 0; i < PART_COUNT; i++) most = MAX(most, k->parts[i]);
  return most;
}

void profile_advise(ProfileModel *m, const KernelProfile *k, Advice a, Part part, double gain) {
  a.worth_ms = -1;
  a.gain_ns = gain;
  if (k) {
    double before = profile_kernel_ns(k), parts_after = 0;
    for (unsigned i = 0; i < PART_COUNT; i++)
      parts_after = MAX(parts_after, k->parts[i] - (i == part ? gain : 0));
    a.kernel = k->readable;
    // Parts do not overlap perfectly: for a part that is not the longest, half of the gain counts.
    double won = MAX(before - parts_after, gain / 2);
    if (k->ns && before > 0) a.worth_ms = MIN(won / before, 1.0) * (double)k->ns / 1e6;
    a.gain_ns = won;
  }
  if (!a.instead) a.instead = profile_rules[a.rule].instead;
  vec_push(&m->advice, a);
}

static int by_gain(const void *x, const void *y) {
  const Advice *a = x, *b = y;
  double first = a->worth_ms >= 0 ? a->worth_ms * 1e6 : a->gain_ns;
  double second = b->worth_ms >= 0 ? b->worth_ms * 1e6 : b->gain_ns;
  if (first != second) return first < second ? 1 : -1;
  if (a->line != b->line) return a->line < b->line ? -1 : 1;
  return (int)a->rule - (int)b->rule;
}

static void take(ProfileModel *m, StrMap *by_name, const RunMeasure *x) {
  // modules have kernels that the program never launches
  bool resources = !strcmp(x->what, MEASURE_RESOURCES);
  if (!strcmp(x->what, MEASURE_STALLS) || !strcmp(x->what, MEASURE_SPILL) || !x->kernel ||
      (resources && !strmap_get(by_name, x->kernel)))
    return;
  KernelProfile *k = kernel_of(m, by_name, x->kernel);
  if (resources) k->resources = x;
  else if (!strcmp(x->what, MEASURE_ACCESS)) add_access(m, k, x);
  else if (!strcmp(x->what, MEASURE_BRANCH)) add_branch(k, x);
  else if (!strcmp(x->what, MEASURE_CALL)) add_launch(m, k, x);
  else if (!strcmp(x->what, MEASURE_UNIFORM)) k->uniform += x->v[0];
  else if (!strcmp(x->what, MEASURE_BUFFERS)) k->buffers = MAX(k->buffers, x->v[0]);
  else if (!strcmp(x->what, MEASURE_OCCUPANCY))
    for (unsigned i = 0; i < OCCUPANCY_COUNT; i++) k->achieved[i] += x->v[i];
  else if (!strcmp(x->what, MEASURE_WORK)) {
    k->work_warps += x->v[WORK_WARPS];
    k->work_sum += x->v[WORK_SUM];
    k->work_most = MAX(k->work_most, x->v[WORK_MOST]);
    k->first_file = x->file;
    k->first_line = x->line;
  }
}

// Without a second run, the run's own number of launches includes every run of a node.
static void count_runs(ProfileModel *m) {
  for (uint32_t i = 0; i < m->kernels.len; i++) {
    KernelProfile *k = m->kernels.data[i];
    k->runs = k->launches + MAX(k->nodes, k->node_runs);
    for (uint32_t n = 0; k->nodes && !m->has_plain && n < m->run->kernels.len; n++) {
      const RunKernel *r = m->run->kernels.data[n];
      if (r->name && !strcmp(r->name, k->name)) k->runs = MAX(k->runs, r->launches);
    }
  }
}

void profile_model_build(Run *r, ProfileModel *m) {
  StrMap by_name = {0};
  *m = (ProfileModel){.run = r};
  m->has_times = r->device && !strcmp(r->device, "gpu");
  Peaks *peaks = ARENA_NEW(&m->arena, Peaks);
  peaks_of(r, peaks);
  m->peaks = peaks;
  resources_read(r);
  for (uint32_t i = 0; i < r->measures.len; i++) {
    const RunMeasure *x = r->measures.data[i];
    m->has_plain |= !strcmp(x->what, MEASURE_CALL) && x->v[CALL_PLAIN];
    if (strcmp(x->what, MEASURE_TIMES)) continue;
    m->times = x->text;  // those of a second run come last
    m->has_times = true;
  }
  for (uint32_t i = 0; i < r->measures.len; i++) take(m, &by_name, r->measures.data[i]);
  for (uint32_t i = 0; i < r->counts.len; i++) {
    const RunCount *c = r->counts.data[i];
    KernelProfile *k = kernel_of(m, &by_name, c->kernel);
    k->instructions += c->total;
    k->warp_instructions += c->warp_total;
    k->floats += c->classes[FLOAT_CLASS];
    for (unsigned n = 0; n < ARRAY_LEN(k->classes); n++) k->classes[n] += c->classes[n];
    if (!k->first_line || c->line < k->first_line) {
      k->first_file = c->file;
      k->first_line = c->line;
    }
  }
  strmap_free(&by_name);
  count_runs(m);
  for (uint32_t i = 0; i < m->kernels.len; i++) {
    add_parts(m->peaks->of, m->kernels.data[i]);
    m->has_times |= m->kernels.data[i]->ns != 0;
  }
  for (uint32_t i = 0; i < m->kernels.len; i++) {
    profile_rules_memory(m, m->kernels.data[i]);
    profile_rules_control(m, m->kernels.data[i]);
    profile_rules_occupancy(m, m->kernels.data[i]);
  }
  profile_rules_calls(m);
  qsort(m->advice.data, m->advice.len, sizeof *m->advice.data, by_gain);
}

void profile_model_free(ProfileModel *m) {
  for (uint32_t i = 0; i < m->kernels.len; i++) {
    vec_free(&m->kernels.data[i]->accesses);
    vec_free(&m->kernels.data[i]->branches);
  }
  vec_free(&m->kernels);
  vec_free(&m->advice);
  vec_free(&m->calls);
  arena_free(&m->arena);
}
