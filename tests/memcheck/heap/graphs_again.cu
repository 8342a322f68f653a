// Captured launches: what they may touch is decided at each launch of the graph, also when the
// graph it was made of is gone, and what the program sets afterwards is its own.
// finds: use-after-free count=32
// finds: oob-write count=2
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
__global__ void each(int **list, int n) {
  int i = threadIdx.x;
  if (i < n) list[0][i] = i;
}

int main() {
  int *a, *b, **list; cudaStream_t s; cudaGraph_t g; cudaGraphExec_t x;
  OK(cudaStreamCreate(&s)); OK(cudaMalloc(&list, 8)); OK(cudaMalloc(&a, 400));
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  fill<<<1, 32, 0, s>>>(a, 32);
  each<<<1, 32, 0, s>>>(list, 32);
  OK(cudaStreamEndCapture(s, &g)); OK(cudaGraphInstantiate(&x, g, 0)); OK(cudaGraphDestroy(g));
  for (int round = 0; round < 3;
       round++) {  // was not there when it was captured, and is another each time
    OK(cudaMalloc(&b, 128 + 64 * round)); OK(cudaMemcpy(list, &b, 8, cudaMemcpyDefault));
    OK(cudaGraphLaunch(x, s)); OK(cudaStreamSynchronize(s)); OK(cudaFree(b));
  }
  OK(cudaMalloc(&b, 120)); OK(cudaMemcpy(list, &b, 8, cudaMemcpyDefault));        // two too few
  OK(cudaGraphLaunch(x, s)); OK(cudaStreamSynchronize(s));
  OK(cudaFree(b)); OK(cudaMalloc(&b, 128)); OK(cudaMemcpy(list, &b, 8, cudaMemcpyDefault));
  OK(cudaFree(a));
  OK(cudaGraphLaunch(x, s)); OK(cudaStreamSynchronize(s));                        // fill(a)
  OK(cudaGraphExecDestroy(x));
  puts("done");
}
