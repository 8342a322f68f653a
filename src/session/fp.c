// fpcheck: whether what a launch reads and what it writes are different allocations.
#include "session/internal.h"

bool session_fp_apart(const WovenKernel *code, const SessionParams *params) {
  if (!code->nfp_writes) return false;
  for (uint32_t w = 0; w < code->nfp_writes; w++) {
    WgMemoryRange to, from;
    uint64_t pointer;
    if (!session_fact_pointer(&code->fp_writes[w], params, &pointer) || !session_ranges_find(pointer, &to)) return false;
    for (uint32_t r = 0; r < code->nfp_reads; r++)
      if (!session_fact_pointer(&code->fp_reads[r], params, &pointer) || !session_ranges_find(pointer, &from) || from.base == to.base) return false;
  }
  return true;
}
