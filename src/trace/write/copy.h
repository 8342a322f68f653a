// Copies of data that is not read again soon: non-temporal stores, which neither load the
// destination nor evict other lines of the processor's cache.
#ifndef WG_TRACE_COPY_H
#define WG_TRACE_COPY_H

#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
// to: a multiple of 16, as n is
static inline void copy_past_cache(uint8_t *to, const uint8_t *from, size_t n) {
  if ((uintptr_t)to % 16 || n % 16) {
    memcpy(to, from, n);
    return;
  }
  for (size_t i = 0; i < n; i += 16)
    _mm_stream_si128((__m128i *)(to + i), _mm_loadu_si128((const __m128i *)(from + i)));
  _mm_sfence();  // before other threads learn of the copy
}
// 64 bytes; to: a multiple of 64. Behind the last one copy_lines_end.
static inline void copy_line(void *to, const void *from) {
  for (int i = 0; i < 4; i++)
    _mm_stream_si128((__m128i *)to + i, _mm_loadu_si128((const __m128i *)from + i));
}
static inline void copy_lines_end(void) { _mm_sfence(); }
#else
static inline void copy_past_cache(uint8_t *to, const uint8_t *from, size_t n) {
  memcpy(to, from, n);
}
static inline void copy_line(void *to, const void *from) { memcpy(to, from, 64); }
static inline void copy_lines_end(void) {}
#endif
#endif
