// Threads that read something bad, are done with it, and go on: what they read later is judged as
// before.
#include <cstdio>

// A stencil that moves planes through shared memory. The first plane it moves was never written,
// and nothing depends on it.
__global__ void planes(const float *in, float *out, int n, int depth) {
  __shared__ float u[3][34];
  int i = threadIdx.x + 1, edge = threadIdx.x == 0 ? 0 : threadIdx.x == 31 ? 33 : -1;
  u[2][i] = in[threadIdx.x];
  if (edge >= 0) u[2][edge] = 0;
  for (int k = 0; k < depth; k++) {
    u[0][i] = u[1][i];
    u[1][i] = u[2][i];
    if (edge >= 0) u[0][edge] = u[1][edge], u[1][edge] = u[2][edge];
    if (k + 1 < depth) u[2][i] = in[(k + 1) * n + threadIdx.x];
    __syncthreads();
    float v = k == 0 || k == depth - 1 ? u[1][i] : u[0][i] + u[1][i - 1] + u[1][i + 1] + u[2][i];
    out[k * n + threadIdx.x] = v;
    __syncthreads();
  }
}

// The same, and it uses the first plane.
__global__ void planes_bad(const float *in, float *out, int *flags, int n, int depth) {
  __shared__ float u[3][34];
  int i = threadIdx.x + 1;
  u[2][i] = in[threadIdx.x];
  for (int k = 0; k < depth; k++) {
    u[0][i] = u[1][i];
    u[1][i] = u[2][i];
    if (k + 1 < depth) u[2][i] = in[(k + 1) * n + threadIdx.x];
    __syncthreads();
    // finds-next: uninit-use (what was moved is bad)
    if (u[0][i] > 1.5f) flags[k] = 1;
    __syncthreads();
  }
}

// Bad, good and bad again, in a loop; the sum is carried around it.
__global__ void in_turns(const int *good, const int *bad, int *sums, int *out, int n) {
  int sum = 0, last = 0;
  for (int i = 0; i < n; i++) {
    int x = i & 1 ? bad[i] : good[i];
    sums[i * 32 + threadIdx.x] = x;
    if (!(i & 1)) sum += x, last = x;
    if (last > 7) out[threadIdx.x] += 1;
  }
  if (sum > 3) out[threadIdx.x] += 2;
}
__global__ void in_turns_bad(const int *good, const int *bad, int *out, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    int x = i == 5 ? bad[threadIdx.x] : good[i];
    if (good[i] > 7) out[threadIdx.x] += 1;
    sum += x;
  }
  // finds-next: uninit-use (one of what was summed up)
  if (sum > 3) out[threadIdx.x] += 2;
}

// Lanes write to each other by volatile shared memory and nothing else.
__global__ void lanes(int *out) {
  __shared__ volatile int s[64];
  int i = threadIdx.x + 32;
  s[threadIdx.x] = 0;
  s[i] = threadIdx.x;
  __syncwarp();
  for (int by = 1; by < 32; by *= 2) {
    int x = s[i - by];
    __syncwarp();
    s[i] += x;
    __syncwarp();
  }
  if (s[i] > 10) out[threadIdx.x] = s[i];
}

// Some lanes are bad, others are not, and they part and meet.
__global__ void some(const int *good, const int *bad, int *copy, int *out) {
  int x = threadIdx.x & 1 ? bad[threadIdx.x] : good[threadIdx.x];
  copy[threadIdx.x] = x;
  int y = good[threadIdx.x ^ 1];
  if (threadIdx.x & 1 ? y : x) out[threadIdx.x] = 1;
  int z = __shfl_xor_sync(~0u, x, 1);
  if (threadIdx.x & 1 && z) out[threadIdx.x] += 1;
  // finds-next: uninit-use (from the next lane)
  if (threadIdx.x == 4 && z) out[threadIdx.x] += 1;
}

int main() {
  float *in, *result;
  int *out, *bad, *good, *copy;
  const int n = 32, depth = 12;
  cudaMalloc(&in, n * depth * 4);
  cudaMalloc(&result, n * depth * 4);
  cudaMalloc(&out, 4096);
  cudaMalloc(&bad, 4096);
  cudaMalloc(&good, 4096);
  cudaMalloc(&copy, 4096);
  cudaMemset(in, 0x3f, n * depth * 4);
  cudaMemset(out, 0, 4096);
  cudaMemset(good, 1, 4096);
  planes<<<1, 32>>>(in, result, n, depth);
  float host[n * depth];
  cudaMemcpy(host, result, sizeof host, cudaMemcpyDeviceToHost);
  printf("%g %g\n", host[0], host[n * depth / 2]);
  planes_bad<<<1, 32>>>(in, result, out, n, depth);
  in_turns<<<1, 32>>>(good, bad, copy, out, 16);
  in_turns_bad<<<1, 32>>>(good, bad, out, 16);
  lanes<<<1, 32>>>(out);
  some<<<1, 32>>>(good, bad, copy, out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
