// profile: measures one memory request of a warp. All active lanes call it together; each does a
// part of the additions.
#include "probe/device.h"
#include "tools/profile/abi.h"

enum {
  PROFILE_NOWHERE = 1 << 24
};  // addresses below it are those of a launch that is not measured

#ifdef __NVPTX__
DEVICE void device_raise64(uint64_t *p, uint64_t v) {
  __asm__ volatile("red.max.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}
DEVICE void device_or64(uint64_t *p, uint64_t v) {
  __asm__ volatile("red.or.b64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}
// lanes with the same value as this one; since sm_70
DEVICE uint32_t device_match(uint32_t mask, uint32_t v) {
  uint32_t m;
  __asm__ volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(m) : "r"(v), "r"(mask));
  return m;
}
// the or and the largest of the lanes' values; since sm_80
DEVICE uint32_t device_any_bits(uint32_t mask, uint32_t v) {
  uint32_t all;
  __asm__ volatile("redux.sync.or.b32 %0, %1, %2;" : "=r"(all) : "r"(v), "r"(mask));
  return all;
}
DEVICE uint32_t device_largest(uint32_t mask, uint32_t v) {
  uint32_t most;
  __asm__ volatile("redux.sync.max.u32 %0, %1, %2;" : "=r"(most) : "r"(v), "r"(mask));
  return most;
}
#else
DEVICE uint32_t device_any_bits(uint32_t mask, uint32_t v) { return v; }
DEVICE uint32_t device_largest(uint32_t mask, uint32_t v) { return v; }
DEVICE void device_raise64(uint64_t *p, uint64_t v) { device_max64(p, v); }
DEVICE void device_or64(uint64_t *p, uint64_t v) { __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST); }
DEVICE uint32_t device_match(uint32_t mask, uint32_t v) { return mask; }
#endif

typedef struct WarpRequest {
  uint32_t mask, n, lane, first;  // lanes, how many, this one, the lowest
  uint32_t below;                 // lanes of the request below this one
  uint32_t base;                  // address of the lowest, without its upper half
  uint32_t same, unit, stride;    // the pattern: one of them, or none
  uint32_t distance;              // stride: from lane to lane
  uint32_t shift;                 // it counts for 1 << shift requests
} WarpRequest;

DEVICE uint32_t lowest_lane(uint32_t mask) { return (uint32_t)__builtin_ctz(mask); }

// said: REQUEST_BYTES, REQUEST_SHIFT (abi.h)
DEVICE WarpRequest request_of(uint32_t mask, uint32_t low, uint32_t said) {
  WarpRequest r;
  uint32_t bytes = said & REQUEST_BYTES;
  r.mask = mask;
  r.shift = said >> REQUEST_SHIFT;
  r.n = (uint32_t)__builtin_popcount(mask);
  r.lane = device_lane();
  r.first = lowest_lane(mask);
  r.below = mask & ((1u << r.lane) - 1);
  r.base = device_read_lane(mask, low, r.first);
  uint32_t delta = low - r.base, lanes = r.lane - r.first;
  r.same = device_ballot(mask, delta == 0) == mask;
  r.unit = !r.same && device_ballot(mask, delta == lanes * bytes) == mask;
  r.stride = 0;
  r.distance = 0;
  if (r.same || r.unit) return r;
  uint32_t second = lowest_lane(mask & (mask - 1));
  int32_t step = (int32_t)device_read_lane(mask, delta, second);
  if (second != r.first + 1) step /= (int32_t)(second - r.first);
  r.stride = device_ballot(mask, delta == lanes * (uint32_t)step) == mask;
  r.distance = (uint32_t)(step < 0 ? -step : step);
  return r;
}

// How many different keys the lanes have. matches: device_match may be used
DEVICE uint32_t different_keys(const WarpRequest *r, uint32_t key, int matches) {
  uint32_t n = 0;
  if (matches) {
    uint32_t leads = !(device_match(r->mask, key) & r->below);
    return (uint32_t)__builtin_popcount(device_ballot(r->mask, (int)leads));
  }
  for (uint32_t left = r->mask; left; n++)
    left &= ~device_ballot(r->mask, key == device_read_lane(r->mask, key, lowest_lane(left)));
  return n;
}

DEVICE void request_add(uint64_t slot, const WarpRequest *r, uint32_t units, uint32_t lines,
                        uint32_t off) {
  uint32_t rank = (uint32_t)__builtin_popcount(r->below);
  for (uint32_t k = rank; k < SLOT_SUMS; k += r->n) {
    uint32_t v = k == SLOT_REQUESTS  ? 1
                 : k == SLOT_THREADS ? r->n
                 : k == SLOT_UNITS   ? units
                 : k == SLOT_LINES   ? lines
                 : k == SLOT_SAME    ? r->same
                 : k == SLOT_UNIT    ? r->unit
                 : k == SLOT_STRIDE  ? r->stride
                                     : off;
    if (v) device_increase64((uint64_t *)slot + k, (uint64_t)v << r->shift);
  }
  if (rank) return;
  if (r->shift) device_increase64((uint64_t *)slot + SLOT_LEFT_OUT, (1u << r->shift) - 1);
  if (r->stride) {
    device_raise64((uint64_t *)slot + SLOT_MOST, r->distance);
    device_raise64((uint64_t *)slot + SLOT_NOT_LEAST, ~r->distance);
  }
  if (off) device_or64((uint64_t *)slot + SLOT_OFFSETS, 1ull << (r->base >> 2 & 31));
}

// Counts sectors of 32 bytes and lines of 128. No access crosses a sector, since it is aligned to
// its size. If addresses grow or fall from lane to lane, a sector begins where two neighbours
// differ.
DEVICE uint32_t request_sectors(const WarpRequest *r, uint64_t address, int matches,
                                uint32_t *lines) {
  uint32_t sector = (uint32_t)(address >> 5), begins = !r->below;
  uint32_t before = r->below ? 31 - (uint32_t)__builtin_clz(r->below) : r->lane;
  uint32_t last = device_read_lane(r->mask, sector, before);
  uint32_t ups = device_ballot(r->mask, sector > last),
           downs = device_ballot(r->mask, sector < last);
  if (!ups || !downs) {
    uint32_t new_lines = device_ballot(r->mask, begins || sector >> 2 != last >> 2);
    *lines = (uint32_t)__builtin_popcount(new_lines);
    return (uint32_t)__builtin_popcount(ups | downs) + 1;
  }
  *lines = different_keys(r, sector >> 2, matches);
  return different_keys(r, sector, matches);
}

DEVICE void global_request(uint64_t slot, uint32_t mask, uint64_t address, uint32_t said,
                           int matches) {
  WarpRequest r = request_of(mask, (uint32_t)address, said);
  uint32_t lines, units = request_sectors(&r, address, matches, &lines);
  request_add(slot, &r, units, lines, r.unit && (r.base & 31));
}

DEVICE void atomic_request(uint64_t slot, uint64_t address, uint32_t said, int matches) {
  WarpRequest r = request_of(device_active_lanes(), (uint32_t)address, said);
  uint32_t lines, units = request_sectors(&r, address, matches, &lines);
  r.stride = 0;  // its slots hold addresses
  request_add(slot, &r, units, r.same ? 1 : different_keys(&r, (uint32_t)address, matches), 0);
  if (r.below && r.same) return;
  device_raise64((uint64_t *)slot + SLOT_MOST, address);
  device_raise64((uint64_t *)slot + SLOT_NOT_LEAST, ~address);
}

// The lanes of `same` that have the same bit `bit` in v as this one.
DEVICE uint32_t keep_same_bit(uint32_t mask, uint32_t same, uint32_t v, uint32_t bit) {
  uint32_t is_set = v >> bit & 1, set = device_ballot(mask, (int)is_set);
  return same & (is_set ? set : ~set);
}

// The wavefronts of all phases, if the warp can reduce by `or` and `max` (sm_80): finds lanes of
// the same bank by the bits of the bank's number, then lanes of the same word by the bits in which
// words differ.
DEVICE uint32_t wavefronts_by_bits(const WarpRequest *r, uint32_t granule, uint32_t lanes) {
  uint32_t phase = r->lane / lanes, own = lanes == 32 ? ~0u : ((1u << lanes) - 1) << phase * lanes;
  uint32_t v = granule ^ device_read_lane(r->mask, granule, r->first), same = r->mask & own;
  uint32_t differ = device_any_bits(r->mask, v);
  for (uint32_t left = differ & (lanes - 1); left; left &= left - 1)
    same = keep_same_bit(r->mask, same, v, lowest_lane(left));
  uint32_t bank = same, n = 0;
  for (uint32_t left = differ & ~(lanes - 1); left; left &= left - 1)
    same = keep_same_bit(r->mask, same, v, lowest_lane(left));
  uint32_t words = device_ballot(r->mask, !(same & r->below));
  uint32_t mine = (uint32_t)__builtin_popcount(bank & words);
  for (uint32_t p = 0; p < 32 / lanes; p++) n += device_largest(r->mask, p == phase ? mine : 0);
  return n;
}

// Shared memory has 32 banks of 4 bytes. Accesses of 8 bytes take half a warp at a time, of 16
// bytes a quarter. A phase takes as many wavefronts as the bank with the most different words.
DEVICE uint32_t request_wavefronts(const WarpRequest *r, uint32_t low, uint32_t shift, int matches,
                                   uint32_t *phases) {
  uint32_t lanes = 128 >> shift, granule = low >> shift, phase = r->lane / lanes;
  uint32_t bank = granule & (lanes - 1), mine = 0;
  *phases = 0;
  for (uint32_t at = 0; at < 32; at += lanes)
    *phases += (r->mask >> at & (lanes == 32 ? ~0u : (1u << lanes) - 1)) != 0;
  if (r->same || r->unit) return *phases;
  if (matches == 2) return wavefronts_by_bits(r, granule, lanes);
  if (matches) {
    uint32_t leads = !(device_match(r->mask, granule | phase << 24) & r->below);
    mine = device_match(r->mask, leads ? bank | phase << 8 : 0x10000 | r->lane);
    mine = leads ? (uint32_t)__builtin_popcount(mine) : 0;
  } else
    for (uint32_t left = r->mask; left;) {
      uint32_t lead = lowest_lane(left), other = device_read_lane(r->mask, granule, lead);
      uint32_t in_phase = phase == lead / lanes;
      left &= ~device_ballot(r->mask, in_phase && granule == other);
      mine += in_phase && bank == (other & (lanes - 1));
    }
  uint32_t n = 0;
  for (uint32_t degree = 1;; degree++) {
    uint32_t as_many = device_ballot(r->mask, mine >= degree);
    if (!as_many) return n;
    for (uint32_t at = 0; at < 32; at += lanes)
      n += (as_many >> at & (lanes == 32 ? ~0u : (1u << lanes) - 1)) != 0;
  }
}

DEVICE void shared_request(uint64_t slot, uint32_t mask, uint32_t low, uint32_t said, int matches) {
  WarpRequest r = request_of(mask, low, said);
  uint32_t bytes = said & REQUEST_BYTES;
  uint32_t shift = bytes >= 16 ? 4 : bytes == 8 ? 3 : 2, phases;
  uint32_t n = request_wavefronts(&r, low, shift, matches, &phases);
  request_add(slot, &r, n, phases, 0);
}

// The constant bank gives one word to all lanes that ask for it.
DEVICE void constant_request(uint64_t slot, uint32_t low, uint32_t said, int matches) {
  WarpRequest r = request_of(device_active_lanes(), low, said);
  uint32_t shift = (said & REQUEST_BYTES) == 8 ? 3 : 2;
  request_add(slot, &r, different_keys(&r, low >> shift, matches), 1, 0);
}

// A generic address: lanes in shared memory count in the next slot.
DEVICE void generic_request(uint64_t slot, uint64_t address, uint32_t said, int matches) {
  uint32_t mask = device_active_lanes(), is_shared = (uint32_t)device_is_shared(address);
  uint32_t inside = device_ballot(mask, (int)is_shared);
  if (is_shared)
    shared_request(slot + 8 * SLOT_WORDS, inside, (uint32_t)device_to_shared(address), said,
                   matches);
  else if (device_is_global(address))
    global_request(slot, device_active_lanes(), address, said, matches);
}

// One variant for any target, one for sm_70 and later, and for some probes one for sm_80 and later.
#define PROFILE_PROBE(name, request) \
  void name(uint64_t slot, uint64_t address, uint32_t said); \
  __attribute__((noinline)) void name(uint64_t slot, uint64_t address, uint32_t said) { \
    if (slot >= PROFILE_NOWHERE) request; \
  }
PROFILE_PROBE(wg_profile_global, global_request(slot, device_active_lanes(), address, said, 0))
PROFILE_PROBE(wg_profile_global_70, global_request(slot, device_active_lanes(), address, said, 1))
PROFILE_PROBE(wg_profile_atomic, atomic_request(slot, address, said, 0))
PROFILE_PROBE(wg_profile_atomic_70, atomic_request(slot, address, said, 1))
PROFILE_PROBE(wg_profile_shared,
              shared_request(slot, device_active_lanes(), (uint32_t)address, said, 0))
PROFILE_PROBE(wg_profile_shared_70,
              shared_request(slot, device_active_lanes(), (uint32_t)address, said, 1))
PROFILE_PROBE(wg_profile_shared_80,
              shared_request(slot, device_active_lanes(), (uint32_t)address, said, 2))
PROFILE_PROBE(wg_profile_constant, constant_request(slot, (uint32_t)address, said, 0))
PROFILE_PROBE(wg_profile_constant_70, constant_request(slot, (uint32_t)address, said, 1))
PROFILE_PROBE(wg_profile_generic, generic_request(slot, address, said, 0))
PROFILE_PROBE(wg_profile_generic_70, generic_request(slot, address, said, 1))

// Called when lanes end, with the number of instructions each has executed. Lanes that end together
// count for their warp, with the largest number.
DEVICE void work_done(uint64_t slot, uint32_t work, int reduces) {
  if (slot < PROFILE_NOWHERE) return;
  uint32_t mask = device_active_lanes(), most = 0;
  if (reduces) most = device_largest(mask, work);
  for (uint32_t left = reduces ? 0 : mask; left;) {
    uint32_t other = device_read_lane(mask, work, lowest_lane(left));
    left &= ~device_ballot(mask, work == other);
    most = other > most ? other : most;
  }
  if (device_lane() != lowest_lane(mask)) return;
  device_increase64((uint64_t *)slot + WORK_WARPS, 1);
  device_increase64((uint64_t *)slot + WORK_SUM, most);
  device_raise64((uint64_t *)slot + WORK_MOST, most);
}

void wg_profile_work(uint64_t slot, uint32_t work);
__attribute__((noinline)) void wg_profile_work(uint64_t slot, uint32_t work) {
  work_done(slot, work, 0);
}
void wg_profile_work_80(uint64_t slot, uint32_t work);
__attribute__((noinline)) void wg_profile_work_80(uint64_t slot, uint32_t work) {
  work_done(slot, work, 1);
}
