// --fp-rerun: a second run of the program for kernels whose exceptions are not explained. run.c
// does the running.
#ifndef WG_CLI_FP_RERUN_H
#define WG_CLI_FP_RERUN_H

#include "cli/cli.h"
#include "run/run.h"

typedef struct CliRerun {
  int64_t input;
  int output;
  uint64_t launches, kernels, checked;
  uint32_t nkernels;
} CliRerun;
// false: it cannot be done with this standard input
bool cli_fp_rerun_check(const Options *o, Error *err);
void cli_fp_rerun_remember(CliRerun *a);  // before the first run
// after it. true: there is something to run again, and the environment says what
bool cli_fp_rerun_begin(CliRerun *a, const Options *o, Run *r, RunStats *stats);
void cli_fp_rerun_started(CliRerun *a);
void cli_fp_rerun_end(CliRerun *a, Run *r, RunStats *stats, bool ran);

#endif
