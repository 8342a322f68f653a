// jit: machine code for LLVM text, from a compiler in a process of its own.
//
// Whatever goes wrong there (no such program, a crash, no answer in time) is an Error here, and
// nothing is lost: the caller goes on without compiled code. All functions are thread-safe.
#ifndef WG_JIT_H
#define WG_JIT_H

#include "base/base.h"

// --- client.c ---
typedef struct JitCode {
  void *entry;  // the function JIT_FUNCTION of the text
  void *memory;
  size_t bytes;
} JitCode;
bool jit_possible(Error *why);  // this CPU has what compiled code needs, and the compiler is there
// Blocks until the code is there, for minutes in the worst case. only_kept: code of an earlier run
// or none, at once.
bool jit_compile(const Str *text, bool only_kept, JitCode *out, Error *err);
void jit_free(JitCode *code);

// --- cache.c: compiled code of earlier runs ---
typedef struct JitKey {
  uint64_t low, high;
} JitKey;
// maker: which compiler, for which CPU
JitKey jit_key(const Str *text, const char *maker);
// bytes: an entry offset of 4 bytes, then code
bool jit_cache_get(JitKey key, Str *bytes);
void jit_cache_put(JitKey key, const Str *bytes);

#endif
