// Blocks in clusters read each other's shared memory; one launch overlaps the one before it
// (programmatic launch).
// coverage: all
#include <cooperative_groups.h>
#include "gpu_test.h"
namespace cg = cooperative_groups;

__global__ void rotate(int *out) {
  __shared__ int mine[64];
  cg::cluster_group c = cg::this_cluster();
  mine[threadIdx.x] = blockIdx.x * 100 + threadIdx.x;
  c.sync();
  int *next = c.map_shared_rank(mine, (c.block_rank() + 1) % c.num_blocks());
  out[blockIdx.x * blockDim.x + threadIdx.x] = next[threadIdx.x];
  c.sync();
}
__global__ void __cluster_dims__(2, 1, 1) fixed(int *out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = cg::this_cluster().block_rank();
}
__global__ void producer(int *p) {
  p[threadIdx.x] = threadIdx.x * 3;
  asm volatile("griddepcontrol.launch_dependents;");
}
__global__ void consumer(const int *p, int *q) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  q[threadIdx.x] = p[threadIdx.x] + 1;
}

int main() {
  int *d, h[1024], clusters = 0;
  OK(cudaMalloc(&d, sizeof h));
  cudaLaunchConfig_t c = {};
  cudaLaunchAttribute a[1];
  a[0].id = cudaLaunchAttributeClusterDimension;
  a[0].val.clusterDim.x = 4, a[0].val.clusterDim.y = a[0].val.clusterDim.z = 1;
  c.gridDim = 8, c.blockDim = 64, c.attrs = a, c.numAttrs = 1;
  OK(cudaOccupancyMaxActiveClusters(&clusters, rotate, &c));
  EXPECT(clusters > 0);
  OK(cudaLaunchKernelEx(&c, rotate, d));
  OK(cudaMemcpy(h, d, 8 * 64 * 4, cudaMemcpyDefault));
  for (int b = 0; b < 8; b++)
    for (int t = 0; t < 64; t++) EXPECT(h[b * 64 + t] == (b / 4 * 4 + (b + 1) % 4) * 100 + t);
  show("rotate", h, 8 * 64 * 4);
  fixed<<<8, 64>>>(d);
  OK(cudaMemcpy(h, d, 8 * 64 * 4, cudaMemcpyDefault));
  for (int b = 0; b < 8; b++) EXPECT(h[b * 64] == b % 2);
  show("fixed", h, 8 * 64 * 4);
  cudaStream_t s;
  OK(cudaStreamCreate(&s));
  a[0].id = cudaLaunchAttributeProgrammaticStreamSerialization,
  a[0].val.programmaticStreamSerializationAllowed = 1;
  c.gridDim = 1, c.blockDim = 256, c.stream = s;
  for (int i = 0; i < 10; i++) {
    producer<<<1, 256, 0, s>>>(d);
    OK(cudaLaunchKernelEx(&c, consumer, (const int *)d, d + 256));
  }
  OK(cudaStreamSynchronize(s));
  OK(cudaMemcpy(h, d + 256, 1024, cudaMemcpyDefault));
  for (int i = 0; i < 256; i++) EXPECT(h[i] == i * 3 + 1);
  show("dependent", h, 1024);
  return finish();
}
