// Memory from malloc and new in device code that is written before it is read, by whoever it may
// be; and what is not known of it.
#include <cstdio>
#include <cuda_runtime.h>
#include <mma.h>

struct Node { int key; Node *next; };
__device__ Node *list[64];
__device__ float *block[2];

__global__ void decide(int *out) {
  int n = threadIdx.x % 13 + 1;
  char *p = (char *)malloc(n);
  for (int i = 0; i < n; i++) p[i] = i;
  for (int i = 0; i < n; i++)
    if (p[i] != i) out[threadIdx.x] = -1;
  free(p);
  p = (char *)malloc(64 + n);
  for (int i = 0; i < n; i++) p[64 + i] = i;
  if (p[63 + n] != n - 1) out[threadIdx.x] = -2;
  free(p);
}

__global__ void make() {
  Node *n = new Node;
  n->key = threadIdx.x;
  n->next = nullptr;
  list[threadIdx.x] = n;
}
__global__ void walk(int *out) {
  for (Node *n = list[threadIdx.x]; n; n = n->next) out[threadIdx.x] += n->key;
}
__global__ void drop() { delete list[threadIdx.x]; }

// One kernel takes memory, another that has it as a parameter writes to it, a third reads it.
__global__ void take(int which, float **at) {
  *at = block[which] = (float *)malloc(256 * sizeof(float));
}
__global__ void fill(float *p) { p[threadIdx.x] = threadIdx.x; }
__global__ void read(int which, int *out) {
  if (block[which][threadIdx.x] != threadIdx.x) out[threadIdx.x % 64] = -3;
}

// What this one writes is not seen.
__global__ void store_matrix(int which) {
  using namespace nvcuda::wmma;
  fragment<accumulator, 16, 16, 16, float> f;
  fill_fragment(f, 2.0f);
  store_matrix_sync(block[which], f, 16, mem_row_major);
}
__global__ void read_matrix(int which, int *out) {
  if (block[which][threadIdx.x] != 2) out[threadIdx.x % 64] = -4;
}

// More than is known of the heap.
__global__ void large(int *out, size_t bytes) {
  char *p = (char *)malloc(bytes);
  if (!p) return;
  if (p[bytes / 2] == 1 && p[bytes - 1] == 1) out[0] += 0;
  free(p);
}

int main() {
  int *out, host[64];
  float **at, *p;
  cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20);
  cudaMalloc(&out, sizeof host);
  cudaMalloc(&at, sizeof *at);
  cudaMemset(out, 0, sizeof host);
  decide<<<2, 64>>>(out);
  for (int i = 0; i < 3; i++) {
    make<<<1, 64>>>();
    walk<<<1, 64>>>(out);
    drop<<<1, 64>>>();
  }
  take<<<1, 1>>>(0, at);
  cudaMemcpy(&p, at, sizeof p, cudaMemcpyDeviceToHost);
  fill<<<1, 256>>>(p);
  read<<<1, 256>>>(0, out);
  take<<<1, 1>>>(1, at);
  store_matrix<<<1, 32>>>(1);
  read_matrix<<<1, 256>>>(1, out);
  large<<<1, 1>>>(out, 40 << 20);
  take<<<1, 1>>>(0, at);
  cudaMemcpy(&p, at, sizeof p, cudaMemcpyDeviceToHost);
  cudaGraph_t graph;                        // it writes to the same memory whenever it runs
  cudaGraphExec_t exec;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  fill<<<1, 256, 0, stream>>>(p);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);
  read<<<1, 256>>>(0, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  long sum = 0;
  for (int i = 0; i < 64; i++) sum += host[i];
  printf("%ld %s\n", sum, cudaGetErrorString(cudaDeviceSynchronize()));
}
