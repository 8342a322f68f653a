// The driver API passes images as pointers without a size. Before following a length that an image
// claims, ask the kernel whether that much memory is there at all: a damaged image then is an error
// and not a crash of the user's process.
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "image/private.h"

static size_t page_size(void) {
  static size_t size;
  if (!size) size = (size_t)sysconf(_SC_PAGESIZE);
  return size;
}

// mincore fails with ENOMEM where a page is not mapped. It tells nothing of protection, and what it
// says about residency is not used.
static bool pages_mapped(uintptr_t first, size_t n) {
  unsigned char residency[256];
  CHECK(n <= sizeof residency);
  return mincore((void *)first, n * page_size(), residency) == 0 || errno == EAGAIN;
}

size_t mapped_bytes(const void *p, size_t want) {
  if (!p || !want) return 0;
  size_t page = page_size();
  uintptr_t start = (uintptr_t)p, end = start + want;
  if (end < start) end = UINTPTR_MAX - page;
  uintptr_t at = start & ~(uintptr_t)(page - 1);
  while (at < end) {
    size_t n = MIN((end - at + page - 1) / page, (size_t)256);
    if (!pages_mapped(at, n)) {
      while (n > 0 && pages_mapped(at, 1)) {
        at += page;
        n--;
      }
      return at <= start ? 0 : at - start;
    }
    at += n * page;
  }
  return end - start;
}

size_t mapped_string_bytes(const char *s, bool *terminated) {
  size_t page = page_size(), len = 0;
  *terminated = false;
  for (;;) {
    size_t step = page - ((uintptr_t)(s + len) & (page - 1));
    if (mapped_bytes(s + len, step) < step) return len;
    const char *end = memchr(s + len, 0, step);
    if (end) {
      *terminated = true;
      return (size_t)(end - s);
    }
    len += step;
  }
}
