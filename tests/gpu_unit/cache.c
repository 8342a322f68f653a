// Keys of the code cache, its files, and modules that are loaded more than once.
#include <sys/stat.h>
#include <unistd.h>

#include "fake_driver.h"
#include "gpu/modules/modules.h"
#include "tools/tool.h"
#include "unit.h"

static const Tool tool = {.only_counts = true};
const Tool *const tool_table[TOOL_COUNT_] = {[TOOL_COUNT] = &tool};

static bool same(GpuHash a, GpuHash b) { return a.low == b.low && a.high == b.high; }
static const GpuHash none;

static void test_hash(void) {
  static const char zeros[64];
  GpuHash seen[64];
  for (size_t n = 0; n < ARRAY_LEN(seen); n++) {  // a short block is filled with zeros
    seen[n] = gpu_hash(zeros, n, none);
    for (size_t k = 0; k < n; k++) EXPECT(!same(seen[n], seen[k]));
  }
  EXPECT(same(gpu_hash("abc", 3, none), gpu_hash("abc", 3, none)));
  EXPECT(!same(gpu_hash("abc", 3, none), gpu_hash("abc", 3, (GpuHash){0, 1})));
  // the border between two texts counts
  EXPECT(!same(gpu_hash_text("c", gpu_hash_text("ab", none)),
               gpu_hash_text("bc", gpu_hash_text("a", none))));
}

static void *number(uintptr_t n) { return (void *)n; }

static void test_options(void) {
  CUjit_option names[] = {CU_JIT_MAX_REGISTERS, CU_JIT_OPTIMIZATION_LEVEL};
  GpuJit a, b, c, d;
  gpu_jit_keep(&a, 2, names, (void *[]){number(32), number(3)});
  gpu_jit_keep(&b, 2, names, (void *[]){number(32), number(3)});
  gpu_jit_keep(&c, 2, names, (void *[]){number(64), number(3)});
  gpu_jit_keep(&d, 1, names, (void *[]){number(32)});
  EXPECT(same(gpu_jit_hash(&a, none), gpu_jit_hash(&b, none)));
  EXPECT(!same(gpu_jit_hash(&a, none), gpu_jit_hash(&c, none)));
  EXPECT(!same(gpu_jit_hash(&a, none), gpu_jit_hash(&d, none)));
  // a buffer for the compiler's messages changes nothing
  char log[16];
  CUjit_option logged[] = {CU_JIT_MAX_REGISTERS, CU_JIT_INFO_LOG_BUFFER};
  gpu_jit_keep(&b, 2, logged, (void *[]){number(32), log});
  EXPECT(same(gpu_jit_hash(&d, none), gpu_jit_hash(&b, none)));
  b.needs_fatbin = true;
  EXPECT(!same(gpu_jit_hash(&d, none), gpu_jit_hash(&b, none)));
  b.needs_fatbin = false;
  // options that ptxas got when the program was built count too
  gpu_jit_add_ptxas(&b, "--fmad=false");
  EXPECT(!same(gpu_jit_hash(&d, none), gpu_jit_hash(&b, none)));
}

static void test_files(void) {
  GpuHash key = gpu_hash("k", 1, none), other = {key.low + 1, key.high};
  Str out = {0};
  EXPECT(!gpu_cache_get(key, "ptx", &out));
  gpu_cache_put(key, "ptx", "hello", 5);
  EXPECT(gpu_cache_get(key, "ptx", &out) && out.len == 5 && !memcmp(out.data, "hello", 5));
  EXPECT(!gpu_cache_get(key, "bin", &out) && !gpu_cache_get(other, "ptx", &out));
  gpu_cache_put(key, "ptx", "", 0);
  EXPECT(gpu_cache_get(key, "ptx", &out) && out.len == 0);
  gpu_cache_drop(key, "ptx");
  EXPECT(!gpu_cache_get(key, "ptx", &out));
  str_free(&out);
}

// A damaged file is not used, and is removed.
static void test_damaged(void) {
  GpuHash key = gpu_hash("damaged", 7, none);
  Str out = {0};
  char path[256];
  snprintf(path, sizeof path, "cache/%02x/%016llx%016llx.ptx", (unsigned)(key.high >> 56),
           (unsigned long long)key.high, (unsigned long long)key.low);
  gpu_cache_put(key, "ptx", "contents", 8);
  FILE *f = fopen(path, "r+");
  EXPECT(f != NULL);
  if (!f) return;
  fseek(f, -1, SEEK_END);
  fputc('X', f);
  fclose(f);
  EXPECT(!gpu_cache_get(key, "ptx", &out) && access(path, F_OK) != 0);
  gpu_cache_put(key, "ptx", "contents", 8);
  EXPECT(truncate(path, 20) == 0);
  EXPECT(!gpu_cache_get(key, "ptx", &out) && access(path, F_OK) != 0);
}

// The same image in two contexts is one module for the session, and its pieces are told once.
static void test_shared_modules(void) {
  ImageEntry unit = {0};
  GpuCode code = {.units = &unit, .nunits = 1, .name = "m.cu", .what = "fatbin"};
  GpuCode bare = {.name = "m.cu", .what = "cubin"};
  GpuHash key = {5, 6}, near = {5, 7};
  GpuShared *first = gpu_shared(&code, key);
  EXPECT(gpu_shared(&code, key) == first);
  EXPECT(gpu_shared(&code, near) != first);  // the same low half
  EXPECT(gpu_shared(&code, key) == first);
  EXPECT(gpu_shared(&bare, key) != first && gpu_shared(&bare, key) != gpu_shared(&bare, key));
  SessionModule *m = gpu_shared_session(first);
  EXPECT(gpu_shared_tell(first, 1, &(Woven){0}) && gpu_shared_tell(first, 0, &(Woven){0}));
  EXPECT(!gpu_shared_tell(first, 1, &(Woven){0}) && !gpu_shared_tell(first, 0, &(Woven){0}));
  EXPECT(m->pieces && m->pieces->next && !m->pieces->next->next);
}

int main(void) {
  setenv("WARPGRIND_TOOL", "count", 1);
  mkdir("cache", 0700);
  setenv("WARPGRIND_CACHE_DIR", "cache", 1);
  session_start("gpu");
  fake_driver_install();
  SUBJECT(hash);
  SUBJECT(options);
  SUBJECT(files);
  SUBJECT(damaged);
  SUBJECT(shared_modules);
}
