// A captured graph of two kernels, launched three times; before the second launch `add` gets
// another parameter if an argument is given. Between the launches an ordinary kernel runs, and
// memory of a pool comes and goes in stream order.
#include <cstdio>

__global__ void add(float *x, int n, float by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += by;
}
__global__ void twice(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

int main(int argc, char **argv) {
  int n = 2000;
  float *x, *y, by = 1;
  cudaMalloc(&x, n * 4);
  cudaMalloc(&y, n * 4);
  cudaMemset(x, 0, n * 4);
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  add<<<8, 256, 0, s>>>(x, n, by);
  twice<<<8, 256, 0, s>>>(x, y, n);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamEndCapture(s, &graph);
  cudaGraphNode_t nodes[8];
  size_t count = 8;
  cudaGraphGetNodes(graph, nodes, &count);
  if (cudaGraphInstantiate(&exec, graph, NULL, NULL, 0) != cudaSuccess) return 1;
  for (int i = 0; i < 3; i++) {
    if (i == 1 && argc > 1) {
      cudaKernelNodeParams p = {};
      by = 5;
      void *params[] = {&x, &n, &by};
      p.func = (void *)add;
      p.gridDim = dim3(8);
      p.blockDim = dim3(256);
      p.kernelParams = params;
      if (cudaGraphExecKernelNodeSetParams(exec, nodes[0], &p) != cudaSuccess) return 2;
    }
    cudaGraphLaunch(exec, s);
    float *t;
    cudaMallocAsync(&t, n * 4, s);
    twice<<<8, 256, 0, s>>>(y, t, n);
    cudaFreeAsync(t, s);
  }
  cudaStreamSynchronize(s);
  float last;
  cudaMemcpy(&last, y + n - 1, 4, cudaMemcpyDeviceToHost);
  printf("%d nodes, %g\n", (int)count, last);
  return 0;
}
