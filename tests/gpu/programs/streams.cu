// Several streams, ordered by events and a host function; stream-ordered memory.
// coverage: all
#include "gpu_test.h"

__global__ void fill(int *p, int n, int v) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) p[i] = v + i;
}
__global__ void add(int *to, const int *from, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    to[i] += from[i];
}
static int called;
static void CUDART_CB count_call(void *p) { called += *(int *)p; }

int main() {
  enum { S = 4, N = 10000 };
  cudaStream_t s[S];
  cudaEvent_t ready[S], go;
  int low, high, *part[S], *sum, one = 1;
  static int h[N];
  OK(cudaDeviceGetStreamPriorityRange(&low, &high));
  OK(cudaEventCreateWithFlags(&go, cudaEventDisableTiming));
  OK(cudaMalloc(&sum, N * 4));
  for (int i = 0; i < S; i++) {
    OK(cudaStreamCreateWithPriority(&s[i], cudaStreamNonBlocking, i & 1 ? high : low));
    OK(cudaEventCreateWithFlags(&ready[i], cudaEventDisableTiming));
    OK(cudaMallocAsync(&part[i], N * 4, s[i]));
  }
  for (int round = 0; round < 20; round++) {
    OK(cudaMemsetAsync(sum, 0, N * 4, s[0]));
    OK(cudaEventRecord(go, s[0]));
    for (int i = 0; i < S; i++) {
      OK(cudaStreamWaitEvent(s[i], go, 0));
      fill<<<1, 256, 0, s[i]>>>(part[i], N, round * S + i);
      OK(cudaEventRecord(ready[i], s[i]));
    }
    for (int i = 0; i < S; i++) {
      OK(cudaStreamWaitEvent(s[0], ready[i], 0));
      add<<<16, 128, 0, s[0]>>>(sum, part[i], N);
    }
    OK(cudaLaunchHostFunc(s[0], count_call, &one));
  }
  OK(cudaMemcpyAsync(h, sum, sizeof h, cudaMemcpyDeviceToHost, s[0]));
  OK(cudaStreamSynchronize(s[0]));
  for (int i = 0; i < N; i++) if (h[i] != S * i + S * (19 * S) + 6) wrong++;
  EXPECT(called == 20);
  for (int i = 0; i < S; i++) OK(cudaFreeAsync(part[i], s[i]));
  OK(cudaDeviceSynchronize());
  show("sum", h, sizeof h);
  return finish();
}
