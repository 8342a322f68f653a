// synccheck: where each lane is. All of it is called out of line, in unusual situations only; see
// tools/synccheck/abi.h for the data.
#include "probe/device.h"
#include "probe/probe_abi.h"
#include "tools/synccheck/abi.h"
#include "tools/synccheck/kinds.h"

void wg_report(uint64_t channel, uint32_t launch, uint32_t site, uint32_t kind, uint32_t size,
               uint64_t address, uint64_t value, uint64_t extra);

DEVICE uint32_t threads_of_block(void) {
  return device_ntid_x() * device_ntid_y() * device_ntid_z();
}
DEVICE uint32_t thread_number(void) {
  return device_tid_x() + device_ntid_x() * (device_tid_y() + device_ntid_y() * device_tid_z());
}
DEVICE uint32_t block_number(void) {
  return device_ctaid_x() +
         device_nctaid_x() * (device_ctaid_y() + device_nctaid_y() * device_ctaid_z());
}
DEVICE uint32_t warps_of_block(void) { return (threads_of_block() + 31) >> 5; }

// Lanes that the warp had at its start.
DEVICE uint32_t lanes_of_warp(void) {
  uint32_t rest = threads_of_block() - (thread_number() & ~31u);
  return rest >= 32 ? ~0u : (1u << rest) - 1;
}

DEVICE uint64_t warp_key(uint32_t launch) {
  return (uint64_t)launch << 32 | (block_number() * warps_of_block() + (thread_number() >> 5));
}

DEVICE WgWatchWarp *warp_place(uint64_t watch) {
  return &((WgWatch *)watch)
              ->warps[(device_smid() * 64 + (device_warpid() & 63)) & (WG_WATCH_WARPS - 1)];
}

// NULL: it has no place, or another warp took it.
DEVICE WgWatchWarp *own_warp(uint64_t watch, uint32_t launch) {
  WgWatchWarp *w = warp_place(watch);
  return *(volatile uint64_t *)&w->key == warp_key(launch) ? w : 0;
}

DEVICE uint32_t is_first(uint32_t lanes) { return (lanes & (0u - lanes)) == 1u << device_lane(); }

DEVICE WgWatchLane *lanes_of(uint64_t watch, const WgWatchWarp *w) {
  return ((WgWatch *)watch)->lanes[w - ((WgWatch *)watch)->warps];
}

// Called at the start of kernels whose warps need a place; all lanes are active.
void wg_sync_enter(uint64_t watch, uint32_t launch);
__attribute__((noinline)) void wg_sync_enter(uint64_t watch, uint32_t launch) {
  if (!watch) return;
  volatile WgWatchWarp *w = warp_place(watch);
  *(volatile uint32_t *)&lanes_of(watch, (const WgWatchWarp *)w)[device_lane()].waits = 0;
  if (!is_first(device_active_lanes())) return;
  w->gone = 0;
  w->dead = 0;
  w->wait_lanes = 0;
  w->barrier_site = 0;
  w->loop_site = 0;
  w->key = warp_key(launch);
}

// These lanes will not reach any further barrier, and leave without doing anything that others do
// after one.
void wg_sync_gone(uint64_t watch, uint32_t launch, uint32_t dead);
__attribute__((noinline)) void wg_sync_gone(uint64_t watch, uint32_t launch, uint32_t dead) {
  if (!watch) return;
  WgWatchWarp *w = own_warp(watch, launch);
  uint32_t lanes = device_active_lanes();
  if (!w || !is_first(lanes)) return;
  device_or32(&w->gone, lanes);
  if (dead) device_or32(&w->dead, lanes);
}

DEVICE uint32_t gone_lanes(WgWatchWarp *w) { return device_swap_or32(&w->gone, 0); }
DEVICE uint32_t dead_lanes(WgWatchWarp *w) { return device_swap_or32(&w->dead, 0); }

// --- barriers of a warp, shuffles and votes ---

// Groups of lanes of a warp that stand at different instructions may come here one after the other,
// at the same time, or together: compilers join calls that are alike. So the caller passes `here`,
// the lanes at the same place. Each lane announces its wait before it reads the others', so that of
// two lanes that wait for each other at least one sees it.
DEVICE uint32_t waits_of(const WgWatchLane *l) { return *(const volatile uint32_t *)&l->waits; }
DEVICE void clear_lanes(WgWatchLane *lanes, uint32_t which) {
  for (uint32_t l = 0; l < 32; l++)
    if (which >> l & 1) *(volatile uint32_t *)&lanes[l].waits = 0;
}

DEVICE void say_it_waits(WgWatchLane *own, uint32_t site, uint32_t mask, uint32_t what) {
  volatile WgWatchLane *l = own;
  l->mask = mask;
  l->what = what;
  l->site = site;
  device_fence();
  l->waits = 1;
  device_fence();
}

// For the watchdog.
DEVICE void leave_word(WgWatchWarp *w, uint32_t site, uint32_t mask, uint32_t what,
                       uint32_t lanes) {
  volatile WgWatchWarp *v = w;
  v->wait_site = site;
  v->wait_mask = mask;
  v->wait_what = what;
  v->wait_lanes = lanes;
}

// Fewer than 32 lanes reach a barrier of the block that the warp must execute as one. A missing
// lane may only be late: nothing makes diverged lanes reconverge before they read the active mask.
// So the lanes announce their place and wait in the barrier, and a lane that reaches another
// barrier, or ends, finds the announcement. may_end: threads may leave before barriers, and ended
// threads are not missed.
void wg_sync_barrier(uint64_t watch, uint64_t channel, uint32_t launch, uint32_t site,
                     uint32_t may_end, uint32_t here);
__attribute__((noinline)) void wg_sync_barrier(uint64_t watch, uint64_t channel, uint32_t launch,
                                               uint32_t site, uint32_t may_end, uint32_t here) {
  if (!watch) return;
  uint32_t missing = lanes_of_warp() & ~here;
  if (!missing) return;
  WgWatchWarp *w = own_warp(watch, launch);
  if (!w) return;
  uint32_t gone = gone_lanes(w);
  if (!may_end && missing & gone)
    wg_report(channel, launch, site, KIND_BARRIER_DIVERGENCE, WG_SYNC_DIVERGED, 0,
              here | (uint64_t)(missing & gone) << 32, 0);
  missing &= ~gone;
  if (!missing) return;
  WgWatchLane *lanes = lanes_of(watch, w);
  say_it_waits(&lanes[device_lane()], site, here | missing, WG_WATCH_BLOCK);
  device_meet(here);
  uint32_t agree = 0, differ = 0, other = 0, their_site = 0;
#pragma clang loop unroll(disable)
  for (uint32_t l = 0; l < 32; l++) {
    if (!(missing >> l & 1) || !waits_of(&lanes[l])) continue;
    uint32_t its = *(volatile uint32_t *)&lanes[l].site;
    if (*(volatile uint32_t *)&lanes[l].what != WG_WATCH_BLOCK)
      differ |= *(volatile uint32_t *)&lanes[l].mask & here ? 1u << l : 0;
    else if (its == site) agree |= 1u << l;
    else {
      if (its != their_site) other = 0;
      differ |= 1u << l;
      other |= 1u << l;
      their_site = its;
    }
  }
  device_meet(here);
  if (differ) {
    clear_lanes(lanes, differ | here);
    wg_report(channel, launch, site, KIND_BARRIER_DIVERGENCE, WG_SYNC_DIVERGED, 0,
              here | agree | (uint64_t)(missing & ~agree) << 32, 0);
    if (other)
      wg_report(channel, launch, their_site, KIND_BARRIER_DIVERGENCE, WG_SYNC_DIVERGED, 0,
                other | (uint64_t)((here | missing) & ~other) << 32, 0);
  } else if (!(missing & ~agree)) clear_lanes(lanes, here | missing);
}

// Some lanes that the mask names are not active here. what: the kind of instruction; lanes that
// meet at another instruction of the same kind are correct.
void wg_sync_warp(uint64_t watch, uint64_t channel, uint32_t launch, uint32_t site, uint32_t mask,
                  uint32_t what, uint32_t here);
__attribute__((noinline)) void wg_sync_warp(uint64_t watch, uint64_t channel, uint32_t launch,
                                            uint32_t site, uint32_t mask, uint32_t what,
                                            uint32_t here) {
  if (!watch) return;
  WgWatchWarp *w = own_warp(watch, launch);
  if (!w) return;
  uint32_t alive = lanes_of_warp() & ~dead_lanes(w), missing = mask & alive & ~here;
  if (!missing) return;
  WgWatchLane *lanes = lanes_of(watch, w);
  say_it_waits(&lanes[device_lane()], site, mask, what);
  device_meet(here);
  uint32_t agree = 0, differ = 0, their_site = 0;
#pragma clang loop unroll(disable)
  for (uint32_t l = 0; l < 32; l++) {
    if (!((alive & ~here) >> l & 1) || !waits_of(&lanes[l])) continue;
    uint32_t their_mask = *(volatile uint32_t *)&lanes[l].mask,
             their_what = *(volatile uint32_t *)&lanes[l].what;
    if (!(mask >> l & 1) && (their_what == WG_WATCH_BLOCK || !(their_mask & here))) continue;
    if (their_mask == mask && their_what == what) agree |= 1u << l;
    else {
      differ |= 1u << l;
      their_site = *(volatile uint32_t *)&lanes[l].site;
    }
  }
  device_meet(here);
  if (differ) {
    clear_lanes(lanes, differ | here);
    wg_report(channel, launch, site, KIND_BARRIER_MISMATCH, WG_SYNC_ELSEWHERE, 0,
              mask | (uint64_t)(differ & mask ? differ & mask : differ) << 32, their_site);
  } else if (!(missing & ~agree)) clear_lanes(lanes, mask);
  if (is_first(here))
    leave_word(w, site, mask, what, differ || !(missing & ~agree) ? 0 : here | agree);
}

// A shuffle reads lane `from`, which is in range. dead: lanes that have ended or never existed.
void wg_sync_source(uint64_t watch, uint64_t channel, uint32_t launch, uint32_t site, uint32_t mask,
                    uint32_t from);
__attribute__((noinline)) void wg_sync_source(uint64_t watch, uint64_t channel, uint32_t launch,
                                              uint32_t site, uint32_t mask, uint32_t from) {
  if (!watch || from > 31) return;
  uint32_t dead = ~lanes_of_warp();
  WgWatchWarp *w = own_warp(watch, launch);
  if (w) dead |= dead_lanes(w);
  if (dead >> from & 1)
    wg_report(channel, launch, site, KIND_BARRIER_MISMATCH, WG_SYNC_DEAD_LANE, 0,
              mask | (uint64_t)from << 32, 0);
}

// --- blocks: found by hashing, best effort ---

DEVICE uint64_t block_key(uint32_t launch) { return (uint64_t)launch << 32 | block_number(); }
DEVICE uint32_t place_of(uint64_t key) { return (uint32_t)((key * 0x9E3779B97F4A7C15ull) >> 40); }
enum { BUSY = 1 };  // a key that no block has: launch 0

// Sets *key to `own`, unless an entry of the same launch has the place. Entries of older launches
// are replaced. One lane does this for all active lanes: a lane that waits for another lane of its
// warp may wait forever.
DEVICE int claim(uint64_t *key, uint64_t own) {
  // the thread that makes it BUSY needs only a few instructions
  for (int i = 0; i < 1 << 20; i++) {
    uint64_t now = *(volatile uint64_t *)key;
    if (now == BUSY) continue;
    if (now >> 32 == own >> 32) return 0;
    if (device_swap_if64(key, now, BUSY) == now) return 1;
  }
  return 0;
}

// NULL: another block has the place.
DEVICE WgWatchBlock *own_block(uint64_t watch, uint32_t launch) {
  uint64_t key = block_key(launch);
  uint32_t here = device_active_lanes();
  WgWatchBlock *b = &((WgWatch *)watch)->blocks[place_of(key) & (WG_WATCH_BLOCKS - 1)];
  if (is_first(here) && claim(&b->key, key)) {
    volatile WgWatchBlock *v = b;
    v->left = 0;
    v->mbarriers = 0;
    v->most = 0;
    v->least = 0;
    for (int k = 0; k < WG_WATCH_MBARRIERS; k++) v->mbarrier[k] = 0;
    for (int k = 0; k < WG_WATCH_CALLS; k++) v->calls[k] = 0;
    device_fence();
    v->key = key;
  }
  device_meet(here);
  return *(volatile uint64_t *)&b->key == key ? b : 0;
}

// Some lanes of a warp end: lanes that wait for them would wait forever.
DEVICE void leave_others(uint64_t watch, uint64_t channel, uint32_t launch, WgWatchWarp *w,
                         uint32_t here) {
  WgWatchLane *lanes = lanes_of(watch, w);
  *(volatile uint32_t *)&lanes[device_lane()].waits = 0;
  if (!is_first(here)) return;
  uint32_t at_barrier = 0, barrier = 0, stays = here & ~gone_lanes(w);
#pragma clang loop unroll(disable)
  for (uint32_t l = 0; l < 32; l++) {
    if (here >> l & 1 || !waits_of(&lanes[l])) continue;
    uint32_t mask = *(volatile uint32_t *)&lanes[l].mask, at = *(volatile uint32_t *)&lanes[l].site;
    if (*(volatile uint32_t *)&lanes[l].what == WG_WATCH_BLOCK) {
      if (at != barrier) at_barrier = 0;
      at_barrier |= 1u << l;
      barrier = at;
    } else if (mask & here) {
      clear_lanes(lanes, ~here);
      *(volatile uint32_t *)&w->wait_lanes = 0;
      wg_report(channel, launch, at, KIND_BARRIER_MISMATCH, WG_SYNC_NEVER_CAME, 0,
                mask | (uint64_t)(mask & here) << 32, 0);
      break;
    }
  }
  if (at_barrier && stays) {
    clear_lanes(lanes, at_barrier);
    wg_report(channel, launch, barrier, KIND_BARRIER_DIVERGENCE, WG_SYNC_DIVERGED, 0,
              at_barrier | (uint64_t)stays << 32, 0);
  }
  device_or32(&w->gone, here);
  device_or32(&w->dead, here);
  device_and32(&w->wait_lanes, ~here);
}

// A thread ends. barriers: how many it has executed of those that some threads may miss; early: it
// left before them.
void wg_sync_leave(uint64_t watch, uint64_t channel, uint32_t launch, uint32_t barriers,
                   uint32_t site, uint32_t early);
__attribute__((noinline)) void wg_sync_leave(uint64_t watch, uint64_t channel, uint32_t launch,
                                             uint32_t barriers, uint32_t site, uint32_t early) {
  if (!watch) return;
  uint32_t here = device_active_lanes();
  WgWatchWarp *w = own_warp(watch, launch);
  if (w && here == lanes_of_warp()) {  // no thread is left that could wait
    if (is_first(here)) *(volatile uint32_t *)&w->wait_lanes = 0;
  } else if (w) leave_others(watch, channel, launch, w, here);
  if (site == ~0u) return;  // the kernel has no such barrier
  WgWatchBlock *b = own_block(watch, launch);
  if (!b) return;
  uint32_t leader = (uint32_t)__builtin_ctz(here), threads = 1;
  uint32_t its_barriers = device_read_lane(here, barriers, leader),
           its_site = device_read_lane(here, site, leader),
           its_early = device_read_lane(here, early, leader);
  // one lane acts for all with the same values
  if (device_ballot(here, barriers == its_barriers && site == its_site && early == its_early) ==
      here) {
    if (!is_first(here)) return;
    threads = (uint32_t)__builtin_popcount(here);
  }
  if (!early) {
    device_max64(&b->most, (uint64_t)barriers << 32 | site);
    device_max64(&b->least, (uint64_t)(0x7fffffffu - barriers) << 32 | thread_number());
  }
  device_fence();
  if (device_add32(&b->left, threads) + threads < threads_of_block()) return;
  device_fence();
  uint64_t most = *(volatile uint64_t *)&b->most, least = *(volatile uint64_t *)&b->least;
  uint32_t fewest = 0x7fffffffu - (uint32_t)(least >> 32);
  device_fence();
  *(volatile uint64_t *)&b->key = 0;
  if (least && most && (uint32_t)(most >> 32) > fewest)
    wg_report(channel, launch, (uint32_t)most, KIND_BARRIER_DIVERGENCE, WG_SYNC_SKIPPED, 0,
              most >> 32 | (uint64_t)fewest << 32, (uint32_t)least);
}

// --- functions that all threads of a block call ---

// number: of this thread's calls, from 1. All threads have made the call before the last one, so a
// place holds either this call or one that is over.
void wg_sync_group_call(uint64_t watch, uint64_t channel, uint32_t launch, uint32_t site,
                        uint64_t arguments, uint32_t number);
__attribute__((noinline)) void wg_sync_group_call(uint64_t watch, uint64_t channel, uint32_t launch,
                                                  uint32_t site, uint64_t arguments,
                                                  uint32_t number) {
  if (!watch) return;
  WgWatchBlock *b = own_block(watch, launch);
  if (!b) return;
  uint64_t *place = &b->calls[number % WG_WATCH_CALLS];
  uint64_t own = (uint64_t)number << 48 | arguments * 0x9E3779B97F4A7C15ull >> 16;
  uint64_t there = *(volatile uint64_t *)place;
  while (there >> 48 != own >> 48) {
    uint64_t found = device_swap_if64(place, there, own);
    if (found == there) return;
    there = found;
  }
  if (there != own)
    wg_report(channel, launch, site, KIND_BARRIER_MISUSE, WG_SYNC_ARGUMENTS, 0, 0, 0);
}

void wg_sync_unwaited(uint64_t watch, uint64_t channel, uint32_t launch, uint32_t site);
__attribute__((noinline)) void wg_sync_unwaited(uint64_t watch, uint64_t channel, uint32_t launch,
                                                uint32_t site) {
  if (!watch) return;
  wg_report(channel, launch, site, KIND_BARRIER_MISUSE, WG_SYNC_NOT_WAITED, 0, 0, 0);
}

// --- loops that the threads of a block share ---

// A thread ends; it came `visits` times to the loop, and its right neighbour should have come
// `expects` times.
void wg_sync_shared_loop(uint64_t watch, uint64_t channel, uint32_t launch, uint32_t site,
                         uint32_t visits, uint32_t expects);

// Adds up the visits of all threads of the block. One lane acts for those with the same numbers.
DEVICE void sum_up(WgWatchLoop *l, uint32_t here, uint32_t visits, uint32_t expects) {
  uint32_t leader = (uint32_t)__builtin_ctz(here);
  uint32_t alike = device_ballot(here, visits == device_read_lane(here, visits, leader) &&
                                           expects == device_read_lane(here, expects, leader));
  if (alike == here && !is_first(here)) return;
  device_max64(&l->most, visits);
  device_max64(&l->least, 0xffff - visits);
  device_max64(&l->expected, expects);
}

// Finds the first thread that came less often than its neighbours say it should have.
DEVICE void report_missing(const WgWatchLoop *l, uint64_t channel, uint32_t launch, uint32_t site,
                           uint32_t most) {
  uint32_t threads = threads_of_block(), width = device_ntid_x(), missing = 0, first = 0,
           fewest = 0, came = 0;
  for (uint32_t t = 0; t < threads; t++) {
    uint32_t own = *(const volatile uint32_t *)&l->visits[t],
             before = t % width ? *(const volatile uint32_t *)&l->visits[t - 1] : 0;
    uint32_t after = t % width + 1 < width ? *(const volatile uint32_t *)&l->visits[t + 1] : 0;
    uint32_t should = (before >> 16) > (after & 0xffff) ? before >> 16 : after & 0xffff;
    came += (own & 0xffff) == most;
    if ((own & 0xffff) < should && should < 0xffff && !missing++) {
      first = t;
      fewest = own & 0xffff;
    }
  }
  if (missing)
    wg_report(channel, launch, site, KIND_BARRIER_DIVERGENCE, WG_SYNC_MISSING, 0,
              fewest | (uint64_t)first << 32, came | (uint64_t)most << 32);
}

__attribute__((noinline)) void wg_sync_shared_loop(uint64_t watch, uint64_t channel,
                                                   uint32_t launch, uint32_t site, uint32_t visits,
                                                   uint32_t expects) {
  uint32_t threads = threads_of_block();
  if (!watch || threads > 1024) return;
  uint64_t key = (uint64_t)launch << 32 | (site + 1);
  uint32_t block = block_number();
  WgWatchLoop *l = &((WgWatch *)watch)->loops[place_of(key + block) & (WG_WATCH_LOOPS - 1)];
  uint32_t here = device_active_lanes();
  if (is_first(here) && claim(&l->key, key)) {
    *(volatile uint32_t *)&l->left = 0;
    *(volatile uint32_t *)&l->block = block;
    *(volatile uint64_t *)&l->most = 0;
    *(volatile uint64_t *)&l->least = 0;
    *(volatile uint64_t *)&l->expected = 0;
    device_fence();
    *(volatile uint64_t *)&l->key = key;
  }
  device_meet(here);
  if (*(volatile uint64_t *)&l->key != key || *(volatile uint32_t *)&l->block != block) return;
  visits = visits < 0xffff ? visits : 0xffff;
  expects = expects < 0xffff ? expects : 0xffff;
  *(volatile uint32_t *)&l->visits[thread_number()] = visits | expects << 16;
  here = device_active_lanes();
  sum_up(l, here, visits, expects);
  device_fence();
  device_meet(here);
  if (!is_first(here)) return;
  uint32_t n = (uint32_t)__builtin_popcount(here);
  if (device_add32(&l->left, n) + n < threads) return;
  device_fence();
  uint32_t most = (uint32_t) * (volatile uint64_t *)&l->most,
           least = 0xffff - (uint32_t) * (volatile uint64_t *)&l->least;
  // usual case: all came equally often, and as often as expected
  int complete = least == most && *(volatile uint64_t *)&l->expected <= most;
  if (!complete) report_missing(l, channel, launch, site, most);
  device_fence();
  *(volatile uint64_t *)&l->key = 0;
}

// --- mbarriers: addresses in the shared memory of the block ---

enum { MB_INIT, MB_INVAL, MB_USE, MB_ARRIVE };
void wg_sync_mbarrier(uint64_t watch, uint64_t channel, uint32_t launch, uint32_t site,
                      uint32_t address, uint32_t what, uint32_t count);
__attribute__((noinline)) void wg_sync_mbarrier(uint64_t watch, uint64_t channel, uint32_t launch,
                                                uint32_t site, uint32_t address, uint32_t what,
                                                uint32_t count) {
  if (!watch) return;
  WgWatch *all = (WgWatch *)watch;
  if (what == MB_INIT && (count == 0 || count >= 1u << 20)) {
    wg_report(channel, launch, site, KIND_BARRIER_MISUSE, WG_SYNC_ARRIVALS, address, count, 0);
    return;
  }
  WgWatchBlock *b = *(volatile uint32_t *)&all->mbarriers_lost ? 0 : own_block(watch, launch);
  if (!b) {
    if (what == MB_INIT) *(volatile uint32_t *)&all->mbarriers_lost = 1;
    return;
  }
  for (int k = 0; k < WG_WATCH_MBARRIERS; k++) {
    uint64_t m = *(volatile uint64_t *)&b->mbarrier[k];
    if (m >> 32 != address || !m) continue;
    if (what == MB_INVAL) device_swap_if64(&b->mbarrier[k], m, 0);
    if (what == MB_INIT) {
      device_swap_if64(&b->mbarrier[k], m, (uint64_t)address << 32 | count);
      wg_report(channel, launch, site, KIND_BARRIER_MISUSE, WG_SYNC_TWICE, address, (uint32_t)m, 0);
    }
    if (what == MB_ARRIVE && count > (uint32_t)m)
      wg_report(channel, launch, site, KIND_BARRIER_MISUSE, WG_SYNC_ARRIVALS, address, count,
                (uint32_t)m);
    return;
  }
  if (what == MB_INIT) {
    for (int k = 0; k < WG_WATCH_MBARRIERS; k++)
      if (device_swap_if64(&b->mbarrier[k], 0, (uint64_t)address << 32 | count) == 0) return;
    *(volatile uint32_t *)&all->mbarriers_lost = 1;
    return;
  }
  wg_report(channel, launch, site, KIND_BARRIER_MISUSE, WG_SYNC_UNINITIALISED, address, 0, 0);
}

// --- the watchdog ---

// A warp has run in a loop for a while. Returns 1 if the thread must end.
uint32_t wg_watch_loop(uint64_t watch, uint32_t launch, uint32_t site, uint32_t flags,
                       uint32_t turns, uint32_t state, uint64_t address);
__attribute__((noinline)) uint32_t wg_watch_loop(uint64_t watch, uint32_t launch, uint32_t site,
                                                 uint32_t flags, uint32_t turns, uint32_t state,
                                                 uint64_t address) {
  if (!watch) return 0;
  uint32_t here = device_active_lanes();
  if (is_first(here)) {
    uint64_t key = warp_key(launch);
    volatile WgWatchWarp *w = warp_place(watch);
    if (w->key != key) {
      w->gone = 0;
      w->dead = 0;
      w->wait_lanes = 0;
      w->barrier_site = 0;
      w->key = key;
    }
    w->loop_flags = flags;
    w->loop_lanes = here;
    w->loop_address = address;
    w->loop_state = state;
    w->loop_site = site + 1;
    w->loop_turns = turns;
  }
  return *(volatile uint32_t *)&((WgWatch *)watch)->stop == launch;
}
