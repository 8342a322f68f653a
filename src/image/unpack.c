// Unpacking entries: raw, LZ4 block or zstd frame, always to exactly the size the entry states.
#include <lz4.h>
#include <zstd.h>

#include "image/private.h"

// No program has code of this size; a header that claims more is damaged.
#ifndef IMAGE_MAX_UNPACKED
#define IMAGE_MAX_UNPACKED ((size_t)1 << 30)
#endif
enum { LZ4_MOST_RATIO = 255, ZSTD_MOST_RATIO = 1 << 16 };  // what the formats can reach at most

static bool check_sizes(const ImageEntry *entry, size_t ratio, const char *format, Error *e) {
  if (entry->size <= IMAGE_MAX_UNPACKED && entry->size / ratio <= entry->raw_size) return true;
  return error_set(e, "fatbin entry is damaged: %zu bytes of %s cannot unpack to %zu",
                   entry->raw_size, format, entry->size);
}

static bool unpack_lz4(const ImageEntry *entry, char *out, Error *e) {
  int n = LZ4_decompress_safe(entry->raw, out, (int)entry->raw_size, (int)entry->size);
  if (n >= 0 && (size_t)n == entry->size) return true;
  return n < 0
             ? error_set(e, "fatbin entry is damaged: its LZ4 data cannot be unpacked")
             : error_set(e,
                         "fatbin entry is damaged: its LZ4 data unpacks to %d bytes instead of %zu",
                         n, entry->size);
}

static bool unpack_zstd(const ImageEntry *entry, char *out, Error *e) {
  size_t n = ZSTD_decompress(out, entry->size, entry->raw, entry->raw_size);
  if (ZSTD_isError(n))
    return error_set(e, "fatbin entry is damaged: its zstd data cannot be unpacked (%s)",
                     ZSTD_getErrorName(n));
  if (n != entry->size)
    return error_set(e,
                     "fatbin entry is damaged: its zstd data unpacks to %zu bytes instead of %zu",
                     n, entry->size);
  return true;
}

bool image_entry_data(const ImageEntry *entry, Arena *arena, const void **data, size_t *size,
                      Error *e) {
  bool ok = false;
  char *out = NULL;
  // LTO-IR is scrambled before or after packing, in a way that is not documented: there is only
  // what is stored.
  switch (entry->kind == IMAGE_ENTRY_LTO ? IMAGE_RAW : entry->packing) {
    case IMAGE_RAW:
      *data = entry->raw;
      *size = entry->raw_size;
      return true;
    case IMAGE_LZ4:
      if (!check_sizes(entry, LZ4_MOST_RATIO, "LZ4", e)) return false;
      ok = unpack_lz4(entry, out = arena_alloc(arena, entry->size + 1), e);
      break;
    case IMAGE_ZSTD:
      if (!check_sizes(entry, ZSTD_MOST_RATIO, "zstd", e)) return false;
      ok = unpack_zstd(entry, out = arena_alloc(arena, entry->size + 1), e);
      break;
    case IMAGE_PACKED_UNKNOWN:
      return error_set(e,
                       "fatbin entry is packed in an unknown way (flags 0x%llx): rebuild with nvcc "
                       "--no-compress",
                       (unsigned long long)entry->flags);
  }
  *data = out;
  *size = entry->size;
  return ok;
}

// The PTX that ptxas kept in a cubin for debuggers.
static bool recovered_text(Arena *arena, const void *elf, size_t elf_size, const char **ptx,
                           size_t *len, Error *e) {
  Cubin cubin;
  if (!image_read_cubin(arena, elf, elf_size, &cubin, e)) return false;
  if (!cubin.ptx) return error_set(e, "the cubin holds no PTX text");
  *ptx = cubin.ptx;
  *len = cubin.ptx_len;
  return true;
}

bool image_entry_text(const ImageEntry *entry, Arena *arena, const char **ptx, size_t *len,
                      Error *e) {
  const void *data;
  size_t size;
  if (entry->kind != IMAGE_ENTRY_PTX) return error_set(e, "the entry is not PTX");
  if (!image_entry_data(entry, arena, &data, &size, e)) return false;
  if (entry->recovered) return recovered_text(arena, data, size, ptx, len, e);
  while (size && !((const char *)data)[size - 1]) size--;
  if (memchr(data, 0, size))
    return error_set(e, "PTX entry is damaged: there is a NUL in the middle of the text");
  if (!ptx_text_starts(data, size))
    return error_set(e, "PTX entry is damaged: the text does not start with .version");
  // Raw text may end at the end of the entry, with no room for a NUL.
  *ptx = entry->packing == IMAGE_RAW ? arena_strndup(arena, data, size) : data;
  *len = size;
  return true;
}
