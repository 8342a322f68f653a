// arch: 80
// device: cpu
// Tiles that are copied ahead: what another thread has copied may not be there. On a GPU the wait
// of the reader may count for it (docs/racecheck.md). buffers_ok.cu is right.
#include <cstdint>
#include <cstdio>

#define AT(p) ((uint32_t)__cvta_generic_to_shared(p))
#define COPY(to, from) \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(AT(to)), "l"(from) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
enum { THREADS = 64, TILES = 4, BLOCKS = 3 };

__global__ void no_barrier_before(float *out, const float *in, int n) {
  __shared__ float s[2][THREADS];
  int t = threadIdx.x;
  float sum = 0;
  // finds-next: race group=no_barrier_before
  COPY(&s[0][t], in + t);
  COMMIT();
  for (int i = 0; i < n; i++) {
    // finds-next: race group=no_barrier_before
    if (i + 1 < n) COPY(&s[(i + 1) % 2][t], in + (i + 1) * THREADS + t);
    COMMIT();
    WAIT(1);
    // finds-next: race group=no_barrier_before
    sum += s[i % 2][t ^ 32];
    __syncthreads();
  }
  out[blockIdx.x * THREADS + t] = sum;
}

int main() {
  float *in, *out;
  cudaMalloc(&in, TILES * THREADS * sizeof(float));
  cudaMalloc(&out, BLOCKS * THREADS * sizeof(float));
  cudaMemset(in, 0, TILES * THREADS * sizeof(float));
  no_barrier_before<<<BLOCKS, THREADS>>>(out, in, TILES);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
