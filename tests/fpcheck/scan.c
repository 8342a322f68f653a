// The kernel that counts NaN and infinity in buffers (src/tools/fpcheck/scan_kernel.cu), on the
// virtual device: what it counts, what it tells, and what it leaves for the next scan.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/abi.h"
#include "tools/fpcheck/abi.h"
#include "tools/fpcheck/scan_abi.h"

enum { BLOCKS = 3, MOST = 70001 };
static CUfunction kernel;
static struct Memory {  // that kernels may touch
  WgFpHeld held[8];
  WgFpSum sum;
  WgFpEvents events;
  WgFpMemory memory;
  _Alignas(64) uint8_t data[MOST * 8];
} * m;
static int failed;

#define TRY(call) \
  do { \
    CUresult r_ = (call); \
    if (r_ != CUDA_SUCCESS) printf("FAIL %s: %d\n", #call, (int)r_), exit(1); \
  } while (0)

static void expect(const char *what, int good) {
  printf("%s %s\n", good ? "ok" : "FAIL", what);
  failed |= !good;
}

static void scan(WgFpScan *s) {
  s->held = (uintptr_t)m->held;
  s->sum = (uintptr_t)&m->sum;
  s->events = (uintptr_t)&m->events;
  s->memory = (uintptr_t)&m->memory;
  s->launch = 7;
  s->site = 40;
  void *params[] = {s};
  TRY(cuLaunchKernel(kernel, BLOCKS, 1, 1, WG_FP_SCAN_THREADS, 1, 1, 0, NULL, params, NULL));
  TRY(cuCtxSynchronize());
}

// n numbers of a format, all 1; `bad` of them are NaN or infinite.
static const struct {
  const char *name;
  WgFpFormat format;
  size_t bytes;
  uint64_t one, nan, inf;
} formats[] = {{"f16", WG_FP_F16, 2, 0x3c00, 0x7e00, 0xfc00},
               {"bf16", WG_FP_BF16, 2, 0x3f80, 0x7fc0, 0xff80},
               {"f32", WG_FP_F32, 4, 0x3f800000, 0xffc00001, 0x7f800000},
               {"f64", WG_FP_F64, 8, 0x3ff0000000000000, 0x7ff8000000000000, 0xfff0000000000000}};

static void test_format(unsigned f, size_t n) {
  size_t size = formats[f].bytes;
  uint8_t *at = m->data;
  for (size_t i = 0; i < n; i++) memcpy(at + i * size, &formats[f].one, size);
  WgFpScan s = {.nparts = 1, .behind = 1, .ninputs = 1, .inputs = {5}};
  s.parts[0] = (WgFpPart){(uintptr_t)at, n * size, 3, formats[f].format};
  memset(m->held, 0, sizeof m->held);
  memset(&m->events, 0, sizeof m->events);
  memset(&m->memory, 0, sizeof m->memory);
  char name[64];
  scan(&s);
  snprintf(name, sizeof name, "%s.%zu.clean", formats[f].name, n);
  expect(name, !m->held[3].nan && !m->held[3].inf && !m->events.written && !m->sum.blocks);
  memcpy(at + n / 2 * size, &formats[f].inf, size);
  memcpy(at + (n - 1) * size, &formats[f].nan, size);  // the last one
  scan(&s);
  const WgFpEvent *e = &m->events.list[0];
  snprintf(name, sizeof name, "%s.%zu.told", formats[f].name, n);
  expect(name, m->held[3].nan == 1 && m->held[3].inf == (n > 1) && m->events.written == 1 &&
                   e->sequence == 1 && e->launch == 7 && e->buffer == 3 && e->nan == 1 &&
                   !e->inputs && e->first == (uintptr_t)(at + n / 2 * size));
  uint32_t hash = wg_fp_hash((uintptr_t)(at + (n - 1) * size) >> WG_FP_PAGE_SHIFT);
  uint64_t writer = m->memory.pages[WG_FP_PAGE_ENTRY(hash)];
  snprintf(name, sizeof name, "%s.%zu.writer", formats[f].name, n);
  expect(name,
         WG_FP_WRITER_LAUNCH(writer) == 7 && WG_FP_WRITER_SITE(writer) == 40u + formats[f].format);
  scan(&s);
  snprintf(name, sizeof name, "%s.%zu.once", formats[f].name, n);
  expect(name, m->events.written == 1 && m->held[3].nan == 1);
}

// What was there before, and what came in, is said with the event.
static void test_inputs(void) {
  float *at = (float *)m->data;
  for (int i = 0; i < 1024; i++) at[i] = NAN;
  WgFpScan s = {.nparts = 1, .ninputs = 2, .inputs = {5, 6 | WG_FP_GUESSED}};
  s.parts[0] = (WgFpPart){(uintptr_t)at, 4096, 3, WG_FP_F32};
  memset(m->held, 0, sizeof m->held);
  memset(&m->events, 0, sizeof m->events);
  scan(&s);
  expect("before.counted", m->held[3].nan == 1024 && !m->events.written);
  m->held[3].nan = 1000;
  m->held[5].inf = 1;
  m->held[6].nan = 2;
  s.behind = 1;
  scan(&s);
  expect("behind.inputs",
         m->events.written == 1 && m->events.list[0].nan_before == 1000 &&
             m->events.list[0].inputs == (WG_FP_INPUT_INF | WG_FP_INPUT_NAN * WG_FP_INPUT_GUESSED));
  m->held[3].nan = 0;
  m->events.list[1].sequence = 99;  // the host has not read it
  scan(&s);
  expect("full.lost", m->events.lost == 1 && m->events.written == 2);
}

int main(int n, char **args) {
  CUdevice device;
  CUcontext context;
  CUmodule module;
  (void)n;
  FILE *f = fopen(args[1], "r");
  static char text[1 << 20];
  text[fread(text, 1, sizeof text - 1, f)] = 0;
  fclose(f);
  TRY(cuInit(0));
  TRY(cuDeviceGet(&device, 0));
  TRY(cuCtxCreate_v2(&context, 0, device));
  TRY(cuModuleLoadData(&module, text));
  TRY(cuModuleGetFunction(&kernel, module, "wg_fp_scan"));
  TRY(cuMemAllocHost_v2((void **)&m, sizeof *m));
  memset(m, 0, sizeof *m);
  static const size_t sizes[] = {1, 7, 1000, MOST};
  for (unsigned k = 0; k < sizeof formats / sizeof formats[0]; k++)
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) test_format(k, sizes[i]);
  test_inputs();
  return failed;
}
