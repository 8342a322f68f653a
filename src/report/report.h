// report: a run as text and as JSON, while it goes on, at its end, or from a run file. Formats:
// docs/reports.md.
#ifndef WG_REPORT_H
#define WG_REPORT_H

#include "base/base.h"
#include "run/run.h"

// --- style.c: marks in texts, for a terminal. All texts of this header may have them but those of
// whole files (json.c …). ---
#define REPORT_ERROR "\001"
#define REPORT_WARNING "\002"
#define REPORT_NOTE "\003"
#define REPORT_BOLD "\004"
#define REPORT_PLAIN "\005"
// marks become colours, or nothing
void report_style(const char *text, size_t n, bool colour, Str *out);

// --- text.c: lines without the ==PID== prefix, each ended by a newline ---
void report_finding(Run *r, const RunFinding *f, Str *out);
// place.c: readable; NULL: not known
const char *report_place_function(Run *r, const RunSite *s, uint32_t i);
void report_repeats(Run *r, Str *out);  // places that had more than one finding

// --- summary.c ---
void report_coverage(Run *r, bool all, Str *out);  // all: every kernel, however many
void report_summary(Run *r, bool all, Str *out);   // the last lines
double report_covered_percent(const Run *r);       // of the launches

// --- count.c ---
// what --tool=count found; nothing if it did not run
void report_counts(Run *r, bool all, Str *out);

// --- fp.c: findings of fpcheck ---
bool report_fp_finding(const RunFinding *f, Str *out);  // "1 / 0 = inf (f32)"; false: it is none
bool report_fp_json(const RunFinding *f, Str *out);  // ,"format":…,"value":…,"operands":[…]

// fp_table.c: places by format and exception; nothing if there are none
void report_fp_table(Run *r, Str *out);
// NaN or infinity was seen in it, and neither born nor read
bool report_fp_unexplained(const Run *r, const char *kernel);
void report_fp_verdicts(Run *r, Str *out);  // fp_verdict.c: what became of them

// --- json.c, sarif.c, junit.c: a whole run as one text ---
void report_json(Run *r, Str *out);
void report_sarif(Run *r, Str *out);
void report_junit(Run *r, Str *out);

// --- suppress.c, suppress_parse.c: findings nobody wants to hear of; docs/suppressions.md ---
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
