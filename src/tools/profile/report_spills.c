// Lines at which registers are spilled, if nvdisasm is installed: stores to and loads from local
// memory in the machine code that ptxas generates, by source line. In PTX without .local variables,
// all accesses to local memory are spills.
#define _GNU_SOURCE
#include <unistd.h>

#include "tools/profile/report_resources.h"
#include "tools/profile/report_model.h"

typedef struct SpillReading {
  Run *run;
  char kernel[4096], file[4096];
  unsigned line;
} SpillReading;

static unsigned width_of(const char *opcode) {
  static const struct {
    const char *word;
    unsigned bytes;
  } widths[] = {{".128", 16}, {".64", 8}, {".U16", 2}, {".S16", 2}, {".U8", 1}, {".S8", 1}};
  size_t n = strcspn(opcode, " \t;");
  for (size_t i = 0; i < ARRAY_LEN(widths); i++)
    if (memmem(opcode, n, widths[i].word, strlen(widths[i].word))) return widths[i].bytes;
  return 4;
}

static void add(SpillReading *r, bool store, unsigned bytes) {
  for (uint32_t i = r->run->measures.len; i-- > 0;) {
    RunMeasure *m = r->run->measures.data[i];
    if (strcmp(m->what, MEASURE_SPILL)) break;  // those of this module come last
    if (m->line != r->line || strcmp(m->kernel, r->kernel) || strcmp(m->file, r->file)) continue;
    m->v[store ? 0 : 1] += bytes;
    return;
  }
  RunMeasure m = {.what = MEASURE_SPILL,
                  .kernel = r->kernel,
                  .file = r->file,
                  .line = r->line,
                  .text = "nvdisasm"};
  m.v[store ? 0 : 1] = bytes;
  run_add_measure(r->run, &m);
}

static void read_line(SpillReading *r, const char *line) {
  const char *at = strstr(line, ".section\t.text.");
  if (at) {
    snprintf(r->kernel, sizeof r->kernel, "%.*s", (int)strcspn(at + 15, ",\n"), at + 15);
    r->line = 0;
  }
  at = strstr(line, "//## File \"");
  if (at) {
    size_t n = strcspn(at + 11, "\"");
    snprintf(r->file, sizeof r->file, "%.*s", (int)n, at + 11);
    if (sscanf(at + 11 + n, "\", line %u", &r->line) != 1) r->line = 0;
  }
  if (!r->line || !r->kernel[0]) return;
  at = strstr(line, " STL");
  bool store = at != NULL;
  if (!at) at = strstr(line, " LDL");
  if (at && strchr(". ", at[4])) add(r, store, width_of(at + 1));
}

static bool has_local_variables(const char *path) {
  Str text = {0};
  Error err;
  bool found = !file_read(path, &text, &err) || strstr(text.data, "\t.local ");
  str_free(&text);
  return found;
}

void spills_read(Run *run, const char *path, const char *options) {
  char cubin[600], command[2048];
  char *line = NULL;
  size_t room = 0;
  if (has_local_variables(path)) return;
  snprintf(cubin, sizeof cubin, "%s.cubin", path);
  snprintf(command, sizeof command,
           "ptxas -lineinfo %s -o '%s' '%s' 2>/dev/null && nvdisasm -g -c '%s' 2>/dev/null",
           options, cubin, path, cubin);
  FILE *f = popen(command, "re");
  SpillReading r = {.run = run};
  while (f && getline(&line, &room, f) > 0) read_line(&r, line);
  if (f) pclose(f);
  free(line);
  unlink(cubin);
}

// "at a.cu:12 (96 bytes), a.cu:14 (8 bytes)": follows the evidence; empty if not known.
enum { SHOWN = 3 };
void spills_text(const ProfileModel *m, const KernelProfile *k, Str *out) {
  const RunMeasure *shown[SHOWN];
  uint32_t n = 0;
  for (; n < SHOWN; n++) {
    const RunMeasure *most = NULL;
    for (uint32_t i = 0; i < m->run->measures.len; i++) {
      const RunMeasure *x = m->run->measures.data[i];
      bool told = strcmp(x->what, MEASURE_SPILL) || strcmp(x->kernel, k->name);
      for (uint32_t s = 0; s < n; s++) told |= shown[s] == x;
      if (!told && (!most || x->v[0] + x->v[1] > most->v[0] + most->v[1])) most = x;
    }
    if (!most) break;
    const char *name = strrchr(most->file, '/');
    str_printf(out, "%s%s:%u (%llu bytes)", n ? ", " : "; most of them at ",
               name ? name + 1 : most->file, most->line,
               (unsigned long long)(most->v[0] + most->v[1]));
    shown[n] = most;
  }
}
