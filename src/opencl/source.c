// Names for source texts. A program hands over text, mostly read from a file: reports name that
// file if it is found, in the working folder or beside the program. Else the text is kept in the
// cache.
#define _GNU_SOURCE

#include "opencl/opencl.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_DEPTH = 2, MOST_FILES = 20000 };

typedef struct Search {
  const char *source;
  size_t size;
  int files;
  Str *out;
} Search;

static bool has_ending(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot && (!strcmp(dot, ".cl") || !strcmp(dot, ".ocl") || !strcmp(dot, ".opencl"));
}

static bool holds(const char *path, const Search *s) {
  struct stat st;
  if (stat(path, &st) || !S_ISREG(st.st_mode) || (size_t)st.st_size != s->size) return false;
  Str text = {0};
  bool same = file_read(path, &text, NULL) && text.len == s->size &&
              !memcmp(text.data, s->source, s->size);
  str_free(&text);
  return same;
}

// Looks at the files `depth` folders below.
static bool search(const char *folder, int depth, Search *s) {
  DIR *d = opendir(folder);
  bool found = false;
  for (struct dirent *e; d && !found && s->files < MOST_FILES && (e = readdir(d));) {
    Str path = {0};
    s->files++;
    str_printf(&path, "%s/%s", folder, e->d_name);
    if (!depth && has_ending(e->d_name) && holds(path.data, s)) {
      str_add(s->out, path.data);
      found = true;
    } else if (depth && e->d_type == DT_DIR && e->d_name[0] != '.') {
      found = search(path.data, depth - 1, s);
    }
    str_free(&path);
  }
  if (d) closedir(d);
  return found;
}

// Searches level by level: a large folder below cannot use up MOST_FILES before the levels above.
static bool search_levels(const char *folder, Search *s) {
  s->files = 0;
  for (int depth = 0; depth <= MOST_DEPTH; depth++)
    if (search(folder, depth, s)) return true;
  return false;
}

static bool program_folder(char *out, size_t room) {
  ssize_t n = readlink("/proc/self/exe", out, room - 1);
  if (n <= 0) return false;
  out[n] = 0;
  *strrchr(out, '/') = 0;
  return *out;
}

static void keep(const char *source, Str *out) {
  char folder[64];
  snprintf(folder, sizeof folder, "sources/%016llx",
           (unsigned long long)base_hash(source, strlen(source)));
  if (!ocl_cache_path(folder, "program.cl", out)) {
    str_add(out, "program.cl");
    return;
  }
  if (access(out->data, R_OK)) file_write(out->data, source, strlen(source), NULL);
}

void ocl_source_name(const char *source, Str *out) {
  char folder[4096];
  Search s = {source, strlen(source), 0, out};
  if (getcwd(folder, sizeof folder) && search_levels(folder, &s)) return;
  if (program_folder(folder, sizeof folder) && search_levels(folder, &s)) return;
  keep(source, out);
}
