// One JSON object. Keys that do not apply are absent; the order of keys is fixed, so that reports can be compared.
#include "report/report.h"

// Bytes of the UTF-8 character that starts here; 0: it is none. File names and symbols can be any bytes.
static unsigned utf8_length(const unsigned char *p) {
  unsigned n = *p < 0x80 ? 1 : (*p & 0xe0) == 0xc0 && *p >= 0xc2 ? 2 : (*p & 0xf0) == 0xe0 ? 3 : (*p & 0xf8) == 0xf0 && *p <= 0xf4 ? 4 : 0;
  for (unsigned i = 1; i < n; i++)
    if ((p[i] & 0xc0) != 0x80) return 0;
  return n;
}

static void add_string(Str *s, const char *text) {
  str_addc(s, '"');
  for (const unsigned char *p = (const unsigned char *)text; *p;) {
    unsigned n = utf8_length(p);
    if (*p == '"' || *p == '\\') str_printf(s, "\\%c", *p);
    else if (*p < 0x20 || *p == 0x7f) str_printf(s, "\\u%04x", *p);
    else if (n) str_addn(s, (const char *)p, n);
    else str_add(s, "\\ufffd");
    p += n ? n : 1;
  }
  str_addc(s, '"');
}

// --- ,"key":value ---
static void add_key(Str *s, const char *key) {
  if (s->len && s->data[s->len - 1] != '{') str_addc(s, ',');
  str_printf(s, "\"%s\":", key);
}

static void text(Str *s, const char *key, const char *value) {
  if (!value) return;
  add_key(s, key);
  add_string(s, value);
}

static void number(Str *s, const char *key, uint64_t value) {
  add_key(s, key);
  str_printf(s, "%llu", (unsigned long long)value);
}

static void address(Str *s, const char *key, uint64_t value) {
  add_key(s, key);
  str_printf(s, "\"0x%llx\"", (unsigned long long)value);
}

static void three(Str *s, const char *key, const uint32_t *v) {
  add_key(s, key);
  str_printf(s, "[%u,%u,%u]", v[0], v[1], v[2]);
}

static void kernel_name(Str *s, const RunKernel *k) {
  if (!k) return;
  text(s, "kernel", k->name);
  if (strcmp(k->name, k->readable) != 0) text(s, "kernel_readable", k->readable);
}

static void stack(Run *r, Str *s, const char *key, RunStack *k) {
  if (!k) return;
  uint32_t n;
  const RunFrame *frames = run_stack_frames(r, k, &n);
  if (!n) return;
  add_key(s, key);
  str_addc(s, '[');
  for (uint32_t i = 0; i < n; i++) {
    str_add(s, i ? ",{" : "{");
    text(s, "function", frames[i].function);
    text(s, "file", frames[i].file);
    if (frames[i].file) number(s, "line", frames[i].line);
    text(s, "object", frames[i].object);
    if (!frames[i].python) address(s, "address", frames[i].address);
    str_addc(s, '}');
  }
  str_addc(s, ']');
}

static void place(Run *r, Str *s, const RunSite *x, uint32_t i) {
  const RunPlace *p = &x->places[i];
  text(s, "file", p->file);
  if (p->file) number(s, "line", p->line);
  text(s, "function", report_place_function(r, x, i));
}

static void site(Run *r, Str *s, const RunSite *x) {
  if (!x) return;
  if (x->nplaces) place(r, s, x, 0);
  else if (x->function) text(s, "function", run_readable_name(r, x->function));
  if (!x->nplaces && x->ptx_line) number(s, "ptx_line", x->ptx_line);
  if (x->nplaces < 2) return;
  add_key(s, "inlined_at");
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
  add_key(s, key);
  str_addc(s, '{');
  address(s, "base", a->base);
  number(s, "size", a->size);
  add_key(s, "offset");
  str_printf(s, "%lld", (long long)offset);
  text(s, "name", a->name);
  text(s, "kind", run_memory_kind(a->kind));
  if (a->freed) str_add(s, ",\"freed\":true");
  stack(r, s, "stack", a->stack);
  stack(r, s, "free_stack", a->free_stack);
  str_addc(s, '}');
}

static void finding(Run *r, Str *s, const RunFinding *f) {
  str_addc(s, '{');
  text(s, "kind", f->kind->name);
  text(s, "severity", channel_severity_name(f->kind->severity));
  text(s, "text", f->text);
  number(s, "process", (uint64_t)f->process->pid);
  kernel_name(s, f->kernel);
  site(r, s, f->site);
  if (f->has_thread) three(s, "block", f->block), three(s, "thread", f->thread);
  if (f->launch_number) number(s, "launch", f->launch_number);
  if (f->has_address) address(s, "address", f->address);
  if (f->size) number(s, "size", f->size);
  if (f->site) text(s, "space", f->site->space);
  allocation(r, s, "allocation", f->allocation, f->offset);
  if (f->inside) allocation(r, s, "inside", f->inside, (int64_t)(f->address - f->inside->base));
  report_fp_json(f, s);
  number(s, "count", f->count);
  stack(r, s, "stack", f->launch && f->launch->stack ? f->launch->stack : f->stack);
  if (f->other_stack) text(s, "other_title", f->other_title);
  stack(r, s, "other_stack", f->other_stack);
  str_addc(s, '}');
}

static void tools(Run *r, Str *s) {
  add_key(s, "tools");
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
  add_key(s, "coverage");
  str_addc(s, '{');
  number(s, "launches", r->launches);
  number(s, "kernels", r->different_kernels);
  number(s, "checked_launches", r->checked_launches);
  add_key(s, "uncovered");
  str_addc(s, '[');
  bool first = true;
  for (uint32_t i = 0; i < r->kernels.len; i++) {
    const RunKernel *k = r->kernels.data[i];
    if (!k->launches || !k->reason) continue;
    str_add(s, first ? "{" : ",{");
    first = false;
    kernel_name(s, k);
    text(s, "reason", k->reason);
    text(s, "cure", k->cure);
    number(s, "launches", k->launches);
    str_addc(s, '}');
  }
  str_addc(s, ']');
  if (r->unrecorded) number(s, "processes_unrecorded", r->unrecorded);
  if (r->still_running) number(s, "processes_still_running", r->still_running);
  str_addc(s, '}');
}

static void count_rows(Run *r, Str *s) {
  if (!r->counts.len) return;
  add_key(s, "counts");
  str_addc(s, '[');
  for (uint32_t i = 0; i < r->counts.len; i++) {
    const RunCount *c = r->counts.data[i];
    str_add(s, i ? ",{" : "{");
    text(s, "kernel", c->kernel);
    text(s, "file", c->file);
    number(s, c->file ? "line" : "ptx_line", c->line);
    number(s, "instructions", c->total);
    number(s, "warp_instructions", c->warp_total);
    number(s, "loads", c->loads);
    number(s, "load_bytes", c->load_bytes);
    number(s, "stores", c->stores);
    number(s, "store_bytes", c->store_bytes);
    number(s, "atomics", c->atomics);
    number(s, "atomic_bytes", c->atomic_bytes);
    add_key(s, "classes");
    str_addc(s, '{');
    for (unsigned k = 0; k < ARRAY_LEN(c->classes); k++)
      if (c->classes[k] && run_class_name(k)) number(s, run_class_name(k), c->classes[k]);
    str_add(s, "}}");
  }
  str_addc(s, ']');
}

static void notes(Run *r, Str *s) {
  if (!r->notes.len) return;
  add_key(s, "notes");
  str_addc(s, '[');
  for (uint32_t i = 0; i < r->notes.len; i++) {
    if (i) str_addc(s, ',');
    add_string(s, r->notes.data[i].text);
  }
  str_addc(s, ']');
}

void report_json(Run *r, Str *s) {
  str_add(s, "{\"version\":1");
  text(s, "program", r->program);
  text(s, "device", r->device);
  tools(r, s);
  coverage(r, s);
  count_rows(r, s);
  notes(r, s);
  add_key(s, "findings");
  str_addc(s, '[');
  for (uint32_t i = 0; i < r->findings.len; i++) {
    if (i) str_addc(s, ',');
    finding(r, s, r->findings.data[i]);
  }
  str_addc(s, ']');
  add_key(s, "exit_code");
  str_printf(s, "%d}\n", r->exit_code);
}
