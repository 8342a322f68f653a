// report: a run as text and as JSON, while it goes on, at its end, or from a run file. Formats: docs/reports.md.
#ifndef WG_REPORT_H
#define WG_REPORT_H

#include "base/base.h"
#include "run/run.h"

// --- text.c: lines without the ==PID== prefix, each ended by a newline ---
void report_finding(Run *r, const RunFinding *f, Str *out);
const char *report_place_function(Run *r, const RunSite *s, uint32_t i);   // readable; NULL: not known
void report_repeats(Run *r, Str *out);                   // places that had more than one finding

// --- summary.c ---
void report_coverage(Run *r, bool all, Str *out);        // all: every kernel, however many
void report_summary(Run *r, Str *out);                   // the last lines
double report_covered_percent(const Run *r);             // of the launches

// --- count.c ---
void report_counts(Run *r, bool all, Str *out);          // what --tool=count found; nothing if it did not run

// --- fp.c: findings of fpcheck ---
bool report_fp_finding(const RunFinding *f, Str *out);   // "1 / 0 = inf (f32)"; false: it is none
bool report_fp_json(const RunFinding *f, Str *out);      // ,"format":…,"value":…,"operands":[…]

void report_fp_table(Run *r, Str *out);                  // fp_table.c: places by format and exception; nothing if there are none
void report_fp_verdicts(Run *r, Str *out);               // fp_verdict.c: what became of them; with --fp-flow

// --- json.c ---
void report_json(Run *r, Str *out);

#endif
