// --profile-trace.
#ifndef WG_PROFILE_REPORT_TRACE_H
#define WG_PROFILE_REPORT_TRACE_H

#include "tools/profile/report_model.h"

bool profile_trace_write(const ProfileModel *m, const char *path, Error *err);

#endif
