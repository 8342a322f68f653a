// The cost of a mailbox: calling threads stay in the kernel, write their argument into memory of
// the host and poll until a host thread has written the result. bench/gpu_interrupts runs it beside
// the rounds of GPU interrupts, for as many threads. Only for kernels whose blocks all fit on the
// device: a polling thread does not free its place.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

struct Mailbox {
  volatile int *arguments, *results;  // of the host
  volatile unsigned *arrived, *served;
  unsigned *count;  // of the device
};

__global__ void rounds(Mailbox m, int *out, unsigned n, unsigned rounds) {
  unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  int x = (int)i;
  if (i >= n) return;
  for (unsigned k = 1; k <= rounds; k++) {
    m.arguments[i] = x;
    __threadfence_system();
    if (atomicAdd(m.count, 1) + 1 == k * n) *m.arrived = k;
    while (*m.served < k) __nanosleep(100);
    x = m.results[i] + 1;
  }
  out[i] = x;
}

static void *shared_memory(size_t bytes) {
  void *p = nullptr;
  cudaHostAlloc(&p, bytes, cudaHostAllocMapped);
  return p;
}

int main() {
  enum { MOST = 100000, ROUNDS = 200 };
  Mailbox m = {(int *)shared_memory(4 * MOST), (int *)shared_memory(4 * MOST),
               (unsigned *)shared_memory(4), (unsigned *)shared_memory(4), nullptr};
  int *out;
  cudaMalloc(&m.count, sizeof *m.count);
  cudaMalloc(&out, 4 * MOST);
  for (unsigned n : {1u, 32u, 1000u, 100000u}) {
    *m.arrived = *m.served = 0;
    cudaMemset(m.count, 0, sizeof *m.count);
    cudaDeviceSynchronize();
    auto start = std::chrono::steady_clock::now();
    rounds<<<(n + 255) / 256, 256>>>(m, out, n, ROUNDS);
    for (unsigned k = 1; k <= ROUNDS; k++) {
      while (*m.arrived < k) {}
      for (unsigned i = 0; i < n; i++) m.results[i] = m.arguments[i] + 1;
      std::atomic_thread_fence(std::memory_order_seq_cst);
      *m.served = k;
    }
    cudaDeviceSynchronize();
    std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    printf("mailbox, %6u threads: %.4f ms a round, %s\n", n, took.count() / ROUNDS,
           cudaGetErrorString(cudaGetLastError()));
  }
}
