// A page of a run file with its checksum. SQLite leaves the last bytes of each page alone (the byte
// 20 of its header says how many).
#include "store/internal.h"

static const uint8_t mark[4] = {'W', 'G', 'p', '2'};

static uint32_t big(const uint8_t *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

// in the header
enum {
  PAGE_BYTES = 16,
  WRITE_VERSION = 18,
  RESERVED = 20,
  USER_VERSION = 60,
  APPLICATION = 68,
  OURS = 0x57475246
};

bool store_is_run_file(const uint8_t h[STORE_HEADER]) {
  return memcmp(h, "SQLite format 3", 16) == 0 && big(h + APPLICATION) == OURS;
}

// Two places of the header say whether pages have checksums, so that no damaged bit switches them
// off.
bool page_format(const uint8_t h[PAGE_HEADER], PageFormat *out) {
  *out = (PageFormat){0};
  if (memcmp(h, "SQLite format 3", 16) != 0) return false;
  uint32_t bytes = (uint32_t)h[PAGE_BYTES] << 8 | h[PAGE_BYTES + 1];
  bool ours = big(h + APPLICATION) == OURS && big(h + USER_VERSION) >= FORMAT_WITH_CHECKSUMS;
  *out = (PageFormat){.bytes = bytes == 1 ? 65536 : bytes,
                      .checked = ours || h[RESERVED] == PAGE_RESERVED,
                      .is_wal = h[WRITE_VERSION] == 2};
  return out->bytes >= 512 && (out->bytes & (out->bytes - 1)) == 0;
}

static uint32_t checksum(const uint8_t *page, uint32_t bytes, uint64_t number) {
  return store_crc32c(store_crc32c(0, page, bytes - PAGE_RESERVED), &number, sizeof number);
}

PageState page_check(const uint8_t *page, uint32_t bytes, uint64_t number) {
  static const uint8_t bare[PAGE_RESERVED];
  const uint8_t *at = page + bytes - PAGE_RESERVED;
  if (memcmp(at, bare, sizeof bare) == 0) return PAGE_BARE;
  uint32_t stored;
  memcpy(&stored, at, sizeof stored);
  return memcmp(at + 4, mark, sizeof mark) == 0 && stored == checksum(page, bytes, number)
             ? PAGE_GOOD
             : PAGE_BAD;
}

void page_seal(uint8_t *page, uint32_t bytes, uint64_t number) {
  uint32_t sum = checksum(page, bytes, number);
  memcpy(page + bytes - PAGE_RESERVED, &sum, sizeof sum);
  memcpy(page + bytes - 4, mark, sizeof mark);
}

void page_unseal(uint8_t *page, uint32_t bytes) {
  memset(page + bytes - PAGE_RESERVED, 0, PAGE_RESERVED);
}
