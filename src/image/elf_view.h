// A bounds-checked look at a 64-bit little-endian ELF file in memory: cubins and host files.
// Private to image/.
#ifndef WG_IMAGE_ELF_VIEW_H
#define WG_IMAGE_ELF_VIEW_H

#include <elf.h>

#include "base/base.h"

enum { ELF_MACHINE_CUDA = 190 };

typedef struct ElfView {
  const unsigned char *data;
  size_t size;
  Elf64_Ehdr header;
  uint32_t n_sections;  // all section headers lie inside the file
  uint32_t names;       // index of the section-name table, 0: none
} ElfView;

typedef struct ElfSection {
  Elf64_Shdr header;
  uint32_t index;
  const char *name;           // "" where it has none
  const unsigned char *data;  // NULL for sections without bytes in the file
  size_t size;                // of data; header.sh_size for NOBITS
} ElfSection;

// Once a view is open every function below stays inside the file and reports what points outside as
// an error.
bool elf_view_open(ElfView *view, const void *data, size_t size, Error *e);
bool elf_view_section(const ElfView *view, uint32_t index, ElfSection *out, Error *e);
// first of that name; false: none
bool elf_view_find(const ElfView *view, const char *name, ElfSection *out);
// NULL: not a string inside the table
const char *elf_view_string(const ElfSection *strings, uint64_t offset);

typedef struct ElfSymbols {
  ElfSection table, strings;
  uint32_t count;
} ElfSymbols;
// .symtab; count 0 where there is none
bool elf_view_symbols(const ElfView *view, ElfSymbols *out, Error *e);
bool elf_view_symbol(const ElfSymbols *symbols, uint32_t index, Elf64_Sym *out, const char **name);

// The architecture a cubin is for: 90. CUDA 13 keeps it in bits 8 to 23, before it was the lowest
// byte.
static inline unsigned cubin_arch(const Elf64_Ehdr *h) {
  enum { OSABI_CUDA_13 = 0x41 };
  return h->e_ident[EI_OSABI] == OSABI_CUDA_13 ? h->e_flags >> 8 & 0xffff : h->e_flags & 0xff;
}

// The length of the file, as its headers describe it: elf_view_table_end needs only 64 bytes and
// returns the end of the section headers; elf_view_file_end then returns the end of the last
// section. 0: not something we can read.
size_t elf_view_table_end(const void *data);
size_t elf_view_file_end(const void *data, size_t available);

#endif
