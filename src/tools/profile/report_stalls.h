// Why the warps of kernels wait.
#ifndef WG_PROFILE_REPORT_STALLS_H
#define WG_PROFILE_REPORT_STALLS_H

#include "tools/profile/report_model.h"

void stalls_text(const ProfileModel *m, const KernelProfile *k, bool all, Str *out);
void stalls_json(const ProfileModel *m, const KernelProfile *k, Str *s);

#endif
