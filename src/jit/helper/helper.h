// The compiler of the virtual device: a program of its own, so that LLVM is never in the process of
// the user's program, and a crash of LLVM does no harm.
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
// Turns an ELF object into one piece of code and constants that runs at the start of any page.
// Returns NULL, or the reason why it cannot.
const char *flatten_object(const unsigned char *elf, size_t n, const char *entry, Blob *out);

#endif
