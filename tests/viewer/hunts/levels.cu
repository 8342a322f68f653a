// Levels of a tree, round by round: two lists take turns.
#include <cstdio>
struct Front { int *list; int *count; };
__device__ int visited;
__global__ void start(int *level, Front f, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) level[i] = i ? -1 : 0;
  if (!i) {
    f.list[0] = 0;
    *f.count = 1;
  }
}
__global__ void expand(const int *first, const int *edge, int *level, Front from, Front to,
                       int depth) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= *from.count) return;
  int v = from.list[i];
  for (int e = first[v]; e < first[v + 1]; e++)
    if (atomicCAS(&level[edge[e]], -1, depth) == -1) {
      to.list[atomicAdd(to.count, 1)] = edge[e];
      atomicAdd(&visited, 1);
    }
}
int main() {
  const int n = 512;
  int first[n + 1], edge[2 * n], m = 0, rounds = 0, *d_first, *d_edge, *level;
  for (int i = 0; i < n; i++) {
    first[i] = m;
    for (int child = 2 * i + 1; child <= 2 * i + 2; child++)
      if (child < n) edge[m++] = child;
  }
  first[n] = m;
  Front a, b;
  cudaMalloc(&d_first, sizeof first);
  cudaMalloc(&d_edge, sizeof edge);
  cudaMalloc(&level, n * 4);
  cudaMalloc(&a.list, 4 * n * 4);
  cudaMalloc(&a.count, 4);
  cudaMalloc(&b.list, 4 * n * 4);
  cudaMalloc(&b.count, 4);
  cudaMemcpy(d_first, first, sizeof first, cudaMemcpyHostToDevice);
  cudaMemcpy(d_edge, edge, m * 4, cudaMemcpyHostToDevice);
  cudaMemset(b.count, 0, 4);
  start<<<4, 128>>>(level, a, n);
  for (int left = 1; left && rounds < 14; rounds++) {
    expand<<<4, 128>>>(d_first, d_edge, level, a, b, rounds + 1);
    cudaMemcpy(&left, b.count, 4, cudaMemcpyDeviceToHost);
    Front old = a;
    a = b;
    b = old;
  }
  printf(rounds == 10 ? "right: %d rounds\n" : "WRONG: %d rounds\n", rounds);
}
