// One JSON object. Keys that do not apply are absent; the order of keys is fixed, so that reports
// can be compared.
#include "report/internal.h"
#include "tools/report.h"

static void kernel_name(Str *s, const RunKernel *k) {
  if (!k) return;
  json_text(s, "kernel", k->name);
  if (strcmp(k->name, k->readable) != 0) json_text(s, "kernel_readable", k->readable);
}

static void stack(Run *r, Str *s, const char *key, RunStack *k) {
  if (!k) return;
  uint32_t n;
  const RunFrame *frames = run_stack_frames(r, k, &n);
  if (!n) return;
  json_key(s, key);
  str_addc(s, '[');
  for (uint32_t i = 0; i < n; i++) {
    str_add(s, i ? ",{" : "{");
    json_text(s, "function", frames[i].function);
    json_text(s, "file", frames[i].file);
    if (frames[i].file) json_number(s, "line", frames[i].line);
    json_text(s, "object", frames[i].object);
    if (!frames[i].python) json_address(s, "address", frames[i].address);
    str_addc(s, '}');
  }
  str_addc(s, ']');
}

// The framework's operation: "aten::log".
static void framework_operator(Run *r, Str *s, RunStack *k) {
  uint32_t n = 0;
  const RunFrame *frames = k ? run_stack_frames(r, k, &n) : NULL;
  Str name = {0};
  if (n && report_operator(frames, n, &name)) json_text(s, "operator", name.data);
  str_free(&name);
}

static void place(Run *r, Str *s, const RunSite *x, uint32_t i) {
  const RunPlace *p = &x->places[i];
  json_text(s, "file", p->file);
  if (p->file) json_number(s, "line", p->line);
  json_text(s, "function", report_place_function(r, x, i));
}

static void site(Run *r, Str *s, const RunSite *x) {
  if (!x) return;
  if (x->nplaces) place(r, s, x, 0);
  else if (x->function) json_text(s, "function", run_readable_name(r, x->function));
  if (!x->nplaces && x->ptx_line) json_number(s, "ptx_line", x->ptx_line);
  if (!x->nplaces && !x->ptx_line) json_text(s, "machine_code", x->text);
  if (x->nplaces < 2) return;
  json_key(s, "inlined_at");
  str_addc(s, '[');
  for (uint32_t i = 1; i < x->nplaces; i++) {
    str_add(s, i > 1 ? ",{" : "{");
    place(r, s, x, i);
    str_addc(s, '}');
  }
  str_addc(s, ']');
}

static void allocation(Run *r, Str *s, const char *key, const RunAllocation *a, int64_t offset) {
  if (!a) return;
  json_key(s, key);
  str_addc(s, '{');
  json_address(s, "base", a->base);
  json_number(s, "size", a->size);
  json_key(s, "offset");
  str_printf(s, "%lld", (long long)offset);
  json_text(s, "name", report_buffer_name(a));
  json_text(s, "kind", run_memory_kind(a->kind));
  if (a->freed) str_add(s, ",\"freed\":true");
  stack(r, s, "stack", a->stack);
  stack(r, s, "free_stack", a->free_stack);
  str_addc(s, '}');
}

static void object(Run *r, Str *s, const RunFinding *f) {
  if (!report_has_object(f)) return;
  json_open(s, "object", '{');
  json_text(s, "name", report_object_name(r, f->site));
  json_address(s, "base", f->value[0]);
  json_number(s, "size", f->extra[0]);
  json_key(s, "offset");
  str_printf(s, "%lld}", (long long)(f->address - f->value[0]));
}

static void finding(Run *r, Str *s, const RunFinding *f) {
  str_addc(s, '{');
  json_text(s, "kind", f->kind->name);
  json_text(s, "severity", severity_name(f->kind->severity));
  json_text(s, "text", f->text);
  json_number(s, "process", (uint64_t)f->process->pid);
  kernel_name(s, f->kernel);
  site(r, s, f->site);
  if (f->has_thread) {
    json_three(s, "block", f->block);
    json_three(s, "thread", f->thread);
  }
  if (f->launch_number) json_number(s, "launch", f->launch_number);
  if (f->has_address) json_address(s, "address", f->address);
  if (f->size) json_number(s, "size", f->size);
  if (f->site) json_text(s, "space", f->site->space);
  allocation(r, s, "allocation", f->allocation, f->offset);
  json_text(s, "parameter", f->parameter);
  object(r, s, f);
  if (f->inside) allocation(r, s, "inside", f->inside, (int64_t)(f->address - f->inside->base));
  if (tool_report(f->kind)->json) tool_report(f->kind)->json(r, f, s);
  json_number(s, "count", f->count);
  stack(r, s, "stack", report_host_stack(f));
  framework_operator(r, s, report_host_stack(f));
  if (f->other_stack) json_text(s, "other_title", f->other_title);
  stack(r, s, "other_stack", f->other_stack);
  str_addc(s, '}');
}

static void tools(Run *r, Str *s) {
  json_key(s, "tools");
  str_addc(s, '[');
  if (r->tools && strcmp(r->tools, "none") != 0)
    for (const char *p = r->tools;; p++) {
      size_t n = strcspn(p, ",");
      str_printf(s, "%s\"%.*s\"", p == r->tools ? "" : ",", (int)n, p);
      p += n;
      if (!*p) break;
    }
  str_addc(s, ']');
}

static void coverage(Run *r, Str *s) {
  json_key(s, "coverage");
  str_addc(s, '{');
  json_number(s, "launches", r->launches);
  json_number(s, "kernels", r->different_kernels);
  json_number(s, "checked_launches", r->checked_launches);
  if (r->library_calls) {
    json_number(s, "library_calls", r->library_calls);
    json_number(s, "checked_library_calls", r->checked_library_calls);
  }
  if (r->repeated_launches) json_number(s, "repeated_launches", r->repeated_launches);
  if (r->unfinished) json_text(s, "unfinished", r->unfinished);
  json_key(s, "uncovered");
  str_addc(s, '[');
  bool first = true;
  for (uint32_t i = 0; i < r->kernels.len; i++) {
    const RunKernel *k = r->kernels.data[i];
    if (!k->launches || !k->reason) continue;
    str_add(s, first ? "{" : ",{");
    first = false;
    kernel_name(s, k);
    json_text(s, "reason", k->reason);
    json_text(s, "cure", k->cure);
    json_number(s, "launches", k->launches);
    str_addc(s, '}');
  }
  str_addc(s, ']');
  if (r->unrecorded) json_number(s, "processes_unrecorded", r->unrecorded);
  if (r->still_running) json_number(s, "processes_still_running", r->still_running);
  str_addc(s, '}');
}

static void count_rows(Run *r, Str *s) {
  if (!r->counts.len) return;
  json_key(s, "counts");
  str_addc(s, '[');
  for (uint32_t i = 0; i < r->counts.len; i++) {
    const RunCount *c = r->counts.data[i];
    str_add(s, i ? ",{" : "{");
    json_text(s, "kernel", c->kernel);
    json_text(s, "file", c->file);
    json_number(s, c->file ? "line" : "ptx_line", c->line);
    json_number(s, "instructions", c->total);
    json_number(s, "warp_instructions", c->warp_total);
    json_number(s, "loads", c->loads);
    json_number(s, "load_bytes", c->load_bytes);
    json_number(s, "stores", c->stores);
    json_number(s, "store_bytes", c->store_bytes);
    json_number(s, "atomics", c->atomics);
    json_number(s, "atomic_bytes", c->atomic_bytes);
    json_key(s, "classes");
    str_addc(s, '{');
    for (unsigned k = 0; k < ARRAY_LEN(c->classes); k++)
      if (c->classes[k] && run_class_name(k)) json_number(s, run_class_name(k), c->classes[k]);
    str_add(s, "}}");
  }
  str_addc(s, ']');
}

void report_json_measured(Run *r, Str *s) {
  const ToolReport *tool;
  for (unsigned i = 0; (tool = tool_report_at(i)); i++)
    if (tool->json_results) tool->json_results(r, s);
}

static void notes(Run *r, Str *s) {
  if (!r->notes.len) return;
  json_key(s, "notes");
  str_addc(s, '[');
  for (uint32_t i = 0; i < r->notes.len; i++) {
    if (i) str_addc(s, ',');
    json_string(s, r->notes.data[i].text);
  }
  str_addc(s, ']');
}

static void suppressed(Run *r, Str *s) {
  uint64_t places, n = run_count_suppressed(r, &places);
  if (!r->suppressions.len) return;
  json_key(s, "suppressed");
  str_addc(s, '{');
  json_number(s, "findings", n);
  json_number(s, "places", places);
  json_key(s, "by");
  str_addc(s, '[');
  for (uint32_t i = 0; i < r->suppressions.len; i++) {
    const RunSuppression *x = r->suppressions.data[i];
    str_add(s, i ? ",{" : "{");
    json_text(s, "name", x->name);
    json_text(s, "file", x->file);
    json_number(s, "line", x->line);
    json_number(s, "findings", x->findings);
    json_number(s, "places", x->places);
    str_addc(s, '}');
  }
  str_add(s, "]}");
}

void report_json(Run *r, Str *s) {
  str_add(s, "{\"version\":1");
  json_text(s, "program", r->program);
  json_text(s, "device", r->device);
  tools(r, s);
  coverage(r, s);
  count_rows(r, s);
  report_json_measured(r, s);
  notes(r, s);
  json_key(s, "findings");
  str_addc(s, '[');
  bool first = true;
  for (uint32_t i = 0; i < r->findings.len; i++) {
    if (r->findings.data[i]->suppressed) continue;
    if (!first) str_addc(s, ',');
    first = false;
    finding(r, s, r->findings.data[i]);
  }
  str_addc(s, ']');
  suppressed(r, s);
  json_key(s, "exit_code");
  str_printf(s, "%d}\n", r->exit_code);
}
