// Graphs with kernels that are machine code only. Checks of such a kernel need calls before and
// after its launch, and a graph has no place for them. So we execute the nodes of the graph one by
// one, in an order that the graph allows, each as if the program had made the call: kernels,
// copies, sets, events, host functions. Graphs with other nodes are launched as they are, and their
// closed kernels are unchecked; so are graphs with branches where a tool looks for races between
// them. The report says why.
#include "gpu/gpu.h"

#include <stdarg.h>

typedef struct Step {
  CUgraphNode node;
  CUgraphNode child;  // the outermost child graph node that it is in; NULL: it is in none
  CUgraphNodeType type;
  bool disabled;        // by the program, in the executable graph
  CUfunction function;  // the program's handle
  SessionKernel *kernel;
  bool captured;            // it was counted at the capture, and has not run since
  bool counted_as_checked;  // at the capture
  unsigned grid[3], block[3], shared;
  CUcontext context;  // NULL: any
  void **params;      // into `values`
  uint8_t *values;
  CUlaunchAttribute attributes[2];
  unsigned nattributes;
  CUDA_MEMCPY3D copy;
  CUDA_MEMSET_NODE_PARAMS set;
  CUDA_HOST_NODE_PARAMS host;
  CUevent event;
} Step;
struct GpuGraphSteps {
  VEC(Step) steps;
  bool has_closed, in_line;
  CUgraphNode child;  // of the steps that are being taken
  Error why;          // why it is not executed node by node; empty: it is
};

// The first reason stands.
static bool refuse(GpuGraphSteps *g, const char *format, ...) {
  va_list args;
  va_start(args, format);
  if (!g->why.text[0]) vsnprintf(g->why.text, sizeof g->why.text, format, args);
  va_end(args);
  return false;
}

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

// The program may have given the kernel by either of the driver's two names.
static GpuFunction *function_of(const CUDA_KERNEL_NODE_PARAMS *p) {
  CUfunction f = p->func ? p->func : (CUfunction)p->kern;
  GpuFunction *of = gpu_function(f);
  return of ? of : gpu_function_of_target(f);
}

static bool set_kernel(GpuGraphSteps *g, Step *s, const CUDA_KERNEL_NODE_PARAMS *p) {
  GpuFunction *of = function_of(p);
  if (!of) return refuse(g, "the graph has a kernel of a module that Warpgrind has not seen");
  s->function = of->handle;
  memcpy(s->grid, (unsigned[]){p->gridDimX, p->gridDimY, p->gridDimZ}, sizeof s->grid);
  memcpy(s->block, (unsigned[]){p->blockDimX, p->blockDimY, p->blockDimZ}, sizeof s->block);
  s->shared = p->sharedMemBytes;
  s->context = p->ctx;
  s->kernel = of->kernel;
  gpu_function_target(of);  // says whether it is woven
  g->has_closed |= of->machine_code;
  s->captured = true;
  s->counted_as_checked = of->unchanged || (of->code && of->code->record_bytes);
  return copy_params(s, of, p) ||
         refuse(g, "the driver does not tell the parameters of kernel %s", of->name);
}

static void take_kernel(GpuGraphSteps *g, Step *s) {
  CUDA_KERNEL_NODE_PARAMS p = {0};
  if (!gpu_real.cuGraphKernelNodeGetParams_v2 ||
      gpu_cuGraphKernelNodeGetParams_v2(s->node, &p) != CUDA_SUCCESS) {
    refuse(g, "the driver does not tell which kernels the graph has");
    return;
  }
  copy_attributes(s, s->node);
  set_kernel(g, s, &p);
  if (s->nattributes && !gpu_real.cuLaunchKernelEx) refuse(g, "the driver is too old");
}

static void take_graph(GpuGraphSteps *g, CUgraph graph);

static void take_child(GpuGraphSteps *g, CUgraphNode node) {
  CUgraph child;
  CUgraphNode outer = g->child;
  if (!outer) g->child = node;
  if (gpu_real.cuGraphChildGraphNodeGetGraph(node, &child) == CUDA_SUCCESS) take_graph(g, child);
  else refuse(g, "the driver does not tell what is in a graph inside of the graph");
  g->child = outer;
}

static void refuse_type(GpuGraphSteps *g, CUgraphNodeType type) {
  switch ((int)type) {
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE: refuse(g, "the graph allocates memory itself"); return;
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT: refuse(g, "the graph uses external semaphores"); return;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      refuse(g, "the graph has a batch of memory operations");
      return;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: refuse(g, "the graph has a conditional node"); return;
    default: refuse(g, "the graph has a node of type %d", (int)type);
  }
}

#define ASK(get, where) (gpu_real.get && gpu_real.get(s->node, &s->where) == CUDA_SUCCESS)

// false: it is no step
static bool take_step(GpuGraphSteps *g, Step *s) {
  bool ok = true;
  switch ((int)s->type) {
    case CU_GRAPH_NODE_TYPE_EMPTY: return false;
    case CU_GRAPH_NODE_TYPE_GRAPH: take_child(g, s->node); return false;
    case CU_GRAPH_NODE_TYPE_KERNEL: take_kernel(g, s); break;
    case CU_GRAPH_NODE_TYPE_MEMCPY: ok = ASK(cuGraphMemcpyNodeGetParams, copy); break;
    case CU_GRAPH_NODE_TYPE_MEMSET: ok = ASK(cuGraphMemsetNodeGetParams, set); break;
    case CU_GRAPH_NODE_TYPE_HOST: ok = ASK(cuGraphHostNodeGetParams, host); break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: ok = ASK(cuGraphEventRecordNodeGetEvent, event); break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: ok = ASK(cuGraphEventWaitNodeGetEvent, event); break;
    default: refuse_type(g, s->type); return false;
  }
  if (!ok) refuse(g, "the driver does not tell what a node of the graph does");
  return true;
}

static void take_node(GpuGraphSteps *g, CUgraphNode node) {
  Step s = {.node = node, .child = g->child};
  if (gpu_real.cuGraphNodeGetType(node, &s.type) != CUDA_SUCCESS)
    refuse(g, "the driver does not tell what nodes the graph has");
  else if (take_step(g, &s)) vec_push(&g->steps, s);
}

// --- in which order ---

typedef struct Nodes {
  CUgraphNode *list;
  size_t n;
  U64Map done;  // those that have been taken
  CUgraphNode last;
} Nodes;

// true: all nodes that it depends on have been taken. *next: it depends on the one taken last
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

// Takes all nodes, even after a refusal, to find out whether there are kernels that stay unchecked.
static void take_graph(GpuGraphSteps *g, CUgraph graph) {
  Nodes all = {0};
  bool ok = gpu_real.cuGraphGetNodes(graph, NULL, &all.n) == CUDA_SUCCESS;
  if (ok && !all.n) return;
  all.list = ok ? mem_alloc(all.n * sizeof *all.list) : NULL;
  ok = ok && gpu_real.cuGraphGetNodes(graph, all.list, &all.n) == CUDA_SUCCESS;
  bool any = ok;
  while (any && all.done.len < all.n) {
    any = false;
    for (size_t i = 0; i < all.n; i++) {
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
  if (!ok || all.done.len != all.n) refuse(g, "the driver does not tell the order of the nodes");
  u64map_free(&all.done);
  free(all.list);
}

GpuGraphSteps *gpu_graph_steps(CUgraph graph, Error *why) {
  why->text[0] = 0;
  if (!session_patches_closed() && !session_reads_closed()) return NULL;
  GpuGraphSteps *g = mem_alloc(sizeof *g);
  g->in_line = true;
  take_graph(g, graph);
  if (!g->in_line && session_wants(SESSION_WANTS_GRAPH_ORDER))
    refuse(g, "the graph has branches, and a tool looks for races between them");
  if (g->has_closed && !g->why.text[0]) return g;
  if (g->has_closed) *why = g->why;
  gpu_graph_steps_free(g);
  return NULL;
}

static void free_params(Step *s) {
  free(s->params);
  free(s->values);
  s->params = NULL;
  s->values = NULL;
}

void gpu_graph_steps_free(GpuGraphSteps *g) {
  for (uint32_t i = 0; g && i < g->steps.len; i++) free_params(&g->steps.data[i]);
  if (g) vec_free(&g->steps);
  free(g);
}

// Takes back the count that a launch got when it was captured: each run counts itself.
static void uncount(Step *s) {
  if (s->captured) session_launch_only_captured(s->kernel, s->counted_as_checked);
  s->captured = false;
}

void gpu_graph_steps_uncount(GpuGraphSteps *g) {
  for (uint32_t i = 0; g && i < g->steps.len; i++) uncount(&g->steps.data[i]);
}

// --- what the program changes in the executable graph ---

static Step *step_of(GpuGraphSteps *g, CUgraphNode node, CUgraphNodeType type) {
  for (uint32_t i = 0; i < g->steps.len; i++)
    if (g->steps.data[i].node == node && g->steps.data[i].type == type) return &g->steps.data[i];
  return NULL;
}

bool gpu_graph_steps_set_kernel(GpuGraphSteps *g, CUgraphNode node,
                                const CUDA_KERNEL_NODE_PARAMS *p) {
  Step *s = step_of(g, node, CU_GRAPH_NODE_TYPE_KERNEL);
  if (!s) return false;
  free_params(s);
  uncount(s);  // the kernel that replaces it is counted, too
  return set_kernel(g, s, p);
}

bool gpu_graph_steps_set_copy(GpuGraphSteps *g, CUgraphNode node, const CUDA_MEMCPY3D *p) {
  Step *s = step_of(g, node, CU_GRAPH_NODE_TYPE_MEMCPY);
  if (s) s->copy = *p;
  return s != NULL;
}

bool gpu_graph_steps_set_set(GpuGraphSteps *g, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p) {
  Step *s = step_of(g, node, CU_GRAPH_NODE_TYPE_MEMSET);
  if (s) s->set = *p;
  return s != NULL;
}

bool gpu_graph_steps_set_child(GpuGraphSteps *g, CUgraphNode node, CUgraph graph) {
  GpuGraphSteps fresh = {0}, all = {0};
  uint32_t first = 0;
  while (first < g->steps.len && g->steps.data[first].child != node) first++;
  if (first == g->steps.len) return false;
  fresh.in_line = true;
  fresh.child = node;
  take_graph(&fresh, graph);
  if (fresh.why.text[0] || (!fresh.in_line && session_wants(SESSION_WANTS_GRAPH_ORDER))) {
    for (uint32_t i = 0; i < fresh.steps.len; i++) free_params(&fresh.steps.data[i]);
    vec_free(&fresh.steps);
    return false;
  }
  for (uint32_t i = 0; i < g->steps.len; i++) {
    for (uint32_t k = 0; i == first && k < fresh.steps.len; k++)
      vec_push(&all.steps, fresh.steps.data[k]);
    if (g->steps.data[i].child == node) {
      uncount(&g->steps.data[i]);
      free_params(&g->steps.data[i]);
    } else vec_push(&all.steps, g->steps.data[i]);
  }
  vec_free(&g->steps);
  vec_free(&fresh.steps);
  memcpy(&g->steps, &all.steps, sizeof all.steps);
  return true;
}

bool gpu_graph_steps_enable(GpuGraphSteps *g, CUgraphNode node, bool enabled) {
  bool found = false;
  for (uint32_t i = 0; i < g->steps.len; i++) {
    if (g->steps.data[i].node != node) continue;
    g->steps.data[i].disabled = !enabled;
    found = true;
  }
  return found;
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

// The pitch of a single row means nothing.
static CUresult run_set(const CUDA_MEMSET_NODE_PARAMS *p, CUstream q) {
  bool row = p->height <= 1;
  unsigned char byte = (unsigned char)p->value;
  unsigned short half = (unsigned short)p->value;
  switch (p->elementSize) {
    case 1:
      return row ? gpu_cuMemsetD8Async(p->dst, byte, p->width, q)
                 : gpu_cuMemsetD2D8Async(p->dst, p->pitch, byte, p->width, p->height, q);
    case 2:
      return row ? gpu_cuMemsetD16Async(p->dst, half, p->width, q)
                 : gpu_cuMemsetD2D16Async(p->dst, p->pitch, half, p->width, p->height, q);
    default:
      return row ? gpu_cuMemsetD32Async(p->dst, p->value, p->width, q)
                 : gpu_cuMemsetD2D32Async(p->dst, p->pitch, p->value, p->width, p->height, q);
  }
}

static CUresult run_step(Step *s, CUstream stream) {
  switch ((int)s->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return run_kernel(s, stream);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return gpu_cuMemcpy3DAsync_v2(&s->copy, stream);
    case CU_GRAPH_NODE_TYPE_MEMSET: return run_set(&s->set, stream);
    case CU_GRAPH_NODE_TYPE_HOST: return gpu_cuLaunchHostFunc(stream, s->host.fn, s->host.userData);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return gpu_cuEventRecord(s->event, stream);
    default: return gpu_cuStreamWaitEvent(stream, s->event, 0);
  }
}

CUresult gpu_graph_steps_run(GpuGraphSteps *g, CUstream stream) {
  CUresult result = CUDA_SUCCESS;
  for (uint32_t i = 0; i < g->steps.len && result == CUDA_SUCCESS; i++) {
    Step *s = &g->steps.data[i];
    uncount(s);
    if (!s->disabled) result = run_step(s, stream);
  }
  return result;
}
