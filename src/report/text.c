// A finding in words.
#include "probe/probe_abi.h"
#include "report/internal.h"
#include "tools/report.h"

static void add_frame(const RunFrame *f, const char *word, Str *out) {
  str_printf(out, "    %s %s", word, f->function ? f->function : "?");
  if (f->file)
    str_printf(out, " (" REPORT_BOLD "%s:%u" REPORT_PLAIN ")", report_path(f->file), f->line);
  else if (f->object) str_printf(out, " (in %s+0x%llx)", f->object, (unsigned long long)f->address);
  else str_printf(out, " (0x%llx)", (unsigned long long)f->address);
  str_printf(out, "%s\n", f->inlined ? " inlined" : "");
}

// Shows the frames of one framework as one line. The interpreter's own frames are left out, since
// the lines of Python are shown.
static void add_framework(const RunFrame *frames, uint32_t n, const char *word, Str *out) {
  const char *framework = report_framework(frames);
  Str operator= {0};
  if (strcmp(framework, "Python") == 0) return;
  bool known = report_operator(frames, n, &operator);
  str_printf(out, "    %s %s%s%u function%s of %s%s\n", word, known ? operator.data : "",
             known ? " (" : "", n, n == 1 ? "" : "s", framework, known ? ")" : "");
  str_free(&operator);
}

static void add_stack(Run *r, RunStack *s, const char *title, Str *out) {
  uint32_t n;
  const RunFrame *frames = report_stack(r, s, &n);
  if (!n) return;
  bool has_python = false;
  for (uint32_t i = 0; i < n; i++) has_python |= frames[i].python;
  str_printf(out, "  %s\n", title);
  for (uint32_t i = 0, next; i < n; i = next) {
    const char *framework = report_framework(&frames[i]), *word = i ? "by" : "at";
    // a program with an interpreter of its own
    if (framework && !has_python && !strcmp(framework, "Python")) framework = NULL;
    for (next = i + 1; framework && next < n; next++) {
      const char *other = report_framework(&frames[next]);
      if (!other || strcmp(other, framework)) break;
    }
    if (framework) add_framework(&frames[i], next - i, word, out);
    else add_frame(&frames[i], word, out);
  }
}

static void add_places(Run *r, const RunFinding *f, Str *out) {
  const RunSite *s = f->site;
  if (!s) return;
  for (uint32_t i = 0; i < s->nplaces; i++) {
    const RunPlace *p = &s->places[i];
    str_printf(out, "  %s " REPORT_BOLD "%s:%u" REPORT_PLAIN, i ? "inlined at" : "at",
               report_path(p->file), p->line);
    const char *function = report_place_function(r, s, i);
    str_printf(out, "%s%s\n", function ? " in " : "", function ? function : "");
  }
  bool machine_code = !s->nplaces && !s->ptx_line;
  if (machine_code && s->text)
    str_printf(out, "  at %s in the machine code of %s\n", s->text,
               s->function ? run_readable_name(r, s->function) : "a kernel");
  if (machine_code) return;
  if (!s->nplaces && s->function)
    str_printf(out, "  at line %u of the PTX, in %s (%s)\n", s->ptx_line,
               run_readable_name(r, s->function), report_words(f)->lines);
  if (!s->nplaces && s->text) str_printf(out, "  instruction: %s\n", s->text);
}

static void add_three(Str *out, const uint32_t *v) {
  str_printf(out, "(%u,%u,%u)", v[0], v[1], v[2]);
}

static void add_launch(const RunFinding *f, Str *out) {
  if (!f->has_thread && !f->kernel && !f->launch_number) return;
  const ToolReport *tool = tool_report(f->kind);
  str_add(out, tool->found_by && tool->found_by(f) ? "  found by " : "  by ");
  const ApiWords *w = report_words(f);
  if (f->has_thread) {
    words_add(out, w, "{thread} ");
    add_three(out, f->thread);
    words_add(out, w, " of {block} ");
    add_three(out, f->block);
    if (f->lanes && (f->lanes & (f->lanes - 1)))
      words_printf(out, w, " and %d more of its {warp}", __builtin_popcount(f->lanes) - 1);
    str_add(out, ", ");
  }
  if (f->kernel) words_printf(out, w, "{kernel} %s", f->kernel->readable);
  else words_add(out, w, "a {kernel}");
  if (f->launch_number) str_printf(out, ", launch %u", f->launch_number);
  if (f->launch) {
    const uint32_t *grid = f->launch->grid, *block = f->launch->block;
    uint32_t items[3] = {grid[0] * block[0], grid[1] * block[1], grid[2] * block[2]};
    words_add(out, w, " with {grid} ");
    add_three(out, w->grid_in_threads ? items : grid);
    words_add(out, w, ", {blocks} of ");
    add_three(out, f->launch->block);
    str_printf(out, ", device %d", f->launch->device);
  }
  str_addc(out, '\n');
}

static void add_bytes(uint64_t n, const char *where, Str *out) {
  str_printf(out, "%llu byte%s %s", (unsigned long long)n, n == 1 ? "" : "s", where);
}

static void add_distance(uint64_t offset, uint64_t size, Str *out) {
  if ((int64_t)offset < 0) add_bytes(-offset, "before", out);
  else if (offset >= size && offset == size) str_add(out, "right after the end of");
  else if (offset > size) add_bytes(offset - size, "after the end of", out);
  else if (offset == 0) str_add(out, "the start of");
  else add_bytes(offset, "inside", out);
}

// A copy or a matrix load moves many elements at once: its size is not that of an element.
static bool is_element(int64_t bytes) { return bytes > 0 && bytes <= 32; }

// An access that begins inside and ends outside.
static void add_excess(const RunFinding *f, uint64_t offset, uint64_t size, Str *out) {
  if (!(f->kind->parts & MAY_CROSS_END) || offset >= size || offset + f->size <= size) return;
  str_add(out, "; it ends ");
  add_bytes(offset + f->size - size, "behind that", out);
}

// Variables that are no allocation: value and extra are their place and size.
bool report_has_object(const RunFinding *f) {
  return f->site && f->site->object && !f->allocation && f->extra[0] &&
         f->kind->parts & HAS_POINTER;
}

// "4 bytes after the end of tile, 128 bytes of shared memory, tile[33] of 4-byte elements"
static void append_object(Run *r, const RunFinding *f, Str *out) {
  int64_t offset = (int64_t)(f->address - f->value[0]), element = (int64_t)f->size;
  const char *name = report_object_name(r, f->site);
  add_distance((uint64_t)offset, f->extra[0], out);
  str_printf(out, " %s, %llu bytes of %s memory",
             name ? name
             : strcmp(f->site->space ? f->site->space : "", "param") == 0
                 ? "a parameter"
                 : "the variables of the function",
             (unsigned long long)f->extra[0],
             f->site->space ? words_space(report_words(f), f->site->space) : "its");
  if (name && is_element(element) && offset % element == 0)
    str_printf(out, ", " REPORT_BOLD "%s[%lld]" REPORT_PLAIN " of %lld-byte elements", name,
               (long long)(offset / element), (long long)element);
}

// "8 bytes after the end of b, an allocation of 4096 bytes at 0x7f0000000000 (device), b[1026] of
// 4-byte elements"
static void append_where(const RunFinding *f, bool addresses, Str *out) {
  const RunAllocation *a = f->allocation;
  const char *name = report_buffer_name(a);
  add_distance(f->address - a->base, a->size, out);
  if (a->name && !a->freed) str_printf(out, " the variable %s", a->name);
  else
    str_printf(out, " %s%s%s", name ? name : "", name ? ", " : "",
               a->freed ? "a freed allocation" : "an allocation");
  str_printf(out, " of %llu bytes", (unsigned long long)a->size);
  if (addresses) str_printf(out, " at 0x%llx", (unsigned long long)a->base);
  str_printf(out, " (%s)", run_memory_kind(a->kind));
  int64_t element = f->size ? (int64_t)f->size : f->origin ? (int64_t)f->origin->bytes : 0;
  if (f->has_thread && is_element(element) && f->offset % element == 0)
    str_printf(out, ", " REPORT_BOLD "%s[%lld]" REPORT_PLAIN " of %lld-byte elements",
               name ? name : "index ", (long long)(f->offset / element), (long long)element);
}

// An access inside its allocation is out of bounds if the kernel got only a part of the allocation.
static void add_part(const RunFinding *f, Str *out) {
  const RunAllocation *a = f->allocation;
  const ApiWords *w = report_words(f);
  bool is_inside = f->address >= a->base && f->address - a->base + f->size <= a->size;
  if (*w->part && f->kind->parts & MAY_CROSS_END && is_inside && !a->freed)
    words_add(out, w, ", outside of the {part} that the {kernel} got");
}

static void add_inside(const RunFinding *f, Str *out) {
  const RunAllocation *a = f->inside;
  const char *name = report_buffer_name(a);
  if (a)
    str_printf(
        out, "  there it hits %s%s%s of %llu bytes at 0x%llx (%s), %llu bytes from its start\n",
        name ? name : "", name ? ", " : "", a->freed ? "a freed allocation" : "another allocation",
        (unsigned long long)a->size, (unsigned long long)a->base, run_memory_kind(a->kind),
        (unsigned long long)(f->address - a->base));
}

// An address in no allocation and no variable. Freed memory of the host has an allocation: other
// freed memory is in the device's heap.
static void add_nowhere(const RunFinding *f, Str *out) {
  const char *space = f->site ? f->site->space : NULL;
  bool global = !space || strcmp(space, "global") == 0;
  if (!global && strcmp(space, "generic") != 0) return;
  if (f->address < WG_NULL_PAGE)
    str_add(out, f->address ? ", computed from a null pointer" : ", a null pointer");
  else if (f->kind->parts & OF_FREED_MEMORY)
    str_add(out, " is in a block of the device's heap that was freed");
  else if (global) str_add(out, ": no allocation is near");
}

static void add_allocation(Run *r, const RunFinding *f, Str *out) {
  const ToolReport *tool = tool_report(f->kind);
  Str where = {0};
  if (tool->where && tool->where(f, &where)) str_printf(out, "  at %s\n", where.data);
  str_free(&where);
  if (!f->has_address) return;
  str_printf(out, "  address 0x%llx", (unsigned long long)f->address);
  if (f->allocation) {
    str_add(out, " is ");
    append_where(f, true, out);
    if (f->parameter)
      words_printf(out, report_words(f), ", parameter %s of the {kernel}", f->parameter);
    if (f->has_thread) add_excess(f, f->address - f->allocation->base, f->allocation->size, out);
    if (f->has_thread) add_part(f, out);
  } else if (report_has_object(f)) {
    str_add(out, " is ");
    append_object(r, f, out);
    add_excess(f, f->address - f->value[0], f->extra[0], out);
  } else if (f->kind->parts & MAY_BE_IN_HEAP) str_add(out, " is in the device's heap");
  else if (!tool->locate || !tool->locate(r, f, out)) add_nowhere(f, out);
  str_addc(out, '\n');
  add_inside(f, out);
}

// What was accessed; follows the headline and the kind.
static void add_access(const RunFinding *f, Str *out) {
  const ToolReport *tool = tool_report(f->kind);
  if ((tool->detail && tool->detail(f, out)) || f->text) return;
  if (f->size)
    str_printf(out, ": %llu byte%s", (unsigned long long)f->size, f->size == 1 ? "" : "s");
  if (f->site && f->site->space)
    str_printf(out, "%s%s memory", f->size ? " of " : ": ",
               words_space(report_words(f), f->site->space));
}

static void add_title(const RunFinding *f, Str *out) {
  const ToolReport *tool = tool_report(f->kind);
  const char *title = f->text || !tool->title ? NULL : tool->title(f);
  if (f->text) str_add(out, f->text);
  else words_add(out, report_words(f), title ? title : f->kind->title);
}

void report_sentence(Run *r, const RunFinding *f, Str *out) {
  const ToolReport *tool = tool_report(f->kind);
  Str where = {0};
  add_title(f, out);
  add_access(f, out);
  if (f->has_address && f->allocation) {
    str_add(out, ", ");
    append_where(f, false, out);
  } else if (report_has_object(f)) {
    str_add(out, ", ");
    append_object(r, f, out);
  } else if (tool->where && tool->where(f, &where)) {
    str_printf(out, ", %s", where.data);
  }
  str_free(&where);
}

void report_finding(Run *r, const RunFinding *f, Str *out) {
  static const char *const words[] = {"", REPORT_NOTE "Note:" REPORT_PLAIN " ",
                                      REPORT_WARNING "Warning:" REPORT_PLAIN " ",
                                      REPORT_ERROR "Error:" REPORT_PLAIN " "};
  static const char *const colours[] = {REPORT_BOLD, REPORT_NOTE, REPORT_WARNING, REPORT_ERROR};
  const ToolReport *tool = tool_report(f->kind);
  Str title = {0};
  add_title(f, &title);
  const char *text = title.data ? title.data : "";
  size_t head = strcspn(text, "\n");  // the report of a hang has several lines
  str_printf(out, " \n%s%.*s (%s%s" REPORT_PLAIN ")", words[f->kind->severity], (int)head, text,
             colours[f->kind->severity], f->kind->name);
  add_access(f, out);
  str_addc(out, '\n');
  add_places(r, f, out);
  add_launch(f, out);
  if (text[head]) str_printf(out, "%s\n", text + head + 1);
  if (tool->describe) tool->describe(r, f, out);
  add_allocation(r, f, out);
  if (f->allocation) {
    // for a variable: the stack that loaded its module
    add_stack(r, f->allocation->stack, f->allocation->name ? "loaded" : "allocated", out);
    add_stack(r, f->allocation->free_stack, "freed", out);
  }
  add_stack(r, f->launch ? f->launch->stack : NULL, "launched", out);
  add_stack(r, f->stack, f->kind->parts & STACK_IS_ALLOCATION ? "allocated" : "called", out);
  add_stack(r, f->other_stack, f->other_title ? f->other_title : "before", out);
  str_free(&title);
}

void report_repeats(Run *r, Str *out) {
  enum { SHOWN = 100 };
  uint32_t shown = 0, more = 0;
  for (uint32_t i = 0; i < r->findings.len; i++) {
    const RunFinding *f = r->findings.data[i];
    if (f->count < 2 || f->suppressed) continue;
    if (shown++ >= SHOWN) {
      more++;
      continue;
    }
    str_printf(out, "%llu times: %s", (unsigned long long)f->count, f->kind->name);
    const RunPlace *p = f->site && f->site->nplaces ? &f->site->places[report_main_place(f->site)]
                                                    : NULL;
    if (p) str_printf(out, " at " REPORT_BOLD "%s:%u" REPORT_PLAIN, report_path(p->file), p->line);
    if (f->kernel) words_printf(out, report_words(f), " in {kernel} %s", f->kernel->readable);
    str_addc(out, '\n');
  }
  if (more) str_printf(out, "and %u more places with repeated findings\n", more);
}
