// Atomics of every type, scope and space; fences; warp collectives; barriers with results.
__global__ void atomics(int *i, unsigned *u, unsigned long long *ull, float *f, double *d,
                        unsigned short *us) {
  __shared__ int s;
  __shared__ unsigned long long sl;
  int t = threadIdx.x, old = atomicAdd(i, t);
  atomicSub(i + 1, old);
  atomicExch(u, 3u);
  atomicMin(i + 2, t);
  atomicMax(ull, (unsigned long long)t);
  atomicInc(u + 1, 100u);
  atomicDec(u + 2, 100u);
  atomicCAS(ull + 1, 1ull, 2ull);
  atomicCAS(us, (unsigned short)1, (unsigned short)2);
  atomicAnd(u + 3, 7u);
  atomicOr(u + 4, 7u);
  atomicXor(i + 5, 7);
  atomicAdd(f, 1.0f);
  atomicAdd(d, 1.0);
  atomicAdd_block(&s, 1);
  atomicAdd_system(i + 6, 1);
  atomicAdd(&sl, 5ull);
  __threadfence();
  __threadfence_block();
  __threadfence_system();
  unsigned mask = __ballot_sync(~0u, t & 1);
  int v = __shfl_xor_sync(~0u, t, 1) + __shfl_up_sync(mask, t, 2) +
          __shfl_down_sync(~0u, t, 3, 16) + __shfl_sync(~0u, t, 4);
  v += __any_sync(~0u, t > 3) + __all_sync(~0u, t > 5) + __syncthreads_count(t) +
       __syncthreads_and(t) + __syncthreads_or(t);
  __syncwarp(mask);
#if __CUDA_ARCH__ >= 700
  v += __match_any_sync(~0u, t) + __activemask();
#endif
#if __CUDA_ARCH__ >= 800
  v += __reduce_add_sync(~0u, t) + __reduce_xor_sync(~0u, (unsigned)t);
#endif
  i[t + 10] = v + s + (int)sl + (int)clock() + (int)clock64();
  __nanosleep(10);
}
