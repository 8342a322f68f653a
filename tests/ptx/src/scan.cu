// A library's kernels: cub's block primitives.
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
__global__ void __launch_bounds__(128) scan(const int *in, int *out, int n) {
  using Scan = cub::BlockScan<int, 128>;
  using Sort = cub::BlockRadixSort<int, 128, 4>;
  using Reduce = cub::BlockReduce<float, 128>;
  __shared__ union {
    Scan::TempStorage scan;
    Sort::TempStorage sort;
    Reduce::TempStorage reduce;
  } temp;
  int items[4], base = threadIdx.x * 4, total;
  for (int i = 0; i < 4; i++) items[i] = base + i < n ? in[base + i] : 0;
  Sort(temp.sort).Sort(items);
  __syncthreads();
  Scan(temp.scan).ExclusiveSum(items, items, total);
  __syncthreads();
  float f = Reduce(temp.reduce).Sum((float)items[0]);
  for (int i = 0; i < 4; i++)
    if (base + i < n) out[base + i] = items[i] + total + (int)f;
}
