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
  SLOT_LEFT_OUT,  // requests for which others were looked at
  SLOT_WORDS = 16
};

// On a GPU only the first requests of an access on a multiprocessor are all looked at, later ones
// by chance; each of those adds 1 << shift times what it is. SAMPLE_ODDS: a random number below it
// leaves a request out; 0, as memory begins: none is left out.
enum { SAMPLE_AFTER = 256, SAMPLE_SHIFT = 5, SAMPLE_LESS_AFTER = 4096, SAMPLE_LESS_SHIFT = 6 };
#define SAMPLE_ODDS(shift) (0u - (1u << (32 - (shift))))
#define SAMPLE_HASH 0x9e3779b1u  // times the clock: a random number
// What a probe is told of a request: its bytes, and by how many bits to shift what it adds.
enum { REQUEST_BYTES = 0xff, REQUEST_SHIFT = 8 };

// What --profile-occupancy adds up for a kernel, on each multiprocessor; clocks are its own. ACTIVE
// and LAST together are the cycles in which it had threads.
enum {
  STAMP_RESIDENT,  // threads that are there now
  STAMP_ACTIVE,    // when it was idle before, less when it was not any more
  STAMP_LAST,      // the clock when the last thread ended
  STAMP_CYCLES,    // of all threads
  STAMP_WORDS
};

// A branch has one: warps of which some lanes took it and others did not.
// The work of a warp, in instructions, when it ends: how many warps, their sum, the largest.
enum { WORK_WARPS, WORK_SUM, WORK_MOST, WORK_WORDS = 4 };

#endif
