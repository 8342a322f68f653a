// Code that Warpgrind's own kernels share (hash_kernel.cu, changed_pages_kernel.cu,
// *_kernel.cu of tools): compiled by clang to PTX, without any header of CUDA.
#ifndef WG_PROBE_KERNEL_H
#define WG_PROBE_KERNEL_H

#include <stdint.h>

#define DEVICE static __attribute__((device)) inline __attribute__((always_inline))

DEVICE uint32_t thread_of_block() { return __nvvm_read_ptx_sreg_tid_x(); }
DEVICE void barrier() { asm volatile("bar.sync 0;" ::: "memory"); }

DEVICE void load16(uint64_t at, uint64_t *low, uint64_t *high) {
  asm volatile("ld.global.v2.u64 {%0, %1}, [%2];" : "=l"(*low), "=l"(*high) : "l"(at) : "memory");
}
DEVICE void store16(uint64_t at, uint64_t low, uint64_t high) {
  asm volatile("st.global.v2.u64 [%0], {%1, %2};" ::"l"(at), "l"(low), "l"(high) : "memory");
}
DEVICE uint32_t load4(uint64_t at) {
  uint32_t v;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
  return v;
}
DEVICE void store4(uint64_t at, uint32_t v) {
  asm volatile("st.global.u32 [%0], %1;" ::"l"(at), "r"(v) : "memory");
}
DEVICE uint64_t load8(uint64_t at) {
  uint64_t v;
  asm volatile("ld.global.u64 %0, [%1];" : "=l"(v) : "l"(at) : "memory");
  return v;
}
DEVICE void store8(uint64_t at, uint64_t v) {
  asm volatile("st.global.u64 [%0], %1;" ::"l"(at), "l"(v) : "memory");
}

// Reads memory that other blocks or the host change.
DEVICE uint32_t get32(uint64_t at) {
  uint32_t v;
  asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
  return v;
}
DEVICE uint64_t get64(uint64_t at) {
  uint64_t v;
  asm volatile("ld.volatile.global.u64 %0, [%1];" : "=l"(v) : "l"(at) : "memory");
  return v;
}
DEVICE void set32(uint64_t at, uint32_t v) {
  asm volatile("st.volatile.global.u32 [%0], %1;" ::"l"(at), "r"(v) : "memory");
}
DEVICE void set64(uint64_t at, uint64_t v) {
  asm volatile("st.volatile.global.u64 [%0], %1;" ::"l"(at), "l"(v) : "memory");
}

// Loads n of 8 bytes from any address; the others are zero. For unaligned memory and the end of a
// buffer.
DEVICE uint64_t load_bytes(uint64_t at, uint32_t n) {
  uint64_t w = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t byte;
    asm volatile("ld.global.u8 %0, [%1];" : "=r"(byte) : "l"(at + i) : "memory");
    w |= (uint64_t)byte << (8 * i);
  }
  return w;
}

DEVICE uint64_t add_lanes(uint64_t v) {
  for (int step = 16; step; step /= 2) {
    uint32_t low = (uint32_t)v, high = (uint32_t)(v >> 32), other_low, other_high;
    asm volatile("shfl.sync.down.b32 %0, %1, %2, 31, 0xffffffff;"
                 : "=r"(other_low)
                 : "r"(low), "r"(step));
    asm volatile("shfl.sync.down.b32 %0, %1, %2, 31, 0xffffffff;"
                 : "=r"(other_high)
                 : "r"(high), "r"(step));
    v += other_low | (uint64_t)other_high << 32;
  }
  return v;
}

#endif
