// warpgrind profile --calibrate: measures what the first GPU can do.
#ifndef WG_PROFILE_REPORT_CALIBRATE_H
#define WG_PROFILE_REPORT_CALIBRATE_H

#include "base/base.h"

// driver: its library. 0; -1: err says why not
int profile_calibrate(const char *driver, Error *err);

// --- report_calibrate_code.c ---
// What a thread of each kernel does in one turn of its loop.
enum { CALIBRATE_UNROLLED = 64, CALIBRATE_LOADS = 32 };
void calibrate_code(Str *out);  // PTX

#endif
