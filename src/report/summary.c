#include "report/report.h"
#include "tools/report.h"

enum { KERNELS_SHOWN = 20 };

static bool has_tools(const Run *r) { return r->tools && strcmp(r->tools, "none") != 0; }

double report_covered_percent(const Run *r) {
  return has_tools(r) && r->launches ? 100.0 * (double)r->checked_launches / (double)r->launches
                                     : 0;
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
    str_printf(out, "not %s: %s (%llu launches): %s\n", has_tools(r) ? "checked" : "covered",
               k->readable, launches, k->reason);
    if (k->cure) str_printf(out, "  to have it covered: %s\n", k->cure);
  } else if (k->checked < k->launches && has_tools(r)) {
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
               "device: %s; {kernel} launches: %llu, different {kernels}: %llu\n", r->device,
               (unsigned long long)r->launches, (unsigned long long)r->different_kernels);
  if (has_tools(r)) {
    uint64_t covered = 0;
    for (uint32_t i = 0; i < r->kernels.len; i++) covered += r->kernels.data[i]->checked != 0;
    words_printf(out, api_words(r->api),
                 "coverage (%s): %llu launches (%.0f%%) of %llu {kernels}\n", r->tools,
                 (unsigned long long)r->checked_launches, report_covered_percent(r),
                 (unsigned long long)covered);
  }
  uint32_t shown = 0, more = 0;
  for (uint32_t i = 0; i < r->kernels.len; i++) {
    const RunKernel *k = r->kernels.data[i];
    bool some_left_out = has_tools(r) && k->checked < k->launches;
    if (!k->launches || !(k->reason || k->note || some_left_out) || said_before(r, i)) continue;
    if (!all && shown >= KERNELS_SHOWN) more++;
    else {
      add_kernel(r, k, out);
      shown++;
    }
  }
  if (more)
    words_printf(out, api_words(r->api),
                 "and %u more {kernels} with something to say (-v names them all)\n", more);
  if (r->unrecorded)
    str_printf(out, "%u processes could not be recorded: too many ran at the same time\n",
               r->unrecorded);
  if (r->still_running)
    str_printf(
        out,
        "%u processes of the run have not ended: what they do from here on is not in this report\n",
        r->still_running);
}

void report_results(Run *r, bool all, Str *out) {
  const ToolReport *tool;
  for (unsigned t = 0; (tool = tool_report_at(t)); t++)
    if (tool->results) tool->results(r, all, out);
}

bool report_unexplained(const Run *r, const char *kernel) {
  const ToolReport *tool;
  for (unsigned t = 0; (tool = tool_report_at(t)); t++)
    if (tool->unexplained && tool->unexplained(r, kernel)) return true;
  return false;
}

void report_summary(Run *r, bool all, Str *out) {
  report_suppressed(r, all, out);
  uint64_t places, errors = run_count_findings(r, SEVERITY_ERROR, &places);
  uint64_t warnings = run_count_findings(r, SEVERITY_WARNING, NULL) -
                      (errors - r->findings_left_out);
  uint64_t notes = run_count_findings(r, SEVERITY_NOTE, NULL) - warnings -
                   (errors - r->findings_left_out);
  if (warnings || notes)
    str_printf(out, "%llu warnings, %llu notes\n", (unsigned long long)warnings,
               (unsigned long long)notes);
  str_printf(out, "%sERROR SUMMARY: %s%llu errors from %llu places" REPORT_PLAIN "\n",
             errors ? REPORT_ERROR : REPORT_BOLD, r->unfinished ? "at least " : "",
             (unsigned long long)errors, (unsigned long long)places);
  // calls of the host are checked, too
  if (has_tools(r) && (r->checked_launches || (r->findings.len && !r->launches))) return;
  str_printf(out, REPORT_WARNING "%s WAS CHECKED" REPORT_PLAIN "\n",
             has_tools(r) && r->findings.len ? "NO KERNEL" : "NOTHING");
}
