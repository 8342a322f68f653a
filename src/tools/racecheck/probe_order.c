// racecheck: what a thread knows of itself, and clocks.
#include "tools/racecheck/probe_entries.h"

// --- where threads begin ---

// The number of the block's first thread, as entries have it.
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

// Where the block's entries of shared memory are.
uint64_t wg_race_shared(uint64_t shared, uint32_t stride, uint32_t slots);
__attribute__((noinline)) uint64_t wg_race_shared(uint64_t shared, uint32_t stride,
                                                  uint32_t slots) {
  return race_shared_entries(shared, stride, slots);
}

// … those of another block of the cluster, so many ranks away.
uint64_t wg_race_remote(uint64_t shared, uint32_t stride, uint32_t slots, uint32_t away);
__attribute__((noinline)) uint64_t wg_race_remote(uint64_t shared, uint32_t stride, uint32_t slots,
                                                  uint32_t away) {
  return slots ? shared + (uint64_t)((race_block_number() + away) % slots) * stride : 0;
}

// Blocks that use the same entries one after the other count barriers from different numbers, so
// that the entries of one look old to the next.
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

// --- clocks: who tells whom ---

DEVICE uint64_t race_clock_field(uint32_t layout) {
  return ((1ull << WG_RACE_CLOCK_BITS(layout)) - 1) << WG_RACE_CLOCK_AT(layout);
}

// What is done from now on is later than what was done before, and than what is known.
uint64_t wg_race_tick(uint64_t me, uint32_t layout);
__attribute__((noinline)) uint64_t wg_race_tick(uint64_t me, uint32_t layout) {
  uint64_t field = race_clock_field(layout);
  return (me & field) == field ? me : me + (1ull << WG_RACE_CLOCK_AT(layout));
}

// Nothing is known of the order of what comes from now on.
uint64_t wg_race_unknown(uint64_t me, uint32_t layout);
__attribute__((noinline)) uint64_t wg_race_unknown(uint64_t me, uint32_t layout) {
  return me | ((1ull << (WG_RACE_CLOCK_BITS(layout) + WG_RACE_SYNC_BITS(layout) +
                         WG_RACE_BARRIER_BITS(layout))) -
               1) << WG_RACE_CLOCK_AT(layout);
}

// A fence: what was read before it counts from now on.
uint64_t wg_race_settle(uint64_t knows, uint32_t only_block);
__attribute__((noinline)) uint64_t wg_race_settle(uint64_t knows, uint32_t only_block) {
  knows = race_learn(knows, 0, race_clock_of(knows, 2));
  return only_block ? knows : race_learn(knows, 0, race_clock_of(knows, 1));
}

// fences: the clock at the last fence, for all threads | for those of the block << 32.
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

// The place where threads meet. where: WG_RACE_MEET_… | number << 8
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

// With `me` as it was when the thread came, for all three.
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

// Barriers that are counted order what their threads did; of others it is the clock that does.
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

// A strong write: a thread that reads it sees everything before the writer's last fence.
uint32_t wg_race_release(uint64_t slots, uint32_t serial, uint64_t address, uint32_t how,
                         uint64_t me, uint32_t layout, uint32_t first, uint64_t fences);
__attribute__((noinline)) uint32_t wg_race_release(uint64_t slots, uint32_t serial,
                                                   uint64_t address, uint32_t how, uint64_t me,
                                                   uint32_t layout, uint32_t first,
                                                   uint64_t fences) {
  if (!slots || !fences) return 0;
  uint64_t place = race_place(address, how, first);
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

// A strong read may have seen a release. WG_RACE_TELL_ACQUIRE: it acquires without a fence.
uint64_t wg_race_acquire(uint64_t slots, uint32_t serial, uint64_t address, uint32_t how,
                         uint32_t first, uint64_t knows);
__attribute__((noinline)) uint64_t wg_race_acquire(uint64_t slots, uint32_t serial,
                                                   uint64_t address, uint32_t how, uint32_t first,
                                                   uint64_t knows) {
  if (!slots) return knows;
  uint64_t place = race_place(address, how, first);
  device_fence();
  uint32_t told = how & WG_RACE_CTA ? 0
                                    : race_told(&race_slot(slots, serial, place)->clock, serial);
  uint32_t in_block = race_told(&race_slot(slots, serial, race_in_block(place, first))->clock,
                                serial);
  knows = race_learn(race_learn(knows, 1, told), 2, in_block);
  return how & WG_RACE_TELL_ACQUIRE ? race_learn(race_learn(knows, 0, told), 0, in_block) : knows;
}

// What a thread does is later than what it knows.
uint64_t wg_race_after(uint64_t me, uint32_t layout, uint64_t knows);
__attribute__((noinline)) uint64_t wg_race_after(uint64_t me, uint32_t layout, uint64_t knows) {
  return race_at_least(me, race_clock_of(knows, 0), layout);
}
