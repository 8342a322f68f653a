// Graphs: captured, by hand, cloned, with new parameters, updated, a child in a parent, launched
// again and again, disabled nodes.
#include "count_test.h"

static CUfunction fill, add;

static CUDA_KERNEL_NODE_PARAMS kernel(CUfunction f, unsigned blocks, unsigned threads,
                                      void **params) {
  return (CUDA_KERNEL_NODE_PARAMS){.func = f,
                                   .gridDimX = blocks,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = threads,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .kernelParams = params};
}

static unsigned v = 1, n = 32, w = 5;  // arguments of the kernels

static void by_hand(CUstream s, CUdeviceptr q) {
  CUgraph hand;
  CUgraphExec xh;
  // By hand; what was given comes back, without ours.
  CUgraphNode a, b;
  OK(cuGraphCreate(&hand, 0));
  CUDA_KERNEL_NODE_PARAMS kp = kernel(fill, 4, 32, (void *[]){&q, &v}), back;
  OK(cuGraphAddKernelNode_v2(&a, hand, NULL, 0, &kp));
  kp = kernel(add, 2, 32, (void *[]){&q, &n, &w});
  OK(cuGraphAddKernelNode_v2(&b, hand, &a, 1, &kp));
  OK(cuGraphKernelNodeGetParams_v2(b, &back));
  EXPECT(*(CUdeviceptr *)back.kernelParams[0] == q && *(unsigned *)back.kernelParams[2] == 5);
  OK(cuGraphKernelNodeSetParams_v2(b, &back));  // and may be given again
  OK(cuGraphInstantiateWithFlags(&xh, hand, 0));
  OK(cuGraphLaunch(xh, s));
  count_fill(128, 4);
  count_add(64, 32);
  OK(cuStreamSynchronize(s));
  EXPECT(read_int(q) == 6);

  // New parameters: in the graph for what is instantiated later, in the executable one for now.
  unsigned big = 64;
  kp = kernel(add, 2, 32, (void *[]){&q, &big, &w});
  OK(cuGraphExecKernelNodeSetParams_v2(xh, b, &kp));
  OK(cuGraphLaunch(xh, s));
  count_fill(128, 4);
  count_add(64, 64);
  OK(cuStreamSynchronize(s));
  EXPECT(read_int(q + 4 * 63) == 6);
  kp = kernel(fill, 2, 32, (void *[]){&q, &w});
  OK(cuGraphKernelNodeSetParams_v2(a, &kp));
  CUgraphExecUpdateResultInfo info;
  OK(cuGraphExecUpdate_v2(xh, hand, &info));
  for (int i = 0; i < 5; i++) {
    OK(cuGraphLaunch(xh, s));
    count_fill(64, 2);
    count_add(64, 32);
  }

  // A disabled node does not run.
  OK(cuGraphNodeSetEnabled(xh, b, 0));
  OK(cuGraphLaunch(xh, s));
  count_fill(64, 2);
}

int main(void) {
  start();
  CUmodule m = load(common_ptx);
  fill = get(m, "fill");
  add = get(m, "add");
  CUdeviceptr p = new_ints(1024), q = new_ints(1024);
  CUstream s;
  CUgraph g, clone, parent;
  CUgraphExec x, xc, xp;
  CUgraphNode nodes[2];
  OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));

  // Captured: 2 kernels, launched 3 times.
  OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  OK(LAUNCH(fill, 1, 64, s, &p, &v));
  OK(LAUNCH(add, 2, 32, s, &p, &n, &w));
  OK(cuStreamEndCapture(s, &g));
  OK(cuGraphInstantiateWithFlags(&x, g, 0));
  for (int i = 0; i < 3; i++) {
    OK(cuGraphLaunch(x, s));
    count_fill(64, 2);
    count_add(64, 32);
  }
  OK(cuStreamSynchronize(s));
  EXPECT(read_int(p) == 6 && read_int(p + 4 * 40) == 1);

  // Its clone.
  OK(cuGraphClone(&clone, g));
  OK(cuGraphInstantiateWithFlags(&xc, clone, 0));
  OK(cuGraphLaunch(xc, s));
  count_fill(64, 2);
  count_add(64, 32);

  by_hand(s, q);

  // A child graph, twice in its parent.
  OK(cuGraphCreate(&parent, 0));
  OK(cuGraphAddChildGraphNode(&nodes[0], parent, NULL, 0, g));
  OK(cuGraphAddChildGraphNode(&nodes[1], parent, &nodes[0], 1, g));
  OK(cuGraphInstantiateWithFlags(&xp, parent, 0));
  OK(cuGraphLaunch(xp, s));
  for (int i = 0; i < 2; i++) {
    count_fill(64, 2);
    count_add(64, 32);
  }
  OK(cuStreamSynchronize(s));
  OK(cuGraphExecDestroy(x));
  OK(cuGraphDestroy(g));
  // Node parameters that were replaced before they ran were numbered all the same; the number of
  // launches is not looked at here.
  launches = 0;
  return finish_counted();
}
