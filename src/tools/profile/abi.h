// Counters of the device for one access or branch, one after the other. The first eight are sums
// over all warp requests that were measured while they ran. Requests that the code determines
// without running are not in them (ProfileSite).
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
  SLOT_LEFT_OUT,  // requests that were not measured; sampled ones count for them
  SLOT_WORDS = 16
};

// On a GPU, only the first requests of an access on a multiprocessor are all measured. Later ones
// are sampled at random; each sampled request adds 1 << shift times its values. SAMPLE_ODDS: a
// random number below it skips the request; 0, the initial value of memory: none is skipped.
#define SAMPLE_ODDS(shift) (0u - (1u << (32 - (shift))))
#define SAMPLE_HASH 0x9e3779b1u  // times the clock: a random number
// The argument of a probe: a request's bytes, and by how many bits to shift its values.
enum { REQUEST_BYTES = 0xff, REQUEST_SHIFT = 8 };

// Sums of --profile-occupancy for a kernel, on each multiprocessor, with the clocks of that
// multiprocessor. ACTIVE + LAST: the cycles in which it had threads.
enum {
  STAMP_RESIDENT,  // threads that are on it now
  STAMP_ACTIVE,    // minus the clock whenever it became active, plus the clock of the end before
  STAMP_LAST,      // the clock when the last thread ended
  STAMP_CYCLES,    // of all threads
  STAMP_WORDS
};

// A branch has one counter: warps in which some lanes took it and others did not.
// The work of a warp, in instructions, when it ends: how many warps, their sum, the largest.
enum { WORK_WARPS, WORK_SUM, WORK_MOST, WORK_WORDS = 4 };

#endif
