// memcheck inside the command: accesses to surfaces, which have coordinates instead of an address,
// and indices of arrays.
#include "report/report.h"
#include "probe/probe_abi.h"
#include "tools/report.h"

static bool is_surface(const RunFinding *f) {
  return f->site && f->site->space && strcmp(f->site->space, "surface") == 0;
}

static bool receive(const RunProcess *p, const WgFinding *record, RunFinding *f) {
  if (is_surface(f)) f->has_address = false;
  else if (f->has_address) f->value[0] &= ~(WG_NO_READS | WG_NO_WRITES);
  return true;
}

// As wg_memcheck_surface (probe_image.c) packs it.
static bool where(const RunFinding *f, Str *out) {
  if (!is_surface(f) || !f->extra[0]) return false;
  int32_t x = (int32_t)f->value[0], y = (int32_t)(f->value[0] >> 32), z = (int32_t)f->value[1];
  uint32_t width = (uint32_t)f->extra[0], height = (uint32_t)(f->extra[0] >> 32),
           slices = (uint32_t)f->extra[2];
  str_printf(out, "byte %d, row %d, slice %d of a surface of %u bytes, %u row%s, %u slice%s", x, y,
             z, width, height, height == 1 ? "" : "s", slices, slices == 1 ? "" : "s");
  return true;
}

static bool is_store(const RunSite *s) {
  for (unsigned i = 0; s && i < 32 && run_class_name(i); i++)
    if (s->classes >> i & 1 && !strcmp(run_class_name(i), "store")) return true;
  return false;
}

static const char *title(const RunFinding *f) {
  if (strcmp(f->kind->name, "no-access")) return NULL;
  return is_store(f->site) ? "Write to a buffer that {kernel}s may not write"
                           : "Read from a buffer that {kernel}s may not read";
}

static bool is_index(const RunFinding *f) { return !strcmp(f->kind->name, "oob-index"); }

// The compiler hands over the bits of an index: one of 32 bits is not extended.
static long long index_of(const RunFinding *f) {
  uint64_t bits = f->value[0];
  return bits >> 31 == 1 ? (int32_t)bits : (long long)bits;
}

static bool detail(const RunFinding *f, Str *out) {
  if (is_index(f)) str_printf(out, ": index %lld", index_of(f));
  return is_index(f);
}

static void json(Run *r, const RunFinding *f, Str *out) {
  if (is_index(f)) str_printf(out, ",\"index\":%lld", index_of(f));
}

const ToolReport tool_report_memcheck = {.library_calls = true,
                                         .patches = true,
                                         .receive = receive,
                                         .title = title,
                                         .detail = detail,
                                         .where = where,
                                         .json = json};
