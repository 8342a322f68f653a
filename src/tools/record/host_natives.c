// --record on the virtual device: the functions of tools/record/probe.c in C, for a whole warp at
// once.
#include "tools/record/host.h"

#include <time.h>

#include "vgpu/vgpu.h"

enum { RINGS, HEADS, GEOMETRY, SLOT, WARP, LAUNCH, PLACE, COMMON, TOP = (int)0x80000000 };

// A record that has no place in a ring yet.
typedef struct Made {
  uint32_t words[WG_TRACE_MAX / 4 + 4], n;
} Made;
static void add(Made *m, uint32_t word) { m->words[m->n++] = word; }

// Reserves room in the ring of the warp. NULL: the command does not read any more.
static volatile uint32_t *take_room(const uint64_t (*args)[32], uint32_t bytes) {
  uint32_t size = (uint32_t)(args[GEOMETRY][0] >> 32), slot = (uint32_t)args[SLOT][0];
  WgTraceRing *ring = (WgTraceRing *)(uintptr_t)(args[RINGS][0] +
                                                 (sizeof(WgTraceRing) + size + WG_TRACE_ROOM) *
                                                     (uint64_t)slot);
  WgTraceHeadPosition *head = (WgTraceHeadPosition *)(uintptr_t)args[HEADS][0] + slot;
  // The arguments come from registers of the program: only memory that its kernels could reach is
  // touched.
  uint64_t all = sizeof(WgTraceRing) + (uint64_t)size + WG_TRACE_ROOM;
  if (!size || size & (size - 1) || !vgpu_kernel_reaches((uintptr_t)head, sizeof *head) ||
      !vgpu_kernel_reaches((uintptr_t)ring, all))
    return NULL;
  uint64_t position = __atomic_fetch_add(&head->head, bytes, __ATOMIC_RELAXED);
  while (position + bytes - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) > size) {
    if (__atomic_load_n(&ring->closed, __ATOMIC_RELAXED)) {
      __atomic_fetch_add(&head->dropped, 1, __ATOMIC_RELAXED);
      return NULL;
    }
    nanosleep(&(struct timespec){0, 20000}, NULL);
  }
  return (volatile uint32_t *)(ring->data + (position & (size - 1)));
}

// The first word is written last, so that the command never sees a record without its rest.
static void put(const uint64_t (*args)[32], Made *m) {
  while (m->n % 4) add(m, (uint32_t)TOP);
  volatile uint32_t *to = take_room(args, m->n * 4);
  for (uint32_t i = 1; to && i < m->n; i++) to[i] = m->words[i];
  if (to) __atomic_store_n(to, m->words[0], __ATOMIC_RELEASE);
}

#define EACH(lane, lanes) \
  for (uint32_t left_ = (lanes), lane; left_ && (lane = (uint32_t)__builtin_ctz(left_), true); \
       left_ &= left_ - 1)

static bool is_near(uint64_t offset) { return offset + (1u << 30) < 1u << 31; }

// Is every lane's address base + stride * lane?
static bool is_affine(uint32_t lanes, const uint64_t *address, uint64_t *base, int32_t *stride) {
  uint32_t leader = (uint32_t)__builtin_ctz(lanes), rest = lanes & (lanes - 1),
           second = rest ? (uint32_t)__builtin_ctz(rest) : leader;
  int32_t step = (int32_t)(address[second] - address[leader]);
  if (second > leader + 1) step /= (int32_t)(second - leader);
  if ((uint32_t)step + (1u << 30) >= 1u << 31) return false;
  EACH(lane, lanes)
    if (address[lane] - address[leader] != (uint64_t)((int64_t)step * (int32_t)(lane - leader)))
      return false;
  *stride = step;
  *base = address[leader] - (uint64_t)((int64_t)step * (int32_t)leader);
  return true;
}

static uint32_t low_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (uint32_t)((uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec);
}

static uint32_t add_address(Made *m, uint32_t lanes, const uint64_t *address, bool *all_one) {
  uint64_t base = address[__builtin_ctz(lanes)];
  int32_t stride = 0;
  bool affine = is_affine(lanes, address, &base, &stride), near = true;
  *all_one = affine && !stride;
  EACH(lane, lanes) near &= is_near(address[lane] - base);
  add(m, (uint32_t)base | (uint32_t)TOP);
  add(m, (uint32_t)(base >> 31) | (uint32_t)TOP);
  add(m, (uint32_t)stride | (uint32_t)TOP);
  add(m, low_time() | (uint32_t)TOP);
  if (affine) return WG_TRACE_ADDRESS;
  EACH(lane, lanes) {
    add(m, (uint32_t)(near ? address[lane] - base : address[lane]) | (uint32_t)TOP);
    if (!near) add(m, (uint32_t)(address[lane] >> 31) | (uint32_t)TOP);
  }
  return WG_TRACE_ADDRESS | (near ? WG_TRACE_OFFSETS : WG_TRACE_FAR);
}

static bool holds_key(uint32_t lanes, const uint64_t (*values)[32], unsigned n) {
  for (unsigned i = 0; i < n; i++)
    EACH(lane, lanes)
      if ((uint32_t)values[i][lane] == WG_TRACE_KEY) return true;
  return false;
}

// values: groups of `planes` words that each lane has.
static void record(uint32_t lanes, const uint64_t (*args)[32], bool has_address, unsigned planes,
                   unsigned values, bool same) {
  Made m = {.n = 4};
  uint32_t format = 0;
  bool one = false;
  unsigned at = COMMON;
  if (has_address) format |= add_address(&m, lanes, args[at++], &one);
  one &= same;
  if (values) {
    const uint64_t(*list)[32] = args + at;
    bool split = holds_key(lanes, list, planes * values);
    format |= WG_TRACE_VALUES | (values == 2 ? WG_TRACE_OLD : 0) | (one ? WG_TRACE_ONE_VALUE : 0) |
              (split ? WG_TRACE_SPLIT : 0);
    for (unsigned i = 0; i < planes * values; i++)
      EACH(lane, one ? lanes & -lanes : lanes) {
        uint32_t word = (uint32_t)list[i][lane];
        if (split) {
          add(&m, (word & 0xffff) | (uint32_t)TOP);
          add(&m, word >> 16 | (uint32_t)TOP);
        } else add(&m, word ^ WG_TRACE_KEY);
      }
  }
  m.words[0] = (uint32_t)args[PLACE][0] | (uint32_t)TOP | format << 24;
  m.words[1] = lanes;
  m.words[2] = (uint32_t)args[WARP][0];
  m.words[3] = ((uint32_t)args[LAUNCH][0] & ~(uint32_t)WG_TRACE_WIDE) |
               (uint32_t)(planes == 4 ? 2 : planes == 2) << 28;
  put(args, &m);
}

#define SHAPE(name, has_address, planes, values, same) \
  static void name(uint32_t lanes, const uint64_t(*args)[32]) { \
    record(lanes, args, has_address, planes, values, same); \
  }
SHAPE(sync_, false, 0, 0, false)
SHAPE(address_, true, 0, 0, false)
#define SHAPES(n) \
  SHAPE(value##n, false, n, 1, false) \
  SHAPE(load##n, true, n, 1, true) \
  SHAPE(store##n, true, n, 1, false) SHAPE(atomic##n, true, n, 2, false)
SHAPES(1)
SHAPES(2)
SHAPES(4)

void record_add_natives(void) {
  vgpu_native_add_warp("wg_trace_sync", sync_, COMMON, COMMON);
  vgpu_native_add_warp("wg_trace_address", address_, COMMON, COMMON + 1);
#define ADD(n) \
  vgpu_native_add_warp("wg_trace_value" #n, value##n, COMMON, COMMON + n); \
  vgpu_native_add_warp("wg_trace_load" #n, load##n, COMMON, COMMON + 1 + n); \
  vgpu_native_add_warp("wg_trace_store" #n, store##n, COMMON, COMMON + 1 + n); \
  vgpu_native_add_warp("wg_trace_atomic" #n, atomic##n, COMMON, COMMON + 1 + 2 * n)
  ADD(1);
  ADD(2);
  ADD(4);
}
