// Pointers that come from memory, structures and functions; freed memory; shared and constant
// arrays, variables.
#include <cstdio>
#include <cstdlib>
#define OK(call) \
  do { \
    cudaError_t e = (call); \
    if (e != cudaSuccess) { \
      printf("%s\n", cudaGetErrorString(e)); \
      exit(1); \
    } \
  } while (0)
struct Table { int *rows[2]; int width; };
__constant__ int weights[16]; __device__ int lookup[16];
__device__ __noinline__ void put(int *p, int i, int v) { p[i] = v; }  // finds: oob-write count=32

__global__ void each(int **rows, Table t, int *out, int n) {
  __shared__ int tile[64]; int i = threadIdx.x;
  rows[i % 2][i] = i;  // finds: oob-write count=16
  if (i == 5) atomicAdd(out, t.rows[1][t.width + i]);  // finds: oob-read count=1
  tile[i + (i == 3) * 61 * n] = i;  // finds: oob-write count=1
  __syncthreads();
  if (i == 7) atomicAdd(out, weights[i + 9 * n] + tile[63 - i]);  // finds: oob-read count=1
  if (i == 7) atomicAdd(out, lookup[i + 9 * n]);  // finds: oob-read count=1
  put(out, i + 32, tile[i]);
}

__global__ void freed(const int *gone, int *out) {
  atomicAdd(out, gone[threadIdx.x]);  // finds: use-after-free count=64
}

int main() {
  int *rows[2], **d, *gone, *out;
  OK(cudaMalloc(&d, sizeof rows));
  OK(cudaMalloc(&rows[0], 64 * 4));
  OK(cudaMalloc(&rows[1], 64 * 4));
  OK(cudaMalloc(&gone, 64 * 4));
  OK(cudaMalloc(&out, 64 * 4));
  Table t = {{rows[0], rows[1]}, 64};
  OK(cudaMemset(rows[0], 0, 256)); OK(cudaMemset(rows[1], 0, 256)); OK(cudaMemset(out, 0, 256));
  rows[1] += 32;
  OK(cudaMemcpy(d, rows, sizeof rows, cudaMemcpyDefault));
  each<<<1, 64>>>(d, t, out, 1);
  OK(cudaFree(gone));
  freed<<<1, 64>>>(gone, out);
  OK(cudaDeviceSynchronize());
  puts("done");
}
