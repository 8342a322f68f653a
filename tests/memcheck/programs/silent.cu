// What looks wrong and is not: pointers into the middle of memory, one past the end, null that is
// never followed, negative indices that stay inside, unions of pointers, memory of every kind,
// guarded accesses, shared memory of a size known at the launch.
#include <cstdio>
#include <cstdlib>
#define OK(call) \
  do { \
    cudaError_t e = (call); \
    if (e != cudaSuccess) { \
      printf("%s\n", cudaGetErrorString(e)); \
      exit(1); \
    } \
  } while (0)
enum { N = 1000 };
__device__ int counts[N];
__managed__ int shown[4];

__global__ void each(const int *middle, const int *end, int *maybe, const int *pinned,
                     const int *managed, const int **list, int n) {
  extern __shared__ int tile[];
  int i = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
  if (i < n) {
    s += middle[i - n / 2];
    s += end[-1 - i];
    if (maybe) maybe[i] = s;
    const int *p = i & 1 ? pinned : managed;
    s += p[i];
    s += list[i % 3][i];
    counts[i] += s;
  }
  tile[threadIdx.x] = s;
  tile[blockDim.x + threadIdx.x] = s;
  __syncthreads();
  if (i < n) counts[i] += tile[blockDim.x + (threadIdx.x ^ 1)];
  if (i < 4) shown[i] = counts[i];
}

int main() {
  int *a, *pinned, *managed, h[N]; const int **list;
  OK(cudaMalloc(&a, N * 4));
  OK(cudaMallocHost(&pinned, N * 4));
  OK(cudaMallocManaged(&managed, N * 4));
  OK(cudaMalloc(&list, 3 * sizeof *list));
  for (int i = 0; i < N; i++) h[i] = pinned[i] = managed[i] = i;
  const int *all[3] = {a, pinned, managed};
  OK(cudaMemcpy(a, h, sizeof h, cudaMemcpyDefault));
  OK(cudaMemcpy(list, all, sizeof all, cudaMemcpyDefault));
  for (int round = 0; round < 3; round++) {
    int *later; OK(cudaMalloc(&later, N * 4));
    each<<<(N + 127) / 128, 128, 2 * 128 * 4>>>(a + N / 2, a + N, round ? later : nullptr, pinned,
                                                managed, list, N);
    OK(cudaFree(later));
  }
  int *now; cudaStream_t s; OK(cudaStreamCreate(&s));
  OK(cudaMallocAsync(&now, N * 4, s));
  each<<<(N + 127) / 128, 128, 2 * 128 * 4, s>>>(a + N / 2, a + N, now, pinned, managed, list, N);
  OK(cudaFreeAsync(now, s));
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 4; i++) printf("%d\n", shown[i]);
}
