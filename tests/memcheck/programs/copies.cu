// Asynchronous copies that leave memory: cp.async at either end, bulk copies at either end. Whoever
// waits for the bytes of one that is left out goes on.
// arch: compute_90
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#define OK(call) \
  do { \
    cudaError_t e = (call); \
    if (e != cudaSuccess) { \
      printf("%s\n", cudaGetErrorString(e)); \
      exit(1); \
    } \
  } while (0)
#ifndef MORE
#define MORE 1
#endif
enum { BYTES = 512 };
__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__global__ void each(const char *a, char *b, int *out, int n) {
  __shared__ __align__(16) char tile[BYTES];
  __shared__ uint64_t barrier;
  int i = threadIdx.x;
  *(int4 *)(tile + 16 * i) = int4{};
  if (!i) asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(at(&barrier)));
  __syncthreads();
  // the last lanes' addresses are outside, and they copy nothing from there
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at(tile + 4 * i)),
               "l"(a + 4 * (i < 24 ? i : i + 1000)), "r"(i < 24 ? 4 : 0));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(at(tile + 16 * i)),
               "l"(a + 16 * (i < 24 ? i : i + 8 * MORE)));  // finds: oob-read count=8
  if (i < 2)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(
                     at(tile + BYTES - 8 + 8 * i * MORE - 8 * (1 - MORE) * i)),
                 "l"(a));  // finds: oob-write count=1
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at(tile + 4 * i)),
               "l"(a + 4 * i + (i != 0) * MORE));  // finds: misaligned count=31
  asm volatile("cp.async.wait_all;");
  __syncthreads();
  // a bulk copy of more than there is
  if (!i) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(at(&barrier)), "r"(n));
    asm volatile("fence.proxy.async;");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
        // finds-next: oob-read count=1
        :: "r"(at(tile)), "l"(a + 64 * MORE), "r"(n), "r"(at(&barrier)) : "memory");
  }
  int done = 0;
  while (!done)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.s32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(at(&barrier))
        : "memory");
  out[i] = tile[i];
  if (!i) {
    asm volatile("fence.proxy.async;");
    asm volatile(
        "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
        :: "l"(b + 16 * MORE), "r"(at(tile)), "r"(n) : "memory");  // finds: oob-write count=1
    asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(at(&barrier)), "r"(n));
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
        // finds-next: oob-write count=1
        :: "r"(at(tile + 16 * MORE)), "l"(a), "r"(n), "r"(at(&barrier)) : "memory");
  }
  for (done = 0; !done;)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 1; selp.s32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(at(&barrier))
        : "memory");
}

int main() {
  char *a, *b; int *out;
  OK(cudaMalloc(&a, BYTES));
  OK(cudaMalloc(&b, BYTES));
  OK(cudaMalloc(&out, 32 * 4));
  OK(cudaMemset(a, 1, BYTES));
  each<<<1, 32>>>(a, b, out, BYTES);
  OK(cudaDeviceSynchronize());
  puts("done");
}
