// A second run of the program, for a closer look at some of its kernels, where a tool's option asks
// for it (ToolRerun of tools/report.h). run.c does the running.
#ifndef WG_CLI_RERUN_H
#define WG_CLI_RERUN_H

#include "cli/cli.h"
#include "run/run.h"

typedef struct CliRerun {
  const struct ToolRerun *tool;  // NULL: no second run
  int64_t input;
  int output;
  uint64_t launches, kernels, checked, repeated, library_calls, checked_library_calls;
  uint32_t nkernels;
} CliRerun;
// false: it cannot be done with this standard input
bool cli_rerun_check(const Options *o, Error *err);
void cli_rerun_remember(CliRerun *a, const Options *o);  // before the first run
// after the first run. true: there is something to run again, and the environment names it
bool cli_rerun_begin(CliRerun *a, Run *r, RunStats *stats);
void cli_rerun_started(CliRerun *a);
void cli_rerun_end(CliRerun *a, Run *r, RunStats *stats, bool ran);

#endif
