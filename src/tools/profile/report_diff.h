// warpgrind profile --diff.
#ifndef WG_PROFILE_REPORT_DIFF_H
#define WG_PROFILE_REPORT_DIFF_H

#include "tools/profile/report_model.h"

// Prints what differs: 0: nothing, 1: something, -1: err says why they cannot be compared
int profile_diff(const char *path_a, const char *path_b, Error *err);

#endif
