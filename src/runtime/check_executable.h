// The facts about the CUDA runtime in an ELF file. Depends on base only, so the command can ask
// before it starts a program.
#ifndef WG_RUNTIME_CHECK_EXECUTABLE_H
#define WG_RUNTIME_CHECK_EXECUTABLE_H

#include "base/base.h"

// False: the CUDA runtime inside `path` cannot be served (fully static, or a stripped static
// runtime); `e` says how to build.
bool runtime_check_executable(const char *path, Error *e);

typedef struct ElfFile {
  const uint8_t *data;
  size_t size;  // the whole file, mapped
  const void *sections;
  uint32_t nsections;  // NULL, 0: none
  const char *section_names;
  size_t section_names_size;
} ElfFile;

// False: no such file, or not a 64-bit ELF file of this byte order; `f` is then empty.
bool elf_open(const char *path, ElfFile *f);
void elf_close(ElfFile *f);
// device code, and a static CUDA runtime without names
bool elf_has_stripped_runtime(const ElfFile *f);

// Function symbols of the full symbol table, or of the dynamic one where the file was stripped.
typedef struct ElfSymbol {
  const char *name;
  uint64_t value, size;
  bool defined;
} ElfSymbol;
typedef struct ElfSymbolWalk {
  const ElfFile *f;
  uint32_t section, index;
  bool dynamic;
} ElfSymbolWalk;
ElfSymbolWalk elf_symbols(const ElfFile *f, bool dynamic);
bool elf_next_symbol(ElfSymbolWalk *w, ElfSymbol *out);

#endif
