// The first screen: what to change.
#ifndef WG_PROFILE_REPORT_FIRST_H
#define WG_PROFILE_REPORT_FIRST_H

#include "tools/profile/report_model.h"

void first_text(const ProfileModel *m, bool all, Str *out);

#endif
