// How many warps of a kernel a multiprocessor holds.
#ifndef WG_PROFILE_REPORT_OCCUPANCY_H
#define WG_PROFILE_REPORT_OCCUPANCY_H

#include <stdint.h>

typedef enum {
  LIMIT_WARPS,
  LIMIT_BLOCKS,
  LIMIT_REGISTERS,
  LIMIT_SHARED,
  LIMIT_CLUSTER
} OccupancyLimit;
typedef struct OccupancyAsk {
  unsigned arch;       // 90
  uint32_t threads;    // of a block
  uint32_t registers;  // of a thread
  uint32_t shared;     // bytes of a block, static and dynamic
  uint32_t cluster;    // blocks of a cluster; 0, 1: none
} OccupancyAsk;
typedef struct Occupancy {
  uint32_t blocks, warps, most;  // of a multiprocessor; warps of most
  OccupancyLimit limit;
} Occupancy;
Occupancy occupancy_of(const OccupancyAsk *a);
int occupancy_knows(unsigned arch);
const char *occupancy_limit_name(OccupancyLimit l);  // "registers"

#endif
