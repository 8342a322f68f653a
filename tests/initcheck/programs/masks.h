// For masks.cu and masks_ok.cu: instructions that are not found in C++.
template <int T> __device__ unsigned lop3(unsigned a, unsigned b, unsigned c) {
  unsigned d;
  asm volatile("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(d) : "r"(a), "r"(b), "r"(c), "n"(T));
  return d;
}
enum {
  AND_OR = 0xea,
  CHOOSE = 0xca,
  MAJORITY = 0xe8,
  AND_NOT = 0x30,
  XOR = 0x96
};  // of 0xf0, 0xcc and 0xaa
#define VIDEO(name, op) \
  __device__ unsigned name(unsigned a, unsigned b, unsigned c) { \
    unsigned d; \
    asm volatile(op ".u32.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); \
    return d; \
  }
#define VIDEO_SUM(name, op) \
  __device__ unsigned name(unsigned a, unsigned b, unsigned c) { \
    unsigned d; \
    asm volatile(op ".u32.u32.u32.add %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); \
    return d; \
  }
VIDEO(differ4, "vabsdiff4")
VIDEO(add2, "vadd2")
VIDEO(max4, "vmax4")
VIDEO_SUM(sum4, "vabsdiff4")
