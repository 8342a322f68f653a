// Is all of this memory initialised? Runs before a launch, in its stream; the launch reads the
// answer (tools/initcheck/weave.c).
#include "probe/kernel.h"
#include "tools/initcheck/all_initialised_abi.h"

static const uint64_t GOOD = 0x0f0f0f0f0f0f0f0full;

// The bytes after the last whole 16 bytes of shadow; in the last byte, only bits that belong to
// memory.
DEVICE bool end_is_good(const WgWholePart *p) {
  uint64_t shadow = (p->bytes + 3) / 4;
  for (uint64_t i = shadow / 16 * 16; i < shadow; i++) {
    uint32_t left = (uint32_t)(p->bytes - i * 4), wanted = left >= 4 ? 15 : (1u << left) - 1;
    if ((load_bytes(p->shadow + i, 1) & wanted) != wanted) return false;
  }
  return true;
}

// false: some thread has found uninitialised memory
DEVICE bool look(const WgWholeWork *w, const WgWholePart *p, uint64_t thread, uint64_t threads) {
  uint64_t last = p->bytes / 64;           // pieces of 16 bytes of shadow
  for (uint64_t i = thread; i < last; i += WG_WHOLE_AHEAD * threads) {
    uint64_t low[WG_WHOLE_AHEAD], high[WG_WHOLE_AHEAD], all = GOOD;
#pragma unroll
    for (int n = 0; n < WG_WHOLE_AHEAD; n++) {
      low[n] = high[n] = GOOD;
      if (i + n * threads < last) load16(p->shadow + (i + n * threads) * 16, &low[n], &high[n]);
    }
#pragma unroll
    for (int n = 0; n < WG_WHOLE_AHEAD; n++) all &= low[n] & high[n];
    if (all != GOOD) {
      set32(w->answer, 1);
      set32(w->told, w->number);
      return false;
    }
    if (get32(w->answer)) return false;
  }
  return true;
}

extern "C" __attribute__((global)) __attribute__((launch_bounds(WG_WHOLE_THREADS))) void
wg_look_whole(const WgWholeWork w) {
  uint64_t thread = (uint64_t)__nvvm_read_ptx_sreg_ctaid_x() * WG_WHOLE_THREADS + thread_of_block(),
           threads = (uint64_t)__nvvm_read_ptx_sreg_nctaid_x() * WG_WHOLE_THREADS;
  if (!thread) {
    set32(w.later, 0);
    for (uint32_t i = 0; i < w.count; i++)
      if (!end_is_good(&w.parts[i])) {
        set32(w.answer, 1);
        set32(w.told, w.number);
      }
  }
  for (uint32_t i = 0; i < w.count; i++)
    if (!look(&w, &w.parts[i], thread, threads)) return;
}
