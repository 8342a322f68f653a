// Places of device code.
#include "report/internal.h"

#include <unistd.h>

const char *report_path(const char *file) {
  static char folder[4096];
  if (!folder[0] && !getcwd(folder, sizeof folder)) strcpy(folder, "?");
  size_t n = strlen(folder);
  return !file                                                      ? "?"
         : n > 1 && strncmp(file, folder, n) == 0 && file[n] == '/' ? file + n + 1
                                                                    : file;
}

// Headers of the toolkit and of the system: atomicAdd is a function of one.
static bool is_system_header(const char *file) {
  return file && file[0] == '/' && strstr(file, "/include/") &&
         (strncmp(file, "/usr/", 5) == 0 || strncmp(file, "/opt/", 5) == 0 || strstr(file, "cuda"));
}

uint32_t report_main_place(const RunSite *s) {
  for (uint32_t i = 0; i < s->nplaces; i++)
    if (s->places[i].file && !is_system_header(s->places[i].file)) return i;
  return 0;
}

// What nvcc puts before the name of a static function, another one in every file:
// _INTERNAL_ff20cf65_6_ten_cu_552376c1::
static const char *without_unit(const char *name) {
  static const char mark[] = "_INTERNAL_";
  const char *colons = strncmp(name, mark, sizeof mark - 1) == 0 ? strstr(name, "::") : NULL;
  return colons && strcspn(name, "(<") > (size_t)(colons - name) ? colons + 2 : name;
}

const char *report_place_function(Run *r, const RunSite *s, uint32_t i) {
  const char *name = s->places[i].function;
  if (!name && i + 1 == s->nplaces) name = s->function;
  return name ? without_unit(run_readable_name(r, name)) : NULL;
}

void report_add_site(Run *r, const RunSite *s, Str *out) {
  if (!s->nplaces && !s->ptx_line) {
    str_printf(out, " at %s in machine code", s->text ? s->text : "an instruction");
    return;
  }
  if (!s->nplaces) {
    str_printf(out, " at line %u of the PTX%s%s", s->ptx_line, s->text ? ": " : "",
               s->text ? s->text : "");
    return;
  }
  uint32_t i = report_main_place(s);
  const char *function = report_place_function(r, s, i);
  str_printf(out, " at " REPORT_BOLD "%s:%u" REPORT_PLAIN "%s%s", report_path(s->places[i].file),
             s->places[i].line, function ? " in " : "", function ? function : "");
}

void report_json_site(Run *r, const RunSite *s, Str *out) {
  if (!s->nplaces) {
    json_number(out, "ptx_line", s->ptx_line);
    return;
  }
  uint32_t i = report_main_place(s);
  json_text(out, "file", s->places[i].file);
  if (s->places[i].file) json_number(out, "line", s->places[i].line);
  json_text(out, "function", report_place_function(r, s, i));
}
