// Kernels for rehearsal.c: in those named quiet_… a block is known to have no races in shared
// memory; in those named left_… it has some, or it cannot be known.
#include <cstdint>

#define AT(p) ((uint32_t)__cvta_generic_to_shared(p))
#define COPY(to, from) \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(AT(to)), "l"(from) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
#define WAIT_ALL() asm volatile("cp.async.wait_all;" ::: "memory")
enum { THREADS = 64 };

// --- two buffers, filled by asynchronous copies ---

// wait: groups that may be left; first, second: barriers before and after the reads
template <int LEFT, bool FIRST, bool SECOND> __device__ void pipeline(float *out, const float *in,
                                                                      int n) {
  __shared__ float s[2][THREADS];
  int t = threadIdx.x;
  float sum = 0;
  COPY(&s[0][t], in + t);
  COMMIT();
  for (int i = 0, stage = 0; i < n; i++, stage ^= 1) {
    if (i + 1 < n) {
      COPY(&s[stage ^ 1][t], in + (i + 1) * THREADS + t);
      COMMIT();
      WAIT(LEFT);
    } else WAIT(0);
    if (FIRST) __syncthreads();
    sum += s[stage][t ^ 1];
    if (SECOND) __syncthreads();
  }
  out[blockIdx.x * THREADS + t] = sum;
}
extern "C" __global__ void quiet_pipeline(float *out, const float *in, int n) {
  pipeline<1, true, true>(out, in, n);
}
extern "C" __global__ void left_wait_too_short(float *out, const float *in, int n) {
  pipeline<2, true, true>(out, in, n);
}
extern "C" __global__ void left_no_barrier_before(float *out, const float *in, int n) {
  pipeline<1, false, true>(out, in, n);
}
extern "C" __global__ void left_no_barrier_after(float *out, const float *in, int n) {
  pipeline<1, true, false>(out, in, n);
}
// As left_no_barrier_after with a third buffer: a thread that reads is one turn behind at most.
template <int BUFFERS> __device__ void one_barrier(float *out, const float *in, int n) {
  __shared__ float s[BUFFERS][THREADS];
  int t = threadIdx.x;
  float sum = 0;
  COPY(&s[0][t], in + t);
  COMMIT();
  for (int i = 0; i < n; i++) {
    if (i + 1 < n) COPY(&s[(i + 1) % BUFFERS][t], in + (i + 1) * THREADS + t);
    COMMIT();
    WAIT(1);
    __syncthreads();
    sum += s[i % BUFFERS][t ^ 1];
  }
  out[blockIdx.x * THREADS + t] = sum;
}
extern "C" __global__ void quiet_three_buffers(float *out, const float *in, int n) {
  one_barrier<3>(out, in, n);
}
extern "C" __global__ void left_two_buffers(float *out, const float *in, int n) {
  one_barrier<2>(out, in, n);
}
extern "C" __global__ void left_own_copy(float *out, const float *in, int n) {
  __shared__ float s[THREADS];
  COPY(&s[threadIdx.x], in + threadIdx.x);
  COMMIT();
  out[threadIdx.x] = s[threadIdx.x];  // not waited for
  WAIT_ALL();
}
extern "C" __global__ void quiet_own_copy(float *out, const float *in, int n) {
  __shared__ float s[THREADS];
  COPY(&s[threadIdx.x], in + threadIdx.x);
  WAIT_ALL();
  out[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void left_copies_of_two(float *out, const float *in, int n) {
  __shared__ float s[THREADS];
  COPY(&s[threadIdx.x / 2], in + threadIdx.x);
  WAIT_ALL();
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x / 2];
}

// --- what other rules do not cover ---

extern "C" __global__ void quiet_triangle(float *out, const float *in, int n) {
  __shared__ float s[16][17];
  int t = threadIdx.x & 15;
  if (threadIdx.x >= 16) return;
  for (int i = 0; i < 16; i++) s[i][t] = in[i * 16 + t];
  __syncwarp();
  __syncthreads();
  for (int i = 0; i < 15; i++) {
    if (t > i) {
      for (int j = 0; j < i; j++) s[t][i] -= s[t][j] * s[j][i];
      s[t][i] /= s[i][i];
    }
    __syncthreads();
    if (t > i)
      for (int j = 0; j < i + 1; j++) s[i + 1][t] -= s[i + 1][j] * s[j][t];
    __syncthreads();
  }
  for (int i = 1; i < 16; i++) out[i * 16 + t] = s[i][t];
}
extern "C" __global__ void left_triangle(float *out, const float *in, int n) {
  __shared__ float s[16][17];
  int t = threadIdx.x & 15;
  if (threadIdx.x >= 16) return;
  for (int i = 0; i < 16; i++) s[i][t] = in[i * 16 + t];
  __syncthreads();
  for (int i = 0; i < 15; i++) {
    if (t > i) s[t][i] /= s[i][i] + s[t - 1][i];  // the row above is divided at the same time
    __syncthreads();
  }
  out[t] = s[t][t];
}
extern "C" __global__ void quiet_sort(int *out, const int *in, int n) {
  extern __shared__ int keys[];
  int t = threadIdx.x;
  keys[t] = in[t];
  keys[t + THREADS] = in[t + THREADS];
  for (int size = 2; size <= 2 * THREADS; size *= 2)
    for (int stride = size / 2; stride; stride /= 2) {
      __syncthreads();
      int at = 2 * t - (t & (stride - 1)), a = keys[at], b = keys[at + stride];
      if ((a > b) == !(t & (size / 2))) {  // depends on data
        keys[at] = b;
        keys[at + stride] = a;
      }
    }
  __syncthreads();
  out[t] = keys[t];
}
extern "C" __global__ void left_sort(int *out, const int *in, int n) {
  extern __shared__ int keys[];
  int t = threadIdx.x;
  keys[t] = in[t];
  keys[t + THREADS] = in[t + THREADS];
  for (int stride = THREADS; stride; stride /= 2) {
    __syncthreads();
    int a = keys[t], b = keys[t + stride];
    if (a > b) {  // some threads write what others read
      keys[t] = b;
      keys[t + stride] = a;
    }
  }
  __syncthreads();
  out[t] = keys[t];
}
extern "C" __global__ void quiet_guard(float *out, const float *in, int n) {  // as at an edge
  __shared__ float s[THREADS];
  int i = blockIdx.x * THREADS + threadIdx.x;
  if (i < n) s[threadIdx.x] = in[i];
  __syncthreads();
  if (i < n && threadIdx.x < THREADS - 1) out[i] = s[threadIdx.x + 1];
}
extern "C" __global__ void left_by_data(float *out, const int *in, int n) {
  __shared__ float s[THREADS];
  s[threadIdx.x] = 0;
  __syncthreads();
  s[in[threadIdx.x] & (THREADS - 1)] = 1;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void left_turns_by_data(float *out, const int *in, int n) {
  __shared__ float s[THREADS];
  for (int i = 0; i < in[0]; i++) {
    s[threadIdx.x] = i;
    __syncthreads();
    out[threadIdx.x] += s[threadIdx.x ^ 1];
    __syncthreads();
  }
}
extern "C" __global__ void quiet_atomics(int *out, const int *in, int n) {
  __shared__ int s[16];
  if (threadIdx.x < 16) s[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&s[threadIdx.x & 15], in[threadIdx.x]);
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x & 15];
}
extern "C" __global__ void left_atomics(int *out, const int *in, int n) {
  __shared__ int s[16];
  if (threadIdx.x < 16) s[threadIdx.x] = 0;
  atomicAdd(&s[threadIdx.x & 15], in[threadIdx.x]);
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x & 15];
}
extern "C" __global__ void quiet_by_parameter(float *out, const float *in, int n) {
  __shared__ float s[4 * THREADS];
  s[threadIdx.x * n] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[(THREADS - 1 - threadIdx.x) * n];
}
