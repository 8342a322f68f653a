// What the device can do at most.
#ifndef WG_PROFILE_REPORT_PEAKS_H
#define WG_PROFILE_REPORT_PEAKS_H

#include "base/base.h"

typedef enum PeakId {
#define PEAK(id, name, value, what) PEAK_##id,
#include "tools/profile/peaks.def"
#undef PEAK
  PEAK_COUNT
} PeakId;
typedef struct Peaks {
  double of[PEAK_COUNT];
  const char *device;  // whose they are: "an H200"
} Peaks;

const Peaks *peaks_get(void);
const char *peak_name(PeakId id);

#endif
