// Lane masks and vectors: from 32 comparisons to a predicate.
#ifndef WG_VGPU_ARITH_MASK_H
#define WG_VGPU_ARITH_MASK_H

#include <stdint.h>
#include <string.h>
#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__SSE2__)
#include <immintrin.h>
#endif

// Bytes are 0 or 0xff; bit i of the result is lane i.
static inline uint32_t mask_from_bytes(const uint8_t *lane) {
#if defined(__aarch64__)
  static const uint8_t weights[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  uint8x16_t bit = vld1q_u8(weights);
  uint8x16_t sum = vpaddq_u8(vandq_u8(vld1q_u8(lane), bit), vandq_u8(vld1q_u8(lane + 16), bit));
  sum = vpaddq_u8(sum, sum);
  sum = vpaddq_u8(sum, sum);
  return vgetq_lane_u32(vreinterpretq_u32_u8(sum), 0);
#elif defined(__AVX2__)
  return (uint32_t)_mm256_movemask_epi8(_mm256_loadu_si256((const __m256i *)lane));
#elif defined(__SSE2__)
  uint32_t low = (uint32_t)_mm_movemask_epi8(_mm_loadu_si128((const __m128i *)lane));
  return low | (uint32_t)_mm_movemask_epi8(_mm_loadu_si128((const __m128i *)(lane + 16))) << 16;
#else
  uint32_t r = 0;
  for (int i = 0; i < 32; i++) r |= (uint32_t)(lane[i] & 1) << i;
  return r;
#endif
}

// Like LANE_MASK, but the comparisons are vectorized into bytes first.
#define COMPARE_MASK(i, COND) \
  ({ \
    uint8_t lane_[LANES] __attribute__((aligned(32))); \
    for (int i = 0; i < LANES; i++) lane_[i] = (COND) ? 0xff : 0; \
    mask_from_bytes(lane_); \
  })

#endif
