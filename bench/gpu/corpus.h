// Included before a program of PolyBench/GPU by bench/gpu_corpus: the program runs several times in
// one process (GPU_RUNS), because the first launch of a kernel is not measured (timer.cu, which
// also makes the digest of the results). What it would print as text is dropped.
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Some programs read what they never wrote, on the host and on the device.
static int corpus_memalign(void **p, size_t alignment, size_t n) {
  int e = posix_memalign(p, alignment, n);
  if (!e) memset(*p, 0, n);
  return e;
}
static cudaError_t corpus_malloc(void **p, size_t n) {
  cudaError_t e = cudaMalloc(p, n);
  return e == cudaSuccess ? cudaMemset(*p, 0, n) : e;
}

// Each program defines one of the two as its main; the other stays NULL.
int corpus_main(int argc, char **argv) __attribute__((weak));
int corpus_main() __attribute__((weak));
int main(int argc, char **argv) {
  int (*volatile with)(int, char **) = corpus_main;
  int (*volatile without)() = corpus_main;
  int runs = getenv("GPU_RUNS") ? atoi(getenv("GPU_RUNS")) : 1;
  for (int i = 0; i < runs; i++) with ? with(argc, argv) : without();
  cudaError_t e = cudaDeviceSynchronize();
  printf("%s\n", cudaGetErrorName(e));
  return 0;
}

// One program forgets to include rtclock; the others bring their own, which the compiler prefers to
// a template.
template <int = 0> double rtclock() { return 0; }

#define cudaMalloc(p, n) corpus_malloc((void **)(p), n)
#define posix_memalign corpus_memalign
#define main corpus_main
#define fprintf(...) ((void)0)
#define cudaThreadSynchronize cudaDeviceSynchronize
#define cudaThreadExit() ((void)0)
