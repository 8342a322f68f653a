// What GPU interrupts cost, timed on the host: bench/gpu_interrupts runs it plain and under
// Warpgrind. Each line: a name and milliseconds, the best of several turns.
//   kernels   twenty kernels with a wg_assert-like check that never fails, and without: the ratio
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

// --- twenty kernels: K says what they do, CHECK whether they check it ---
template <int K, bool CHECK> __global__ void work(float *a, const float *b, int n, float limit) {
  __shared__ float s[256];
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  float x = i < n ? b[i] : 0;
  for (int k = 0; k < 10 * (K + 1); k++) {
    if (K % 4 == 0) x = x * 0.999f + 0.001f;
    else if (K % 4 == 1) x += b[(i + k * 97) % n] * 0.01f;
    else if (K % 4 == 2) {
      s[threadIdx.x] = x;
      __syncthreads();
      x += s[(threadIdx.x + k) & 255] * 0.001f;
      __syncthreads();
    } else x += __shfl_xor_sync(~0u, x, 1 + k % 31) * 0.001f;
    if (CHECK && !(x < limit)) failed(i);
  }
  if (i < n) a[i] = x;
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
    for (int k = 0; k < 400; k++) x = x * 0.999f + 0.001f;
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

enum { N = 1 << 22, MILLION = 1 << 20, ROUND_THREADS = 100000, ROUNDS = 1000 };
static float *a, *b;
static double ratio_sum, ratio_worst;

template <int K> static void one_kernel() {
  auto run = [](auto kernel) {
    return best(20, [=] {
      for (int i = 0; i < 5; i++) kernel<<<N / 256, 256>>>(a, b, N, 1e30f);
    });
  };
  double plain = run(work<K, false>), checked = run(work<K, true>);
  printf("kernel %2d: %.3f ms, with a check %.3f, ratio %.3f\n", K, plain / 5, checked / 5,
         checked / plain);
  ratio_sum += checked / plain;
  if (checked / plain > ratio_worst) ratio_worst = checked / plain;
}
template <int K> struct All {
  static void run() {
    All<K - 1>::run();
    one_kernel<K - 1>();
  }
};
template <> struct All<0> {
  static void run() {}
};

int main(int argc, char **argv) {
  int *c = nullptr, small = argc > 1 && !strcmp(argv[1], "small");
  cudaMalloc(&a, N * sizeof *a);
  cudaMalloc(&b, N * sizeof *b);
  cudaMalloc(&c, N * sizeof *c);
  cudaMemset(a, 0, N * sizeof *a);
  cudaMemset(b, 0, N * sizeof *b);
  cudaMemset(c, 0, N * sizeof *c);
  if (!small) {
    All<20>::run();
    printf("kernels: mean ratio %.3f, worst %.3f\n", ratio_sum / 20, ratio_worst);
  }
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
