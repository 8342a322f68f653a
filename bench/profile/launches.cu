// What a launch costs the host: 20 rounds of 1000 launches of a kernel of about a microsecond, the
// best round counts. Prints microseconds of the calls, and with the wait for all of them.
// bench/profile_gpu runs it plain and with the timeline.
#include <algorithm>
#include <chrono>
#include <cstdio>

enum { ROUNDS = 20, LAUNCHES = 1000 };

__global__ void work(float *p, int n) {
  float x = p[threadIdx.x];
  for (int i = 0; i < n; i++) x = sinf(x) * 1.01f + p[(i * 33 + threadIdx.x) & 1023];
  p[threadIdx.x] = x;
}

static double now() {
  auto t = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(t).count();
}

int main() {
  float *p;
  double called = 1e9, done = 1e9;
  cudaMalloc(&p, 4096);
  cudaMemset(p, 0, 4096);
  work<<<1, 1024>>>(p, 3);
  cudaDeviceSynchronize();
  for (int r = 0; r < ROUNDS; r++) {
    double start = now();
    for (int i = 0; i < LAUNCHES; i++) work<<<1, 1024>>>(p, 3);
    called = std::min(called, now() - start);
    cudaDeviceSynchronize();
    done = std::min(done, now() - start);
  }
  printf("%.3f %.3f\n", called / LAUNCHES, done / LAUNCHES);
  return 0;
}
