// Many host threads launch at once: the first use of a kernel, launches and copies happen in all of
// them together.
// coverage: all
#include <thread>
#include <vector>
#include "gpu_test.h"

__device__ unsigned total;
__global__ void mix(unsigned *p, unsigned n, unsigned k) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = p[i] * 1664525u + k;
}
__global__ void sum(const unsigned *p, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&total, p[i]);
}
template <int K> __global__ void own(unsigned *p) {
  p[threadIdx.x] += K;
}  // each thread's first kernel is its own

static void (*const own_kernel[8])(unsigned *) = {own<0>, own<1>, own<2>, own<3>,
                                                  own<4>, own<5>, own<6>, own<7>};
enum { THREADS = 8, N = 4096, ROUNDS = 50 };

int main() {
  std::vector<std::thread> threads;
  std::vector<unsigned> results[THREADS];
  for (int t = 0; t < THREADS; t++) threads.emplace_back([t, &results] {
    cudaStream_t s;
    unsigned *d;
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaMalloc(&d, N * 4));
    OK(cudaMemsetAsync(d, 0, N * 4, s));
    own_kernel[t]<<<1, 256, 0, s>>>(d);
    for (int r = 0; r < ROUNDS; r++) mix<<<N / 256, 256, 0, s>>>(d, N, t * 1000 + r);
    sum<<<N / 256, 256, 0, s>>>(d, N);
    results[t].resize(N);
    OK(cudaMemcpyAsync(results[t].data(), d, N * 4, cudaMemcpyDeviceToHost, s));
    OK(cudaStreamSynchronize(s));
    OK(cudaFree(d));
  });
  for (auto &t : threads) t.join();
  unsigned all = 0, device;
  for (int t = 0; t < THREADS; t++) {
    for (int i = 0; i < N; i++) {
      unsigned v = i < 256 ? t : 0;
      for (int r = 0; r < ROUNDS; r++) v = v * 1664525u + t * 1000 + r;
      if (v != results[t][i]) wrong++;
      all += v;
    }
    show("thread", results[t].data(), N * 4);
  }
  OK(cudaMemcpyFromSymbol(&device, total, 4));
  EXPECT(device == all);
  return finish();
}
