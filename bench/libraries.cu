// GFLOP/s of cublasSgemm, and of OpenBLAS itself where a path to it is given: best of 25 rounds.
//   nvcc -o libraries bench/libraries.cu -lcublas -ldl
//   warpgrind --device=cpu --tool=none ./libraries …/openblas-serial/libopenblas.so.0
#include <cublas_v2.h>
#include <dlfcn.h>
#include <time.h>
#include <cstdio>
#include <vector>

// Seconds of the processor: other programs that run do not count.
static double now() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
  const int n = 1024, rounds = 25;
  std::vector<float> host(n * n, 1.0f);
  float *a, *b, *c, one = 1, zero = 0;
  cublasHandle_t h;
  cublasCreate(&h);
  cudaMalloc(&a, n * n * 4);
  cudaMalloc(&b, n * n * 4);
  cudaMalloc(&c, n * n * 4);
  cudaMemcpy(a, host.data(), n * n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(b, host.data(), n * n * 4, cudaMemcpyHostToDevice);
  double best = 1e9, own = 1e9, flops = 2.0 * n * n * n;
  void *blas = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  void (*sgemm)(const char *, const char *, const int *, const int *, const int *, const float *,
                const float *, const int *, const float *, const int *, const float *, float *,
                const int *) = NULL;
  if (blas) *(void **)&sgemm = dlsym(blas, "sgemm_");
  std::vector<float> y(host), z(n * n);
  for (int i = 0; i < rounds; i++) {
    double start = now();
    cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n);
    cudaDeviceSynchronize();
    best = now() - start < best ? now() - start : best;
    if (!sgemm) continue;
    start = now();
    sgemm("N", "N", &n, &n, &n, &one, host.data(), &n, y.data(), &n, &zero, z.data(), &n);
    own = now() - start < own ? now() - start : own;
  }
  printf("cublasSgemm %.1f GFLOP/s", flops / best / 1e9);
  if (sgemm) printf(", OpenBLAS itself %.1f GFLOP/s, ratio %.2f", flops / own / 1e9, own / best);
  printf("\n");
  return 0;
}
