// report: a run as text and as JSON, while it runs, at its end, or from a run file. Formats:
// docs/reports.md.
#ifndef WG_REPORT_H
#define WG_REPORT_H

#include "base/base.h"
#include "run/run.h"

// --- style.c: marks in texts, for a terminal. Every text of this header may have marks, except
// whole files (json.c …). ---
#define REPORT_ERROR "\001"
#define REPORT_WARNING "\002"
#define REPORT_NOTE "\003"
#define REPORT_BOLD "\004"
#define REPORT_PLAIN "\005"
// marks become colours, or nothing
void report_style(const char *text, size_t n, bool colour, Str *out);

// --- words.c: the words of the API of a finding (base/api_words.h) ---
const ApiWords *report_words(const RunFinding *f);
void report_kind_title(const ApiWords *w, const Kind *k, Str *out);

// --- text.c: lines without the ==PID== prefix, each ended by a newline ---
void report_finding(Run *r, const RunFinding *f, Str *out);
void report_repeats(Run *r, Str *out);  // places that had more than one finding

// --- summary.c ---
void report_coverage(Run *r, bool all, Str *out);  // all: every kernel, however many
void report_summary(Run *r, bool all, Str *out);   // the last lines
bool report_has_tools(const Run *r);               // some ran
double report_covered_percent(const Run *r);       // of the launches

// The numbers that tools measured: of the tools that --tool names, or of the others. all: every
// line
void report_results(Run *r, bool named, bool all, Str *out);

// --- place.c: places of device code ---
const char *report_place_function(Run *r, const RunSite *s, uint32_t i);  // NULL: not known
// The place to name where there is room for one: the innermost that is not in a header of the
// toolkit. s has places.
uint32_t report_main_place(const RunSite *s);
// for people: relative to the current folder where it lies below; NULL: "?"
const char *report_path(const char *file);
void report_add_site(Run *r, const RunSite *s, Str *out);   // " at b.cu:7 in f"
void report_json_site(Run *r, const RunSite *s, Str *out);  // ,"file":…,"line":…,"function":…

// --- names.c ---
// of the variable an instruction accesses; NULL: it has none of the program's
const char *report_object_name(Run *r, const RunSite *s);

// --- json.c, sarif.c, junit.c: a whole run as one text ---
void report_json(Run *r, Str *out);
void report_sarif(Run *r, Str *out);
void report_junit(Run *r, Str *out);
void report_json_measured(Run *r, Str *s);  // what tools measured, as keys

// --- suppress.c, suppress_parse.c: findings the user has suppressed; docs/suppressions.md ---
typedef struct ReportSuppressions ReportSuppressions;
// names of files with commas between them; NULL: err says where
ReportSuppressions *report_suppressions_read(const char *list, Error *err);
// on what the run has and on what it gets; s must stay
void report_suppressions_use(ReportSuppressions *s, Run *r);
void report_suppressions_free(ReportSuppressions *s);
// an entry that fits the finding
void report_suppression_entry(Run *r, const RunFinding *f, Str *out);
// how many were suppressed, by what, and what was not used
void report_suppressed(Run *r, bool all, Str *out);

#endif
