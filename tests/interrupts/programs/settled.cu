// nvcc: -Iinclude
// Barriers behind which nobody can be suspended stay as they are (src/interrupt/settled.c), and
// those before do not. Each kernel is compared with itself without interrupts.
#include "compare.h"

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

// Blocks come to different barriers: the first of each way is checked.
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

// In a loop: the first barrier of each turn is checked, the second is not.
template <bool I> __global__ void tiles(int *out, const int *in, int n) {
  __shared__ int s[BLOCK];
  int t = threadIdx.x, i = blockIdx.x * BLOCK + t, sum = 0;
#pragma unroll 1
  for (int k = 0; k < n / 200; k++) {
    s[t] = in[(i + k) % N] + sum;
    __syncthreads();
    sum += s[(t + k + 1) % BLOCK];
    __syncthreads();
    if ((t + k) % 11 == 0) sum = twice<I>(sum) % 1000;
  }
  out[i] = sum;
}

// How often the loop turns comes from the host: both barriers are checked.
template <bool I> __global__ void decided(int *out, const int *in, int n) {
  __shared__ int s[BLOCK];
  int t = threadIdx.x, i = blockIdx.x * BLOCK + t, turns = twice<I>(n / 500), sum = 0;
#pragma unroll 1
  for (int k = 0; k < turns; k++) {
    s[t] = in[i] + sum;
    __syncthreads();
    sum += s[(t + k + 1) % BLOCK];
    __syncthreads();
    if (t == k) sum = twice<I>(sum);
  }
  out[i] = sum;
}

// Lanes of a warp call one after the other, and several times, behind the last barrier; others have
// ended before.
template <bool I> __global__ void last(int *out, const int *in, int n) {
  __shared__ int s[BLOCK];
  int t = threadIdx.x, i = blockIdx.x * BLOCK + t, v = 0;
  s[t] = t;
  if (i >= n) return;
  s[t] = in[i];
  __syncthreads();
  for (int k = 0; k < t % 5; k++) {
    v += k % 2 ? twice<I>(s[(t + k) % BLOCK]) : s[t] + k;
    if (t % 32 == 9) v += twice<I>(v + s[t ^ 1]);
  }
  if (t % 3 == 1) v += twice<I>(s[t]);
  out[i] = v + s[(t + 7) % BLOCK];
}

int main() {
  compare("sum", sum<false>, sum<true>);
  compare("some end", some_end<false>, some_end<true>);
  compare("branches", branches<false>, branches<true>);
  compare("behind", behind<false>, behind<true>);
  compare("tiles", tiles<false>, tiles<true>);
  compare("decided", decided<false>, decided<true>);
  compare("last", last<false>, last<true>);
}
