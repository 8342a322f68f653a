// diff_exceptions: what fpcheck found in two runs, side by side.
#ifndef WG_CLI_DIFF_EXCEPTIONS_H
#define WG_CLI_DIFF_EXCEPTIONS_H

#include "base/base.h"

// Prints what differs: 0: nothing, 1: something, -1: err says why they cannot be compared. Each
// file is a run file or a JSON report.
int cli_diff_exceptions(const char *path_a, const char *path_b, Error *err);

#endif
