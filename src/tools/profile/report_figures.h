// Figures of a kernel as a whole: its instructions, its working set, its warps on a multiprocessor.
#ifndef WG_PROFILE_REPORT_FIGURES_H
#define WG_PROFILE_REPORT_FIGURES_H

#include "tools/profile/report_model.h"

void figures_text(const ProfileModel *m, const KernelProfile *k, Str *out);
void figures_json(const ProfileModel *m, const KernelProfile *k, Str *s);

#endif
