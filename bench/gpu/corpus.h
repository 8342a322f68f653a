// Included before a program of PolyBench/GPU by bench/gpu_corpus: the program runs several times in one process, so that its times
// are those of loaded code, and every copy from the device goes into a digest, printed at the end. What it would print as text is dropped.
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long corpus_digest = 0xcbf29ce484222325u;
static cudaError_t corpus_memcpy(void *to, const void *from, size_t n, cudaMemcpyKind kind) {
  cudaError_t e = cudaMemcpy(to, from, n, kind);
  if (kind == cudaMemcpyDeviceToHost)
    for (size_t i = 0; i + 8 <= n; i += 8) {
      unsigned long long w;
      memcpy(&w, (const char *)to + i, 8);
      corpus_digest = (corpus_digest ^ w) * 0x100000001b3u;
    }
  return e;
}
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
int corpus_main(int argc, char **argv);
int main(int argc, char **argv) {
  for (int i = 0; i < 4; i++) corpus_main(argc, argv);
  cudaError_t e = cudaDeviceSynchronize();
  printf("digest %016llx %s\n", corpus_digest, cudaGetErrorName(e));
  return 0;
}
#define cudaMemcpy corpus_memcpy
#define cudaMalloc(p, n) corpus_malloc((void **)(p), n)
#define posix_memalign corpus_memalign
#define main corpus_main
#define fprintf(...) ((void)0)
#define cudaThreadSynchronize cudaDeviceSynchronize
#define cudaThreadExit() ((void)0)
