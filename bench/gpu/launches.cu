// launches [COUNT]: nanoseconds of one launch call, in lines "what nanoseconds". Batches are
// smaller than the driver's queue, and only the calls are timed, not what the device needs.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>
#define OK(call) \
  do { \
    cudaError_t r_ = (call); \
    if (r_ != cudaSuccess) { \
      printf("line %d: %s\n", __LINE__, cudaGetErrorName(r_)); \
      exit(1); \
    } \
  } while (0)

__global__ void empty() {}
__global__ void eight(int, float, const int *, int *, double, long long, short, char) {}
static double now() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

template <typename F> static void measure(const char *what, int count, F call) {
  enum { BATCH = 500 };
  std::vector<double> each;
  call();
  OK(cudaDeviceSynchronize());
  for (int done = 0; done < count; done += BATCH) {
    double start = now();
    for (int i = 0; i < BATCH; i++) call();
    each.push_back((now() - start) / BATCH);
    OK(cudaDeviceSynchronize());
  }
  OK(cudaGetLastError());
  std::nth_element(each.begin(), each.begin() + each.size() / 2, each.end());
  printf("%s %.0f\n", what, each[each.size() / 2]);
}

int main(int argc, char **argv) {
  int count = argc > 1 ? atoi(argv[1]) : 100000;
  measure("empty", count, [] { empty<<<1, 32>>>(); });
  measure("eight_parameters", count, [] { eight<<<1, 32>>>(1, 2, nullptr, nullptr, 3, 4, 5, 6); });
  cudaStream_t s;
  cudaGraph_t g;
  cudaGraphExec_t x;
  OK(cudaStreamCreate(&s));
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < 10; i++) empty<<<1, 32, 0, s>>>();
  OK(cudaStreamEndCapture(s, &g));
  OK(cudaGraphInstantiate(&x, g, 0));
  measure("graph_of_ten", count / 10, [=] { cudaGraphLaunch(x, s); });
  void *p[16];
  measure("malloc_free", count / 50, [&p] { cudaMalloc(&p[0], 4096); cudaFree(p[0]); });
  return 0;
}
