// The cost of GPU interrupts, timed on the host: bench/gpu_interrupts runs it plain and under
// Warpgrind. Each line: a name and milliseconds, the best of several turns.
//   kernels   twenty kernels with a check that never fails, and without: the ratio
//   million   one interrupt of a million threads; its handler stays on the device
//   host      the same with a host view of the arguments and results
//   rounds    a thousand rounds of 100,000 threads: milliseconds of one
//   failing   a kernel of about 50 µs for one iteration, whose check fails in every iteration
#include <chrono>
#include <cstdio>
#include <cstring>

#include "warpgrind.h"

WG_INTERRUPT(failed, void(int thread));
WG_INTERRUPT_OR(on_device, int(int x), 1);
WG_INTERRUPT_OR(on_host, int(int x), 1);
WG_INTERRUPT(each_round, void(int x));

static size_t calls;
WG_HANDLER(failed, wg_callers &callers, wg_list<int> thread) { calls += callers.size(); }
__global__ void add_one(int *r, const int *x, size_t n) {
  size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
  if (i < n) r[i] = x[i] + 1;
}
WG_HANDLER(on_device, wg_callers &callers, wg_list<int> x, wg_results<int> r) {
  calls += callers.size();
  add_one<<<(unsigned)((callers.size() + 255) / 256), 256>>>(r.d, x.d, callers.size());
}
WG_HANDLER(on_host, wg_callers &callers, wg_list<int> x, wg_results<int> r) {
  calls += callers.size();
  const int *from = x.host();
  int *to = r.host();
  for (size_t i = 0; i < callers.size(); i++) to[i] = from[i] + 1;
}
WG_HANDLER(each_round, wg_callers &callers, wg_list<int> x) { calls += callers.size(); }

// --- twenty kernels, each with and without a check where a programmer would put it ---
#define KERNEL(name) template <bool CHECK> __global__ void name(float *a, const float *b, int n)
#define INDEX \
  int i = threadIdx.x + blockIdx.x * blockDim.x, t = threadIdx.x; \
  (void)t
#define MUST(condition) \
  do { \
    if (CHECK && !(condition)) failed(i); \
  } while (0)

KERNEL(saxpy) {
  INDEX;
  if (i >= n) return;
  float x = 2 * b[i] + a[i];
  MUST(x < 1e30f);
  a[i] = x;
}
KERNEL(gather) {
  INDEX;
  int k = (int)(((unsigned)i * 2654435761u) % (unsigned)n);
  MUST(k >= 0 && k < n);
  a[i] = b[k];
}
KERNEL(block_sum) {
  __shared__ float s[256];
  INDEX;
  s[t] = b[i];
  MUST(s[t] > -1e30f);
  for (int k = 128; k; k /= 2) {
    __syncthreads();
    if (t < k) s[t] += s[t + k];
  }
  if (!t) a[blockIdx.x] = s[0];
}
KERNEL(transpose) {
  __shared__ float s[16][17];
  INDEX;
  int x = t % 16, y = t / 16;
  s[y][x] = b[i];
  __syncthreads();
  float v = s[x][y];
  MUST(v == v);
  a[i] = v;
}
KERNEL(stencil) {
  INDEX;
  if (i < 2 || i >= n - 2) return;
  float v = b[i - 2] + b[i - 1] + b[i] + b[i + 1] + b[i + 2];
  MUST(v < 1e30f);
  a[i] = v * 0.2f;
}
KERNEL(matmul) {  // tiles of 16 x 16 of matrices with 256 columns
  __shared__ float p[16][16], q[16][16];
  INDEX;
  int x = t % 16, y = t / 16;
  float sum = 0;
  for (int k = 0; k < 16; k++) {
    p[y][x] = b[(blockIdx.x * 4096 + y * 256 + k * 16 + x) % (unsigned)n];
    q[y][x] = b[(k * 4096 + y * 256 + x) % n];
    __syncthreads();
    for (int j = 0; j < 16; j++) sum += p[y][j] * q[j][x];
    __syncthreads();
    MUST(sum < 1e30f);
  }
  a[i] = sum;
}
KERNEL(histogram) {
  __shared__ unsigned bins[256];
  INDEX;
  bins[t] = 0;
  __syncthreads();
  int bin = (int)(b[i] * 255) + (i & 63);
  MUST(bin >= 0 && bin < 256);
  atomicAdd(&bins[bin & 255], 1u);
  __syncthreads();
  a[i] = (float)bins[t];
}
KERNEL(block_scan) {
  __shared__ float s[256];
  INDEX;
  s[t] = b[i];
  __syncthreads();
  for (int k = 1; k < 256; k *= 2) {
    float v = t >= k ? s[t - k] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  MUST(s[t] < 1e30f);
  a[i] = s[t];
}
KERNEL(bodies) {
  INDEX;
  float x = b[i], force = 0;
  for (int k = 0; k < 256; k++) {
    float d = b[k] - x;
    force += d * rsqrtf(d * d + 0.01f);
  }
  MUST(force < 1e30f);
  a[i] = force;
}
KERNEL(mandelbrot) {
  INDEX;
  float x = 0, y = 0, p = (i % 4096) / 2048.f - 1.5f, q = (i / 4096 % 4096) / 2048.f - 1;
  int k = 0;
  for (; k < 64 && x * x + y * y < 4; k++) {
    float z = x * x - y * y + p;
    y = 2 * x * y + q;
    x = z;
  }
  MUST(k <= 64);
  a[i] = (float)k;
}
KERNEL(bitonic) {
  __shared__ float s[256];
  INDEX;
  s[t] = b[i] + (i * 7919 % 256);
  for (int k = 2; k <= 256; k *= 2)
    for (int j = k / 2; j; j /= 2) {
      __syncthreads();
      int o = t ^ j;
      float u = s[t], v = s[o];
      __syncthreads();
      if ((u > v) == ((t < o) == ((t & k) == 0))) s[t] = v;
    }
  __syncthreads();
  MUST(t == 0 || s[t - 1] <= s[t]);
  a[i] = s[t];
}
KERNEL(warp_sum) {
  INDEX;
  float v = b[i];
  for (int k = 16; k; k /= 2) v += __shfl_xor_sync(~0u, v, k);
  MUST(v < 1e30f);
  a[i] = v;
}
KERNEL(convolution) {
  __shared__ float s[256 + 16];
  INDEX;
  s[t + 8] = b[i];
  if (t < 16) s[t < 8 ? t : t + 256] = b[i];
  __syncthreads();
  float v = 0;
  for (int k = 0; k < 17; k++) v += s[t + k] * (1 + k);
  MUST(v < 1e30f);
  a[i] = v;
}
KERNEL(black_scholes) {
  INDEX;
  float s = b[i] + 10, d = (logf(s / 9) + 0.06f) / 0.3f;
  float price = s * normcdff(d) - 9 * expf(-0.02f) * normcdff(d - 0.3f);
  MUST(price > -1e-3f);
  a[i] = price;
}
KERNEL(monte_carlo) {
  INDEX;
  unsigned r = (unsigned)i;
  int inside = 0;
  for (int k = 0; k < 64; k++) {
    r = r * 1664525u + 1013904223u;
    float x = (r >> 16) / 65536.f, y = (r & 65535) / 65536.f;
    inside += x * x + y * y < 1;
  }
  MUST(inside <= 64);
  a[i] = inside / 16.f;
}
KERNEL(sparse) {  // 8 elements in each row
  INDEX;
  float v = 0;
  for (int k = 0; k < 8; k++) {
    int column = (i + k * k * 97) % n;
    MUST(column < n);
    v += b[column] * k;
  }
  a[i] = v;
}
KERNEL(softmax) {  // rows of 32, one for each warp
  INDEX;
  float v = b[i], most = v;
  for (int k = 16; k; k /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, k));
  float e = expf(v - most), sum = e;
  for (int k = 16; k; k /= 2) sum += __shfl_xor_sync(~0u, sum, k);
  MUST(sum >= 1);
  a[i] = e / sum;
}
KERNEL(normals) {
  INDEX;
  if (i >= n / 9) return;
  const float *p = b + 9 * (size_t)i;
  float ux = p[3] - p[0] + 1, uy = p[4] - p[1], uz = p[5] - p[2];
  float vx = p[6] - p[0], vy = p[7] - p[1] + 1, vz = p[8] - p[2];
  float x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
  MUST(x * x + y * y + z * z > 1e-10f);
  float scale = rsqrtf(x * x + y * y + z * z);
  a[3 * i] = x * scale;
  a[3 * i + 1] = y * scale;
  a[3 * i + 2] = z * scale;
}
KERNEL(copy4) {
  INDEX;
  if (i >= n / 4) return;
  float4 v = reinterpret_cast<const float4 *>(b)[i];
  MUST(v.x == v.x);
  reinterpret_cast<float4 *>(a)[i] = v;
}
KERNEL(polynomial) {
  INDEX;
  float x = b[i], v = 0;
  for (int k = 0; k < 32; k++) v = v * x + k;
  MUST(v < 1e30f);
  a[i] = v;
}
__global__ void million_device(int *a, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) a[i] = on_device(a[i]);
}
__global__ void million_host(int *a, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) a[i] = on_host(a[i]);
}
__global__ void many_rounds(int *a, int n, int rounds) {
  int i = threadIdx.x + blockIdx.x * blockDim.x, x = i;
  if (i >= n) return;
  for (int k = 0; k < rounds; k++) {
    each_round(x);
    x += k;
  }
  a[i] = x;
}
template <bool CHECK> __global__ void iterations(float *a, int n, int turns, float limit) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  float x = a[i % n];
  for (int t = 0; t < turns; t++) {
    for (int k = 0; k < 1000; k++) x = x * 0.999f + 0.001f;
    if (CHECK && i == t % 1000 && !(x > limit)) failed(i);
  }
  if (i < n) a[i] = x;
}

template <class F> static double best(int turns, F f) {
  double least = 1e30;
  for (int i = 0; i < turns; i++) {
    cudaDeviceSynchronize();
    auto start = std::chrono::steady_clock::now();
    f();
    cudaDeviceSynchronize();
    std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    if (took.count() < least) least = took.count();
  }
  return least;
}

enum { N = 1 << 25, MILLION = 1 << 20, ROUND_THREADS = 100000, ROUNDS = 1000 };
static float *a, *b;
static double ratio_sum, ratio_worst;
static int ratios;
typedef void Kernel(float *, const float *, int);

static void compare(const char *name, Kernel *plain, Kernel *checked) {
  double ms[2];
  for (int c = 0; c < 2; c++)
    ms[c] = best(10, [&] {
      for (int i = 0; i < 5; i++) (c ? checked : plain)<<<N / 256, 256>>>(a, b, N);
    });
  double ratio = ms[1] / ms[0];
  printf("%-14s %.3f ms, with a check %.3f, ratio %.3f\n", name, ms[0] / 5, ms[1] / 5, ratio);
  ratio_sum += ratio;
  ratios++;
  if (ratio > ratio_worst) ratio_worst = ratio;
}
#define COMPARE(name) compare(#name, name<false>, name<true>)

static void compare_all() {
  COMPARE(saxpy);
  COMPARE(gather);
  COMPARE(block_sum);
  COMPARE(transpose);
  COMPARE(stencil);
  COMPARE(matmul);
  COMPARE(histogram);
  COMPARE(block_scan);
  COMPARE(bodies);
  COMPARE(mandelbrot);
  COMPARE(bitonic);
  COMPARE(warp_sum);
  COMPARE(convolution);
  COMPARE(black_scholes);
  COMPARE(monte_carlo);
  COMPARE(sparse);
  COMPARE(softmax);
  COMPARE(normals);
  COMPARE(copy4);
  COMPARE(polynomial);
  printf("kernels: mean ratio %.3f, worst %.3f\n", ratio_sum / ratios, ratio_worst);
}

int main(int argc, char **argv) {
  int *c = nullptr, small = argc > 1 && !strcmp(argv[1], "small");
  cudaMalloc(&a, N * sizeof *a);
  cudaMalloc(&b, N * sizeof *b);
  cudaMalloc(&c, N * sizeof *c);
  cudaMemset(a, 0, N * sizeof *a);
  cudaMemset(b, 0, N * sizeof *b);
  cudaMemset(c, 0, N * sizeof *c);
  if (!small) compare_all();
  int threads = small ? 2000 : MILLION, rounds = small ? 20 : ROUNDS;
  int callers = small ? 1000 : ROUND_THREADS;
  double device = best(10, [&] { million_device<<<threads / 256 + 1, 256>>>(c, threads); });
  printf("million: %.3f ms\n", device);
  double host = best(10, [&] { million_host<<<threads / 256 + 1, 256>>>(c, threads); });
  printf("host: %.3f ms\n", host);
  double round = best(1, [&] { many_rounds<<<callers / 256 + 1, 256>>>(c, callers, rounds); });
  printf("rounds: %.4f ms each\n", round / rounds);
  int turns = small ? 5 : 100, blocks = small ? 4 : 132 * 64;
  double plain = best(5, [&] { iterations<false><<<blocks, 256>>>(a, N, turns, 1e30f); });
  double failing = best(5, [&] { iterations<true><<<blocks, 256>>>(a, N, turns, 1e30f); });
  printf("failing: %.4f ms an iteration, %.4f with a failing check, ratio %.2f\n", plain / turns,
         failing / turns, failing / plain);
  printf("%s, %s\n", calls ? "served" : "not served", cudaGetErrorString(cudaGetLastError()));
}
