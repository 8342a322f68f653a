// racecheck: describes a race.
#include "tools/racecheck/probe_same.h"
#include "tools/racecheck/kinds.h"

// The clock that the thread has read, and that would order the accesses if a fence had followed:
// the second and third of three clocks (tools/racecheck/probe_order.c).
DEVICE uint32_t race_was_told(uint64_t knows, uint32_t same_block) {
  uint32_t all = (uint32_t)(knows >> 21) & 0x1fffff,
           block = same_block ? (uint32_t)(knows >> 42) & 0x1fffff : 0;
  return all > block ? all : block;
}

// Whether the entry tells if others have made the same access. In a weak write, these bits are the
// value's.
DEVICE int race_has_several(uint64_t e) { return !(e & WG_RACE_WRITE) || e & WG_RACE_STRONG; }

// told: as `knows` of race_was_told
DEVICE uint32_t race_why(uint64_t old, uint64_t mine, uint32_t layout, uint32_t first,
                         RaceKnown known, uint64_t told) {
  if ((old ^ mine) >> WG_RACE_LAUNCH_AT) return WG_RACE_OTHER_LAUNCH;
  RacePair p = race_pair(old, mine, layout, first, known);
  if (race_is_async(old)) return WG_RACE_NOT_WAITED;
  if (WG_RACE_CLOCK_BITS(layout) &&
      p.was.clock < race_bounded(race_was_told(told, p.same_block), &p, layout, known) &&
      !race_ordered(&p, layout))
    return WG_RACE_NO_ACQUIRE;
  if (old & mine & WG_RACE_STRONG && (old | mine) & WG_RACE_CTA && !p.same_block)
    return WG_RACE_BLOCK_SCOPE;
  if (!p.same_block) return WG_RACE_OTHER_BLOCK;
  if (!(mine & WG_RACE_WRITE) && !(old & WG_RACE_WRITE) && old & WG_RACE_WROTE)
    return WG_RACE_OTHER_BLOCK;
  if (race_ordered(&p, layout))
    return race_has_several(old) && old & WG_RACE_BLOCKS ? WG_RACE_OTHER_BLOCK : WG_RACE_NO_BARRIER;
  if (!p.same_warp) return WG_RACE_NO_BARRIER;
  return (old ^ mine) >> WG_RACE_SITE_AT & 1023 ? WG_RACE_NO_WARP_SYNC : WG_RACE_SAME_INSTRUCTION;
}

// Whether the other access is that of the entry's thread, of some thread of its block, or of some
// block.
DEVICE uint32_t race_known(uint64_t old, uint64_t mine, uint32_t layout, uint32_t first,
                           RaceKnown know) {
  uint64_t threads = (uint64_t)device_nctaid_x() * device_nctaid_y() * device_nctaid_z() *
                     WG_RACE_BLOCK(layout);
  if ((old ^ mine) >> WG_RACE_LAUNCH_AT) return 0;
  if (threads > 1ull << WG_RACE_THREAD_BITS(layout)) return 0;
  RacePair p = race_pair(old, mine, layout, first, know);
  if (!(mine & WG_RACE_WRITE) && old & WG_RACE_WROTE && !(old & WG_RACE_WRITE))
    return WG_RACE_BLOCK_KNOWN;
  if (race_is_async(old) || !race_ordered(&p, layout))
    return WG_RACE_BLOCK_KNOWN | WG_RACE_THREAD_KNOWN;
  return race_has_several(old) && old & WG_RACE_BLOCKS ? 0 : WG_RACE_BLOCK_KNOWN;
}

// The value at an address of memory that can be read now.
DEVICE RaceValue race_content(uint64_t address, uint32_t bytes) {
  const volatile uint64_t *at = (const volatile uint64_t *)address;
  switch (bytes) {
    case 1: return (RaceValue){*(const volatile uint8_t *)at, 0};
    case 2: return (RaceValue){*(const volatile uint16_t *)at, 0};
    case 4: return (RaceValue){*(const volatile uint32_t *)at, 0};
    case 8: return (RaceValue){*at, 0};
    default: return (RaceValue){at[0], at[1]};
  }
}

DEVICE uint64_t race_shared_bytes(uint64_t offset, uint32_t bytes) {
  uint64_t v = 0;
  for (uint32_t i = 0; i < bytes; i++)
    v |= (uint64_t)device_shared_byte((uint32_t)offset + i) << 8 * i;
  return v;
}
DEVICE RaceValue race_shared_content(uint64_t offset, uint32_t bytes) {
  uint32_t low = bytes < 8 ? bytes : 8;
  return (RaceValue){race_shared_bytes(offset, low), race_shared_bytes(offset + 8, bytes - low)};
}

DEVICE uint64_t race_lane_value(uint32_t lanes, uint64_t value, uint32_t lane) {
  return device_read_lane(lanes, (uint32_t)value, lane) |
         (uint64_t)device_read_lane(lanes, (uint32_t)(value >> 32), lane) << 32;
}

// Whether all active lanes with the same address write the same value.
DEVICE int race_lanes_agree(uint64_t address, RaceValue value) {
  uint32_t rest = device_active_lanes();
  for (;;) {
    uint32_t leader = (uint32_t)__builtin_ctz(rest);
    uint64_t its = race_lane_value(rest, address, leader);
    RaceValue writes = {race_lane_value(rest, value.low, leader),
                        race_lane_value(rest, value.high, leader)};
    uint32_t same = device_ballot(rest, address == its),
             agree = device_ballot(rest, address == its && race_equal(value, writes));
    if (address == its) return agree == same;
    rest &= ~same;
  }
}

void wg_report_wide(uint64_t channel, uint32_t launch, uint32_t site, uint32_t kind, uint32_t size,
                    uint64_t address, uint64_t v0, uint64_t v1, uint64_t v2, uint64_t v3,
                    uint64_t e0, uint64_t e2);

// what: WG_RACE_ACCESS. old: the result of wg_race_check. there: the value in memory before a
// store.
void wg_race_describe(uint32_t what, uint64_t address, uint64_t value, uint64_t high, uint64_t old,
                      uint64_t me, uint32_t layout, uint32_t first, uint64_t launches,
                      uint64_t knows, uint64_t slots, uint32_t serial, uint64_t there,
                      uint64_t there_high);
__attribute__((noinline)) void wg_race_describe(uint32_t what, uint64_t address, uint64_t value,
                                                uint64_t high, uint64_t old, uint64_t me,
                                                uint32_t layout, uint32_t first, uint64_t launches,
                                                uint64_t knows, uint64_t slots, uint32_t serial,
                                                uint64_t there, uint64_t there_high) {
  RaceKnown know = {slots, serial, RACE_KNOWN(knows), 0};
  RaceValue writes = race_value((RaceValue){value, high}, what),
            held = race_value((RaceValue){there, there_high}, what);
  layout |= race_shared_layout(what);
  uint64_t mine = race_mine(me, what);
  uint32_t mine_site = (uint32_t)(mine >> WG_RACE_SITE_AT) & 1023,
           old_site = (uint32_t)(old >> WG_RACE_SITE_AT) & 1023,
           bytes = what & WG_RACE_ACCESS_BYTES;
  uint32_t why = race_why(old, mine, layout, first, know, knows),
           flags = why | race_known(old, mine, layout, first, know);
  if (what & WG_RACE_ACCESS_PROXY) {
    why = WG_RACE_NO_PROXY_FENCE;
    flags = why | WG_RACE_BLOCK_KNOWN | WG_RACE_THREAD_KNOWN;
  }
  const WgRaceLaunch *its = (const WgRaceLaunch *)launches + (old >> WG_RACE_LAUNCH_AT),
                     *my = (const WgRaceLaunch *)launches + (mine >> WG_RACE_LAUNCH_AT);
  uint32_t other_sites = why == WG_RACE_OTHER_LAUNCH ? its->sites : my->sites;
  uint64_t other = old_site == WG_RACE_NO_SITE ||
                           !(flags & WG_RACE_THREAD_KNOWN || why == WG_RACE_OTHER_LAUNCH)
                       ? 0xffffffffu
                       : other_sites + old_site;
  if (old & WG_RACE_WRITE || !(flags & WG_RACE_THREAD_KNOWN))
    flags |= old & (WG_RACE_WRITE | WG_RACE_WROTE) ? WG_RACE_OTHER_WRITE : 0;
  if (old & WG_RACE_STRONG) flags |= WG_RACE_OTHER_STRONG;
  if (mine & WG_RACE_WRITE) flags |= WG_RACE_MINE_WRITE;
  if (mine & WG_RACE_STRONG) flags |= WG_RACE_MINE_STRONG;
  if (what & WG_RACE_ACCESS_STORES && old & WG_RACE_WRITE) {
    int same = !(what & WG_RACE_ACCESS_READS) &&
               race_writes_same(old, address, writes, held, mine_site);
    if (why == WG_RACE_SAME_INSTRUCTION && same && !(what & WG_RACE_ACCESS_CONSTANT))
      same = race_lanes_agree(address, writes);
    if (same) flags |= WG_RACE_SAME_VALUE;
    if (bytes <= 8 && !race_is_async(mine) && (!same || race_equal(held, writes)))
      flags |= WG_RACE_VALUES;
  } else held.low = 0;
  if (what & WG_RACE_ACCESS_SHARED) flags |= WG_RACE_IN_SHARED;
  uint32_t number = race_view(old, layout).thread, block = WG_RACE_BLOCK(layout),
           t = number % block, b = number / block;
  uint32_t nx = device_nctaid_x(), ny = device_nctaid_y(), tx = device_ntid_x(),
           ty = device_ntid_y();
  uint64_t v0 = b % nx | (uint64_t)(b / nx % ny) << 32,
           v1 = b / nx / ny | (uint64_t)(t % tx | (t / tx % ty) << 11 | (t / tx / ty) << 22) << 32;
  if (why == WG_RACE_OTHER_LAUNCH) {
    v0 = its->launch;
    v1 = 0;
  }
  uint32_t kind = flags & WG_RACE_SAME_VALUE     ? KIND_RACE_SAME_VALUE
                  : why == WG_RACE_NO_ACQUIRE    ? KIND_RACE_NO_ACQUIRE
                  : why == WG_RACE_OTHER_LAUNCH  ? KIND_RACE_HOST
                  : what & WG_RACE_ACCESS_SHARED ? KIND_RACE_SHARED
                                                 : KIND_RACE_GLOBAL;
  wg_report_wide(my->channel, my->launch,
                 mine_site == WG_RACE_NO_SITE ? 0xffffffffu : my->sites + mine_site, kind, bytes,
                 address, v0, v1, writes.low, held.low, other, flags);
}

// The store has not been executed yet.
void wg_race_report(uint32_t what, uint64_t address, uint64_t value, uint64_t high, uint64_t old,
                    uint64_t me, uint32_t layout, uint32_t first, uint64_t launches, uint64_t knows,
                    uint64_t slots, uint32_t serial);
__attribute__((noinline)) void wg_race_report(uint32_t what, uint64_t address, uint64_t value,
                                              uint64_t high, uint64_t old, uint64_t me,
                                              uint32_t layout, uint32_t first, uint64_t launches,
                                              uint64_t knows, uint64_t slots, uint32_t serial) {
  uint32_t bytes = what & WG_RACE_ACCESS_BYTES;
  RaceValue there = {0};
  if (what & WG_RACE_ACCESS_STORES)
    there = what & WG_RACE_ACCESS_SHARED ? race_shared_content(address, bytes)
                                         : race_content(address, bytes);
  wg_race_describe(what, address, value, high, old, me, layout, first, launches, knows, slots,
                   serial, there.low, there.high);
}
