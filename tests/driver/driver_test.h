// What the driver's test programs share. Each is a plain C program against the driver API with its
// kernels as PTX text; checks that fail print a line, and the last line says whether all held.
#ifndef DRIVER_TEST_H
#define DRIVER_TEST_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cuda/abi.h"

static _Atomic int failures;

#define EXPECT(cond) \
  do { \
    if (!(cond)) { \
      printf("line %d: %s does not hold\n", __LINE__, #cond); \
      failures++; \
    } \
  } while (0)

static inline const char *name_of(CUresult r) {
  const char *s = "?";
  cuGetErrorName(r, &s);
  return s ? s : "unknown";
}

#define RETURNS(call, error) \
  do { \
    CUresult got_ = (call); \
    if (got_ != (error)) { \
      printf("line %d: %s returned %s, not %s\n", __LINE__, #call, name_of(got_), #error); \
      failures++; \
    } \
  } while (0)
#define OK(call) RETURNS(call, CUDA_SUCCESS)

static inline int finish(void) {
  if (failures) printf("%d checks failed\n", failures);
  else printf("all checks passed\n");
  return failures != 0;
}

static inline void sleep_ms(int ms) {
  nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}

static inline double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#define PTX_HEADER ".version 7.8\n.target sm_75\n.address_size 64\n"

// add(p, n, v): p[i] += v for i < n.  fill(p, v): p[i] = v for all threads.
// spin(flag, out): waits until *flag is not 0, then *out = *flag + 1.
// bump(): counter += 1 (a module variable that starts at 7).  bad(): writes to address 16.
static const char common_ptx[] = PTX_HEADER
    ".visible .global .align 4 .u32 counter = 7;\n"
    ".visible .const .align 4 .u32 factor = 3;\n"
    ".visible .entry add(.param .u64 p, .param .u32 n, .param .u32 v) {\n"
    "  .reg .pred %q; .reg .b32 %r<8>; .reg .b64 %a<4>;\n"
    "  ld.param.u64 %a1, [p]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [v];\n"
    "  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;\n"
    "  mad.lo.s32 %r6, %r3, %r4, %r5; setp.ge.u32 %q, %r6, %r1; @%q bra END;\n"
    "  cvta.to.global.u64 %a1, %a1; mul.wide.u32 %a2, %r6, 4; add.s64 %a3, %a1, %a2;\n"
    "  ld.global.u32 %r7, [%a3]; add.u32 %r7, %r7, %r2; st.global.u32 [%a3], %r7;\n"
    "END: ret;\n}\n"
    ".visible .entry fill(.param .u64 p, .param .u32 v) {\n"
    "  .reg .b32 %r<6>; .reg .b64 %a<4>;\n"
    "  ld.param.u64 %a1, [p]; ld.param.u32 %r1, [v];\n"
    "  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, "
    "%r4;\n"
    "  mul.wide.u32 %a2, %r5, 4; add.s64 %a3, %a1, %a2; st.global.u32 [%a3], %r1; ret;\n}\n"
    ".visible .entry spin(.param .u64 flag, .param .u64 out) {\n"
    "  .reg .pred %q; .reg .b32 %r<3>; .reg .b64 %a<3>;\n"
    "  ld.param.u64 %a1, [flag]; ld.param.u64 %a2, [out];\n"
    "AGAIN: ld.volatile.global.u32 %r1, [%a1]; setp.eq.u32 %q, %r1, 0; @%q bra AGAIN;\n"
    "  add.u32 %r2, %r1, 1; st.volatile.global.u32 [%a2], %r2; ret;\n}\n"
    ".visible .entry bump() {\n"
    "  .reg .b32 %r<2>;\n"
    "  ld.global.u32 %r1, [counter]; add.u32 %r1, %r1, 1; st.global.u32 [counter], %r1; ret;\n}\n"
    ".visible .entry bad() {\n"
    "  .reg .b64 %a;\n"
    "  mov.u64 %a, 16; st.global.u64 [%a], %a; ret;\n}\n";

static inline CUcontext start(void) {
  CUcontext ctx;
  OK(cuInit(0));
  OK(cuDevicePrimaryCtxRetain(&ctx, 0));
  OK(cuCtxSetCurrent(ctx));
  return ctx;
}

static inline CUmodule load(const char *ptx) {
  CUmodule m = NULL;
  OK(cuModuleLoadData(&m, ptx));
  return m;
}

static inline CUfunction get(CUmodule m, const char *name) {
  CUfunction f = NULL;
  OK(cuModuleGetFunction(&f, m, name));
  return f;
}

static inline CUdeviceptr new_ints(unsigned n) {
  CUdeviceptr p = 0;
  OK(cuMemAlloc_v2(&p, n * 4));
  OK(cuMemsetD32_v2(p, 0, n));
  return p;
}

static inline unsigned read_int(CUdeviceptr p) {
  unsigned v = 0xdeadbeef;
  OK(cuMemcpyDtoH_v2(&v, p, 4));
  return v;
}

// Launches with the given stream; arguments are pointers to values.
#define LAUNCH(f, blocks, threads, stream, ...) \
  cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, 0, stream, (void *[]){__VA_ARGS__}, NULL)

#endif
