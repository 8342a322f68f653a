// Graph nodes: for each type add, get, set, and set in an executable graph. Parameters become the
// driver's.
#include "runtime/internal.h"

#define PTR(p) ((CUdeviceptr)(uintptr_t)(p))
#define DEPENDENCIES const cudaGraphNode_t *deps, size_t ndeps

static CUcontext current(void) {
  CUcontext c = NULL;
  cuCtxGetCurrent(&c);
  return c;
}

// --- kernel nodes ---

static cudaError_t kernel_params(const cudaKernelNodeParams *in, CUDA_KERNEL_NODE_PARAMS *out) {
  if (!in) return cudaErrorInvalidValue;
  CUkernel kernel;
  cudaError_t e = rt_find_kernel(in->func, &kernel);
  if (!e) e = rt_check_launch(in->gridDim, in->blockDim);
  if (e) return e;
  *out = (CUDA_KERNEL_NODE_PARAMS){.func = (CUfunction)kernel,
                                   .gridDimX = in->gridDim.x,
                                   .gridDimY = in->gridDim.y,
                                   .gridDimZ = in->gridDim.z,
                                   .blockDimX = in->blockDim.x,
                                   .blockDimY = in->blockDim.y,
                                   .blockDimZ = in->blockDim.z,
                                   .sharedMemBytes = in->sharedMemBytes,
                                   .kernelParams = in->kernelParams,
                                   .extra = in->extra};
  return cudaSuccess;
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *out, cudaGraph_t graph, DEPENDENCIES,
                                   const cudaKernelNodeParams *params) {
  RT_ENTER();
  CUDA_KERNEL_NODE_PARAMS p;
  cudaError_t e = kernel_params(params, &p);
  return e ? rt_return(e) : rt_done(cuGraphAddKernelNode_v2(out, graph, deps, ndeps, &p));
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams *out) {
  RT_ENTER();
  CUDA_KERNEL_NODE_PARAMS p = {0};
  cudaError_t e = out ? rt_result(cuGraphKernelNodeGetParams_v2(node, &p)) : cudaErrorInvalidValue;
  if (e) return rt_return(e);
  CUkernel kernel = p.kern ? p.kern : (CUkernel)p.func;
  const void *stub = rt_host_stub(kernel);
  *out = (cudaKernelNodeParams){stub ? (void *)stub : (void *)kernel,
                                {p.gridDimX, p.gridDimY, p.gridDimZ},
                                {p.blockDimX, p.blockDimY, p.blockDimZ},
                                p.sharedMemBytes,
                                p.kernelParams,
                                p.extra};
  return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams *params) {
  RT_ENTER();
  CUDA_KERNEL_NODE_PARAMS p;
  cudaError_t e = kernel_params(params, &p);
  return e ? rt_return(e) : rt_done(cuGraphKernelNodeSetParams_v2(node, &p));
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams *params) {
  RT_ENTER();
  CUDA_KERNEL_NODE_PARAMS p;
  cudaError_t e = kernel_params(params, &p);
  return e ? rt_return(e) : rt_done(cuGraphExecKernelNodeSetParams_v2(exec, node, &p));
}

// Toolkits 12 and 13 name the two arguments differently; the order on the wire is the driver's in
// both.
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t dst, cudaGraphNode_t src) {
  RT_ENTER();
  return rt_done(cuGraphKernelNodeCopyAttributes(dst, src));
}
cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, int id,
                                            cudaLaunchAttributeValue *value) {
  RT_ENTER();
  return rt_done(
      cuGraphKernelNodeGetAttribute(node, (CUkernelNodeAttrID)id, (CUkernelNodeAttrValue *)value));
}
cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, int id,
                                            const cudaLaunchAttributeValue *value) {
  RT_ENTER();
  return rt_done(cuGraphKernelNodeSetAttribute(node, (CUkernelNodeAttrID)id,
                                               (const CUkernelNodeAttrValue *)value));
}

// --- copy nodes: with a shape, of plain bytes, to and from symbols ---

typedef enum { NODE_SET, NODE_SET_EXEC } SetWhere;

static cudaError_t add_copy(cudaGraphNode_t *out, cudaGraph_t graph, DEPENDENCIES,
                            const CUDA_MEMCPY3D *c) {
  return rt_result(cuGraphAddMemcpyNode(out, graph, deps, ndeps, c, current()));
}

static cudaError_t set_copy(SetWhere where, cudaGraphExec_t exec, cudaGraphNode_t node,
                            const CUDA_MEMCPY3D *c) {
  return rt_result(where == NODE_SET ? cuGraphMemcpyNodeSetParams(node, c)
                                     : cuGraphExecMemcpyNodeSetParams(exec, node, c, current()));
}

// n plain bytes as a 3D copy of one row.
static cudaError_t bytes_copy(void *dst, const void *src, size_t n, int kind, CUDA_MEMCPY3D *c) {
  CUmemorytype st, dt;
  if (!rt_copy_kind_types(kind, &st, &dt)) return cudaErrorInvalidMemcpyDirection;
  if (!dst || !src) return cudaErrorInvalidValue;
  *c = (CUDA_MEMCPY3D){.srcMemoryType = st,
                       .dstMemoryType = dt,
                       .srcPitch = n,
                       .dstPitch = n,
                       .srcHeight = 1,
                       .dstHeight = 1,
                       .WidthInBytes = n,
                       .Height = 1,
                       .Depth = 1};
  if (st == CU_MEMORYTYPE_HOST) c->srcHost = src;
  else c->srcDevice = PTR(src);
  if (dt == CU_MEMORYTYPE_HOST) c->dstHost = dst;
  else c->dstDevice = PTR(dst);
  return cudaSuccess;
}

// The n bytes of a variable from the offset on.
static cudaError_t bytes_of_symbol(const void *symbol, size_t offset, size_t n, void **out) {
  CUdeviceptr address;
  size_t size;
  cudaError_t e = rt_find_symbol(symbol, &address, &size);
  if (!e && (offset > size || n > size - offset)) e = cudaErrorInvalidValue;
  if (!e) *out = (void *)(uintptr_t)(address + offset);
  return e;
}

static cudaError_t copy_to_symbol(const void *symbol, size_t offset, const void *src, size_t n,
                                  int kind, CUDA_MEMCPY3D *c) {
  void *p;
  cudaError_t e = bytes_of_symbol(symbol, offset, n, &p);
  return e ? e : bytes_copy(p, src, n, kind, c);
}

static cudaError_t copy_from_symbol(void *dst, const void *symbol, size_t offset, size_t n,
                                    int kind, CUDA_MEMCPY3D *c) {
  void *p;
  cudaError_t e = bytes_of_symbol(symbol, offset, n, &p);
  return e ? e : bytes_copy(dst, p, n, kind, c);
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *out, cudaGraph_t graph, DEPENDENCIES,
                                   const cudaMemcpy3DParms *params) {
  RT_ENTER();
  CUDA_MEMCPY3D c;
  cudaError_t e = rt_copy3d_params(params, &c);
  return rt_return(e ? e : add_copy(out, graph, deps, ndeps, &c));
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *out, cudaGraph_t graph, DEPENDENCIES,
                                     void *dst, const void *src, size_t n, int kind) {
  RT_ENTER();
  CUDA_MEMCPY3D c;
  cudaError_t e = bytes_copy(dst, src, n, kind, &c);
  return rt_return(e ? e : add_copy(out, graph, deps, ndeps, &c));
}
cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *out, cudaGraph_t graph, DEPENDENCIES,
                                           const void *symbol, const void *src, size_t n,
                                           size_t offset, int kind) {
  RT_ENTER();
  CUDA_MEMCPY3D c;
  cudaError_t e = copy_to_symbol(symbol, offset, src, n, kind, &c);
  return rt_return(e ? e : add_copy(out, graph, deps, ndeps, &c));
}
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *out, cudaGraph_t graph, DEPENDENCIES,
                                             void *dst, const void *symbol, size_t n, size_t offset,
                                             int kind) {
  RT_ENTER();
  CUDA_MEMCPY3D c;
  cudaError_t e = copy_from_symbol(dst, symbol, offset, n, kind, &c);
  return rt_return(e ? e : add_copy(out, graph, deps, ndeps, &c));
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms *out) {
  RT_ENTER();
  CUDA_MEMCPY3D c;
  cudaError_t e = out ? rt_result(cuGraphMemcpyNodeGetParams(node, &c)) : cudaErrorInvalidValue;
  if (!e) rt_copy3d_params_back(&c, out);
  return rt_return(e);
}

// Four ways to say what is copied, each for a node and for a node of an executable graph.
#define COPY_SETTERS(Suffix, PARAMS, MAKE) \
  cudaError_t cudaGraphMemcpyNodeSetParams##Suffix(cudaGraphNode_t node, PARAMS) { \
    RT_ENTER(); \
    CUDA_MEMCPY3D c; \
    cudaError_t e = MAKE; \
    return rt_return(e ? e : set_copy(NODE_SET, NULL, node, &c)); \
  } \
  cudaError_t cudaGraphExecMemcpyNodeSetParams##Suffix(cudaGraphExec_t exec, cudaGraphNode_t node, \
                                                       PARAMS) { \
    RT_ENTER(); \
    CUDA_MEMCPY3D c; \
    cudaError_t e = MAKE; \
    return rt_return(e ? e : set_copy(NODE_SET_EXEC, exec, node, &c)); \
  }
#define COMMA ,
COPY_SETTERS(, const cudaMemcpy3DParms *params, rt_copy3d_params(params, &c))
COPY_SETTERS(1D, void *dst COMMA const void *src COMMA size_t n COMMA int kind,
             bytes_copy(dst, src, n, kind, &c))
COPY_SETTERS(ToSymbol,
             const void *symbol COMMA const void *src COMMA size_t n COMMA size_t offset
                 COMMA int kind,
             copy_to_symbol(symbol, offset, src, n, kind, &c))
COPY_SETTERS(FromSymbol,
             void *dst COMMA const void *symbol COMMA size_t n COMMA size_t offset COMMA int kind,
             copy_from_symbol(dst, symbol, offset, n, kind, &c))

// --- set, host, child, empty, event, allocation nodes: same parameters in both interfaces ---

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *out, cudaGraph_t graph, DEPENDENCIES,
                                   const cudaMemsetParams *params) {
  RT_ENTER();
  return rt_done(cuGraphAddMemsetNode(out, graph, deps, ndeps,
                                      (const CUDA_MEMSET_NODE_PARAMS *)params, current()));
}
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams *params) {
  RT_ENTER();
  return rt_done(cuGraphMemsetNodeGetParams(node, (CUDA_MEMSET_NODE_PARAMS *)params));
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams *params) {
  RT_ENTER();
  return rt_done(cuGraphMemsetNodeSetParams(node, (const CUDA_MEMSET_NODE_PARAMS *)params));
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemsetParams *params) {
  RT_ENTER();
  return rt_done(cuGraphExecMemsetNodeSetParams(exec, node, (const CUDA_MEMSET_NODE_PARAMS *)params,
                                                current()));
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *out, cudaGraph_t graph, DEPENDENCIES,
                                 const cudaHostNodeParams *params) {
  RT_ENTER();
  return rt_done(
      cuGraphAddHostNode(out, graph, deps, ndeps, (const CUDA_HOST_NODE_PARAMS *)params));
}
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams *params) {
  RT_ENTER();
  return rt_done(cuGraphHostNodeGetParams(node, (CUDA_HOST_NODE_PARAMS *)params));
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams *params) {
  RT_ENTER();
  return rt_done(cuGraphHostNodeSetParams(node, (const CUDA_HOST_NODE_PARAMS *)params));
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const cudaHostNodeParams *params) {
  RT_ENTER();
  return rt_done(cuGraphExecHostNodeSetParams(exec, node, (const CUDA_HOST_NODE_PARAMS *)params));
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *out, cudaGraph_t graph, DEPENDENCIES,
                                       cudaGraph_t child) {
  RT_ENTER();
  return rt_done(cuGraphAddChildGraphNode(out, graph, deps, ndeps, child));
}
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *child) {
  RT_ENTER();
  return rt_done(cuGraphChildGraphNodeGetGraph(node, child));
}
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaGraph_t child) {
  RT_ENTER();
  return rt_done(cuGraphExecChildGraphNodeSetParams(exec, node, child));
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *out, cudaGraph_t graph, DEPENDENCIES) {
  RT_ENTER();
  return rt_done(cuGraphAddEmptyNode(out, graph, deps, ndeps));
}

#define EVENT_NODE(Kind) \
  cudaError_t cudaGraphAddEvent##Kind##Node(cudaGraphNode_t *out, cudaGraph_t graph, DEPENDENCIES, \
                                            cudaEvent_t event) { \
    RT_ENTER(); \
    return rt_done(cuGraphAddEvent##Kind##Node(out, graph, deps, ndeps, event)); \
  } \
  cudaError_t cudaGraphEvent##Kind##NodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event) { \
    RT_ENTER(); \
    return rt_done(cuGraphEvent##Kind##NodeGetEvent(node, event)); \
  } \
  cudaError_t cudaGraphEvent##Kind##NodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) { \
    RT_ENTER(); \
    return rt_done(cuGraphEvent##Kind##NodeSetEvent(node, event)); \
  } \
  cudaError_t cudaGraphExecEvent##Kind##NodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, \
                                                     cudaEvent_t event) { \
    RT_ENTER(); \
    return rt_done(cuGraphExecEvent##Kind##NodeSetEvent(exec, node, event)); \
  }
EVENT_NODE(Record)
EVENT_NODE(Wait)

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *out, cudaGraph_t graph, DEPENDENCIES,
                                     cudaMemAllocNodeParams *params) {
  RT_ENTER();
  return rt_done(
      cuGraphAddMemAllocNode(out, graph, deps, ndeps, (CUDA_MEM_ALLOC_NODE_PARAMS *)params));
}
cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams *params) {
  RT_ENTER();
  return rt_done(cuGraphMemAllocNodeGetParams(node, (CUDA_MEM_ALLOC_NODE_PARAMS *)params));
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *out, cudaGraph_t graph, DEPENDENCIES,
                                    void *p) {
  RT_ENTER();
  return rt_done(cuGraphAddMemFreeNode(out, graph, deps, ndeps, PTR(p)));
}
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *out) {
  RT_ENTER();
  return rt_done(cuGraphMemFreeNodeGetParams(node, (CUdeviceptr *)out));
}

// --- the generic form: one structure for every type ---

static cudaError_t generic_params(const cudaGraphNodeParams *in, CUgraphNodeParams *out) {
  if (!in) return cudaErrorInvalidValue;
  memset(out, 0, sizeof *out);
  out->type = (CUgraphNodeType)in->type;
  switch (in->type) {
    case cudaGraphNodeTypeKernel: return kernel_params(&in->u.kernel, &out->kernel);
    case cudaGraphNodeTypeMemcpy:
      out->memcpy.copyCtx = current();
      return rt_copy3d_params(&in->u.memcpy.copyParams, &out->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
      out->memset = (CUDA_MEMSET_NODE_PARAMS_v2){
          PTR(in->u.memset.dst), in->u.memset.pitch,  in->u.memset.value, in->u.memset.elementSize,
          in->u.memset.width,    in->u.memset.height, current()};
      return cudaSuccess;
    case cudaGraphNodeTypeConditional:
      out->conditional = (CUDA_CONDITIONAL_NODE_PARAMS){
          in->u.conditional.handle, (CUgraphConditionalNodeType)in->u.conditional.type,
          in->u.conditional.size, in->u.conditional.phGraph_out, current()};
      return cudaSuccess;
    case cudaGraphNodeTypeHost:
    case cudaGraphNodeTypeGraph:
    case cudaGraphNodeTypeEmpty:
    case cudaGraphNodeTypeWaitEvent:
    case cudaGraphNodeTypeEventRecord:
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree:
      memcpy(out->reserved1, in->u.reserved1, sizeof out->reserved1);  // the same layout in both
      return cudaSuccess;
  }
  log_once("graph node type", "graph nodes of type %d are not supported", in->type);
  return cudaErrorNotSupported;
}

static cudaError_t add_node(cudaGraphNode_t *out, cudaGraph_t graph, DEPENDENCIES,
                            const cudaGraphEdgeData *data, cudaGraphNodeParams *params) {
  RT_ENTER();
  CUgraphNodeParams p;
  cudaError_t e = generic_params(params, &p);
  if (!e) e = rt_result(cuGraphAddNode_v2(out, graph, deps, data, ndeps, &p));
  // results of creation
  if (!e && params->type == cudaGraphNodeTypeMemAlloc)
    params->u.alloc.dptr = (void *)(uintptr_t)p.alloc.dptr;
  if (!e && params->type == cudaGraphNodeTypeConditional)
    params->u.conditional.phGraph_out = p.conditional.phGraph_out;
  return rt_return(e);
}
cudaError_t cudaGraphAddNode_abi12(cudaGraphNode_t *out, cudaGraph_t graph, DEPENDENCIES,
                                   cudaGraphNodeParams *params) {
  return add_node(out, graph, deps, ndeps, NULL, params);
}
cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t *out, cudaGraph_t graph,
                                const cudaGraphNode_t *deps, const cudaGraphEdgeData *data,
                                size_t ndeps, cudaGraphNodeParams *params) {
  return add_node(out, graph, deps, ndeps, data, params);
}
cudaError_t cudaGraphAddNode_abi13(cudaGraphNode_t *out, cudaGraph_t graph,
                                   const cudaGraphNode_t *deps, const cudaGraphEdgeData *data,
                                   size_t ndeps, cudaGraphNodeParams *params) {
  return add_node(out, graph, deps, ndeps, data, params);
}
cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams *params) {
  RT_ENTER();
  CUgraphNodeParams p;
  cudaError_t e = generic_params(params, &p);
  return e ? rt_return(e) : rt_done(cuGraphNodeSetParams(node, &p));
}
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                       cudaGraphNodeParams *params) {
  RT_ENTER();
  CUgraphNodeParams p;
  cudaError_t e = generic_params(params, &p);
  return e ? rt_return(e) : rt_done(cuGraphExecNodeSetParams(exec, node, &p));
}
