// Functions, files and lines of one object, by elfutils: from the file itself, or from its separate debug file where the
// distribution puts those (found by build id or by name). Nothing is fetched from a network.
#include "symbol/internal.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

static const Dwfl_Callbacks callbacks = {
  .find_elf = dwfl_build_id_find_elf,                    // not used: every module is reported with its file
  .find_debuginfo = dwfl_standard_find_debuginfo,
  .section_address = dwfl_offline_section_address,
};

// A file that was replaced since the process loaded it must not answer: its lines would be wrong.
static bool same_build(SymbolObject *o) {
  const unsigned char *bits;
  GElf_Addr at;
  int n = dwfl_module_build_id(o->module, &bits, &at);
  if (n <= 0) return o->build_id_len == 0;
  return o->build_id_len == MIN((uint32_t)n, (uint32_t)sizeof o->build_id) && memcmp(bits, o->build_id, o->build_id_len) == 0;
}

static void open_object(SymbolObject *o) {
  o->opened = true;
  unsetenv("DEBUGINFOD_URLS");                           // the finder would ask servers; the program was started long ago
  o->dwfl = dwfl_begin(&callbacks);
  if (!o->dwfl) return;
  dwfl_report_begin(o->dwfl);
  o->module = dwfl_report_elf(o->dwfl, o->path, o->path, -1, o->bias, true);
  dwfl_report_end(o->dwfl, NULL, NULL);
  GElf_Addr bias;
  if (!o->module || !dwfl_module_getelf(o->module, &bias) || !same_build(o)) symbol_object_close(o);
}

void symbol_object_close(SymbolObject *o) {
  if (o->dwfl) dwfl_end(o->dwfl);
  o->dwfl = NULL;
  o->module = NULL;
}

static const char *function_name(SymbolTable *t, Dwarf_Die *die) {
  Dwarf_Attribute attr;
  const char *linkage = NULL;
  if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) || dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr)) linkage = dwarf_formstring(&attr);
  if (linkage) return symbol_readable_name(t, linkage);
  const char *name = dwarf_diename(die);
  return name ? arena_strdup(&t->strings, name) : NULL;
}

// Where an inlined function was called from, as its entry says.
static void call_place(SymbolTable *t, Dwarf_Die *inlined, Dwarf_Die *unit, const char **file, uint32_t *line) {
  Dwarf_Attribute attr;
  Dwarf_Word value;
  *file = NULL;
  *line = 0;
  if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attr), &value) == 0) *line = (uint32_t)value;
  Dwarf_Files *files;
  size_t n;
  if (dwarf_getsrcfiles(unit, &files, &n) != 0 || dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attr), &value) != 0) return;
  const char *path = dwarf_filesrc(files, value, NULL, NULL);
  if (path) *file = arena_strdup(&t->strings, path);
}

uint32_t symbol_object_lookup(SymbolTable *t, SymbolObject *o, uint64_t pc, SymbolFrame *out, uint32_t max) {
  if (!o->opened) open_object(o);
  if (!o->module) return 0;

  const char *file = NULL;
  int line = 0;
  Dwfl_Line *at = dwfl_module_getsrc(o->module, pc);
  const char *path = at ? dwfl_lineinfo(at, NULL, &line, NULL, NULL, NULL) : NULL;
  if (path) file = arena_strdup(&t->strings, path);

  uint32_t n = 0;
  Dwarf_Addr bias;
  Dwarf_Die *unit = dwfl_module_addrdie(o->module, pc, &bias), *inner = NULL, *chain = NULL;
  int ninner = unit ? dwarf_getscopes(unit, pc - bias, &inner) : 0;
  // The scopes of a place inside an inlined function continue with those of its definition; the chain of parents does not.
  int nchain = ninner > 0 ? dwarf_getscopes_die(&inner[0], &chain) : 0;
  uint32_t from_line = (uint32_t)line;
  Dwarf_Attribute attr;
  const char *folder = unit ? dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attr)) : NULL;
  if (folder) folder = arena_strdup(&t->strings, folder);
  for (int i = 0; i < nchain && n < max; i++) {
    int tag = dwarf_tag(&chain[i]);
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
    bool inlined = tag == DW_TAG_inlined_subroutine;
    out[n++] = (SymbolFrame){.function = function_name(t, &chain[i]), .file = file, .folder = folder, .line = from_line, .inlined = inlined};
    if (!inlined) break;
    call_place(t, &chain[i], unit, &file, &from_line);
  }
  free(inner);
  free(chain);
  if (n && out[n - 1].function) return n;
  const char *name = dwfl_module_addrname(o->module, pc);   // no debug information: the symbol table
  if (n == 0 && (name || file)) out[n++] = (SymbolFrame){.file = file, .line = (uint32_t)line};
  if (n && name) out[n - 1].function = symbol_readable_name(t, name);
  return n;
}
