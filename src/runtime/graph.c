// Graphs as a whole: making, linking, walking, instantiating, launching. Nodes with parameters are
// in graph_nodes.c.
#include "runtime/internal.h"

cudaError_t cudaGraphCreate(cudaGraph_t *out, unsigned flags) {
  RT_ENTER();
  return rt_done(cuGraphCreate(out, flags));
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  RT_ENTER();
  return rt_done(cuGraphDestroy(graph));
}
cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  RT_ENTER();
  return rt_done(cuGraphDestroyNode(node));
}
cudaError_t cudaGraphClone(cudaGraph_t *out, cudaGraph_t graph) {
  RT_ENTER();
  return rt_done(cuGraphClone(out, graph));
}
cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *out, cudaGraphNode_t node,
                                     cudaGraph_t clone) {
  RT_ENTER();
  return rt_done(cuGraphNodeFindInClone(out, node, clone));
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, int *type) {
  RT_ENTER();
  return rt_done(cuGraphNodeGetType(node, (CUgraphNodeType *)type));
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n) {
  RT_ENTER();
  return rt_done(cuGraphGetNodes(graph, nodes, n));
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n) {
  RT_ENTER();
  return rt_done(cuGraphGetRootNodes(graph, nodes, n));
}
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned flags) {
  RT_ENTER();
  return rt_done(cuGraphDebugDotPrint(graph, path, flags));
}
cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                                      unsigned flags) {
  RT_ENTER();
  return rt_done(cuGraphRetainUserObject(graph, object, count, flags));
}
cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
  RT_ENTER();
  return rt_done(cuGraphReleaseUserObject(graph, object, count));
}
cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *out, cudaGraph_t graph,
                                             unsigned value, unsigned flags) {
  RT_ENTER();
  CUcontext context = NULL;
  cuCtxGetCurrent(&context);
  return rt_done(cuGraphConditionalHandleCreate((CUgraphConditionalHandle *)out, graph, context,
                                                value, flags));
}

// --- edges: toolkit 12 has each function without and (_v2) with edge data; toolkit 13 only with,
// under the plain name ---

cudaError_t cudaGraphGetEdges_abi12(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                    size_t *n) {
  RT_ENTER();
  return rt_done(cuGraphGetEdges(graph, from, to, n));
}
cudaError_t cudaGraphGetEdges_v2(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                 cudaGraphEdgeData *data, size_t *n) {
  RT_ENTER();
  return rt_done(cuGraphGetEdges_v2(graph, from, to, data, n));
}
cudaError_t cudaGraphGetEdges_abi13(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                    cudaGraphEdgeData *data, size_t *n) {
  return cudaGraphGetEdges_v2(graph, from, to, data, n);
}

cudaError_t cudaGraphNodeGetDependencies_abi12(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                               size_t *n) {
  RT_ENTER();
  return rt_done(cuGraphNodeGetDependencies(node, nodes, n));
}
cudaError_t cudaGraphNodeGetDependencies_v2(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                            cudaGraphEdgeData *data, size_t *n) {
  RT_ENTER();
  return rt_done(cuGraphNodeGetDependencies_v2(node, nodes, data, n));
}
cudaError_t cudaGraphNodeGetDependencies_abi13(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                               cudaGraphEdgeData *data, size_t *n) {
  return cudaGraphNodeGetDependencies_v2(node, nodes, data, n);
}

cudaError_t cudaGraphNodeGetDependentNodes_abi12(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                                 size_t *n) {
  RT_ENTER();
  return rt_done(cuGraphNodeGetDependentNodes(node, nodes, n));
}
cudaError_t cudaGraphNodeGetDependentNodes_v2(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                              cudaGraphEdgeData *data, size_t *n) {
  RT_ENTER();
  return rt_done(cuGraphNodeGetDependentNodes_v2(node, nodes, data, n));
}
cudaError_t cudaGraphNodeGetDependentNodes_abi13(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                                 cudaGraphEdgeData *data, size_t *n) {
  return cudaGraphNodeGetDependentNodes_v2(node, nodes, data, n);
}

cudaError_t cudaGraphAddDependencies_abi12(cudaGraph_t graph, const cudaGraphNode_t *from,
                                           const cudaGraphNode_t *to, size_t n) {
  RT_ENTER();
  return rt_done(cuGraphAddDependencies(graph, from, to, n));
}
cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from,
                                        const cudaGraphNode_t *to, const cudaGraphEdgeData *data,
                                        size_t n) {
  RT_ENTER();
  return rt_done(cuGraphAddDependencies_v2(graph, from, to, data, n));
}
cudaError_t cudaGraphAddDependencies_abi13(cudaGraph_t graph, const cudaGraphNode_t *from,
                                           const cudaGraphNode_t *to, const cudaGraphEdgeData *data,
                                           size_t n) {
  return cudaGraphAddDependencies_v2(graph, from, to, data, n);
}

cudaError_t cudaGraphRemoveDependencies_abi12(cudaGraph_t graph, const cudaGraphNode_t *from,
                                              const cudaGraphNode_t *to, size_t n) {
  RT_ENTER();
  return rt_done(cuGraphRemoveDependencies(graph, from, to, n));
}
cudaError_t cudaGraphRemoveDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from,
                                           const cudaGraphNode_t *to, const cudaGraphEdgeData *data,
                                           size_t n) {
  RT_ENTER();
  return rt_done(cuGraphRemoveDependencies_v2(graph, from, to, data, n));
}
cudaError_t cudaGraphRemoveDependencies_abi13(cudaGraph_t graph, const cudaGraphNode_t *from,
                                              const cudaGraphNode_t *to,
                                              const cudaGraphEdgeData *data, size_t n) {
  return cudaGraphRemoveDependencies_v2(graph, from, to, data, n);
}

// --- executable graphs ---

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *out, cudaGraph_t graph,
                                          unsigned long long flags) {
  RT_ENTER();
  return rt_done(cuGraphInstantiateWithFlags(out, graph, flags));
}

// Until toolkit 11 the call had five arguments (error node, log buffer, its size); since 12 the
// third is the flags.
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph,
                                 unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(out, graph, flags);
}
cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *out, cudaGraph_t graph,
                                           cudaGraphInstantiateParams *params) {
  RT_ENTER();
  return rt_done(cuGraphInstantiateWithParams(out, graph, (CUDA_GRAPH_INSTANTIATE_PARAMS *)params));
}
cudaError_t cudaGraphInstantiateWithParams_ptsz(cudaGraphExec_t *out, cudaGraph_t graph,
                                                cudaGraphInstantiateParams *params) {
  if (params) params->uploadStream = STREAM_PTSZ(params->uploadStream);
  return cudaGraphInstantiateWithParams(out, graph, params);
}
cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags) {
  RT_ENTER();
  return rt_done(cuGraphExecGetFlags(exec, (uint64_t *)flags));
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo *info) {
  RT_ENTER();
  return rt_done(cuGraphExecUpdate_v2(exec, graph, (CUgraphExecUpdateResultInfo *)info));
}
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  RT_ENTER();
  return rt_done(cuGraphUpload(exec, stream));
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  RT_ENTER();
  return rt_done(cuGraphLaunch(exec, stream));
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  RT_ENTER();
  return rt_done(cuGraphExecDestroy(exec));
}
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled) {
  RT_ENTER();
  return rt_done(cuGraphNodeSetEnabled(exec, node, enabled));
}
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *enabled) {
  RT_ENTER();
  return rt_done(cuGraphNodeGetEnabled(exec, node, enabled));
}
