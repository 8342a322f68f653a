// Kernels of graphs that are launched more than once: each launch counts as one of its own.
#include <cstdio>

__global__ void neighbour(int *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  // finds-next: race group=neighbour
  a[i] = a[(i + 1) % n] + 1;
}

__global__ void shared_sum(const int *in, int *out) {
  __shared__ int s[64];
  // finds-next: race group=shared_sum
  s[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  // finds-next: race group=shared_sum
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}

int main() {
  int *a, *b;
  cudaStream_t s;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaMalloc(&a, 512 * sizeof(int));
  cudaMalloc(&b, 512 * sizeof(int));
  cudaMemset(a, 0, 512 * sizeof(int));
  cudaStreamCreate(&s);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  neighbour<<<8, 64, 0, s>>>(a, 512);
  shared_sum<<<8, 64, 0, s>>>(a, b);
  cudaStreamEndCapture(s, &graph);
  cudaGraphInstantiate(&exec, graph, NULL, NULL, 0);
  for (int i = 0; i < 3; i++) cudaGraphLaunch(exec, s);
  printf("%s\n", cudaGetErrorString(cudaStreamSynchronize(s)));
}
