// memcheck: an index that a compiler's test has found outside of its array.
#include "probe/device.h"
#include "tools/memcheck/kinds.h"

void wg_report(uint64_t channel, uint32_t launch, uint32_t site, uint32_t kind, uint32_t size,
               uint64_t address, uint64_t value, uint64_t extra);

// outside: what the test says; 0: there is nothing to report.
void wg_memcheck_index(uint32_t outside, uint64_t index, uint64_t channel, uint32_t launch,
                       uint32_t site);
__attribute__((noinline)) void wg_memcheck_index(uint32_t outside, uint64_t index, uint64_t channel,
                                                 uint32_t launch, uint32_t site) {
  if (outside) wg_report(channel, launch, site, KIND_OOB_INDEX, 0, 0, index, 0);
}
