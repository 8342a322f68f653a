// Kernel nodes of graphs: they contain Warpgrind's code, and the program sees its own handles.
#include "gpu/gpu.h"

// --- parameters of the program's nodes: params is a copy, changed to what the driver gets ---

static void begin_node(GpuLaunch *l, CUDA_KERNEL_NODE_PARAMS *p) {
  l->event = (SessionLaunch){.grid = {p->gridDimX, p->gridDimY, p->gridDimZ},
                             .block = {p->blockDimX, p->blockDimY, p->blockDimZ},
                             .cluster = {1, 1, 1},
                             .shared = p->sharedMemBytes,
                             .captured = true};
  l->config = NULL;
  gpu_launch_begin(l, p->func ? p->func : (CUfunction)p->kern, p->kernelParams, p->extra, p->ctx);
  if (p->func) p->func = l->function;
  else p->kern = (CUkernel)l->function;
  p->kernelParams = l->params;
  p->extra = l->extra;
}

static void begin_node_v1(GpuLaunch *l, CUDA_KERNEL_NODE_PARAMS_v1 *p) {
  CUDA_KERNEL_NODE_PARAMS newer = {0};
  memcpy(&newer, p, sizeof *p);
  begin_node(l, &newer);
  memcpy(p, &newer, sizeof *p);
}

CUresult gpu_cuGraphAddKernelNode_v2(CUgraphNode *out, CUgraph g, const CUgraphNode *after,
                                     size_t n, const CUDA_KERNEL_NODE_PARAMS *given) {
  if (!given) return gpu_real.cuGraphAddKernelNode_v2(out, g, after, n, given);
  GpuLaunch l;
  CUDA_KERNEL_NODE_PARAMS p = *given;
  begin_node(&l, &p);
  if (l.refused) return l.refused;
  return gpu_launch_end(&l, gpu_real.cuGraphAddKernelNode_v2(out, g, after, n, &p));
}

CUresult gpu_cuGraphAddKernelNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after, size_t n,
                                  const CUDA_KERNEL_NODE_PARAMS_v1 *given) {
  if (!given) return gpu_real.cuGraphAddKernelNode(out, g, after, n, given);
  GpuLaunch l;
  CUDA_KERNEL_NODE_PARAMS_v1 p = *given;
  begin_node_v1(&l, &p);
  if (l.refused) return l.refused;
  return gpu_launch_end(&l, gpu_real.cuGraphAddKernelNode(out, g, after, n, &p));
}

static void exec_unseen(CUgraphExec exec);

// settled: the tools see all that the kernel writes.
static void node_changed(CUgraphNode node, bool settled) { gpu_graph_overrule(NULL, node); }
static void exec_node_changed(CUgraphExec exec, CUgraphNode node, bool settled) {
  if (!settled) exec_unseen(exec);
  gpu_graph_overrule(exec, node);
}
#define CHANGED_(a, b, c, which, ...) which
#define CHANGED(...) CHANGED_(__VA_ARGS__, exec_node_changed, node_changed, )(__VA_ARGS__)

// OUTPUTS(…) calls one of the next functions, with the parameters as the program gave them. A
// changed node of a graph leaves executable graphs as they were.
static void node_outputs(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *given) {}
static bool set_kernel_step(GpuGraphSteps *steps, CUgraphNode node, const void *params) {
  return gpu_graph_steps_set_kernel(steps, node, params);
}
static void exec_outputs(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *given) {
  gpu_graph_outputs_changed(exec, node, given);
  gpu_graph_exec_changed(exec, node, set_kernel_step, given);
}
#define OUTPUTS(...) CHANGED_(__VA_ARGS__, exec_outputs, node_outputs, )(__VA_ARGS__)

#define SET_PARAMS(name, Params, begin, first_types, first_args) \
  CUresult gpu_##name(first_types, const Params *given) { \
    if (!given) return gpu_real.name(first_args, given); \
    GpuLaunch l; \
    Params p = *given; \
    begin(&l, &p); \
    if (l.refused) return l.refused; \
    CHANGED(first_args, session_run_settled(&l.run)); \
    CUresult result = gpu_real.name(first_args, &p); \
    CUDA_KERNEL_NODE_PARAMS as_given = {0}; \
    memcpy(&as_given, given, sizeof *given); \
    if (result == CUDA_SUCCESS) OUTPUTS(first_args, &as_given); \
    return gpu_launch_end(&l, result); \
  }
#define NODE_TYPES CUgraphNode node
#define NODE_ARGS node
#define EXEC_TYPES CUgraphExec exec, CUgraphNode node
#define EXEC_ARGS exec, node
SET_PARAMS(cuGraphKernelNodeSetParams, CUDA_KERNEL_NODE_PARAMS_v1, begin_node_v1, NODE_TYPES,
           NODE_ARGS)
SET_PARAMS(cuGraphKernelNodeSetParams_v2, CUDA_KERNEL_NODE_PARAMS, begin_node, NODE_TYPES,
           NODE_ARGS)
SET_PARAMS(cuGraphExecKernelNodeSetParams, CUDA_KERNEL_NODE_PARAMS_v1, begin_node_v1, EXEC_TYPES,
           EXEC_ARGS)
SET_PARAMS(cuGraphExecKernelNodeSetParams_v2, CUDA_KERNEL_NODE_PARAMS, begin_node, EXEC_TYPES,
           EXEC_ARGS)

// Only kernel nodes are copied: the driver writes into the parameters of some others.
#define ANY_NODE(name, types, args_before, changed, other, done) \
  CUresult gpu_##name types { \
    if (!given || given->type != CU_GRAPH_NODE_TYPE_KERNEL) { \
      CUresult result = gpu_real.name(args_before, given); \
      if (result == CUDA_SUCCESS) other; \
      return result; \
    } \
    GpuLaunch l; \
    CUgraphNodeParams p = *given; \
    begin_node(&l, &p.kernel); \
    if (l.refused) return l.refused; \
    changed; \
    CUresult result = gpu_real.name(args_before, &p); \
    if (result == CUDA_SUCCESS) done; \
    return gpu_launch_end(&l, result); \
  }
#define ADD_ARGS out, g, after, n
#define ADD_V2_ARGS out, g, after, edges, n
#define NOTHING (void)0
ANY_NODE(cuGraphAddNode,
         (CUgraphNode * out, CUgraph g, const CUgraphNode *after, size_t n,
          CUgraphNodeParams *given),
         ADD_ARGS, NOTHING, NOTHING, NOTHING)
ANY_NODE(cuGraphAddNode_v2,
         (CUgraphNode * out, CUgraph g, const CUgraphNode *after, const CUgraphEdgeData *edges,
          size_t n, CUgraphNodeParams *given),
         ADD_V2_ARGS, NOTHING, NOTHING, NOTHING)
ANY_NODE(cuGraphNodeSetParams, (CUgraphNode node, CUgraphNodeParams *given), NODE_ARGS,
         node_changed(node, session_run_settled(&l.run)), NOTHING, NOTHING)
ANY_NODE(cuGraphExecNodeSetParams, (CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *given),
         EXEC_ARGS, exec_node_changed(exec, node, session_run_settled(&l.run)),
         gpu_graph_exec_changed(exec, node, NULL, NULL), exec_outputs(exec, node, &given->kernel))

// --- queries of the program: answered with its own handles, and parameters without ours ---

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// The driver's list of a buffer and its size, with the size that the program gave. Lives as long as
// the node, like the driver's.
typedef struct Shortened {
  void *list[5];
  size_t size;
} Shortened;
static U64Map shortened;  // CUgraphNode -> Shortened

static void **shorten(CUgraphNode node, void **extra, size_t bytes) {
  pthread_mutex_lock(&lock);
  Shortened *s = u64map_get(&shortened, (uintptr_t)node);
  if (!s) u64map_put(&shortened, (uintptr_t)node, s = mem_alloc(sizeof *s));
  pthread_mutex_unlock(&lock);
  memcpy(s->list, extra, 4 * sizeof *extra);
  s->size = bytes;
  for (unsigned i = 0; i < 4; i += 2)
    if (s->list[i] == CU_LAUNCH_PARAM_BUFFER_SIZE) s->list[i + 1] = &s->size;
  return s->list;
}

// Replaces our handle and buffer by the program's. In a pointer list, our parameter is the last:
// the program never reads it.
static void back(CUgraphNode node, CUfunction *f, void ***extra) {
  GpuFunction *of = *f ? gpu_function_of_target(*f) : NULL;
  if (!of || of->handle == atomic_load(&of->target)) return;  // the original in its own place
  *f = of->handle;
  const WovenKernel *code = of->code;
  if (*extra && code && code->record_bytes) *extra = shorten(node, *extra, code->user_param_bytes);
}

static void back_node(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p) {
  if (p->func) back(node, &p->func, &p->extra);
  if (p->kern) back(node, (CUfunction *)&p->kern, &p->extra);
}

CUresult gpu_cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p) {
  GPU_TRY(gpu_real.cuGraphKernelNodeGetParams_v2(node, p));
  back_node(node, p);
  return CUDA_SUCCESS;
}

CUresult gpu_cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1 *p) {
  GPU_TRY(gpu_real.cuGraphKernelNodeGetParams(node, p));
  back(node, &p->func, &p->extra);
  return CUDA_SUCCESS;
}

// Not in cuda/api.def: newer drivers have it, and programs find it by cuGetProcAddress.
CUresult (*gpu_real_cuGraphNodeGetParams)(CUgraphNode, CUgraphNodeParams *);

CUresult gpu_cuGraphNodeGetParams(CUgraphNode node, CUgraphNodeParams *p) {
  GPU_TRY(gpu_real_cuGraphNodeGetParams(node, p));
  if (p->type == CU_GRAPH_NODE_TYPE_KERNEL) back_node(node, &p->kernel);
  return CUDA_SUCCESS;
}

CUresult gpu_cuGraphDestroyNode(CUgraphNode node) {
  gpu_graph_overrule(NULL, node);
  pthread_mutex_lock(&lock);
  free(shortened.len ? u64map_remove(&shortened, (uintptr_t)node) : NULL);
  pthread_mutex_unlock(&lock);
  return gpu_real.cuGraphDestroyNode(node);
}

// --- graphs that run: a node was counted when it was made, so every run but the first counts its
// kernels once more ---

// lines: for the launch log. unseen: tools do not see all of its writes
// (session_sees_graph_writes). nodes: kernels with checks, of the graph itself. version: of the
// program's memory when their records were made.
typedef struct Exec {
  bool ran, unseen;
  VEC(SessionKernel *) kernels;
  VEC(bool) checked;
  VEC(char *) lines;
  CUgraph graph;
  VEC(GpuGraphNode) nodes;
  SessionBranches *branches;  // NULL: not known
  uint64_t version;
  GpuGraphSteps *steps;  // it is executed node by node; NULL: it is not
  Error why;             // why it is not, if that leaves kernels unchecked
  bool told;             // why
} Exec;

static U64Map execs;       // CUgraphExec -> Exec
static VEC(CUgraph) kept;  // destroyed by the program, and instantiated still

// Describes a kernel node as it was instantiated. Calls of cuGraphExecKernelNodeSetParams that
// change it later have log lines of their own.
static void add_line(Exec *e, const CUDA_KERNEL_NODE_PARAMS *p, GpuFunction *of) {
  SessionLaunch l = {.kernel = of->kernel,
                     .grid = {p->gridDimX, p->gridDimY, p->gridDimZ},
                     .block = {p->blockDimX, p->blockDimY, p->blockDimZ},
                     .cluster = {1, 1, 1},
                     .shared = p->sharedMemBytes,
                     .captured = true};
  SessionParams given = {p->kernelParams, NULL, 0};
  if (!p->kernelParams && !gpu_launch_extra(p->extra, &given.buffer, &given.buffer_bytes))
    given = (SessionParams){0};
  Str text = {0};
  session_log_text(&text, &l, &given, gpu_launch_param, of);
  vec_push(&e->lines, mem_strdup(text.data));
  str_free(&text);
}

static void add_kernel(Exec *e, CUgraphNode node, bool inside) {
  CUDA_KERNEL_NODE_PARAMS p = {0};
  if (!gpu_real.cuGraphKernelNodeGetParams_v2 ||
      gpu_real.cuGraphKernelNodeGetParams_v2(node, &p) != CUDA_SUCCESS)
    return;
  CUfunction f = p.func ? p.func : (CUfunction)p.kern;
  GpuFunction *of = gpu_function_of_target(f);
  bool ours = of != NULL;
  if (!of) of = gpu_function(f);
  if (!ours || !of->code || !session_sees_graph_writes(of->kernel)) e->unseen = true;
  if (!of) return;
  if (session_logs_launches()) add_line(e, &p, of);
  vec_push(&e->kernels, of->kernel);
  vec_push(&e->checked, of->unchanged || (ours && of->code && of->code->record_bytes));
  if (ours && of->code && of->code->record_bytes && !inside &&
      gpu_real.cuGraphExecKernelNodeSetParams_v2)
    vec_push(&e->nodes, (GpuGraphNode){.node = node, .of = of, .type = CU_GRAPH_NODE_TYPE_KERNEL});
}

static bool writes_memory(CUgraphNodeType t) {
  switch ((int)t) {
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_HOST:
    case CU_GRAPH_NODE_TYPE_GRAPH:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return false;
    default: return true;
  }
}

void gpu_graph_each_node(CUgraph g, bool inside, GpuEachNode *each, void *user) {
  size_t n = 0;
  if (gpu_real.cuGraphGetNodes(g, NULL, &n) != CUDA_SUCCESS || !n) return;
  CUgraphNode *nodes = mem_alloc(n * sizeof *nodes);
  if (gpu_real.cuGraphGetNodes(g, nodes, &n) != CUDA_SUCCESS) n = 0;
  for (size_t i = 0; i < n; i++) {
    CUgraphNodeType type;
    CUgraph child;
    if (gpu_real.cuGraphNodeGetType(nodes[i], &type) != CUDA_SUCCESS) continue;
    each(user, nodes[i], type, inside);
    if (type == CU_GRAPH_NODE_TYPE_GRAPH &&
        gpu_real.cuGraphChildGraphNodeGetGraph(nodes[i], &child) == CUDA_SUCCESS)
      gpu_graph_each_node(child, true, each, user);
  }
  free(nodes);
}

static void look_at_node(void *exec, CUgraphNode node, CUgraphNodeType type, bool inside) {
  Exec *e = exec;
  bool copies = type == CU_GRAPH_NODE_TYPE_MEMCPY || type == CU_GRAPH_NODE_TYPE_MEMSET;
  if (type == CU_GRAPH_NODE_TYPE_KERNEL) add_kernel(e, node, inside);
  else if (writes_memory(type)) e->unseen = true;
  if (copies && !inside && session_wants(SESSION_WANTS_GRAPH_NODES | SESSION_WANTS_GRAPH_ORDER))
    vec_push(&e->nodes, (GpuGraphNode){.node = node, .type = type});
}

static CUresult instantiated(CUresult result, const CUgraphExec *exec, CUgraph g) {
  if (result != CUDA_SUCCESS || !session_wants_launches()) return result;
  session_created(*exec);
  gpu_graph_outputs_made(*exec, g);
  Exec *e = mem_alloc(sizeof *e);
  gpu_graph_each_node(g, false, look_at_node, e);
  e->graph = g;
  e->branches = gpu_branches(g, e->nodes.data, e->nodes.len);
  e->steps = gpu_graph_steps(g, &e->why);
  pthread_mutex_lock(&lock);
  u64map_put(&execs, (uintptr_t)*exec, e);
  pthread_mutex_unlock(&lock);
  return result;
}

CUresult gpu_cuGraphInstantiate(CUgraphExec *exec, CUgraph g, CUgraphNode *error, char *log,
                                size_t size) {
  GPU_ALIVE(GRAPH, g);
  return instantiated(gpu_real.cuGraphInstantiate(exec, g, error, log, size), exec, g);
}
CUresult gpu_cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph g, CUgraphNode *error, char *log,
                                   size_t size) {
  GPU_ALIVE(GRAPH, g);
  return instantiated(gpu_real.cuGraphInstantiate_v2(exec, g, error, log, size), exec, g);
}
CUresult gpu_cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph g, unsigned long long flags) {
  GPU_ALIVE(GRAPH, g);
  return instantiated(gpu_real.cuGraphInstantiateWithFlags(exec, g, flags), exec, g);
}
CUresult gpu_cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph g,
                                          CUDA_GRAPH_INSTANTIATE_PARAMS *p) {
  GPU_ALIVE(GRAPH, g);
  return instantiated(gpu_real.cuGraphInstantiateWithParams(exec, g, p), exec, g);
}
CUresult gpu_cuGraphInstantiateWithParams_ptsz(CUgraphExec *exec, CUgraph g,
                                               CUDA_GRAPH_INSTANTIATE_PARAMS *p) {
  GPU_ALIVE(GRAPH, g);
  return instantiated(gpu_real.cuGraphInstantiateWithParams_ptsz(exec, g, p), exec, g);
}

// Was an executable graph made of it whose nodes may get new records? With the lock held.
static bool graph_in_use(CUgraph g) {
  uint32_t it = 0;
  uint64_t handle;
  void *found;
  while (u64map_next(&execs, &it, &handle, &found))
    if (((const Exec *)found)->graph == g && ((const Exec *)found)->nodes.len) return true;
  return false;
}

static void release_graph(CUgraph g) {
  bool last = false;
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < kept.len && !last; i++) {
    if (kept.data[i] != g || graph_in_use(g)) continue;
    kept.data[i] = kept.data[--kept.len];
    last = true;
  }
  pthread_mutex_unlock(&lock);
  if (last) gpu_real.cuGraphDestroy(g);
}

CUresult gpu_cuGraphExecDestroy(CUgraphExec exec) {
  GPU_ALIVE(EXEC, exec);
  session_destroyed(SESSION_EXEC_GONE, exec);
  gpu_graph_outputs_gone(exec);
  pthread_mutex_lock(&lock);
  Exec *e = execs.len ? u64map_remove(&execs, (uintptr_t)exec) : NULL;
  pthread_mutex_unlock(&lock);
  if (e) {
    vec_free(&e->kernels);
    vec_free(&e->checked);
    for (uint32_t i = 0; i < e->lines.len; i++) free(e->lines.data[i]);
    vec_free(&e->lines);
    vec_free(&e->nodes);
    session_branches_free(e->branches);
    if (!e->ran) gpu_graph_steps_uncount(e->steps);
    gpu_graph_steps_free(e->steps);
  }
  CUresult result = gpu_real.cuGraphExecDestroy(exec);
  if (e) release_graph(e->graph);
  free(e);
  return result;
}

CUresult gpu_cuGraphDestroy(CUgraph g) {
  GPU_ALIVE(GRAPH, g);
  session_destroyed(SESSION_GRAPH_GONE, g);
  pthread_mutex_lock(&lock);
  bool keep = g && graph_in_use(g);
  if (keep) vec_push(&kept, g);
  pthread_mutex_unlock(&lock);
  if (keep) return CUDA_SUCCESS;
  CUresult result = gpu_real.cuGraphDestroy(g);
  if (result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_INVALID_HANDLE) session_created(g);
  return gpu_checked(result);
}

static CUresult launched(CUresult result, CUgraphExec exec, CUstream stream,
                         SessionOutputs *outputs, GpuGraphLooks *looks) {
  if (result == CUDA_SUCCESS) gpu_graph_look(stream, looks);
  else free(looks);
  if (result == CUDA_SUCCESS && !gpu_is_capturing(stream)) session_unknown_writes(stream);
  if (result != CUDA_SUCCESS) session_outputs_free(outputs);
  if (result != CUDA_SUCCESS || !session_wants_launches()) return gpu_checked(result);
  pthread_mutex_lock(&lock);
  Exec *e = u64map_get(&execs, (uintptr_t)exec);
  for (uint32_t i = 0; e && e->ran && i < e->kernels.len; i++)
    session_launch_again(e->kernels.data[i], e->checked.data[i]);
  if (e) e->ran = true;
  pthread_mutex_unlock(&lock);
  session_graph_launch(exec, stream);
  GpuContext *c = gpu_context_of_stream(stream);
  if (c) atomic_store_explicit(&c->last_kernel, NULL, memory_order_relaxed);
  if (c) gpu_outputs_look(c, stream, outputs, NULL, 0);
  return result;
}

static void write_log(CUgraphExec exec, CUstream stream) {
  if (!session_logs_launches()) return;
  GpuContext *c = gpu_context_of_stream(stream);
  pthread_mutex_lock(&lock);
  Exec *e = u64map_get(&execs, (uintptr_t)exec);
  for (uint32_t i = 0; e && i < e->lines.len; i++)
    session_log_again(0, c ? c->device : 0, stream, e->lines.data[i]);
  pthread_mutex_unlock(&lock);
}

// Brings the graph's records up to date before it runs. Each run must be counted as a user of a
// table of allocations, so we ask for one even if nothing has changed.
static GpuGraphLooks *refresh(CUgraphExec exec, CUstream stream) {
  GpuGraphLooks *looks = NULL;
  if ((!session_wants_memory() && !session_wants(SESSION_WANTS_GRAPH_NODES)) ||
      session_graph_memory() || gpu_is_capturing(stream))
    return NULL;
  GpuContext *c = gpu_context_of_stream(stream);
  SessionDevice *d = c ? gpu_context_use(c) : NULL;
  if (!d) return NULL;
  uint64_t now = session_memory_version();
  pthread_mutex_lock(&lock);
  Exec *e = u64map_get(&execs, (uintptr_t)exec);
  if (e && e->nodes.len &&
      (e->version != now || session_wants(SESSION_WANTS_GRAPH_NODES | SESSION_WANTS_GRAPH_ORDER)))
    looks = gpu_graph_refresh(&(GpuGraphRun){.exec = exec,
                                             .stream = stream,
                                             .device = d,
                                             .nodes = e->nodes.data,
                                             .n = e->nodes.len,
                                             .branches = e->branches,
                                             .first = !e->ran});
  else if (e && e->nodes.len) session_device_uses_table(d);
  if (e) e->version = now;
  pthread_mutex_unlock(&lock);
  gpu_context_used(c);
  return looks;
}

// Reports unseen writes of the graph before it runs, since copies inside of it may read them.
static void expect_writes(CUgraphExec exec, CUstream stream) {
  if (!session_wants(SESSION_WANTS_CONTENTS)) return;
  pthread_mutex_lock(&lock);
  const Exec *e = u64map_get(&execs, (uintptr_t)exec);
  bool unseen = !e || e->unseen;
  pthread_mutex_unlock(&lock);
  if (unseen && !gpu_is_capturing(stream))
    gpu_unchecked_writes(gpu_context_of_stream(stream), stream);
}

// the tools may no longer see all writes of its nodes
static void exec_unseen(CUgraphExec exec) {
  pthread_mutex_lock(&lock);
  Exec *e = u64map_get(&execs, (uintptr_t)exec);
  if (e) e->unseen = true;
  pthread_mutex_unlock(&lock);
}

static void set_steps(Exec *e, GpuGraphSteps *steps) {
  gpu_graph_steps_free(e->steps);
  e->steps = steps;
}

void gpu_graph_exec_changed(CUgraphExec exec, CUgraphNode node, GpuStepsChange *change,
                            const void *params) {
  pthread_mutex_lock(&lock);
  Exec *e = execs.len ? u64map_get(&execs, (uintptr_t)exec) : NULL;
  if (e && e->steps && !(change && change(e->steps, node, params))) {
    set_steps(e, NULL);
    error_set(&e->why, "the program has changed a node of the executable graph");
  }
  pthread_mutex_unlock(&lock);
}

// The program has changed a node (NULL: all nodes) of an executable graph. exec NULL: it has
// changed or destroyed a node of the graph; executable graphs stay as they were. From then on the
// parameters of the graph's node are not those of the executable node, which keeps its record.
void gpu_graph_overrule(CUgraphExec exec, CUgraphNode node) {
  uint32_t it = 0;
  uint64_t handle;
  void *found;
  pthread_mutex_lock(&lock);
  while (u64map_next(&execs, &it, &handle, &found)) {
    Exec *e = found;
    for (uint32_t i = 0; (!exec || (uintptr_t)exec == handle) && i < e->nodes.len; i++)
      if (!node || e->nodes.data[i].node == node) e->nodes.data[i].own = true;
  }
  pthread_mutex_unlock(&lock);
}

// The executable graph now does the same as the graph: its steps are made anew.
static CUresult updated(CUresult result, CUgraphExec exec, CUgraph g) {
  if (result != CUDA_SUCCESS || !session_wants_launches()) return gpu_checked(result);
  gpu_graph_outputs_made(exec, g);
  Error why;
  GpuGraphSteps *steps = gpu_graph_steps(g, &why);
  pthread_mutex_lock(&lock);
  Exec *e = u64map_get(&execs, (uintptr_t)exec);
  if (e) {
    gpu_graph_steps_uncount(e->steps);
    set_steps(e, steps);
    e->why = why;
  }
  pthread_mutex_unlock(&lock);
  if (!e) gpu_graph_steps_free(steps);
  return gpu_checked(result);
}

CUresult gpu_cuGraphExecUpdate(CUgraphExec exec, CUgraph g, CUgraphNode *error,
                               CUgraphExecUpdateResult *result) {
  exec_unseen(exec);
  gpu_graph_overrule(exec, NULL);
  return updated(gpu_real.cuGraphExecUpdate(exec, g, error, result), exec, g);
}
CUresult gpu_cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph g, CUgraphExecUpdateResultInfo *info) {
  exec_unseen(exec);
  gpu_graph_overrule(exec, NULL);
  return updated(gpu_real.cuGraphExecUpdate_v2(exec, g, info), exec, g);
}

// Notes each kernel of the graph that runs without checks, once. With the lock held.
static void tell_unchecked(Exec *e) {
  Str text = {0};
  e->told = true;
  str_printf(&text, "unchecked in a graph: %s", e->why.text);
  log_verbose("a graph of %u kernels is launched as it is: %s", e->kernels.len, e->why.text);
  for (uint32_t i = 0; i < e->kernels.len; i++)
    if (!e->checked.data[i]) session_kernel_note(e->kernels.data[i], text.data);
  str_free(&text);
}

// false: the driver has to launch it
static bool run_steps(CUgraphExec exec, CUstream stream, CUresult *result) {
  if (!session_patches_closed() && !session_reads_closed()) return false;
  bool captured = gpu_is_capturing(stream);
  pthread_mutex_lock(&lock);
  Exec *e = execs.len ? u64map_get(&execs, (uintptr_t)exec) : NULL;
  bool runs = e && e->steps && !captured && gpu_graph_steps_fit(e->steps, stream);
  if (e && e->steps && !captured && !runs)
    error_set(&e->why, "the graph is launched in another context than that of its kernels");
  if (e && !captured && !runs && e->why.text[0] && !e->told) tell_unchecked(e);
  pthread_mutex_unlock(&lock);
  if (!runs) return false;
  e->ran = true;
  session_graph_launch(exec, stream);
  *result = gpu_graph_steps_run(e->steps, stream);
  return true;
}

CUresult gpu_cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  CUresult stepped;
  GPU_ALIVE(EXEC, exec);
  GPU_ALIVE(STREAM, stream);
  if (run_steps(exec, stream, &stepped)) return stepped;
  expect_writes(exec, stream);
  write_log(exec, stream);
  GpuGraphLooks *looks = refresh(exec, stream);
  SessionOutputs *outputs = gpu_graph_outputs(exec, stream);
  gpu_hash_before_launch(outputs);
  return launched(gpu_real.cuGraphLaunch(exec, stream), exec, stream, outputs, looks);
}
CUresult gpu_cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream) {
  CUresult stepped;
  GPU_ALIVE(EXEC, exec);
  GPU_ALIVE(STREAM, stream);
  if (run_steps(exec, stream ? stream : CU_STREAM_PER_THREAD, &stepped)) return stepped;
  expect_writes(exec, stream ? stream : CU_STREAM_PER_THREAD);
  write_log(exec, stream ? stream : CU_STREAM_PER_THREAD);
  GpuGraphLooks *looks = refresh(exec, stream ? stream : CU_STREAM_PER_THREAD);
  SessionOutputs *outputs = gpu_graph_outputs(exec, stream ? stream : CU_STREAM_PER_THREAD);
  gpu_hash_before_launch(outputs);
  return launched(gpu_real.cuGraphLaunch_ptsz(exec, stream), exec,
                  stream ? stream : CU_STREAM_PER_THREAD, outputs, looks);
}
