// Captured launches: what they may touch is decided when the graph is launched, not when it was
// captured. (On a GPU not where graphs have memory of their own.)
// finds-cpu: use-after-free count=39
// finds-gpu: use-after-free count=7
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
__global__ void fill(int *a, int n) { int i = threadIdx.x; if (i < n) a[i] = i; }
__global__ void each(int **list, int n) { int i = threadIdx.x; if (i < n) list[0][i] = i; }

int main() {
  int *a, *b, **list, *q; cudaStream_t s; cudaGraph_t g; cudaGraphExec_t x;
  OK(cudaStreamCreate(&s)); OK(cudaMalloc(&list, 8)); OK(cudaMalloc(&a, 400));
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  fill<<<1, 32, 0, s>>>(a, 32);
  each<<<1, 32, 0, s>>>(list, 32);
  OK(cudaMallocAsync(&q, 256, s));
  fill<<<1, 32, 0, s>>>(q, 32);
  OK(cudaFreeAsync(q, s));  // the graph's own memory
  OK(cudaStreamEndCapture(s, &g)); OK(cudaGraphInstantiate(&x, g, 0));
  OK(cudaMalloc(&b, 128));
  OK(cudaMemcpy(list, &b, 8, cudaMemcpyDefault));  // was not there when it was captured
  for (int i = 0; i < 3; i++) OK(cudaGraphLaunch(x, s));
  OK(cudaStreamSynchronize(s));
  OK(cudaFree(a));
  OK(cudaGraphLaunch(x, s));                    // fill(a)
  fill<<<1, 32, 0, s>>>(q, 7);                  // the graph has freed it
  OK(cudaStreamSynchronize(s));
  OK(cudaGraphExecDestroy(x)); OK(cudaGraphDestroy(g));
  puts("done");
}
