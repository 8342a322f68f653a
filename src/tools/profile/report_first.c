// The first screen: the three things to change first. If one rule fires at several lines of a
// kernel, or for calls at several lines, that is one thing.
#include "tools/profile/report_first.h"

#include "report/report.h"

enum { FIRST_SHOWN = 3, LINES_NAMED = 6 };

typedef struct Thing {
  const Advice *first;  // the one worth most
  double worth_ms;      // of all its lines; < 0: there are no times
  double gain_ns;
} Thing;
typedef VEC(Thing) Things;

static bool is_same_thing(const Advice *a, const Advice *b) {
  return a->rule == b->rule && !a->kernel == !b->kernel &&
         (!a->kernel || !strcmp(a->kernel, b->kernel));
}

static int by_worth(const void *x, const void *y) {
  const Thing *a = x, *b = y;
  double first = a->worth_ms >= 0 ? a->worth_ms * 1e6 : a->gain_ns;
  double second = b->worth_ms >= 0 ? b->worth_ms * 1e6 : b->gain_ns;
  if (first != second) return first < second ? 1 : -1;
  return a->first < b->first ? -1 : a->first > b->first;
}

static void group(const ProfileModel *m, Things *out) {
  for (uint32_t i = 0; i < m->advice.len; i++) {
    const Advice *a = &m->advice.data[i];
    uint32_t at = 0;
    while (at < out->len && !is_same_thing(out->data[at].first, a)) at++;
    if (at == out->len) {
      vec_push(out, ((Thing){a, a->worth_ms, a->gain_ns}));
      continue;
    }
    if (a->worth_ms >= 0) out->data[at].worth_ms = MAX(out->data[at].worth_ms, 0.0) + a->worth_ms;
    out->data[at].gain_ns += a->gain_ns;
  }
  if (out->len) qsort(out->data, out->len, sizeof *out->data, by_worth);
}

static void add_place(const Advice *a, Str *out) {
  if (a->file) str_printf(out, "%s:%u", report_path(a->file), a->line);
  else if (a->line) str_printf(out, "PTX line %u", a->line);
  else str_add(out, "the program");
}

static void add_other_lines(const ProfileModel *m, const Advice *a, Str *out) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < m->advice.len; k++) {
    const Advice *b = &m->advice.data[k];
    if (b == a || !is_same_thing(a, b) || !b->file) continue;
    if (n++ >= LINES_NAMED) continue;
    str_printf(out, "%s%s:%u", n == 1 ? "     also at " : ", ", report_path(b->file), b->line);
  }
  if (n > LINES_NAMED) str_printf(out, " and %u more lines", n - LINES_NAMED);
  if (n) str_addc(out, '\n');
}

static void add_thing(const ProfileModel *m, const Thing *t, uint32_t number, Str *out) {
  const Advice *a = t->first;
  str_printf(out, "  %u. ", number);
  add_place(a, out);
  str_printf(out, ": %s (%s)\n", profile_rules[a->rule].what, profile_rules[a->rule].name);
  if (a->kernel) str_printf(out, "     kernel %s\n", a->kernel);
  str_printf(out, "     %s\n", a->evidence);
  add_other_lines(m, a, out);
  if (t->worth_ms >= 0) str_printf(out, "     worth about %.3g ms\n", t->worth_ms);
  str_printf(out, "     %s\n", a->instead);
}

// Compiler flags that would add the missing source lines.
static void add_flags(const Things *things, uint32_t shown, Str *out) {
  bool device = false, host = false;
  for (uint32_t i = 0; i < shown; i++) {
    const Advice *a = things->data[i].first;
    device |= !a->file && a->line;
    host |= !a->file && !a->line;
  }
  if (device)
    str_add(out, "  For lines of the source instead of PTX, compile with nvcc -lineinfo.\n");
  if (host) str_add(out, "  For lines of host code, compile with nvcc -g.\n");
}

void first_text(const ProfileModel *m, bool all, Str *out) {
  Things things = {0};
  if (!m->kernels.len && !m->calls.len) return;
  group(m, &things);
  uint32_t shown = all ? things.len : MIN(things.len, (uint32_t)FIRST_SHOWN);
  if (!shown) str_add(out, " \nprofile: no rule found anything to change\n");
  else if (shown == 1) str_add(out, " \nprofile: what to change\n");
  else str_printf(out, " \nprofile: the %u things to change first\n", shown);
  for (uint32_t i = 0; i < shown; i++) add_thing(m, &things.data[i], i + 1, out);
  if (shown < things.len)
    str_printf(out, "  and %u more (-v names them all)\n", things.len - shown);
  add_flags(&things, shown, out);
  if (shown && !m->has_times)
    str_add(out, "  The virtual device has no times: the order is by sectors, wavefronts and "
                 "instructions.\n");
  vec_free(&things);
}
