// nvcc: -Iinclude
// tools: none
// Launches of one stream line up behind one that may still suspend threads, without waiting for it
// on the host. Each begins when those before it have really ended.
#include <atomic>
#include <cstdio>
#include <thread>

#include "warpgrind.h"

enum { N = 256, MANY = 300 };

WG_INTERRUPT_OR(ask, int(int x), -1);
WG_INTERRUPT(ends_here, void(int x));
static std::atomic<size_t> asked, ended;
WG_HANDLER(ask, wg_callers &callers, wg_list<int> x, wg_results<int> r) {
  asked += callers.size();
  for (size_t i = 0; i < callers.size(); i++) r[i] = x[i] + 7;
}
WG_HANDLER(ends_here, wg_callers &callers, wg_list<int> x) {
  ended += callers.size();
  callers.end_kernel();
}

__host__ __device__ inline bool asks(int i, int k, int every) {
  return every && (i + k) % every == 0;
}
__global__ void step(int *a, int k, int every) {
  int i = threadIdx.x + blockIdx.x * blockDim.x, x = a[i] * 3 + k;
  if (asks(i, k, every)) x = ask(x);
  a[i] = x;
}
__global__ void other_step(int *a, int k, int every) {
  int i = threadIdx.x + blockIdx.x * blockDim.x, x = a[i] ^ k;
  if (asks(i, k, every)) x = ask(x + 1);
  a[i] = x + 1;
}
__global__ void plain_step(int *a, int k) { a[threadIdx.x + blockIdx.x * blockDim.x] += k; }
__global__ void wait_for_flag(int *a, volatile int *flag, int every) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  while (!*flag) continue;
  if (asks(i, 0, every)) a[i] = ask(a[i]);
}
__global__ void end_some(int *a, int which) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i % 8 == which) ends_here(i);
  a[i]++;
}

struct Line {  // a row of numbers, on the device and as it should be
  int *a, expected[N];
  Line() {
    cudaMalloc(&a, sizeof expected);
    cudaMemset(a, 0, sizeof expected);
    for (int &x : expected) x = 0;
  }
  ~Line() { cudaFree(a); }
  void first(int k, int every, cudaStream_t s) {
    step<<<2, N / 2, 0, s>>>(a, k, every);
    for (int i = 0; i < N; i++) expected[i] = expected[i] * 3 + k + (asks(i, k, every) ? 7 : 0);
  }
  void second(int k, int every, cudaStream_t s) {
    other_step<<<2, N / 2, 0, s>>>(a, k, every);
    for (int i = 0; i < N; i++) expected[i] = (expected[i] ^ k) + 1 + (asks(i, k, every) ? 8 : 0);
  }
  void plain(int k, cudaStream_t s) {
    plain_step<<<2, N / 2, 0, s>>>(a, k);
    for (int &x : expected) x += k;
  }
  int wrong(cudaStream_t s) {
    int host[N], n = 0;
    cudaMemcpyAsync(host, a, sizeof host, cudaMemcpyDeviceToHost, s);
    cudaStreamSynchronize(s);
    for (int i = 0; i < N; i++) n += host[i] != expected[i];
    return n;
  }
};

static void say(const char *name, int wrong) {
  printf("%s: %d wrong, %s\n", name, wrong, cudaGetErrorString(cudaGetLastError()));
}

// every: 0: nobody asks; else in some launches one thread of so many
static void test_rows(const char *name, cudaStream_t s, int every) {
  Line l;
  for (int k = 0; k < 12; k++) l.first(k, k % 4 == 1 ? every : 0, s);
  for (int k = 0; k < 12; k++) {
    l.second(k, k % 5 == 2 ? every : 0, s);
    l.first(k, k % 3 == 0 ? every : 0, s);
    if (k == 6) l.plain(k, s);
  }
  say(name, l.wrong(s));
}

static void test_many() {
  Line l;
  for (int k = 0; k < MANY; k++) l.second(k, k == 40 || k == 200 ? 16 : 0, 0);
  say("many", l.wrong(0));
}

// The launches return while the first kernel runs.
static void test_flag(const char *name, int every) {
  Line l;
  volatile int *flag, *seen;
  cudaHostAlloc((void **)&flag, sizeof *flag, cudaHostAllocMapped);
  cudaHostGetDevicePointer((void **)&seen, (void *)flag, 0);
  l.first(0, 0, 0);
  cudaDeviceSynchronize();
  *flag = 0;
  wait_for_flag<<<2, N / 2>>>(l.a, seen, every);
  for (int i = 0; i < N; i++) l.expected[i] += asks(i, 0, every) ? 7 : 0;
  for (int k = 1; k < 6; k++) l.first(k, k == 3 ? every : 0, 0);
  *flag = 1;
  say(name, l.wrong(0));
  cudaFreeHost((void *)flag);
}

static void test_streams() {
  cudaStream_t s[2];
  Line l[2];
  for (int i = 0; i < 2; i++) cudaStreamCreate(&s[i]);
  for (int k = 0; k < 10; k++)
    for (int i = 0; i < 2; i++) l[i].first(k, k == 3 + i ? 8 : 0, s[i]);
  l[0].plain(5, 0);  // the default stream comes behind both
  l[0].first(1, 0, s[0]);
  int wrong = l[0].wrong(s[0]) + l[1].wrong(s[1]);
  for (int i = 0; i < 2; i++) cudaStreamDestroy(s[i]);
  say("two streams", wrong);
}

static void test_threads() {
  Line l[2];
  int wrong[2];
  cudaDeviceSynchronize();
  auto run = [&](int t) {
    for (int k = 0; k < 20; k++) l[t].first(k, k % 7 == t ? 32 : 0, 0);
    wrong[t] = l[t].wrong(0);
  };
  std::thread other(run, 1);
  run(0);
  other.join();
  say("two threads", wrong[0] + wrong[1]);
}

// A kernel that a handler has ended leaves nothing behind for the next launch.
static void test_ended() {
  Line l;
  for (int k = 0; k < 3; k++) {
    end_some<<<2, N / 2>>>(l.a, k);
    for (int i = 0; i < N; i++) l.expected[i] += i % 8 != k;
  }
  int wrong = l.wrong(0);
  printf("ended: %zu\n", ended.load());
  say("ended", wrong);
}

int main() {
  cudaStream_t free;
  cudaStreamCreateWithFlags(&free, cudaStreamNonBlocking);
  test_rows("nobody", 0, 0);
  test_rows("some", 0, 8);
  test_rows("all", free, 1);
  test_rows("stream of the thread", cudaStreamPerThread, 8);
  test_many();
  test_flag("flag", 0);
  test_flag("flag and callers", 16);
  test_streams();
  test_threads();
  test_ended();
  printf("asked: %zu\n", asked.load());
  cudaStreamDestroy(free);
}
