// --fail-if.
#ifndef WG_PROFILE_REPORT_BUDGET_H
#define WG_PROFILE_REPORT_BUDGET_H

#include "tools/profile/report_model.h"

bool budget_check(const char *list, Error *err);  // whether it is well formed
// Adds a line for each kernel that is over one of the limits.
bool budget_over(const ProfileModel *m, const char *list, Str *out);

#endif
