// Cubins: the GPU's ELF files. We do not run machine code; we list what is in it, so that errors
// can name kernels.
//
// - .text.K: code of kernel or function K
// - .nv.info: attributes (symbol, value) for all functions; .nv.info.K: attributes of K
// - .nv.shared.K: its static shared memory
// - .nv.constantN[.K]: constant banks: 0 parameters, 3 the program's __constant__ variables, others
//   the compiler's
//
// Sections of K have its .text section's index in sh_info.
#include "image/elf_view.h"
#include "image/private.h"

enum {
  SYMBOL_IS_KERNEL = 0x10,
  SYMBOL_IS_MANAGED = 0x04,  // in st_other
  RESERVED_SHARED = 1024,    // counted in .nv.shared.K from sm_90 on
  NOTE_HEADER = 24,          // sizes, type, "NVIDIA Corp"
};

// Attribute: u8 format, u8 code, then u16: the value itself, or for FORMAT_BYTES the length of what
// follows.
enum { FORMAT_NONE = 1, FORMAT_U8 = 2, FORMAT_U16 = 3, FORMAT_BYTES = 4 };
enum {
  ATTR_MAX_THREADS = 0x05,
  ATTR_REQUIRED_THREADS = 0x10,
  ATTR_FRAME_SIZE = 0x11,
  ATTR_STACK_SIZE = 0x12,
  ATTR_PARAM = 0x17,
  ATTR_PARAM_SIZE = 0x19,
  ATTR_MAX_REGS = 0x1b,
  ATTR_REGS = 0x2f,
  ATTR_CLUSTER = 0x3d,
  ATTR_LARGE_PARAM = 0x45,
};

typedef struct Reader {
  Arena *arena;
  Cubin *cubin;
  ElfView view;
  ElfSymbols symbols;
  uint32_t *kernel_of_symbol;   // index + 1
  uint32_t *kernel_of_section;  // of its .text section, index + 1
} Reader;

typedef void AttributeFn(Reader *r, CubinKernel *k, unsigned code, const unsigned char *data,
                         size_t size);

static bool walk_attributes(Reader *r, const ElfSection *s, CubinKernel *k, AttributeFn *fn,
                            Error *e) {
  for (size_t at = 0; at + 4 <= s->size;) {
    const unsigned char *p = s->data + at;
    unsigned format = p[0], code = p[1], value = read_u16(p + 2);
    at += 4;
    if (format == FORMAT_BYTES) {
      if (value > s->size - at)
        return error_set(e, "cubin is damaged: attribute 0x%02x of section %s is cut off", code,
                         s->name);
      fn(r, k, code, p + 4, value);
      at += value;
    } else if (format >= FORMAT_NONE && format <= FORMAT_U16) {
      fn(r, k, code, p + 2, format == FORMAT_U16 ? 2 : format == FORMAT_U8 ? 1 : 0);
    } else {
      return error_set(e, "cubin is damaged: attribute of format %u in section %s", format,
                       s->name);
    }
  }
  return true;
}

// .nv.info: which symbol, and its number.
static void program_attribute(Reader *r, CubinKernel *unused, unsigned code,
                              const unsigned char *data, size_t size) {
  if (size != 8) return;
  uint32_t symbol = read_u32(data), value = read_u32(data + 4);
  if (symbol >= r->symbols.count || !r->kernel_of_symbol[symbol]) return;
  CubinKernel *k = &r->cubin->kernels[r->kernel_of_symbol[symbol] - 1];
  if (code == ATTR_REGS) k->regs = value;
  if (code == ATTR_FRAME_SIZE) k->frame_size = value;
  if (code == ATTR_STACK_SIZE) k->stack_size = value;
}

static void read_three(uint32_t out[3], const unsigned char *data, size_t size) {
  if (size == 12)
    for (int i = 0; i < 3; i++) out[i] = read_u32(data + 4 * i);
}

static void add_param(CubinKernel *k, const unsigned char *data, size_t size, bool large) {
  if (size != 12) return;
  uint32_t word = read_u32(data + 8);
  k->params[k->n_params++] = (CubinParam){.ordinal = read_u16(data + 4),
                                          .offset = read_u16(data + 6),
                                          .size = large ? word : word >> 18};
}

static void kernel_attribute(Reader *r, CubinKernel *k, unsigned code, const unsigned char *data,
                             size_t size) {
  switch (code) {
    case ATTR_MAX_THREADS: read_three(k->max_threads, data, size); break;
    case ATTR_REQUIRED_THREADS: read_three(k->required_threads, data, size); break;
    case ATTR_CLUSTER: read_three(k->cluster, data, size); break;
    case ATTR_PARAM: add_param(k, data, size, false); break;
    case ATTR_LARGE_PARAM: add_param(k, data, size, true); break;
    case ATTR_PARAM_SIZE:
      if (size == 2) k->param_size = read_u16(data);
      break;
    case ATTR_MAX_REGS:
      if (size == 2) k->max_regs = read_u16(data);
      break;
  }
}

static int by_ordinal(const void *a, const void *b) {
  uint32_t x = ((const CubinParam *)a)->ordinal, y = ((const CubinParam *)b)->ordinal;
  return (x > y) - (x < y);
}

static bool starts_with(const char *s, const char *prefix) {
  return strncmp(s, prefix, strlen(prefix)) == 0;
}

static CubinKernel *kernel_of(Reader *r, const ElfSection *s) {
  uint32_t text = s->header.sh_info;
  if (text >= r->view.n_sections || !r->kernel_of_section[text]) return NULL;
  return &r->cubin->kernels[r->kernel_of_section[text] - 1];
}

static bool read_kernel_info(Reader *r, const ElfSection *s, Error *e) {
  CubinKernel *k = kernel_of(r, s);
  if (!k || k->params) return true;
  k->params = ARENA_ARRAY(r->arena, CubinParam, s->size / 16 + 1);  // a parameter takes 16 bytes
  if (!walk_attributes(r, s, k, kernel_attribute, e)) return false;
  qsort(k->params, k->n_params, sizeof *k->params, by_ordinal);
  return true;
}

static void read_text(Reader *r, const ElfSection *s) {
  char *text = arena_strndup(r->arena, (const char *)s->data, s->size);
  // ptxas keeps the lines as strings
  for (size_t i = 0; i < s->size; i++)
    if (!text[i]) text[i] = '\n';
  if (!ptx_text_starts(text, s->size)) return;
  r->cubin->ptx = text;
  r->cubin->ptx_len = s->size;
}

// .note.nv.tkinfo: version 2, then offsets of strings: source, tool, its version, its build, its
// options; then the strings.
static void read_toolkit_note(Reader *r, const ElfSection *s) {
  enum { OFFSETS = NOTE_HEADER + 4, STRINGS = OFFSETS + 5 * 4 };
  if (s->size < STRINGS || read_u32(s->data + NOTE_HEADER) != 2) return;
  ElfSection strings = {.data = s->data + STRINGS, .size = s->size - STRINGS};
  const char *tool = elf_view_string(&strings, read_u32(s->data + OFFSETS + 4));
  const char *version = elf_view_string(&strings, read_u32(s->data + OFFSETS + 8));
  const char *options = elf_view_string(&strings, read_u32(s->data + OFFSETS + 16));
  if (tool && version) r->cubin->built_by = arena_printf(r->arena, "%s, %s", tool, version);
  if (!options) return;
  r->cubin->build_options = arena_strdup(r->arena, options);
  const char *arch = strstr(options, "-arch sm_");
  if (!arch) return;
  arch += strlen("-arch sm_");
  arch += strspn(arch, "0123456789");
  if (*arch == 'a' || *arch == 'f') r->cubin->suffix = *arch;
}

static void add_bank(Reader *r, const ElfSection *s) {
  unsigned bank = (unsigned)strtoul(s->name + strlen(".nv.constant"), NULL, 10);
  r->cubin->banks[r->cubin->n_banks++] = (CubinBank){
      .name = arena_strdup(r->arena, s->name), .bank = bank, .size = s->size};
}

static bool read_sections(Reader *r, Error *e) {
  Cubin *c = r->cubin;
  c->banks = ARENA_ARRAY(r->arena, CubinBank, r->view.n_sections);
  for (uint32_t i = 1; i < r->view.n_sections; i++) {
    ElfSection s;
    if (!elf_view_section(&r->view, i, &s, e)) return false;
    if (starts_with(s.name, ".nv.shared.")) {
      CubinKernel *k = kernel_of(r, &s);
      uint64_t reserved = c->arch >= 90 ? RESERVED_SHARED : 0;
      if (k && s.size >= reserved)
        k->shared_size = (uint32_t)MIN(s.size - reserved, (uint64_t)UINT32_MAX);
    }
    if (!s.data) continue;
    if (strcmp(s.name, ".nv.info") == 0) {
      if (!walk_attributes(r, &s, NULL, program_attribute, e)) return false;
    } else if (starts_with(s.name, ".nv.info.")) {
      if (!read_kernel_info(r, &s, e)) return false;
    } else if (starts_with(s.name, ".nv.constant")) {
      add_bank(r, &s);
    } else if (strcmp(s.name, ".debug_line") == 0) {
      c->has_source_lines = true;
    } else if (strcmp(s.name, ".nv_debug_line_sass") == 0) {
      c->has_ptx_lines = true;
    } else if (strcmp(s.name, ".debug_info") == 0) {
      c->has_debug_info = true;
    } else if (strcmp(s.name, ".nv_debug_ptx_txt") == 0) {
      read_text(r, &s);
    } else if (strcmp(s.name, ".note.nv.tkinfo") == 0) {
      read_toolkit_note(r, &s);
    }
  }
  return true;
}

static void add_variable(Reader *r, const Elf64_Sym *symbol, const char *name) {
  ElfSection s;
  if (!elf_view_section(&r->view, symbol->st_shndx, &s, NULL)) return;
  CubinVariable v = {.name = arena_strdup(r->arena, name),
                     .size = symbol->st_size,
                     .managed = symbol->st_other & SYMBOL_IS_MANAGED,
                     .initialised = s.data};
  v.space = starts_with(s.name, ".nv.global")     ? CUBIN_GLOBAL
            : starts_with(s.name, ".nv.constant") ? CUBIN_CONSTANT
                                                  : CUBIN_OTHER_SPACE;
  r->cubin->variables[r->cubin->n_variables++] = v;
}

static void read_symbols(Reader *r) {
  Cubin *c = r->cubin;
  uint32_t n = r->symbols.count;
  if (!n) return;
  c->kernels = ARENA_ARRAY(r->arena, CubinKernel, n);
  c->variables = ARENA_ARRAY(r->arena, CubinVariable, n);
  c->externs = ARENA_ARRAY(r->arena, const char *, n);
  r->kernel_of_symbol = ARENA_ARRAY(r->arena, uint32_t, n);
  for (uint32_t i = 1; i < n; i++) {
    Elf64_Sym symbol;
    const char *name;
    elf_view_symbol(&r->symbols, i, &symbol, &name);
    unsigned type = ELF64_ST_TYPE(symbol.st_info);
    if (!name[0]) continue;
    if (type == STT_FUNC && symbol.st_shndx == SHN_UNDEF) {
      c->externs[c->n_externs++] = arena_strdup(r->arena, name);
    } else if (type == STT_FUNC && (symbol.st_other & SYMBOL_IS_KERNEL)) {
      c->kernels[c->n_kernels++] = (CubinKernel){.name = arena_strdup(r->arena, name),
                                                 .code_size = symbol.st_size};
      r->kernel_of_symbol[i] = c->n_kernels;
      if (symbol.st_shndx < r->view.n_sections)
        r->kernel_of_section[symbol.st_shndx] = c->n_kernels;
    } else if (type == STT_OBJECT && symbol.st_shndx != SHN_UNDEF) {
      add_variable(r, &symbol, name);
    }
  }
}

bool image_read_cubin(Arena *arena, const void *data, size_t size, Cubin *out, Error *e) {
  *out = (Cubin){.built_by = "", .build_options = ""};
  Reader r = {.arena = arena, .cubin = out};
  Error why = {0};
  if (!elf_view_open(&r.view, data, size, &why)) return error_set(e, "cubin: %s", why.text);
  const Elf64_Ehdr *h = &r.view.header;
  if (h->e_machine != ELF_MACHINE_CUDA)
    return error_set(e, "not a cubin: its machine is %u instead of %d", h->e_machine,
                     ELF_MACHINE_CUDA);
  out->arch = cubin_arch(h);
  out->abi_version = h->e_ident[EI_ABIVERSION];
  out->relocatable = h->e_type == ET_REL;
  if (!r.view.n_sections) return error_set(e, "cubin is damaged: it has no sections");
  if (!elf_view_symbols(&r.view, &r.symbols, &why)) return error_set(e, "cubin: %s", why.text);
  r.kernel_of_section = ARENA_ARRAY(arena, uint32_t, r.view.n_sections);
  read_symbols(&r);
  return read_sections(&r, &why) ? true : error_set(e, "cubin: %s", why.text);
}
