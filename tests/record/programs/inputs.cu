// For --record=inputs: launches whose inputs come from everywhere: copies, sets, other launches,
// variables, pointers in memory, memory that the host writes, graphs, several streams.
#include <cuda_runtime.h>
#include <stdio.h>

__device__ int counter = 7;
__constant__ float factor;
__device__ int history[4];

enum { N = 20000 };

__global__ void scale(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * factor + i % 7;
}

__global__ void add_through(float **list, int which, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) list[which][i] += list[1 - which][n - 1 - i];
}

__global__ void count(const int *host, int *out) {
  out[threadIdx.x] = atomicAdd(&counter, host[threadIdx.x]);
  history[threadIdx.x % 4] = out[threadIdx.x];
}

struct Shape { int width; double unused; float *data; };
__global__ void by_structure(Shape s, float x) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = s.data[threadIdx.x * s.width];
  __syncthreads();
  s.data[threadIdx.x * s.width] = tile[blockDim.x - 1 - threadIdx.x] + x;
}

#define TRY(call) \
  do { \
    cudaError_t e = (call); \
    if (e != cudaSuccess) { \
      printf("%s: %s\n", #call, cudaGetErrorString(e)); \
      return 1; \
    } \
  } while (0)

int main() {
  static float values[N];
  float *a, *b, **list, f = 1.5f, *pair[2];
  int *pinned, *out;
  for (int i = 0; i < N; i++) values[i] = i * 0.25f;
  TRY(cudaMalloc(&a, sizeof values));
  TRY(cudaMalloc(&b, sizeof values));
  TRY(cudaMalloc(&list, sizeof pair));
  TRY(cudaMalloc(&out, 64 * sizeof(int)));
  TRY(cudaMallocHost(&pinned, 64 * sizeof(int)));
  TRY(cudaMemcpy(a, values, sizeof values, cudaMemcpyHostToDevice));
  TRY(cudaMemset(b, 0, sizeof values));
  TRY(cudaMemcpyToSymbol(factor, &f, sizeof f));
  pair[0] = a, pair[1] = b;
  TRY(cudaMemcpy(list, pair, sizeof pair, cudaMemcpyHostToDevice));
  int blocks = (N + 255) / 256;
  scale<<<blocks, 256>>>(a, b, N);                           // 1
  add_through<<<blocks, 256>>>(list, 0, N);                  // 2
  for (int i = 0; i < 64; i++) pinned[i] = i;
  count<<<1, 64>>>(pinned, out);                             // 3
  TRY(cudaDeviceSynchronize());
  for (int i = 0; i < 64; i++) pinned[i] = 2 * i;
  count<<<1, 64>>>(pinned, out);                             // 4
  f = 2;
  TRY(cudaMemcpyToSymbol(factor, &f, sizeof f));
  float *c = a;
  TRY(cudaFree(b));
  TRY(cudaMalloc(&b, N / 2 * sizeof(float)));                // where b was, perhaps
  scale<<<blocks / 2, 256>>>(c, b, N / 2);                   // 5
  Shape s = {3, 0, b};
  by_structure<<<1, 128, 128 * sizeof(float)>>>(s, 0.5f);    // 6

  cudaStream_t one, two;
  TRY(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
  TRY(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
  TRY(cudaDeviceSynchronize());
  scale<<<blocks / 2, 256, 0, one>>>(a, b, N / 2);           // 7
  cudaEvent_t done;
  TRY(cudaEventCreate(&done));
  TRY(cudaEventRecord(done, one));
  TRY(cudaStreamWaitEvent(two, done, 0));
  by_structure<<<1, 128, 128 * sizeof(float), two>>>(s, 1);  // 8
  TRY(cudaDeviceSynchronize());

  cudaGraph_t graph;
  cudaGraphExec_t exec;
  TRY(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
  scale<<<blocks / 2, 256, 0, one>>>(
      b, a,
      N / 2);  // 9 and 10 are captured; on the virtual device they run as 11 and 12, 13 and 14
  TRY(cudaMemcpyAsync(b, a, 1000 * sizeof(float), cudaMemcpyDeviceToDevice, one));
  by_structure<<<1, 128, 128 * sizeof(float), one>>>(s, 3);
  TRY(cudaStreamEndCapture(one, &graph));
  TRY(cudaGraphInstantiate(&exec, graph, 0));
  TRY(cudaGraphLaunch(exec, one));
  TRY(cudaGraphLaunch(exec, one));
  TRY(cudaStreamSynchronize(one));
  scale<<<blocks / 2, 256>>>(b, a, N / 2);                   // the last one
  TRY(cudaMemcpy(values, a, sizeof values, cudaMemcpyDeviceToHost));
  double sum = 0;
  for (int i = 0; i < N; i++) sum += values[i] * (i % 13);
  printf("%.3f\n", sum);
  return 0;
}
