// --fail-if: limits for CI. KERNEL:METRIC > NUMBER; KERNEL is a part of a kernel's name, or * for
// all.
#include "base/options.h"
#include "tools/options.h"
#include "tools/profile/report_budget.h"

typedef struct Budget {
  char kernel[512], metric[64], relation[4];
  double limit;
} Budget;

static const char *const metrics[] = {"sectors/request", "wavefronts/request", "words/request",
                                      "sectors",         "instructions",       "idle",
                                      "advice"};

static bool is_metric(const char *name) {
  for (size_t i = 0; i < ARRAY_LEN(metrics); i++)
    if (!strcmp(metrics[i], name)) return true;
  for (unsigned i = 0; i < RULE_COUNT; i++)
    if (!strcmp(profile_rules[i].name, name)) return true;
  return false;
}

static bool parse(const char *text, Budget *b, Error *err) {
  const char *colon = strrchr(text, ':');
  memset(b, 0, sizeof *b);
  bool ok = colon && (size_t)(colon - text) < sizeof b->kernel &&
            sscanf(colon + 1, " %63[a-z/-] %3[<>=] %lf", b->metric, b->relation, &b->limit) == 3 &&
            is_metric(b->metric) && (!strcmp(b->relation, ">") || !strcmp(b->relation, ">="));
  if (!ok)
    return error_set(
        err,
        "--fail-if=%s: expected KERNEL:METRIC > NUMBER, with sectors/request, "
        "wavefronts/request, words/request, sectors, instructions, idle, advice or the "
        "name of a rule as METRIC.",
        text);
  memcpy(b->kernel, text, (size_t)(colon - text));
  return true;
}

// Entries are separated by commas, since the option may be repeated. Names of kernels may contain
// commas: an entry ends at the first comma where it is complete.
static bool each(const char *list, bool (*f)(void *user, const Budget *b), void *user, Error *err) {
  bool ok = true;
  char *copy = mem_strdup(list ? list : ""), *one = copy;
  while (ok && *one) {
    Budget b;
    char *end = one + strcspn(one, ";,"), separator = *end;
    *end = 0;
    while (!(ok = parse(one, &b, err)) && separator) {
      *end = separator;
      end += 1 + strcspn(end + 1, ";,");
      separator = *end;
      *end = 0;
    }
    ok = ok && (!f || f(user, &b));
    one = separator ? end + 1 : end;
    one += strspn(one, " ;,");
  }
  free(copy);
  return ok;
}

bool budget_check(const char *list, Error *err) { return each(list, NULL, NULL, err); }

static double per_request(const KernelProfile *k, SiteSpace space, bool whole) {
  double units = 0, requests = 0;
  for (uint32_t i = 0; i < k->accesses.len; i++) {
    const uint64_t *v = k->accesses.data[i].m->v;
    if (v[ACCESS_SPACE] != space || (space == SITE_GLOBAL && v[ACCESS_WHAT] == SITE_ATOMIC))
      continue;
    units += (double)v[ACCESS_UNITS];
    requests += (double)v[ACCESS_REQUESTS];
  }
  return whole ? units : requests > 0 ? units / requests : 0;
}

static bool counts_advice(const char *metric) {
  for (size_t i = 0; i + 1 < ARRAY_LEN(metrics); i++)
    if (!strcmp(metrics[i], metric)) return false;
  return true;
}

// How often a rule fires, or any rule; k NULL: rules about the program as a whole.
static double advice_of(const ProfileModel *m, const KernelProfile *k, const char *metric) {
  double n = 0;
  for (uint32_t i = 0; i < m->advice.len; i++) {
    const Advice *a = &m->advice.data[i];
    bool about = k ? a->kernel && !strcmp(a->kernel, k->readable) : !a->kernel;
    n += about && (!strcmp(metric, "advice") || !strcmp(profile_rules[a->rule].name, metric));
  }
  return n;
}

static double value_of(const ProfileModel *m, const KernelProfile *k, const char *metric) {
  if (!strcmp(metric, "sectors/request")) return per_request(k, SITE_GLOBAL, false);
  if (!strcmp(metric, "wavefronts/request")) return per_request(k, SITE_SHARED, false);
  if (!strcmp(metric, "words/request")) return per_request(k, SITE_CONSTANT, false);
  if (!strcmp(metric, "sectors")) return per_request(k, SITE_GLOBAL, true);
  if (!strcmp(metric, "instructions")) return (double)k->warp_instructions;
  if (!strcmp(metric, "idle"))
    return k->warp_instructions ? 1 - (double)k->instructions / (double)k->warp_instructions / 32
                                : 0;
  return advice_of(m, k, metric);
}

typedef struct Checking {
  const ProfileModel *model;
  Str *out;
  bool over;
} Checking;

static void add_limit(Checking *c, RunLimit limit) {
  if (limit.passed) {
    c->over = true;
    str_printf(c->out, "profile: over budget: %s\n", limit.passed);
  }
  vec_push(&c->model->run->limits, limit);
}

// of: a kernel, or the program
static void compare(Checking *c, const Budget *b, const char *of, double v) {
  Arena *arena = &c->model->run->arena;
  RunLimit limit = {
      arena_printf(arena, "%s of %s: not %s %.4g", b->metric, of, b->relation, b->limit), NULL};
  if (b->relation[1] ? v >= b->limit : v > b->limit)
    limit.passed = arena_printf(arena, "%s of %s is %.4g, and --fail-if allows %s%.4g", b->metric,
                                of, v, b->relation[1] ? "less than " : "", b->limit);
  add_limit(c, limit);
}

static bool check(void *user, const Budget *b) {
  Checking *c = user;
  bool every = !strcmp(b->kernel, "*"), found = every;
  for (uint32_t i = 0; i < c->model->kernels.len; i++) {
    const KernelProfile *k = c->model->kernels.data[i];
    if (!every && !strstr(k->readable, b->kernel)) continue;
    found = true;
    compare(c, b, k->readable, value_of(c->model, k, b->metric));
  }
  if (every && counts_advice(b->metric))
    compare(c, b, "the program", advice_of(c->model, NULL, b->metric));
  Arena *arena = &c->model->run->arena;
  if (!found)  // a limit that is never tested would always pass
    add_limit(c, (RunLimit){
                     arena_printf(arena, "%s of %s", b->metric, b->kernel),
                     arena_printf(arena, "no kernel with %s in its name was launched", b->kernel)});
  return true;
}

bool budget_over(const ProfileModel *m, const char *list, Str *out) {
  Checking c = {m, out, false};
  Error err = {{0}};
  each(list, check, &c, &err);
  return c.over;
}
