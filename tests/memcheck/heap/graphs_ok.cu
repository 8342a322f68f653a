// Graphs that are right: launched again and again, with memory freed behind them, with their own
// memory, freed outside of them.
// options: --leak-check=full
#include <cstdio>
#include <cstdlib>
#define OK(call) \
  do { \
    cudaError_t e = (call); \
    if (e != cudaSuccess) { \
      printf("%s: %s\n", #call, cudaGetErrorString(e)); \
      exit(1); \
    } \
  } while (0)
__global__ void fill(int *a, int n) {
  int i = threadIdx.x;
  for (int k = 0; k < 100; k++)
    if (i < n) atomicAdd(&a[i], i);
}
__global__ void each(int **list, int n) { int i = threadIdx.x; if (i < n) list[0][i] = i; }

int main() {
  int *a, *b, **list, *q; cudaStream_t s; cudaGraph_t g; cudaGraphExec_t x;
  OK(cudaStreamCreate(&s)); OK(cudaMalloc(&list, 8));
  OK(cudaMallocAsync(&a, 400, s)); OK(cudaStreamSynchronize(s));
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  OK(cudaMallocAsync(&q, 256, s));
  fill<<<1, 32, 0, s>>>(q, 32);
  fill<<<1, 32, 0, s>>>(a, 32);
  each<<<1, 32, 0, s>>>(list, 32);
  OK(cudaFreeAsync(q, s));
  OK(cudaStreamEndCapture(s, &g)); OK(cudaGraphInstantiate(&x, g, 0));
  for (int i = 0; i < 20; i++) {
    OK(cudaMalloc(&b, 128)); OK(cudaMemcpy(list, &b, 8, cudaMemcpyDefault));
    OK(cudaGraphLaunch(x, s));
    OK(cudaStreamSynchronize(s)); OK(cudaFree(b));
  }
  OK(cudaMalloc(&b, 128)); OK(cudaMemcpy(list, &b, 8, cudaMemcpyDefault));
  OK(cudaGraphLaunch(x, s));
  OK(cudaFreeAsync(a, s));                      // in the order of the stream: behind the graph
  OK(cudaStreamSynchronize(s));
  OK(cudaGraphExecDestroy(x)); OK(cudaGraphDestroy(g)); OK(cudaFree(b)); OK(cudaFree(list));
  puts("good");
}
