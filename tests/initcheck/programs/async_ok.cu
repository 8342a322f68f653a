// arch: compute_80
// cp.async of what was written; and what it fills with zeros.
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
__device__ void copy_unless(void *to, const void *from, bool not_this) {
  asm volatile(
      "{ .reg .pred p; setp.ne.u32 p, %2, 0; cp.async.ca.shared.global [%0], [%1], 4, p; }" ::"r"(
          at(to)),
      "l"(from), "r"((unsigned)not_this)
      : "memory");
}
__device__ void wait() { asm volatile("cp.async.wait_all;" ::: "memory"); __syncthreads(); }

// Of 64 ints only the even ones were written.
__global__ void four(const int *in, int *out) {
  __shared__ int s[64];
  copy<4>(&s[threadIdx.x], &in[threadIdx.x]);
  wait();
  if (s[threadIdx.x & ~1] > 3) out[threadIdx.x] += 1;
}
__global__ void eight(const int *in, int *out) {
  __shared__ int2 s[32];
  if (threadIdx.x < 32) copy<8>(&s[threadIdx.x], &in[2 * threadIdx.x]);
  wait();
  if (s[threadIdx.x / 2].x > 3) out[threadIdx.x] += 1;
}
__global__ void sixteen(const int *const *in, int *out) {
  __shared__ int4 s[16];
  if (threadIdx.x < 16) copy<16>(&s[threadIdx.x], &in[0][4 * threadIdx.x]);
  wait();
  if (s[threadIdx.x / 4].x + s[threadIdx.x / 4].z > 3) out[threadIdx.x] += 1;
}
__global__ void some(const int *in, int *out, int bytes) {       // 4 of them
  __shared__ int4 s[16];
  if (threadIdx.x < 16) copy_some<16>(&s[threadIdx.x], &in[4 * threadIdx.x], bytes);
  wait();
  int4 v = s[threadIdx.x / 4];
  if (v.x + v.y + v.z + v.w > 3) out[threadIdx.x] += 1;
}
__global__ void zeros(const int *in, int *out) {
  __shared__ int s[64];
  copy_unless(&s[threadIdx.x], &in[threadIdx.x], threadIdx.x & 1);
  wait();
  if (s[threadIdx.x] > 3) out[threadIdx.x] += 1;
}
// Twice to the same place: what was bad is good.
__global__ void again(const int *in, int *out) {
  __shared__ int s[64];
  copy<4>(&s[threadIdx.x], &in[threadIdx.x]);
  wait();
  copy<4>(&s[threadIdx.x], &in[threadIdx.x & ~1]);
  wait();
  if (s[threadIdx.x] > 3) out[threadIdx.x] += 1;
}
// All of it is written: on a GPU a second body runs.
__global__ void tiles(const int *in, int *out, int n) {
  __shared__ int s[64];
  int sum = 0;
  for (int i = 0; i < n; i += 64) {
    copy<4>(&s[threadIdx.x], &in[i + threadIdx.x]);
    wait();
    for (int k = 0; k < 64; k++)
      if (s[k] & 1) sum += s[k];
    __syncthreads();
  }
  out[threadIdx.x] += sum;
}

__global__ void even(int *p) { p[2 * threadIdx.x] = threadIdx.x; }

int main() {
  int *in, *all, *out, **list, host[64];
  cudaMalloc(&in, 64 * sizeof *in);
  cudaMalloc(&all, 1024 * sizeof *all);
  cudaMalloc(&out, 64 * sizeof *out);
  cudaMalloc(&list, sizeof *list);
  cudaMemset(out, 0, 64 * sizeof *out);
  cudaMemset(all, 1, 1024 * sizeof *all);
  cudaMemcpy(list, &in, sizeof in, cudaMemcpyHostToDevice);
  even<<<1, 32>>>(in);
  four<<<1, 64>>>(in, out);
  eight<<<1, 64>>>(in, out);
  sixteen<<<1, 64>>>(list, out);
  some<<<1, 64>>>(in, out, 4);
  zeros<<<1, 64>>>(in, out);
  again<<<1, 64>>>(in, out);
  tiles<<<1, 64>>>(all, out, 1024);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  long sum = 0;
  for (int i = 0; i < 64; i++) sum += host[i];
  printf("%ld %s\n", sum, cudaGetErrorString(cudaDeviceSynchronize()));
}
