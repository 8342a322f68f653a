// The halves of the tools inside the command. The build lists them: every folder that has a
// report.c.
#include "tools/report.h"

#define TOOL_REPORT(name) extern const ToolReport tool_report_##name;
#include "all_reports.def"
#undef TOOL_REPORT

static const struct {
  const char *owner;
  const ToolReport *report;
} reports[] = {
#define TOOL_REPORT(name) {#name, &tool_report_##name},
#include "all_reports.def"
#undef TOOL_REPORT
};

const ToolReport *tool_report_at(unsigned number) {
  return number < ARRAY_LEN(reports) ? reports[number].report : NULL;
}

bool tool_report_named(unsigned number, const char *tools) {
  const char *owner = reports[number].owner;
  size_t n = strlen(owner);
  for (const char *at = tools; at && *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ','))
    if (!strncmp(at, owner, n) && (!at[n] || at[n] == ',')) return true;
  return false;
}

static const ToolReport *report_of(const char *name, size_t len) {
  static const ToolReport none = {0};
  for (unsigned i = 0; i < ARRAY_LEN(reports); i++)
    if (strncmp(reports[i].owner, name, len) == 0 && !reports[i].owner[len])
      return reports[i].report;
  return &none;
}

bool tool_sees_library_calls(const char *name, size_t len) {
  return report_of(name, len)->library_calls;
}

bool tool_patches(const char *name, size_t len) { return report_of(name, len)->patches; }

const ToolRerun *tool_rerun(const struct Options *o) {
  for (unsigned i = 0; i < ARRAY_LEN(reports); i++) {
    const ToolRerun *rerun = reports[i].report->rerun;
    if (rerun && rerun->asked(o)) return rerun;
  }
  return NULL;
}

const ToolReport *tool_report(const Kind *k) {
  static const ToolReport none = {0};
  for (unsigned i = 0; i < ARRAY_LEN(reports); i++)
    if (strcmp(reports[i].owner, k->owner) == 0) return reports[i].report;
  return &none;
}
