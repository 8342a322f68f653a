// The checksum of pages, against one bit after the other.
#include <stdio.h>

#include "store/internal.h"

static uint32_t bit_by_bit(uint32_t crc, const uint8_t *p, size_t n) {
  crc = ~crc;
  while (n--) {
    crc ^= *p++;
    for (int i = 0; i < 8; i++) crc = crc & 1 ? crc >> 1 ^ 0x82F63B78 : crc >> 1;
  }
  return ~crc;
}

int main(void) {
  static uint8_t data[100000];
  static const size_t lengths[] = {0,     1,     7,     8,     9,     100,   10919, 10920,
                                   32759, 32760, 32761, 32768, 65520, 65521, 99998};
  int wrong = 0;
  for (uint32_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * 7919u >> 3 ^ i);
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
    for (uint32_t odd = 0; odd < 2; odd++) {
      uint32_t got = store_crc32c(odd * 12345, data + odd, lengths[i]),
               want = bit_by_bit(odd * 12345, data + odd, lengths[i]);
      wrong += got != want;
      if (got != want) printf("%zu bytes: %x, not %x\n", lengths[i], got, want);
    }
  return wrong != 0;
}
