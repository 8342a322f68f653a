// Data that fpcheck's pass hands to its half inside the program. For its stores, Site.detail is the
// WgFpFormat of the stored value.
#ifndef WG_FPCHECK_KERNEL_H
#define WG_FPCHECK_KERNEL_H

#include "weave/weave.h"

typedef struct FpPointers {  // WovenKernel.tool_data, of kernels whose threads may run again
  const WeaveFact *reads, *writes;
  uint32_t nreads, nwrites;
} FpPointers;

#endif
