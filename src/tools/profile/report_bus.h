// The traffic on the bus between host and device.
#ifndef WG_PROFILE_REPORT_BUS_H
#define WG_PROFILE_REPORT_BUS_H

#include "tools/profile/report_model.h"

void bus_text(const ProfileModel *m, Str *out);
void bus_json(const ProfileModel *m, Str *s);

#endif
