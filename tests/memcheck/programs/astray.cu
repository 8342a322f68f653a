// Parameters that point far behind an allocation: into the rest of its page, or to what happens to
// lie there. Nothing of the program's does.
// device: cpu
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

__global__ void page(float *c) { c[threadIdx.x] = 1; }  // finds: oob-write count=32
__global__ void large(float *c) { c[threadIdx.x] = 2; }  // finds: oob-write count=32
// finds-next: oob-read count=32
__global__ void reads(const float *c, float *out) { out[threadIdx.x] = c[threadIdx.x]; }
__global__ void ours(float *c) { c[threadIdx.x] = 3; }

int main() {
  float *small, *big, *last;
  OK(cudaMalloc(&small, 1024)); OK(cudaMalloc(&big, 1200000)); OK(cudaMalloc(&last, 4096));
  page<<<1, 32>>>(small + 200000 / 4);
  large<<<1, 32>>>(big + 1300000 / 4);
  reads<<<1, 32>>>(small + 1000000 / 4, last);
  ours<<<1, 32>>>(last);
  OK(cudaDeviceSynchronize());
  puts("done");
}
