// Few instructions and many accesses: what recording costs. Prints milliseconds for each kernel, to
// standard error.
#include <cstdio>
#include <cstdlib>

__global__ void add(float *c, const float *a, const float *b, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    c[i] = a[i] + b[i];
}

__global__ void multiply(float *c, const float *a, const float *b, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
  c[y * n + x] = sum;
}

__global__ void gather(float *c, const float *a, const int *where, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    c[i] = a[where[i]];
}

template <class F> static void time_it(const char *name, F f) {
  cudaEvent_t from, to;
  float ms;
  cudaEventCreate(&from);
  cudaEventCreate(&to);
  f();                                     // compiled and loaded
  cudaDeviceSynchronize();
  cudaEventRecord(from);
  f();
  cudaEventRecord(to);
  cudaEventSynchronize(to);
  cudaEventElapsedTime(&ms, from, to);
  fprintf(stderr, "%s %.4f ms\n", name, ms);
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1 << 12, m = argc > 2 ? atoi(argv[2]) : 32;
  float *a, *b, *c;
  int *where, *h = (int *)malloc(4 * (size_t)n);
  cudaMalloc(&a, 4 * (size_t)n);
  cudaMalloc(&b, 4 * (size_t)n);
  cudaMalloc(&c, 4 * (size_t)n);
  cudaMalloc(&where, 4 * (size_t)n);
  for (int i = 0; i < n; i++) h[i] = (int)((i * 7919ll + 12345) % n);
  cudaMemcpy(where, h, 4 * (size_t)n, cudaMemcpyHostToDevice);
  for (int i = 0; i < n; i++) ((float *)h)[i] = i % 1000;
  cudaMemcpy(a, h, 4 * (size_t)n, cudaMemcpyHostToDevice);
  cudaMemcpy(b, h, 4 * (size_t)n, cudaMemcpyHostToDevice);
  time_it("add", [&] { add<<<264, 256>>>(c, a, b, n); });
  time_it("gather", [&] { gather<<<264, 256>>>(c, a, where, n); });
  time_it("multiply", [&] { multiply<<<dim3(m / 32, m / 8), dim3(32, 8)>>>(c, a, b, m); });
  cudaMemcpy(h, c, 4 * (size_t)n, cudaMemcpyDeviceToHost);
  unsigned sum = 0;
  for (int i = 0; i < n; i++) sum = sum * 31 + (unsigned)h[i];
  printf("%08x %s\n", sum, cudaGetErrorString(cudaGetLastError()));
}
