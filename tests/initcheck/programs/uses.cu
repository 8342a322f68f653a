// Every way in which memory that nobody wrote comes to matter. The name of the kernel says which.
#include <cstdio>

__global__ void branch(const int *a, int *out) {
  if (a[threadIdx.x] > 3) out[threadIdx.x] = 1;                       // finds: uninit-use (branch)
}
__global__ void address(const int *a, int *out) {
  out[a[threadIdx.x] & 31] = 1;                                       // finds: uninit-use (address)
}
__global__ void lane(const int *a, int *out) {
  // finds-next: uninit-use (shuffle)
  out[threadIdx.x] = __shfl_sync(~0u, (int)threadIdx.x, a[threadIdx.x] & 31);
}
__global__ void half_written(short *h, const int *w, int *out) {
  h[2 * threadIdx.x] = 7;
  // finds-next: uninit-use (the upper half was never written)
  if (w[threadIdx.x] > 7) out[threadIdx.x] = 1;
}
__global__ void shared(int *out) {
  __shared__ int s[32];
  if (threadIdx.x < 16) s[threadIdx.x] = 1;
  __syncthreads();
  // finds-next: uninit-use (the upper half of s)
  if (s[threadIdx.x ^ 16]) out[threadIdx.x] = 1;
}
__global__ void local(const int *n, int *out) {
  int t[16];
  for (int i = 0; i < n[0]; i++) t[i * 3 % 16] = i;
  // finds-next: uninit-use (never stored to)
  if (t[n[1]] > 2) out[threadIdx.x] = 1;
}
__global__ void atomic_result(int *counter, int *out) {
  // finds-next: uninit-use (nobody set the counter)
  if (atomicAdd(counter, 1) == 5) out[0] = 1;
}
__global__ void spread(const int *a, int *b) { b[threadIdx.x] = a[threadIdx.x] * 2 + 1; }
__global__ void spread_used(const int *b, int *out) {
  // finds-next: uninit-use (computed from it by another kernel)
  if (b[threadIdx.x] == 4) out[threadIdx.x] = 1;
}
__global__ void ballot(const int *a, int *out) {
  unsigned m = __ballot_sync(~0u, a[threadIdx.x] > 0);
  if (m & 1) out[threadIdx.x] = 1;                                    // finds: uninit-use (a vote)
}
__device__ __noinline__ int fetch(const int *const *table, int i) { return table[i][threadIdx.x]; }
__global__ void by_pointer(const int *const *table, int *out) {
  // finds-next: uninit-use (what a function returns)
  if (fetch(table, 0) > 1) out[threadIdx.x] = 1;
}
__device__ __noinline__ void decide(const int *const *table, int i, int *out) {
  // finds-next: uninit-use (inside a function)
  if (table[i][threadIdx.x] > 1) out[threadIdx.x] = 1;
}
__global__ void in_function(const int *const *table, int *out) { decide(table, 0, out); }
__global__ void float_compare(const float *a, int *out) {
  float x = sqrtf(a[threadIdx.x]) * 0.5f + 1.0f;
  // finds-next: uninit-use (after arithmetic)
  if (x < 3.0f) out[threadIdx.x] = 1;
}
__global__ void loop(const int *a, int *out) {
  int sum = 0;
  // finds-next: uninit-use (how often)
  for (int i = 0; i < a[0] % 7; i++) sum += i;
  out[threadIdx.x] = sum;
}

int main() {
  int *a, *out, *b, *n, *counter;
  short *h;
  const int **table;
  cudaMalloc(&a, 4096);
  cudaMalloc(&b, 4096);
  cudaMalloc(&h, 4096);
  cudaMalloc(&n, 4096);
  cudaMalloc(&counter, 4096);
  cudaMalloc(&table, 4096);
  cudaMalloc(&out, 4096);
  cudaMemset(out, 0, 4096);
  cudaMemset(table, 0, 4096);
  int numbers[2] = {3, 1};
  cudaMemcpy(n, numbers, sizeof numbers, cudaMemcpyHostToDevice);
  cudaMemcpy(table, &a, sizeof a, cudaMemcpyHostToDevice);
  branch<<<1, 32>>>(a, out);
  address<<<1, 32>>>(a, out);
  lane<<<1, 32>>>(a, out);
  half_written<<<1, 32>>>(h, (const int *)h, out);
  shared<<<1, 32>>>(out);
  local<<<1, 32>>>(n, out);
  atomic_result<<<1, 32>>>(counter, out);
  spread<<<1, 32>>>(a, b);
  spread_used<<<1, 32>>>(b, out);
  ballot<<<1, 32>>>(a, out);
  by_pointer<<<1, 32>>>(table, out);
  in_function<<<1, 32>>>(table, out);
  float_compare<<<1, 32>>>((const float *)a, out);
  loop<<<1, 32>>>(a, out);
  int host[32];
  // finds-next: uninit-use (computed from it, leaves the device)
  cudaMemcpy(host, b, sizeof host, cudaMemcpyDeviceToHost);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
