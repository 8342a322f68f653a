// arch: 80
// Tiles that are copied ahead, into two buffers, with a mistake in each kernel.
#include <cstdint>
#include <cstdio>

#define AT(p) ((uint32_t)__cvta_generic_to_shared(p))
#define COPY(to, from) \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(AT(to)), "l"(from) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
enum { THREADS = 64, TILES = 4, BLOCKS = 3 };

// the copy of this turn's tile may not be there; each tile has a buffer of its own
__global__ void wait_too_short(float *out, const float *in, int n) {
  __shared__ float s[TILES][THREADS];
  int t = threadIdx.x;
  float sum = 0;
  // finds-next: race group=wait_too_short
  COPY(&s[0][t], in + t);
  COMMIT();
  for (int i = 0; i < n; i++) {
    // finds-next: race group=wait_too_short
    if (i + 1 < n) COPY(&s[(i + 1) % TILES][t], in + (i + 1) * THREADS + t);
    COMMIT();
    WAIT(2);
    __syncthreads();
    // finds-next: race group=wait_too_short
    sum += s[i % TILES][t ^ 32];
    __syncthreads();
  }
  out[blockIdx.x * THREADS + t] = sum;
}

// the next turn copies over what others still read
__global__ void no_barrier_after(float *out, const float *in, int n) {
  __shared__ float s[2][THREADS];
  int t = threadIdx.x;
  float sum = 0;
  // finds-next: race group=no_barrier_after
  COPY(&s[0][t], in + t);
  COMMIT();
  for (int i = 0; i < n; i++) {
    // finds-next: race group=no_barrier_after
    if (i + 1 < n) COPY(&s[(i + 1) % 2][t], in + (i + 1) * THREADS + t);
    COMMIT();
    WAIT(1);
    __syncthreads();
    // finds-next: race group=no_barrier_after
    sum += s[i % 2][t ^ 32];
  }
  out[blockIdx.x * THREADS + t] = sum;
}

int main() {
  float *in, *out;
  cudaMalloc(&in, TILES * THREADS * sizeof(float));
  cudaMalloc(&out, BLOCKS * THREADS * sizeof(float));
  cudaMemset(in, 0, TILES * THREADS * sizeof(float));
  wait_too_short<<<BLOCKS, THREADS>>>(out, in, TILES);
  no_barrier_after<<<BLOCKS, THREADS>>>(out, in, TILES);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
