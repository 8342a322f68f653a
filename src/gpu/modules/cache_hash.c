// A 128-bit hash for names of cache files: MurmurHash3's 128-bit mixing for 64-bit machines (public
// domain algorithm), with the last result as seed so that several things can be hashed one after
// the other.
#include "gpu/modules/modules.h"

static uint64_t rotate(uint64_t x, int n) { return x << n | x >> (64 - n); }
static uint64_t finish(uint64_t k) {
  k = (k ^ k >> 33) * 0xff51afd7ed558ccdull;
  k = (k ^ k >> 33) * 0xc4ceb9fe1a85ec53ull;
  return k ^ k >> 33;
}

GpuHash gpu_hash(const void *data, size_t n, GpuHash seed) {
  const uint64_t c1 = 0x87c37b91114253d5ull, c2 = 0x4cf5ad432745937full;
  const unsigned char *p = data;
  uint64_t a = seed.low, b = seed.high;
  for (size_t left = n;; left -= 16, p += 16) {
    uint64_t w[2] = {0, 0};
    // the last, short block is filled with zeros; the length is mixed in at the end
    memcpy(w, p, MIN(left, 16u));
    a ^= rotate(w[0] * c1, 31) * c2;
    a = (rotate(a, 27) + b) * 5 + 0x52dce729;
    b ^= rotate(w[1] * c2, 33) * c1;
    b = (rotate(b, 31) + a) * 5 + 0x38495ab5;
    if (left <= 16) break;
  }
  a ^= n;
  b ^= n;
  a += b;
  b += a;
  a = finish(a);
  b = finish(b);
  a += b;
  b += a;
  return (GpuHash){a, b};
}

GpuHash gpu_hash_text(const char *text, GpuHash seed) {
  return gpu_hash(text, strlen(text) + 1, seed);
}
