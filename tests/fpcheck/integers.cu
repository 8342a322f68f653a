// integers: kernels that compute with integers only: fpcheck has nothing to look for in them. One
//    of them uses a variable of the module, which another kernel with checks uses too;
// one is launched by a graph. Run by launches.sh.
#include <cstdio>

__device__ int variable;

__global__ void add(int *to, int n) { atomicAdd(to, n); }
__global__ void add_to_variable(int n) { atomicAdd(&variable, n); }
__global__ void copy_scaled(float *to, float by) { *to = (float)variable * by; }

int main() {
  int *sum, result = 0;
  float *scaled, value = 0;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  if (cudaMalloc(&sum, 4) != cudaSuccess || cudaMalloc(&scaled, 4) != cudaSuccess ||
      cudaMemset(sum, 0, 4) != cudaSuccess || cudaStreamCreate(&stream) != cudaSuccess)
    return 1;
  for (int i = 0; i < 5; i++) {
    add<<<1, 32>>>(sum, 1);
    add_to_variable<<<1, 1>>>(1);
  }
  copy_scaled<<<1, 1>>>(scaled, 0.5f);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  add<<<1, 1, 0, stream>>>(sum, 1000);
  cudaStreamEndCapture(stream, &graph);
  if (cudaGraphInstantiate(&exec, graph, 0) != cudaSuccess) return 1;
  for (int i = 0; i < 3; i++) cudaGraphLaunch(exec, stream);
  if (cudaStreamSynchronize(stream) != cudaSuccess) return 1;
  if (cudaMemcpy(&result, sum, 4, cudaMemcpyDeviceToHost) != cudaSuccess ||
      cudaMemcpy(&value, scaled, 4, cudaMemcpyDeviceToHost) != cudaSuccess)
    return 1;
  printf("%d %g\n", result, value);
}
