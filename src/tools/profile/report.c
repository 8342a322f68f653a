// profile inside the command: what to change first, then each kernel with its lines.
#include "report/report.h"

#include <math.h>

#include "base/json.h"
#include "base/options.h"
#include "tools/options.h"
#include "tools/profile/report_calibrate.h"
#include "tools/profile/report_budget.h"
#include "tools/profile/report_bus.h"
#include "tools/profile/report_diff.h"
#include "tools/profile/report_figures.h"
#include "tools/profile/report_first.h"
#include "tools/profile/report_model.h"
#include "tools/profile/report_plots.h"
#include "tools/profile/report_ranges.h"
#include "tools/profile/report_resources.h"
#include "tools/profile/report_stalls.h"
#include "tools/profile/report_timeline.h"
#include "tools/profile/report_trace.h"
#include "tools/report.h"

enum { LINES_SHOWN = 12 };

static int by_units(const void *x, const void *y) {
  const Access *a = x, *b = y;
  if (a->m->v[ACCESS_SPACE] != b->m->v[ACCESS_SPACE])
    return a->m->v[ACCESS_SPACE] < b->m->v[ACCESS_SPACE] ? -1 : 1;
  if (a->m->v[ACCESS_UNITS] != b->m->v[ACCESS_UNITS])
    return a->m->v[ACCESS_UNITS] < b->m->v[ACCESS_UNITS] ? 1 : -1;
  return a->m->line < b->m->line ? -1 : a->m->line > b->m->line;
}

typedef struct Row {  // accesses of a line with the same pattern
  const RunMeasure *first;
  char pattern[96];
  uint64_t requests, looked, units, accesses;
  double ideal;
} Row;

static void add_row(const Row *row, Str *out) {
  static const char *const words[3][3] = {
      {"load", "store", "atomic"}, {"load.sh", "store.sh", "atomic.sh"}, {"constant", "", ""}};
  const RunMeasure *m = row->first;
  double n = (double)MAX(row->requests, 1ull);
  str_printf(out, "  %-9s %12llu %8.2f %8.2f  ",
             words[m->v[ACCESS_SPACE] % 3][m->v[ACCESS_WHAT] % 3],
             (unsigned long long)row->requests, (double)row->units / n, row->ideal / n);
  if (m->file) str_printf(out, "%s:%u  ", report_path(m->file), m->line);
  else str_printf(out, "PTX line %u  ", m->line);
  str_add(out, row->pattern);
  if (row->accesses > 1) str_printf(out, " (%llu instructions)", (unsigned long long)row->accesses);
  if (row->looked < row->requests)
    str_printf(out, ", estimated from 1 in %.3g", n / (double)row->looked);
  str_addc(out, '\n');
}

static bool joins(const Row *row, const RunMeasure *m, const char *pattern) {
  const RunMeasure *f = row->first;
  return f->file == m->file && f->line == m->line && f->v[ACCESS_SPACE] == m->v[ACCESS_SPACE] &&
         f->v[ACCESS_WHAT] == m->v[ACCESS_WHAT] && !strcmp(row->pattern, pattern);
}

static void add_rows(const KernelProfile *k, bool all, Str *out) {
  VEC(Row) rows = {0};
  for (uint32_t i = 0; i < k->accesses.len; i++) {
    const Access *a = &k->accesses.data[i];
    Str text = {0};
    uint32_t at = 0;
    profile_pattern(a->m, &text);
    while (at < rows.len && !joins(&rows.data[at], a->m, text.data)) at++;
    if (at == rows.len) {
      vec_push(&rows, (Row){.first = a->m});
      snprintf(rows.data[at].pattern, sizeof rows.data[at].pattern, "%s", text.data);
    }
    rows.data[at].requests += a->m->v[ACCESS_REQUESTS];
    rows.data[at].looked += profile_looked_at(a->m);
    rows.data[at].units += a->m->v[ACCESS_UNITS];
    rows.data[at].ideal += a->ideal;
    rows.data[at].accesses++;
    str_free(&text);
  }
  uint32_t shown = all ? rows.len : MIN(rows.len, (uint32_t)LINES_SHOWN);
  for (uint32_t i = 0; i < shown; i++) add_row(&rows.data[i], out);
  if (shown < rows.len)
    str_printf(out, "  and %u more rows (-v names them all)\n", rows.len - shown);
  vec_free(&rows);
}

// The occupancy of other block sizes.
static void add_what_if(const KernelProfile *k, Str *out) {
  const uint64_t *v = k->resources->v;
  str_add(out, "  warps of a multiprocessor by threads of a block:");
  for (uint32_t threads = 32; threads <= 1024; threads *= 2) {
    OccupancyAsk a = {(unsigned)v[RESOURCES_ARCH], threads, (uint32_t)v[RESOURCES_REGISTERS],
                      (uint32_t)(v[RESOURCES_SHARED] + k->shared), (uint32_t)k->cluster};
    str_printf(out, " %u: %u", threads, occupancy_of(&a).warps);
  }
  str_add(out, "\n  by registers of a thread:");
  for (uint32_t registers = 32; registers <= 256; registers += 32) {
    OccupancyAsk a = {(unsigned)v[RESOURCES_ARCH], (uint32_t)k->threads, MIN(registers, 255u),
                      (uint32_t)(v[RESOURCES_SHARED] + k->shared), (uint32_t)k->cluster};
    str_printf(out, " %u: %u", a.registers, occupancy_of(&a).warps);
  }
  str_add(out, "\n  by KB of shared memory of a block:");
  for (uint32_t kb = 1; kb <= 128; kb *= 2) {
    OccupancyAsk a = {(unsigned)v[RESOURCES_ARCH], (uint32_t)k->threads,
                      (uint32_t)v[RESOURCES_REGISTERS], kb << 10, (uint32_t)k->cluster};
    str_printf(out, " %u: %u", kb, occupancy_of(&a).warps);
  }
  str_addc(out, '\n');
}

static void add_occupancy(const KernelProfile *k, bool all, Str *out) {
  Occupancy o;
  if (!profile_occupancy(k, &o)) return;
  const uint64_t *v = k->resources->v;
  str_printf(out,
             "  occupancy on sm_%llu: %u of %u warps, limited by %s; %llu registers, %llu bytes of "
             "shared memory\n",
             (unsigned long long)v[RESOURCES_ARCH], o.warps, o.most, occupancy_limit_name(o.limit),
             (unsigned long long)v[RESOURCES_REGISTERS],
             (unsigned long long)(v[RESOURCES_SHARED] + k->shared));
  if (k->cluster > 1)
    str_printf(out, "  clusters of %llu blocks, each within 16 multiprocessors or more\n",
               (unsigned long long)k->cluster);
  if (all) add_what_if(k, out);
}

// How busy the device is, and how far the kernel is below its roofline.
static void add_roof(const ProfileModel *m, const KernelProfile *k, Str *out) {
  Waves w = waves_of(m, k);
  Roofline r = roofline_of(m, k);
  double after = ceil(w.waves);
  if (w.waves > 0 && w.waves < 1)
    str_printf(out, "  the largest launch has blocks for %.2g%% of %s\n", 100 * w.waves,
               m->peaks->device);
  else if (w.waves > 0 && after <= 4 && after - w.waves > 0.3)
    str_printf(out, "  tail: its blocks fill %s %.2f times: the last round is %.0f%% full\n",
               m->peaks->device, w.waves, 100 * w.full);
  if (r.attained > 0)
    str_printf(out, "  %.0f%% of the roof of %s, bound by %s; %.3g FP instructions a byte\n",
               100 * r.attained, m->peaks->device, r.memory_bound ? "memory" : "arithmetic",
               r.intensity);
  else if (r.intensity > 0)
    str_printf(out, "  %.3g FP instructions a byte: on %s bound by %s\n", r.intensity,
               m->peaks->device, r.memory_bound ? "memory" : "arithmetic");
}

static void add_kernel(const ProfileModel *m, KernelProfile *k, bool all, Str *out) {
  double lanes = k->warp_instructions
                     ? 100.0 * (double)k->instructions / (double)k->warp_instructions / 32
                     : 0;
  str_printf(out, " \nprofile: kernel %s\n", k->readable);
  str_printf(out, "  %llu instructions of warps, %.1f%% of their lanes active",
             (unsigned long long)k->warp_instructions, lanes);
  if (k->launches)
    str_printf(out, "; %llu launch%s", (unsigned long long)k->launches,
               k->launches == 1 ? "" : "es");
  if (k->nodes)
    str_printf(out, "; %llu node%s of graphs", (unsigned long long)k->nodes,
               k->nodes == 1 ? "" : "s");
  if (k->node_runs)
    str_printf(out, ", which ran %llu time%s", (unsigned long long)k->node_runs,
               k->node_runs == 1 ? "" : "s");
  if (k->threads) str_printf(out, ", %llu threads a block", (unsigned long long)k->threads);
  if (k->ns) str_printf(out, ", %.3g ms", (double)k->ns / 1e6);
  str_addc(out, '\n');
  add_occupancy(k, all, out);
  figures_text(m, k, out);
  add_roof(m, k, out);
  stalls_text(m, k, all, out);
  if (!k->accesses.len) return;
  qsort(k->accesses.data, k->accesses.len, sizeof *k->accesses.data, by_units);
  str_printf(out, "  %-9s %12s %8s %8s  line, pattern\n", "access", "requests", "each", "ideal");
  add_rows(k, all, out);
}

static int by_model(const void *x, const void *y) {
  const KernelProfile *a = *(KernelProfile *const *)x, *b = *(KernelProfile *const *)y;
  double first = a->ns ? (double)a->ns : profile_kernel_ns(a),
         second = b->ns ? (double)b->ns : profile_kernel_ns(b);
  if (first != second) return first < second ? 1 : -1;
  return strcmp(a->name, b->name);
}

static bool has_estimates(const ProfileModel *m) {
  for (uint32_t i = 0; i < m->kernels.len; i++)
    for (uint32_t k = 0; k < m->kernels.data[i]->accesses.len; k++)
      if (m->kernels.data[i]->accesses.data[k].m->v[ACCESS_LOOKED]) return true;
  return false;
}

// For kernels of an installed OpenCL platform only the times are known.
static bool has_code(const ProfileModel *m) {
  return !m->times || strcmp(m->times, "events of OpenCL") != 0;
}

static void results(Run *r, bool all, Str *out) {
  ProfileModel m;
  if (!r->measures.len) return;
  profile_model_build(r, &m);
  first_text(&m, all, out);
  timeline_text(&m, all, out);
  bus_text(&m, out);
  ranges_text(&m, all, out);
  qsort(m.kernels.data, m.kernels.len, sizeof *m.kernels.data, by_model);
  bool woven = has_code(&m);
  for (uint32_t i = 0; woven && i < m.kernels.len; i++) add_kernel(&m, m.kernels.data[i], all, out);
  if (woven && m.kernels.len)
    str_add(out, "  each: sectors of 32 bytes, wavefronts of shared memory or words of constant "
                 "memory in a request of a warp\n");
  if (has_estimates(&m))
    str_add(out, "  estimated: not every request was looked at; --profile-exact looks at all\n");
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
  if (a->m->file) json_number(s, "ptx_line", v[ACCESS_PTX_LINE]);
  json_text(s, "space", spaces[v[ACCESS_SPACE] % 3]);
  json_text(s, "what", whats[v[ACCESS_WHAT] % 3]);
  json_number(s, "bytes", v[ACCESS_BYTES]);
  json_number(s, "requests", v[ACCESS_REQUESTS]);
  if (v[ACCESS_LOOKED]) json_number(s, "looked_at", v[ACCESS_LOOKED]);
  json_number(s, "threads", v[ACCESS_THREADS]);
  json_number(s, "asked_bytes", v[ACCESS_THREADS] * v[ACCESS_BYTES]);
  if (v[ACCESS_SPACE] == SITE_GLOBAL) json_number(s, "moved_bytes", 32 * v[ACCESS_UNITS]);
  json_number(s, units[v[ACCESS_SPACE] % 3], v[ACCESS_UNITS]);
  if (v[ACCESS_SPACE] == SITE_GLOBAL && v[ACCESS_WHAT] != SITE_ATOMIC)
    json_number(s, "lines", v[ACCESS_LINES]);
  json_key(s, "ideal");
  str_printf(s, "%.6g", a->ideal);
  json_text(s, "pattern", text.data);
  if (v[ACCESS_STRIDE] * 2 > v[ACCESS_REQUESTS] && v[ACCESS_LEAST] == v[ACCESS_MOST] &&
      v[ACCESS_WHAT] != SITE_ATOMIC)
    json_number(s, "stride", v[ACCESS_MOST]);
  str_addc(s, '}');
  str_free(&text);
}

static void json_occupancy(const KernelProfile *k, Str *s) {
  Occupancy o;
  if (!profile_occupancy(k, &o)) return;
  const uint64_t *v = k->resources->v;
  json_key(s, "occupancy");
  str_addc(s, '{');
  json_number(s, "arch", v[RESOURCES_ARCH]);
  json_number(s, "registers", v[RESOURCES_REGISTERS]);
  json_number(s, "shared", v[RESOURCES_SHARED] + k->shared);
  json_number(s, "threads", k->threads);
  json_number(s, "blocks", o.blocks);
  json_number(s, "warps", o.warps);
  json_number(s, "most_warps", o.most);
  json_text(s, "limit", occupancy_limit_name(o.limit));
  json_number(s, "spill_stores", v[RESOURCES_SPILL_STORES]);
  json_number(s, "spill_loads", v[RESOURCES_SPILL_LOADS]);
  str_addc(s, '}');
}

static void json_kernel(const ProfileModel *m, const KernelProfile *k, Str *s) {
  str_addc(s, '{');
  json_text(s, "kernel", k->readable);
  json_number(s, "instructions", k->instructions);
  json_number(s, "warp_instructions", k->warp_instructions);
  json_number(s, "launches", k->launches);
  if (k->nodes) json_number(s, "nodes", k->nodes);
  if (k->node_runs) json_number(s, "node_runs", k->node_runs);
  if (k->ns) json_number(s, "ns", k->ns);
  json_occupancy(k, s);
  figures_json(m, k, s);
  stalls_json(m, k, s);
  plots_kernel_json(m, k, s);
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
    json_kernel(&m, m.kernels.data[i], s);
  }
  str_addc(s, ']');
  plots_json(&m, s);
  timeline_json(&m, s);
  bus_json(&m, s);
  ranges_json(&m, s);
  profile_model_free(&m);
}

static bool is_named(const Options *o) {
  return options_text(o, OPT_TOOL) && strstr(options_text(o, OPT_TOOL), "profile");
}

static bool check_options(Options *o, Error *err) {
  const char *arch = options_text(o, OPT_PROFILE_ARCH);
  bool known = !strncmp(arch, "sm_", 3) && occupancy_knows((unsigned)strtoul(arch + 3, NULL, 10));
  if (options_given(o, OPT_FAIL_IF) && !budget_check(options_text(o, OPT_FAIL_IF), err))
    return false;
  if (options_flag(o, OPT_PROFILE_OCCUPANCY) && options_flag(o, OPT_PROFILE_STALLS))
    return error_set(err, "--profile-occupancy and --profile-stalls are for two runs: the stamps "
                          "of the first would be sampled too.");
  if (options_given(o, OPT_FAIL_IF) && !is_named(o))
    return error_set(err, "--fail-if is for --tool=profile.");
  // here, since the program starts before the tool's own start function is called
  if (known && is_named(o)) resources_start(o);
  return known || error_set(err, "--profile-arch=%s: not known; expected sm_70 to sm_121.", arch);
}

static void end(Run *r) { resources_end(); }

static bool over_limits(Run *r, const Options *o, Str *out) {
  ProfileModel m;
  bool over = false;
  if (!r->measures.len) return false;
  profile_model_build(r, &m);
  if (options_given(o, OPT_FAIL_IF)) over = budget_over(&m, options_text(o, OPT_FAIL_IF), out);
  Error err = {{0}};
  if (options_given(o, OPT_PROFILE_TRACE) &&
      !profile_trace_write(&m, options_text(o, OPT_PROFILE_TRACE), &err)) {
    str_printf(out, "%s\n", err.text);
    over = true;
  }
  profile_model_free(&m);
  return over;
}

// --- a second run, for times ---

static bool asks_rerun(const Options *o) {
  return options_flag(o, OPT_PROFILE_RERUN) && options_is(o, OPT_DEVICE, "gpu");
}

static bool wants_times(const Run *r, const char *kernel) { return true; }

static void prepare_rerun(void) {
  char variable[64];
  options_variable(OPT_PROFILE_PART, variable, sizeof variable);
  setenv(variable, "timeline", 1);
}

static const ToolRerun rerun = {.option = "profile-rerun",
                                .manner = "timed without counting",
                                .asked = asks_rerun,
                                .wants = wants_times,
                                .prepare = prepare_rerun};

const ToolReport tool_report_profile = {.check_options = check_options,
                                        .end = end,
                                        .results = results,
                                        .json_results = json_results,
                                        .over_limits = over_limits,
                                        .rerun = &rerun,
                                        .compare_results = profile_diff,
                                        .calibrate = profile_calibrate};
