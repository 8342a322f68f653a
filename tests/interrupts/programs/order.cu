// nvcc: -Iinclude
// What comes after a launch in its stream, and what waits for an event behind it, comes after its
// interrupts. Two host threads at a time, four times: launches use memory of earlier ones again.
#include <cstdio>
#include <thread>

#include "warpgrind.h"

enum { N = 300, ROUNDS = 50 };

WG_INTERRUPT_OR(next, int(int x), 0);

__global__ void walk(int *a) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= N) return;
  int x = a[i];
  for (int k = 0; k < ROUNDS; k++) x = next(x);
  a[i] = x;
}
__global__ void copy(int *to, const int *from) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < N) to[i] = from[i];
}

static int rounds;
WG_HANDLER(next, wg_callers &callers, wg_list<int> x, wg_results<int> r) {
  __atomic_fetch_add(&rounds, 1, __ATOMIC_RELAXED);
  for (size_t i = 0; i < callers.size(); i++) r[i] = x[i] + 1;
}

static void run(const char *name, char *said) {
  int *a, *b, *host, wrong = 0;
  size_t bytes = N * sizeof *host;
  cudaStream_t first, second;
  cudaEvent_t walked;
  cudaStreamCreate(&first);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cudaEventCreate(&walked);
  cudaMallocHost(&host, bytes);
  cudaMalloc(&a, bytes);
  cudaMalloc(&b, bytes);
  for (int i = 0; i < N; i++) host[i] = i;
  cudaMemcpyAsync(a, host, bytes, cudaMemcpyHostToDevice, first);
  walk<<<3, 100, 0, first>>>(a);
  cudaEventRecord(walked, first);
  cudaStreamWaitEvent(second, walked, 0);
  copy<<<3, 100, 0, second>>>(b, a);
  walk<<<3, 100, 0, second>>>(b);
  cudaMemcpyAsync(host, b, bytes, cudaMemcpyDeviceToHost, second);
  cudaStreamSynchronize(second);
  for (int i = 0; i < N; i++) wrong += host[i] != i + 2 * ROUNDS;
  sprintf(said, "%s: %d wrong, %s\n", name, wrong, cudaGetErrorString(cudaGetLastError()));
  cudaFree(a);
  cudaFree(b);
  cudaFreeHost(host);
  cudaStreamDestroy(first);
  cudaStreamDestroy(second);
  cudaEventDestroy(walked);
}

int main() {
  char said[2][200];
  for (int i = 0; i < 4; i++) {
    std::thread one(run, "one", said[0]), two(run, "two", said[1]);
    one.join();
    two.join();
    printf("%s%s", said[0], said[1]);
  }
  printf("%d rounds\n", rounds);
}
