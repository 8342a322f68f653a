// Plots for the viewer: keys of the JSON report.
#ifndef WG_PROFILE_REPORT_PLOTS_H
#define WG_PROFILE_REPORT_PLOTS_H

#include "tools/profile/report_model.h"

// How far a kernel is below the roof of memory and arithmetic.
typedef struct Roofline {
  double bytes, floats;  // moved, and FP instructions of threads
  double intensity;      // floats for each byte; 0: no floats
  double attained;       // bytes (or floats) in a nanosecond, over the roof; 0: no times
  bool memory_bound;
} Roofline;
Roofline roofline_of(const ProfileModel *m, const KernelProfile *k);

// How well the blocks of the largest launch fill the device.
typedef struct Waves {
  double waves;  // rounds of blocks; 0: not known
  double full;   // the share of the last round, 0 to 1, that has a block
} Waves;
Waves waves_of(const ProfileModel *m, const KernelProfile *k);

void plots_kernel_json(const ProfileModel *m, const KernelProfile *k, Str *s);
void plots_json(const ProfileModel *m, Str *s);

#endif
