// arch: 80
// A pipelined loop as compilers write it: the last prefetches have an address behind the input,
// where other blocks write, and read nothing: a source size of 0, or a predicate that says so.
#include <cstdint>
#include <cstdio>

#define AT(p) ((uint32_t)__cvta_generic_to_shared(p))
#define COPY(to, from, size) \
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(AT(to)), "l"(from), "r"(size) \
               : "memory")
#define COPY_SMALL(to, from, size) \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(AT(to)), "l"(from), "r"(size) \
               : "memory")
#define COPY_UNLESS(to, from, no) \
  asm volatile( \
      "{ .reg .pred p; setp.ne.b32 p, %2, 0; cp.async.cg.shared.global [%0], [%1], 16, p; }" :: \
          "r"(AT(to)), \
      "l"(from), "r"((int)(no)) \
      : "memory")
#define COPY_NONE(to, from) \
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, 0;" ::"r"(AT(to)), "l"(from) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
enum { THREADS = 32, TILES = 4, TILE = THREADS * 4 };

// Each block adds up its four tiles; sums of block 0 lie right behind the tiles of the last block.
template <int KIND> __global__ void pipeline(float *data, int tiles) {
  __shared__ __align__(16) float s[3][TILE];
  const float *in = data + blockIdx.x * TILES * TILE + threadIdx.x * 4;
  float *out = data + gridDim.x * TILES * TILE, sum = 0;
  for (int k = 0; k < tiles + 2; k++) {
    bool more = k < tiles;
    float *to = &s[k % 3][threadIdx.x * 4];
    const float *from = in + k * TILE;
    if (KIND == 0) COPY(to, from, more ? 16 : 0);
    if (KIND == 1) COPY_UNLESS(to, from, !more);
    if (KIND == 2 && more) COPY(to, from, 16);
    if (KIND == 2 && !more) COPY_NONE(to, from);
    if (KIND == 3) COPY_SMALL(to, from, more ? 8 : 0);
    if (KIND == 3) COPY_SMALL(to + 2, from + 2, more ? 4 : 0);
    COMMIT();
    if (k < 2) continue;
    WAIT(2);
    __syncthreads();
    for (int i = 0; i < 4; i++) sum += s[(k - 2) % 3][(threadIdx.x * 4 + i) ^ 5];
    __syncthreads();
  }
  out[blockIdx.x * THREADS + threadIdx.x] = sum;
}

int main() {
  const int blocks = 4, n = blocks * TILES * TILE, all = n + blocks * THREADS + 4 * TILE;
  static float host[all];
  float *data, total = 0;
  cudaMalloc(&data, all * sizeof(float));
  for (int i = 0; i < all; i++) host[i] = i % 17;
  for (int kind = 0; kind < 4; kind++) {
    cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
    if (kind == 0) pipeline<0><<<blocks, THREADS>>>(data, TILES);
    if (kind == 1) pipeline<1><<<blocks, THREADS>>>(data, TILES);
    if (kind == 2) pipeline<2><<<blocks, THREADS>>>(data, TILES);
    if (kind == 3) pipeline<3><<<blocks, THREADS>>>(data, TILES);
    float out[THREADS * blocks];
    cudaMemcpy(out, data + n, sizeof out, cudaMemcpyDeviceToHost);
    for (float f : out) total += f;
  }
  printf("%g %s\n", total, cudaGetErrorString(cudaDeviceSynchronize()));
}
