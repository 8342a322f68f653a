// The compiler of the virtual device: a program of its own, so that LLVM is never in the process of
// the user's program, and a crash of it costs nothing.
#ifndef WG_JIT_HELPER_H
#define WG_JIT_HELPER_H

#include <stddef.h>
#include <stdint.h>

typedef struct Blob {
  unsigned char *bytes;
  size_t size;
  size_t entry;
} Blob;

// --- flatten.c ---
// An ELF object as one piece of code and constants that runs wherever it is put, at the start of a
// page. NULL: it is; else why it cannot be.
const char *flatten_object(const unsigned char *elf, size_t n, const char *entry, Blob *out);

#endif
