// Launches: every way to pass parameters, limits, attributes, occupancy, errors that stay, many
// small launches.
// prints: all checks passed
// timeout: 180
#include "driver_test.h"

// grid_sum(p): every block adds 1 to p[0], all wait for each other (cooperative), then block 0
// copies the sum to p[1]. ranks(p): p[ctaid] = rank of the block in its cluster.
static const char ptx[] =
    ".version 7.8\n.target sm_90\n.address_size 64\n"
    ".visible .entry ranks(.param .u64 p) {\n"
    "  .reg .b32 %r<3>; .reg .b64 %a<3>;\n"
    "  ld.param.u64 %a1, [p]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %cluster_ctarank; mul.wide.u32 "
    "%a2, %r1, 4; add.u64 %a1, %a1, %a2;\n"
    "  st.global.u32 [%a1], %r2; ret;\n}\n"
    ".visible .entry pair(.param .align 16 .b8 s[32], .param .u64 out) {\n"
    "  .reg .b64 %a<4>;\n"
    "  ld.param.u64 %a1, [s]; ld.param.u64 %a2, [s+24]; ld.param.u64 %a3, [out]; st.global.u64 "
    "[%a3], %a1; st.global.u64 [%a3+8], %a2; ret;\n}\n"
    ".extern .shared .align 16 .b8 dyn[];\n"
    ".visible .entry use_shared(.param .u64 p, .param .u32 bytes) {\n"
    "  .reg .b32 %r<4>; .reg .b64 %a<2>;\n"
    "  ld.param.u64 %a1, [p]; ld.param.u32 %r1, [bytes]; mov.u32 %r2, dyn; add.u32 %r2, %r2, %r1;\n"
    "  st.shared.u32 [%r2+-4], %r1; ld.shared.u32 %r3, [%r2+-4]; st.global.u32 [%a1], %r3; "
    "ret;\n}\n"
    ".visible .entry small() .maxntid 64, 1, 1 { ret; }\n"
    ".visible .entry trap_now() { trap; }\n";

static CUfunction add, ranks, pair, use_shared, small;

static void parameters(void) {
  CUdeviceptr p = new_ints(8);
  struct { uint64_t a, b, c, d; } s = {1, 2, 3, 4};
  OK(LAUNCH(pair, 1, 1, NULL, &s, &p));
  EXPECT(read_int(p) == 1 && read_int(p + 8) == 4);
  struct { uint64_t a, b, c, d; CUdeviceptr out; } buffer = {5, 6, 7, 8, p};
  size_t size = sizeof buffer;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  OK(cuLaunchKernel(pair, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
  EXPECT(read_int(p) == 5 && read_int(p + 8) == 8);
  RETURNS(cuLaunchKernel(pair, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&s, &p}, extra),
          CUDA_ERROR_INVALID_VALUE);
  size = 8;
  RETURNS(cuLaunchKernel(pair, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra), CUDA_ERROR_INVALID_VALUE);
  RETURNS(cuLaunchKernel(pair, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
  // The oldest interface.
  OK(cuMemsetD32_v2(p, 0, 1));
  OK(cuFuncSetBlockShape(add, 1, 1, 1));
  OK(cuParamSetSize(add, 16));
  OK(cuParamSetv(add, 0, &p, 8));
  OK(cuParamSeti(add, 8, 1));
  OK(cuParamSeti(add, 12, 9));
  OK(cuLaunch(add));
  EXPECT(read_int(p) == 9);
  OK(cuMemFree_v2(p));
}

static void limits(void) {
  CUdeviceptr p = new_ints(4);
  int value;
  RETURNS(cuLaunchKernel(small, 0, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
  RETURNS(cuLaunchKernel(small, 1, 65536, 1, 1, 1, 1, 0, NULL, NULL, NULL),
          CUDA_ERROR_INVALID_VALUE);
  RETURNS(cuLaunchKernel(small, 1, 1, 1, 1, 1, 65, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
  RETURNS(cuLaunchKernel(small, 1, 1, 1, 1025, 1, 1, 0, NULL, NULL, NULL),
          CUDA_ERROR_INVALID_VALUE);
  OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, small));
  EXPECT(value == 64);
  RETURNS(cuLaunchKernel(small, 1, 1, 1, 65, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
  OK(cuLaunchKernel(small, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
  unsigned bytes = 100000;
  RETURNS(cuLaunchKernel(use_shared, 1, 1, 1, 1, 1, 1, bytes, NULL, (void *[]){&p, &bytes}, NULL),
          CUDA_ERROR_INVALID_VALUE);
  OK(cuFuncSetAttribute(use_shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes));
  OK(cuLaunchKernel(use_shared, 1, 1, 1, 1, 1, 1, bytes, NULL, (void *[]){&p, &bytes}, NULL));
  EXPECT(read_int(p) == bytes);
  RETURNS(cuFuncSetAttribute(use_shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 300000),
          CUDA_ERROR_INVALID_VALUE);
  RETURNS(cuLaunchCooperativeKernel(small, 1000000, 1, 1, 32, 1, 1, 0, NULL, NULL),
          CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  OK(cuLaunchCooperativeKernel(small, 16, 1, 1, 32, 1, 1, 0, NULL, NULL));
  OK(cuCtxSynchronize());
  OK(cuMemFree_v2(p));
}

static void attributes(void) {
  CUdeviceptr p = new_ints(8);
  CUevent e;
  CUstream s;
  OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
  CUlaunchAttribute a[3] = {
      {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {4, 1, 1}},
      {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
       .value.programmaticStreamSerializationAllowed = 1},
      {.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, .value.launchCompletionEvent = {e, 0}}};
  CUlaunchConfig c = {.gridDimX = 8,
                      .gridDimY = 1,
                      .gridDimZ = 1,
                      .blockDimX = 1,
                      .blockDimY = 1,
                      .blockDimZ = 1,
                      .hStream = s,
                      .attrs = a,
                      .numAttrs = 3};
  OK(cuLaunchKernelEx(&c, ranks, (void *[]){&p}, NULL));
  OK(cuEventSynchronize(e));
  EXPECT(read_int(p) == 0 && read_int(p + 12) == 3 && read_int(p + 16) == 0 &&
         read_int(p + 28) == 3);
  c.gridDimX = 6;
  RETURNS(cuLaunchKernelEx(&c, ranks, (void *[]){&p}, NULL), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  c.gridDimX = 32;
  a[0].value.clusterDim.x = 16;
  RETURNS(cuLaunchKernelEx(&c, ranks, (void *[]){&p}, NULL), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  a[0].id = (CUlaunchAttributeID)77;
  RETURNS(cuLaunchKernelEx(&c, ranks, (void *[]){&p}, NULL), CUDA_ERROR_INVALID_VALUE);
  OK(cuStreamDestroy_v2(s));
  OK(cuMemFree_v2(p));
}

static size_t four_per_thread(int threads) { return (size_t)threads * 4; }

static void occupancy(void) {
  int blocks, grid, block;
  size_t shared;
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 0));
  EXPECT(blocks == 8);
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 100000));
  EXPECT(blocks >= 1 && blocks <= 2);
  OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, add, NULL, 0, 0));
  EXPECT(block == 1024 && grid == 2 * 132);
  OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, add, four_per_thread, 0, 200));
  EXPECT(block > 0 && block <= 200);
  OK(cuOccupancyAvailableDynamicSMemPerBlock(&shared, add, 2, 256));
  EXPECT(shared > 100000 && shared < 120000);
  RETURNS(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 0, 0),
          CUDA_ERROR_INVALID_VALUE);
}

static void many(void) {
  CUdeviceptr p = new_ints(32);
  unsigned n = 32, one = 1;
  double t = seconds();
  for (int i = 0; i < 20000; i++) OK(LAUNCH(add, 1, 32, NULL, &p, &n, &one));
  OK(cuCtxSynchronize());
  for (int i = 0; i < 2000; i++) {
    OK(LAUNCH(add, 1, 32, NULL, &p, &n, &one));
    OK(cuStreamSynchronize(NULL));
  }
  t = seconds() - t;
  EXPECT(read_int(p + 124) == 22000);
  if (t > 60) printf("22000 small launches took %.1f s\n", t);
  EXPECT(t < 60);
  OK(cuMemFree_v2(p));
}

// The first error stays with the context; every later call returns it.
static void errors_stay(CUfunction bad) {
  CUcontext ctx;
  CUdeviceptr p;
  const char *name, *text;
  OK(cuCtxGetCurrent(&ctx));
  OK(cuLaunchKernel(bad, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  RETURNS(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  RETURNS(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  RETURNS(cuMemAlloc_v2(&p, 4), CUDA_ERROR_LAUNCH_FAILED);
  RETURNS(cuStreamQuery(NULL), CUDA_ERROR_LAUNCH_FAILED);
  OK(cuGetErrorName(CUDA_ERROR_LAUNCH_FAILED, &name));
  OK(cuGetErrorString(CUDA_ERROR_LAUNCH_FAILED, &text));
  EXPECT(!strcmp(name, "CUDA_ERROR_LAUNCH_FAILED") && !strcmp(text, "unspecified launch failure"));
  RETURNS(cuGetErrorName((CUresult)12345, &name), CUDA_ERROR_INVALID_VALUE);
  EXPECT(name == NULL);
  // A reset makes the device usable again.
  OK(cuDevicePrimaryCtxReset_v2(0));
  OK(cuDevicePrimaryCtxRetain(&ctx, 0));
  OK(cuMemAlloc_v2(&p, 4));
}

int main(void) {
  start();
  CUmodule m = load(ptx), common = load(common_ptx);
  add = get(common, "add");
  ranks = get(m, "ranks");
  pair = get(m, "pair");
  use_shared = get(m, "use_shared");
  small = get(m, "small");
  parameters();
  limits();
  attributes();
  occupancy();
  many();
  errors_stay(get(m, "trap_now"));
  return finish();
}
