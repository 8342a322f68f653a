// Kernels of graphs that are launched more than once: each thread writes other words in each
// launch, and launches follow each other.
#include <cstdio>

__global__ void turn(int *a, int *b, int *round, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[(i + 77 * *round) % n] = a[(i + 99) % n] + 1;
}

__global__ void block_sums(const int *in, int *out, int *round) {
  __shared__ int s[64];
  s[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  for (int d = 32; d; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[(blockIdx.x + *round) % gridDim.x] = s[0];
}

__global__ void next(int *round) {
  if (blockIdx.x == 0 && threadIdx.x == 0) ++*round;
}

int main() {
  int *a, *b, *c, *round;
  cudaStream_t s, t;
  cudaGraph_t graph, one;
  cudaGraphExec_t exec, last;
  cudaMalloc(&a, 512 * sizeof(int));
  cudaMalloc(&b, 512 * sizeof(int));
  cudaMalloc(&c, 512 * sizeof(int));
  cudaMalloc(&round, sizeof(int));
  cudaMemset(a, 0, 512 * sizeof(int));
  cudaMemset(b, 0, 512 * sizeof(int));
  cudaMemset(round, 0, sizeof(int));
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  turn<<<8, 64, 0, s>>>(a, b, round, 512);
  turn<<<8, 64, 0, s>>>(b, a, round, 512);
  block_sums<<<8, 64, 0, s>>>(a, c, round);
  next<<<2, 32, 0, s>>>(round);
  cudaStreamEndCapture(s, &graph);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  block_sums<<<8, 64, 0, s>>>(b, c, round);
  cudaStreamEndCapture(s, &one);
  cudaGraphInstantiate(&exec, graph, NULL, NULL, 0);
  cudaGraphInstantiate(&last, one, NULL, NULL, 0);
  for (int i = 0; i < 5; i++) cudaGraphLaunch(exec, s);
  turn<<<8, 64, 0, s>>>(a, b, round, 512);
  for (int i = 0; i < 200; i++) cudaGraphLaunch(exec, s);
  cudaStreamSynchronize(s);
  cudaGraphLaunch(last, t);
  cudaGraphLaunch(last, t);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
