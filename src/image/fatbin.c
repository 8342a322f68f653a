// Fatbins: a 16-byte header, then entries one after the other, each a header and a payload padded
// to 8 bytes.
//
// header  +0 u32 magic  +4 u16 version 1  +6 u16 header size  +8 u64 bytes that follow
// entry   +0 u16 kind  +2 u16 version 0x0101  +4 u32 header size  +8 u64 payload size
//         +16 u32 packed size  +20 u32 options  +24 u16 minor  +26 u16 major  +28 u32 arch
//         +32 u32 name offset  +36 u32 name length  +40 u64 flags  +48 u64 (LTO only)
//         +56 u64 unpacked size
// options at that offset of the entry: u32 text offset, u32 text length. Cubins keep binary data
// there.
#include "image/private.h"

enum { ENTRY_VERSION = 0x0101 };
enum { KIND_PTX = 1, KIND_ELF = 2, KIND_LTO = 8 };

// Text inside an entry's header; NULL where it is outside or holds something else than text.
static const char *header_text(Image *image, const unsigned char *entry, uint32_t header_size,
                               uint32_t offset, uint32_t length) {
  if (offset > header_size || header_size - offset < length) return NULL;
  const char *text = (const char *)entry + offset;
  length = (uint32_t)strnlen(text, length);
  for (uint32_t i = 0; i < length; i++)
    if ((unsigned char)text[i] < ' ' && text[i] != '\t' && text[i] != '\n') return NULL;
  return arena_strndup(&image->arena, text, length);
}

static bool read_texts(Image *image, const unsigned char *p, uint32_t header_size,
                       ImageEntry *entry, Error *e) {
  uint32_t options = read_u32(p + 20), name = read_u32(p + 32), name_length = read_u32(p + 36);
  entry->options = entry->source = "";
  if (name && name_length &&
      !(entry->source = header_text(image, p, header_size, name, name_length)))
    return error_set(e, "its source name is not text inside the entry");
  if (!options || entry->kind == IMAGE_ENTRY_ELF || entry->kind == IMAGE_ENTRY_OTHER) return true;
  if (options > header_size || header_size - options < 8)
    return error_set(e, "its options are outside the entry");
  uint32_t text = read_u32(p + options), length = read_u32(p + options + 4);
  if (length && !(entry->options = header_text(image, p, header_size, text, length)))
    return error_set(e, "its options are not text inside the entry");
  return true;
}

static bool read_packing(ImageEntry *entry, const unsigned char *p, uint64_t payload, Error *e) {
  uint32_t packed = read_u32(p + 16);
  uint64_t unpacked = read_u64(p + 56);
  bool lz4 = entry->flags & FLAG_LZ4, zstd = entry->flags & FLAG_ZSTD;
  if (!lz4 && !zstd && (!packed || !unpacked)) {
    entry->packing = IMAGE_RAW;
    entry->raw_size = entry->size = payload;
    return true;
  }
  entry->packing = lz4 == zstd ? IMAGE_PACKED_UNKNOWN : lz4 ? IMAGE_LZ4 : IMAGE_ZSTD;
  if (!packed || packed > payload)
    return error_set(e, "its packed size is %u bytes, its payload %llu", packed,
                     (unsigned long long)payload);
  if (!unpacked) return error_set(e, "it is packed, and its unpacked size is 0");
  entry->raw_size = packed;
  entry->size = unpacked;
  return true;
}

static bool read_entry(Image *image, const unsigned char *p, size_t left, ImageEntry *entry,
                       size_t *used, Error *e) {
  if (left < ENTRY_HEADER_SIZE)
    return error_set(e, "%zu bytes are left, its header alone needs %d", left, ENTRY_HEADER_SIZE);
  uint32_t version = read_u16(p + 2), header_size = read_u32(p + 4);
  uint64_t payload = read_u64(p + 8);
  if (version != ENTRY_VERSION)
    return error_set(e, "its version is 0x%04x, only 0x%04x is known", version, ENTRY_VERSION);
  if (header_size < ENTRY_HEADER_SIZE || header_size > left)
    return error_set(e, "its header size is %u bytes, %zu are left", header_size, left);
  if (payload > left - header_size)
    return error_set(e, "its payload is %llu bytes, %zu are left", (unsigned long long)payload,
                     left - header_size);
  *entry = (ImageEntry){
      .kind_number = read_u16(p),
      .minor = read_u16(p + 24),
      .major = read_u16(p + 26),
      .arch = read_u32(p + 28),
      .flags = read_u64(p + 40),
      .raw = p + header_size,
  };
  switch (entry->kind_number) {
    case KIND_PTX: entry->kind = IMAGE_ENTRY_PTX; break;
    case KIND_ELF: entry->kind = IMAGE_ENTRY_ELF; break;
    case KIND_LTO: entry->kind = IMAGE_ENTRY_LTO; break;
    default: entry->kind = IMAGE_ENTRY_OTHER;
  }
  entry->is_64bit = entry->flags & FLAG_64BIT;
  entry->debug = entry->flags & FLAG_DEBUG;
  entry->suffix = entry->flags & FLAG_ARCH_A ? 'a' : entry->flags & FLAG_ARCH_F ? 'f' : 0;
  *used = (size_t)header_size + payload;
  return read_packing(entry, p, payload, e) && read_texts(image, p, header_size, entry, e);
}

bool fatbin_list(Image *image, const void *data, size_t size, ImageObject object, size_t *used,
                 Error *e) {
  const unsigned char *p = data;
  if (size < FATBIN_HEADER_SIZE)
    return error_set(e, "fatbin is truncated: %zu bytes, its header alone needs %d", size,
                     FATBIN_HEADER_SIZE);
  uint32_t magic = read_u32(p), version = read_u16(p + 4), header_size = read_u16(p + 6);
  uint64_t body = read_u64(p + 8);
  if (magic == OLD_FATBIN_MAGIC)
    return error_set(
        e, "fatbin in the format of CUDA 3 and before: rebuild the program with CUDA 12 or 13");
  if (magic != FATBIN_MAGIC)
    return error_set(e, "not a fatbin: it starts with 0x%08x instead of 0x%08x", magic,
                     FATBIN_MAGIC);
  if (version != 1)
    return error_set(e, "fatbin version %u is not supported: only version 1 is known", version);
  if (header_size < FATBIN_HEADER_SIZE)
    return error_set(e, "fatbin is damaged: its header size is %u bytes instead of %d", header_size,
                     FATBIN_HEADER_SIZE);
  if (header_size > size || body > size - header_size)
    return error_set(e,
                     "fatbin is truncated or damaged: it should be %llu bytes long, %zu are there",
                     (unsigned long long)body + header_size, size);

  uint32_t index = image->objects.len;
  size_t at = header_size, end = header_size + (size_t)body;
  object.fatbin = data;
  if (!object.name) object.name = "";
  while (at < end) {
    ImageEntry entry;
    size_t length = 0;
    Error why = {0};
    if (!read_entry(image, p + at, end - at, &entry, &length, &why))
      return error_set(e, "fatbin is truncated or damaged: entry %u at offset %zu: %s",
                       object.entries + 1, at, why.text);
    entry.object = index;
    vec_push(&image->entries, entry);
    object.entries++;
    at += length;
  }
  vec_push(&image->objects, object);
  *used = end;
  return true;
}
