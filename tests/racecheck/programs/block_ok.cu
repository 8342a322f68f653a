// The same with what was missing; and code that only looks like a race.
#include <cstdio>

__global__ void reduce(const int *in, int *out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void loop_end(const int *in, int *out) {
  __shared__ int tile[128];
  int t = threadIdx.x, sum = 0;
  for (int i = 0; i < 300; i++) {
    tile[t] = in[i % 4 * 128 + t];
    __syncthreads();
    sum += tile[(t + 37) % 128];
    __syncthreads();
  }
  out[blockIdx.x * 128 + t] = sum;
}

__global__ void double_buffer(const int *in, int *out) {  // one barrier for each step is enough
  __shared__ int tile[2][128];
  int t = threadIdx.x, sum = 0;
  for (int i = 0; i < 9; i++) {
    tile[i & 1][t] = in[i % 4 * 128 + t];
    __syncthreads();
    sum += tile[i & 1][(t + 37) % 128];
  }
  out[blockIdx.x * 128 + t] = sum;
}

__global__ void bytes(unsigned char *out) {  // each thread has its own byte of the word
  __shared__ unsigned char s[256];
  int t = threadIdx.x;
  s[t] = (unsigned char)t;
  s[t] = s[t] + 1;
  __syncthreads();
  out[blockIdx.x * 256 + t] = s[t ^ 32];
  out[blockIdx.x * 256 + t] += 1;
}

__global__ void in_warp(int *out) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  __syncwarp();
  int v = s[31 - threadIdx.x];
  __syncwarp();
  s[threadIdx.x] = v;
  __syncwarp();
  out[blockIdx.x * 32 + threadIdx.x] = s[(threadIdx.x + 7) % 32];
}

#if ARCH >= 80
__global__ void in_warp_by_reduce(int *out) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  int sum = __reduce_add_sync(0xffffffff, 1);
  out[blockIdx.x * 32 + threadIdx.x] = s[31 - threadIdx.x] + sum;
}
#endif

__global__ void in_warp_by_shuffle(int *out) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  int sum = __shfl_xor_sync(0xffffffff, (int)threadIdx.x, 1);
  out[blockIdx.x * 32 + threadIdx.x] = s[31 - threadIdx.x] + sum;
}

__global__ void half_warps(int *out) {                                  // masks of some lanes
  __shared__ int s[64];
  unsigned mask = threadIdx.x % 32 < 16 ? 0xffff : 0xffff0000;
  s[threadIdx.x] = threadIdx.x;
  __syncwarp(mask);
  int v = s[threadIdx.x ^ 15];
  __syncwarp(mask);
  s[threadIdx.x] = v;
  __syncwarp(mask);
  out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x ^ 3];
}

__global__ void volatile_warp(int *out) {  // how it was done before __syncwarp
  __shared__ volatile int s[64];
  int t = threadIdx.x;
  s[t] = t;
  s[t + 32] = 0;
  s[t] = s[t] + s[t + 16];
  s[t] = s[t] + s[t + 8];
  out[blockIdx.x * 32 + t] = s[t];
}

__global__ void histogram(const unsigned *in, unsigned *out) {
  __shared__ unsigned h[16];
  if (threadIdx.x < 16) h[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&h[in[threadIdx.x] & 15], 1u);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&out[threadIdx.x], h[threadIdx.x]);
}

__global__ void own_element(float *a, int n) {  // each thread reads and writes its own
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    a[i] = a[i] * 2 + 1;
}

__global__ void by_one_thread(int *out) {
  __shared__ int total;
  if (threadIdx.x == 0) {
    total = 0;
    for (int i = 0; i < 10; i++) total += i;
  }
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = total;
}

__global__ void named(int *out) {  // two halves of the block, each with a barrier of its own
  __shared__ int s[128];
  int t = threadIdx.x, half = t / 64;
  s[t] = t;
  asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
  int v = s[half * 64 + (t + 33) % 64];
  asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
  s[t] = v + 1;
  asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
  out[blockIdx.x * 128 + t] = s[half * 64 + (t + 1) % 64];
}

__global__ void producer(int *out) {  // half of the block only arrives
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < 64) {
    s[t] = t;
    asm volatile("bar.arrive 3, 128;" ::: "memory");
  } else {
    asm volatile("bar.sync 3, 128;" ::: "memory");
    out[blockIdx.x * 64 + t - 64] = s[127 - t];
  }
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 1 << 16);
  cudaMalloc(&out, 1 << 16);
  cudaMemset(in, 0, 1 << 16);
  cudaMemset(out, 0, 1 << 16);
  reduce<<<4, 256>>>(in, out);
  loop_end<<<4, 128>>>(in, out);
  double_buffer<<<4, 128>>>(in, out);
  bytes<<<4, 256>>>((unsigned char *)out);
  in_warp<<<4, 32>>>(out);
  in_warp_by_shuffle<<<4, 32>>>(out);
#if ARCH >= 80
  in_warp_by_reduce<<<4, 32>>>(out);
#endif
  half_warps<<<4, 64>>>(out);
  volatile_warp<<<4, 32>>>(out);
  histogram<<<4, 128>>>((unsigned *)in, (unsigned *)out);
  own_element<<<4, 64>>>((float *)out, 3000);
  by_one_thread<<<4, 64>>>(out);
  named<<<4, 128>>>(out);
  producer<<<4, 128>>>(out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
