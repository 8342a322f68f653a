// Host files: where nvcc puts fatbins in executables, shared libraries, object files and static
// libraries.
//
// .nv_fatbin        the fatbins of whole programs, and what the device linker made of -rdc objects
// __nv_relfatbin    the fatbins of -rdc objects
// .nvFatBinSegment  one wrapper per fatbin; version 2 marks what the device linker made
#include "image/elf_view.h"
#include "image/private.h"

enum { WRAPPER_SIZE = 24, RELOC_RELATIVE_X86_64 = 8, RELOC_RELATIVE_AARCH64 = 1027 };

static bool section_fatbins(Image *image, const ElfSection *section, const char *member, Error *e) {
  bool relocatable = strcmp(section->name, "__nv_relfatbin") == 0;
  for (size_t at = 0; at < section->size;) {
    if (section->size - at < 4 || read_u32(section->data + at) == 0) {  // padding between fatbins
      at += 4;
      continue;
    }
    size_t used = 0;
    Error why = {0};
    ImageObject object = {
        .name = member, .offset = section->header.sh_offset + at, .relocatable = relocatable};
    if (!fatbin_list(image, section->data + at, section->size - at, object, &used, &why))
      return error_set(e, "section %s, offset %zu: %s", section->name, at, why.text);
    at += used;
  }
  return true;
}

// The target of the pointer at offset `at` of the wrappers, as an offset in the file. In
// position-independent files its value may stand in a relocation only; in object files it always
// does, relative to a symbol.
static uint64_t pointed_at(const ElfView *view, const ElfSection *wrappers,
                           const ElfSection *fatbins, size_t at) {
  bool object_file = view->header.e_type == ET_REL;
  uint64_t address = object_file ? UINT64_MAX : read_u64(wrappers->data + at);
  for (uint32_t i = 1; i < view->n_sections; i++) {
    ElfSection s;
    if (!elf_view_section(view, i, &s, NULL) || s.header.sh_type != SHT_RELA || !s.data) continue;
    if (object_file && s.header.sh_info != wrappers->index) continue;
    for (size_t r_at = 0; s.size - r_at >= sizeof(Elf64_Rela); r_at += sizeof(Elf64_Rela)) {
      Elf64_Rela r;
      memcpy(&r, s.data + r_at, sizeof r);
      if (r.r_offset != wrappers->header.sh_addr + at) continue;
      uint32_t type = ELF64_R_TYPE(r.r_info);
      ElfSymbols symbols;
      Elf64_Sym symbol;
      const char *name;
      if (!object_file && (type == RELOC_RELATIVE_X86_64 || type == RELOC_RELATIVE_AARCH64))
        address = (uint64_t)r.r_addend;
      if (object_file && elf_view_symbols(view, &symbols, NULL) &&
          elf_view_symbol(&symbols, ELF64_R_SYM(r.r_info), &symbol, &name) &&
          symbol.st_shndx == fatbins->index)
        address = symbol.st_value + (uint64_t)r.r_addend;
    }
  }
  return address - fatbins->header.sh_addr + fatbins->header.sh_offset;
}

static void mark_linked(Image *image, const ElfView *view, uint32_t first_object) {
  ElfSection wrappers, fatbins;
  if (!elf_view_find(view, ".nvFatBinSegment", &wrappers) || !wrappers.data ||
      !elf_view_find(view, ".nv_fatbin", &fatbins))
    return;
  for (size_t at = 0; wrappers.size - at >= WRAPPER_SIZE; at += WRAPPER_SIZE) {
    const unsigned char *w = wrappers.data + at;
    if (read_u32(w) != WRAPPER_MAGIC || read_u32(w + 4) != 2) continue;
    uint64_t offset = pointed_at(view, &wrappers, &fatbins, at + 8);
    for (uint32_t i = first_object; i < image->objects.len; i++)
      if (image->objects.data[i].offset == offset) image->objects.data[i].linked = true;
  }
}

bool host_list(Image *image, const void *data, size_t size, const char *member, Error *e) {
  ElfView view;
  if (!elf_view_open(&view, data, size, e)) return false;
  uint32_t first = image->objects.len;
  for (uint32_t i = 1; i < view.n_sections; i++) {
    ElfSection section;
    if (!elf_view_section(&view, i, &section, e)) return false;
    if (strcmp(section.name, ".nv_fatbin") != 0 && strcmp(section.name, "__nv_relfatbin") != 0)
      continue;
    if (section.data && !section_fatbins(image, &section, member, e)) return false;
  }
  mark_linked(image, &view, first);
  // Offsets so far are from the start of this ELF file; it may be inside an archive.
  for (uint32_t i = first; i < image->objects.len; i++)
    image->objects.data[i].offset += (size_t)((const char *)data - (const char *)image->data);
  return true;
}

enum { ARCHIVE_MAGIC_SIZE = 8, MEMBER_HEADER_SIZE = 60, MEMBER_SIZE_AT = 48, MEMBER_END_AT = 58 };

// A decimal number padded with blanks.
static bool member_number(const char *text, size_t n, uint64_t *out) {
  uint64_t value = 0;
  size_t i = 0;
  for (; i < n && text[i] >= '0' && text[i] <= '9'; i++)
    value = value * 10 + (uint64_t)(text[i] - '0');
  *out = value;
  return i > 0;
}

// "name/" in the header itself, or "/123": at that offset of the member called "//".
static const char *member_name(Image *image, const char *header, const char *long_names,
                               size_t long_size) {
  uint64_t offset;
  if (header[0] == '/' && long_names && member_number(header + 1, 15, &offset) &&
      offset < long_size) {
    const char *name = long_names + offset;
    size_t n = 0;
    while (n < long_size - offset && name[n] != '/' && name[n] != '\n' && name[n]) n++;
    return arena_strndup(&image->arena, name, n);
  }
  size_t n = 0;
  while (n < 16 && header[n] != '/' && header[n] != ' ' && header[n]) n++;
  return arena_strndup(&image->arena, header, n);
}

bool archive_list(Image *image, const void *data, size_t size, Error *e) {
  const char *p = data, *long_names = NULL;
  size_t long_size = 0;
  for (size_t at = ARCHIVE_MAGIC_SIZE; at < size;) {
    uint64_t length;
    if (size - at < MEMBER_HEADER_SIZE || p[at + MEMBER_END_AT] != '`' ||
        p[at + MEMBER_END_AT + 1] != '\n' || !member_number(p + at + MEMBER_SIZE_AT, 10, &length) ||
        length > size - at - MEMBER_HEADER_SIZE)
      return error_set(e, "static library is truncated or damaged at offset %zu", at);
    const char *header = p + at, *body = header + MEMBER_HEADER_SIZE;
    if (memcmp(header, "// ", 3) == 0) {
      long_names = body;
      long_size = length;
    } else if (length >= 64 && memcmp(body, ELFMAG, SELFMAG) == 0) {
      const char *name = member_name(image, header, long_names, long_size);
      Error why = {0};
      if (!host_list(image, body, length, name, &why))
        return error_set(e, "member %s: %s", name, why.text);
    }
    at += MEMBER_HEADER_SIZE + length + (length & 1);
  }
  return true;
}
