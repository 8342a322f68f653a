// Which launches were checked, by which tools, and why others were not.
#include "report/report.h"
#include "tools/report.h"

enum { KERNELS_SHOWN = 20 };

bool report_has_tools(const Run *r) { return r->tools && strcmp(r->tools, "none") != 0; }

// --- launches that each tool has checked: not every tool can patch machine code ---

typedef struct Coverage {
  uint64_t launches, kernels, patched;  // patched: launches of machine code among them
  uint64_t library_calls;
  uint64_t
      repeated;  // of those in machine code: they repeat a checked one, and ran without patches
} Coverage;

// The next name of a list with commas between; *list starts at its beginning. NULL: there is none.
static const char *next_name(const char **list, size_t *len) {
  const char *name = *list;
  if (!name || !*name) return NULL;
  *len = strcspn(name, ",");
  *list = name + *len + (name[*len] == ',');
  return name;
}

static bool is_listed(const char *list, const char *name, size_t len) {
  size_t n;
  for (const char *p; (p = next_name(&list, &n));)
    if (n == len && strncmp(p, name, n) == 0) return true;
  return false;
}

static Coverage coverage_of(const Run *r, const char *tool, size_t len) {
  Coverage c = {.launches = r->checked_launches};
  if (tool_sees_library_calls(tool, len)) c.library_calls = r->checked_library_calls;
  if (tool_patches(tool, len)) c.repeated = r->repeated_launches;
  for (uint32_t i = 0; i < r->kernels.len; i++) {
    const RunKernel *k = r->kernels.data[i];
    if (k->patched_by && !is_listed(k->patched_by, tool, len)) {
      c.launches -= MIN(k->checked, c.launches);
      continue;
    }
    c.kernels += k->checked != 0;
    if (k->patched_by) c.patched += k->checked;
  }
  return c;
}

static double percent(const Run *r, const Coverage *c) {
  if (!r->launches && r->library_calls)
    return 100.0 * (double)c->library_calls / (double)r->library_calls;
  return r->launches ? 100.0 * (double)c->launches / (double)r->launches : 0;
}

// The percentage of the tool that has checked the fewest launches.
double report_covered_percent(const Run *r) {
  if (!report_has_tools(r)) return 0;
  double least = 100;
  size_t len;
  for (const char *list = r->tools, *tool; (tool = next_name(&list, &len));) {
    Coverage c = coverage_of(r, tool, len);
    least = MIN(least, percent(r, &c));
  }
  return least;
}

static bool only_library_calls(const Run *r) { return !r->launches && r->checked_library_calls; }

static void add_coverage(const Run *r, const char *tools, int len, const Coverage *c, Str *out) {
  unsigned long long calls = c->library_calls;
  if (only_library_calls(r)) {
    str_printf(out, "coverage (%.*s): %llu library calls\n", len, tools, calls);
    return;
  }
  words_printf(out, api_words(r->api), "coverage (%.*s): %llu launches (%.0f%%) of %llu {kernels}",
               len, tools, (unsigned long long)c->launches, percent(r, c),
               (unsigned long long)c->kernels);
  if (c->patched) str_printf(out, ", %llu of them in machine code", (unsigned long long)c->patched);
  if (c->patched && c->repeated)
    str_printf(out, " (%llu repeat a checked one)", (unsigned long long)c->repeated);
  if (calls) str_printf(out, ", %llu library calls", calls);
  str_addc(out, '\n');
}

// Adds one line; adds one line per tool if the tools have checked different launches.
static void add_coverages(const Run *r, Str *out) {
  size_t len = strcspn(r->tools, ",");
  Coverage first = coverage_of(r, r->tools, len);
  bool same = true;
  for (const char *list = r->tools, *tool; (tool = next_name(&list, &len));) {
    Coverage c = coverage_of(r, tool, len);
    same &= c.launches == first.launches && c.patched == first.patched &&
            c.library_calls == first.library_calls;
    first.repeated = MAX(first.repeated, c.repeated);
  }
  if (same) {
    add_coverage(r, r->tools, (int)strlen(r->tools), &first, out);
    return;
  }
  for (const char *list = r->tools, *tool; (tool = next_name(&list, &len));) {
    Coverage c = coverage_of(r, tool, len);
    add_coverage(r, tool, (int)len, &c, out);
  }
}

// Kernels of the same name in several modules or processes are one line if the reason is the same.
static bool said_before(const Run *r, uint32_t i) {
  const RunKernel *k = r->kernels.data[i];
  for (uint32_t j = 0; j < i; j++) {
    const RunKernel *o = r->kernels.data[j];
    if (o->launches && o->name == k->name && o->reason == k->reason && o->note == k->note)
      return true;
  }
  return false;
}

static uint64_t launches_of_all(const Run *r, const RunKernel *k) {
  uint64_t n = 0;
  for (uint32_t j = 0; j < r->kernels.len; j++) {
    const RunKernel *o = r->kernels.data[j];
    if (o->name == k->name && o->reason == k->reason && o->note == k->note) n += o->launches;
  }
  return n;
}

static void add_kernel(const Run *r, const RunKernel *k, Str *out) {
  unsigned long long launches = launches_of_all(r, k);
  if (k->reason) {
    str_printf(out, "not %s: %s (%llu launches): %s\n", report_has_tools(r) ? "checked" : "covered",
               k->readable, launches, k->reason);
    if (k->cure) str_printf(out, "  to have it covered: %s\n", k->cure);
  } else if (k->checked < k->launches && report_has_tools(r)) {
    str_printf(out, "%s: %llu of %llu launches\n", k->readable, (unsigned long long)k->checked,
               (unsigned long long)k->launches);
  }
  if (k->note) str_printf(out, "%s: %s\n", k->readable, k->note);
}

void report_coverage(Run *r, bool all, Str *out) {
  const ToolReport *tool;
  for (unsigned t = 0; (tool = tool_report_at(t)); t++)
    if (tool->verdicts) tool->verdicts(r, out);
  words_printf(out, api_words(r->api),
               "device: %s; {kernel} launches: %llu, different {kernels}: %llu", r->device,
               (unsigned long long)r->launches, (unsigned long long)r->different_kernels);
  if (r->library_calls)
    str_printf(out, ", library calls: %llu", (unsigned long long)r->library_calls);
  str_addc(out, '\n');
  if (report_has_tools(r)) add_coverages(r, out);
  uint32_t shown = 0, more = 0;
  for (uint32_t i = 0; i < r->kernels.len; i++) {
    const RunKernel *k = r->kernels.data[i];
    bool some_left_out = report_has_tools(r) && k->checked < k->launches;
    if (!k->launches || !(k->reason || k->note || some_left_out) || said_before(r, i)) continue;
    if (!all && shown >= KERNELS_SHOWN) more++;
    else {
      add_kernel(r, k, out);
      shown++;
    }
  }
  if (more)
    words_printf(out, api_words(r->api), "and %u more {kernels} with remarks (-v names them all)\n",
                 more);
  if (r->unrecorded)
    str_printf(out, "%u processes could not be recorded: too many ran at the same time\n",
               r->unrecorded);
  if (r->still_running)
    str_printf(
        out,
        "%u processes of the run have not ended: what they do from here on is not in this report\n",
        r->still_running);
}
