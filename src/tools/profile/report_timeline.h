// How busy the device was, and what caused its idle time.
#ifndef WG_PROFILE_REPORT_TIMELINE_H
#define WG_PROFILE_REPORT_TIMELINE_H

#include "tools/profile/report_model.h"

void timeline_text(const ProfileModel *m, bool all, Str *out);
void timeline_json(const ProfileModel *m, Str *s);

#endif
