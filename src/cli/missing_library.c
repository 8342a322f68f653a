// Says what to install if the dynamic linker did not start a program because a library is missing.
#define _GNU_SOURCE

#include "cli/cli.h"

#include <dlfcn.h>

static const struct {
  const char *prefix, *name, *install;
} installable[] = {
#define INSTALLABLE(prefix, name, install) {prefix, name, install},
#include "cli/installable.def"
#undef INSTALLABLE
};

// Finds the name of a library that the program needs: a string of its file with this prefix.
static const char *needed(const Str *file, const char *prefix) {
  const char *at = file->data;
  size_t left = file->len, n = strlen(prefix);
  while ((at = memmem(at, left, prefix, n))) {
    if (at > file->data && !at[-1] && strstr(at, ".so.")) return at;
    at += n;
    left = file->len - (size_t)(at - file->data);
  }
  return NULL;
}

void cli_name_missing_libraries(const char *program) {
  Str file = {0};
  if (!file_read(program, &file, NULL)) return;
  for (size_t i = 0; i < ARRAY_LEN(installable); i++) {
    const char *library = needed(&file, installable[i].prefix);
    void *found = library ? dlopen(library, RTLD_LAZY | RTLD_LOCAL) : NULL;
    if (library && !found)
      log_error("%s needs %s (%s), which is not installed: %s", program, library,
                installable[i].name, installable[i].install);
    if (found) dlclose(found);
  }
  str_free(&file);
}
