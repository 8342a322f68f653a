// Enters a finished copy or set into racecheck's shadow memory, in its stream.
#include "probe/kernel.h"

DEVICE uint64_t race_load(const uint64_t *at) { return *(const volatile uint64_t *)at; }
DEVICE uint64_t device_swap_if64(uint64_t *p, uint64_t was, uint64_t v) {
  uint64_t old;
  asm volatile("atom.cas.b64 %0, [%1], %2, %3;" : "=l"(old) : "l"(p), "l"(was), "l"(v) : "memory");
  return old;
}
#include "tools/racecheck/probe_copy.h"

// The first race is reported to the host.
DEVICE void tell(const WgRaceCopy *c, uint64_t entry, uint64_t address, uint32_t writes) {
  WgRaceMet *m = (WgRaceMet *)c->met;
  uint32_t before;
  asm volatile("atom.cas.b32 %0, [%1], 0, %2;"
               : "=r"(before)
               : "l"(&m->found), "r"((uint32_t)WG_RACE_MET_SOME)
               : "memory");
  if (before) return;
  *(volatile uint64_t *)&m->entry = entry;
  *(volatile uint64_t *)&m->address = address;
  *(volatile uint32_t *)&m->writes = writes;
  asm volatile("membar.sys;" ::: "memory");
  *(volatile uint32_t *)&m->found = WG_RACE_MET_ALL;
  asm volatile("membar.sys;" ::: "memory");
  asm volatile("{ .reg .b64 x; atom.add.u64 x, [%0], 1; }" ::"l"(c->count) : "memory");
}

extern "C" __attribute__((global)) __attribute__((launch_bounds(WG_RACE_COPY_THREADS))) void
wg_race_copies(const WgRaceCopy c) {
  uint64_t thread = (uint64_t)__nvvm_read_ptx_sreg_ctaid_x() * WG_RACE_COPY_THREADS +
                    thread_of_block(),
           threads = (uint64_t)__nvvm_read_ptx_sreg_nctaid_x() * WG_RACE_COPY_THREADS;
  bool told = false;
#pragma unroll
  for (uint32_t side = 0; side < 2; side++) {
    if (!c.side[side].rows) continue;
    for (uint64_t i = thread, all = race_copy_words_of(&c.side[side]); i < all; i += threads) {
      uint64_t address, with = race_copy_at(&c, side, i, &address);
      if (with && !told) tell(&c, with, address, !side), told = true;
    }
  }
}
