// Opens an image: finds its kind, its length and its contents.
#include "image/elf_view.h"
#include "image/private.h"

static const char ARCHIVE_MAGIC[] = "!<arch>\n";

const char *image_kind_name(ImageKind kind) {
  switch (kind) {
    case IMAGE_PTX: return "PTX text";
    case IMAGE_CUBIN: return "cubin";
    case IMAGE_FATBIN: return "fatbin";
    case IMAGE_FATBIN_WRAPPER: return "fatbin wrapper";
    case IMAGE_HOST_ELF: return "host file";
    case IMAGE_ARCHIVE: return "static library";
    case IMAGE_UNKNOWN: break;
  }
  return "unknown image";
}

static ImageKind identify(const unsigned char *p, size_t size) {
  if (size >= 4) {
    uint32_t magic = read_u32(p);
    if (magic == WRAPPER_MAGIC) return IMAGE_FATBIN_WRAPPER;
    if (magic == FATBIN_MAGIC || magic == OLD_FATBIN_MAGIC) return IMAGE_FATBIN;
    if (memcmp(p, ELFMAG, SELFMAG) == 0)
      return size >= 20 && read_u16(p + offsetof(Elf64_Ehdr, e_machine)) != ELF_MACHINE_CUDA
                 ? IMAGE_HOST_ELF
                 : IMAGE_CUBIN;
  }
  if (size >= 8 && strncmp((const char *)p, ARCHIVE_MAGIC, 8) == 0) return IMAGE_ARCHIVE;
  return ptx_text_starts((const char *)p, strnlen((const char *)p, size)) ? IMAGE_PTX
                                                                          : IMAGE_UNKNOWN;
}

// How much of an image without a size may be read before its headers have been checked.
static size_t first_look(const void *data) {
  size_t size = mapped_bytes(data, sizeof(Elf64_Ehdr));
  // a short text: no magic number has a zero byte
  for (size_t i = 0; i < MIN(size, (size_t)4); i++)
    if (!((const char *)data)[i]) return i;
  if (identify(data, MIN(size, (size_t)20)) != IMAGE_UNKNOWN) return size;
  bool terminated;
  return mapped_string_bytes(data, &terminated);  // PTX may start with a long comment
}

ImageKind image_identify(const void *data) { return identify(data, first_look(data)); }

static bool length_of_elf(const void *data, size_t *size, Error *e) {
  size_t end = 0;
  if (mapped_bytes(data, sizeof(Elf64_Ehdr)) == sizeof(Elf64_Ehdr)) end = elf_view_table_end(data);
  if (end && mapped_bytes(data, end) == end) {
    size_t available = end;
    // the count is in section 0
    if (!read_u16((const char *)data + offsetof(Elf64_Ehdr, e_shnum)))
      available = mapped_bytes(data, SIZE_MAX / 4);
    end = elf_view_file_end(data, available);
    if (end && mapped_bytes(data, end) == end) {
      *size = end;
      return true;
    }
  }
  return error_set(e, "ELF image is damaged: its headers describe sections that are not in memory");
}

static bool length_of_fatbin(const void *data, size_t *size, Error *e) {
  if (mapped_bytes(data, FATBIN_HEADER_SIZE) < FATBIN_HEADER_SIZE)
    return error_set(e, "no fatbin at %p: that memory cannot be read", data);
  uint64_t header = read_u16((const char *)data + 6), body = read_u64((const char *)data + 8);
  size_t there = body > SIZE_MAX / 2 ? 0 : mapped_bytes(data, header + body);
  if (there < header + body || !there)
    return error_set(
        e, "fatbin is damaged: it should be %llu bytes long, that much memory is not there",
        (unsigned long long)body + header);
  *size = header + body;
  return true;
}

// The size of an image, from its own headers: the program passes only its start.
static bool find_length(ImageKind kind, const void *data, size_t *size, Error *e) {
  bool terminated;
  switch (kind) {
    case IMAGE_PTX:
      *size = mapped_string_bytes(data, &terminated);
      return terminated ? true : error_set(e, "PTX text does not end with a NUL");
    case IMAGE_FATBIN_WRAPPER: *size = 24; return true;
    case IMAGE_FATBIN: return length_of_fatbin(data, size, e);
    case IMAGE_CUBIN:
    case IMAGE_HOST_ELF: return length_of_elf(data, size, e);
    case IMAGE_ARCHIVE:
      return error_set(e, "a static library can only be read where its size is known");
    case IMAGE_UNKNOWN: break;
  }
  return true;
}

// One object with one entry: PTX text or a cubin that stands alone.
static void list_single(Image *image, ImageEntry entry) {
  entry.options = entry.source = "";
  entry.raw = image->data;
  entry.raw_size = entry.size = image->size;
  entry.is_64bit = true;
  vec_push(&image->entries, entry);
  vec_push(&image->objects, (ImageObject){.name = "", .entries = 1});
}

static bool list_ptx(Image *image, Error *e) {
  ImageEntry entry = {.kind = IMAGE_ENTRY_PTX, .kind_number = 1};
  image->size = strnlen(image->data, image->size);
  if (!ptx_text_describe(image->data, image->size, &entry))
    return error_set(e, "PTX text is damaged: .version is not followed by a number");
  list_single(image, entry);
  return true;
}

static bool list_cubin(Image *image, Error *e) {
  Arena scratch = {0};
  Cubin cubin;
  bool ok = image_read_cubin(&scratch, image->data, image->size, &cubin, e);
  if (ok) {
    list_single(image, (ImageEntry){.kind = IMAGE_ENTRY_ELF,
                                    .kind_number = 2,
                                    .arch = cubin.arch,
                                    .suffix = cubin.suffix,
                                    .major = 1,
                                    .minor = cubin.abi_version,
                                    .debug = cubin.has_debug_info});
    image->objects.data[0].relocatable = cubin.relocatable;
  }
  arena_free(&scratch);
  return ok;
}

// A fatbin somewhere in this process, or a wrapper around one.
static bool list_pointed_at(Image *image, const void *data, ImageObject object, Error *e) {
  if (mapped_bytes(data, 24) == 24 && read_u32(data) == WRAPPER_MAGIC)
    data = (const void *)(uintptr_t)read_u64((const char *)data + 8);
  size_t size, used;
  return length_of_fatbin(data, &size, e) && fatbin_list(image, data, size, object, &used, e);
}

enum { MOST_OBJECTS = 1 << 20 };

static bool list_wrapper(Image *image, bool in_process, Error *e) {
  const char *p = image->data;
  if (!in_process)
    return error_set(
        e, "a fatbin wrapper holds pointers: it can only be read in the process it belongs to");
  if (mapped_bytes(p, 24) < 24)
    return error_set(e, "fatbin wrapper is truncated: %zu bytes instead of 24",
                     mapped_bytes(p, 24));
  uint32_t version = read_u32(p + 4);
  const void *data = (const void *)(uintptr_t)read_u64(p + 8);
  const char *extra = (const char *)(uintptr_t)read_u64(p + 16);
  if (version != 1 && version != 2)
    return error_set(e, "fatbin wrapper version %u is not supported: 1 and 2 are known", version);
  if (!list_pointed_at(image, data, (ImageObject){.linked = version == 2}, e)) return false;
  if (version == 1) return true;  // extra would be a file name, which nvcc leaves NULL
  for (size_t i = 0; extra && i < MOST_OBJECTS; i++) {
    if (mapped_bytes(extra + 8 * i, 8) < 8)
      return error_set(e, "fatbin wrapper is damaged: its list of objects is not in memory");
    const void *object = (const void *)(uintptr_t)read_u64(extra + 8 * i);
    if (!object) break;
    Error why = {0};
    if (!list_pointed_at(image, object, (ImageObject){.relocatable = true}, &why))
      return error_set(e, "object %zu of an -rdc program: %s", i + 1, why.text);
  }
  return true;
}

static bool list_fatbin(Image *image, Error *e) {
  size_t used;
  return fatbin_list(image, image->data, image->size, (ImageObject){0}, &used, e);
}

static bool unknown_image(const Image *image, Error *e) {
  const unsigned char *p = image->data;
  size_t n = MIN(image->size, (size_t)8);
  if (!n) return error_set(e, "the image is empty, or its memory cannot be read");
  bool text = true;
  for (size_t i = 0; i < n; i++)
    text = text && (p[i] == '\t' || p[i] == '\n' || p[i] == '\r' || (p[i] >= ' ' && p[i] < 0x7f));
  if (text) return error_set(e, "the image is text, but not PTX: it does not start with .version");
  if (n >= 4 && read_u32(p) == 0xdec04342u)
    return error_set(
        e, "the image is LLVM bitcode (NVVM or LTO-IR): only PTX can be run; compile it to PTX");
  char bytes[32] = "";
  for (size_t i = 0; i < n; i++) snprintf(bytes + 3 * i, sizeof bytes - 3 * i, "%02x ", p[i]);
  return error_set(e, "the image is neither PTX text, cubin nor fatbin: it starts with %s", bytes);
}

bool image_open(const void *data, size_t size, Image *out, Error *e) {
  *out = (Image){.data = data, .size = size};
  out->kind = size ? identify(data, size) : image_identify(data);
  bool ok = size || find_length(out->kind, data, &out->size, e);
  if (ok && !size && out->kind == IMAGE_UNKNOWN) out->size = first_look(data);
  if (ok) switch (out->kind) {
      case IMAGE_PTX: ok = list_ptx(out, e); break;
      case IMAGE_CUBIN: ok = list_cubin(out, e); break;
      case IMAGE_FATBIN: ok = list_fatbin(out, e); break;
      case IMAGE_FATBIN_WRAPPER: ok = list_wrapper(out, !size, e); break;
      case IMAGE_HOST_ELF: ok = host_list(out, data, out->size, "", e); break;
      case IMAGE_ARCHIVE: ok = archive_list(out, data, out->size, e); break;
      case IMAGE_UNKNOWN: ok = unknown_image(out, e); break;
    }
  if (!ok) image_close(out);
  return ok;
}

void image_close(Image *image) {
  vec_free(&image->entries);
  vec_free(&image->objects);
  arena_free(&image->arena);
}
