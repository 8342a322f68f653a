// racecheck: the thread's own entry, and clocks.
#include "tools/racecheck/probe_entries.h"

// --- the start of a thread ---

// The number of the block's first thread, as in entries.
uint32_t wg_race_first(uint32_t layout);
__attribute__((noinline)) uint32_t wg_race_first(uint32_t layout) {
  return race_first_thread(layout);
}

// The entry of this thread's accesses, without the access.
uint64_t wg_race_begin(uint64_t start, uint32_t layout, uint32_t first);
__attribute__((noinline)) uint64_t wg_race_begin(uint64_t start, uint32_t layout, uint32_t first) {
  uint32_t in_block = (device_tid_z() * device_ntid_y() + device_tid_y()) * device_ntid_x() +
                      device_tid_x();
  return start
             ? start | (uint64_t)((first + in_block) & race_thread_mask(layout)) << WG_RACE_TIME_AT
             : 0;
}

// The address of the block's entries of shared memory.
uint64_t wg_race_shared(uint64_t shared, uint32_t stride, uint32_t slots);
__attribute__((noinline)) uint64_t wg_race_shared(uint64_t shared, uint32_t stride,
                                                  uint32_t slots) {
  return race_shared_entries(shared, stride, slots);
}

// … of another block of the cluster, `away` ranks away.
uint64_t wg_race_remote(uint64_t shared, uint32_t stride, uint32_t slots, uint32_t away);
__attribute__((noinline)) uint64_t wg_race_remote(uint64_t shared, uint32_t stride, uint32_t slots,
                                                  uint32_t away) {
  return slots ? shared + (uint64_t)((race_block_number() + away) % slots) * stride : 0;
}

// Blocks that use the same entries one after the other start counting barriers at different
// numbers, so that entries of one look old to the next.
uint64_t wg_race_round(uint64_t me, uint32_t layout, uint32_t slots);
__attribute__((noinline)) uint64_t wg_race_round(uint64_t me, uint32_t layout, uint32_t slots) {
  uint32_t bits = WG_RACE_BARRIER_BITS(layout), numbers = bits < 4   ? 1
                                                          : bits > 8 ? 64
                                                                     : 1u << (bits - 2);
  if (!me || !slots) return me;
  return me +
         ((uint64_t)(race_block_number() / slots % numbers)
          << (WG_RACE_CLOCK_AT(layout) + WG_RACE_CLOCK_BITS(layout) + WG_RACE_SYNC_BITS(layout)));
}

// --- clocks: release and acquire ---

DEVICE uint64_t race_clock_field(uint32_t layout) {
  return ((1ull << WG_RACE_CLOCK_BITS(layout)) - 1) << WG_RACE_CLOCK_AT(layout);
}

// From now on, accesses have a later clock than all before, and than all known ones.
uint64_t wg_race_tick(uint64_t me, uint32_t layout);
__attribute__((noinline)) uint64_t wg_race_tick(uint64_t me, uint32_t layout) {
  uint64_t field = race_clock_field(layout);
  return (me & field) == field ? me : me + (1ull << WG_RACE_CLOCK_AT(layout));
}

// From now on, the order of accesses is unknown.
uint64_t wg_race_unknown(uint64_t me, uint32_t layout);
__attribute__((noinline)) uint64_t wg_race_unknown(uint64_t me, uint32_t layout) {
  return me | ((1ull << (WG_RACE_CLOCK_BITS(layout) + WG_RACE_SYNC_BITS(layout) +
                         WG_RACE_BARRIER_BITS(layout))) -
               1) << WG_RACE_CLOCK_AT(layout);
}

// A fence: clocks that were read before it take effect.
uint64_t wg_race_settle(uint64_t knows, uint32_t only_block);
__attribute__((noinline)) uint64_t wg_race_settle(uint64_t knows, uint32_t only_block) {
  knows = race_learn(knows, 0, race_clock_of(knows, 2));
  return only_block ? knows : race_learn(knows, 0, race_clock_of(knows, 1));
}

// fences: the clock at the last fence of wider scope | at the last fence of any scope << 32.
uint64_t wg_race_fenced(uint64_t me, uint32_t layout, uint64_t fences, uint32_t only_block);
__attribute__((noinline)) uint64_t wg_race_fenced(uint64_t me, uint32_t layout, uint64_t fences,
                                                  uint32_t only_block) {
  uint64_t clock = race_field(me, WG_RACE_CLOCK_AT(layout), WG_RACE_CLOCK_BITS(layout));
  return clock << 32 | (only_block ? fences & 0xffffffffu : clock);
}

DEVICE uint64_t race_at_least(uint64_t me, uint32_t clock, uint32_t layout) {
  uint64_t field = race_clock_field(layout), all = field >> WG_RACE_CLOCK_AT(layout),
           new = clock < all ? clock : all;
  return (me & field) >> WG_RACE_CLOCK_AT(layout) < new
             ? race_with_clock(me, (uint32_t) new, layout)
             : me;
}

// The key of the place where threads meet. where: WG_RACE_MEET_… | number << 8
DEVICE uint64_t race_meeting(uint32_t where, uint64_t me, uint32_t layout, uint32_t first) {
  RaceView v = race_view(me, layout);
  uint64_t key = (uint64_t)where << 32;
  switch (where & 255) {
    case WG_RACE_MEET_BLOCK: return key ^ first ^ (uint64_t)(v.barriers & 1) << 31;
    case WG_RACE_MEET_PART: return key ^ first;
    case WG_RACE_MEET_WARP: return key ^ race_first_lane(me, layout, first);
    default: return key;
  }
}

uint32_t wg_race_arrive(uint64_t slots, uint32_t serial, uint32_t where, uint64_t me,
                        uint32_t layout, uint32_t first, uint64_t fences, uint64_t knows);
__attribute__((noinline)) uint32_t wg_race_arrive(uint64_t slots, uint32_t serial, uint32_t where,
                                                  uint64_t me, uint32_t layout, uint32_t first,
                                                  uint64_t fences, uint64_t knows) {
  if (!slots) return 0;
  WgRaceSlot *s = race_slot(slots, serial, race_meeting(where, me, layout, first));
  race_raise(&s->clock, serial, race_view(me, layout).clock);
  race_raise(&s->fence, serial, (uint32_t)fences);
  race_raise(&s->know, serial, race_clock_of(knows, 0));
  if ((where & 255) == WG_RACE_MEET_PART)
    race_raise(race_warp_told(slots, serial, race_first_lane(me, layout, first)), serial,
               race_view(me, layout).clock);
  // barriers of the block order memory themselves
  if ((where & 255) != WG_RACE_MEET_BLOCK && (where & 255) != WG_RACE_MEET_PART) device_fence();
  return 0;
}

// All three depart functions take `me` as it was on arrival.
uint64_t wg_race_depart(uint64_t slots, uint32_t serial, uint32_t where, uint64_t me,
                        uint32_t layout, uint32_t first);
__attribute__((noinline)) uint64_t wg_race_depart(uint64_t slots, uint32_t serial, uint32_t where,
                                                  uint64_t me, uint32_t layout, uint32_t first) {
  if (!slots) return me;
  return race_at_least(
      me,
      race_told(&race_slot(slots, serial, race_meeting(where, me, layout, first))->clock, serial),
      layout);
}

uint64_t wg_race_depart_fences(uint64_t slots, uint32_t serial, uint32_t where, uint64_t me,
                               uint32_t layout, uint32_t first, uint64_t fences);
__attribute__((noinline)) uint64_t wg_race_depart_fences(uint64_t slots, uint32_t serial,
                                                         uint32_t where, uint64_t me,
                                                         uint32_t layout, uint32_t first,
                                                         uint64_t fences) {
  if (!slots) return fences;
  uint32_t told = race_told(
               &race_slot(slots, serial, race_meeting(where, me, layout, first))->fence, serial),
           mine = (uint32_t)fences;
  return (fences & ~0xffffffffull) | (told > mine ? told : mine);
}

// Barriers that are counted order accesses by their count; other barriers do so by the clock.
uint64_t wg_race_depart_knows(uint64_t slots, uint32_t serial, uint32_t where, uint64_t me,
                              uint32_t layout, uint32_t first, uint64_t knows);
__attribute__((noinline)) uint64_t wg_race_depart_knows(uint64_t slots, uint32_t serial,
                                                        uint32_t where, uint64_t me,
                                                        uint32_t layout, uint32_t first,
                                                        uint64_t knows) {
  if (!slots) return knows;
  const WgRaceSlot *s = race_slot(slots, serial, race_meeting(where, me, layout, first));
  uint32_t counted = (where & 255) == WG_RACE_MEET_BLOCK || (where & 255) == WG_RACE_MEET_WARP;
  knows = race_learn(knows, 0, race_told(&s->know, serial));
  return counted ? knows : race_learn(knows, 0, race_told(&s->clock, serial));
}

// A strong write releases: a thread that reads it knows of everything before the writer's last
// fence.
uint32_t wg_race_release(uint64_t slots, uint32_t serial, uint64_t address, uint32_t how,
                         uint64_t me, uint32_t layout, uint32_t first, uint64_t fences);
__attribute__((noinline)) uint32_t wg_race_release(uint64_t slots, uint32_t serial,
                                                   uint64_t address, uint32_t how, uint64_t me,
                                                   uint32_t layout, uint32_t first,
                                                   uint64_t fences) {
  if (!slots) return 0;
  uint64_t place = race_place(address, how, first);
  if (how & WG_RACE_TELL_FLAG) {
    race_raise(race_flagged_at(slots, serial, first), serial, race_view(me, layout).barriers + 1);
    race_raise(race_flag_written(slots, serial, place), serial, 1);
  }
  if (!fences) return 0;
  uint32_t all = (uint32_t)fences, block = (uint32_t)(fences >> 32);
  race_raise(race_warp_told(slots, serial, race_first_lane(me, layout, first)), serial,
             all > block ? all : block);
  if ((uint32_t)fences && !(how & WG_RACE_CTA)) {
    race_raise(race_released(slots, serial, first), serial, (uint32_t)fences);
    race_raise(race_released_at(slots, serial, first), serial, race_view(me, layout).barriers + 1);
    race_raise(&race_slot(slots, serial, place)->clock, serial, (uint32_t)fences);
  }
  if (fences >> 32)
    race_raise(&race_slot(slots, serial, race_in_block(place, first))->clock, serial,
               (uint32_t)(fences >> 32));
  device_fence();
  return 0;
}

// A strong read acquires: it may have read a release. WG_RACE_TELL_ACQUIRE: takes effect without a
// fence.
uint64_t wg_race_acquire(uint64_t slots, uint32_t serial, uint64_t address, uint32_t how,
                         uint32_t first, uint64_t knows);
__attribute__((noinline)) uint64_t wg_race_acquire(uint64_t slots, uint32_t serial,
                                                   uint64_t address, uint32_t how, uint32_t first,
                                                   uint64_t knows) {
  if (!slots) return knows;
  uint64_t place = race_place(address, how, first);
  device_fence();
  if (how & WG_RACE_TELL_FLAG && race_told(race_flag_written(slots, serial, place), serial))
    race_raise(race_flag_read(slots, serial, first), serial, 1);
  uint32_t told = how & WG_RACE_CTA ? 0
                                    : race_told(&race_slot(slots, serial, place)->clock, serial);
  uint32_t in_block = race_told(&race_slot(slots, serial, race_in_block(place, first))->clock,
                                serial);
  knows = race_learn(race_learn(knows, 1, told), 2, in_block);
  return how & WG_RACE_TELL_ACQUIRE ? race_learn(race_learn(knows, 0, told), 0, in_block) : knows;
}

// The thread's accesses get a later clock than those it knows of.
uint64_t wg_race_after(uint64_t me, uint32_t layout, uint64_t knows);
__attribute__((noinline)) uint64_t wg_race_after(uint64_t me, uint32_t layout, uint64_t knows) {
  return race_at_least(me, race_clock_of(knows, 0), layout);
}
