// Cooperative groups: grid, block, tiles, coalesced groups, clusters where there are any.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void groups(int *data, int n) {
  cg::grid_group grid = cg::this_grid();
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  int v = data[grid.thread_rank() % n];
  v = cg::reduce(tile, v, cg::plus<int>());
  grid.sync();
  if (v & 1) {
    auto active = cg::coalesced_threads();
    v += active.shfl(v, 0) + active.size();
  }
  tile.sync();
  data[grid.thread_rank() % n] = v;
#if __CUDA_ARCH__ >= 900
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ int mine;
  mine = v;
  cluster.sync();
  int *other = cluster.map_shared_rank(&mine, (cluster.block_rank() + 1) % cluster.num_blocks());
  data[0] = *other;
  cluster.sync();
#endif
}
