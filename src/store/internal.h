// Inside store/.
#ifndef WG_STORE_INTERNAL_H
#define WG_STORE_INTERNAL_H

#include "store/store.h"

// --- crc32c.c ---
uint32_t store_crc32c(uint32_t crc, const void *data, size_t n);  // crc 0: of the first bytes

// --- page.c: the last PAGE_RESERVED bytes of a page: CRC-32C of the others and of the page's
// number, and a mark ---
enum { PAGE_RESERVED = 8, PAGE_HEADER = STORE_HEADER, FORMAT_WITH_CHECKSUMS = 5 };
// BARE: without a checksum, not written by Warpgrind
typedef enum { PAGE_GOOD, PAGE_BARE, PAGE_BAD } PageState;
// bytes: of a page; is_wal: the file is not finished
typedef struct PageFormat {
  uint32_t bytes;
  bool checked, is_wal;
} PageFormat;
bool page_format(const uint8_t header[PAGE_HEADER], PageFormat *out);  // false: no database
PageState page_check(const uint8_t *page, uint32_t bytes, uint64_t number);
void page_seal(uint8_t *page, uint32_t bytes, uint64_t number);
void page_unseal(uint8_t *page, uint32_t bytes);  // the reserved bytes become 0

// --- page_vfs.c ---
#define PAGE_VFS "warpgrind"
bool page_vfs_register(void);
// The first damaged page that was read through db's main file; 0: none. *bytes: of a page.
uint64_t page_vfs_damage(sqlite3 *db, uint32_t *bytes);
// the file was written with a -wal, and is still in that mode
bool page_vfs_is_unfinished(sqlite3 *db);

// --- wal_check.c ---
// CUT: its last transaction is not complete
typedef enum { WAL_WHOLE, WAL_CUT, WAL_DAMAGED } WalState;
WalState wal_check(const char *path, Error *why);  // path: of the -wal

#endif
