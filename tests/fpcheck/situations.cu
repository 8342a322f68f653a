// Launches that are not simple: situations KIND [good]. KIND is one of
//   atomics   every sum goes through an atomic operation; one of its threads divides by zero
//   waits     the kernel waits for a flag that the host sets after the launch
//   graph     launched three times inside a graph
//   capture   the same, captured from a stream
//   in-place  the kernel updates its input
//   rounds    so does this one, three times, and its threads work together
// With `good` the numbers are such that nothing is born. Prints sums of what was computed. Run by
// situations.sh.
#include <cmath>
#include <cstdio>
#include <cstring>

#define CHECK(call) \
  do { \
    cudaError_t e_ = (call); \
    if (e_ != cudaSuccess) { \
      printf("%s: %s\n", #call, cudaGetErrorString(e_)); \
      return 1; \
    } \
  } while (0)

__global__ void atomics(float *sums, const float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&sums[i & 255], 3.0f / b[i]);            // label: atomics
}
__global__ void waits(float *out, const float *b, const volatile int *flag, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  while (!*flag) continue;
  if (i < n) out[i] = 3.0f / b[i];                              // label: waits
}
__global__ void divides(float *out, const float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 3.0f / b[i];                              // label: graph
}
__global__ void updates(float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = 3.0f / b[i];                                // label: in-place
}

__global__ void rounds(float *b, int n) {
  __shared__ float mine[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  mine[threadIdx.x ^ 1] = i < n ? b[i] : 1.0f;
  __syncthreads();
  float x = mine[threadIdx.x ^ 1];
  if (i < n) b[i] = x + 1.0f / x;                               // label: rounds
}

static int in_a_graph(float *out, float *b, int n) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t node;
  CHECK(cudaGraphCreate(&graph, 0));
  void *args[] = {&out, &b, &n};
  cudaKernelNodeParams params = {};
  params.func = (void *)divides;
  params.gridDim = dim3((n + 255) / 256);
  params.blockDim = dim3(256);
  params.kernelParams = args;
  CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; i++) CHECK(cudaGraphLaunch(exec, 0));
  CHECK(cudaDeviceSynchronize());
  return 0;
}

static int captured(float *out, float *b, int n) {
  cudaStream_t s;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamCreate(&s));
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  divides<<<(n + 255) / 256, 256, 0, s>>>(out, b, n);
  CHECK(cudaStreamEndCapture(s, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; i++) CHECK(cudaGraphLaunch(exec, s));
  CHECK(cudaStreamSynchronize(s));
  return 0;
}

int main(int argc, char **argv) {
  const char *kind = argc > 1 ? argv[1] : "";
  const int n = !strcmp(kind, "waits") ? 2000 : 100000;
  static float host[100000];
  for (int i = 0; i < n; i++) host[i] = i == 77 && argc < 3 ? 0.0f : (float)(1 << i % 4);
  float *out, *b;
  CHECK(cudaMalloc(&out, sizeof host));
  CHECK(cudaMalloc(&b, sizeof host));
  CHECK(cudaMemset(out, 0, sizeof host));
  CHECK(cudaMemcpy(b, host, sizeof host, cudaMemcpyHostToDevice));
  int blocks = (n + 255) / 256;
  if (!strcmp(kind, "atomics")) atomics<<<blocks, 256>>>(out, b, n);
  else if (!strcmp(kind, "in-place")) updates<<<blocks, 256>>>(b, n);
  else if (!strcmp(kind, "rounds")) for (int i = 0; i < 3; i++) rounds<<<blocks, 256>>>(b, n);
  else if (!strcmp(kind, "graph")) { if (in_a_graph(out, b, n)) return 1; }
  else if (!strcmp(kind, "capture")) { if (captured(out, b, n)) return 1; }
  else {
    volatile int *flag, *device_flag;
    CHECK(cudaHostAlloc((void **)&flag, sizeof *flag, cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer((void **)&device_flag, (void *)flag, 0));
    *flag = 0;
    waits<<<blocks, 256>>>(out, b, device_flag, n);
    *flag = 1;
  }
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(host, !strcmp(kind, "in-place") || !strcmp(kind, "rounds") ? b : out,
                   sizeof host, cudaMemcpyDeviceToHost));
  unsigned sum = 0;
  for (int i = 0; i < n; i++) {
    unsigned bits;
    memcpy(&bits, &host[i], 4);
    sum = sum * 31 + bits;
  }
  printf("%08x\n", sum);
  return 0;
}
