// Functions, files and lines of one object, by elfutils: from the file itself, or from its separate
// debug file where the distribution puts those (found by build id or by name). Nothing is fetched
// from a network.
#include "symbol/internal.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <sys/stat.h>

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,  // not used: every module is reported with its file
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
};

// A file that was replaced since the process loaded it must not answer: its lines would be wrong.
static bool same_build(const SymbolFile *f) {
  const unsigned char *bits;
  GElf_Addr at;
  int n = dwfl_module_build_id(f->module, &bits, &at);
  if (n <= 0) return f->build_id_len == 0;
  return f->build_id_len == MIN((uint32_t)n, (uint32_t)sizeof f->build_id) &&
         memcmp(bits, f->build_id, f->build_id_len) == 0;
}

// Paths come from the program: opening a pipe would wait for ever.
static bool is_file(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

bool symbol_dwarf_open(SymbolFile *f) {
  // anywhere: processes have it at different addresses
  static const GElf_Addr load_at = 1ull << 32;
  GElf_Addr bias;
  if (!is_file(f->path)) return false;
  unsetenv("DEBUGINFOD_URLS");  // the finder would ask servers; the program was started long ago
  f->dwfl = dwfl_begin(&callbacks);
  if (!f->dwfl) return false;
  dwfl_report_begin(f->dwfl);
  f->module = dwfl_report_elf(f->dwfl, f->path, f->path, -1, load_at, true);
  dwfl_report_end(f->dwfl, NULL, NULL);
  if (f->module && dwfl_module_getelf(f->module, &bias) && same_build(f)) {
    f->base = bias;
    return true;
  }
  symbol_dwarf_close(f);
  return false;
}

void symbol_dwarf_close(SymbolFile *f) {
  if (f->dwfl) dwfl_end(f->dwfl);
  f->dwfl = NULL;
  f->module = NULL;
}

static const char *function_name(SymbolStore *s, Dwarf_Die *die) {
  Dwarf_Attribute attr;
  const char *linkage = NULL;
  if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) ||
      dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
    linkage = dwarf_formstring(&attr);
  if (linkage) return symbol_readable_name(s, linkage);
  const char *name = dwarf_diename(die);
  return name ? symbol_text(s, name) : NULL;
}

// The place that an inlined function was called from, by its debug entry.
static void call_place(SymbolStore *s, Dwarf_Die *inlined, Dwarf_Die *unit, const char **file,
                       uint32_t *line) {
  Dwarf_Attribute attr;
  Dwarf_Word value;
  *file = NULL;
  *line = 0;
  if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attr), &value) == 0)
    *line = (uint32_t)value;
  Dwarf_Files *files;
  size_t n;
  if (dwarf_getsrcfiles(unit, &files, &n) != 0 ||
      dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attr), &value) != 0)
    return;
  const char *path = dwarf_filesrc(files, value, NULL, NULL);
  if (path) *file = symbol_text(s, path);
}

uint32_t symbol_dwarf_lookup(SymbolStore *s, SymbolFile *f, uint64_t address, SymbolFrame *out,
                             uint32_t max) {
  uint64_t pc = address + f->base;
  const char *file = NULL;
  int line = 0;
  Dwfl_Line *at = dwfl_module_getsrc(f->module, pc);
  const char *path = at ? dwfl_lineinfo(at, NULL, &line, NULL, NULL, NULL) : NULL;
  if (path) file = symbol_text(s, path);

  uint32_t n = 0;
  Dwarf_Addr bias;
  Dwarf_Die *unit = dwfl_module_addrdie(f->module, pc, &bias), *inner = NULL, *chain = NULL;
  int ninner = unit ? dwarf_getscopes(unit, pc - bias, &inner) : 0;
  // The scopes of a place inside an inlined function continue with those of its definition; the
  // chain of parents does not.
  int nchain = ninner > 0 ? dwarf_getscopes_die(&inner[0], &chain) : 0;
  uint32_t from_line = (uint32_t)line;
  Dwarf_Attribute attr;
  const char *folder = unit ? dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attr)) : NULL;
  if (folder) folder = symbol_text(s, folder);
  for (int i = 0; i < nchain && n < max; i++) {
    int tag = dwarf_tag(&chain[i]);
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
    bool inlined = tag == DW_TAG_inlined_subroutine;
    out[n++] = (SymbolFrame){.function = function_name(s, &chain[i]),
                             .file = file,
                             .folder = folder,
                             .line = from_line,
                             .inlined = inlined};
    if (!inlined) break;
    call_place(s, &chain[i], unit, &file, &from_line);
  }
  free(inner);
  free(chain);
  if (n && out[n - 1].function) return n;
  const char *name = dwfl_module_addrname(f->module, pc);  // no debug information: the symbol table
  if (n == 0 && (name || file)) out[n++] = (SymbolFrame){.file = file, .line = (uint32_t)line};
  if (n && name) out[n - 1].function = symbol_readable_name(s, name);
  return n;
}
