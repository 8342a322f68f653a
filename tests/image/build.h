// Makes fatbins and cubins without nvcc, for tests of src/image and as seeds for its fuzz targets.
#ifndef WG_TEST_IMAGE_BUILD_H
#define WG_TEST_IMAGE_BUILD_H

#include <elf.h>
#include <lz4.h>
#include <zstd.h>

#include "image/image.h"

static inline void put(Str *s, uint64_t value, size_t bytes) {
  str_addn(s, (const char *)&value, bytes);
}
static inline void pad(Str *s, size_t alignment) { while (s->len % alignment) str_addc(s, 0); }
static inline void patch(Str *s, size_t at, uint64_t value, size_t bytes) {
  memcpy(s->data + at, &value, bytes);
}

enum { TEST_PTX = 1, TEST_ELF = 2, TEST_LTO = 8 };
typedef struct TestEntry {
  unsigned kind, arch;
  char suffix;
  ImagePacking packing;
  const void *data;
  size_t size;                       // 0: data is a string
  const char *options, *source;
  uint64_t flags;                    // besides what the other fields say
} TestEntry;

static inline void add_entry(Str *out, const TestEntry *t) {
  size_t size = t->size ? t->size : strlen(t->data), packed = 0, start = out->len;
  uint64_t flags = 0x11 | t->flags |
                   (t->suffix == 'a'   ? 0x100000
                    : t->suffix == 'f' ? 0x200000
                                       : 0);
  char *payload = mem_alloc(size * 2 + 1024);
  if (t->packing == IMAGE_LZ4) {
    packed = (size_t)LZ4_compress_default(t->data, payload, (int)size, (int)size * 2 + 1024);
    flags |= 0x2000;
  } else if (t->packing == IMAGE_ZSTD) {
    packed = ZSTD_compress(payload, size * 2 + 1024, t->data, size, 9);
    CHECK(!ZSTD_isError(packed));
    flags |= 0x8000;
  } else {
    memcpy(payload, t->data, size);
  }
  Str head = {0};                    // what follows the fixed 64 bytes
  size_t source_at = 0, options_at = 0;
  if (t->source) {
    source_at = 64;
    str_add(&head, t->source);
    str_addc(&head, 0);
    pad(&head, 8);
  }
  if (t->options) {
    options_at = 64 + head.len;
    put(&head, options_at + 8, 4);
    put(&head, strlen(t->options), 4);
    str_add(&head, t->options);
    str_addc(&head, 0);
  }
  if (head.len) pad(&head, 8);
  size_t stored = packed ? packed : size, padded = (stored + 7) & ~(size_t)7;
  put(out, t->kind, 2);
  put(out, 0x0101, 2);
  put(out, 64 + head.len, 4);
  put(out, padded, 8);
  put(out, packed, 4);
  put(out, options_at, 4);
  put(out, 0, 2);
  put(out, 9, 2);
  put(out, t->arch, 4);
  put(out, source_at, 4);
  put(out, t->source ? strlen(t->source) : 0, 4);
  put(out, flags, 8);
  put(out, 0, 8);
  put(out, packed ? size : 0, 8);
  CHECK(out->len - start == 64);
  str_addn(out, head.data ? head.data : "", head.len);
  str_addn(out, payload, stored);
  pad(out, 8);
  str_free(&head);
  free(payload);
}

static inline Str build_fatbin(const TestEntry *entries, size_t n) {
  Str s = {0};
  put(&s, 0xBA55ED50u, 4);
  put(&s, 1, 2);
  put(&s, 16, 2);
  put(&s, 0, 8);
  for (size_t i = 0; i < n; i++) add_entry(&s, &entries[i]);
  patch(&s, 8, s.len - 16, 8);
  return s;
}

// --- ELF: sections are added in order, the table comes last ---
typedef struct TestElf {
  Str file, names;
  Elf64_Shdr sections[32];
  unsigned n;
} TestElf;

static inline unsigned add_section(TestElf *t, const char *name, unsigned type, const void *data,
                                   size_t size, unsigned link, unsigned info) {
  if (!t->n) {
    t->n = 1;                        // section 0 is empty
    str_addc(&t->names, 0);
    for (int i = 0; i < 64; i++) str_addc(&t->file, 0);
  }
  pad(&t->file, 8);
  Elf64_Shdr *h = &t->sections[t->n];
  *h = (Elf64_Shdr){.sh_name = (uint32_t)t->names.len,
                    .sh_type = type,
                    .sh_offset = t->file.len,
                    .sh_size = size,
                    .sh_link = link,
                    .sh_info = info};
  str_addn(&t->names, name, strlen(name) + 1);
  if (type != SHT_NOBITS && size) str_addn(&t->file, data, size);
  return t->n++;
}

static inline Str finish_elf(TestElf *t, unsigned machine, unsigned osabi, uint32_t flags,
                             unsigned type) {
  unsigned names = add_section(t, ".shstrtab", SHT_STRTAB, "", 0, 0, 0);
  t->sections[names].sh_size = t->names.len;
  str_addn(&t->file, t->names.data, t->names.len);
  pad(&t->file, 8);
  Elf64_Ehdr h = {.e_type = (uint16_t)type,
                  .e_machine = (uint16_t)machine,
                  .e_version = 1,
                  .e_shoff = t->file.len,
                  .e_flags = flags,
                  .e_ehsize = 64,
                  .e_phentsize = 56,
                  .e_shentsize = 64,
                  .e_shnum = (uint16_t)t->n,
                  .e_shstrndx = (uint16_t)names};
  memcpy(h.e_ident, ELFMAG, SELFMAG);
  h.e_ident[EI_CLASS] = ELFCLASS64;
  h.e_ident[EI_DATA] = ELFDATA2LSB;
  h.e_ident[EI_VERSION] = 1;
  h.e_ident[EI_OSABI] = (unsigned char)osabi;
  h.e_ident[EI_ABIVERSION] = osabi == 0x41 ? 8 : 7;
  memcpy(t->file.data, &h, sizeof h);
  str_addn(&t->file, (const char *)t->sections, t->n * sizeof t->sections[0]);
  str_free(&t->names);
  return t->file;
}

// The note in which ptxas says who it is and how it was called.
static inline Str build_note(void) {
  Str note = {0};
  put(&note, 12, 4);
  put(&note, 48, 4);
  put(&note, 2000, 4);
  str_addn(&note, "NVIDIA Corp", 12);
  static const char note_strings[] = "\0ptxas\0release 13.0\0build\0-arch sm_90a -m 64 ";
  put(&note, 2, 4);
  put(&note, 0, 4);
  put(&note, 1, 4);
  put(&note, 7, 4);
  put(&note, 20, 4);
  put(&note, 26, 4);
  str_addn(&note, note_strings, sizeof note_strings);
  return note;
}

// A cubin with kernel "scale" and the variables "counter" and "table". ptx: text kept for
// debuggers, or NULL.
static inline Str build_cubin(unsigned arch, const char *ptx) {
  static const char strings[] = "\0scale\0counter\0table\0vprintf";
  const Elf64_Sym symbols[] = {
      {0},
      {.st_name = 1,
       .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
       .st_other = 0x10,
       .st_shndx = 3,
       .st_size = 128},
      {.st_name = 7,
       .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
       .st_other = 0x04,
       .st_shndx = 7,
       .st_size = 4},
      {.st_name = 15,
       .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
       .st_shndx = 8,
       .st_size = 64},
      {.st_name = 21, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)},
  };
  Str program = {0}, kernel = {0}, note = build_note();
  put(&program, 0x2f04, 2);
  put(&program, 8, 2);
  put(&program, 1, 4);
  put(&program, 24, 4);  // registers
  put(&program, 0x1204, 2);
  put(&program, 8, 2);
  put(&program, 1, 4);
  put(&program, 16, 4);  // stack
  put(&kernel, 0x1704, 2);
  put(&kernel, 12, 2);
  put(&kernel, 0, 4);
  put(&kernel, 1, 2);
  put(&kernel, 8, 2);
  put(&kernel, 8u << 18, 4);
  put(&kernel, 0x1704, 2);
  put(&kernel, 12, 2);
  put(&kernel, 0, 4);
  put(&kernel, 0, 2);
  put(&kernel, 0, 2);
  put(&kernel, 4u << 18, 4);
  put(&kernel, 0x1903, 2);
  put(&kernel, 16, 2);  // parameter bytes
  put(&kernel, 0x1b03, 2);
  put(&kernel, 255, 2);  // register limit
  put(&kernel, 0x0504, 2);
  put(&kernel, 12, 2);
  put(&kernel, 256, 4);
  put(&kernel, 1, 4);
  put(&kernel, 1, 4);
  put(&kernel, 0x0401, 2);
  put(&kernel, 0, 2);

  TestElf t = {0};
  char zeros[256] = {0};
  add_section(&t, ".strtab", SHT_STRTAB, strings, sizeof strings, 0, 0);                       // 1
  add_section(&t, ".symtab", SHT_SYMTAB, symbols, sizeof symbols, 1, 1);                       // 2
  add_section(&t, ".text.scale", SHT_PROGBITS, zeros, 128, 2, 0);                              // 3
  add_section(&t, ".nv.info", 0x70000000, program.data, program.len, 2, 0);                    // 4
  add_section(&t, ".nv.info.scale", 0x70000000, kernel.data, kernel.len, 2, 3);                // 5
  add_section(&t, ".nv.shared.scale", SHT_NOBITS, NULL, arch >= 90 ? 512 + 1024 : 512, 0, 3);  // 6
  add_section(&t, ".nv.global", SHT_NOBITS, NULL, 4, 0, 0);                                    // 7
  add_section(&t, ".nv.constant3", SHT_PROGBITS, zeros, 64, 0, 0);                             // 8
  add_section(&t, ".nv.constant0.scale", SHT_PROGBITS, zeros, 200, 0, 3);
  add_section(&t, ".note.nv.tkinfo", SHT_NOTE, note.data, note.len, 0, 0);
  if (ptx) {
    char *lines = mem_strdup(ptx);
    for (char *c = lines; *c; c++) if (*c == '\n') *c = 0;
    add_section(&t, ".debug_line", SHT_PROGBITS, zeros, 16, 0, 0);
    add_section(&t, ".nv_debug_line_sass", SHT_PROGBITS, zeros, 16, 0, 0);
    add_section(&t, ".nv_debug_ptx_txt", SHT_PROGBITS, lines, strlen(ptx), 0, 0);
    free(lines);
  }
  str_free(&program);
  str_free(&kernel);
  str_free(&note);
  return finish_elf(&t, 190, 0x41, arch << 8 | 4, ET_EXEC);
}

// An executable's sections: a linked fatbin behind a version 2 wrapper, a whole program, and two
// -rdc objects.
static inline Str build_host(const Str *linked, const Str *whole, const Str *object1,
                             const Str *object2) {
  enum { FATBIN_ADDRESS = 0x10000, WRAPPER_ADDRESS = 0x90000 };
  Str fatbins = {0}, objects = {0}, wrappers = {0};
  str_addn(&fatbins, linked->data, linked->len);
  pad(&fatbins, 256);
  size_t whole_at = fatbins.len;
  str_addn(&fatbins, whole->data, whole->len);
  str_addn(&objects, object1->data, object1->len);
  pad(&objects, 256);
  str_addn(&objects, object2->data, object2->len);
  pad(&objects, 256);
  // The first pointer is in a relocation, the second in place.
  put(&wrappers, 0x466243B1, 4);
  put(&wrappers, 2, 4);
  put(&wrappers, 0, 8);
  put(&wrappers, 0, 8);
  put(&wrappers, 0x466243B1, 4);
  put(&wrappers, 1, 4);
  put(&wrappers, FATBIN_ADDRESS + whole_at, 8);
  put(&wrappers, 0, 8);
  const Elf64_Rela relocation = {
      .r_offset = WRAPPER_ADDRESS + 8, .r_info = ELF64_R_INFO(0, 8), .r_addend = FATBIN_ADDRESS};
  TestElf t = {0};
  unsigned s = add_section(&t, ".nv_fatbin", SHT_PROGBITS, fatbins.data, fatbins.len, 0, 0);
  t.sections[s].sh_addr = FATBIN_ADDRESS;
  add_section(&t, "__nv_relfatbin", SHT_PROGBITS, objects.data, objects.len, 0, 0);
  s = add_section(&t, ".nvFatBinSegment", SHT_PROGBITS, wrappers.data, wrappers.len, 0, 0);
  t.sections[s].sh_addr = WRAPPER_ADDRESS;
  add_section(&t, ".rela.dyn", SHT_RELA, &relocation, sizeof relocation, 0, 0);
  str_free(&fatbins);
  str_free(&objects);
  str_free(&wrappers);
  return finish_elf(&t, 62, 0, 0, ET_DYN);
}

static inline Str build_archive(const char *name, const Str *member) {
  Str s = {0};
  str_add(&s, "!<arch>\n");
  str_printf(&s, "%-16s%-12d%-6d%-6d%-8o%-10zu`\n", name, 0, 0, 0, 0644, member->len);
  str_addn(&s, member->data, member->len);
  if (s.len % 2) str_addc(&s, '\n');
  return s;
}

#endif
