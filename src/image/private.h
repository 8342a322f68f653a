// Shared by the files of image/ only.
#ifndef WG_IMAGE_PRIVATE_H
#define WG_IMAGE_PRIVATE_H

#include "image/image.h"

enum {
  WRAPPER_MAGIC = 0x466243B1,
  FATBIN_HEADER_SIZE = 16,
  ENTRY_HEADER_SIZE = 64,
};
#define FATBIN_MAGIC 0xBA55ED50u
#define OLD_FATBIN_MAGIC 0x1EE55A01u  // before CUDA 4

typedef enum EntryFlag {
  FLAG_64BIT = 0x1,
  FLAG_DEBUG = 0x2,
  FLAG_LINUX = 0x10,
  FLAG_LZ4 = 0x2000,
  FLAG_ZSTD = 0x8000,
  FLAG_LTO = 0x10000,
  FLAG_ARCH_A = 0x100000,
  FLAG_ARCH_F = 0x200000,
} EntryFlag;

static inline uint16_t read_u16(const void *p) {
  uint16_t v;
  memcpy(&v, p, sizeof v);
  return v;
}
static inline uint32_t read_u32(const void *p) {
  uint32_t v;
  memcpy(&v, p, sizeof v);
  return v;
}
static inline uint64_t read_u64(const void *p) {
  uint64_t v;
  memcpy(&v, p, sizeof v);
  return v;
}

// --- mapped.c: how many of the bytes from p on can be read, at most `want`. ---
size_t mapped_bytes(const void *p, size_t want);
// length up to the NUL, or to the end of mapped memory
size_t mapped_string_bytes(const char *s, bool *terminated);

// --- fatbin.c ---
// Adds one object with all entries of the fatbin that starts at data. *used: its whole length.
bool fatbin_list(Image *image, const void *data, size_t size, ImageObject object, size_t *used,
                 Error *e);

// --- host.c ---
bool host_list(Image *image, const void *data, size_t size, const char *member, Error *e);
bool archive_list(Image *image, const void *data, size_t size, Error *e);

// --- ptxtext.c: the little of PTX that has to be known before parsing it. ---
// the first word after blanks and comments is .version
bool ptx_text_starts(const char *text, size_t len);
// version, arch, suffix, debug
bool ptx_text_describe(const char *text, size_t len, ImageEntry *entry);
// Calls back with the name of every .entry.
void ptx_text_kernels(const char *text, size_t len,
                      void (*found)(void *arg, const char *name, size_t len), void *arg);

#endif
