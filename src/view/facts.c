// Describes the sites, launches, allocations and steps that an answer refers to.
#include "view/internal.h"

void view_facts_op(ViewDesk *d, ViewFacts *f, const TraceOp *op, uint32_t allocation) {
  if (op->site) u64map_put(&f->sites, op->site, f);
  if (op->launch) u64map_put(&f->launches, op->launch, f);
  else if (op->step) u64map_put(&f->steps, op->step, f);
  if (allocation) u64map_put(&f->allocations, allocation, f);
}

void view_facts_free(ViewFacts *f) {
  u64map_free(&f->sites);
  u64map_free(&f->launches);
  u64map_free(&f->allocations);
  u64map_free(&f->steps);
}

// name(...) without its surroundings: "void scale<float>(float*, int)" is scale
static void short_name(const char *readable, Str *out) {
  const char *end = readable, *begin = readable;
  int depth = 0;
  for (const char *p = readable; *p; p++) {
    if (*p == '<') depth++;
    else if (*p == '>') depth--;
    else if (*p == '(' && depth == 0 && strncmp(p, "(anonymous namespace)", 21) == 0) p += 20;
    else if (*p == '(' && depth == 0) break;
    else if (*p == ' ' && depth == 0) begin = p + 1;
    end = p + 1;
  }
  size_t n = (size_t)(end - begin);
  for (size_t i = 0; i < n; i++)
    if (begin[i] == '<') {
      n = i;
      break;
    }
  char name[256];
  // the part of a kernel that goes on after interrupts (run_kernel_name)
  const char *part = strncmp(readable, "resumed ", 8) == 0 ? "resumed " : "";
  snprintf(name, sizeof name, "%s%.*s", part, (int)MIN(n, sizeof name - 16), begin);
  json_text(out, "name", name[0] ? name : readable);
}

void view_launch_json(ViewDesk *d, uint32_t id, Str *out) {
  str_add(out, "{");
  ViewRows r = view_rows(d,
                         "SELECT l.number, k.readable, k.name, grid_x, grid_y, grid_z, block_x, "
                         "block_y, block_z, l.process, l.stream, l.device, l.kernel, l.shared "
                         "FROM launch l LEFT JOIN kernel k ON k.id = l.kernel WHERE l.id = ?",
                         "i", (int64_t)id);
  if (view_next(&r)) {
    const char *readable = view_column_text(&r, 1) ? view_column_text(&r, 1)
                                                   : view_column_text(&r, 2);
    uint32_t grid[3], block[3];
    for (int i = 0; i < 3; i++) {
      grid[i] = (uint32_t)view_column(&r, 3 + i);
      block[i] = (uint32_t)view_column(&r, 6 + i);
    }
    json_number(out, "id", id);
    json_number(out, "number", view_column(&r, 0));
    short_name(readable ? readable : "?", out);
    json_text(out, "readable", readable);
    json_three(out, "grid", grid);
    json_three(out, "block", block);
    json_number(out, "process", view_column(&r, 9));
    json_number(out, "device", view_column(&r, 11));
    json_number(out, "findings", view_findings_of_launch(d, id));
    json_number(out, "step", view_step_of_launch(d, id));
    json_number(out, "kernel", view_column(&r, 12));
    json_number(out, "shared", view_column(&r, 13));
  }
  view_rows_end(&r);
  str_add(out, "}");
}

void view_allocation_json(ViewDesk *d, const ViewAllocation *a, Str *out) {
  str_add(out, "{");
  json_number(out, "id", a->id);
  json_text(out, "name", a->name);
  json_text(out, "kind", a->kind);
  json_address(out, "base", a->base);
  json_number(out, "size", a->size);
  json_key(out, "freed");
  str_add(out, a->freed ? "true" : "false");
  if (a->own) str_add(out, ",\"own\":true");
  json_number(out, "process", a->process);
  const char *type = view_buffer_type(d, a->id);
  if (type) str_printf(out, ",%s", type);
  json_text(out, "given", view_buffer_given(d, a->id));
  str_add(out, "}");
}

// Headers of the toolkit and of the system, which define atomicAdd, for example. People want to see
// their own line.
static bool is_system_header(const char *file) {
  size_t n = strlen(file);
  // it defines wg_watch
  if (n >= 12 && !strcmp(file + n - 12, "/warpgrind.h")) return true;
  return file[0] == '/' && strstr(file, "/include/") &&
         (strncmp(file, "/usr/", 5) == 0 || strncmp(file, "/opt/", 5) == 0 || strstr(file, "cuda"));
}

static void places_json(ViewDesk *d, uint32_t site, Str *out) {
  int main_place = -1, number = 0;
  json_open(out, "places", '[');
  ViewRows r = view_rows(
      d, "SELECT file, line, col, function FROM place WHERE site = ? ORDER BY depth LIMIT 64", "i",
      (int64_t)site);
  for (bool first = true; view_next(&r); first = false) {
    const char *file = view_column_text(&r, 0), *function = view_column_text(&r, 3);
    str_printf(out, "%s[%d,%llu,%llu,", first ? "" : ",", file ? view_file_number(d, file) : -1,
               (unsigned long long)view_column(&r, 1), (unsigned long long)view_column(&r, 2));
    json_string(out, function ? function : "");
    str_add(out, "]");
    if (main_place < 0 && file && !is_system_header(file)) main_place = number;
    number++;
  }
  str_add(out, "]");
  json_number(out, "main", (uint64_t)MAX(main_place, 0));
}

static char *make_site_json(ViewDesk *d, uint32_t id) {
  Str s = {0};
  str_add(&s, "{");
  ViewRows r = view_rows(
      d,
      "SELECT s.text, s.ptx_line, s.space, s.bytes, s.parameter, s.function, s.object, (SELECT "
      "readable FROM kernel k WHERE k.name = s.function AND k.process = s.process LIMIT 1) "
      "FROM site s WHERE s.id = ?",
      "i", (int64_t)id);
  if (view_next(&r)) {
    const char *text = view_column_text(&r, 0), *readable = view_column_text(&r, 7);
    char type[16], of[128];
    unsigned vector;
    view_instruction_type(text, type, sizeof type, &vector);
    json_number(&s, "id", id);
    json_text(&s, "text", text);
    json_number(&s, "ptx_line", view_column(&r, 1));
    json_text(&s, "space", view_column_text(&r, 2));
    json_number(&s, "bytes", view_column(&r, 3));
    json_text(&s, "ptx", type[0] ? type : NULL);
    json_number(&s, "vector", vector);
    uint64_t parameter = view_column(&r, 4);
    if (parameter && parameter < 1000 &&
        view_parameter_type(readable, (unsigned)parameter - 1, of, sizeof of))
      json_text(&s, "type", of);
    json_text(&s, "function", readable ? readable : view_column_text(&r, 5));
    json_text(&s, "object", view_column_text(&r, 6));
  }
  view_rows_end(&r);
  places_json(d, id, &s);
  str_add(&s, "}");
  return s.data;
}

static const char *site_json(ViewDesk *d, uint32_t id) {
  char *text = u64map_get(&d->sites, id);
  if (!text) u64map_put(&d->sites, id, text = make_site_json(d, id));
  return text;
}

static void step_json(ViewDesk *d, uint32_t id, Str *out) {
  str_add(out, "{");
  ViewRows r = view_rows(d,
                         "SELECT number, " STEP_KIND
                         ", call, direction, width, height, depth FROM step WHERE id = ?",
                         "i", (int64_t)id);
  if (view_next(&r)) {
    json_number(out, "number", view_column(&r, 0));
    json_text(out, "kind", view_column_text(&r, 1));
    json_text(out, "call", view_column_text(&r, 2));
    json_text(out, "direction", view_column_text(&r, 3));
    json_number(out, "bytes",
                view_column(&r, 4) * MAX(view_column(&r, 5), 1) * MAX(view_column(&r, 6), 1));
  }
  view_rows_end(&r);
  str_add(out, "}");
}

typedef void WriteOne(ViewDesk *d, uint32_t id, Str *out);
static void site_one(ViewDesk *d, uint32_t id, Str *out) { str_add(out, site_json(d, id)); }
static void allocation_one(ViewDesk *d, uint32_t id, Str *out) {
  const ViewAllocation *a = view_allocation(d, id);
  if (a) view_allocation_json(d, a, out);
  else str_add(out, "null");
}

static void write_all(ViewDesk *d, const U64Map *m, const char *key, WriteOne *one, Str *out) {
  json_open(out, key, '{');
  uint32_t it = 0;
  uint64_t id;
  void *unused;
  while (u64map_next(m, &it, &id, &unused)) {
    char name[24];
    snprintf(name, sizeof name, "%llu", (unsigned long long)id);
    json_key(out, name);
    one(d, (uint32_t)id, out);
  }
  str_add(out, "}");
}

void view_facts_write(ViewDesk *d, ViewFacts *f, Str *out) {
  if (d->without_facts) return;
  write_all(d, &f->sites, "sites", site_one, out);
  write_all(d, &f->launches, "launches", view_launch_json, out);
  write_all(d, &f->allocations, "allocations", allocation_one, out);
  write_all(d, &f->steps, "steps", step_json, out);
}

void view_stack_json(ViewDesk *d, uint64_t stack, Str *out) {
  str_add(out, "[");
  ViewRows r = view_rows(
      d, "SELECT function, file, line, inlined FROM frame WHERE stack = ? ORDER BY depth LIMIT 64",
      "i", (int64_t)stack);
  for (bool first = true; view_next(&r); first = false) {
    str_add(out, first ? "[" : ",[");
    json_string(out, view_column_text(&r, 0) ? view_column_text(&r, 0) : "?");
    str_add(out, ",");
    json_string(out, view_column_text(&r, 1) ? view_column_text(&r, 1) : "");
    str_printf(out, ",%llu,%s]", (unsigned long long)view_column(&r, 2),
               view_column(&r, 3) ? "true" : "false");
  }
  str_add(out, "]");
}
