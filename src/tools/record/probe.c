// record's device code: one function for each shape of a record. For a GPU tools/record/weave*.c
// puts the code in line; on the virtual device tools/record/host_natives.c does the same in C for a
// whole warp.
//
// The active lanes write one record. The lowest of them is the leader: it reserves the position and
// writes the words that the lanes have in common. Nothing uses local memory, and after the position
// is reserved there are only stores.
#include "probe/device.h"
#include "probe/trace_abi.h"

#ifdef __NVPTX__

enum { TOP = (int)0x80000000 };
typedef struct Planes {
  uint32_t w[4];
} Planes;

DEVICE uint32_t lowest(uint32_t lanes) { return (uint32_t)__builtin_ctz(lanes); }
DEVICE_SPECIAL(lanes_below, "lanemask_lt")
DEVICE_SPECIAL(clock_low, "globaltimer_lo")
DEVICE_SPECIAL(cycles, "clock")
DEVICE uint64_t read_lane64(uint32_t lanes, uint64_t v, uint32_t lane) {
  return device_read_lane(lanes, (uint32_t)v, lane) |
         (uint64_t)device_read_lane(lanes, (uint32_t)(v >> 32), lane) << 32;
}
DEVICE int all_agree(uint32_t lanes, int yes) {
  uint32_t v;
  __asm__ volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; vote.sync.all.pred q, p, %2; selp.u32 "
                   "%0, 1, 0, q; }"
                   : "=r"(v)
                   : "r"(yes), "r"(lanes));
  return (int)v;
}
// Stores to memory that the host reads while the kernel runs.
DEVICE void store4(uint64_t to, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  __asm__ volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(a), "r"(b),
                   "r"(c), "r"(d)
                   : "memory");
}
DEVICE void store1(uint64_t to, uint32_t a) {
  __asm__ volatile("st.volatile.global.u32 [%0], %1;" ::"l"(to), "r"(a) : "memory");
}
DEVICE uint64_t load8(uint64_t from) {
  uint64_t v;
  __asm__ volatile("ld.volatile.global.u64 %0, [%1];" : "=l"(v) : "l"(from) : "memory");
  return v;
}
DEVICE uint32_t load4(uint64_t from) {
  uint32_t v;
  __asm__ volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(v) : "l"(from) : "memory");
  return v;
}
DEVICE uint64_t add8(uint64_t at, uint64_t n) {
  uint64_t v;
  __asm__ volatile("atom.global.add.u64 %0, [%1], %2;" : "=l"(v) : "l"(at), "l"(n) : "memory");
  return v;
}

// The ring of a warp. Woven code keeps only `slot`, its number.
typedef struct Ring {
  uint64_t ring, head;
  uint32_t size;
} Ring;

enum { DROPPED = 1 };   // not a position: those are multiples of 16
enum { PAUSE = 4000 };  // cycles of the multiprocessor's own clock

// Thousands of warps may wait for room. One warp of each ring reads the tail in host memory; the
// others poll the value that this one has read, with pauses.
DEVICE int ask_command(Ring r, uint64_t *tail) {
  uint32_t *asking = (uint32_t *)(r.head + __builtin_offsetof(WgTraceHeadPosition, asking));
  if (device_swap_if32(asking, 0, 1) != 0) return 1;
  *tail = load8(r.ring + __builtin_offsetof(WgTraceRing, tail));
  uint32_t closed = load4(r.ring + __builtin_offsetof(WgTraceRing, closed));
  device_max64((uint64_t *)(r.head + __builtin_offsetof(WgTraceHeadPosition, tail)), *tail);
  if (closed) *(volatile uint32_t *)(r.head + __builtin_offsetof(WgTraceHeadPosition, closed)) = 1;
  device_fence();
  *(volatile uint32_t *)asking = 0;
  return !closed;
}

DEVICE uint64_t wait_for_room(Ring r, uint64_t position, uint64_t end) {
  for (;;) {
    uint64_t tail = load8(r.head + __builtin_offsetof(WgTraceHeadPosition, tail));
    int open = !load4(r.head + __builtin_offsetof(WgTraceHeadPosition, closed));
    if (end - tail > r.size && open) open = ask_command(r, &tail);
    if (end - tail <= r.size) return position;
    if (!open) {
      add8(r.head + __builtin_offsetof(WgTraceHeadPosition, dropped), 1);
      return DROPPED;
    }
    for (uint32_t since = cycles(); cycles() - since < PAUSE;) {}
  }
}

// The position of a record of this many bytes; 0: it is dropped.
DEVICE uint64_t take_room(Ring r, uint32_t lanes, uint32_t leader, uint32_t me, uint32_t bytes) {
  uint64_t position = 0;
  if (me == leader) {
    uint64_t tail = load8(r.head + __builtin_offsetof(WgTraceHeadPosition, tail));
    position = add8(r.head, bytes);
    if (__builtin_expect(position + bytes - tail > r.size, 0))
      position = wait_for_room(r, position, position + bytes);
  }
  uint32_t low = device_read_lane(lanes, (uint32_t)position, leader);
  if (low & DROPPED) return 0;
  return r.ring + sizeof(WgTraceRing) + (low & (r.size - 1));
}

DEVICE Ring ring_of(uint64_t rings, uint64_t heads, uint64_t geometry, uint32_t slot) {
  uint64_t stride = (geometry >> 32) + sizeof(WgTraceRing) + WG_TRACE_ROOM;
  return (Ring){rings + stride * slot, heads + slot * sizeof(WgTraceHeadPosition),
                (uint32_t)(geometry >> 32)};
}

// Words of one plane, each lane's after that of the lane before.
DEVICE uint64_t put_split(uint64_t at, uint32_t rank, uint32_t n, uint32_t word) {
  store1(at + 8 * rank, (word & 0xffff) | TOP);
  store1(at + 8 * rank + 4, word >> 16 | TOP);
  return at + 8 * n;
}
DEVICE uint64_t put_whole(uint64_t at, uint32_t rank, uint32_t n, uint32_t word) {
  store1(at + 4 * rank, word ^ WG_TRACE_KEY);
  return at + 4 * n;
}
DEVICE uint32_t key_or(uint32_t word, int there) {
  return there ? word ^ WG_TRACE_KEY : (uint32_t)TOP;
}

#define EACH_PLANE(n, do_it) \
  if ((n) > 0) { do_it(0); } \
  if ((n) > 1) { do_it(1); } \
  if ((n) > 2) { do_it(2); } \
  if ((n) > 3) { do_it(3); }

DEVICE int has_key(Planes p, int n) {
  int found = 0;
#define LOOK(i) found |= p.w[i] == WG_TRACE_KEY
  EACH_PLANE(n, LOOK) return found;
}

typedef struct Who {  // the active lanes; second: the one after the leader
  uint32_t lanes, me, leader, second, rank, n;
} Who;
typedef struct Head {  // the first 32 bytes of a record
  uint32_t word0, lanes, warp, word3, low, high, stride;
} Head;

// begin: where its values begin. Stores that leave the device together are one instruction.
DEVICE void store_head(uint64_t at, Head h, Who w, int has_address, uint32_t begin) {
  if (begin == WG_TRACE_LINE && w.n >= WG_TRACE_LINE / 16) {  // a whole line with one instruction
    int first = w.rank == 0, unit = has_address && w.rank == 1;
    uint32_t time = clock_low() | TOP;
    if (w.rank < WG_TRACE_LINE / 16)
      store4(at + 16 * w.rank,
             first  ? h.word0
             : unit ? h.low
                    : TOP,
             first  ? h.lanes
             : unit ? h.high
                    : TOP,
             first  ? h.warp
             : unit ? h.stride | TOP
                    : TOP,
             first  ? h.word3
             : unit ? time
                    : TOP);
  } else if (has_address && w.second != w.leader) {  // two lanes with one instruction: 32 bytes
                                                     // that leave the device together
    int other = w.me == w.second;
    if (w.me == w.leader || other)
      store4(at + (other ? 16 : 0), other ? h.low : h.word0, other ? h.high : h.lanes,
             other ? h.stride | TOP : h.warp, other ? clock_low() | TOP : h.word3);
  } else if (w.me == w.leader) {
    store4(at, h.word0, h.lanes, h.warp, h.word3);
    if (has_address) store4(at + 16, h.low, h.high, h.stride | TOP, clock_low() | TOP);
  }
}

typedef struct Operation {
  uint32_t place, warp, launch;
  uint64_t address;
  Planes v, old;  // the value, and what an atomic found
} Operation;

typedef struct Packing {
  int planes, values;  // as in RECORD
  int one;             // all lanes share the value, and the leader's words are enough
  int split;           // a word is stored as two, since one of them is WG_TRACE_KEY
} Packing;
DEVICE void store_values(uint64_t at, uint32_t rank, uint32_t n, Planes v, Planes old, Packing p) {
  int planes = p.planes, values = p.values, one = p.one, split = p.split;
  if (__builtin_expect(split, 0)) {
    uint32_t last = one && rank ? 0 : 1;  // of a shared value, only the leader's words
    if (one) n = 1;
#define SPLIT_VALUE(i) \
  if (last) at = put_split(at, rank, n, v.w[i])
#define SPLIT_OLD(i) \
  if (last) at = put_split(at, rank, n, old.w[i])
    EACH_PLANE(planes, SPLIT_VALUE)
      if (values == 2) { EACH_PLANE(planes, SPLIT_OLD) }
  } else {
#define WHOLE_VALUE(i) at = put_whole(at, rank, n, v.w[i])
#define WHOLE_OLD(i) at = put_whole(at, rank, n, old.w[i])
    EACH_PLANE(planes, WHOLE_VALUE)
      if (values == 2) { EACH_PLANE(planes, WHOLE_OLD) }
  }
}

// The last four parameters of record are constants.
//   planes  words of a value
//   values  0, 1 (the value) or 2 (and what an atomic found)
//   same    a load: lanes with the same address have the same value
// They are not fields of a struct: clang folds those too late, and the code gets 5 % longer.
#define RECORD(has_address, planes, values, same) \
  record(ring_of(rings, heads, geometry, slot), (Operation){place, warp, launch, address, v, old}, \
         has_address, planes, values, same)

DEVICE void record(Ring r, Operation o, int has_address, int planes, int values, int same) {
  Planes v = o.v, old = o.old;
  uint64_t address = o.address;
  uint32_t lanes = device_active_lanes(), me = device_lane(), leader = lowest(lanes),
           n = (uint32_t)__builtin_popcount(lanes);
  uint32_t rank = (uint32_t)__builtin_popcount(lanes & lanes_below());
  uint32_t format = has_address ? WG_TRACE_ADDRESS : 0, stride = 0, words = 0;
  uint64_t base = 0, offset = 0;
  uint32_t second = leader;
  int affine = 1, one = 0, split = 0;
  if (has_address) {
    uint32_t rest = lanes & (lanes - 1);
    second = rest ? lowest(rest) : leader;
    uint64_t first = read_lane64(lanes, address, leader);
    offset = address - first;
    int32_t step = (int32_t)device_read_lane(lanes, (uint32_t)offset, second);
    if (second > leader + 1) step /= (int32_t)(second - leader);
    affine = all_agree(lanes, offset == (uint64_t)((int64_t)step * (int32_t)(me - leader)) &&
                                  (uint32_t)step + (1u << 30) < 1u << 31);
    base = affine ? first - (uint64_t)((int64_t)step * (int32_t)leader) : first;
    stride = affine ? (uint32_t)step : 0;
    one = same && affine && stride == 0;
  }
  if (!affine) {
    int near = all_agree(lanes, offset + (1u << 30) < 1u << 31);
    format |= near ? WG_TRACE_OFFSETS : WG_TRACE_FAR;
    words = near ? n : 2 * n;
  }
  if (values) {
    split = !all_agree(lanes, !has_key(v, planes) && !(values == 2 && has_key(old, planes)));
    format |= WG_TRACE_VALUES | (values == 2 ? WG_TRACE_OLD : 0) | (split ? WG_TRACE_SPLIT : 0) |
              (one ? WG_TRACE_ONE_VALUE : 0);
    words += (uint32_t)(planes * values) * (one ? 1 : n) << split;
  }
  uint32_t units = has_address ? 32 : 16,
           begin = units + 4 * words <= WG_TRACE_LINE ? units : WG_TRACE_LINE;
  uint32_t bytes = (begin + 4 * words + WG_TRACE_LINE - 1) & ~(uint32_t)(WG_TRACE_LINE - 1);
  uint64_t at = take_room(r, lanes, leader, me, bytes);
  if (!at) return;
  Head h = {.word0 = o.place | TOP | format << 24,
            .lanes = lanes,
            .warp = o.warp,
            .word3 = o.launch | (uint32_t)(planes == 4 ? 2 : planes == 2) << 28,
            .low = (uint32_t)base | TOP,
            .high = (uint32_t)(base >> 31) | TOP,
            .stride = stride};
  Who who = {lanes, me, leader, second, rank, n};
  store_head(at, h, who, has_address, begin);
  if (me == leader) {
    if (same && one && !split)
      store4(at + 32, v.w[0] ^ WG_TRACE_KEY, key_or(v.w[1], planes > 1), key_or(v.w[2], planes > 2),
             key_or(v.w[3], planes > 3));
  }
  if (!has_address && !values) return;
  if (same && one && !split) return;
  at += begin;
  if (!affine) {
    if (format & WG_TRACE_OFFSETS) {
      store1(at + 4 * rank, (uint32_t)offset | TOP);
      at += 4 * n;
    } else {
      store1(at + 8 * rank, (uint32_t)address | TOP);
      store1(at + 8 * rank + 4, (uint32_t)(address >> 31) | TOP);
      at += 8 * n;
    }
  }
  if (values) store_values(at, rank, n, v, old, (Packing){planes, values, one, split});
}

// For groups, whose code tools/record/weave_group_code.c writes. Returns 0 if the record is
// dropped.
uint64_t wg_trace_room(uint64_t rings, uint64_t heads, uint64_t geometry, uint32_t slot,
                       uint32_t lanes, uint32_t bytes);
uint64_t wg_trace_room(uint64_t rings, uint64_t heads, uint64_t geometry, uint32_t slot,
                       uint32_t lanes, uint32_t bytes) {
  return take_room(ring_of(rings, heads, geometry, slot), lanes, lowest(lanes), device_lane(),
                   bytes);
}

// rings, heads: of the WgTrace. geometry: ring_size << 32 | nrings. slot: wg_trace_slot. place: the
// site's number. warp, launch: words of the head.
#define WHERE \
  uint64_t rings, uint64_t heads, uint64_t geometry, uint32_t slot, uint32_t warp, \
      uint32_t launch, uint32_t place
#define NONE ((Planes){{0, 0, 0, 0}})

void wg_trace_sync(WHERE);
void wg_trace_sync(WHERE) {
  uint64_t address = 0;
  Planes v = NONE, old = NONE;
  RECORD(0, 0, 0, 0);
}
void wg_trace_address(WHERE, uint64_t address);
void wg_trace_address(WHERE, uint64_t address) {
  Planes v = NONE, old = NONE;
  RECORD(1, 0, 0, 0);
}
#define WITH_VALUES(n, params, list) \
  void wg_trace_value##n(WHERE, params); \
  void wg_trace_value##n(WHERE, params) { \
    uint64_t address = 0; \
    Planes v = list, old = NONE; \
    RECORD(0, n, 1, 0); \
  } \
  void wg_trace_load##n(WHERE, uint64_t address, params); \
  void wg_trace_load##n(WHERE, uint64_t address, params) { \
    Planes v = list, old = NONE; \
    RECORD(1, n, 1, 1); \
  } \
  void wg_trace_store##n(WHERE, uint64_t address, params); \
  void wg_trace_store##n(WHERE, uint64_t address, params) { \
    Planes v = list, old = NONE; \
    RECORD(1, n, 1, 0); \
  }
#define COMMA ,
WITH_VALUES(1, uint32_t a, ((Planes){{a, 0, 0, 0}}))
WITH_VALUES(2, uint32_t a COMMA uint32_t b, ((Planes){{a, b, 0, 0}}))
WITH_VALUES(4, uint32_t a COMMA uint32_t b COMMA uint32_t c COMMA uint32_t d,
            ((Planes){{a, b, c, d}}))
#define WITH_OLD(n, params, list, olds, old_list) \
  void wg_trace_atomic##n(WHERE, uint64_t address, params, olds); \
  void wg_trace_atomic##n(WHERE, uint64_t address, params, olds) { \
    Planes v = list, old = old_list; \
    RECORD(1, n, 2, 0); \
  }
WITH_OLD(1, uint32_t a, ((Planes){{a, 0, 0, 0}}), uint32_t e, ((Planes){{e, 0, 0, 0}}))
WITH_OLD(2, uint32_t a COMMA uint32_t b, ((Planes){{a, b, 0, 0}}), uint32_t e COMMA uint32_t f,
         ((Planes){{e, f, 0, 0}}))
WITH_OLD(4, uint32_t a COMMA uint32_t b COMMA uint32_t c COMMA uint32_t d, ((Planes){{a, b, c, d}}),
         uint32_t e COMMA uint32_t f COMMA uint32_t g COMMA uint32_t h, ((Planes){{e, f, g, h}}))

// --- the fixed words of a head, computed once for each thread ---

DEVICE uint64_t warp_number(void) {
  uint64_t block = device_ctaid_x() +
                   (uint64_t)device_nctaid_x() *
                       (device_ctaid_y() + (uint64_t)device_nctaid_y() * device_ctaid_z());
  uint32_t threads = device_ntid_x() * device_ntid_y() * device_ntid_z();
  uint32_t thread = device_tid_x() +
                    device_ntid_x() * (device_tid_y() + device_ntid_y() * device_tid_z());
  return block * ((threads + 31) >> 5) + (thread >> 5);
}

// head.launch << 32 | head.warp
uint64_t wg_trace_begin(uint32_t launch);
uint64_t wg_trace_begin(uint32_t launch) {
  uint64_t warp = warp_number();
  uint32_t word = (launch & 0xffffff) | (uint32_t)TOP | WG_TRACE_WIDE |
                  ((uint32_t)(warp >> 31) & 15) << 24;
  return (uint64_t)word << 32 | (uint32_t)warp | (uint32_t)TOP;
}

// Threads and buffers that are chosen (--threads, --buffer): 1 where the lane's operation is to be
// recorded, for all lanes alike.
uint32_t wg_trace_wants(uint64_t trace, uint64_t address);
uint32_t wg_trace_wants(uint64_t trace, uint64_t address) {
  const WgTrace *t = (const WgTrace *)trace;
  uint32_t lanes = device_active_lanes(), yes = t->nthreads == 0;
  uint64_t block = device_ctaid_x() +
                   (uint64_t)device_nctaid_x() *
                       (device_ctaid_y() + (uint64_t)device_nctaid_y() * device_ctaid_z());
  uint64_t thread = block * (device_ntid_x() * device_ntid_y() * device_ntid_z()) + device_tid_x() +
                    device_ntid_x() * (device_tid_y() + device_ntid_y() * device_tid_z());
  for (uint32_t i = 0; i < t->nthreads; i++)
    yes |= thread >= t->threads[i].first && thread <= t->threads[i].last;
  if (t->nbuffers && address + 1) {
    uint32_t in = 0;
    for (uint32_t i = 0; i < t->nbuffers; i++)
      in |= address >= t->buffers[i].first && address <= t->buffers[i].last;
    yes &= in;
  }
  return !all_agree(lanes, !yes);
}

#endif
