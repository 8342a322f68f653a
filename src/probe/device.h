// Operations of device code that C cannot express. Compiled by clang for nvptx64 they are PTX
// instructions that every architecture since sm_30 has; compiled natively (unit tests) a warp has
// one lane, and the test says which thread runs.
#ifndef WG_PROBE_DEVICE_H
#define WG_PROBE_DEVICE_H

#include <stdint.h>

#ifdef __NVPTX__

#define DEVICE static inline __attribute__((always_inline))
DEVICE uint32_t device_active_lanes(void) {
  uint32_t m;
  __asm__ volatile("activemask.b32 %0;" : "=r"(m));
  return m;
}
#define DEVICE_SPECIAL(name, reg) \
  DEVICE uint32_t name(void) { \
    uint32_t v; \
    __asm__ volatile("mov.u32 %0, %%" reg ";" : "=r"(v)); \
    return v; \
  }
DEVICE_SPECIAL(device_lane, "laneid")
// The value that `lane` holds; all lanes of the mask must ask.
DEVICE uint32_t device_read_lane(uint32_t mask, uint32_t value, uint32_t lane) {
  uint32_t v;
  __asm__ volatile("shfl.sync.idx.b32 %0, %1, %2, 31, %3;"
                   : "=r"(v)
                   : "r"(value), "r"(lane), "r"(mask));
  return v;
}
DEVICE uint32_t device_ballot(uint32_t mask, int yes) {
  uint32_t v;
  __asm__ volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2; }"
                   : "=r"(v)
                   : "r"(yes), "r"(mask));
  return v;
}
DEVICE void device_meet(uint32_t mask) {
  __asm__ volatile("bar.warp.sync %0;" ::"r"(mask) : "memory");
}
DEVICE uint64_t device_add64(uint64_t *p, uint64_t v) {
  uint64_t old;
  __asm__ volatile("atom.add.u64 %0, [%1], %2;" : "=l"(old) : "l"(p), "l"(v) : "memory");
  return old;
}
// without a result: the thread does not wait for it
DEVICE void device_increase64(uint64_t *p, uint64_t v) {
  __asm__ volatile("red.add.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}
DEVICE uint32_t device_add32(uint32_t *p, uint32_t v) {
  uint32_t old;
  __asm__ volatile("atom.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(v) : "memory");
  return old;
}
DEVICE void device_or32(uint32_t *p, uint32_t v) {
  __asm__ volatile("red.or.b32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
DEVICE void device_and32(uint32_t *p, uint32_t v) {
  __asm__ volatile("red.and.b32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
DEVICE uint32_t device_swap32(uint32_t *p, uint32_t v) {
  uint32_t old;
  __asm__ volatile("atom.exch.b32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(v) : "memory");
  return old;
}
DEVICE uint32_t device_swap_if32(uint32_t *p, uint32_t was, uint32_t v) {
  uint32_t old;
  __asm__ volatile("atom.cas.b32 %0, [%1], %2, %3;"
                   : "=r"(old)
                   : "l"(p), "r"(was), "r"(v)
                   : "memory");
  return old;
}
DEVICE uint64_t device_swap_if64(uint64_t *p, uint64_t was, uint64_t v) {
  uint64_t old;
  __asm__ volatile("atom.cas.b64 %0, [%1], %2, %3;"
                   : "=l"(old)
                   : "l"(p), "l"(was), "l"(v)
                   : "memory");
  return old;
}
DEVICE uint32_t device_swap_or32(uint32_t *p, uint32_t v) {
  uint32_t old;
  __asm__ volatile("atom.or.b32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(v) : "memory");
  return old;
}
DEVICE void device_fence_system(void) { __asm__ volatile("membar.sys;" ::: "memory"); }
DEVICE uint64_t device_nanoseconds(void) {
  uint64_t t;
  __asm__ volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}
#define DEVICE_IS_SPACE(name, space) \
  DEVICE int name(uint64_t a) { \
    uint32_t v; \
    __asm__("{ .reg .pred p; isspacep." space " p, %1; selp.u32 %0, 1, 0, p; }" \
            : "=r"(v) \
            : "l"(a)); \
    return (int)v; \
  }
DEVICE_IS_SPACE(device_is_global, "global")
DEVICE_IS_SPACE(device_is_shared, "shared")
DEVICE uint64_t device_to_shared(uint64_t a) {
  uint64_t s;
  __asm__("cvta.to.shared.u64 %0, %1;" : "=l"(s) : "l"(a));
  return s;
}
DEVICE_SPECIAL(device_shared_size, "total_smem_size")
DEVICE_SPECIAL(device_tid_x, "tid.x")
DEVICE_SPECIAL(device_tid_y, "tid.y")
DEVICE_SPECIAL(device_tid_z, "tid.z")
DEVICE_SPECIAL(device_ctaid_x, "ctaid.x")
DEVICE_SPECIAL(device_ctaid_y, "ctaid.y")
DEVICE_SPECIAL(device_ctaid_z, "ctaid.z")
DEVICE_SPECIAL(device_ntid_x, "ntid.x")
DEVICE_SPECIAL(device_ntid_y, "ntid.y")
DEVICE_SPECIAL(device_nctaid_x, "nctaid.x")
DEVICE_SPECIAL(device_nctaid_y, "nctaid.y")
DEVICE_SPECIAL(device_nctaid_z, "nctaid.z")
DEVICE uint32_t device_shared_byte(uint32_t at) {
  uint32_t v;
  __asm__ volatile("ld.volatile.shared.u8 %0, [%1];" : "=r"(v) : "r"(at));
  return v;
}
DEVICE uint64_t device_max64(uint64_t *p, uint64_t v) {
  uint64_t old;
  __asm__ volatile("atom.max.u64 %0, [%1], %2;" : "=l"(old) : "l"(p), "l"(v) : "memory");
  return old;
}
DEVICE void device_fence(void) { __asm__ volatile("membar.gl;" ::: "memory"); }
DEVICE int device_is_nobodys(uint64_t a) {
  (void)a;
  return 0;
}  // not known
DEVICE_SPECIAL(device_ntid_z, "ntid.z")
DEVICE_SPECIAL(device_smid, "smid")
DEVICE_SPECIAL(device_warpid, "warpid")

#else

#include <time.h>
#define DEVICE static inline
extern _Thread_local uint32_t device_native_block[3], device_native_thread[3];
DEVICE uint32_t device_active_lanes(void) { return 1; }
DEVICE uint32_t device_lane(void) { return 0; }
DEVICE uint32_t device_read_lane(uint32_t mask, uint32_t value, uint32_t lane) {
  (void)mask;
  (void)lane;
  return value;
}
DEVICE uint32_t device_ballot(uint32_t mask, int yes) { return yes ? mask : 0; }
DEVICE void device_meet(uint32_t mask) { (void)mask; }
DEVICE uint64_t device_add64(uint64_t *p, uint64_t v) {
  return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);
}
DEVICE void device_increase64(uint64_t *p, uint64_t v) {
  __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);
}
DEVICE uint32_t device_add32(uint32_t *p, uint32_t v) {
  return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);
}
DEVICE void device_or32(uint32_t *p, uint32_t v) { __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST); }
DEVICE void device_and32(uint32_t *p, uint32_t v) { __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST); }
DEVICE uint32_t device_swap32(uint32_t *p, uint32_t v) {
  return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);
}
DEVICE uint32_t device_swap_if32(uint32_t *p, uint32_t was, uint32_t v) {
  __atomic_compare_exchange_n(p, &was, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return was;
}
DEVICE uint64_t device_swap_if64(uint64_t *p, uint64_t was, uint64_t v) {
  __atomic_compare_exchange_n(p, &was, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return was;
}
DEVICE uint32_t device_swap_or32(uint32_t *p, uint32_t v) {
  return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST);
}
DEVICE void device_fence_system(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
DEVICE uint64_t device_nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
// of the address in question
extern _Thread_local struct DeviceNativeLane {
  int is_shared, is_global;
  uint64_t shared;
  uint32_t shared_bytes;
} device_native_lane;
DEVICE int device_is_global(uint64_t a) {
  (void)a;
  return device_native_lane.is_global;
}
DEVICE int device_is_shared(uint64_t a) {
  (void)a;
  return device_native_lane.is_shared;
}
DEVICE uint64_t device_to_shared(uint64_t a) {
  (void)a;
  return device_native_lane.shared;
}
DEVICE uint32_t device_shared_size(void) { return device_native_lane.shared_bytes; }
int device_is_nobodys(uint64_t address);  // no kernel may touch this address
DEVICE uint32_t device_tid_x(void) { return device_native_thread[0]; }
DEVICE uint32_t device_tid_y(void) { return device_native_thread[1]; }
DEVICE uint32_t device_tid_z(void) { return device_native_thread[2]; }
DEVICE uint32_t device_ctaid_x(void) { return device_native_block[0]; }
DEVICE uint32_t device_ctaid_y(void) { return device_native_block[1]; }
DEVICE uint32_t device_ctaid_z(void) { return device_native_block[2]; }
// sizes that native tests do not vary
DEVICE uint32_t device_ntid_x(void) { return 1; }
DEVICE uint32_t device_ntid_y(void) { return 1; }
DEVICE uint32_t device_nctaid_x(void) { return 1; }
DEVICE uint32_t device_nctaid_y(void) { return 1; }
DEVICE uint32_t device_nctaid_z(void) { return 1; }
DEVICE uint32_t device_shared_byte(uint32_t at) {
  (void)at;
  return 0;
}
DEVICE uint32_t device_smid(void) { return 0; }
DEVICE uint64_t device_max64(uint64_t *p, uint64_t v) {
  uint64_t old = __atomic_load_n(p, __ATOMIC_SEQ_CST);
  while (old < v &&
         !__atomic_compare_exchange_n(p, &old, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {}
  return old;
}
DEVICE void device_fence(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

#endif
#endif
