// Peaks of the device that figures are compared with.
#include "tools/profile/report_peaks.h"

static const char *const names[PEAK_COUNT] = {
#define PEAK(id, name, value, what) name,
#include "tools/profile/peaks.def"
#undef PEAK
};

static const Peaks usual = {.of =
                                {
#define PEAK(id, name, value, what) value,
#include "tools/profile/peaks.def"
#undef PEAK
                                },
                            .device = "an H200"};

const char *peak_name(PeakId id) { return names[id]; }
const Peaks *peaks_get(void) { return &usual; }
