// Findings of initcheck: what depends on the value, and where it came from.
#include "probe/probe_abi.h"
#include "report/internal.h"

static bool is_use(const RunFinding *f) { return f->kind->number == KIND_UNINIT_USE; }
static bool is_copy(const RunFinding *f) {
  return !f->has_thread && (is_use(f) || f->kind->number == KIND_UNINIT_COPY);
}

static const char *const depends[] = {[WG_INIT_BRANCH] = "branch",
                                      [WG_INIT_ADDRESS] = "address",
                                      [WG_INIT_WARP] = "warp operation",
                                      [WG_INIT_OTHER] = "other"};

bool report_uninit_finding(const RunFinding *f, Str *out) {
  static const char *const words[] = {
      [WG_INIT_BRANCH] = ": a branch depends on it",
      [WG_INIT_ADDRESS] = ": an address is computed from it",
      [WG_INIT_WARP] = ": an operation of the whole warp or block depends on it",
      [WG_INIT_OTHER] = ""};
  if (is_copy(f)) {
    if (f->size)
      str_printf(out, ": %llu byte%s", (unsigned long long)f->size, f->size == 1 ? "" : "s");
    return true;
  }
  if (!is_use(f)) return false;
  if (f->value[0] < ARRAY_LEN(words)) str_add(out, words[f->value[0]]);
  return true;
}

static void add_site(Run *r, const RunSite *s, Str *out) {
  if (s->nplaces) {
    uint32_t i = report_main_place(s);
    const char *function = report_place_function(r, s, i);
    str_printf(out, " at " REPORT_BOLD "%s:%u" REPORT_PLAIN "%s%s\n",
               report_path(s->places[i].file), s->places[i].line, function ? " in " : "",
               function ? function : "");
  } else {
    str_printf(out, " at line %u of the PTX%s%s\n", s->ptx_line, s->text ? ": " : "",
               s->text ? s->text : "");
  }
}

void report_uninit_origin(Run *r, const RunFinding *f, Str *out) {
  const RunSite *s = f->origin;
  if (!s || f->kind->number != KIND_UNINIT_USE) return;
  str_add(out, "  read");
  if (!f->address && s->space) str_printf(out, " from %s memory", s->space);
  add_site(r, s, out);
  if (!f->source) return;
  str_add(out, "  from memory that malloc returned");
  add_site(r, f->source, out);
}

static void json_site(Run *r, Str *out, const RunSite *s) {
  if (s->nplaces) {
    uint32_t i = report_main_place(s);
    json_text(out, "file", s->places[i].file);
    if (s->places[i].file) json_number(out, "line", s->places[i].line);
    json_text(out, "function", report_place_function(r, s, i));
  } else {
    json_number(out, "ptx_line", s->ptx_line);
  }
}

bool report_uninit_json(Run *r, const RunFinding *f, Str *out) {
  if (!is_use(f) || !f->has_thread) return false;
  if (f->value[0] < ARRAY_LEN(depends)) json_text(out, "depends", depends[f->value[0]]);
  const RunSite *s = f->origin;
  if (!s) return true;
  json_open(out, "origin", '{');
  json_site(r, out, s);
  json_text(out, "space", s->space);
  if (f->source) {
    json_open(out, "malloc", '{');
    json_site(r, out, f->source);
    str_addc(out, '}');
  }
  str_addc(out, '}');
  return true;
}
