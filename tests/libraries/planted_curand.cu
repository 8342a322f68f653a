// Planted mistakes in calls of cuRAND's host interface: the argument chooses one. Without it
// nothing is wrong.
// nvcc: -lcurand
#include <curand.h>
#include <cstdio>
#include <cstring>

enum { N = 1024 };

__global__ void average(const float *x, float *out) {
  float sum = 0;
  for (int i = 0; i < N; i++) sum += x[i];
  *out = sum / N;
}

int main(int argc, char **argv) {
  const char *mistake = argc > 1 ? argv[1] : "none";
  auto is = [&](const char *name) { return !strcmp(mistake, name); };
  float *x, *mean, host = 0;
  cudaMalloc(&x, N * sizeof(float));
  cudaMalloc(&mean, sizeof(float));
  curandGenerator_t g;
  curandCreateGenerator(&g, CURAND_RNG_PSEUDO_PHILOX4_32_10);
  curandSetPseudoRandomGeneratorSeed(g, 7);
  int status = 0, wanted = N, written = N;
  if (is("bytes")) wanted = N * sizeof(float);  // bytes where numbers are meant
  if (is("odd")) wanted = N - 1;                // normally distributed numbers come in pairs
  if (is("short")) written = N - 100;           // the kernel reads all
  if (is("race")) {
    cudaStream_t s, t;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    cudaDeviceSynchronize();
    cudaMemsetAsync(x, 0, N * sizeof(float), s);
    curandSetStream(g, t);
  }
  if (is("odd")) status = curandGenerateNormal(g, x, wanted, 0, 1);
  else if (is("infinite")) status = curandGenerateLogNormal(g, x, N, 200, 1);
  else if (is("freed")) {
    cudaFree(x);
    status = curandGenerateUniform(g, x, N);
    x = NULL;
  } else status = curandGenerateUniform(g, x, is("bytes") ? wanted : written);
  if (is("none") || is("short")) {
    average<<<1, 1>>>(x, mean);
    cudaMemcpy(&host, mean, sizeof host, cudaMemcpyDeviceToHost);
  }
  int error = cudaDeviceSynchronize();
  printf("%s: status %d, error %d, mean %.1f\n", mistake, status, error, host);
  curandDestroyGenerator(g);
  cudaFree(x);
  cudaFree(mean);
  return 0;
}
