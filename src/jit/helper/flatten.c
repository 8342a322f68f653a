// Turns an object file into one piece of memory: places the sections side by side and fills in the
// references between them. Code that refers to anything outside is refused.
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "jit/helper/helper.h"

typedef struct Object {
  const unsigned char *elf;
  size_t size;
  const Elf64_Ehdr *head;
  const Elf64_Shdr *sections;
  uint64_t *place;  // of each section in the blob; UINT64_MAX: it is not there
} Object;

static int in_file(const Object *o, uint64_t at, uint64_t n) {
  return at <= o->size && n <= o->size - at;
}

static const char *name_of(const Object *o, const Elf64_Shdr *s) {
  const Elf64_Shdr *names = &o->sections[o->head->e_shstrndx];
  return (const char *)o->elf + names->sh_offset + s->sh_name;
}

static int is_wanted(const Object *o, const Elf64_Shdr *s) {
  return (s->sh_flags & SHF_ALLOC) && s->sh_type == SHT_PROGBITS && s->sh_size &&
         strcmp(name_of(o, s), ".eh_frame") != 0;
}

// The bits of an instruction that hold part of an address.
static void put_field(unsigned char *at, uint32_t mask, uint32_t bits) {
  uint32_t word;
  memcpy(&word, at, 4);
  word = (word & ~mask) | (bits & mask);
  memcpy(at, &word, 4);
}

static int relocate(unsigned char *at, uint64_t p, uint64_t target, unsigned machine,
                    unsigned type) {
  int64_t distance = (int64_t)(target - p);
  int32_t narrow = (int32_t)distance;
  if (machine == EM_X86_64) {
    if (type != R_X86_64_PC32 && type != R_X86_64_PLT32) return 0;
    memcpy(at, &narrow, 4);
    return narrow == distance;
  }
  switch (type) {
    case R_AARCH64_PREL32: memcpy(at, &narrow, 4); return narrow == distance;
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26: put_field(at, 0x03ffffff, (uint32_t)(distance >> 2)); return 1;
    case R_AARCH64_ADR_PREL_PG_HI21: {
      uint32_t pages = (uint32_t)(((target >> 12) - (p >> 12)) & 0x1fffff);
      put_field(at, 0x60ffffe0, (pages & 3) << 29 | (pages >> 2) << 5);
      return 1;
    }
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
      put_field(at, 0x003ffc00, (uint32_t)(target & 0xfff) << 10);
      return 1;
    case R_AARCH64_LDST16_ABS_LO12_NC:
      put_field(at, 0x003ffc00, (uint32_t)(target & 0xfff) >> 1 << 10);
      return 1;
    case R_AARCH64_LDST32_ABS_LO12_NC:
      put_field(at, 0x003ffc00, (uint32_t)(target & 0xfff) >> 2 << 10);
      return 1;
    case R_AARCH64_LDST64_ABS_LO12_NC:
      put_field(at, 0x003ffc00, (uint32_t)(target & 0xfff) >> 3 << 10);
      return 1;
    case R_AARCH64_LDST128_ABS_LO12_NC:
      put_field(at, 0x003ffc00, (uint32_t)(target & 0xfff) >> 4 << 10);
      return 1;
    default: return 0;
  }
}

static const char *apply(const Object *o, const Elf64_Shdr *rela, Blob *out) {
  uint64_t into = o->place[rela->sh_info];
  if (into == UINT64_MAX) return NULL;
  const Elf64_Shdr *symtab = &o->sections[rela->sh_link];
  const Elf64_Rela *r = (const Elf64_Rela *)(o->elf + rela->sh_offset);
  const Elf64_Sym *symbols = (const Elf64_Sym *)(o->elf + symtab->sh_offset);
  for (size_t i = 0; i < rela->sh_size / sizeof *r; i++) {
    const Elf64_Sym *s = &symbols[ELF64_R_SYM(r[i].r_info)];
    if (s->st_shndx == SHN_UNDEF || s->st_shndx >= o->head->e_shnum ||
        o->place[s->st_shndx] == UINT64_MAX)
      return "the code calls a function that is not part of it";
    uint64_t p = into + r[i].r_offset,
             target = o->place[s->st_shndx] + s->st_value + (uint64_t)r[i].r_addend;
    if (p + 4 > out->size) return "a reference lies outside of the code";
    if (!relocate(out->bytes + p, p, target, o->head->e_machine,
                  (unsigned)ELF64_R_TYPE(r[i].r_info)))
      return "the code has a reference of an unknown kind";
  }
  return NULL;
}

static const char *find_entry(const Object *o, const Elf64_Shdr *symtab, const char *entry,
                              Blob *out) {
  const Elf64_Sym *s = (const Elf64_Sym *)(o->elf + symtab->sh_offset);
  const char *names = (const char *)o->elf + o->sections[symtab->sh_link].sh_offset;
  for (size_t i = 0; i < symtab->sh_size / sizeof *s; i++)
    if (s[i].st_shndx < o->head->e_shnum && o->place[s[i].st_shndx] != UINT64_MAX &&
        !strcmp(names + s[i].st_name, entry)) {
      out->entry = o->place[s[i].st_shndx] + s[i].st_value;
      return NULL;
    }
  return "the code has no such function";
}

const char *flatten_object(const unsigned char *elf, size_t n, const char *entry, Blob *out) {
  Object o = {.elf = elf, .size = n, .head = (const Elf64_Ehdr *)elf};
  if (n < sizeof *o.head || memcmp(elf, ELFMAG, SELFMAG) ||
      !in_file(&o, o.head->e_shoff, (uint64_t)o.head->e_shnum * sizeof(Elf64_Shdr)))
    return "the compiler made no object";
  o.sections = (const Elf64_Shdr *)(elf + o.head->e_shoff);
  o.place = malloc(o.head->e_shnum * sizeof *o.place);
  uint64_t at = 0;
  for (unsigned i = 0; i < o.head->e_shnum; i++) {
    const Elf64_Shdr *s = &o.sections[i];
    o.place[i] = UINT64_MAX;
    if (!is_wanted(&o, s)) continue;
    uint64_t align = s->sh_addralign ? s->sh_addralign : 1;
    at = (at + align - 1) / align * align;
    o.place[i] = at;
    at += s->sh_size;
  }
  out->size = at;
  out->bytes = calloc(at + 1, 1);
  const char *why = NULL;
  for (unsigned i = 0; i < o.head->e_shnum; i++)
    if (o.place[i] != UINT64_MAX)
      memcpy(out->bytes + o.place[i], elf + o.sections[i].sh_offset, o.sections[i].sh_size);
  for (unsigned i = 0; i < o.head->e_shnum && !why; i++) {
    if (o.sections[i].sh_type == SHT_RELA) why = apply(&o, &o.sections[i], out);
    if (!why && o.sections[i].sh_type == SHT_SYMTAB)
      why = find_entry(&o, &o.sections[i], entry, out);
  }
  free(o.place);
  return why;
}
