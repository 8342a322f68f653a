// Memory that nobody wrote is moved, masked, thrown away or overwritten; and memory that was
// written in every way there is. Silent.
#include <cstdio>
#include <cstring>

struct Padded { char c; double d; };

__global__ void copies(const int4 *a, int4 *b) { b[threadIdx.x] = a[threadIdx.x]; }
__global__ void structs(const Padded *a, Padded *b) { b[threadIdx.x] = a[threadIdx.x]; }
__global__ void make_padded(Padded *a) { a[threadIdx.x].c = 1; a[threadIdx.x].d = threadIdx.x; }
__global__ void sum_padded(const Padded *a, int *out) {
  Padded p = a[threadIdx.x];
  if (p.c == 1 && p.d > 3) out[threadIdx.x] = 1;
}
__global__ void masked(const int *a, int *out) {
  if ((a[threadIdx.x] & 0) == 0) out[threadIdx.x] = 1;
}
__global__ void cancels(const int *a, int *out) {
  int x = a[threadIdx.x];
  asm volatile("xor.b32 %0, %0, %0;" : "+r"(x));
  if (x == 0) out[threadIdx.x] = 2;
}
__global__ void selected_away(const int *a, const int *good, int *out) {
  int x = a[threadIdx.x], y = good[threadIdx.x];
  int r = y > 1000 ? x : y;
  if (r >= 0) out[threadIdx.x] = 3;
}
__global__ void lower_half(unsigned short *h, const unsigned *w, int *out) {
  h[2 * threadIdx.x] = 7;
  __syncwarp();
  unsigned x = w[threadIdx.x];
  if ((x & 0xffff) == 7) out[threadIdx.x] = 4;
  if ((unsigned short)x == 7) out[threadIdx.x] = 4;
}
__global__ void bytes(unsigned char *p, int *out) {
  for (int i = 0; i < 4; i++) p[4 * threadIdx.x + i] = (unsigned char)i;
  __syncwarp();
  if (((unsigned *)p)[threadIdx.x] == 0x03020100) out[threadIdx.x] = 5;
}
__global__ void fill(float *a) { a[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x; }
__global__ void use(const float *a, int *out) {
  if (a[blockIdx.x * blockDim.x + threadIdx.x] > 2) out[threadIdx.x] = 6;
}
__global__ void reduce(const float *a, float *result) {
  __shared__ float s[8];
  float x = a[threadIdx.x];
  for (int o = 16; o; o /= 2) x += __shfl_down_sync(~0u, x, o);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = x;
  __syncthreads();
  if (threadIdx.x < 8) {
    x = s[threadIdx.x];
    for (int o = 4; o; o /= 2) x += __shfl_down_sync(0xff, x, o);
    if (threadIdx.x == 0 && x > 0) *result = x;
  }
}
extern __shared__ int dynamic[];
__global__ void dynamic_shared(int *out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) dynamic[i] = i;
  __syncthreads();
  if (dynamic[n - 1 - threadIdx.x] >= 0) out[threadIdx.x] = 7;
}
__device__ __noinline__ void store(int *p, int v) { *p = v; }
__global__ void shared_by_pointer(int *out) {
  __shared__ int s[32];
  store(&s[threadIdx.x], 5);
  __syncthreads();
  if (s[31 - threadIdx.x] == 5) out[threadIdx.x] = 8;
}
__global__ void local_array(const int *n, int *out) {
  int t[16];
  for (int i = 0; i < 16; i++) t[(i * n[0]) % 16] = i;
  if (t[n[1]] >= 0) out[threadIdx.x] = 9;
}
__global__ void counters(int *c, int *out) {
  if (atomicAdd(c, 1) >= 0) out[threadIdx.x] = 10;
  if (atomicExch(c + 1, 3) == 77) out[0] = 11;            // zero first: memset
}
__device__ int variable[32];
__constant__ int constants[4] = {1, 2, 3, 4};
__global__ void variables(int *out) {
  if (variable[threadIdx.x] == 0 && constants[threadIdx.x & 3]) out[threadIdx.x] = 12;
}
__device__ __noinline__ int depth(int n, int *scratch) {
  scratch[n] = n;
  return n ? depth(n - 1, scratch) + scratch[n] : scratch[0];
}
__global__ void recursion(int *scratch, int *out) {
  if (depth(5, scratch + 8 * threadIdx.x) == 15) out[threadIdx.x] = 13;
}
struct Big { int n; int values[40]; };
__global__ void by_value(const __grid_constant__ Big big, int *out) {
  if (big.values[threadIdx.x % 40] >= 0) out[threadIdx.x] = 14;
}
__global__ void managed_read(const int *p, int *out) {
  if (p[threadIdx.x] >= 0) out[threadIdx.x] = 15;
}
__global__ void overread(const float4 *a, int *out, int n) {
  float4 v = a[threadIdx.x];
  float s = 0;
  if (4 * threadIdx.x + 0 < n) s += v.x;
  if (4 * threadIdx.x + 1 < n) s += v.y;
  if (4 * threadIdx.x + 2 < n) s += v.z;
  if (4 * threadIdx.x + 3 < n) s += v.w;
  if (s >= 0) out[threadIdx.x] = 16;
}
__global__ void flags(volatile int *data, volatile int *flag, int *out) {
  if (threadIdx.x == 0) {
    data[0] = 42;
    __threadfence();
    *flag = 1;
  } else if (threadIdx.x == 32) {
    while (*flag == 0) {}
    __threadfence();
    if (data[0] == 42) out[0] = 17;
  }
}

int main() {
  int *a, *b, *out, *good, *small, *counter, *managed, *pinned, *flag, *scratch, *partly;
  float *f, *result;
  Padded *pad, *pad2;
  cudaMalloc(&a, 4096);
  cudaMalloc(&b, 4096);
  cudaMalloc(&good, 4096);
  cudaMalloc(&small, 4096);
  cudaMalloc(&counter, 64);
  cudaMalloc(&out, 4096);
  cudaMalloc(&f, 4096);
  cudaMalloc(&result, 4);
  cudaMalloc(&pad, 32 * sizeof *pad);
  cudaMalloc(&pad2, 32 * sizeof *pad2);
  cudaMalloc(&flag, 8);
  cudaMalloc(&scratch, 4096);
  cudaMalloc(&partly, 512);
  cudaMallocManaged(&managed, 4096);
  cudaMallocHost(&pinned, 4096);
  memset(pinned, 0, 4096);
  pinned[0] = 5;
  pinned[1] = 1;
  cudaMemset(out, 0, 4096);
  cudaMemset(counter, 0, 8);
  cudaMemset(flag, 0, 8);
  cudaMemcpy(good, pinned, 4096, cudaMemcpyHostToDevice);
  copies<<<1, 32>>>((const int4 *)a, (int4 *)b);
  make_padded<<<1, 32>>>(pad);
  structs<<<1, 32>>>(pad, pad2);
  sum_padded<<<1, 32>>>(pad2, out);
  masked<<<1, 32>>>(a, out);
  cancels<<<1, 32>>>(a, out);
  selected_away<<<1, 32>>>(a, good, out);
  lower_half<<<1, 32>>>((unsigned short *)small, (const unsigned *)small, out);
  bytes<<<1, 32>>>((unsigned char *)small + 1024, out);
  fill<<<4, 256>>>(f);
  use<<<4, 256>>>(f, out);
  reduce<<<1, 256>>>(f, result);
  dynamic_shared<<<2, 64, 1024>>>(out, 256);
  shared_by_pointer<<<1, 32>>>(out);
  local_array<<<1, 32>>>(good, out);
  counters<<<1, 32>>>(counter, out);
  variables<<<1, 32>>>(out);
  recursion<<<1, 32>>>(scratch, out);
  Big big = {40, {1, 2, 3}};
  by_value<<<1, 32>>>(big, out);
  managed_read<<<1, 32>>>(managed, out);
  managed_read<<<1, 32>>>(pinned, out);
  cudaMemcpy(partly, pinned, 200, cudaMemcpyHostToDevice);
  overread<<<1, 32>>>((const float4 *)partly, out, 50);
  flags<<<1, 64>>>(flag + 1, flag, out);
  int host[1024];
  cudaMemcpy(host, out, 4096, cudaMemcpyDeviceToHost);
  float r;
  cudaMemcpy(&r, result, 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(host, f, 4096, cudaMemcpyDeviceToHost);
  printf("%s %g\n", cudaGetErrorString(cudaDeviceSynchronize()), r);
  return 0;
}
