// Graphs: captured, made by hand, cloned, updated in three ways, launched again and again. What the
// program reads back of a kernel node is what it put in.
// coverage: all
#include "gpu_test.h"

__global__ void axpy(float a, const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
__global__ void scale(float a, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] *= a;
}

enum { N = 1000 };
static float *x, *y, h[N];
static void reset() {
  for (int i = 0; i < N; i++) h[i] = i;
  OK(cudaMemcpy(x, h, sizeof h, cudaMemcpyDefault));
  OK(cudaMemset(y, 0, sizeof h));
}
static void check(const char *what, float factor) {
  OK(cudaMemcpy(h, y, sizeof h, cudaMemcpyDefault));
  for (int i = 0; i < N; i++)
    if (h[i] != factor * i) {
      if (!wrong++) printf("%s: y[%d] is %g, not %g\n", what, i, h[i], factor * i);
    }
  show(what, h, sizeof h);
}
static void run(cudaGraphExec_t g, cudaStream_t s, int times) {
  for (int i = 0; i < times; i++) OK(cudaGraphLaunch(g, s));
  OK(cudaStreamSynchronize(s));
}

// The program looks at its nodes.
static void look_at_nodes(cudaGraph_t captured) {
  cudaGraphNode_t nodes[8];
  size_t n = 8;
  OK(cudaGraphGetNodes(captured, nodes, &n));
  EXPECT(n == 3);
  int axpys = 0, scales = 0;
  for (size_t i = 0; i < n; i++) {
    cudaKernelNodeParams p = {};
    OK(cudaGraphKernelNodeGetParams(nodes[i], &p));
    if (p.func == (void *)axpy) {
      axpys++;
      EXPECT(*(float **)p.kernelParams[1] == x && *(int *)p.kernelParams[3] == N);
    } else if (p.func == (void *)scale) {
      scales++;
      EXPECT(*(float *)p.kernelParams[0] == 0.5f && *(float **)p.kernelParams[1] == y);
    }
    EXPECT(p.gridDim.x == 4 && p.blockDim.x == 256);
  }
  EXPECT(axpys == 2 && scales == 1);
}

// A graph inside a graph; e: `captured` itself, ready to run.
static void inside_another(cudaGraph_t captured, cudaGraphExec_t e, cudaStream_t s) {
  cudaGraph_t outer;
  cudaGraphNode_t child;
  cudaGraphExec_t e3;
  reset();
  OK(cudaGraphCreate(&outer, 0));
  OK(cudaGraphAddChildGraphNode(&child, outer, 0, 0, captured));
  OK(cudaGraphInstantiate(&e3, outer, 0));
  run(e3, s, 1);
  check("child", 2);
  OK(cudaGraphExecDestroy(e));
  OK(cudaGraphDestroy(captured));
  run(e3, s, 1);
  check("child after its origin is gone", 3);
}

// The kernel is used for the first time inside the capture.
static void capture(cudaStream_t s, cudaGraph_t *captured, cudaGraphExec_t *e) {
  reset();
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  axpy<<<4, 256, 0, s>>>(2, x, y, N);
  scale<<<4, 256, 0, s>>>(0.5f, y, N);
  axpy<<<4, 256, 0, s>>>(1, x, y, N);
  OK(cudaStreamEndCapture(s, captured));
  OK(cudaGraphInstantiate(e, *captured, 0));
  run(*e, s, 1);
  check("captured", 2);
  run(*e, s, 2);
  check("again", 3.5f);
  look_at_nodes(*captured);
}

int main() {
  cudaStream_t s;
  cudaGraph_t captured, hand, copy;
  cudaGraphExec_t e, e2;
  OK(cudaStreamCreate(&s));
  OK(cudaMalloc(&x, sizeof h));
  OK(cudaMalloc(&y, sizeof h));

  capture(s, &captured, &e);
  // by hand: memset, kernel, kernel
  reset();
  cudaGraphNode_t clear, first, second;
  OK(cudaGraphCreate(&hand, 0));
  cudaMemsetParams m = {};
  m.dst = y;
  m.elementSize = 4;
  m.width = N;
  m.height = 1;
  m.value = 0;
  OK(cudaGraphAddMemsetNode(&clear, hand, 0, 0, &m));
  float a = 3, b = 4;
  int count = N;
  void *args1[] = {&a, &x, &y, &count}, *args2[] = {&b, &y, &count};
  cudaKernelNodeParams p = {};
  p.func = (void *)axpy, p.gridDim = 4, p.blockDim = 256, p.kernelParams = args1;
  OK(cudaGraphAddKernelNode(&first, hand, &clear, 1, &p));
  p.func = (void *)scale, p.kernelParams = args2;
  OK(cudaGraphAddKernelNode(&second, hand, &first, 1, &p));
  OK(cudaGraphClone(&copy, hand));
  OK(cudaGraphInstantiate(&e2, hand, 0));
  a = b = 100;                                         // values were taken when the node was made
  run(e2, s, 2);
  check("by hand", 12);

  // one node of the instantiated graph gets other arguments, another grid, another kernel
  a = 5;
  p.func = (void *)axpy, p.kernelParams = args1, p.gridDim = 8, p.blockDim = 128;
  OK(cudaGraphExecKernelNodeSetParams(e2, first, &p));
  run(e2, s, 1);
  check("node set", 20);
  b = 0.25f;
  p.func = (void *)scale, p.kernelParams = args2;
  OK(cudaGraphExecKernelNodeSetParams(e2, second, &p));
  run(e2, s, 3);
  check("node set again", 1.25f);

  // the clone keeps the old values; its node is changed and the executable graph updated from it
  cudaGraphNode_t cloned;
  OK(cudaGraphNodeFindInClone(&cloned, first, copy));
  cudaKernelNodeParams q = {};
  OK(cudaGraphKernelNodeGetParams(cloned, &q));
  EXPECT(q.func == (void *)axpy && *(float *)q.kernelParams[0] == 3);
  a = 7;
  p.func = (void *)axpy, p.kernelParams = args1, p.gridDim = 4, p.blockDim = 256;
  OK(cudaGraphKernelNodeSetParams(cloned, &p));
  cudaGraphExecUpdateResultInfo info = {};
  OK(cudaGraphExecUpdate(e2, copy, &info));
  EXPECT(info.result == cudaGraphExecUpdateSuccess);
  run(e2, s, 1);
  check("updated", 28);

  inside_another(captured, e, s);
  // a node taken out
  OK(cudaGraphNodeSetEnabled(e2, second, 0));
  run(e2, s, 1);
  check("disabled", 7);
  return finish();
}
