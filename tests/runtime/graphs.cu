// Graphs: captured, built by hand, updated, with every kind of node the runtime offers.
// prints: all checks passed
#include "check.h"

__global__ void add(int *p, int v) { *p += v; }
__global__ void scale(int *p, int v) { *p *= v; }
__device__ int symbol;

static int host_calls;
static void host_fn(void *user) { host_calls += *(int *)user; }

static void captured(int *p) {
  cudaStream_t s, t;
  cudaGraph_t g;
  cudaGraphExec_t x;
  OK(cudaStreamCreate(&s));
  OK(cudaStreamCreate(&t));
  cudaEvent_t fork, join;
  OK(cudaEventCreate(&fork));
  OK(cudaEventCreate(&join));
  int *q, h[2] = {-1, -1};
  OK(cudaMalloc(&q, 4));
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  cudaStreamCaptureStatus status;
  OK(cudaStreamIsCapturing(s, &status));
  EXPECT(status == cudaStreamCaptureStatusActive);
  OK(cudaMemsetAsync(p, 0, 4, s));
  OK(cudaEventRecord(fork, s));
  OK(cudaStreamWaitEvent(t, fork, 0));
  OK(cudaMemsetAsync(q, 1, 4, t));
  add<<<1, 1, 0, s>>>(p, 5);
  scale<<<1, 1, 0, s>>>(p, 3);
  OK(cudaEventRecord(join, t));
  OK(cudaStreamWaitEvent(s, join, 0));
  OK(cudaMemcpyAsync(&h[0], p, 4, cudaMemcpyDeviceToHost, s));
  OK(cudaMemcpyAsync(&h[1], q, 4, cudaMemcpyDeviceToHost, s));
  OK(cudaStreamEndCapture(s, &g));
  EXPECT(h[0] == -1);
  size_t nodes = 0;
  OK(cudaGraphGetNodes(g, NULL, &nodes));
  EXPECT(nodes == 6);
  OK(cudaGraphInstantiate(&x, g, 0));
  for (int i = 0; i < 3; i++) OK(cudaGraphLaunch(x, s));
  OK(cudaStreamSynchronize(s));
  EXPECT(h[0] == 15 && h[1] == 0x01010101);
  OK(cudaGraphExecDestroy(x));
  OK(cudaGraphDestroy(g));
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  RETURNS(cudaStreamSynchronize(s), cudaErrorStreamCaptureUnsupported);
  EXPECT(cudaStreamEndCapture(s, &g) != cudaSuccess);
  cudaGetLastError();
}

// A graph that copies 20 to *h, as a child of another.
static void launch_in_parent(cudaGraph_t clone, int *h) {
  cudaGraph_t parent;
  cudaGraphNode_t child;
  cudaGraphExec_t px;
  OK(cudaGraphCreate(&parent, 0));
  OK(cudaGraphAddChildGraphNode(&child, parent, NULL, 0, clone));
  OK(cudaGraphInstantiate(&px, parent, 0));
  *h = 0;
  OK(cudaGraphLaunch(px, 0));
  OK(cudaDeviceSynchronize());
  EXPECT(*h == 20);
  OK(cudaGraphExecDestroy(px));
  OK(cudaGraphDestroy(parent));
}

static void by_hand(int *p) {
  cudaGraph_t g, clone;
  cudaGraphExec_t x;
  cudaGraphNode_t set, kernel, copy, host, empty, to_symbol, found;
  OK(cudaGraphCreate(&g, 0));
  cudaMemsetParams m = {};
  m.dst = p, m.value = 0, m.elementSize = 4, m.width = 1, m.height = 1;
  OK(cudaGraphAddMemsetNode(&set, g, NULL, 0, &m));
  int v = 4, h = -1, one = 1;
  void *args[] = {&p, &v};
  cudaKernelNodeParams k = {};
  k.func = (void *)add, k.gridDim = dim3(1), k.blockDim = dim3(1), k.kernelParams = args;
  OK(cudaGraphAddKernelNode(&kernel, g, &set, 1, &k));
  v = 1000;                                          // values are taken when the node is added
  OK(cudaGraphAddMemcpyNode1D(&copy, g, &kernel, 1, &h, p, 4, cudaMemcpyDeviceToHost));
  OK(cudaGraphAddMemcpyNodeToSymbol(&to_symbol, g, &kernel, 1, symbol, p, 4, 0,
                                    cudaMemcpyDeviceToDevice));
  cudaHostNodeParams hp = {host_fn, &one};
  OK(cudaGraphAddHostNode(&host, g, &copy, 1, &hp));
  OK(cudaGraphAddEmptyNode(&empty, g, NULL, 0));
  OK(cudaGraphInstantiateWithFlags(&x, g, 0));
  OK(cudaGraphLaunch(x, 0));
  OK(cudaDeviceSynchronize());
  int s = 0;
  OK(cudaMemcpyFromSymbol(&s, symbol, 4));
  EXPECT(h == 4 && host_calls == 1 && s == 4);

  v = 9;
  OK(cudaGraphExecKernelNodeSetParams(x, kernel, &k));
  OK(cudaGraphLaunch(x, 0));
  OK(cudaDeviceSynchronize());
  EXPECT(h == 9);
  v = 20;
  OK(cudaGraphKernelNodeSetParams(kernel, &k));
  cudaGraphExecUpdateResultInfo info;
  OK(cudaGraphExecUpdate(x, g, &info));
  EXPECT(info.result == cudaGraphExecUpdateSuccess);
  OK(cudaGraphLaunch(x, 0));
  OK(cudaDeviceSynchronize());
  EXPECT(h == 20);

  cudaKernelNodeParams got;
  OK(cudaGraphKernelNodeGetParams(kernel, &got));
  EXPECT(got.func == (void *)add && got.blockDim.x == 1 && *(int *)got.kernelParams[1] == 20);
  cudaMemcpy3DParms copied;
  OK(cudaGraphMemcpyNodeGetParams(copy, &copied));
  EXPECT(copied.srcPtr.ptr == p && copied.dstPtr.ptr == &h &&
         copied.kind == cudaMemcpyDeviceToHost && copied.extent.width == 4);
  cudaGraphNodeType type;
  OK(cudaGraphNodeGetType(host, &type));
  EXPECT(type == cudaGraphNodeTypeHost);
  OK(cudaGraphClone(&clone, g));
  OK(cudaGraphNodeFindInClone(&found, kernel, clone));
  OK(cudaGraphNodeGetType(found, &type));
  EXPECT(type == cudaGraphNodeTypeKernel);
  size_t n = 0;
  OK(cudaGraphGetRootNodes(g, NULL, &n));
  EXPECT(n == 2);
#if CUDART_VERSION >= 13000
  OK(cudaGraphAddDependencies(g, &empty, &set, NULL, 1));
  OK(cudaGraphGetEdges(g, NULL, NULL, NULL, &n));
#else
  OK(cudaGraphAddDependencies(g, &empty, &set, 1));
  OK(cudaGraphGetEdges(g, NULL, NULL, &n));
#endif
  EXPECT(n == 5);
  launch_in_parent(clone, &h);
  OK(cudaGraphExecDestroy(x));
  OK(cudaGraphDestroy(clone));
  OK(cudaGraphDestroy(g));
}

static void generic(int *p) {
  cudaGraph_t g;
  cudaGraphExec_t x;
  cudaGraphNode_t alloc, kernel, release;
  OK(cudaGraphCreate(&g, 0));
  cudaGraphNodeParams a = {};
  a.type = cudaGraphNodeTypeMemAlloc;
  a.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
  a.alloc.poolProps.location.type = cudaMemLocationTypeDevice;
  a.alloc.bytesize = 256;
  int v = 3;
  void *args[] = {&p, &v};
  cudaGraphNodeParams k = {};
  k.type = cudaGraphNodeTypeKernel;
  k.kernel.func = (void *)add, k.kernel.gridDim = dim3(1), k.kernel.blockDim = dim3(1),
  k.kernel.kernelParams = args;
#if CUDART_VERSION >= 13000
  OK(cudaGraphAddNode(&alloc, g, NULL, NULL, 0, &a));
  OK(cudaGraphAddNode(&kernel, g, &alloc, NULL, 1, &k));
#else
  OK(cudaGraphAddNode(&alloc, g, NULL, 0, &a));
  OK(cudaGraphAddNode(&kernel, g, &alloc, 1, &k));
#endif
  EXPECT(a.alloc.dptr != NULL);
  OK(cudaGraphAddMemFreeNode(&release, g, &kernel, 1, a.alloc.dptr));
  OK(cudaMemset(p, 0, 4));
  OK(cudaGraphInstantiate(&x, g, 0));
  OK(cudaGraphLaunch(x, 0));
  OK(cudaGraphLaunch(x, 0));
  int h = 0;
  OK(cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost));
  EXPECT(h == 6);
  OK(cudaGraphExecDestroy(x));
  OK(cudaGraphDestroy(g));
}

int main() {
  int *p;
  OK(cudaMalloc(&p, 4));
  captured(p);
  by_hand(p);
  generic(p);
  return finish();
}
