// Copies, sets and kernels in graphs do what they do when the graph runs, each time it does. On a
// GPU a graph that copies or sets makes everything count as initialised.
#include "check.h"

__global__ void twice(int *out, const int *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * 2;
}

static cudaGraphExec_t instantiate(cudaGraph_t g) {
  cudaGraphExec_t e;
  CHECK(cudaGraphInstantiate(&e, g, 0));
  return e;
}

int main() {
  int *a, *b, *host;
  cudaStream_t s;
  cudaGraph_t graph;
  CHECK(cudaStreamCreate(&s));
  CHECK(cudaMallocHost(&host, 4096));
  CHECK(cudaMalloc(&a, 4096));
  CHECK(cudaMalloc(&b, 4096));

  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemsetAsync(a, 0, 4096, s));
  twice<<<4, 256, 0, s>>>(b, a, 1024);
  CHECK(cudaStreamEndCapture(s, &graph));
  cudaGraphExec_t exec = instantiate(graph);
  CHECK(cudaMemcpy(host, b, 4096, cudaMemcpyDeviceToHost));  // finds: uninit-copy bytes=4096
  CHECK(cudaGraphLaunch(exec, s));
  CHECK(cudaStreamSynchronize(s));
  CHECK(cudaMemcpy(host, b, 4096, cudaMemcpyDeviceToHost));
  CHECK(cudaGraphLaunch(exec, s));
  CHECK(cudaStreamSynchronize(s));
  CHECK(cudaMemcpy(host, b, 4096, cudaMemcpyDeviceToHost));

  // the copy to the host is in the graph; where its node was made is the place
  cudaGraph_t second;
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  int *fresh;
  CHECK(cudaMallocAsync(&fresh, 4096, s));
  CHECK(cudaMemsetAsync(fresh, 0, 2048, s));
  twice<<<4, 256, 0, s>>>(b, fresh, 1024);
  // finds-cpu-next: uninit-use bytes=2048
  CHECK(cudaMemcpyAsync(host, b, 4096, cudaMemcpyDeviceToHost, s));
  CHECK(cudaMemsetAsync(fresh, 0, 4096, s));
  twice<<<4, 256, 0, s>>>(b, fresh, 1024);
  CHECK(cudaMemcpyAsync(host, b, 4096, cudaMemcpyDeviceToHost, s));
  CHECK(cudaFreeAsync(fresh, s));
  CHECK(cudaStreamEndCapture(s, &second));
  cudaGraphExec_t again = instantiate(second);
  for (int i = 0; i < 2; i++)
    CHECK(cudaGraphLaunch(again, s));  // its memory is unwritten again the second time
  CHECK(cudaStreamSynchronize(s));
  printf("done\n");
  return 0;
}
