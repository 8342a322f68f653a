// profile inside the command: what to change first, then each kernel with its lines.
#include "report/report.h"
#include "base/json.h"
#include "tools/profile/report_model.h"
#include "tools/report.h"

enum { FIRST_SHOWN = 3, ADVICE_SHOWN = 20, LINES_SHOWN = 12 };

static void add_place(const Advice *a, Str *out) {
  if (a->file) str_printf(out, "%s:%u", report_path(a->file), a->line);
  else if (a->line) str_printf(out, "PTX line %u", a->line);
  else str_add(out, "the program");
}

static void add_advice(const Advice *a, uint32_t number, Str *out) {
  str_printf(out, "  %u. ", number);
  add_place(a, out);
  str_printf(out, ": %s (%s)\n", profile_rules[a->rule].what, profile_rules[a->rule].name);
  if (a->kernel) str_printf(out, "     kernel %s\n", a->kernel);
  str_printf(out, "     %s\n", a->evidence);
  if (a->worth_ms >= 0) str_printf(out, "     worth about %.3g ms\n", a->worth_ms);
  str_printf(out, "     %s\n", a->instead);
}

static void add_first(const ProfileModel *m, bool all, Str *out) {
  uint32_t shown = MIN(m->advice.len, all ? m->advice.len : (uint32_t)FIRST_SHOWN);
  if (!m->kernels.len) return;
  if (!shown) {
    str_add(out, " \nprofile: no rule found anything to change\n");
    return;
  }
  if (shown == 1) str_add(out, " \nprofile: what to change\n");
  else str_printf(out, " \nprofile: the %u things to change first\n", shown);
  for (uint32_t i = 0; i < shown; i++) add_advice(&m->advice.data[i], i + 1, out);
  if (shown < m->advice.len)
    str_printf(out, "  and %u more (-v names them all)\n", m->advice.len - shown);
  if (!m->has_times)
    str_add(out, "  The virtual device has no times: the order is by sectors, wavefronts and "
                 "instructions.\n");
}

static int by_units(const void *x, const void *y) {
  const Access *a = x, *b = y;
  if (a->m->v[ACCESS_SPACE] != b->m->v[ACCESS_SPACE])
    return a->m->v[ACCESS_SPACE] < b->m->v[ACCESS_SPACE] ? -1 : 1;
  if (a->m->v[ACCESS_UNITS] != b->m->v[ACCESS_UNITS])
    return a->m->v[ACCESS_UNITS] < b->m->v[ACCESS_UNITS] ? 1 : -1;
  return a->m->line < b->m->line ? -1 : a->m->line > b->m->line;
}

static void add_access_row(const Access *a, Str *out) {
  static const char *const words[3][3] = {
      {"load", "store", "atomic"}, {"load.sh", "store.sh", "atomic.sh"}, {"constant", "", ""}};
  const uint64_t *v = a->m->v;
  double n = (double)MAX(v[ACCESS_REQUESTS], 1ull);
  str_printf(out, "  %-9s %12llu %8.2f %8.2f  ", words[v[ACCESS_SPACE] % 3][v[ACCESS_WHAT] % 3],
             (unsigned long long)v[ACCESS_REQUESTS], (double)v[ACCESS_UNITS] / n, a->ideal / n);
  if (a->m->file) str_printf(out, "%s:%u  ", report_path(a->m->file), a->m->line);
  else str_printf(out, "PTX line %u  ", a->m->line);
  profile_pattern(a->m, out);
  str_addc(out, '\n');
}

static void add_kernel(KernelProfile *k, bool all, Str *out) {
  double lanes = k->warp_instructions
                     ? 100.0 * (double)k->instructions / (double)k->warp_instructions / 32
                     : 0;
  str_printf(out, " \nprofile: kernel %s\n", k->readable);
  str_printf(out, "  %llu instructions of warps, %.1f%% of their lanes active",
             (unsigned long long)k->warp_instructions, lanes);
  if (k->launches)
    str_printf(out, "; %llu launch%s, %llu threads a block", (unsigned long long)k->launches,
               k->launches == 1 ? "" : "es", (unsigned long long)k->threads);
  if (k->ns) str_printf(out, ", %.3g ms", (double)k->ns / 1e6);
  str_addc(out, '\n');
  if (!k->accesses.len) return;
  qsort(k->accesses.data, k->accesses.len, sizeof *k->accesses.data, by_units);
  str_printf(out, "  %-9s %12s %8s %8s  line, pattern\n", "access", "requests", "each", "ideal");
  uint32_t shown = all ? k->accesses.len : MIN(k->accesses.len, (uint32_t)LINES_SHOWN);
  for (uint32_t i = 0; i < shown; i++) add_access_row(&k->accesses.data[i], out);
  if (shown < k->accesses.len)
    str_printf(out, "  and %u more accesses (-v names them all)\n", k->accesses.len - shown);
}

static int by_model(const void *x, const void *y) {
  const KernelProfile *a = *(KernelProfile *const *)x, *b = *(KernelProfile *const *)y;
  double first = a->ns ? (double)a->ns : profile_kernel_ns(a),
         second = b->ns ? (double)b->ns : profile_kernel_ns(b);
  if (first != second) return first < second ? 1 : -1;
  return strcmp(a->name, b->name);
}

static void results(Run *r, bool all, Str *out) {
  ProfileModel m;
  if (!r->measures.len) return;
  profile_model_build(r, &m);
  add_first(&m, all, out);
  qsort(m.kernels.data, m.kernels.len, sizeof *m.kernels.data, by_model);
  for (uint32_t i = 0; i < m.kernels.len; i++) add_kernel(m.kernels.data[i], all, out);
  if (m.kernels.len)
    str_add(out, "  each: sectors of 32 bytes, wavefronts of shared memory or words of constant "
                 "memory in a request of a warp\n");
  profile_model_free(&m);
}

static void json_advice(const ProfileModel *m, Str *s) {
  json_key(s, "advice");
  str_addc(s, '[');
  for (uint32_t i = 0; i < m->advice.len; i++) {
    const Advice *a = &m->advice.data[i];
    str_add(s, i ? ",{" : "{");
    json_text(s, "rule", profile_rules[a->rule].name);
    json_text(s, "kernel", a->kernel);
    json_text(s, "file", a->file);
    if (a->line) json_number(s, a->file ? "line" : "ptx_line", a->line);
    json_text(s, "evidence", a->evidence);
    json_key(s, "worth_ms");
    if (a->worth_ms >= 0) str_printf(s, "%.6g", a->worth_ms);
    else str_add(s, "null");
    json_text(s, "instead", a->instead);
    str_addc(s, '}');
  }
  str_addc(s, ']');
}

static void json_access(const Access *a, Str *s) {
  static const char *const spaces[] = {"global", "shared", "constant"};
  static const char *const units[] = {"sectors", "wavefronts", "words"};
  static const char *const whats[] = {"load", "store", "atomic"};
  const uint64_t *v = a->m->v;
  Str text = {0};
  profile_pattern(a->m, &text);
  str_addc(s, '{');
  json_text(s, "file", a->m->file);
  json_number(s, a->m->file ? "line" : "ptx_line", a->m->line);
  json_text(s, "space", spaces[v[ACCESS_SPACE] % 3]);
  json_text(s, "what", whats[v[ACCESS_WHAT] % 3]);
  json_number(s, "bytes", v[ACCESS_BYTES]);
  json_number(s, "requests", v[ACCESS_REQUESTS]);
  json_number(s, "threads", v[ACCESS_THREADS]);
  json_number(s, units[v[ACCESS_SPACE] % 3], v[ACCESS_UNITS]);
  if (v[ACCESS_SPACE] == SITE_GLOBAL && v[ACCESS_WHAT] != SITE_ATOMIC)
    json_number(s, "lines", v[ACCESS_LINES]);
  json_key(s, "ideal");
  str_printf(s, "%.6g", a->ideal);
  json_text(s, "pattern", text.data);
  str_addc(s, '}');
  str_free(&text);
}

static void json_kernel(const KernelProfile *k, Str *s) {
  str_addc(s, '{');
  json_text(s, "kernel", k->readable);
  json_number(s, "instructions", k->instructions);
  json_number(s, "warp_instructions", k->warp_instructions);
  json_number(s, "launches", k->launches);
  if (k->ns) json_number(s, "ns", k->ns);
  json_key(s, "accesses");
  str_addc(s, '[');
  for (uint32_t i = 0; i < k->accesses.len; i++) {
    if (i) str_addc(s, ',');
    json_access(&k->accesses.data[i], s);
  }
  str_add(s, "]");
  json_key(s, "branches");
  str_addc(s, '[');
  for (uint32_t i = 0; i < k->branches.len; i++) {
    const Branch *b = &k->branches.data[i];
    str_add(s, i ? ",{" : "{");
    json_text(s, "file", b->file);
    json_number(s, b->file ? "line" : "ptx_line", b->line);
    json_number(s, "warps", b->warps);
    json_number(s, "parted", b->parted);
    str_addc(s, '}');
  }
  str_add(s, "]}");
}

static void json_results(Run *r, Str *s) {
  ProfileModel m;
  if (!r->measures.len) return;
  profile_model_build(r, &m);
  json_advice(&m, s);
  json_key(s, "kernels");
  str_addc(s, '[');
  for (uint32_t i = 0; i < m.kernels.len; i++) {
    if (i) str_addc(s, ',');
    json_kernel(m.kernels.data[i], s);
  }
  str_addc(s, ']');
  profile_model_free(&m);
}

const ToolReport tool_report_profile = {.results = results, .json_results = json_results};
