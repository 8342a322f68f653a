// fpcheck's files inside the command.
#ifndef WG_FPCHECK_REPORT_H
#define WG_FPCHECK_REPORT_H

#include "run/run.h"
#include "tools/fpcheck/abi.h"
#include "tools/fpcheck/kinds.h"

// --- report_makers.c ---
// names of kernels in which exceptions are born, and of kernels that read such an exception
void fp_report_makers(const Run *r, StrMap *makers);

// --- report_numbers.c ---
bool fp_report_detail(const RunFinding *f, Str *out);  // ": 1 / 0 = inf (f32)"
// ,"format":…,"value":…,"operands":[…]
void fp_report_numbers_json(const RunFinding *f, Str *out);

// --- report_table.c ---
// places by format and exception; nothing if there are none
void fp_report_table(Run *r, Str *out);

// --- report_diff.c ---
int fp_report_diff(const char *path_a, const char *path_b, Error *err);  // ToolDiff.compare

// --- report_verdicts.c: where the exceptions of each kernel went ---
void fp_report_verdicts(Run *r, Str *out);
// NaN or infinity was seen in it, and neither born nor read
bool fp_report_unexplained(const Run *r, const char *kernel);

#endif
