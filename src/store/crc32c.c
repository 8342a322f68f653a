// CRC-32C (Castagnoli), with the processor's instruction where it has one.
#include "store/internal.h"

#include <pthread.h>
#if defined __aarch64__
#include <sys/auxv.h>
#endif

// THIRD: a third of a page of 32 KB without its checksum
enum { POLYNOMIAL = 0x82F63B78, SLICES = 8, THIRD = 10920 };
static uint32_t tables[SLICES][256];
static uint32_t shifts[4][256];  // by byte of a checksum: its value after THIRD zeros
static bool has_instruction;

static uint32_t by_instruction(uint32_t crc, const uint8_t *p, size_t n);

// A checksum is linear: that of a byte is made of those of its bits.
static void prepare_shifts(void) {
  static const uint8_t zeros[THIRD];
  for (int k = 0; k < 4; k++)
    for (uint32_t bit = 0; bit < 8; bit++) {
      uint32_t shifted = by_instruction(1u << (8 * k + bit), zeros, THIRD);
      for (uint32_t i = 1u << bit; i < 256; i++)
        if (i >> bit & 1) shifts[k][i] ^= shifted;
    }
}

static void prepare(void) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t c = i;
    for (int bit = 0; bit < 8; bit++) c = c & 1 ? c >> 1 ^ POLYNOMIAL : c >> 1;
    tables[0][i] = c;
  }
  for (uint32_t i = 0; i < 256; i++)
    for (int k = 1; k < SLICES; k++)
      tables[k][i] = tables[k - 1][i] >> 8 ^ tables[0][tables[k - 1][i] & 255];
#if defined __aarch64__
  enum { CRC32 = 1 << 7 };  // HWCAP_CRC32
  has_instruction = getauxval(AT_HWCAP) & CRC32;
#elif defined __x86_64__
  has_instruction = __builtin_cpu_supports("sse4.2");
#endif
  if (has_instruction) prepare_shifts();
}

static uint32_t by_table(uint32_t crc, const uint8_t *p, size_t n) {
  for (; n >= 8; n -= 8, p += 8) {
    uint64_t w;
    memcpy(&w, p, 8);
    w ^= crc;  // both machines that Warpgrind runs on are little-endian
    crc = 0;
    for (int k = 0; k < SLICES; k++) crc ^= tables[SLICES - 1 - k][w >> 8 * k & 255];
  }
  for (; n; n--, p++) crc = crc >> 8 ^ tables[0][(crc ^ *p) & 255];
  return crc;
}

static inline uint64_t one_word(uint64_t crc, const uint8_t *p) {
  uint64_t w;
  memcpy(&w, p, 8);
#if defined __aarch64__
  __asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(crc) : "r"(w));
#elif defined __x86_64__
  __asm__("crc32q %1, %0" : "+r"(crc) : "r"(w));
#endif
  return crc;
}

static uint32_t shift(uint64_t crc) {
  return shifts[0][crc & 255] ^ shifts[1][crc >> 8 & 255] ^ shifts[2][crc >> 16 & 255] ^
         shifts[3][crc >> 24 & 255];
}

static uint32_t by_instruction(uint32_t crc, const uint8_t *p, size_t n) {
#if defined __aarch64__ || defined __x86_64__
  uint64_t a = crc;
  // An instruction waits for the one before: three of them side by side take the time of one.
  for (; n >= 3 * THIRD; n -= 3 * THIRD, p += 3 * THIRD) {
    uint64_t b = 0, c = 0;
    for (size_t i = 0; i < THIRD; i += 8) {
      a = one_word(a, p + i);
      b = one_word(b, p + THIRD + i);
      c = one_word(c, p + 2 * THIRD + i);
    }
    a = shift(shift(a) ^ b) ^ c;
  }
  for (; n >= 8; n -= 8, p += 8) a = one_word(a, p);
  crc = (uint32_t)a;
#endif
  return by_table(crc, p, n);
}

uint32_t store_crc32c(uint32_t crc, const void *data, size_t n) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, prepare);
  return ~(has_instruction ? by_instruction : by_table)(~crc, data, n);
}
