// Registers, shared memory and spills of kernels, as reported by ptxas: the program saves the PTX
// of its modules in a folder (host_code.c), which is compiled once, when the report is made.
#define _GNU_SOURCE
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/options.h"
#include "tools/options.h"
#include "tools/profile/report_model.h"
#include "tools/profile/report_resources.h"

enum { LARGEST = 8 << 20 };
static char folder[] = "/tmp/warpgrind-code-XXXXXX";
static bool made, read_already;
static unsigned arch = 90;

void resources_start(const Options *o) {
  arch = (unsigned)strtoul(options_text(o, OPT_PROFILE_ARCH) + 3, NULL, 10);
  made = mkdtemp(folder) != NULL;
  if (made) setenv("WARPGRIND_PROFILE_CODE", folder, 1);
}

bool resources_are_live(void) { return made; }

void resources_end(void) {
  DIR *d = made ? opendir(folder) : NULL;
  for (struct dirent *e; d && (e = readdir(d));) {
    char path[512];
    if (e->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    unlink(path);
  }
  if (d) closedir(d);
  if (made) rmdir(folder);
  made = false;
}

// The PTX may be for one architecture only (sm_90a), and may have been compiled with a register
// limit.
static void head_of(const char *path, char *target, size_t size, unsigned *limit) {
  char line[512];
  FILE *f = fopen(path, "re");
  *limit = 0;
  snprintf(target, size, "sm_%u", arch);
  for (int i = 0; f && i < 40 && fgets(line, sizeof line, f); i++) {
    char word[32];
    const char *most = strstr(line, "maxrregcount");
    if (!strncmp(line, "// options:", 11) && most) sscanf(most, "maxrregcount%*[= ]%u", limit);
    if (sscanf(line, ".target %31[a-z0-9_]", word) == 1 && strpbrk(word + 3, "af"))
      snprintf(target, size, "%s", word);
  }
  if (f) fclose(f);
}

typedef struct Reading {
  Run *run;
  char kernel[4096];
  bool mine;    // the properties that follow belong to `kernel`
  bool spills;  // some kernel spills
  uint64_t v[RESOURCES_COUNT];
} Reading;

static void read_line(Reading *r, const char *line) {
  unsigned a, b, c;
  const char *at = strstr(line, "Compiling entry function '");
  if (at) {
    snprintf(r->kernel, sizeof r->kernel, "%.*s", (int)strcspn(at + 26, "'"), at + 26);
    memset(r->v, 0, sizeof r->v);
  }
  if ((at = strstr(line, "Function properties for "))) {
    size_t n = strcspn(at + 24, "\n");
    r->mine = strlen(r->kernel) == n && !strncmp(at + 24, r->kernel, n);
  }
  if (r->mine && sscanf(line, " %u bytes stack frame, %u bytes spill stores, %u bytes spill loads",
                        &a, &b, &c) == 3) {
    r->v[RESOURCES_STACK] = a;
    r->v[RESOURCES_SPILL_STORES] = b;
    r->v[RESOURCES_SPILL_LOADS] = c;
  }
  at = strstr(line, "Used ");
  if (!at || sscanf(at, "Used %u registers", &a) != 1 || !r->kernel[0]) return;
  r->v[RESOURCES_REGISTERS] = a;
  r->v[RESOURCES_ARCH] = arch;
  const char *shared = strstr(line, " bytes smem");
  while (shared && shared > line && shared[-1] >= '0' && shared[-1] <= '9') shared--;
  if (shared) r->v[RESOURCES_SHARED] = strtoull(shared, NULL, 10);
  r->spills |= r->v[RESOURCES_SPILL_STORES] || r->v[RESOURCES_SPILL_LOADS];
  RunMeasure m = {.what = MEASURE_RESOURCES, .kernel = r->kernel, .text = "ptxas"};
  memcpy(m.v, r->v, sizeof r->v);
  run_add_measure(r->run, &m);
}

// The text of a kernel in its module; NULL: not found.
static const char *find_entry(const char *text, const char *kernel, size_t *n) {
  size_t length = strlen(kernel);
  for (const char *at = text; (at = strstr(at, ".entry ")); at++) {
    const char *name = at + 7 + strspn(at + 7, " ");
    if (strncmp(name, kernel, length) || !strchr("( \n\t", name[length])) continue;
    const char *end = strstr(name, "\n}");
    while (at > text && at[-1] != '\n') at--;
    if (!end) return NULL;
    *n = (size_t)(end + 2 - at);
    return at;
  }
  return NULL;
}

// For the viewer: the PTX of kernels that were launched.
static void keep_code(Run *run, const char *path) {
  Str text = {0};
  Error err;
  if (!file_read(path, &text, &err)) return;
  size_t n, skipped = !strncmp(text.data, "// options:", 11) ? strcspn(text.data, "\n") + 1 : 0;
  for (uint32_t i = 0; i < run->kernels.len; i++) {
    RunKernel *k = run->kernels.data[i];
    const char *at = k->name && k->launches ? find_entry(text.data, k->name, &n) : NULL;
    if (!at) continue;
    uint32_t line = 1;
    for (const char *p = text.data + skipped; p < at; p++) line += *p == '\n';
    run_keep_code(run, k, line, at, n);
  }
  str_free(&text);
}

static void compile(Run *run, const char *path) {
  char command[1024], target[40], line[8192], most[40] = "", options[100];
  unsigned limit;
  struct stat st;
  if (stat(path, &st) != 0 || st.st_size > LARGEST) return;
  head_of(path, target, sizeof target, &limit);
  if (limit) snprintf(most, sizeof most, "-maxrregcount=%u", limit);
  snprintf(options, sizeof options, "-arch=%s %s", target, most);
  snprintf(command, sizeof command, "ptxas -v %s -o /dev/null '%s' 2>&1", options, path);
  FILE *f = popen(command, "re");
  Reading r = {.run = run};
  while (f && fgets(line, sizeof line, f)) read_line(&r, line);
  if (f) pclose(f);
  if (r.spills) spills_read(run, path, options);
}

void resources_read(Run *run) {
  if (!made || read_already) return;
  read_already = true;
  DIR *d = opendir(folder);
  for (struct dirent *e; d && (e = readdir(d));) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    if (e->d_name[0] == '.') continue;
    compile(run, path);
    if (run->file) keep_code(run, path);
  }
  if (d) closedir(d);
}
