// A grid that waits for all its blocks: as many as the occupancy query allows, so that the answer
// must fit the code that runs.
// coverage: all
#include <cooperative_groups.h>
#include "gpu_test.h"
namespace cg = cooperative_groups;

__global__ void rounds(unsigned *a, unsigned *b, int n, int times) {
  cg::grid_group grid = cg::this_grid();
  for (int t = 0; t < times; t++) {
    for (int i = grid.thread_rank(); i < n; i += grid.size())
      b[i] = a[i] + a[(i + 1) % n] * 3u + a[(i + n - 1) % n];
    grid.sync();
    unsigned *c = a; a = b; b = c;
  }
}

int main() {
  enum { N = 20000, TIMES = 11 };
  static unsigned h[N], w[N];
  unsigned *a, *b;
  int blocks, sms, n = N, times = TIMES;
  OK(cudaMalloc(&a, sizeof h));
  OK(cudaMalloc(&b, sizeof h));
  for (int i = 0; i < N; i++) h[i] = i * 7;
  OK(cudaMemcpy(a, h, sizeof h, cudaMemcpyDefault));
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, rounds, 256, 0));
  OK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  void *args[] = {&a, &b, &n, &times};
  OK(cudaLaunchCooperativeKernel((void *)rounds, blocks * sms, 256, args, 0, 0));
  OK(cudaDeviceSynchronize());
  for (int t = 0; t < TIMES; t++) {
    for (int i = 0; i < N; i++) w[i] = h[i] + h[(i + 1) % N] * 3u + h[(i + N - 1) % N];
    memcpy(h, w, sizeof h);
  }
  OK(cudaMemcpy(w, b, sizeof w, cudaMemcpyDefault));
  EXPECT(memcmp(w, h, sizeof h) == 0);
  // one block more than fits is refused, by the same error as without us
  cudaError_t e = cudaLaunchCooperativeKernel((void *)rounds, blocks * sms + 1, 256, args, 0, 0);
  printf("one too many: %s\n", cudaGetErrorName(e));
  show("result", w, sizeof w);
  return finish();
}
