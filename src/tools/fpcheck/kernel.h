// What fpcheck's pass leaves for its half inside the program. Site.detail of its stores is the
// WgFpFormat of what is stored.
#ifndef WG_FPCHECK_KERNEL_H
#define WG_FPCHECK_KERNEL_H

#include "weave/weave.h"

typedef struct FpPointers {  // WovenKernel.tool_data, of kernels whose threads may run again
  const WeaveFact *reads, *writes;
  uint32_t nreads, nwrites;
} FpPointers;

#endif
