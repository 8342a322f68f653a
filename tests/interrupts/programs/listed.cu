// nvcc: -Iinclude
// Few blocks have suspended threads, and only those go on: in all of them blockIdx and gridDim are
// what they were. Blocks are no whole warps. Each kernel is compared with itself without
// interrupts.
#include <cstdio>
#include <cstring>

#include "warpgrind.h"

WG_INTERRUPT_OR(add_one_on_host, int(int x), 0);
WG_HANDLER(add_one_on_host, wg_callers &callers, wg_list<int> x, wg_results<int> r) {
  for (size_t i = 0; i < callers.size(); i++) r[i] = x[i] + 1;
}
WG_INTERRUPT_OR(ask, unsigned(), 0);  // no argument: the caller's index
WG_HANDLER(ask, wg_callers &callers, wg_results<unsigned> r) {
  for (size_t i = 0; i < callers.size(); i++) {
    r[i] = (unsigned)callers[i].index;
    if (i && callers[i - 1].index >= callers[i].index) printf("not in order\n");
  }
}
template <bool I> __device__ int add_one(int x) { return I ? add_one_on_host(x) : x + 1; }

__device__ unsigned number() {
  unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  return block * blockDim.x * blockDim.y * blockDim.z + thread;
}
template <bool I> __device__ unsigned own_index() { return I ? ask() : number(); }

__device__ int place() {  // from registers that are not kept
  volatile int zero = 0;
  return (int)(blockIdx.x + 100 * blockIdx.y + 10000 * blockIdx.z + gridDim.x + 7 * gridDim.y +
               11 * gridDim.z) +
         zero;
}

template <bool I> __global__ void grids(int *out) {
  unsigned n = number();
  int v = (int)n;
  if (blockIdx.y == 3 && blockIdx.x % 3 == 1 && n % 5 == 2) v = add_one<I>(v) + place();
  if (n % 211 == 17) v += add_one<I>(place());
  for (int k = 0; k < (int)(n % 97 == 5) * 4; k++) v += add_one<I>(v + (int)blockIdx.z) % 1000;
  out[n] = v + place();
}

template <bool I> __global__ void shared(int *out) {
  __shared__ int s[64];
  unsigned n = number(), t = n % 60;
  s[t] = (int)n;
  __syncthreads();
  int v = s[(t + 1) % 60];
  if (blockIdx.x == 2 && blockIdx.z == 1 && t % 9 == 4) v = add_one<I>(v);
  __syncthreads();
  s[t] = v + place();
  __syncthreads();
  out[n] = s[(t + 31) % 60] + (int)blockIdx.y;
}

template <bool I> __global__ void without_arguments(int *out) {
  unsigned n = number();
  out[n] = n % 13 == 3 ? (int)own_index<I>() : -1;
}

template <class K> static void compare(const char *name, K plain, K interrupts) {
  enum { THREADS = 7 * 5 * 3 * 60 };
  static int expected[THREADS], found[THREADS];
  K both[] = {plain, interrupts};
  int *out;
  cudaMalloc(&out, sizeof found);
  for (int k = 0; k < 2; k++) {
    cudaMemset(out, 0, sizeof found);
    both[k]<<<dim3(7, 5, 3), dim3(10, 3, 2)>>>(out);
    cudaMemcpy(k ? found : expected, out, sizeof found, cudaMemcpyDeviceToHost);
  }
  printf("%s: %s, %s\n", name, memcmp(expected, found, sizeof found) ? "different" : "the same",
         cudaGetErrorString(cudaGetLastError()));
  cudaFree(out);
}

int main() {
  for (int i = 0; i < 2; i++) {
    compare("grids", grids<false>, grids<true>);
    compare("shared", shared<false>, shared<true>);
    compare("without arguments", without_arguments<false>, without_arguments<true>);
  }
}
