// Reads ELF files far enough to tell whether Warpgrind can replace the CUDA runtime inside. Every
// offset in a file is checked: the file may be anything the user typed.
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "runtime/check_executable.h"

static bool in_file(const ElfFile *f, uint64_t offset, uint64_t size) {
  return offset <= f->size && size <= f->size - offset;
}

static const Elf64_Shdr *section(const ElfFile *f, uint32_t i) {
  return (const Elf64_Shdr *)f->sections + i;
}

// A string that starts at `offset` of a table and ends inside it, or NULL.
static const char *table_string(const char *table, size_t size, uint64_t offset) {
  return offset < size && memchr(table + offset, 0, size - offset) ? table + offset : NULL;
}

bool elf_open(const char *path, ElfFile *f) {
  memset(f, 0, sizeof *f);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  struct stat st;
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (size_t)st.st_size >= sizeof(Elf64_Ehdr)) {
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p != MAP_FAILED) {
      f->data = p;
      f->size = (size_t)st.st_size;
    }
  }
  close(fd);
  if (!f->data) return false;
  const Elf64_Ehdr *h = (const Elf64_Ehdr *)f->data;
  if (memcmp(h->e_ident, ELFMAG, SELFMAG) || h->e_ident[EI_CLASS] != ELFCLASS64 ||
      h->e_ident[EI_DATA] != ELFDATA2LSB) {
    elf_close(f);
    return false;
  }
  if (h->e_shoff % 8 == 0 && h->e_shentsize == sizeof(Elf64_Shdr) && h->e_shnum &&
      in_file(f, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr))) {
    f->sections = f->data + h->e_shoff;
    f->nsections = h->e_shnum;
    if (h->e_shstrndx < f->nsections) {
      const Elf64_Shdr *names = section(f, h->e_shstrndx);
      if (names->sh_type == SHT_STRTAB && in_file(f, names->sh_offset, names->sh_size)) {
        f->section_names = (const char *)f->data + names->sh_offset;
        f->section_names_size = names->sh_size;
      }
    }
  }
  return true;
}

void elf_close(ElfFile *f) {
  if (f->data) munmap((void *)f->data, f->size);
  memset(f, 0, sizeof *f);
}

static bool has_section(const ElfFile *f, const char *name) {
  for (uint32_t i = 0; i < f->nsections; i++) {
    const char *s = table_string(f->section_names, f->section_names_size, section(f, i)->sh_name);
    if (s && !strcmp(s, name)) return true;
  }
  return false;
}

static const Elf64_Phdr *segment(const ElfFile *f, uint32_t type) {
  const Elf64_Ehdr *h = (const Elf64_Ehdr *)f->data;
  if (h->e_phentsize != sizeof(Elf64_Phdr) || h->e_phoff % 8 ||
      !in_file(f, h->e_phoff, (uint64_t)h->e_phnum * sizeof(Elf64_Phdr)))
    return NULL;
  const Elf64_Phdr *p = (const Elf64_Phdr *)(f->data + h->e_phoff);
  for (uint32_t i = 0; i < h->e_phnum; i++)
    if (p[i].p_type == type) return &p[i];
  return NULL;
}

static bool has_interpreter(const ElfFile *f) { return segment(f, PT_INTERP) != NULL; }

ElfSymbolWalk elf_symbols(const ElfFile *f, bool dynamic) {
  ElfSymbolWalk w = {f, 0, 0, dynamic};
  uint32_t type = dynamic ? SHT_DYNSYM : SHT_SYMTAB;
  while (w.section < f->nsections && section(f, w.section)->sh_type != type) w.section++;
  return w;
}

// Rejects symbols outside of their section's code, a mistake of the file: a jump written there
// would overwrite something else.
static bool lies_in_code(const ElfFile *f, const Elf64_Sym *y) {
  if (y->st_shndx >= f->nsections) return false;
  const Elf64_Shdr *s = section(f, y->st_shndx);
  return s->sh_flags & SHF_EXECINSTR && y->st_value >= s->sh_addr &&
         y->st_value - s->sh_addr < s->sh_size &&
         y->st_size <= s->sh_size - (y->st_value - s->sh_addr);
}

bool elf_next_symbol(ElfSymbolWalk *w, ElfSymbol *out) {
  const ElfFile *f = w->f;
  if (w->section >= f->nsections) return false;
  const Elf64_Shdr *s = section(f, w->section);
  if (s->sh_link >= f->nsections || s->sh_offset % 8 || !in_file(f, s->sh_offset, s->sh_size))
    return false;
  const Elf64_Shdr *strings = section(f, s->sh_link);
  if (!in_file(f, strings->sh_offset, strings->sh_size)) return false;
  const char *table = (const char *)f->data + strings->sh_offset;
  const Elf64_Sym *symbols = (const Elf64_Sym *)(f->data + s->sh_offset);
  while (w->index < s->sh_size / sizeof(Elf64_Sym)) {
    const Elf64_Sym *y = &symbols[w->index++];
    unsigned type = ELF64_ST_TYPE(y->st_info);
    bool defined = y->st_shndx != SHN_UNDEF;
    if (type != STT_FUNC && !(type == STT_NOTYPE && !defined)) continue;
    if (defined && !lies_in_code(f, y)) continue;
    const char *name = table_string(table, strings->sh_size, y->st_name);
    if (!name || !*name) continue;
    *out = (ElfSymbol){name, y->st_value, y->st_size, defined};
    return true;
  }
  return false;
}

static bool mentions(const ElfFile *f, const char *name, bool must_be_defined) {
  ElfSymbol y;
  for (int dynamic = 0; dynamic < 2; dynamic++)
    for (ElfSymbolWalk w = elf_symbols(f, dynamic); elf_next_symbol(&w, &y);)
      if (!strcmp(y.name, name) && (y.defined || !must_be_defined)) return true;
  return false;
}

// .nv_fatbin alone proves nothing: nvcc also puts one into programs that use the driver API only.
static bool has_device_code(const ElfFile *f) { return has_section(f, ".nvFatBinSegment"); }

// Device code registers itself through this function. A static runtime that we can redirect defines
// the name, and a program with a shared runtime imports it. If neither holds, the names were
// stripped.
bool elf_has_stripped_runtime(const ElfFile *f) {
  return has_device_code(f) && !mentions(f, "__cudaRegisterFatBinary", false);
}

bool runtime_check_executable(const char *path, Error *e) {
  ElfFile f;
  // a script or no file: the attempt to start it gives the better error
  if (!elf_open(path, &f)) return true;
  bool cuda = has_device_code(&f) || mentions(&f, "__cudaRegisterFatBinary", true);
  bool ok = true;
  if (cuda && !has_interpreter(&f)) {
    ok = error_set(e,
                   "%s is a fully static program: it has no dynamic loader, so Warpgrind cannot be "
                   "loaded into it. Build it without -static "
                   "(with nvcc: without -Xcompiler -static or -Xlinker -static); the CUDA runtime "
                   "itself may stay static.",
                   path);
  } else if (elf_has_stripped_runtime(&f)) {
    ok = error_set(e,
                   "%s contains a statically linked CUDA runtime, and its symbol table was "
                   "stripped: without it Warpgrind cannot find the "
                   "runtime's functions to serve them. Do not strip the program (no -s, no strip), "
                   "or link the runtime as a shared "
                   "library: nvcc -cudart=shared.",
                   path);
  }
  elf_close(&f);
  return ok;
}
