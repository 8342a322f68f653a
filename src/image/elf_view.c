// ELF files in memory. Images come from the program under test and may be truncated or hostile: no
// offset is trusted.
#include "image/elf_view.h"

static const Elf64_Shdr no_section;

// The header's own count, or section 0's size where there are more than fit in 16 bits.
static uint32_t count_sections(const Elf64_Ehdr *h, const unsigned char *data, size_t size) {
  if (!h->e_shoff || h->e_shentsize != sizeof(Elf64_Shdr)) return 0;
  if (h->e_shnum) return h->e_shnum;
  Elf64_Shdr first;
  if (h->e_shoff > size || size - h->e_shoff < sizeof first) return 0;
  memcpy(&first, data + h->e_shoff, sizeof first);
  return first.sh_size > UINT32_MAX ? 0 : (uint32_t)first.sh_size;
}

static bool section_header(const ElfView *v, uint32_t index, Elf64_Shdr *out) {
  *out = no_section;
  if (index >= v->n_sections) return false;
  memcpy(out, v->data + v->header.e_shoff + (size_t)index * sizeof *out, sizeof *out);
  return true;
}

bool elf_view_open(ElfView *v, const void *data, size_t size, Error *e) {
  *v = (ElfView){.data = data, .size = size};
  if (size < sizeof v->header)
    return error_set(e, "ELF file is truncated: %zu bytes, its header alone needs %zu", size,
                     sizeof v->header);
  memcpy(&v->header, data, sizeof v->header);
  const unsigned char *ident = v->header.e_ident;
  if (memcmp(ident, ELFMAG, SELFMAG) != 0) return error_set(e, "not an ELF file");
  if (ident[EI_CLASS] != ELFCLASS64)
    return error_set(e, "32-bit ELF file: only 64-bit programs are supported");
  if (ident[EI_DATA] != ELFDATA2LSB)
    return error_set(e, "big-endian ELF file: only little-endian programs are supported");
  if (v->header.e_phoff &&
      (v->header.e_phoff > size ||
       size - v->header.e_phoff < (size_t)v->header.e_phnum * v->header.e_phentsize))
    return error_set(e,
                     "ELF file is truncated or damaged: its program headers at offset %llu are not "
                     "inside its %zu bytes",
                     (unsigned long long)v->header.e_phoff, size);
  if (!v->header.e_shoff) return true;
  if (v->header.e_shentsize != sizeof(Elf64_Shdr))
    return error_set(e, "ELF file is damaged: section headers of %u bytes instead of %zu",
                     v->header.e_shentsize, sizeof(Elf64_Shdr));
  uint32_t n = count_sections(&v->header, v->data, size);
  if (v->header.e_shoff > size || (size - v->header.e_shoff) / sizeof(Elf64_Shdr) < n)
    return error_set(e,
                     "ELF file is truncated or damaged: its %u section headers at offset %llu are "
                     "not inside its %zu bytes",
                     n, (unsigned long long)v->header.e_shoff, size);
  v->n_sections = n;
  v->names = v->header.e_shstrndx;
  if (v->names == SHN_XINDEX) {
    Elf64_Shdr first;
    section_header(v, 0, &first);
    v->names = first.sh_link;
  }
  if (v->names >= n) v->names = 0;
  return true;
}

// Fills in data and size; false where they are outside the file.
static bool section_bytes(const ElfView *v, ElfSection *s) {
  const Elf64_Shdr *h = &s->header;
  s->size = h->sh_size;
  if (h->sh_type == SHT_NOBITS || h->sh_type == SHT_NULL) return true;
  if (h->sh_offset > v->size || v->size - h->sh_offset < h->sh_size) return false;
  s->data = v->data + h->sh_offset;
  return true;
}

const char *elf_view_string(const ElfSection *strings, uint64_t offset) {
  if (!strings->data || offset >= strings->size) return NULL;
  const char *s = (const char *)strings->data + offset;
  return memchr(s, 0, strings->size - offset) ? s : NULL;
}

static const char *section_name(const ElfView *v, uint32_t offset) {
  ElfSection names = {0};
  if (!v->names || !section_header(v, v->names, &names.header) || !section_bytes(v, &names))
    return "";
  const char *s = elf_view_string(&names, offset);
  return s ? s : "";
}

bool elf_view_section(const ElfView *v, uint32_t index, ElfSection *out, Error *e) {
  *out = (ElfSection){.index = index, .name = ""};
  if (!section_header(v, index, &out->header))
    return error_set(e, "ELF file is damaged: it has no section %u", index);
  out->name = section_name(v, out->header.sh_name);
  if (section_bytes(v, out)) return true;
  return error_set(e,
                   "ELF file is truncated or damaged: section %u (%s) at offset %llu, %llu bytes, "
                   "is not inside its %zu bytes",
                   index, out->name[0] ? out->name : "no name",
                   (unsigned long long)out->header.sh_offset,
                   (unsigned long long)out->header.sh_size, v->size);
}

bool elf_view_find(const ElfView *v, const char *name, ElfSection *out) {
  for (uint32_t i = 1; i < v->n_sections; i++)
    if (elf_view_section(v, i, out, NULL) && strcmp(out->name, name) == 0) return true;
  return false;
}

bool elf_view_symbols(const ElfView *v, ElfSymbols *out, Error *e) {
  *out = (ElfSymbols){0};
  for (uint32_t i = 1; i < v->n_sections; i++) {
    Elf64_Shdr h;
    if (!section_header(v, i, &h) || h.sh_type != SHT_SYMTAB) continue;
    if (!elf_view_section(v, i, &out->table, e) ||
        !elf_view_section(v, h.sh_link, &out->strings, e))
      return false;
    size_t n = out->table.size / sizeof(Elf64_Sym);
    out->count = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
    return true;
  }
  return true;
}

bool elf_view_symbol(const ElfSymbols *symbols, uint32_t index, Elf64_Sym *out, const char **name) {
  if (index >= symbols->count) return false;
  memcpy(out, symbols->table.data + (size_t)index * sizeof *out, sizeof *out);
  const char *s = elf_view_string(&symbols->strings, out->st_name);
  *name = s ? s : "";
  return true;
}

size_t elf_view_table_end(const void *data) {
  Elf64_Ehdr h;
  memcpy(&h, data, sizeof h);
  if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64) return 0;
  size_t end = sizeof h;
  if (h.e_shoff) {
    size_t n = h.e_shnum ? h.e_shnum : 1;
    if (h.e_shoff > SIZE_MAX / 2) return 0;
    end = MAX(end, h.e_shoff + n * sizeof(Elf64_Shdr));
  }
  if (h.e_phoff) {
    if (h.e_phoff > SIZE_MAX / 2) return 0;
    end = MAX(end, h.e_phoff + h.e_phnum * sizeof(Elf64_Phdr));
  }
  return end;
}

size_t elf_view_file_end(const void *data, size_t available) {
  ElfView v = {.data = data, .size = available};
  if (available < sizeof v.header) return 0;
  memcpy(&v.header, data, sizeof v.header);
  uint32_t n = count_sections(&v.header, data, available);
  size_t end = elf_view_table_end(data);
  if (n &&
      (v.header.e_shoff > available || (available - v.header.e_shoff) / sizeof(Elf64_Shdr) < n))
    return 0;
  v.n_sections = n;
  for (uint32_t i = 0; i < n; i++) {
    Elf64_Shdr h;
    section_header(&v, i, &h);
    if (h.sh_type == SHT_NOBITS || h.sh_type == SHT_NULL) continue;
    if (h.sh_offset > SIZE_MAX / 2 || h.sh_size > SIZE_MAX / 2) return 0;
    end = MAX(end, h.sh_offset + h.sh_size);
  }
  return end;
}
