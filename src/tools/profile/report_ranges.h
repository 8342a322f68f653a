// Work that the program names (NVTX ranges): the launches and copies in each.
#ifndef WG_PROFILE_REPORT_RANGES_H
#define WG_PROFILE_REPORT_RANGES_H

#include "tools/profile/report_model.h"

typedef struct RangeSums {
  uint64_t launches, copies, bytes;
  uint64_t device_ns;  // of its launches; 0: not known
} RangeSums;

// All ranges with the same name inside the same enclosing ranges.
typedef struct RangeProfile {
  const char *name;
  uint32_t depth, parent;  // parent: its place in the list; UINT32_MAX: none
  uint64_t times, host_ns;
  RangeSums sums;
} RangeProfile;
typedef struct RangeBar {  // one of them
  const RunMeasure *m;
  uint32_t first, end;  // calls
  uint32_t profile;
} RangeBar;
typedef struct RangeModel {
  VEC(RangeProfile) list;  // those below a range follow it
  VEC(RangeBar) bars;      // in the order of their beginnings, thread by thread
} RangeModel;

void ranges_build(const ProfileModel *m, RangeModel *out);
void ranges_free(RangeModel *r);
void ranges_text(const ProfileModel *m, bool all, Str *out);
void ranges_json(const ProfileModel *m, Str *s);  // "ranges", and "bars" for a timeline

#endif
