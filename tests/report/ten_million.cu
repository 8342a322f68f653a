// Every thread of two launches does something wrong: ten million threads at one place, and the same
// number spread over five.
#include <cstdio>
#include <cstdlib>

// label-next: one
__global__ void one(int *p, int far) { p[blockIdx.x * blockDim.x + threadIdx.x + far] = 1; }
__global__ void five(int *p, int far) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  switch (i & 3) {
    case 0: p[i + far] = i; break;
    case 1: p[i + far] += i; break;                  // a read and a write
    case 2: atomicAdd(&p[i + far], i); break;        // label: atomic
    default: if (p[i + far] == 77) p[0] = i;
  }
}

int main(int argc, char **argv) {
  int threads = atoi(argv[1]), far = argc > 2 ? 1 << 20 : 0, *p;
  cudaMalloc(&p, far ? 4096 : threads * sizeof *p);
  one<<<threads / 250, 250>>>(p, far);
  five<<<threads / 250, 250>>>(p, far);
  cudaError_t e = cudaDeviceSynchronize();
  if (e != cudaSuccess) printf("%s\n", cudaGetErrorString(e));
  return e != cudaSuccess;
}
