// Why the warps of a kernel wait, as shares of all samples of its warps. CUPTI has each reason
// twice: for all samples, and for those in which no other warp issued either (_not_issued); the
// first is used.
#include "tools/profile/report_stalls.h"

#include "base/json.h"

enum { SHOWN = 3, REASONS = 64 };
static const char prefix[] = "smsp__pcsamp_warps_issue_stalled_";

typedef struct Reason {
  const char *name;  // "long_scoreboard"
  uint64_t samples;
} Reason;
typedef struct Stalls {
  Reason reasons[REASONS];  // the most samples first
  uint32_t n;
  uint64_t samples;  // of warps that wait, are selected, or could have been
} Stalls;

// NULL: it is no reason of its own.
static const char *short_name(const char *name) {
  size_t n = strlen(prefix), length = strlen(name);
  static const char twice[] = "_not_issued";
  if (strncmp(name, prefix, n)) return NULL;
  if (length > sizeof twice && !strcmp(name + length - (sizeof twice - 1), twice)) return NULL;
  return name + n;
}

static const char *words_for(const char *name) {
#define STALL(end, what) \
  if (!strcmp(name, end)) return what;
#include "tools/profile/stalls.def"
#undef STALL
  return name;
}

static int by_samples(const void *x, const void *y) {
  const Reason *a = x, *b = y;
  if (a->samples != b->samples) return a->samples < b->samples ? 1 : -1;
  return strcmp(a->name, b->name);
}

static void find(const ProfileModel *m, const KernelProfile *k, Stalls *s) {
  *s = (Stalls){0};
  for (uint32_t i = 0; i < m->run->measures.len; i++) {
    const RunMeasure *x = m->run->measures.data[i];
    if (strcmp(x->what, MEASURE_STALLS) || !x->kernel || strcmp(x->kernel, k->name) || !x->text)
      continue;
    const char *name = short_name(x->text);
    if (!name) continue;
    s->samples += x->v[0];
    // not selected: it could have gone on, and another one did
    if (!strcmp(name, "selected") || !strcmp(name, "not_selected")) continue;
    uint32_t at = 0;
    while (at < s->n && strcmp(s->reasons[at].name, name)) at++;
    if (at == REASONS) continue;
    if (at == s->n) s->reasons[s->n++].name = name;
    s->reasons[at].samples += x->v[0];
  }
  qsort(s->reasons, s->n, sizeof *s->reasons, by_samples);
}

void stalls_text(const ProfileModel *m, const KernelProfile *k, bool all, Str *out) {
  Stalls s;
  find(m, k, &s);
  uint32_t shown = all ? s.n : MIN(s.n, (uint32_t)SHOWN);
  for (uint32_t i = 0; i < shown; i++) {
    double share = 100 * (double)s.reasons[i].samples / (double)s.samples;
    if (i && share < (all ? 1 : 5)) break;
    str_printf(out, "%s%.0f%% for %s (%s)", i ? ", " : "  its warps wait: ", share,
               words_for(s.reasons[i].name), s.reasons[i].name);
  }
  if (shown && s.samples) str_addc(out, '\n');
}

void stalls_json(const ProfileModel *m, const KernelProfile *k, Str *out) {
  Stalls s;
  find(m, k, &s);
  if (!s.samples) return;
  json_key(out, "stalls");
  str_addc(out, '{');
  json_number(out, "samples", s.samples);
  for (uint32_t i = 0; i < s.n; i++) json_number(out, s.reasons[i].name, s.reasons[i].samples);
  str_addc(out, '}');
}
