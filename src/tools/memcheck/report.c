// memcheck inside the command: accesses to surfaces, which have coordinates instead of an address.
#include "report/report.h"
#include "tools/report.h"

static bool is_surface(const RunFinding *f) {
  return f->site && f->site->space && strcmp(f->site->space, "surface") == 0;
}

static bool receive(const RunProcess *p, const WgFinding *record, RunFinding *f) {
  if (is_surface(f)) f->has_address = false;
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

const ToolReport tool_report_memcheck = {.receive = receive, .where = where};
