// Nodes that the program adds: converts the parameters of each kind to the Work that streams run,
// and back.
#include "driver/driver.h"

static CUresult node_context(CUcontext wish, Context **out) { return context_get(wish, out); }

static CUresult make_kernel(const CUDA_KERNEL_NODE_PARAMS *p, const Work *before, Work *out) {
  Context *ctx;
  TRY(node_context(p->ctx, &ctx));
  LaunchRequest r = {.function = p->func ? p->func : (CUfunction)p->kern,
                     .grid = {p->gridDimX, p->gridDimY, p->gridDimZ},
                     .block = {p->blockDimX, p->blockDimY, p->blockDimZ},
                     .shared = p->sharedMemBytes,
                     .params = p->kernelParams,
                     .extra = p->extra};
  if (before && before->kind == WORK_KERNEL) {
    memcpy(r.cluster, before->kernel.cluster, sizeof r.cluster);
    r.cooperative = before->kernel.cooperative;
    r.priority = before->kernel.priority;
  }
  *out = (Work){.kind = WORK_KERNEL, .ctx = ctx};
  CUresult result = launch_prepare(ctx, &r, &out->kernel);
  if (!result) result = interrupts_check(out->kernel.function, true);
  if (result != CUDA_SUCCESS) tools_refused(ctx, NULL, &r, result);
  TRY(result);
  tools_launch(ctx, NULL, true, &out->kernel);
  return CUDA_SUCCESS;
}

static CUresult make_host(CUhostFn fn, void *user, Work *out) {
  Context *ctx;
  if (!fn) return CUDA_ERROR_INVALID_VALUE;
  TRY(context_current(&ctx));
  *out = (Work){.kind = WORK_HOST, .ctx = ctx, .host = {fn, user}};
  return CUDA_SUCCESS;
}

static CUresult make_event(WorkKind kind, CUevent handle, Work *out) {
  Event *e;
  TRY(event_get(handle, &e));
  event_retain(e);
  *out = (Work){.kind = kind, .ctx = e->ctx, .event = e};
  return CUDA_SUCCESS;
}

static CUresult make_memops(const CUDA_BATCH_MEM_OP_NODE_PARAMS *p, Work *out) {
  Context *ctx;
  if (p->count > 256 || (p->count && !p->paramArray) || p->flags) return CUDA_ERROR_INVALID_VALUE;
  TRY(node_context(p->ctx, &ctx));
  *out = (Work){
      .kind = WORK_MEMOPS,
      .ctx = ctx,
      .memops = {mem_alloc(sizeof *p->paramArray * MAX(p->count, 1)), p->count, p->flags}};
  if (p->count) memcpy(out->memops.ops, p->paramArray, sizeof *p->paramArray * p->count);
  return CUDA_SUCCESS;
}

CUresult node_make_work(const CUgraphNodeParams *p, const Work *before, Work *out) {
  Context *ctx;
  Alloc a;
  switch ((int)p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return make_kernel(&p->kernel, before, out);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      TRY(node_context(p->memcpy.copyCtx, &ctx));
      *out = (Work){.kind = WORK_COPY, .ctx = ctx};
      return copy_prepare_node(ctx, &p->memcpy.copyParams, &out->copy);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      TRY(node_context(p->memset.ctx, &ctx));
      CUDA_MEMSET_NODE_PARAMS m = {p->memset.dst,         p->memset.pitch, p->memset.value,
                                   p->memset.elementSize, p->memset.width, p->memset.height};
      *out = (Work){.kind = WORK_SET, .ctx = ctx};
      return set_prepare_node(ctx, &m, &out->set);
    }
    case CU_GRAPH_NODE_TYPE_HOST: return make_host(p->host.fn, p->host.userData, out);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return make_event(WORK_WAIT, p->eventWait.event, out);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return make_event(WORK_RECORD, p->eventRecord.event, out);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return make_memops(&p->memOp, out);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      TRY(context_current(&ctx));
      *out = (Work){.kind = WORK_ALLOC,
                    .ctx = ctx,
                    .alloc = {.bytes = p->alloc.bytesize, .props = p->alloc.poolProps}};
      return graph_memory_new(ctx, p->alloc.bytesize, &out->alloc.memory);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      TRY(context_current(&ctx));
      if (!alloc_find(p->free.dptr, &a) || a.base != p->free.dptr || a.kind != ALLOC_GRAPH)
        return CUDA_ERROR_INVALID_VALUE;
      *out = (Work){.kind = WORK_FREE, .ctx = ctx, .free = p->free.dptr};
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_GRAPH:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      TRY(context_current(&ctx));
      *out = (Work){.kind = p->type == CU_GRAPH_NODE_TYPE_GRAPH         ? WORK_CHILD
                            : p->type == CU_GRAPH_NODE_TYPE_CONDITIONAL ? WORK_CONDITIONAL
                                                                        : WORK_EMPTY,
                    .ctx = ctx};
      return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_SUPPORTED;
}

// --- adding ---

static CUresult add_child(Node *n, const CUDA_CHILD_GRAPH_NODE_PARAMS *p) {
  Graph *child;
  TRY(graph_get(p->graph, &child));
  if (child == n->graph || child->owner) return CUDA_ERROR_INVALID_VALUE;
  Graph *body = p->ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE ? child : graph_clone(child);
  body->owner = n;
  vec_push(&n->bodies, body);
  return CUDA_SUCCESS;
}

static CUresult add_bodies(Node *n, CUDA_CONDITIONAL_NODE_PARAMS *p) {
  unsigned most = p->type == CU_GRAPH_COND_TYPE_IF      ? 2
                  : p->type == CU_GRAPH_COND_TYPE_WHILE ? 1
                                                        : 1 << 16;
  if ((unsigned)p->type > CU_GRAPH_COND_TYPE_SWITCH || !p->size || p->size > most || !p->handle)
    return CUDA_ERROR_INVALID_VALUE;
  n->work.conditional.handle = p->handle;
  n->work.conditional.type = p->type;
  n->work.conditional.size = p->size;
  for (unsigned i = 0; i < p->size; i++) {
    Graph *body = graph_new();
    body->owner = n;
    vec_push(&n->bodies, body);
  }
  p->phGraph_out = (CUgraph *)n->bodies.data;
  return CUDA_SUCCESS;
}

CUresult cuGraphAddNode_v2(CUgraphNode *out, CUgraph handle, const CUgraphNode *deps,
                           const CUgraphEdgeData *edges, size_t ndeps, CUgraphNodeParams *p) {
  Graph *g;
  Node *n;
  Work w;
  TRY(graph_get(handle, &g));
  if (!out || !p) return CUDA_ERROR_INVALID_VALUE;
  TRY(node_make_work(p, NULL, &w));
  CUresult result = graph_add_handles(g, p->type, deps, edges, ndeps, &n);
  if (result) {
    work_free(&w);
    return result;
  }
  n->work = w;
  if (p->type == CU_GRAPH_NODE_TYPE_GRAPH) result = add_child(n, &p->graph);
  if (p->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) result = add_bodies(n, &p->conditional);
  if (p->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) p->alloc.dptr = graph_memory_address(w.alloc.memory);
  if (result) graph_remove_node(n);
  else *out = (CUgraphNode)n;
  return result;
}

CUresult cuGraphAddNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                        CUgraphNodeParams *p) {
  return cuGraphAddNode_v2(out, g, deps, NULL, n, p);
}

#define DEPS const CUgraphNode *deps, size_t n
#define ADD(node_type, ...) \
  CUgraphNodeParams all = {.type = node_type, __VA_ARGS__}; \
  return cuGraphAddNode_v2(out, g, deps, NULL, n, &all)

static CUDA_KERNEL_NODE_PARAMS kernel_v2(const CUDA_KERNEL_NODE_PARAMS_v1 *p) {
  CUDA_KERNEL_NODE_PARAMS q = {0};
  memcpy(&q, p, sizeof *p);
  return q;
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *out, CUgraph g, DEPS,
                                 const CUDA_KERNEL_NODE_PARAMS *p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  ADD(CU_GRAPH_NODE_TYPE_KERNEL, .kernel = *p);
}
CUresult cuGraphAddKernelNode(CUgraphNode *out, CUgraph g, DEPS,
                              const CUDA_KERNEL_NODE_PARAMS_v1 *p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  ADD(CU_GRAPH_NODE_TYPE_KERNEL, .kernel = kernel_v2(p));
}
CUresult cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph g, DEPS, const CUDA_MEMCPY3D *p,
                              CUcontext ctx) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  ADD(CU_GRAPH_NODE_TYPE_MEMCPY, .memcpy = {.copyCtx = ctx, .copyParams = *p});
}
CUresult cuGraphAddMemsetNode(CUgraphNode *out, CUgraph g, DEPS, const CUDA_MEMSET_NODE_PARAMS *p,
                              CUcontext ctx) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  ADD(CU_GRAPH_NODE_TYPE_MEMSET,
      .memset = {p->dst, p->pitch, p->value, p->elementSize, p->width, p->height, ctx});
}
CUresult cuGraphAddHostNode(CUgraphNode *out, CUgraph g, DEPS, const CUDA_HOST_NODE_PARAMS *p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  ADD(CU_GRAPH_NODE_TYPE_HOST, .host = *p);
}
CUresult cuGraphAddChildGraphNode(CUgraphNode *out, CUgraph g, DEPS, CUgraph child) {
  ADD(CU_GRAPH_NODE_TYPE_GRAPH, .graph = {child, 0});
}
CUresult cuGraphAddEmptyNode(CUgraphNode *out, CUgraph g, DEPS) {
  ADD(CU_GRAPH_NODE_TYPE_EMPTY, .reserved2 = 0);
}
CUresult cuGraphAddEventRecordNode(CUgraphNode *out, CUgraph g, DEPS, CUevent e) {
  ADD(CU_GRAPH_NODE_TYPE_EVENT_RECORD, .eventRecord = {e});
}
CUresult cuGraphAddEventWaitNode(CUgraphNode *out, CUgraph g, DEPS, CUevent e) {
  ADD(CU_GRAPH_NODE_TYPE_WAIT_EVENT, .eventWait = {e});
}
CUresult cuGraphAddMemFreeNode(CUgraphNode *out, CUgraph g, DEPS, CUdeviceptr p) {
  ADD(CU_GRAPH_NODE_TYPE_MEM_FREE, .free = {p});
}
CUresult cuGraphAddBatchMemOpNode(CUgraphNode *out, CUgraph g, DEPS,
                                  const CUDA_BATCH_MEM_OP_NODE_PARAMS *p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  ADD(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, .memOp = *p);
}
CUresult cuGraphAddMemAllocNode(CUgraphNode *out, CUgraph g, DEPS, CUDA_MEM_ALLOC_NODE_PARAMS *p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC, .alloc = *p};
  TRY(cuGraphAddNode_v2(out, g, deps, NULL, n, &all));
  p->dptr = all.alloc.dptr;
  return CUDA_SUCCESS;
}

// --- conditional handles: the address of a word of device memory ---

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *out, CUgraph handle,
                                        CUcontext context, unsigned value, unsigned flags) {
  Graph *g;
  Context *ctx;
  CUdeviceptr p;
  TRY(graph_get(handle, &g));
  TRY(context_get(context, &ctx));
  if (!out || flags > CU_GRAPH_COND_ASSIGN_DEFAULT) return CUDA_ERROR_INVALID_VALUE;
  TRY(memory_new(ctx, sizeof(uint32_t), ALLOC_GRAPH, 0, NULL, &p));
  vec_push(&g->handles, p);
  vec_push(&g->handle_defaults, value);
  vec_push(&g->handle_assign, flags != 0);
  *out = p;
  return CUDA_SUCCESS;
}

// --- parameters of nodes ---

static CUresult node_of_type(CUgraphNode handle, CUgraphNodeType type, Node **out) {
  TRY(node_get(handle, out));
  return (*out)->type == type ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphNodeSetParams(CUgraphNode handle, CUgraphNodeParams *p) {
  Node *n;
  Work w;
  TRY(node_get(handle, &n));
  if (!p || p->type != n->type || n->type == CU_GRAPH_NODE_TYPE_GRAPH ||
      n->type == CU_GRAPH_NODE_TYPE_CONDITIONAL || n->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
      n->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
    return CUDA_ERROR_INVALID_VALUE;
  TRY(node_make_work(p, &n->work, &w));
  work_free(&n->work);
  n->work = w;
  return CUDA_SUCCESS;
}

#define SET(node_type, ...) \
  CUgraphNodeParams all = {.type = node_type, __VA_ARGS__}; \
  return cuGraphNodeSetParams(handle, &all)
#define NODE_OR_RETURN(n, handle, type, out) \
  Node *n; \
  TRY(node_of_type(handle, type, &n)); \
  if (!(out)) return CUDA_ERROR_INVALID_VALUE

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS *p) {
  NODE_OR_RETURN(n, handle, CU_GRAPH_NODE_TYPE_KERNEL, p);
  const KernelWork *k = &n->work.kernel;
  const VgpuKernelInfo *info = k->function->info;
  free(n->param_pointers);
  n->param_pointers = mem_alloc(sizeof(void *) * MAX(k->function->nparams, 1));
  for (uint32_t i = 0; i < k->function->nparams; i++)
    n->param_pointers[i] = k->params + info->params[i].offset;
  bool is_kernel = object_kind(k->handle) == OBJECT_KERNEL;
  *p = (CUDA_KERNEL_NODE_PARAMS){
      .func = k->handle,
      .gridDimX = k->grid[0],
      .gridDimY = k->grid[1],
      .gridDimZ = k->grid[2],
      .blockDimX = k->block[0],
      .blockDimY = k->block[1],
      .blockDimZ = k->block[2],
      .sharedMemBytes = k->shared,
      .kernelParams = n->param_pointers,
      .kern = is_kernel ? (CUkernel)k->handle : NULL,
      .ctx = (CUcontext)n->work.ctx,
  };
  return CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeGetParams(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS_v1 *p) {
  CUDA_KERNEL_NODE_PARAMS all;
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  TRY(cuGraphKernelNodeGetParams_v2(handle, &all));
  memcpy(p, &all, sizeof *p);
  return CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode handle, const CUDA_KERNEL_NODE_PARAMS *p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  SET(CU_GRAPH_NODE_TYPE_KERNEL, .kernel = *p);
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode handle, const CUDA_KERNEL_NODE_PARAMS_v1 *p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  SET(CU_GRAPH_NODE_TYPE_KERNEL, .kernel = kernel_v2(p));
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode handle, CUDA_MEMCPY3D *p) {
  NODE_OR_RETURN(n, handle, CU_GRAPH_NODE_TYPE_MEMCPY, p);
  *p = n->work.copy.desc;
  return CUDA_SUCCESS;
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode handle, const CUDA_MEMCPY3D *p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  SET(CU_GRAPH_NODE_TYPE_MEMCPY, .memcpy = {.copyParams = *p});
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode handle, CUDA_MEMSET_NODE_PARAMS *p) {
  NODE_OR_RETURN(n, handle, CU_GRAPH_NODE_TYPE_MEMSET, p);
  const SetWork *s = &n->work.set;
  *p = (CUDA_MEMSET_NODE_PARAMS){
      (CUdeviceptr)(uintptr_t)s->dst, s->pitch, s->value, s->element, s->width, s->height};
  return CUDA_SUCCESS;
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode handle, const CUDA_MEMSET_NODE_PARAMS *p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  SET(CU_GRAPH_NODE_TYPE_MEMSET,
      .memset = {p->dst, p->pitch, p->value, p->elementSize, p->width, p->height, NULL});
}

CUresult cuGraphHostNodeGetParams(CUgraphNode handle, CUDA_HOST_NODE_PARAMS *p) {
  NODE_OR_RETURN(n, handle, CU_GRAPH_NODE_TYPE_HOST, p);
  *p = (CUDA_HOST_NODE_PARAMS){n->work.host.fn, n->work.host.user};
  return CUDA_SUCCESS;
}
CUresult cuGraphHostNodeSetParams(CUgraphNode handle, const CUDA_HOST_NODE_PARAMS *p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  SET(CU_GRAPH_NODE_TYPE_HOST, .host = *p);
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode handle, CUevent *e) {
  NODE_OR_RETURN(n, handle, CU_GRAPH_NODE_TYPE_EVENT_RECORD, e);
  *e = (CUevent)n->work.event;
  return CUDA_SUCCESS;
}
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode handle, CUevent e) {
  SET(CU_GRAPH_NODE_TYPE_EVENT_RECORD, .eventRecord = {e});
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode handle, CUevent *e) {
  NODE_OR_RETURN(n, handle, CU_GRAPH_NODE_TYPE_WAIT_EVENT, e);
  *e = (CUevent)n->work.event;
  return CUDA_SUCCESS;
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode handle, CUevent e) {
  SET(CU_GRAPH_NODE_TYPE_WAIT_EVENT, .eventWait = {e});
}

CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode handle, CUDA_BATCH_MEM_OP_NODE_PARAMS *p) {
  NODE_OR_RETURN(n, handle, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, p);
  *p = (CUDA_BATCH_MEM_OP_NODE_PARAMS){(CUcontext)n->work.ctx, n->work.memops.count,
                                       n->work.memops.ops, n->work.memops.flags};
  return CUDA_SUCCESS;
}
CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode handle,
                                        const CUDA_BATCH_MEM_OP_NODE_PARAMS *p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  SET(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, .memOp = *p);
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode handle, CUDA_MEM_ALLOC_NODE_PARAMS *p) {
  NODE_OR_RETURN(n, handle, CU_GRAPH_NODE_TYPE_MEM_ALLOC, p);
  *p = (CUDA_MEM_ALLOC_NODE_PARAMS){.poolProps = n->work.alloc.props,
                                    .bytesize = n->work.alloc.bytes,
                                    .dptr = graph_memory_address(n->work.alloc.memory)};
  return CUDA_SUCCESS;
}
CUresult cuGraphMemFreeNodeGetParams(CUgraphNode handle, CUdeviceptr *p) {
  NODE_OR_RETURN(n, handle, CU_GRAPH_NODE_TYPE_MEM_FREE, p);
  *p = n->work.free;
  return CUDA_SUCCESS;
}
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph *g) {
  NODE_OR_RETURN(n, handle, CU_GRAPH_NODE_TYPE_GRAPH, g);
  *g = (CUgraph)n->bodies.data[0];
  return CUDA_SUCCESS;
}

// --- attributes of kernel nodes ---

// Attributes that make no difference on the virtual device.
static CUresult ignored_attribute(int id) {
  switch (id) {
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode handle, CUkernelNodeAttrID id,
                                       CUkernelNodeAttrValue *v) {
  NODE_OR_RETURN(n, handle, CU_GRAPH_NODE_TYPE_KERNEL, v);
  const KernelWork *k = &n->work.kernel;
  memset(v, 0, sizeof *v);
  switch ((int)id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: v->cooperative = k->cooperative; break;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: v->priority = k->priority; break;
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW: v->accessPolicyWindow = k->window; break;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      v->clusterDim.x = k->cluster[0];
      v->clusterDim.y = k->cluster[1];
      v->clusterDim.z = k->cluster[2];
      break;
    default: return ignored_attribute((int)id);
  }
  return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode handle, CUkernelNodeAttrID id,
                                       const CUkernelNodeAttrValue *v) {
  NODE_OR_RETURN(n, handle, CU_GRAPH_NODE_TYPE_KERNEL, v);
  KernelWork *k = &n->work.kernel;
  switch ((int)id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: k->cooperative = v->cooperative != 0; break;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: k->priority = v->priority; break;
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW: k->window = v->accessPolicyWindow; break;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION: {
      unsigned d[3] = {v->clusterDim.x, v->clusterDim.y, v->clusterDim.z};
      for (int i = 0; i < 3; i++)
        if (!d[i] || k->grid[i] % d[i]) return CUDA_ERROR_INVALID_VALUE;
      memcpy(k->cluster, d, sizeof d);
      break;
    }
    default: return ignored_attribute((int)id);
  }
  return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  Node *a, *b;
  TRY(node_of_type(to, CU_GRAPH_NODE_TYPE_KERNEL, &a));
  TRY(node_of_type(from, CU_GRAPH_NODE_TYPE_KERNEL, &b));
  a->work.kernel.cooperative = b->work.kernel.cooperative;
  a->work.kernel.priority = b->work.kernel.priority;
  a->work.kernel.window = b->work.kernel.window;
  memcpy(a->work.kernel.cluster, b->work.kernel.cluster, sizeof a->work.kernel.cluster);
  return CUDA_SUCCESS;
}
