// Two runs side by side, by kernel and line.
#include "report/report.h"

#include <math.h>

#include "tools/profile/report_diff.h"

typedef struct Side {
  uint64_t requests, units, looked;
} Side;
typedef struct Row {
  const char *kernel;
  char key[600];  // kernel, file name, line, space and SiteWhat: lines are compared by their number
  char name[300];
  Side a, b;
} Row;
typedef VEC(Row) Rows;

static const char *file_name(const char *path) {
  const char *slash = path ? strrchr(path, '/') : NULL;
  return slash ? slash + 1 : path ? path : "PTX";
}

static void add_side(Rows *rows, const ProfileModel *m, bool second) {
  for (uint32_t i = 0; i < m->kernels.len; i++)
    for (uint32_t n = 0; n < m->kernels.data[i]->accesses.len; n++) {
      const RunMeasure *x = m->kernels.data[i]->accesses.data[n].m;
      Row row = {.kernel = m->kernels.data[i]->readable};
      snprintf(row.name, sizeof row.name, "%s:%u %s", file_name(x->file), x->line,
               profile_site_kind(x));
      snprintf(row.key, sizeof row.key, "%.280s %s", row.kernel, row.name);
      uint32_t at = 0;
      while (at < rows->len && strcmp(rows->data[at].key, row.key)) at++;
      if (at == rows->len) vec_push(rows, row);
      Side *s = second ? &rows->data[at].b : &rows->data[at].a;
      s->requests += x->v[ACCESS_REQUESTS];
      s->units += x->v[ACCESS_UNITS];
      s->looked += profile_looked_at(x);
    }
}

static double each(const Side *s) {
  return s->requests ? (double)s->units / (double)s->requests : 0;
}

static bool print_advice(const char *title, const ProfileModel *m, const ProfileModel *other) {
  bool some = false;
  for (uint32_t i = 0; i < m->advice.len; i++) {
    const Advice *a = &m->advice.data[i];
    bool both = false;
    for (uint32_t k = 0; k < other->advice.len; k++) {
      const Advice *b = &other->advice.data[k];
      both |= a->rule == b->rule && a->line == b->line &&
              !strcmp(a->kernel ? a->kernel : "", b->kernel ? b->kernel : "");
    }
    if (!both)
      printf("%s: %s at %s:%u: %s\n", title, profile_rules[a->rule].name, file_name(a->file),
             a->line, a->evidence);
    some |= !both;
  }
  return some;
}

// Estimates differ from run to run; the more requests were measured, the less.
static bool is_same(const Side *a, const Side *b) {
  bool estimated = a->looked < a->requests || b->looked < b->requests;
  double within = estimated ? 8 / sqrt((double)MIN(a->looked, b->looked)) : 0;
  bool as_many = fabs((double)a->requests - (double)b->requests) <= within * (double)a->requests;
  return as_many && fabs(each(a) - each(b)) <= within * each(a);
}

static bool print_rows(const Rows *rows) {
  bool differs = false;
  for (uint32_t i = 0; i < rows->len; i++) {
    const Row *r = &rows->data[i];
    if (is_same(&r->a, &r->b)) continue;
    if (!differs) printf("%14s %14s %9s %9s  line\n", "requests", "then", "each", "then");
    differs = true;
    printf("%14llu %14llu %9.2f %9.2f  %s, %s\n", (unsigned long long)r->a.requests,
           (unsigned long long)r->b.requests, each(&r->a), each(&r->b), r->name, r->kernel);
  }
  return differs;
}

static const KernelProfile *kernel_named(const ProfileModel *m, const char *name) {
  for (uint32_t i = 0; i < m->kernels.len; i++)
    if (!strcmp(m->kernels.data[i]->readable, name)) return m->kernels.data[i];
  return NULL;
}

static void print_kernel(const KernelProfile *a, const KernelProfile *b) {
  printf("%14llu %14llu", (unsigned long long)(a ? a->warp_instructions : 0),
         (unsigned long long)(b ? b->warp_instructions : 0));
  if ((a && a->ns) || (b && b->ns))
    printf(" %9.4f %9.4f  %s\n", a ? (double)a->ns / 1e6 : 0, b ? (double)b->ns / 1e6 : 0,
           (a ? a : b)->readable);
  else printf(" %9s %9s  %s\n", "", "", (a ? a : b)->readable);
}

// Prints kernels whose numbers of executed instructions differ; times differ in every run.
static bool print_kernels(const ProfileModel *x, const ProfileModel *y) {
  bool differs = false;
  const ProfileModel *sides[] = {x, y};
  for (unsigned s = 0; s < 2; s++)
    for (uint32_t i = 0; i < sides[s]->kernels.len; i++) {
      const KernelProfile *k = sides[s]->kernels.data[i],
                          *other = kernel_named(sides[!s], k->readable);
      if (other && (s || other->warp_instructions == k->warp_instructions)) continue;
      if (!differs) printf("%14s %14s %9s %9s  kernel\n", "instructions", "then", "ms", "then");
      differs = true;
      print_kernel(s ? other : k, s ? k : other);
    }
  return differs;
}

int profile_diff(const char *path_a, const char *path_b, Error *err) {
  Run a = {0}, b = {0};
  if (!run_load(path_a, &a, err)) return -1;
  if (!run_load(path_b, &b, err)) {
    run_free(&a);
    return -1;
  }
  ProfileModel x, y;
  Rows rows = {0};
  profile_model_build(&a, &x);
  profile_model_build(&b, &y);
  add_side(&rows, &x, false);
  add_side(&rows, &y, true);
  bool differs = print_kernels(&x, &y);
  differs |= print_rows(&rows);
  differs |= print_advice("gone", &x, &y);
  differs |= print_advice("new", &y, &x);
  if (!differs) puts("both runs have the same counts and the same advice");
  vec_free(&rows);
  profile_model_free(&x);
  profile_model_free(&y);
  run_free(&a);
  run_free(&b);
  return differs;
}
