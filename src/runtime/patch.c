// Code pages: made writable and executable again, and new ones within reach of a near jump.
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>
#include "runtime/internal.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static void page_range(const void *start, size_t size, void **first, size_t *bytes) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), a = (uintptr_t)start & ~(page - 1),
            b = ((uintptr_t)start + size + page - 1) & ~(page - 1);
  *first = (void *)a;
  *bytes = b - a;
}

// Keeps the pages executable if the system allows it: other threads may be running there.
bool patch_make_writable(const void *start, size_t size) {
  void *first;
  size_t bytes;
  page_range(start, size, &first, &bytes);
  return mprotect(first, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) == 0 ||
         mprotect(first, bytes, PROT_READ | PROT_WRITE) == 0;
}

void patch_make_executable(const void *start, size_t size) {
  void *first;
  size_t bytes;
  page_range(start, size, &first, &bytes);
  mprotect(first, bytes, PROT_READ | PROT_EXEC);
  __builtin___clear_cache((char *)start, (char *)start + size);
}

static uint8_t *try_at(uintptr_t address, size_t size) {
  void *p = mmap((void *)address, size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (p == MAP_FAILED) return NULL;
  if (p == (void *)address) return p;
  munmap(p, size);  // a Linux kernel without MAP_FIXED_NOREPLACE takes the address as a hint
  return NULL;
}

uint8_t *patch_alloc_near(const void *start, const void *end, size_t size) {
  void *first;
  page_range(NULL, size, &first, &size);
  const uintptr_t step = 1 << 16, low = (uintptr_t)start & ~(step - 1),
                  high = ((uintptr_t)end + step - 1) & ~(step - 1);
  int64_t reach = patch_near_reach - (int64_t)(high - low) - (int64_t)size;
  for (int64_t d = 0; d < reach; d += (int64_t)step) {
    uint8_t *p = try_at(high + (uintptr_t)d, size);
    if (!p && (uintptr_t)d + size + step < low)
      p = try_at(low - (uintptr_t)d - ((size + step - 1) & ~(step - 1)), size);
    if (p) return p;
  }
  return NULL;
}
