// arch: compute_80
// cp.async: shared memory is as initialised as what was copied into it.
// says: read from shared memory at tests/initcheck/programs/async.cu:{copied} in four(int const*,
//    int*)
#include <cstdio>
#include <cuda_runtime.h>

__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
template <int N> __device__ void copy(void *to, const void *from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at(to)), "l"(from), "n"(N)
               : "memory");
}
template <int N> __device__ void copy_some(void *to, const void *from, int bytes) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(at(to)), "l"(from), "n"(N),
               "r"(bytes)
               : "memory");
}
__device__ void wait() { asm volatile("cp.async.wait_all;" ::: "memory"); __syncthreads(); }

// Of 64 ints only the even ones were written.
__global__ void four(const int *in, int *out) {
  __shared__ int s[64];
  copy<4>(&s[threadIdx.x], &in[threadIdx.x]);
  wait();
  int v = s[threadIdx.x ^ 1];  // label: copied
  if (v > 3) out[threadIdx.x] = 1;                          // finds: uninit-use (the odd ones)
}
__global__ void eight(const int *in, int *out) {
  __shared__ int2 s[32];
  if (threadIdx.x < 32) copy<8>(&s[threadIdx.x], &in[2 * threadIdx.x]);
  wait();
  // finds-next: uninit-use (the second of each two)
  if (s[threadIdx.x / 2].y > 3) out[threadIdx.x] = 1;
}
__global__ void sixteen(const int *const *in, int *out) {   // through a pointer in memory
  __shared__ int4 s[16];
  if (threadIdx.x < 16) copy<16>(&s[threadIdx.x], &in[0][4 * threadIdx.x]);
  wait();
  atomicAdd(&out[threadIdx.x], s[threadIdx.x / 4].x + s[threadIdx.x / 4].z);
  // finds-next: uninit-use (the fourth of each four)
  if (s[threadIdx.x / 4].w > 3) atomicAdd(out, 1);
}
__global__ void some(const int *in, int *out, int bytes) {
  __shared__ int4 s[16];
  if (threadIdx.x < 16) copy_some<16>(&s[threadIdx.x], &in[4 * threadIdx.x], bytes);
  wait();
  // finds-next: uninit-use (of 16 bytes 8 were copied)
  if (s[threadIdx.x / 4].y > 3) out[threadIdx.x] = 1;
}

__global__ void even(int *p) { p[2 * threadIdx.x] = threadIdx.x; }

int main() {
  int *in, *out, **list;
  cudaMalloc(&in, 64 * sizeof *in);
  cudaMalloc(&out, 64 * sizeof *out);
  cudaMalloc(&list, sizeof *list);
  cudaMemset(out, 0, 64 * sizeof *out);
  cudaMemcpy(list, &in, sizeof in, cudaMemcpyHostToDevice);
  even<<<1, 32>>>(in);
  four<<<1, 64>>>(in, out);
  eight<<<1, 64>>>(in, out);
  sixteen<<<1, 64>>>(list, out);
  some<<<1, 64>>>(in, out, 8);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
