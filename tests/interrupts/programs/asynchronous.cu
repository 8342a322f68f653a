// nvcc: -Iinclude
// tools: none
// A launch returns before its interrupts are served, in each kind of stream; what the program asks
// for later waits. A handler uses the default stream, allocates, frees and synchronises.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include "warpgrind.h"

static std::atomic<int> returned;
static bool was_waiting;

WG_INTERRUPT_OR(wait_for_host, int(int x), 0);
__global__ void ask(int *a) { a[threadIdx.x] = wait_for_host(threadIdx.x); }
__global__ void add(int *to, const int *from, int n) { to[threadIdx.x] = from[threadIdx.x] + n; }

WG_HANDLER(wait_for_host, wg_callers &callers, wg_list<int> x, wg_results<int> r) {
  int *copy;
  for (int i = 0; i < 1000 && !returned; i++)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  was_waiting = returned;
  cudaMalloc(&copy, x.size() * sizeof *copy);
  cudaMemcpy(copy, x.d, x.size() * sizeof *copy, cudaMemcpyDeviceToDevice);
  add<<<1, (unsigned)x.size()>>>(r.d, copy, 100);
  cudaDeviceSynchronize();
  cudaFree(copy);
}

static void test(const char *name, cudaStream_t s) {
  enum { N = 32 };
  int *a, *b, host[N], wrong = 0;
  cudaEvent_t end;
  cudaMalloc(&a, sizeof host);
  cudaMalloc(&b, sizeof host);
  cudaEventCreate(&end);
  returned = 0;
  ask<<<1, N, 0, s>>>(a);
  returned = 1;
  add<<<1, N, 0, s>>>(b, a, 1000);
  cudaEventRecord(end, s);
  cudaEventSynchronize(end);
  cudaMemcpyAsync(host, b, sizeof host, cudaMemcpyDeviceToHost, s);
  cudaStreamSynchronize(s);
  for (int i = 0; i < N; i++) wrong += host[i] != i + 1100;
  printf("%s: %s, %d wrong, %s\n", name, was_waiting ? "returned at once" : "did not return", wrong,
         cudaGetErrorString(cudaGetLastError()));
  cudaEventDestroy(end);
  cudaFree(a);
  cudaFree(b);
}

int main() {
  cudaStream_t blocking, free;
  cudaStreamCreate(&blocking);
  cudaStreamCreateWithFlags(&free, cudaStreamNonBlocking);
  test("default stream", 0);
  test("blocking stream", blocking);
  test("other stream", free);
  test("stream of the thread", cudaStreamPerThread);
  cudaStreamDestroy(blocking);
  cudaStreamDestroy(free);
}
