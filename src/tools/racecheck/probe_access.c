// racecheck: compares one access with the entries of the same word.
#include "tools/racecheck/probe_core.h"

// high: the part of the value after the first 8 bytes.
uint64_t wg_race_check(uint64_t entries, uint64_t offset, uint64_t address, uint32_t what,
                       uint64_t value, uint64_t high, uint64_t me, uint32_t layout, uint32_t first,
                       uint64_t unordered, uint64_t knows, uint64_t slots, uint32_t serial);
__attribute__((noinline)) uint64_t wg_race_check(uint64_t entries, uint64_t offset,
                                                 uint64_t address, uint32_t what, uint64_t value,
                                                 uint64_t high, uint64_t me, uint32_t layout,
                                                 uint32_t first, uint64_t unordered, uint64_t knows,
                                                 uint64_t slots, uint32_t serial) {
  return race_check(&(RaceTouch){entries, offset, address, what, {value, high}}, me,
                    &(RaceThread){layout, first, unordered, knows, slots, serial});
}

#ifdef __NVPTX__
void wg_race_describe(uint32_t what, uint64_t address, uint64_t value, uint64_t high, uint64_t old,
                      uint64_t me, uint32_t layout, uint32_t first, uint64_t launches,
                      uint64_t knows, uint64_t slots, uint32_t serial, uint64_t there,
                      uint64_t there_high);
void wg_count(uint64_t channel, uint32_t site);

DEVICE uint64_t race_of_lane(uint32_t lanes, uint64_t value, uint32_t lane) {
  return device_read_lane(lanes, (uint32_t)value, lane) |
         (uint64_t)device_read_lane(lanes, (uint32_t)(value >> 32), lane) << 32;
}

// If several lanes write to one address at once, they would replace its entry one after the other.
// Only the first of them does so, and its entry stands for the one that the others would find.
DEVICE uint64_t race_check_lanes(const RaceTouch *a, uint64_t me, const RaceThread *of) {
  uint64_t entries = a->entries, offset = a->offset, address = a->address;
  uint32_t what = a->what;
  RaceValue value = a->value;
  uint32_t lanes = device_active_lanes(), leader = (uint32_t)__builtin_ctz(lanes);
  uint32_t bytes = race_own_bytes(address, what);
  uint64_t at = entries + 2 * offset, mine = race_mine(race_at_fence(me, what, of->layout), what) |
                                             (uint64_t)bytes << WG_RACE_BYTES_AT;
  uint64_t its = race_of_lane(lanes, mine, leader), its_at = race_of_lane(lanes, at, leader),
           its_low = race_of_lane(lanes, value.low, leader),
           its_high = race_of_lane(lanes, value.high, leader);
  uint32_t its_what = device_read_lane(lanes, what, leader);  // all lanes execute all of these
  int same = at == its_at && what == its_what;
  uint32_t strong_write = (WG_RACE_STRONG | WG_RACE_WRITE) << WG_RACE_ACCESS_FLAGS_AT,
           alike = device_ballot(lanes, same);
  if (device_lane() == leader && (what & strong_write) == strong_write && alike & (alike - 1))
    me |= WG_RACE_MANY;
  if (!same || device_lane() == leader || !(what >> WG_RACE_ACCESS_FLAGS_AT & WG_RACE_WRITE) ||
      what & WG_RACE_ACCESS_LOOK)
    return race_check(a, me, of);
  uint64_t word = (offset + ((address - offset) & 3)) & ~3ull;
  RaceThread x = race_in_space(of, what);
  if (race_load((const uint64_t *)(entries + (word << 1 << (x.layout >> 30 & 1)))) ==
      WG_RACE_BENIGN)
    return 0;
  RaceKnown known = {x.slots, x.serial, RACE_KNOWN(x.knows), 0};
  if (!race_conflict(its, mine, &x, known, WG_RACE_ACCESS_CLUSTER(what))) return 0;
  if (!(what & WG_RACE_ACCESS_STORES)) return its;
  return race_judged(its, 0, bytes, 0, !race_equal(value, (RaceValue){its_low, its_high}));
}

DEVICE void race_look(const WgRaceRecord *r, const WgRaceWaiting *w, uint64_t me, uint64_t knows) {
  uint32_t what = (uint32_t)w->what, layout = r->layout, first = race_first_thread(layout),
           site = WG_RACE_ACCESS_SITE(what);
  uint64_t slots = r->bounds ? r->slots : 0, offset = w->offset, entries, base = 0;
  RaceValue value = {0}, there = {0};
  if (what & WG_RACE_ACCESS_STORES) {
    value = race_value((RaceValue){w->value[0], w->value[1]}, what);
    there = race_value((RaceValue){w->there[0], w->there[1]}, what);
  }
  if ((what & (WG_RACE_ACCESS_SHARED | WG_RACE_ACCESS_FOUND)) == WG_RACE_ACCESS_SHARED)
    entries = race_shared_entries(r->shared, r->shared_stride, r->shared_slots);
  else if (what & WG_RACE_ACCESS_FOUND) {
    entries = w->entries;
    base = w->base;
  } else {
    const uint64_t *fact = (const uint64_t *)((uint64_t)r + (uint64_t)((int64_t)w->what >> 32));
    entries = fact[2];
    base = fact[0];
  }
  uint64_t found = race_check_lanes(
      &(RaceTouch){entries, offset, base + offset, what, value}, me,
      &(RaceThread){layout, first, r->unordered, knows, slots, r->serial});
  if (!found) return;
  const WgReports *reports = (const WgReports *)r->channel;
  uint32_t number = r->sites + site;
  if (reports && site != WG_RACE_NO_SITE && number < reports->sites &&
      (((volatile uint64_t *)reports->counts)[number] & ~WG_COUNT_DESCRIBED) >= WG_RACE_ONLY_COUNT)
    wg_count(r->channel, number);
  else
    wg_race_describe(what, base + offset, value.low, value.high, found, me, layout, first,
                     r->launches, knows, slots, r->serial, there.low, there.high);
}

// Machine code pays for every call and for its arguments: there is one call for all accesses of a
// basic block. record: address of a WgRaceRecord. which: a bit for each waiting access. me_shared:
// as `me`, for shared memory.
void wg_race_access(uint64_t record, uint64_t waiting, uint32_t which, uint64_t me,
                    uint64_t me_shared, uint64_t knows);
__attribute__((noinline)) void wg_race_access(uint64_t record, uint64_t waiting, uint32_t which,
                                              uint64_t me, uint64_t me_shared, uint64_t knows) {
#pragma clang loop unroll(disable)
  for (uint32_t i = 0; which >> i; i++) {
    const WgRaceWaiting *w = (const WgRaceWaiting *)waiting + i;
    if (which >> i & 1)
      race_look((const WgRaceRecord *)record, w, w->what & WG_RACE_ACCESS_SHARED ? me_shared : me,
                knows);
  }
}
#endif

// Marks bytes on which the program intends races. A word is marked as a whole, even if the range
// has only a part of it.
uint32_t wg_race_benign(uint64_t entries, uint64_t offset, uint64_t bytes, uint32_t pairs);
__attribute__((noinline)) uint32_t wg_race_benign(uint64_t entries, uint64_t offset, uint64_t bytes,
                                                  uint32_t pairs) {
  for (uint64_t word = offset & ~3ull; word < offset + bytes; word += 4)
    for (uint32_t i = 0; i <= pairs; i++)
      *(volatile uint64_t *)(entries + (word << 1 << pairs) + 8 * i) = WG_RACE_BENIGN;
  return 0;
}
