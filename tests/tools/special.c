// Launches of special kinds: cooperative, in clusters, with surfaces, from many threads, on many
// streams, with dynamic shared memory.
#include "count_test.h"

static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    // all blocks meet: *p counts blocks, every thread waits until all have come
    ".visible .entry meet(.param .u64 p, .param .u32 blocks) {\n"
    "  .reg .pred %q; .reg .b32 %r<6>; .reg .b64 %a;\n"
    "  ld.param.u64 %a, [p]; ld.param.u32 %r1, [blocks]; mov.u32 %r2, %tid.x; setp.ne.u32 %q, %r2, "
    "0; @%q bra WAIT;\n"
    "  atom.global.add.u32 %r3, [%a], 1;\n"
    "AGAIN: ld.volatile.global.u32 %r4, [%a]; setp.lt.u32 %q, %r4, %r1; @%q bra AGAIN;\n"
    "WAIT: bar.sync 0; ret;\n}\n"
    ".visible .entry cluster(.param .u64 p) {\n"
    "  .reg .b32 %r<4>; .reg .b64 %a<4>;\n"
    "  ld.param.u64 %a1, [p]; mov.u32 %r1, %cluster_nctaid.x; mov.u32 %r2, %cluster_ctarank;\n"
    "  barrier.cluster.arrive; barrier.cluster.wait;\n"
    "  add.u32 %r3, %r1, %r2; red.global.add.u32 [%a1], %r3; ret;\n}\n"
    ".visible .entry surface(.param .u64 s) {\n"
    "  .reg .b32 %r<4>; .reg .b64 %a;\n"
    "  ld.param.u64 %a, [s]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, %tid.x;\n"
    "  sust.b.1d.b32.trap [%a, {%r2}], {%r3}; ret;\n}\n"
    ".extern .shared .align 4 .b8 dyn[];\n"
    ".visible .entry dynamic(.param .u64 p) {\n"
    "  .reg .b32 %r<5>; .reg .b64 %a<3>;\n"
    "  ld.param.u64 %a1, [p]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, dyn; add.u32 "
    "%r3, %r3, %r2; st.shared.u32 [%r3], %r1;\n"
    "  ld.shared.u32 %r4, [%r3]; red.global.add.u32 [%a1], %r4; ret;\n}\n";

static CUcontext ctx;
static CUfunction fill;
static void *worker(void *arg) {
  CUdeviceptr p;
  CUstream s;
  unsigned v = 1;
  OK(cuCtxSetCurrent(ctx));
  OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  OK(cuMemAlloc_v2(&p, 4096));
  for (int i = 0; i < 100; i++) OK(LAUNCH(fill, 1, 32, s, &p, &v));
  OK(cuStreamSynchronize(s));
  return arg;
}

int main(void) {
  ctx = start();
  CUmodule own = load(ptx), common = load(common_ptx);
  CUdeviceptr p = new_ints(64);
  fill = get(common, "fill");

  unsigned blocks = 8;
  OK(cuLaunchCooperativeKernel(get(own, "meet"), blocks, 1, 1, 64, 1, 1, 0, NULL,
                               (void *[]){&p, &blocks}));
  OK(cuCtxSynchronize());
  EXPECT(read_int(p) == blocks);
  launches++;
  printf("only meet atomics=8 atomic_bytes=32\n");  // how often a thread looks depends on the run

  CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                 .value.clusterDim = {2, 1, 1}};
  CUlaunchConfig config = {.gridDimX = 6,
                           .gridDimY = 1,
                           .gridDimZ = 1,
                           .blockDimX = 32,
                           .blockDimY = 1,
                           .blockDimZ = 1,
                           .attrs = &attribute,
                           .numAttrs = 1};
  OK(cuMemsetD32_v2(p, 0, 1));
  OK(cuLaunchKernelEx(&config, get(own, "cluster"), (void *[]){&p}, NULL));
  OK(cuCtxSynchronize());
  EXPECT(read_int(p) == 3 * 32 * (2 + 3));
  launches++;
  count_kernel((Counted){.kernel = "cluster",
                         .instructions = 8 * 192,
                         .warps = 48,
                         .atomics = 192,
                         .atomic_bytes = 768},
               1);

  CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 64,
                               .Format = CU_AD_FORMAT_UNSIGNED_INT32,
                               .NumChannels = 1,
                               .Flags = CUDA_ARRAY3D_SURFACE_LDST};
  CUarray array;
  CUsurfObject surface;
  OK(cuArray3DCreate_v2(&array, &d));
  CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
  OK(cuSurfObjectCreate(&surface, &r));
  OK(LAUNCH(get(own, "surface"), 1, 64, NULL, &surface));
  unsigned texels[64];
  OK(cuMemcpyAtoH_v2(texels, array, 0, sizeof texels));
  EXPECT(texels[63] == 63);
  launches++;
  count_kernel((Counted){.kernel = "surface",
                         .instructions = 6 * 64,
                         .warps = 12,
                         .stores = 64,
                         .store_bytes = 256},
               1);

  OK(cuMemsetD32_v2(p, 0, 1));
  OK(cuLaunchKernel(get(own, "dynamic"), 2, 1, 1, 96, 1, 1, 96 * 4, NULL, (void *[]){&p}, NULL));
  OK(cuCtxSynchronize());
  EXPECT(read_int(p) == 2 * 95 * 96 / 2);
  launches++;
  count_kernel((Counted){.kernel = "dynamic",
                         .instructions = 9 * 192,
                         .warps = 54,
                         .loads = 192,
                         .load_bytes = 768,
                         .stores = 192,
                         .store_bytes = 768,
                         .atomics = 192,
                         .atomic_bytes = 768},
               1);

  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, worker, NULL);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < 400; i++) count_fill(32, 1);
  return finish_counted();
}
