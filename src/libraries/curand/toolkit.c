// Reads tables that only NVIDIA's files contain, from an installed CUDA toolkit, for cuRAND's host
// interface.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libraries/curand/internal.h"

// Calls visit with each folder in which a toolkit may be, until it returns true. Environment first.
static bool each_toolkit(bool (*visit)(const char *folder, void *context), void *context) {
  static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};
  for (unsigned i = 0; i < sizeof variables / sizeof *variables; i++) {
    const char *folder = getenv(variables[i]);
    if (folder && *folder && visit(folder, context)) return true;
  }
  char folder[PATH_MAX];
  const char *path = getenv("PATH");
  for (const char *p = path ? path : ""; *p;) {  // of nvcc: …/bin
    int n = (int)strcspn(p, ":");
    struct stat there;
    snprintf(folder, sizeof folder, "%.*s/nvcc", n, p);
    if (n && !stat(folder, &there)) {
      snprintf(folder, sizeof folder, "%.*s/..", n, p);
      if (visit(folder, context)) return true;
    }
    p += n + (p[n] == ':');
  }
  glob_t found;
  bool done = visit("/usr", context);
  if (done || glob("/usr/local/*/include/curand.h", 0, NULL, &found)) return done;
  for (size_t i = 0; !done && i < found.gl_pathc; i++) {
    int folder_length = (int)(strlen(found.gl_pathv[i]) - strlen("/include/curand.h"));
    snprintf(folder, sizeof folder, "%.*s", folder_length, found.gl_pathv[i]);
    done = visit(folder, context);
  }
  globfree(&found);
  return done;
}

// --- headers ---

typedef struct HeaderSearch {
  const char *name;
  char *text;
} HeaderSearch;

static char *read_text(const char *path) {
  FILE *f = fopen(path, "r");
  struct stat info;
  char *text = NULL;
  if (f && !fstat(fileno(f), &info) && (text = malloc((size_t)info.st_size + 1)))
    text[fread(text, 1, (size_t)info.st_size, f)] = 0;
  if (f) fclose(f);
  return text;
}

static bool visit_for_header(const char *folder, void *context) {
  HeaderSearch *s = context;
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/include/%s", folder, s->name);
  s->text = read_text(path);
  return s->text != NULL;
}

char *toolkit_read_header(const char *name) {
  HeaderSearch s = {.name = name};
  each_toolkit(visit_for_header, &s);
  return s.text;
}

// --- NVIDIA's own libcurand, whose tables of direction numbers need no GPU ---

static void *library;
static pthread_once_t library_once = PTHREAD_ONCE_INIT;

static bool visit_for_library(const char *folder, void *context) {
  (void)context;
  static const char *const places[] = {"lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu",
                                       "lib"};
  for (unsigned i = 0; !library && i < sizeof places / sizeof *places; i++) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s/libcurand.so.10", folder, places[i]);
    // A linker namespace of its own: libcurand brings a CUDA runtime, which must not be served.
    library = access(path, R_OK) ? NULL : dlmopen(LM_ID_NEWLM, path, RTLD_LAZY | RTLD_LOCAL);
  }
  return library != NULL;
}

static void open_library(void) { each_toolkit(visit_for_library, NULL); }

void *toolkit_curand_function(const char *name) {
  pthread_once(&library_once, open_library);
  return library ? dlsym(library, name) : NULL;
}
