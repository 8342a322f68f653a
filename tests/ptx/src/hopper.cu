// arch: 90a 100
// Asynchronous copies with mbarriers, wgmma, clusters: only newer architectures have them.
#include <cuda/barrier>
__global__ void __cluster_dims__(2, 1, 1) hopper(const int4 *in, int4 *out, int n) {
  __shared__ alignas(128) int4 tile[64];
  __shared__ alignas(8) unsigned long long bar;
  unsigned b = (unsigned)__cvta_generic_to_shared(&bar),
           t = (unsigned)__cvta_generic_to_shared(tile);
  if (threadIdx.x == 0) {
    asm volatile(
        "mbarrier.init.shared.b64 [%0], %1;\nfence.mbarrier_init.release.cluster;" ::"r"(b),
        "r"(1));
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(b), "r"(1024));
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(t),
        "l"(in), "r"(1024), "r"(b)
        : "memory");
  }
  asm volatile("{\n.reg .pred done;\nWAIT:\nmbarrier.try_wait.parity.shared.b64 done, [%0], "
               "0;\n@done bra DONE;\nbra WAIT;\nDONE:\n}" ::"r"(b)
               : "memory");
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
  unsigned leader = 0;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}"
               : "=r"(leader));
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  float d[4] = {0, 0, 0, 0};
  unsigned long long desc = n;
  asm volatile("wgmma.fence.sync.aligned;\n{\n.reg .pred p;\nsetp.ne.b32 p, %5, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %4, p, 1, "
               "1, 0, 0;\n}\n"
               "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "l"(desc), "r"(n));
  out[threadIdx.x + 64].x = (int)(d[0] + d[1] + d[2] + d[3]);
#endif
  out[threadIdx.x] = tile[(threadIdx.x + leader) % 64];
}
