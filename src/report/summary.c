// The end of a report: results of tools and the counts of errors.
#include "report/report.h"
#include "tools/report.h"

void report_results(Run *r, bool named, bool all, Str *out) {
  const ToolReport *tool;
  for (unsigned t = 0; (tool = tool_report_at(t)); t++)
    if (tool->results && tool_report_named(t, r->tools) == named) tool->results(r, all, out);
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
  bool host_checked = r->findings.len || r->checked_library_calls;
  if (report_has_tools(r) && (r->checked_launches || (host_checked && !r->launches))) return;
  str_printf(out, REPORT_WARNING "%s WAS CHECKED" REPORT_PLAIN "\n",
             report_has_tools(r) && host_checked ? "NO KERNEL" : "NOTHING");
}
