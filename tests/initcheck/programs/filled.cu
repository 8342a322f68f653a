// Memory that kernels have filled, in full or almost, and kernels that read it, again and again:
// some launches see all of it initialised, others do not.
#include <cstdio>

__global__ void fill(float *a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    a[i] = i & 7;
}
__global__ void sum(const float *a, float *b, int n, int turns) {
  for (int t = 0; t < turns; t++) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] = b[i] + a[(i + t) % n];
  }
}
__global__ void count(const float *a, int *out, int n) {
  for (int i = threadIdx.x; i < n; i += 32)
    // finds-next: uninit-use (the last element, in two launches)
    if (a[i] > 3) out[threadIdx.x] = i;
}
__global__ void count_good(const float *a, int *out, int n) {
  int found = 0;
  for (int i = threadIdx.x; i < n; i += 32)
    if (a[i] > 3) found++;
  out[threadIdx.x] = found;
}
// It has an array of its own, which it does not fill, and stores what is in it.
__global__ void local(const int *at, const float *a, float *b, int n) {
  float t[8];
  for (int i = 0; i < n; i++) t[at[i]] = a[i];
  b[threadIdx.x] = b[threadIdx.x] + t[at[n - 1]];
  if (threadIdx.x == 3) b[n + threadIdx.x] = t[7 - at[n - 1]] * 2;
}
__global__ void ask(const float *b, int *out, int i) {
  for (int n = 0; n < 2; n++)
    // finds-next: uninit-use (what `local` has stored)
    if (b[i] > n) out[n] = 1;
}

int main() {
  const int n = 4099;
  float *a, *b, *c, *d;
  int *out, *at, host[32];
  cudaMalloc(&a, n * 4);
  cudaMalloc(&b, n * 4);
  cudaMalloc(&c, n * 4);
  cudaMalloc(&d, 64 * 4);
  cudaMalloc(&out, 4096);
  cudaMalloc(&at, 64);
  int places[4] = {1, 2, 3, 0};
  cudaMemcpy(at, places, sizeof places, cudaMemcpyHostToDevice);
  cudaMemset(out, 0, 4096);
  fill<<<4, 128>>>(a, n);
  fill<<<4, 128>>>(b, n);
  fill<<<4, 128>>>(c, n - 1);
  fill<<<1, 64>>>(d, 64);
  for (int i = 0; i < 6; i++) sum<<<(n + 127) / 128, 128>>>(a, b, n, 3);
  for (int i = 0; i < 6; i++) count_good<<<1, 32>>>(b, out, n);
  count_good<<<1, 32>>>(c, out, n - 1);  // reads only what was written
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  printf("%d %d\n", host[0], host[31]);
  count<<<1, 32>>>(b, out, n);
  for (int i = 0; i < 2; i++) count<<<1, 32>>>(c, out, n);
  fill<<<4, 128>>>(c, n);
  count_good<<<1, 32>>>(c, out, n);
  for (int i = 0; i < 3; i++) local<<<1, 4>>>(at, a, d, 4);
  ask<<<1, 1>>>(d, out, 7);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
