// What the device adds up for one access or branch: counters in a row. The first eight are sums of
// all warp requests that were looked at while they ran; what the code tells without running is not
// in them (ProfileSite).
#ifndef WG_PROFILE_ABI_H
#define WG_PROFILE_ABI_H

#include <stdint.h>

enum {
  SLOT_REQUESTS,
  SLOT_THREADS,
  SLOT_UNITS,   // global: sectors of 32 bytes; shared: wavefronts; constant: different words
  SLOT_LINES,   // global: lines of 128 bytes; atomics: different addresses; shared: phases
  SLOT_SAME,    // requests in which all lanes have one address …
  SLOT_UNIT,    // … consecutive ones
  SLOT_STRIDE,  // … ones with the same distance
  SLOT_OFF,     // consecutive ones that do not begin at a multiple of 32 bytes
  SLOT_SUMS,    // the largest of: distances, ~distances (32 bits); atomics: addresses, ~addresses
  SLOT_MOST = SLOT_SUMS,
  SLOT_NOT_LEAST,
  SLOT_OFFSETS,      // one bit for each multiple of 4 within 128 bytes where such requests began
  SLOT_EXTRA_UNITS,  // affine accesses: sectors more than an aligned request has
  SLOT_EXTRA_LINES,
  SLOT_WORDS = 16
};

// A branch has one: warps of which some lanes took it and others did not.
// The work of a warp, in instructions, when it ends: how many warps, their sum, the largest.
enum { WORK_WARPS, WORK_SUM, WORK_MOST, WORK_WORDS = 4 };

#endif
