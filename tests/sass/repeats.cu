// Kernels whose launches repeat each other's accesses, or do not. After `repeats:` on the lines
// before a kernel: yes or no, then its parameters: pN is a pointer at byte N, N=VALUE a number of
// 32 bits; all others are numbers that stay the same.
#include <cuda_fp16.h>
#include <stdint.h>

#define K extern "C" __global__ void
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

// repeats: yes p0 p8
K saxpy(const float *x, float *y, float a, int n) {
  unsigned i = THREAD;
  if (i < n) y[i] += a * x[i];
}
// repeats: no p0 p8 p16
K gathers(const int *index, const float *in, float *out) { out[THREAD] = in[index[THREAD]]; }
// repeats: no p0 p8
K scatters(const int *index, float *out) { out[index[THREAD]] = 1; }
// repeats: no p0 p8
K stores_some(const float *in, float *out) {
  if (in[THREAD] > 0) out[THREAD] = 1;
}
// repeats: yes p0 p8
K chooses(const float *in, float *out) {
  float v = in[THREAD];
  if (v > 0) {
    for (int i = 0; i < 100 && v < 1e9f; i++) v = v * v + 1;
  } else {
    v = -v;
  }
  out[THREAD] = v;
}
// repeats: no p0 p8
K leaves_early(const int *in, int *out) {
  if (in[0]) return;
  out[THREAD] = 1;
}
// A number of the key decides.
// repeats: yes p0 p8 p16 24=0
// repeats: no p0 p8 p16 24=1
// repeats: no p0 p8 p16
K by_flag(const int *index, const float *in, float *out, int flag) {
  unsigned i = THREAD;
  out[i] = in[flag ? index[i] : i];
}
// repeats: yes p8 p16 0=0 4=0
// repeats: no p0 p8 p16
K optional_index(const int *index, const float *in, float *out) {
  unsigned i = THREAD;
  if (index) i = index[i];
  out[i] = in[i];
}
// repeats: yes p0 p8
K loops(const float *in, float *out, int n, int step) {
  float sum = 0;
  const float *p = in + threadIdx.x;
  for (int i = 0; i < n; i++, p += step) sum += *p;
  out[THREAD] = sum;
}
// repeats: yes p0 p8
K strides(const float *in, float *out, size_t n) {
  for (size_t i = THREAD; i < n; i += (size_t)gridDim.x * blockDim.x) out[i] = in[i];
}
// repeats: no p0 p8
K loops_until(const int *in, int *out) {
  int i = 0;
  while (in[i]) out[i++] = 1;
}
// repeats: no p0 p8
K follows_list(const int *next, int *out) {
  int at = 0;
  for (int i = 0; i < 10; i++) at = next[at];
  out[0] = at;
}
// repeats: no p0 p8
K appends(int *count, int *out) { out[atomicAdd(count, 1)] = 1; }
// repeats: yes p0
K counts(int *count) { atomicAdd(&count[threadIdx.x], 1); }
// One lane adds for all that are there at the same time, which may be any.
// repeats: no p0
K counts_all(int *count) { atomicAdd(count, threadIdx.x); }
// repeats: no p0
K last_block(unsigned *count, int *out) {
  if (atomicAdd(count, 1) == gridDim.x - 1) out[threadIdx.x] = 1;
}
// repeats: no p0
K by_clock(int *out) { out[clock() & 7] = 1; }
// repeats: no p0
K by_processor(int *out) {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  out[sm] = 1;
}
// repeats: no p0 p8
K through_shared(const int *index, int *out) {
  __shared__ int s[256];
  s[threadIdx.x] = index[threadIdx.x];
  __syncthreads();
  out[s[255 - threadIdx.x]] = 1;
}
// repeats: yes p0 p8
K transposes(const float *in, float *out, int n) {
  __shared__ float s[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  if (x < n && y < n) s[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  if (x < n && y < n) out[y * n + x] = s[threadIdx.x][threadIdx.y];
}
// An array in local memory, with data in it.
// repeats: no p0 p8
K through_local(const int *index, int *out, int n) {
  int list[16];
  for (int i = 0; i < 16; i++) list[i] = index[i];
  for (int i = 0; i < n; i++) list[(i * 7) & 15] ^= list[i & 15];
  out[list[n & 15]] = 1;
}
// repeats: no p0 p8
K pointer_in_memory(float **lists, float *out) { lists[blockIdx.x][threadIdx.x] = out[0]; }
struct Lists {
  float *list[32];
  int n[32];
};
// repeats: yes p0 p8 p16 p24
K by_block(Lists l) {
  if (threadIdx.x < l.n[blockIdx.x]) l.list[blockIdx.x][threadIdx.x] = 1;
}
__device__ int variable[256];
// repeats: no p0
K uses_variable(int *out) { out[THREAD] = variable[threadIdx.x]; }
// repeats: yes p0
K divides(int *out, int n, int m) { out[threadIdx.x / n * m + threadIdx.x % n] = 1; }
// The slow path of a division is a function, which runs as data demand.
// repeats: yes p0 p8
K divides_data(const float *in, float *out) { out[THREAD] = in[THREAD] / (in[0] + 1); }
// repeats: yes p0 p8
K divides_double(const double *in, double *out) { out[THREAD] = in[THREAD] / (in[0] + 1); }
// repeats: yes p0
K divides_longs(int *out, long long n) { out[(long long)THREAD / n] = 1; }
// repeats: no p0 p8
K by_vote(const int *in, int *out) { out[__popc(__ballot_sync(~0u, in[threadIdx.x]))] = 1; }
// repeats: yes p0
K by_shuffle(int *out) { out[__shfl_xor_sync(~0u, threadIdx.x, 1)] = 1; }
// repeats: no p0 p8
K by_shuffled_data(const int *in, int *out) {
  out[__shfl_xor_sync(~0u, in[threadIdx.x], 1)] = 1;
}
// How far an address is from a multiple of 512 bytes is known.
// repeats: yes p0 p8
K aligns(const char *in, char *out, int n) {
  int skip = (size_t)in & 15;
  for (int i = threadIdx.x + skip; i < n; i += blockDim.x) out[i] = in[i];
}
// … but not the address.
// repeats: no p0
K hashes_address(int *out) { out[((size_t)out >> 12) & 255] = 1; }
// repeats: yes p0 p8
K copies_async(const float4 *in, float4 *out, int n) {
  __shared__ float4 s[256];
  unsigned to = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]);
  int bytes = threadIdx.x < n ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(in + threadIdx.x),
               "r"(bytes));
  asm volatile("cp.async.wait_all;");
  __syncthreads();
  out[threadIdx.x] = s[255 - threadIdx.x];
}
// repeats: no p0 p8
K copies_some_async(const float4 *in, float4 *out) {
  __shared__ float4 s[256];
  unsigned to = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]);
  if (in[0].x > 0)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + threadIdx.x));
  asm volatile("cp.async.wait_all;");
  __syncthreads();
  out[threadIdx.x] = s[255 - threadIdx.x];
}
// Waiting for other threads takes as long as it takes, and changes nothing.
// repeats: yes p0 p8
K waits(const float *in, float *out) {
  __shared__ uint64_t barrier;
  unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 128;" ::"r"(at));
  __syncthreads();
  asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(at) : "memory");
  unsigned done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0;"
                 " selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at) : "memory");
  out[THREAD] = in[THREAD];
}
// repeats: no p0 p8
K spins(volatile int *flag, int *out) {
  while (!flag[0]) out[threadIdx.x] = 1;
}
__noinline__ __device__ int deep(int n, int *out) {
  if (n == 0) return out[0];
  out[n] = n;
  return deep(n - 1, out) + n;
}
// repeats: no p0
K recurses(int *out, int n) { out[0] = deep(n, out); }
typedef void Action(int *);
__device__ void add_one(int *out) { out[0]++; }
__device__ void add_two(int *out) { out[0] += 2; }
// repeats: no p0
K calls_pointer(int *out, int which) {
  Action *list[] = {add_one, add_two};
  list[which & 1](out);
}
// repeats: no p0
K asserts(int *out, const int *in) {
  if (in[0] < 0) __trap();
  out[in[0] & 7] = 1;
}
// A number that only becomes part of what is stored may be anything.
// repeats: yes p0 p8 16=any
// repeats: no p0 p8 20=any
K scales(const float *in, float *out, float a, int n) {
  if (THREAD < n) out[THREAD] = a * in[THREAD];
}
// repeats: yes p0
K halves(__half2 *out, __half2 a) { out[THREAD] = __hadd2(out[THREAD], a); }
// 64 bits, in two registers each.
// repeats: yes p0 p8 16=5 20=1 24=5 28=1
// repeats: no p0 p8 16=5 20=1 24=6 28=1
// repeats: no p0 p8 16=5 20=1 24=5 28=2
K compares_longs(const int *index, int *out, long long a, long long b) {
  if (a < b) out[index[threadIdx.x]] = 1;
  else out[threadIdx.x] = 1;
}
