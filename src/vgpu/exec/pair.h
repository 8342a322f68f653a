// 16 bytes read or written in one piece, as a GPU does for aligned vectors: CUB's blocks pass a
// status and a value to each other in one such access (HeCBench's rle). Both ways write the memory,
// so it must be writable; nothing is locked, since an access may end in a fault.
#ifndef WG_VGPU_PAIR_H
#define WG_VGPU_PAIR_H

#include <stdint.h>
#include <string.h>

static inline void pair_load(char *p, uint64_t v[2]) {
#if defined(__aarch64__)
  uint32_t lost;
  do
    __asm__ volatile("ldxp %0, %1, [%3]\n\tstxp %w2, %0, %1, [%3]"
                     : "=&r"(v[0]), "=&r"(v[1]), "=&r"(lost)
                     : "r"(p)
                     : "memory");
  while (lost);
#elif defined(__x86_64__)
  uint64_t low = 0, high = 0;
  __asm__ volatile("lock cmpxchg16b %2"
                   : "+a"(low), "+d"(high), "+m"(*(char(*)[16])p)
                   : "b"(low), "c"(high)
                   : "cc", "memory");
  v[0] = low;
  v[1] = high;
#else
  memcpy(v, p, 16);
#endif
}

static inline void pair_store(char *p, const uint64_t v[2]) {
#if defined(__aarch64__)
  uint32_t lost;
  uint64_t a, b;
  do
    __asm__ volatile("ldxp %0, %1, [%3]\n\tstxp %w2, %4, %5, [%3]"
                     : "=&r"(a), "=&r"(b), "=&r"(lost)
                     : "r"(p), "r"(v[0]), "r"(v[1])
                     : "memory");
  while (lost);
#elif defined(__x86_64__)
  uint64_t low = 0, high = 0;
  unsigned char done;
  do
    __asm__ volatile("lock cmpxchg16b %1\n\tsetz %0"
                     : "=q"(done), "+m"(*(char(*)[16])p), "+a"(low), "+d"(high)
                     : "b"(v[0]), "c"(v[1])
                     : "cc", "memory");
  while (!done);
#else
  memcpy(p, v, 16);
#endif
}

// Replaces the 16 bytes at p by `value` if they are `expected`; *old is what was there.
static inline void pair_compare_swap(char *p, const uint64_t expected[2], const uint64_t value[2],
                                     uint64_t old[2]) {
#if defined(__aarch64__)
  uint64_t a, b, x, y;
  uint32_t lost;
  do
    __asm__ volatile("ldaxp %0, %1, [%5]\n\tcmp %0, %6\n\tccmp %1, %7, #0, eq\n\t"
                     "csel %2, %8, %0, eq\n\tcsel %3, %9, %1, eq\n\tstlxp %w4, %2, %3, [%5]"
                     : "=&r"(a), "=&r"(b), "=&r"(x), "=&r"(y), "=&r"(lost)
                     : "r"(p), "r"(expected[0]), "r"(expected[1]), "r"(value[0]), "r"(value[1])
                     : "cc", "memory");
  while (lost);
  old[0] = a;
  old[1] = b;
#elif defined(__x86_64__)
  uint64_t low = expected[0], high = expected[1];
  __asm__ volatile("lock cmpxchg16b %0"
                   : "+m"(*(char(*)[16])p), "+a"(low), "+d"(high)
                   : "b"(value[0]), "c"(value[1])
                   : "cc", "memory");
  old[0] = low;
  old[1] = high;
#else
  memcpy(old, p, 16);
  if (!memcmp(old, expected, 16)) memcpy(p, value, 16);
#endif
}

#endif
