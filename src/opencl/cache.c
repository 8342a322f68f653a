// Compiled programs on disk: opencl/COMPILER/KEY in Warpgrind's cache folder.
#define _GNU_SOURCE

#include "opencl/opencl.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

static bool make_folders(char *path) {
  for (char *p = path + 1; *p; p++) {
    if (*p != '/') continue;
    *p = 0;
    mkdir(path, 0777);
    *p = '/';
  }
  return mkdir(path, 0777) == 0 || access(path, W_OK) == 0;
}

bool ocl_cache_path(const char *folder, const char *name, Str *out) {
  Str path = {0};
  bool ok = file_cache_folder(&path);
  if (ok) str_printf(&path, "/opencl/%s", folder);
  ok = ok && make_folders(path.data);
  if (ok) str_printf(out, "%s/%s", path.data, name);
  str_free(&path);
  return ok;
}

static void key_name(uint64_t key, char *out, size_t n) {
  snprintf(out, n, "%016llx", (unsigned long long)key);
}

static bool find_in(const char *compiler, uint64_t key, Str *out) {
  char name[32];
  Str path = {0};
  key_name(key, name, sizeof name);
  bool ok = file_cache_folder(&path);
  if (ok) str_printf(&path, "/opencl/%s/%s", compiler, name);
  ok = ok && access(path.data, R_OK) == 0 && file_read(path.data, out, NULL);
  str_free(&path);
  return ok;
}

// Without a compiler: finds the output of any compiler, for machines where none can be installed.
static bool find_in_any(uint64_t key, Str *out) {
  Str path = {0};
  bool found = false;
  if (!file_cache_folder(&path)) return false;
  str_add(&path, "/opencl");
  DIR *folder = opendir(path.data);
  for (struct dirent *d; folder && !found && (d = readdir(folder));)
    if (!strncmp(d->d_name, "clang", 5)) found = find_in(d->d_name, key, out);
  if (folder) closedir(folder);
  str_free(&path);
  return found;
}

bool ocl_cache_find(const char *compiler, uint64_t key, Str *out) {
  return compiler ? find_in(compiler, key, out) : find_in_any(key, out);
}

// Writes a temporary file and renames it: several processes may keep the same entry at once.
void ocl_cache_keep(const char *compiler, uint64_t key, const Str *text) {
  char name[32];
  Str path = {0}, part = {0};
  key_name(key, name, sizeof name);
  if (ocl_cache_path(compiler, name, &path)) {
    str_printf(&part, "%s.%d", path.data, (int)getpid());
    if (!file_write(part.data, text->data, text->len, NULL) || rename(part.data, path.data))
      unlink(part.data);
  }
  str_free(&path);
  str_free(&part);
}
