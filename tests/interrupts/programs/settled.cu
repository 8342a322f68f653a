// nvcc: -Iinclude
// Barriers behind which nobody can be suspended stay as they are (src/interrupt/settled.c), and
// those before do not. Each kernel is compared with itself without interrupts.
#include <cstdio>

#include "warpgrind.h"

enum { N = 1024, BLOCK = 128 };

WG_INTERRUPT_OR(twice_on_host, int(int x), 0);
template <bool INTERRUPTS> __device__ int twice(int x) {
  if (INTERRUPTS) return twice_on_host(x);
  return 2 * x;
}

WG_HANDLER(twice_on_host, wg_callers &callers, wg_list<int> x, wg_results<int> r) {
  for (size_t i = 0; i < callers.size(); i++) r[i] = 2 * x[i];
}

// One barrier is checked, seven are not.
template <bool I> __global__ void sum(int *out, const int *in, int n) {
  __shared__ int s[BLOCK];
  int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
  s[t] = in[i];
  if (t % 7 == 3) s[t] = twice<I>(s[t]);
#pragma unroll
  for (int k = BLOCK / 2; k; k /= 2) {
    __syncthreads();
    if (t < k) s[t] += s[t + k];
  }
  if (!t) out[blockIdx.x] = s[0];
}

// Some have ended before the barriers, some have been suspended once or twice.
template <bool I> __global__ void some_end(int *out, const int *in, int n) {
  __shared__ int s[BLOCK];
  int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
  s[t] = t;
  if (i >= n || t == 17) return;
  s[t] = t % 3 ? in[i] : twice<I>(in[i]);
  __syncthreads();
  int v = s[t ^ 1];
  if (t % 32 == 4) v = twice<I>(v);
  __syncthreads();
  s[t] = v + __shfl_xor_sync(__activemask(), v, 0);
  __syncthreads();
  out[i] = s[(t + 1) % BLOCK] + s[t];
}

// Blocks come to different barriers: all of them are checked.
template <bool I> __global__ void branches(int *out, const int *in, int n) {
  __shared__ int s[BLOCK];
  int t = threadIdx.x, i = blockIdx.x * BLOCK + t, v = in[i];
  if (t % 5 == 0) v = twice<I>(v);
  s[t] = v;
  if (n < 0 || blockIdx.x % 2) {
    __syncthreads();
    v += s[(t + 2) % BLOCK];
    __syncthreads();
    s[t] = v;
  }
  __syncthreads();
  out[i] = s[(t + 1) % BLOCK];
}

// Shared memory is read behind the last barrier by threads that were suspended.
template <bool I> __global__ void behind(int *out, const int *in, int n) {
  __shared__ int s[BLOCK];
  int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
  s[t] = in[i];
  __syncthreads();
  int v = 1;
  if (t % 9 == 0) v = twice<I>(s[t]);
  out[i] = v + s[(t + 3) % BLOCK];
}

typedef void Kernel(int *, const int *, int);
static int *in, *out;

static void compare(const char *name, Kernel *plain, Kernel *interrupts) {
  static int expected[N], found[N];
  Kernel *both[] = {plain, interrupts};
  for (int k = 0; k < 2; k++) {
    cudaMemset(out, 0, sizeof found);
    both[k]<<<N / BLOCK, BLOCK>>>(out, in, 1000);
    cudaMemcpy(k ? found : expected, out, sizeof found, cudaMemcpyDeviceToHost);
  }
  int different = 0;
  for (int i = 0; i < N; i++) different += expected[i] != found[i];
  printf("%s: %d different, %s\n", name, different, cudaGetErrorString(cudaGetLastError()));
}

int main() {
  static int host[N];
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  for (int i = 0; i < N; i++) host[i] = i * 37 % 101;
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  compare("sum", sum<false>, sum<true>);
  compare("some end", some_end<false>, some_end<true>);
  compare("branches", branches<false>, branches<true>);
  compare("behind", behind<false>, behind<true>);
  cudaFree(in);
  cudaFree(out);
}
