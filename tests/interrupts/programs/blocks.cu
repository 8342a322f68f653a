// nvcc: -Iinclude
// Threads that need each other, with interrupts in between: barriers, shared memory, operations of
// lanes, local arrays. Each kernel is compared with itself without interrupts.
#include "compare.h"

template <bool I> __global__ void tile(int *out, const int *in, int) {
  __shared__ int s[128];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = in[i];
  __syncthreads();
  int v = s[(t + 1) % 128];
  if (t % 3 == 0) v = twice<I>(v);
  __syncthreads();
  s[t] = v;
  __syncthreads();
  out[i] = s[127 - t] + v;
}

template <bool I> __global__ void reduction(int *out, const int *in, int) {
  extern __shared__ int dynamic[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  dynamic[t] = in[i];
  for (int n = blockDim.x / 2; n; n /= 2) {
    __syncthreads();
    if (t < n) dynamic[t] += t % 2 ? twice<I>(dynamic[t + n]) : dynamic[t + n];
  }
  if (!t) out[blockIdx.x] = dynamic[0];
}

template <bool I> __global__ void shuffles(int *out, const int *in, int) {
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  int v = in[i];
  v += __shfl_xor_sync(~0u, v, 1);
  if (t & 4) v = twice<I>(v);
  v += __shfl_xor_sync(~0u, v, 8);
  if (t % 32 < 16) {
    v = t % 2 ? twice<I>(v) : v;
    v += __shfl_xor_sync(0xffff, v, 2);
  }
  v += __popc(__ballot_sync(~0u, v & 1)) + __any_sync(~0u, v == 77);
  __syncwarp();
  out[i] = v;
}

template <bool I> __global__ void local_array(int *out, const int *in, int) {
  int a[16], i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 16; k++) a[k] = in[i] + k;
  int *p = &a[in[i] & 15];
  for (int k = 0; k < 4; k++) {
    *p = twice<I>(*p);
    p = &a[(*p + k) & 15];
  }
  int sum = 0;
  for (int k = 0; k < 16; k++) sum += a[k] * (k + 1);
  out[i] = sum;
}

// Some threads end before the barriers, others while the rest is suspended.
template <bool I> __global__ void ended(int *out, const int *in, int n) {
  __shared__ int s[128];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = 0;
  if (i >= n) return;
  s[t] = in[i];
  __syncthreads();
  int v = t ? s[t - 1] : 5;
  if (t & 1) v = twice<I>(v);
  if (t % 8 == 5) {
    out[i] = v;
    return;
  }
  __syncthreads();
  int any = __syncthreads_or(v > 100), many = __syncthreads_count(v > 50);
  if (t == 2) v = twice<I>(v);
  __syncthreads();
  out[i] = v + any + many;
}

// Some call and end, while others are at barriers that no caller comes to.
template <bool I> __global__ void early(int *out, const int *in, int) {
  __shared__ int s[128];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = in[i];
  if (t % 32 == 7 || t / 32 == 2) {
    s[t] = out[i] = twice<I>(in[i]);
    return;
  }
  for (int k = 0; k < 3; k++) {
    __syncthreads();
    int v = s[(t + 5) % 7];
    __syncthreads();
    s[t] = v + k;
  }
  if (t == 1) s[1] += twice<I>(s[1]);
  __syncthreads();
  out[i] = s[t] + s[1];
}

// Two arrays and a barrier in a loop whose turns differ from block to block.
template <bool I> __global__ void loop(int *out, const int *in, int) {
  __shared__ int a[128];
  __shared__ short b[64];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  a[t] = in[i];
  if (t < 64) b[t] = (short)t;
  __syncthreads();
  for (int k = 0; k < 2 + blockIdx.x % 3; k++) {
    int v = a[(t + k + 1) % 128] + b[(t + k) % 64];
    if ((t + k) % 5 == 0) v = twice<I>(v);
    __syncthreads();
    a[t] = v;
    if (t == k) b[t] = (short)twice<I>(b[t]);
    __syncthreads();
  }
  out[i] = a[t] + b[t % 64];
}

int main() {
  compare("tile", tile<false>, tile<true>);
  compare("reduction", reduction<false>, reduction<true>);
  compare("shuffles", shuffles<false>, shuffles<true>);
  compare("local array", local_array<false>, local_array<true>);
  compare("ended", ended<false>, ended<true>);
  compare("early", early<false>, early<true>);
  compare("loop", loop<false>, loop<true>);
}
