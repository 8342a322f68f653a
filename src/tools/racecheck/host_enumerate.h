// host_enumerate.c: addresses of all threads of a block, one by one. Guarded by race_lock.
#ifndef WG_RACECHECK_HOST_ENUMERATE_H
#define WG_RACECHECK_HOST_ENUMERATE_H

#include "tools/racecheck/host.h"

typedef struct RaceConstant {
  int64_t value;
  bool known;
} RaceConstant;
typedef struct RaceEnumeration {
  const RaceKernel *kernel;
  const RaceReaches *reaches;
  const bool *needs;              // by term: it occurs in one of them
  const RaceConstant *constants;  // by term: it is the same for all threads and iterations
  int64_t extent[3];              // threads of the block
  uint32_t lockstep;              // loops, by number: those that all threads execute together
  uint32_t turns[32];             // by loop: the most iterations; 0: not known, or it has none
} RaceEnumeration;

// Each thread only accesses bytes of its own, or bytes that no thread writes. false: not known
bool race_enumerate(const RaceEnumeration *e);

#endif
