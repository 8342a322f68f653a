// Streams, events, callbacks, order between them.
// prints: all checks passed
#include <atomic>
#include <thread>
#include "check.h"

__global__ void add(int *p, int v) { atomicAdd(p, v); }
__global__ void wait_for(volatile int *flag, int *out) {
  while (*flag == 0) {}
  *out = 5;
}

static std::atomic<int> calls;
static void host_fn(void *user) { calls += *(int *)user; }
static void callback(cudaStream_t, cudaError_t status, void *user) {
  if (status == cudaSuccess) calls += *(int *)user;
}

int main() {
  cudaStream_t a, b, low;
  OK(cudaStreamCreate(&a));
  OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, 0));
  unsigned flags;
  OK(cudaStreamGetFlags(b, &flags));
  EXPECT(flags == cudaStreamNonBlocking);
  unsigned long long ida, idb;
  OK(cudaStreamGetId(a, &ida));
  OK(cudaStreamGetId(b, &idb));
  EXPECT(ida != idb);

  int *p, x = 0, one = 1, ten = 10;
  OK(cudaMalloc(&p, 4));
  OK(cudaMemset(p, 0, 4));
  for (int i = 0; i < 50; i++) add<<<1, 32, 0, a>>>(p, 1);
  OK(cudaLaunchHostFunc(a, host_fn, &one));
  OK(cudaStreamAddCallback(a, callback, &ten, 0));
  cudaEvent_t e, start, end;
  OK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  OK(cudaEventCreate(&start));
  OK(cudaEventCreate(&end));
  OK(cudaEventRecord(e, a));
  OK(cudaStreamWaitEvent(b, e, 0));
  OK(cudaMemcpyAsync(&x, p, 4, cudaMemcpyDeviceToHost, b));
  OK(cudaStreamSynchronize(b));
  EXPECT(x == 1600);
  EXPECT(calls == 11);
  OK(cudaStreamQuery(a));

  // Host and device wait for each other: the kernel runs while the host goes on.
  volatile int *flag;
  int *out;
  OK(cudaHostAlloc((void **)&flag, 4, cudaHostAllocMapped));
  OK(cudaMallocManaged(&out, 4));
  *flag = 0;
  OK(cudaEventRecord(start, b));
  wait_for<<<1, 1, 0, b>>>(flag, out);
  OK(cudaEventRecord(end, b));
  RETURNS(cudaStreamQuery(b), cudaErrorNotReady);
  RETURNS(cudaEventQuery(end), cudaErrorNotReady);
  RETURNS(cudaGetLastError(), cudaErrorNotReady);
  *flag = 1;
  OK(cudaEventSynchronize(end));
  EXPECT(*out == 5);
  float ms = -1;
  OK(cudaEventElapsedTime(&ms, start, end));
  EXPECT(ms >= 0);
  RETURNS(cudaEventElapsedTime(&ms, e, end), cudaErrorInvalidResourceHandle);

  // The legacy stream waits for blocking streams.
  OK(cudaMemset(p, 0, 4));
  for (int i = 0; i < 20; i++) add<<<1, 32, 0, a>>>(p, 1);
  OK(cudaMemcpy(&x, p, 4, cudaMemcpyDeviceToHost));
  EXPECT(x == 640);

  // Several threads, one device.
  OK(cudaMemset(p, 0, 4));
  std::thread threads[4];
  for (auto &t : threads) t = std::thread([p] {
    cudaStream_t s;
    OK(cudaStreamCreate(&s));
    for (int i = 0; i < 25; i++) add<<<2, 32, 0, s>>>(p, 1);
    OK(cudaStreamSynchronize(s));
    OK(cudaStreamDestroy(s));
  });
  for (auto &t : threads) t.join();
  OK(cudaMemcpy(&x, p, 4, cudaMemcpyDeviceToHost));
  EXPECT(x == 4 * 25 * 64);

  RETURNS(cudaStreamDestroy(0), cudaErrorInvalidResourceHandle);
  OK(cudaStreamDestroy(a));
  OK(cudaStreamDestroy(b));
  OK(cudaStreamDestroy(low));
  OK(cudaEventDestroy(e));
  cudaGetLastError();
  return finish();
}
