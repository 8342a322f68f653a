// One bad access of machine code, or its correct twin: accesses WHAT [ok]. The threads of the last
// block reach past the end of a buffer, or the buffer is freed.
#include <cuda_pipeline.h>

#include <cstdio>
#include <cstring>

__global__ void store(int *to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = i;
}

__global__ void load(const int *from, int *to, int n, int room) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i % room] = from[i];
}

__global__ void add(int *to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&to[i], 1);
}

__global__ void copy_async(const int4 *from, int4 *to, int n, int room) {
  __shared__ int4 tile[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) __pipeline_memcpy_async(&tile[threadIdx.x], &from[i], sizeof(int4));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (i < n) to[i % room] = tile[threadIdx.x];
}

// Pointers in a struct, as frameworks pass them.
struct Pointers {
  char small;
  int *list[3];
};
__global__ void store_all(Pointers p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 3; k++)
    if (i < n) p.list[k][i] = i;
}

// A pointer that no parameter shows.
__global__ void store_indirect(int **list, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) list[1][i] = i;
}

int main(int argc, char **argv) {
  const char *what = argv[1];
  bool ok = argc > 2;
  const int n = 1024, more = ok ? n : n + 2;
  int *a, *b, *c, **list;
  cudaMalloc(&a, n * sizeof(int));
  cudaMalloc(&b, n * sizeof(int));
  cudaMalloc(&c, n * sizeof(int));
  cudaMalloc(&list, 2 * sizeof(int *));
  cudaMemset(a, 0, n * sizeof(int));
  int *pointers[] = {a, b};
  cudaMemcpy(list, pointers, sizeof pointers, cudaMemcpyHostToDevice);
  dim3 grid(17), block(64);
  if (!strcmp(what, "write")) store<<<grid, block>>>(a, more);
  if (!strcmp(what, "read")) load<<<grid, block>>>(a, b, more, n);
  if (!strcmp(what, "atomic")) add<<<grid, block>>>(a, more);
  if (!strcmp(what, "async"))
    copy_async<<<grid, block>>>((int4 *)a, (int4 *)b, ok ? n / 4 : n / 4 + 1, n / 4);
  if (!strcmp(what, "struct")) store_all<<<grid, block>>>(Pointers{1, {b, c, a}}, more);
  if (!strcmp(what, "indirect")) store_indirect<<<grid, block>>>(list, more);
  if (!strcmp(what, "freed")) {
    if (!ok) cudaFree(a);
    store<<<grid, block>>>(a, n);
  }
  if (!strcmp(what, "streams")) {  // each launch has its own record
    cudaStream_t s[8];
    for (int i = 0; i < 8; i++) cudaStreamCreateWithFlags(&s[i], cudaStreamNonBlocking);
    for (int k = 0; k < 100; k++)
      for (int i = 0; i < 8; i++) store<<<grid, block, 0, s[i]>>>(a, k == 60 && i == 5 ? more : n);
  }
  if (!strcmp(what, "reset")) {
    cudaDeviceReset();
    cudaMalloc(&a, n * sizeof(int));
    store<<<grid, block>>>(a, more);
  }
  cudaError_t e = cudaDeviceSynchronize();
  printf("%s\n", cudaGetErrorString(e));
  return 0;
}
