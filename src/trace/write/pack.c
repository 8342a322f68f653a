// Raw records that wait in memory are packed: a record keeps only the words that differ from an
// earlier one of the same form, if they are few. Many warps do the same to similar numbers; then
// twenty times as many records fit, and little is written to memory, which is slower than the bus
// they come over. The encoder unpacks them without loss.
//
// - block: raw bytes, packed bytes (two words each), records, filling to 16 bytes
// - record: its length and how far back its pattern begins, in units of 16 bytes (two bytes each;
//   0: none). Without a pattern its bytes; else a bit for each word that differs, 8 words in a
//   byte, and these words
#include "trace/write/pack.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

bool pack_plainly;
enum { UNIT = 32, WORDS = 8 };
typedef struct Head {
  uint32_t raw, packed;
} Head;
_Static_assert(sizeof(Head) <= PACK_HEAD && sizeof(PackRecord) == 4, "as they are packed");

// --- one record, of which all but the last 16 bytes may be units ---
typedef uint8_t *Pack(uint8_t *to, const uint8_t *record, const uint8_t *pattern, size_t length);
// NULL: it does not end where it should
typedef const uint8_t *Unpack(uint8_t *to, const uint8_t *from, const uint8_t *end,
                              const uint8_t *pattern, size_t length);

static inline uint32_t word_at(const uint8_t *p) {
  uint32_t w;
  memcpy(&w, p, sizeof w);
  return w;
}

// Without branches: which words differ cannot be foreseen.
static uint8_t *pack_words(uint8_t *to, const uint8_t *record, const uint8_t *pattern,
                           size_t length) {
  uint8_t *bits = to;
  to += (length + UNIT - 1) / UNIT;
  for (size_t at = 0; at < length; bits++) {
    unsigned differ = 0;
    for (unsigned k = 0; k < WORDS && at < length; k++, at += 4) {
      uint32_t w = word_at(record + at);
      unsigned is = w != word_at(pattern + at);
      memcpy(to, &w, sizeof w);
      to += 4 * is;
      differ |= is << k;
    }
    *bits = (uint8_t)differ;
  }
  return to;
}

static const uint8_t *unpack_words(uint8_t *to, const uint8_t *from, const uint8_t *end,
                                   const uint8_t *pattern, size_t length) {
  const uint8_t *bits = from;
  from += (length + UNIT - 1) / UNIT;
  for (size_t at = 0; at < length; bits++)
    for (unsigned k = 0; k < WORDS && at < length; k++, at += 4) {
      bool is = *bits >> k & 1;
      if (is && (size_t)(end - from) < 4) return NULL;
      memcpy(to + at, is ? from : pattern + at, 4);
      from += 4 * is;
    }
  return from;
}

#ifdef __x86_64__
#define EIGHT_WORDS __attribute__((target("avx512f,avx512vl,popcnt")))
EIGHT_WORDS static uint8_t *pack_units(uint8_t *to, const uint8_t *record, const uint8_t *pattern,
                                       size_t length) {
  uint8_t *bits = to;
  to += (length + UNIT - 1) / UNIT;
  size_t at = 0;
  for (; at + UNIT <= length; at += UNIT) {
    __m256i w = _mm256_loadu_si256((const __m256i *)(record + at));
    __mmask8 differ = _mm256_cmpneq_epi32_mask(w,
                                               _mm256_loadu_si256((const __m256i *)(pattern + at)));
    _mm256_storeu_si256((__m256i *)to, _mm256_maskz_compress_epi32(differ, w));
    *bits++ = differ;
    to += 4 * _mm_popcnt_u32(differ);
  }
  if (at == length) return to;
  __m128i w = _mm_loadu_si128((const __m128i *)(record + at));
  __mmask8 differ = _mm_cmpneq_epi32_mask(w, _mm_loadu_si128((const __m128i *)(pattern + at)));
  _mm_storeu_si128((__m128i *)to, _mm_maskz_compress_epi32(differ, w));
  *bits = differ;
  return to + 4 * _mm_popcnt_u32(differ);
}

EIGHT_WORDS static const uint8_t *unpack_units(uint8_t *to, const uint8_t *from, const uint8_t *end,
                                               const uint8_t *pattern, size_t length) {
  const uint8_t *bits = from;
  from += (length + UNIT - 1) / UNIT;
  size_t at = 0;
  for (; at + UNIT <= length; at += UNIT) {
    __mmask8 differ = *bits++;
    size_t n = 4u * (unsigned)_mm_popcnt_u32(differ);
    if ((size_t)(end - from) < n) return NULL;
    _mm256_storeu_si256((__m256i *)(to + at),
                        _mm256_mask_expandloadu_epi32(
                            _mm256_loadu_si256((const __m256i *)(pattern + at)), differ, from));
    from += n;
  }
  if (at == length) return from;
  __mmask8 differ = *bits;
  size_t n = 4u * (unsigned)_mm_popcnt_u32(differ);
  if ((size_t)(end - from) < n) return NULL;
  _mm_storeu_si128(
      (__m128i *)(to + at),
      _mm_mask_expandloadu_epi32(_mm_loadu_si128((const __m128i *)(pattern + at)), differ, from));
  return from + n;
}

static bool has_units(void) {
  return !pack_plainly && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("popcnt");
}
static Pack *packer(void) { return has_units() ? pack_units : pack_words; }
static Unpack *unpacker(void) { return has_units() ? unpack_units : unpack_words; }
#else
static Pack *packer(void) { return pack_words; }
static Unpack *unpacker(void) { return unpack_words; }
#endif

size_t pack_records(uint8_t *to, const uint8_t *data, size_t n, const PackRecord *records,
                    uint32_t count) {
  Pack *pack = packer();
  uint8_t *start = to;
  size_t at = 0;
  to += PACK_HEAD;
  for (uint32_t i = 0; i < count; i++) {
    size_t length = records[i].length * 16u, back = records[i].back * 16u;
    CHECK(length <= n - at && back <= at);
    memcpy(to, &records[i], sizeof records[i]);
    to += sizeof records[i];
    if (back) to = pack(to, data + at, data + at - back, length);
    else {
      memcpy(to, data + at, length);
      to += length;
    }
    at += length;
  }
  CHECK(at == n);
  Head h = {(uint32_t)n, (uint32_t)(to - start)};
  memset(start, 0, PACK_HEAD);
  memcpy(start, &h, sizeof h);
  size_t fill = (size_t) - (to - start) & 15;
  memset(to, 0, fill);
  return (size_t)(to - start) + fill;
}

size_t unpack_records(uint8_t *to, size_t room, const uint8_t *from, size_t n) {
  Unpack *unpack = unpacker();
  size_t done = 0;
  while (n) {
    Head h;
    if (n < PACK_HEAD) return SIZE_MAX;
    memcpy(&h, from, sizeof h);
    size_t padded = (h.packed + (size_t)15) & ~(size_t)15;
    if (h.packed < PACK_HEAD || padded > n || h.raw > room - done) return SIZE_MAX;
    const uint8_t *at = from + PACK_HEAD, *end = from + h.packed;
    for (size_t begin = done; done - begin < h.raw;) {
      PackRecord r;
      if ((size_t)(end - at) < sizeof r) return SIZE_MAX;
      memcpy(&r, at, sizeof r);
      at += sizeof r;
      size_t length = r.length * 16u, back = r.back * 16u, bits = (length + UNIT - 1) / UNIT;
      if (!length || length > h.raw - (done - begin) || back > done - begin ||
          (back ? bits : length) > (size_t)(end - at))
        return SIZE_MAX;
      if (back) at = unpack(to + done, at, end, to + done - back, length);
      else {
        memcpy(to + done, at, length);
        at += length;
      }
      if (!at) return SIZE_MAX;
      done += length;
    }
    from += padded;
    n -= padded;
  }
  return done;
}
