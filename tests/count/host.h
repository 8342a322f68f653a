// Runs PTX under a tool on the virtual device without a driver: instruments, loads, launches, reads
// counters.
#ifndef COUNT_HOST_H
#define COUNT_HOST_H

#include "weave/execution_rows.h"
#include "weave/pass.h"
#include "vgpu/vgpu.h"

typedef struct Loaded { Woven code; VgpuModule *module; uint64_t *counters; } Loaded;

static int failures;
#define EXPECT(what, got, want) expect(__LINE__, (what), (got), (want))
static inline void expect(int line, const char *what, uint64_t got, uint64_t want) {
  if (got == want) return;
  printf("line %d: %s: %llu, expected %llu\n", line, what, (unsigned long long)got,
         (unsigned long long)want);
  failures++;
}
static inline void die(const char *what, const char *why) {
  printf("%s: %s\n", what, why);
  exit(1);
}

static bool (*wants_kernel)(const char *name, void *user);  // of what is loaded next; NULL: all

static inline void load(Loaded *l, char *const *texts, uint32_t n, unsigned tools) {
  Error err = {""};
  PtxModule *units[8];
  for (uint32_t i = 0; i < n; i++) {
    units[i] = ptx_parse(texts[i], strlen(texts[i]), "case", &err);
    if (!units[i] || !ptx_verify(units[i], &err)) die("parse", err.text);
  }
  WeavePlan plan = {.tools = tools, .wants_kernel = wants_kernel};
  if (!weave_module(units, n, &plan, &l->code, &err)) die("instrument", err.text);
  if (getenv("SHOW")) {
    Str out = {0};
    for (uint32_t i = 0; i < n; i++) ptx_print(units[i], &out);
    puts(out.data);
  }
  l->module = vgpu_module_load(units, n, &err);
  if (!l->module) die("load", err.text);
  l->counters = vgpu_mem_alloc((l->code.ncounters + 1) * 8ull, 16);
}

static inline void unload(Loaded *l) {
  vgpu_mem_free(l->counters, (l->code.ncounters + 1) * 8ull);
  vgpu_module_unload(l->module);
  weave_free(&l->code);
}

static inline VgpuStatus launch(Loaded *l, const char *name, uint32_t grid, uint32_t block,
                                const void *params, size_t bytes, WgLaunch record) {
  const WovenKernel *k = weave_kernel(&l->code, name);
  char buffer[4096] = {0};
  if (!k || bytes > k->user_param_bytes) die("launch", name);
  if (bytes) memcpy(buffer, params, bytes);
  memcpy(buffer + k->record_offset, &record,
         MIN(k->record_bytes, sizeof record));  // a tool's own facts: none known
  VgpuLaunch launch = {.kernel = vgpu_module_kernel(l->module, name),
                       .grid = {grid, 1, 1},
                       .block = {block, 1, 1},
                       .params = buffer};
  VgpuFault fault;
  return vgpu_launch(&launch, &fault);
}

static inline void launch_counted(Loaded *l, const char *name, uint32_t grid, uint32_t block,
                                  const void *params, size_t bytes) {
  if (launch(l, name, grid, block, params, bytes,
             (WgLaunch){.counters = (uint64_t)l->counters, .launch = 1}) != VGPU_OK)
    die("launch failed", name);
}

#endif
