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
  const char *device;  // whose they are: "an H200", or the name of the GPU that was measured
} Peaks;

// Those that --calibrate kept, if a GPU ran; else those of an H200. Lives as long as the process.
const Peaks *peaks_get(bool gpu);
const char *peak_name(PeakId id);
const char *peak_what(PeakId id);
// The file that --calibrate writes; NULL: there is no place for it.
char *peaks_path(void);
// "name value" in each line, the device's name in the first. false: it is not such a text
bool peaks_parse(const char *text, Peaks *out);

#endif
