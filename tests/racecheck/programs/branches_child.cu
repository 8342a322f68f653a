// A child graph beside a kernel. On a GPU kernels of child graphs are not checked.
// device: cpu
#include <cstdio>

// finds-next: race group=child
__global__ void inside(int *a, int v) { a[blockIdx.x * blockDim.x + threadIdx.x] = v; }
// finds-next: race group=child
__global__ void outside(int *a, int v) { a[blockIdx.x * blockDim.x + threadIdx.x] += v; }

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
  int *a, one = 1, n = 512;
  cudaStream_t s;
  cudaMalloc(&a, n * sizeof(int));
  cudaMemset(a, 0, n * sizeof(int));
  cudaStreamCreate(&s);

  cudaGraph_t g, child;
  cudaGraphNode_t node;
  void *a_one[] = {&a, &one};
  cudaGraphCreate(&child, 0);
  add_kernel(child, (void *)inside, a_one, NULL, 0);
  cudaGraphCreate(&g, 0);
  cudaGraphAddChildGraphNode(&node, g, NULL, 0, child);
  add_kernel(g, (void *)outside, a_one, &node, ORDERED);
  run(g, s);
}
