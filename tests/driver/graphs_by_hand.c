// Graphs by hand: every kind of node, edges, clones, parameters before and after instantiation,
// conditional nodes.
// prints: all checks passed
#include "driver_test.h"

static CUfunction add, fill;
static CUcontext ctx;
static void count(void *n) { ++*(int *)n; }

static CUDA_KERNEL_NODE_PARAMS kernel(CUfunction f, unsigned threads, void **params) {
  return (CUDA_KERNEL_NODE_PARAMS){.func = f,
                                   .gridDimX = 1,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = threads,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .kernelParams = params};
}

// The executable graph changes on its own, also while a launch is pending. out: where it copies a
// result of `second` to.
static void change_executable(CUgraphExec x, CUgraphNode second,
                              const CUDA_KERNEL_NODE_PARAMS *changed, const unsigned *out) {
  OK(cuGraphLaunch(x, NULL));
  OK(cuGraphExecKernelNodeSetParams_v2(x, second, changed));
  OK(cuCtxSynchronize());
  EXPECT(*out == 102);
  OK(cuGraphLaunch(x, NULL));
  OK(cuCtxSynchronize());
  EXPECT(*out == 110);
  unsigned enabled;
  OK(cuGraphNodeSetEnabled(x, second, 0));
  OK(cuGraphNodeGetEnabled(x, second, &enabled));
  EXPECT(enabled == 0);
  OK(cuGraphLaunch(x, NULL));
  OK(cuCtxSynchronize());
  EXPECT(*out == 100);
}

// A clone has its own nodes.
static void change_clone(CUgraph g, CUgraphNode second, const CUDA_KERNEL_NODE_PARAMS *changed) {
  CUgraph clone;
  CUgraphNode found;
  CUDA_KERNEL_NODE_PARAMS back;
  size_t count_;
  OK(cuGraphClone(&clone, g));
  OK(cuGraphNodeFindInClone(&found, second, clone));
  EXPECT(found != second);
  OK(cuGraphKernelNodeSetParams_v2(found, changed));
  OK(cuGraphKernelNodeGetParams_v2(second, &back));
  EXPECT(*(unsigned *)back.kernelParams[2] == 2);
  OK(cuGraphDestroyNode(found));
  OK(cuGraphGetNodes(clone, NULL, &count_));
  EXPECT(count_ == 5);
  OK(cuGraphDestroy(clone));
}

static void nodes(void) {
  CUgraph g;
  CUgraphNode set, first, second, copy, host, empty, join[3];
  CUgraphExec x;
  CUdeviceptr p = new_ints(16), q = p + 32;
  unsigned n = 8, one = 1, two = 2, out[8] = {0};
  int calls = 0;
  size_t count_;
  OK(cuGraphCreate(&g, 0));
  CUDA_MEMSET_NODE_PARAMS sp = {.dst = p, .value = 100, .elementSize = 4, .width = 16, .height = 1},
                          sp_back;
  OK(cuGraphAddMemsetNode(&set, g, NULL, 0, &sp, ctx));
  CUDA_KERNEL_NODE_PARAMS kp = kernel(add, 8, (void *[]){&p, &n, &one}),
                          kq = kernel(add, 8, (void *[]){&q, &n, &two}), back;
  OK(cuGraphAddKernelNode_v2(&first, g, &set, 1, &kp));
  OK(cuGraphAddKernelNode_v2(&second, g, &set, 1, &kq));
  OK(cuGraphAddEmptyNode(&empty, g, (CUgraphNode[]){first, second}, 2));
  CUDA_MEMCPY3D cp = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                      .srcDevice = q,
                      .dstMemoryType = CU_MEMORYTYPE_HOST,
                      .dstHost = out,
                      .WidthInBytes = 32,
                      .Height = 1,
                      .Depth = 1};
  OK(cuGraphAddMemcpyNode(&copy, g, &empty, 1, &cp, ctx));
  CUDA_HOST_NODE_PARAMS hp = {count, &calls};
  OK(cuGraphAddHostNode(&host, g, &copy, 1, &hp));
  RETURNS(cuGraphAddEmptyNode(&join[0], g, (CUgraphNode[]){first, first}, 2),
          CUDA_ERROR_INVALID_VALUE);

  // What was given comes back.
  OK(cuGraphKernelNodeGetParams_v2(first, &back));
  EXPECT(back.func == add && back.blockDimX == 8 && *(CUdeviceptr *)back.kernelParams[0] == p &&
         *(unsigned *)back.kernelParams[2] == 1);
  OK(cuGraphMemsetNodeGetParams(set, &sp_back));
  EXPECT(sp_back.dst == p && sp_back.value == 100 && sp_back.width == 16);
  OK(cuGraphNodeGetDependencies(empty, NULL, &count_));
  EXPECT(count_ == 2);
  count_ = 3;
  OK(cuGraphNodeGetDependentNodes(set, join, &count_));
  EXPECT(count_ == 2 && join[0] == first && join[1] == second && join[2] == NULL);
  OK(cuGraphGetEdges(g, NULL, NULL, &count_));
  EXPECT(count_ == 6);

  // A cycle cannot be instantiated.
  OK(cuGraphAddDependencies(g, &host, &set, 1));
  RETURNS(cuGraphInstantiateWithFlags(&x, g, 0), CUDA_ERROR_INVALID_VALUE);
  OK(cuGraphRemoveDependencies(g, &host, &set, 1));

  OK(cuGraphInstantiateWithFlags(&x, g, 0));
  OK(cuGraphLaunch(x, NULL));
  OK(cuCtxSynchronize());
  EXPECT(out[7] == 102 && read_int(p) == 101 && calls == 1);

  unsigned ten = 10;
  CUDA_KERNEL_NODE_PARAMS k10 = kernel(add, 8, (void *[]){&q, &n, &ten});
  change_executable(x, second, &k10, &out[7]);
  EXPECT(calls == 4);
  sp.value = 7;
  OK(cuGraphExecMemsetNodeSetParams(x, set, &sp, ctx));
  OK(cuGraphLaunch(x, NULL));
  OK(cuCtxSynchronize());
  EXPECT(out[7] == 7 && read_int(p) == 8);

  change_clone(g, second, &k10);
  OK(cuGraphDebugDotPrint(g, "/dev/null", 0));
  OK(cuGraphExecDestroy(x));
  OK(cuGraphDestroy(g));
  RETURNS(cuGraphNodeGetDependencies(empty, NULL, &count_), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemFree_v2(p));
}

static void children_events_memory(void) {
  CUgraph child, g, inside;
  CUgraphNode n1, n2, c, rec, alloc, set, copy, rel, w;
  CUgraphExec x;
  CUevent e;
  CUdeviceptr p = new_ints(4);
  unsigned n = 1, five = 5;
  OK(cuEventCreate(&e, 0));
  OK(cuGraphCreate(&child, 0));
  CUDA_KERNEL_NODE_PARAMS kp = kernel(add, 1, (void *[]){&p, &n, &five});
  OK(cuGraphAddKernelNode_v2(&n1, child, NULL, 0, &kp));
  OK(cuGraphAddKernelNode_v2(&n2, child, &n1, 1, &kp));
  OK(cuGraphCreate(&g, 0));
  OK(cuGraphAddChildGraphNode(&c, g, NULL, 0, child));
  OK(cuGraphDestroy(child));
  OK(cuGraphChildGraphNodeGetGraph(c, &inside));
  size_t count_;
  OK(cuGraphGetNodes(inside, NULL, &count_));
  EXPECT(count_ == 2);
  RETURNS(cuGraphDestroy(inside), CUDA_ERROR_INVALID_VALUE);
  OK(cuGraphAddEventRecordNode(&rec, g, &c, 1, e));
  OK(cuGraphAddEventWaitNode(&w, g, &rec, 1, e));
  CUDA_MEM_ALLOC_NODE_PARAMS ap = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                 .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
                                   .bytesize = 64};
  OK(cuGraphAddMemAllocNode(&alloc, g, &w, 1, &ap));
  EXPECT(ap.dptr);
  CUDA_MEMSET_NODE_PARAMS sp = {
      .dst = ap.dptr, .value = 77, .elementSize = 4, .width = 16, .height = 1};
  OK(cuGraphAddMemsetNode(&set, g, &alloc, 1, &sp, ctx));
  CUDA_MEMCPY3D cp = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                      .srcDevice = ap.dptr + 60,
                      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                      .dstDevice = p + 4,
                      .WidthInBytes = 4,
                      .Height = 1,
                      .Depth = 1};
  OK(cuGraphAddMemcpyNode(&copy, g, &set, 1, &cp, ctx));
  OK(cuGraphAddMemFreeNode(&rel, g, &copy, 1, ap.dptr));
  OK(cuGraphInstantiateWithFlags(&x, g, 0));
  OK(cuGraphDestroy(g));
  OK(cuGraphLaunch(x, NULL));
  OK(cuGraphLaunch(x, NULL));
  OK(cuEventSynchronize(e));
  OK(cuCtxSynchronize());
  EXPECT(read_int(p) == 20 && read_int(p + 4) == 77);
  uint64_t used;
  OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
  EXPECT(used == 0);
  OK(cuGraphExecDestroy(x));
  OK(cuEventDestroy_v2(e));
  OK(cuMemFree_v2(p));
}

// IF runs its body when the word is not zero. The word starts with the default at every launch; a
// memset node changes it.
static void conditional(void) {
  CUgraph g;
  CUgraphNode cond, clear, body_node;
  CUgraphExec x;
  CUgraphConditionalHandle h;
  CUdeviceptr p = new_ints(2);
  unsigned n = 1, one = 1;
  OK(cuGraphCreate(&g, 0));
  OK(cuGraphConditionalHandleCreate(&h, g, ctx, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
  CUgraphNodeParams np = {
      .type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
      .conditional = {.handle = h, .type = CU_GRAPH_COND_TYPE_WHILE, .size = 1, .ctx = ctx}};
  OK(cuGraphAddNode_v2(&cond, g, NULL, NULL, 0, &np));
  CUgraph body = np.conditional.phGraph_out[0];
  CUDA_KERNEL_NODE_PARAMS kp = kernel(add, 1, (void *[]){&p, &n, &one});
  OK(cuGraphAddKernelNode_v2(&body_node, body, NULL, 0, &kp));
  CUDA_MEMSET_NODE_PARAMS sp = {.dst = h, .value = 0, .elementSize = 4, .width = 1, .height = 1};
  OK(cuGraphAddMemsetNode(&clear, body, &body_node, 1, &sp, ctx));
  OK(cuGraphInstantiateWithFlags(&x, g, 0));
  for (int i = 0; i < 3; i++) OK(cuGraphLaunch(x, NULL));
  OK(cuCtxSynchronize());
  EXPECT(read_int(p) == 3);
  OK(cuGraphExecDestroy(x));
  OK(cuGraphDestroy(g));
}

static int destroyed;
static void destroy(void *unused) { destroyed++; }

static void user_objects(void) {
  CUgraph g, h;
  CUgraphExec x;
  CUuserObject o;
  OK(cuGraphCreate(&g, 0));
  OK(cuUserObjectCreate(&o, NULL, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  OK(cuGraphRetainUserObject(g, o, 1, CU_GRAPH_USER_OBJECT_MOVE));
  OK(cuGraphClone(&h, g));
  OK(cuGraphInstantiateWithFlags(&x, h, 0));
  OK(cuGraphDestroy(g));
  OK(cuGraphDestroy(h));
  EXPECT(destroyed == 0);
  OK(cuGraphExecDestroy(x));
  EXPECT(destroyed == 1);
}

int main(void) {
  ctx = start();
  CUmodule m = load(common_ptx);
  add = get(m, "add");
  fill = get(m, "fill");
  nodes();
  children_events_memory();
  conditional();
  user_objects();
  return finish();
}
