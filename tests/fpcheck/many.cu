// many N [killed]: a launch of N threads, each of which makes a NaN. Prints how long the launch
// took to standard error. `killed`: it ends at once. Run by situations.sh and gpu.sh.
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>

__global__ void roots(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = sqrtf(in[i & 1023]);                      // label: bug
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1000000;
  static float minus[1024];
  for (float &x : minus) x = -1.0f;
  float *out, *in, last = 0;
  if (cudaMalloc(&out, (size_t)n * 4) != cudaSuccess ||
      cudaMalloc(&in, sizeof minus) != cudaSuccess)
    return 1;
  cudaMemcpy(in, minus, sizeof minus, cudaMemcpyHostToDevice);
  roots<<<1, 32>>>(out, in, 0);                                 // compiled and loaded
  cudaDeviceSynchronize();
  auto start = std::chrono::steady_clock::now();
  roots<<<(n + 255) / 256, 256>>>(out, in, n);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (argc > 2) raise(SIGKILL);
  fprintf(stderr, "launch: %.2f ms\n", ms);
  if (cudaMemcpy(&last, out + n - 1, 4, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  printf("%d\n", (int)std::isnan(last));
}
