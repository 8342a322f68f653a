// C++ names, demangled. The C++ library's own function does it, where that library is installed: it
// is opened when first needed, so that the command does not depend on it.
#include "symbol/internal.h"

#include <dlfcn.h>

typedef char *Demangle(const char *name, char *buffer, size_t *length, int *status);

// nvcc puts functions of one file only into a namespace of its own making,
// _INTERNAL_255ebfc7_7_some_cu_982e5126::, which is not in the source and changes with the file.
static void drop_internal(char *name) {
  static const char start[] = "_INTERNAL_";
  for (char *at = name; (at = strstr(at, start));) {
    size_t n = strspn(at, "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
    bool whole = n > sizeof start + 16 && strspn(at + n - 8, "0123456789abcdef") == 8 &&
                 strncmp(at + n, "::", 2) == 0;
    if (whole) memmove(at, at + n + 2, strlen(at + n + 2) + 1);
    else at += n;
  }
}

const char *symbol_readable_name(SymbolStore *s, const char *linkage_name) {
  static Demangle *demangle;
  static bool looked;
  if (strncmp(linkage_name, "_Z", 2) != 0) return symbol_text(s, linkage_name);
  const char *known = strmap_get(&s->names, linkage_name);
  if (known) return known;
  if (!looked) {
    looked = true;
    void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
    if (library) demangle = (Demangle *)(uintptr_t)dlsym(library, "__cxa_demangle");
  }
  int status = -1;
  char *text = demangle ? demangle(linkage_name, NULL, NULL, &status) : NULL;
  if (status == 0 && text) drop_internal(text);
  const char *name = symbol_text(s, status == 0 && text ? text : linkage_name);
  free(text);
  strmap_put(&s->names, symbol_text(s, linkage_name), (void *)name);
  return name;
}
