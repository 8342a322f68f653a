// Graphs with kernels that are machine code only. Such a kernel is checked by what is done before
// and after its launch, which a graph has no place for. So the nodes of the graph are executed one
// by one, in an order that the graph allows, each as if the program had asked for it: kernels,
// copies, sets. Graphs with other nodes are launched as they are, and their closed kernels are
// unchecked; so are graphs with branches where a tool looks for races between them.
#include "gpu/gpu.h"

typedef struct Step {
  CUgraphNodeType type;
  CUfunction function;  // the program's handle
  SessionKernel *kernel;
  bool counted_as_checked;  // when it was captured
  unsigned grid[3], block[3], shared;
  CUcontext context;  // NULL: any
  void **params;      // into `values`
  uint8_t *values;
  CUlaunchAttribute attributes[2];
  unsigned nattributes;
  CUDA_MEMCPY3D copy;
  CUDA_MEMSET_NODE_PARAMS set;
} Step;
struct GpuGraphSteps {
  VEC(Step) steps;
  bool ok, has_closed, in_line;
};

// --- what a node does ---

static bool copy_params(Step *s, GpuFunction *of, const CUDA_KERNEL_NODE_PARAMS *p) {
  size_t n = 0, all = 0, offset, size, given = 0;
  const void *buffer = NULL;
  for (; gpu_launch_param(of, (uint32_t)n, &offset, &size); n++) all = MAX(all, offset + size);
  if (!p->kernelParams && n && (!gpu_launch_extra(p->extra, &buffer, &given) || given < all))
    return false;
  s->values = mem_alloc(all + 1);
  s->params = mem_alloc((n + 1) * sizeof *s->params);
  for (uint32_t i = 0; i < n && gpu_launch_param(of, i, &offset, &size); i++) {
    s->params[i] = s->values + offset;
    memcpy(s->params[i], buffer ? (const uint8_t *)buffer + offset : p->kernelParams[i], size);
  }
  return true;
}

static void copy_attributes(Step *s, CUgraphNode node) {
  static const CUkernelNodeAttrID ids[] = {CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                           CU_LAUNCH_ATTRIBUTE_COOPERATIVE};
  for (unsigned i = 0; gpu_real.cuGraphKernelNodeGetAttribute && i < ARRAY_LEN(ids); i++) {
    CUlaunchAttribute a = {.id = ids[i]};
    if (gpu_real.cuGraphKernelNodeGetAttribute(node, ids[i], &a.value) != CUDA_SUCCESS) continue;
    bool given = ids[i] == CU_LAUNCH_ATTRIBUTE_COOPERATIVE ? a.value.cooperative != 0
                                                           : a.value.clusterDim.x > 0;
    if (given) s->attributes[s->nattributes++] = a;
  }
}

static bool take_kernel(struct GpuGraphSteps *g, CUgraphNode node, Step *s) {
  CUDA_KERNEL_NODE_PARAMS p = {0};
  if (!gpu_real.cuGraphKernelNodeGetParams_v2 ||
      gpu_cuGraphKernelNodeGetParams_v2(node, &p) != CUDA_SUCCESS)
    return false;
  s->function = p.func ? p.func : (CUfunction)p.kern;
  GpuFunction *of = gpu_function(s->function);
  if (!of) return false;
  memcpy(s->grid, (unsigned[]){p.gridDimX, p.gridDimY, p.gridDimZ}, sizeof s->grid);
  memcpy(s->block, (unsigned[]){p.blockDimX, p.blockDimY, p.blockDimZ}, sizeof s->block);
  s->shared = p.sharedMemBytes;
  s->context = p.ctx;
  s->kernel = of->kernel;
  gpu_function_target(of);  // says whether it is woven
  g->has_closed |= of->machine_code;
  s->counted_as_checked = of->unchanged || (of->code && of->code->record_bytes);
  copy_attributes(s, node);
  return copy_params(s, of, &p) && (!s->nattributes || gpu_real.cuLaunchKernelEx);
}

static void take_graph(struct GpuGraphSteps *g, CUgraph graph);

static void take_node(struct GpuGraphSteps *g, CUgraphNode node) {
  Step s = {0};
  CUgraph child;
  if (gpu_real.cuGraphNodeGetType(node, &s.type) != CUDA_SUCCESS) g->ok = false;
  switch ((int)s.type) {
    case CU_GRAPH_NODE_TYPE_EMPTY: return;
    case CU_GRAPH_NODE_TYPE_KERNEL: g->ok &= take_kernel(g, node, &s); break;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      g->ok &= gpu_real.cuGraphMemcpyNodeGetParams(node, &s.copy) == CUDA_SUCCESS;
      break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
      g->ok &= gpu_real.cuGraphMemsetNodeGetParams(node, &s.set) == CUDA_SUCCESS;
      break;
    case CU_GRAPH_NODE_TYPE_GRAPH:
      if (gpu_real.cuGraphChildGraphNodeGetGraph(node, &child) != CUDA_SUCCESS) g->ok = false;
      else take_graph(g, child);
      return;
    default: g->ok = false; return;
  }
  vec_push(&g->steps, s);
}

// --- in which order ---

typedef struct Nodes {
  CUgraphNode *list;
  size_t n;
  U64Map done;  // those that have been taken
  CUgraphNode last;
} Nodes;

// All nodes that it waits for have been taken. *next: the last of them is one of those
static bool is_ready(Nodes *all, CUgraphNode node, bool *next) {
  CUgraphNode *before = NULL;
  size_t n = 0;
  bool ready = true;
  CUresult (*v2)(CUgraphNode, CUgraphNode *, CUgraphEdgeData *,
                 size_t *) = gpu_real.cuGraphNodeGetDependencies_v2;
  CUresult result = v2 ? v2(node, NULL, NULL, &n)
                       : gpu_real.cuGraphNodeGetDependencies(node, NULL, &n);
  if (result != CUDA_SUCCESS) return false;
  CUgraphEdgeData *edges = mem_alloc((n + 1) * sizeof *edges);
  before = mem_alloc((n + 1) * sizeof *before);
  if (n)
    result = v2 ? v2(node, before, edges, &n)
                : gpu_real.cuGraphNodeGetDependencies(node, before, &n);
  *next = !all->last;
  for (size_t i = 0; result == CUDA_SUCCESS && i < n; i++) {
    if (!u64map_get(&all->done, (uintptr_t)before[i])) ready = false;
    if (before[i] == all->last) *next = true;
  }
  free(before);
  free(edges);
  return ready && result == CUDA_SUCCESS;
}

static void take_graph(struct GpuGraphSteps *g, CUgraph graph) {
  Nodes all = {0};
  if (gpu_real.cuGraphGetNodes(graph, NULL, &all.n) != CUDA_SUCCESS) g->ok = false;
  if (!g->ok || !all.n) return;
  all.list = mem_alloc(all.n * sizeof *all.list);
  if (gpu_real.cuGraphGetNodes(graph, all.list, &all.n) != CUDA_SUCCESS) g->ok = false;
  bool any = true;
  while (g->ok && any && all.done.len < all.n) {
    any = false;
    for (size_t i = 0; g->ok && i < all.n; i++) {
      bool next = false;
      if (u64map_get(&all.done, (uintptr_t)all.list[i]) || !is_ready(&all, all.list[i], &next))
        continue;
      take_node(g, all.list[i]);
      g->in_line &= next;
      u64map_put(&all.done, (uintptr_t)all.list[i], all.list[i]);
      all.last = all.list[i];
      any = true;
    }
  }
  g->ok &= all.done.len == all.n;
  u64map_free(&all.done);
  free(all.list);
}

GpuGraphSteps *gpu_graph_steps(CUgraph graph) {
  if (!session_patches_closed() && !session_reads_closed()) return NULL;
  GpuGraphSteps *g = mem_alloc(sizeof *g);
  g->ok = g->in_line = true;
  take_graph(g, graph);
  if (g->ok && g->has_closed && (g->in_line || !session_wants(SESSION_WANTS_GRAPH_ORDER))) return g;
  if (g->has_closed) log_verbose("a graph with kernels of machine code runs as it is, unchecked");
  gpu_graph_steps_free(g);
  return NULL;
}

void gpu_graph_steps_free(GpuGraphSteps *g) {
  for (uint32_t i = 0; g && i < g->steps.len; i++) {
    free(g->steps.data[i].params);
    free(g->steps.data[i].values);
  }
  if (g) vec_free(&g->steps);
  free(g);
}

// --- a launch of the graph ---

bool gpu_graph_steps_fit(const GpuGraphSteps *g, CUstream stream) {
  const GpuContext *c = g && !gpu_is_capturing(stream) ? gpu_context_of_stream(stream) : NULL;
  for (uint32_t i = 0; c && i < g->steps.len; i++)
    if (g->steps.data[i].context && g->steps.data[i].context != c->handle) return false;
  return c != NULL;
}

static CUresult run_kernel(Step *s, CUstream stream) {
  CUlaunchConfig config = {s->grid[0],  s->grid[1], s->grid[2], s->block[0],   s->block[1],
                           s->block[2], s->shared,  stream,     s->attributes, s->nattributes};
  if (s->nattributes) return gpu_cuLaunchKernelEx(&config, s->function, s->params, NULL);
  return gpu_cuLaunchKernel(s->function, s->grid[0], s->grid[1], s->grid[2], s->block[0],
                            s->block[1], s->block[2], s->shared, stream, s->params, NULL);
}

static CUresult run_set(const CUDA_MEMSET_NODE_PARAMS *p, CUstream stream) {
  switch (p->elementSize) {
    case 1:
      return gpu_cuMemsetD2D8Async(p->dst, p->pitch, (unsigned char)p->value, p->width, p->height,
                                   stream);
    case 2:
      return gpu_cuMemsetD2D16Async(p->dst, p->pitch, (unsigned short)p->value, p->width, p->height,
                                    stream);
    default: return gpu_cuMemsetD2D32Async(p->dst, p->pitch, p->value, p->width, p->height, stream);
  }
}

CUresult gpu_graph_steps_run(GpuGraphSteps *g, CUstream stream, bool first) {
  CUresult result = CUDA_SUCCESS;
  for (uint32_t i = 0; i < g->steps.len && result == CUDA_SUCCESS; i++) {
    Step *s = &g->steps.data[i];
    if (s->type == CU_GRAPH_NODE_TYPE_KERNEL) {
      if (first) session_launch_only_captured(s->kernel, s->counted_as_checked);
      result = run_kernel(s, stream);
    } else if (s->type == CU_GRAPH_NODE_TYPE_MEMCPY)
      result = gpu_cuMemcpy3DAsync_v2(&s->copy, stream);
    else result = run_set(&s->set, stream);
  }
  return result;
}
