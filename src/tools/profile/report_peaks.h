// The most that the device can do.
#ifndef WG_PROFILE_REPORT_PEAKS_H
#define WG_PROFILE_REPORT_PEAKS_H

#include "run/run.h"

typedef enum PeakId {
#define PEAK(id, name, value, what) PEAK_##id,
#include "tools/profile/peaks.def"
#undef PEAK
  PEAK_COUNT
} PeakId;
typedef struct Peaks {
  double of[PEAK_COUNT];
  const char *device;  // the device they are of: "an H200"
} Peaks;

void peaks_of(Run *r, Peaks *p);              // the peaks to compare the run with
bool peaks_keep(const Peaks *p, Error *err);  // for later runs
void peaks_print(const Peaks *p);
const char *peak_name(PeakId id);

#endif
