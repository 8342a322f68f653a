// Graphs whose branches access the same memory: kernels beside kernels, copies and sets beside
// kernels and each other.
#include <cstdio>

// finds-next: race group=kernels
__global__ void left(int *a, int v) { a[blockIdx.x * blockDim.x + threadIdx.x] = v; }
__global__ void right(const int *a, int *out) {
  // finds-next: race group=kernels
  out[blockIdx.x * blockDim.x + threadIdx.x] = a[511 - blockIdx.x * blockDim.x - threadIdx.x];
}

__global__ void beside_copy(int *a, int v) { a[blockIdx.x * blockDim.x + threadIdx.x] = v; }
__global__ void own(int *a, int v) { a[blockIdx.x * blockDim.x + threadIdx.x] += v; }

#ifdef CORRECT
enum { ORDERED = 1 };
#else
enum { ORDERED = 0 };
#endif

static cudaGraphNode_t add_kernel(cudaGraph_t g, void *f, void **params, cudaGraphNode_t *after,
                                  size_t n) {
  cudaGraphNode_t node;
  cudaKernelNodeParams p = {};
  p.func = f;
  p.gridDim = 8;
  p.blockDim = 64;
  p.kernelParams = params;
  cudaGraphAddKernelNode(&node, g, after, n, &p);
  return node;
}

static void run(cudaGraph_t g, cudaStream_t s) {
  cudaGraphExec_t exec;
  if (cudaGraphInstantiate(&exec, g, NULL, NULL, 0)) printf("not instantiated\n");
  for (int i = 0; i < 3; i++) cudaGraphLaunch(exec, s);
  printf("%s\n", cudaGetErrorString(cudaStreamSynchronize(s)));
}

int main() {
  int *a, *b, *out, *host, one = 1, n = 512;
  cudaStream_t s;
  cudaMalloc(&a, n * sizeof(int));
  cudaMalloc(&b, n * sizeof(int));
  cudaMalloc(&out, n * sizeof(int));
  cudaMallocHost(&host, n * sizeof(int));
  cudaMemset(a, 0, n * sizeof(int));
  cudaMemset(b, 0, n * sizeof(int));
  cudaStreamCreate(&s);

  // first -> {left, right} -> last: only left and right lie beside each other. They are added in an
  // order that is not that of the edges.
  cudaGraph_t g;
  void *a_one[] = {&a, &one}, *b_one[] = {&b, &one}, *a_out[] = {&a, &out};
  cudaGraphCreate(&g, 0);
  cudaGraphNode_t last = add_kernel(g, (void *)own, a_one, NULL, 0),
                  l = add_kernel(g, (void *)left, a_one, NULL, 0),
                  r = add_kernel(g, (void *)right, a_out, NULL, 0),
                  first = add_kernel(g, (void *)own, a_one, NULL, 0),
                  from[] = {first, first, l, r, l}, to[] = {l, r, last, last, r};
  cudaGraphAddDependencies(g, from, to, NULL, ORDERED ? 5 : 4);
  run(g, s);

  // A copy out of what a kernel writes.
  cudaGraphNode_t copy, k, node;
  cudaGraphCreate(&g, 0);
  k = add_kernel(g, (void *)beside_copy, b_one, NULL, 0);
  // finds: race-host group=memcpy_node_reads has=memcpy node reads
  cudaGraphAddMemcpyNode1D(&copy, g, &k, ORDERED, host, b, n * sizeof(int), cudaMemcpyDeviceToHost);
  run(g, s);

  // Sets of the halves of a buffer that overlap by a word, or do not.
  cudaMemsetParams set = {};
  set.dst = b;
  set.elementSize = 4;
  set.width = n / 2;
  set.height = 1;
  cudaGraphCreate(&g, 0);
  cudaGraphAddMemsetNode(&node, g, NULL, 0, &set);
  // finds: race-host group=memset_node_writes has=memset node writes
  set.dst = b + n / 2 - !ORDERED;
  cudaGraphAddMemsetNode(&node, g, NULL, 0, &set);
  run(g, s);
  return 0;
}
