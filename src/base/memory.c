// Allocation that ends the process with exit code 125 when there is no memory.
#include "base/base.h"

#include <unistd.h>

static _Noreturn void out_of_memory(size_t size) {
  log_error("out of memory (asked for %zu bytes)", size);
  _exit(125);
}

void *mem_alloc(size_t size) {
  void *p = calloc(1, size ? size : 1);
  if (!p) out_of_memory(size);
  return p;
}

void *mem_realloc(void *p, size_t size) {
  p = realloc(p, size ? size : 1);
  if (!p) out_of_memory(size);
  return p;
}

char *mem_strdup(const char *s) {
  size_t n = strlen(s) + 1;
  return memcpy(mem_alloc(n), s, n);
}

#ifdef WARPGRIND_STRESS
enum { VEC_FIRST = 1 };  // elements move early and often
#else
enum { VEC_FIRST = 8 };
#endif

void *vec_grow(void *data, uint32_t *cap, size_t elem) {
  *cap = *cap ? *cap * 2 : VEC_FIRST;
  return mem_realloc(data, *cap * elem);
}
