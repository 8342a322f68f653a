// Executable graphs: a graph flattened into a plan of steps in dependency order. A launch holds the
// plan; an update while a launch is pending works on a copy.
#include "driver/driver.h"

// --- plans ---

static SessionBranches *branches_of(const Graph *g, Node *const *order) {
  SessionBranches *b = session_branches_new(g->nodes.len);
  U64Map place = {0};
  for (uint32_t i = 0; b && i < g->nodes.len; i++) {
    for (uint32_t k = 0; k < order[i]->deps.len; k++)
      session_branches_edge(
          b, (uint32_t)(uintptr_t)u64map_get(&place, (uintptr_t)order[i]->deps.data[k]) - 1, i);
    u64map_put(&place, (uintptr_t)order[i], (void *)(uintptr_t)(i + 1));
  }
  u64map_free(&place);
  session_branches_done(b);
  return b;
}

static CUresult plan_build(const Graph *g, Plan **out) {
  Node **order;
  TRY(graph_order(g, &order));
  Plan *p = mem_alloc(sizeof *p);
  p->refs = 1;
  CUresult result = CUDA_SUCCESS;
  for (uint32_t i = 0; i < g->nodes.len && !result; i++) {
    Node *n = order[i];
    PlanStep step = {.node = n->id, .type = n->type, .nbodies = n->bodies.len};
    work_copy(&step.work, &n->work);
    step.bodies = mem_alloc(sizeof *step.bodies * MAX(n->bodies.len, 1));
    for (uint32_t k = 0; k < n->bodies.len && !result; k++)
      result = plan_build(n->bodies.data[k], &step.bodies[k]);
    vec_push(&p->steps, step);
  }
  p->branches = branches_of(g, order);
  for (uint32_t i = 0; i < g->handles.len; i++)
    if (g->handle_assign.data[i]) {
      vec_push(&p->handles, g->handles.data[i]);
      vec_push(&p->handle_defaults, g->handle_defaults.data[i]);
    }
  free(order);
  if (result) {
    plan_release(p);
    return result;
  }
  *out = p;
  return CUDA_SUCCESS;
}

static Plan *plan_copy(const Plan *from) {
  Plan *p = mem_alloc(sizeof *p);
  p->refs = 1;
  p->branches = session_branches_share(from->branches);
  for (uint32_t i = 0; i < from->steps.len; i++) {
    PlanStep step = from->steps.data[i];
    work_copy(&step.work, &from->steps.data[i].work);
    step.bodies = mem_alloc(sizeof *step.bodies * MAX(step.nbodies, 1));
    for (uint32_t k = 0; k < step.nbodies; k++)
      step.bodies[k] = plan_copy(from->steps.data[i].bodies[k]);
    vec_push(&p->steps, step);
  }
  for (uint32_t i = 0; i < from->handles.len; i++) {
    vec_push(&p->handles, from->handles.data[i]);
    vec_push(&p->handle_defaults, from->handle_defaults.data[i]);
  }
  return p;
}

void plan_retain(Plan *p) { p->refs++; }

void plan_release(Plan *p) {
  if (atomic_fetch_sub(&p->refs, 1) > 1) return;
  for (uint32_t i = 0; i < p->steps.len; i++) {
    PlanStep *s = &p->steps.data[i];
    work_free(&s->work);
    for (uint32_t k = 0; k < s->nbodies; k++)
      if (s->bodies[k]) plan_release(s->bodies[k]);
    free(s->bodies);
  }
  vec_free(&p->steps);
  session_branches_free(p->branches);
  vec_free(&p->handles);
  vec_free(&p->handle_defaults);
  free(p);
}

static uint32_t condition(CUgraphConditionalHandle handle) {
  return __atomic_load_n((uint32_t *)(uintptr_t)handle, __ATOMIC_ACQUIRE);
}

static CUresult run_conditional(const PlanStep *s, uint64_t seq) {
  uint32_t value = condition(s->work.conditional.handle);
  switch (s->work.conditional.type) {
    case CU_GRAPH_COND_TYPE_IF:
      if (value) return plan_run(s->bodies[0], seq);
      return s->nbodies > 1 ? plan_run(s->bodies[1], seq) : CUDA_SUCCESS;
    case CU_GRAPH_COND_TYPE_WHILE:
      for (; value && !driver_ending(); value = condition(s->work.conditional.handle))
        TRY(plan_run(s->bodies[0], seq));
      return CUDA_SUCCESS;
    case CU_GRAPH_COND_TYPE_SWITCH:
      return value < s->nbodies ? plan_run(s->bodies[value], seq) : CUDA_SUCCESS;
  }
  return CUDA_SUCCESS;
}

CUresult plan_run(Plan *p, uint64_t seq) {
  for (uint32_t i = 0; i < p->handles.len; i++)
    __atomic_store_n((uint32_t *)(uintptr_t)p->handles.data[i], p->handle_defaults.data[i],
                     __ATOMIC_RELEASE);
  for (uint32_t i = 0; i < p->steps.len; i++) {
    const PlanStep *s = &p->steps.data[i];
    if (s->disabled) continue;
    if (s->type == CU_GRAPH_NODE_TYPE_GRAPH) TRY(plan_run(s->bodies[0], seq));
    else if (s->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) TRY(run_conditional(s, seq));
    else TRY(work_run(&s->work, seq));
  }
  return CUDA_SUCCESS;
}

static PlanStep *find_step(Plan *p, uint64_t node) {
  for (uint32_t i = 0; i < p->steps.len; i++) {
    PlanStep *s = &p->steps.data[i];
    if (s->node == node) return s;
    for (uint32_t k = 0; k < s->nbodies; k++) {
      PlanStep *inner = find_step(s->bodies[k], node);
      if (inner) return inner;
    }
  }
  return NULL;
}

// --- instantiate ---

static CUresult exec_get(CUgraphExec handle, Exec **out) {
  TRY(driver_check());
  *out = object_use(handle, OBJECT_EXEC, SESSION_EXEC_GONE);
  return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph handle, unsigned long long flags) {
  Context *ctx;
  Graph *g;
  Plan *p;
  TRY(context_current(&ctx));
  TRY(graph_get(handle, &g));
  if (!out || flags > 15) return CUDA_ERROR_INVALID_VALUE;
  if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) {
    log_once("device graph launch",
             "graphs launched by kernels are not supported by the virtual device");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  TRY(plan_build(g, &p));
  Exec *e = object_new(OBJECT_EXEC, sizeof *e);
  e->ctx = ctx;
  e->plan = p;
  e->flags = flags;
  e->keep = graph_clone(g);
  *out = (CUgraphExec)e;
  return CUDA_SUCCESS;
}

CUresult cuGraphInstantiate_v2(CUgraphExec *out, CUgraph g, CUgraphNode *error, char *log,
                               size_t size) {
  if (error) *error = NULL;
  if (log && size) log[0] = 0;
  return cuGraphInstantiateWithFlags(out, g, 0);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *out, CUgraph g,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS *p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  p->hErrNode_out = NULL;
  CUresult result = cuGraphInstantiateWithFlags(out, g, p->flags);
  p->result_out = !result                              ? CUDA_GRAPH_INSTANTIATE_SUCCESS
                  : result == CUDA_ERROR_INVALID_VALUE ? CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE
                                                       : CUDA_GRAPH_INSTANTIATE_ERROR;
  return result;
}

CUresult cuGraphExecGetFlags(CUgraphExec handle, uint64_t *flags) {
  Exec *e;
  TRY(exec_get(handle, &e));
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  *flags = e->flags;
  return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec handle) {
  Exec *e;
  TRY(exec_get(handle, &e));
  session_destroyed(SESSION_EXEC_GONE, handle);
  plan_release(e->plan);  // a pending launch holds its own
  graph_free(e->keep);
  object_delete(e);
  return CUDA_SUCCESS;
}

// --- launch ---

// Events recorded by the graph are reached when the launch is: they move to its place in the queue.
static void place_events(Plan *p, Stream *s, uint64_t seq) {
  for (uint32_t i = 0; i < p->steps.len; i++) {
    PlanStep *step = &p->steps.data[i];
    if (step->work.kind == WORK_RECORD) event_move(step->work.event, s, seq);
    for (uint32_t k = 0; k < step->nbodies; k++) place_events(step->bodies[k], s, seq);
  }
}

// Captures the inputs of each kernel, and reports all other steps that write as unknown writes, in
// the order of the plan. once: these steps run once in each launch.
static void keep_inputs(Plan *p, const void *stream, bool once) {
  for (uint32_t i = 0; i < p->steps.len; i++) {
    PlanStep *s = &p->steps.data[i];
    if (s->disabled) continue;
    for (uint32_t k = 0; k < s->nbodies; k++)
      keep_inputs(s->bodies[k], stream, once && s->type != CU_GRAPH_NODE_TYPE_CONDITIONAL);
    if (s->work.kind == WORK_KERNEL)
      tools_launch_inputs(s->work.ctx, stream, &s->work.kernel, once);
    else if (s->work.kind == WORK_COPY || s->work.kind == WORK_SET || s->work.kind == WORK_HOST ||
             s->work.kind == WORK_MEMOPS || s->work.kind == WORK_LIBRARY)
      session_unknown_writes(stream);
  }
}

// Reports the plan's steps to the tools. once: these steps run once in each launch; copies and sets
// then have numbers between those of the kernels. outer: nodes that run beside the whole plan.
// list: receives the numbers that tools gave.
static void tell_tools(Context *ctx, Plan *p, const void *stream, bool once,
                       const SessionBeside *outer, SessionNumberList *list) {
  SessionNumbers *numbers = mem_alloc(sizeof *numbers * MAX(p->steps.len, 1));
  session_graph_begin(p->branches, p->steps.len, stream);
  for (uint32_t i = 0; i < p->steps.len; i++) {
    PlanStep *s = &p->steps.data[i];
    SessionBeside beside;
    uint32_t number = 0;
    if (s->disabled) continue;
    session_branches_beside(p->branches, i, outer, numbers, &beside);
    session_graph_node(i);
    numbers[i] = (SessionNumbers){list, list->len, list->len};
    for (uint32_t k = 0; k < s->nbodies; k++)
      tell_tools(ctx, s->bodies[k], stream, once && s->type != CU_GRAPH_NODE_TYPE_CONDITIONAL,
                 &beside, list);
    if (s->work.kind == WORK_ALLOC) session_revive(graph_memory_address(s->work.alloc.memory));
    if (s->work.kind == WORK_FREE) session_free(s->work.free);
    if (s->work.kind == WORK_KERNEL)
      number = tools_launch_captured(s->work.ctx, &s->work.kernel, stream, once, &beside);
    if (once && (s->work.kind == WORK_COPY || s->work.kind == WORK_SET))
      number = tools_copy_captured(s->work.ctx ? s->work.ctx : ctx, &s->work, stream, &beside);
    if (number) vec_push(list, number);
    numbers[i].end = list->len;
    if (once && session_wants(SESSION_WANTS_GRAPH_NODES) &&
        (s->work.kind == WORK_COPY || s->work.kind == WORK_SET))
      events_node_step(&s->work, stream);
  }
  session_graph_end();
  free(numbers);
}

// Memory that was allocated when the graph was made may be freed by now. For tools that follow
// memory, each launch therefore gets launch records of its own.
static Plan *plan_for_launch(Context *ctx, Plan *plan, const void *stream) {
  if (!session_has_findings() && !session_wants_outputs() && !session_wants(SESSION_WANTS_INPUTS)) {
    plan_retain(plan);
    return plan;
  }
  Plan *own = plan_copy(plan);
  SessionNumberList list = {0};
  tell_tools(ctx, own, stream, true, NULL, &list);
  vec_free(&list);
  if (session_wants(SESSION_WANTS_INPUTS)) keep_inputs(own, stream, true);
  return own;
}

CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream) {
  Exec *e;
  Stream *s;
  TRY(exec_get(handle, &e));
  TRY(stream_get(stream, &s));
  pthread_mutex_lock(&queue_lock);
  if (s->capture) {
    CUresult result = capture_add_child(s, e->keep);
    pthread_mutex_unlock(&queue_lock);
    return result;
  }
  pthread_mutex_unlock(&queue_lock);
  session_graph_launch(e, s);
  Work w = {.kind = WORK_GRAPH, .plan = plan_for_launch(s->ctx, e->plan, s->legacy ? NULL : s)};
  w.outputs = tools_graph_outputs(s->ctx, s->legacy ? NULL : s, w.plan);
  uint64_t seq;
  TRY(queue_submit_after(s, &w, NULL, 0, &seq, 0));
  pthread_mutex_lock(&queue_lock);
  place_events(e->plan, s, seq);
  pthread_mutex_unlock(&queue_lock);
  return CUDA_SUCCESS;
}

CUresult cuGraphUpload(CUgraphExec handle, CUstream stream) {
  Exec *e;
  Stream *s;
  TRY(exec_get(handle, &e));
  return stream_get(stream, &s);
}

// --- changing it ---

static Plan *writable_plan(Exec *e) {
  if (e->plan->refs > 1) {
    Plan *copy = plan_copy(e->plan);
    plan_release(e->plan);
    e->plan = copy;
  }
  return e->plan;
}

static CUresult step_get(CUgraphExec handle, CUgraphNode node, Exec **e, PlanStep **step) {
  Node *n;
  TRY(exec_get(handle, e));
  TRY(node_get(node, &n));
  *step = find_step(writable_plan(*e), n->id);
  return *step ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphExecNodeSetParams(CUgraphExec handle, CUgraphNode node, CUgraphNodeParams *p) {
  Exec *e;
  PlanStep *step;
  Work w;
  TRY(step_get(handle, node, &e, &step));
  if (!p || p->type != step->type) return CUDA_ERROR_INVALID_VALUE;
  if (p->type == CU_GRAPH_NODE_TYPE_GRAPH)
    return cuGraphExecChildGraphNodeSetParams(handle, node, p->graph.graph);
  if (p->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || p->type == CU_GRAPH_NODE_TYPE_MEM_FREE ||
      p->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
    return CUDA_ERROR_INVALID_VALUE;
  TRY(node_make_work(p, &step->work, &w));
  work_free(&step->work);
  step->work = w;
  return CUDA_SUCCESS;
}

#define SET(node_type, ...) \
  CUgraphNodeParams all = {.type = node_type, __VA_ARGS__}; \
  return cuGraphExecNodeSetParams(e, n, &all)

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec e, CUgraphNode n,
                                           const CUDA_KERNEL_NODE_PARAMS *p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  SET(CU_GRAPH_NODE_TYPE_KERNEL, .kernel = *p);
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec e, CUgraphNode n,
                                        const CUDA_KERNEL_NODE_PARAMS_v1 *p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
  memcpy(&all.kernel, p, sizeof *p);
  return cuGraphExecNodeSetParams(e, n, &all);
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec e, CUgraphNode n, const CUDA_MEMCPY3D *p,
                                        CUcontext ctx) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  SET(CU_GRAPH_NODE_TYPE_MEMCPY, .memcpy = {.copyCtx = ctx, .copyParams = *p});
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec e, CUgraphNode n,
                                        const CUDA_MEMSET_NODE_PARAMS *p, CUcontext ctx) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  SET(CU_GRAPH_NODE_TYPE_MEMSET,
      .memset = {p->dst, p->pitch, p->value, p->elementSize, p->width, p->height, ctx});
}
CUresult cuGraphExecHostNodeSetParams(CUgraphExec e, CUgraphNode n,
                                      const CUDA_HOST_NODE_PARAMS *p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  SET(CU_GRAPH_NODE_TYPE_HOST, .host = *p);
}
CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec e, CUgraphNode n, CUevent event) {
  SET(CU_GRAPH_NODE_TYPE_EVENT_RECORD, .eventRecord = {event});
}
CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec e, CUgraphNode n, CUevent event) {
  SET(CU_GRAPH_NODE_TYPE_WAIT_EVENT, .eventWait = {event});
}
CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec e, CUgraphNode n,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS *p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  SET(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, .memOp = *p);
}

// The plan of another graph of the same shape; its steps answer to the first graph's nodes.
static CUresult adopt(Plan *plan, const Plan *old) {
  if (plan->steps.len != old->steps.len) return CUDA_ERROR_INVALID_VALUE;
  for (uint32_t i = 0; i < plan->steps.len; i++) {
    PlanStep *a = &plan->steps.data[i];
    const PlanStep *b = &old->steps.data[i];
    if (a->type != b->type || a->nbodies != b->nbodies) return CUDA_ERROR_INVALID_VALUE;
    a->node = b->node;
    a->disabled = b->disabled;
    for (uint32_t k = 0; k < a->nbodies; k++) TRY(adopt(a->bodies[k], b->bodies[k]));
  }
  return CUDA_SUCCESS;
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec handle, CUgraphNode node, CUgraph child) {
  Exec *e;
  PlanStep *step;
  Graph *g;
  Plan *p;
  TRY(graph_get(child, &g));
  TRY(step_get(handle, node, &e, &step));
  if (step->type != CU_GRAPH_NODE_TYPE_GRAPH) return CUDA_ERROR_INVALID_VALUE;
  TRY(plan_build(g, &p));
  CUresult result = adopt(p, step->bodies[0]);
  if (result) {
    plan_release(p);
    return result;
  }
  plan_release(step->bodies[0]);
  step->bodies[0] = p;
  return CUDA_SUCCESS;
}

static bool can_be_disabled(CUgraphNodeType t) {
  return t == CU_GRAPH_NODE_TYPE_KERNEL || t == CU_GRAPH_NODE_TYPE_MEMCPY ||
         t == CU_GRAPH_NODE_TYPE_MEMSET;
}

CUresult cuGraphNodeSetEnabled(CUgraphExec handle, CUgraphNode node, unsigned enabled) {
  Exec *e;
  PlanStep *step;
  TRY(step_get(handle, node, &e, &step));
  if (!can_be_disabled(step->type)) return CUDA_ERROR_INVALID_VALUE;
  step->disabled = !enabled;
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetEnabled(CUgraphExec handle, CUgraphNode node, unsigned *enabled) {
  Exec *e;
  PlanStep *step;
  TRY(step_get(handle, node, &e, &step));
  if (!enabled || !can_be_disabled(step->type)) return CUDA_ERROR_INVALID_VALUE;
  *enabled = !step->disabled;
  return CUDA_SUCCESS;
}

// --- whole-graph update: the same shape, node by node in the order they were made ---

static bool is_at(const Graph *g, const Node *n, const Graph *h, const Node *m) {
  for (uint32_t i = 0; i < g->nodes.len; i++)
    if (g->nodes.data[i] == n) return h->nodes.data[i] == m;
  return false;
}

static CUgraphExecUpdateResult compare(const Graph *old, const Graph *g, Node **culprit) {
  *culprit = NULL;
  if (old->nodes.len != g->nodes.len) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  for (uint32_t i = 0; i < g->nodes.len; i++) {
    const Node *a = old->nodes.data[i];
    Node *b = g->nodes.data[i];
    *culprit = b;
    if (a->type != b->type) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
    if (a->deps.len != b->deps.len || a->bodies.len != b->bodies.len)
      return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    for (uint32_t k = 0; k < a->deps.len; k++) {
      bool found = false;
      for (uint32_t l = 0; l < b->deps.len && !found; l++)
        found = is_at(old, a->deps.data[k], g, b->deps.data[l]);
      if (!found) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    }
    for (uint32_t k = 0; k < a->bodies.len; k++) {
      Node *inner;
      CUgraphExecUpdateResult r = compare(a->bodies.data[k], b->bodies.data[k], &inner);
      if (r) return r;
    }
  }
  *culprit = NULL;
  return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec handle, CUgraph graph,
                              CUgraphExecUpdateResultInfo *info) {
  Exec *e;
  Graph *g;
  Plan *p;
  Node *culprit;
  TRY(exec_get(handle, &e));
  TRY(graph_get(graph, &g));
  CUgraphExecUpdateResult result = compare(e->keep, g, &culprit);
  if (info)
    *info = (CUgraphExecUpdateResultInfo){.result = result, .errorNode = (CUgraphNode)culprit};
  if (result) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  TRY(plan_build(g, &p));
  if (adopt(p, e->plan)) {
    plan_release(p);
    if (info) info->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  }
  plan_release(e->plan);
  e->plan = p;
  return CUDA_SUCCESS;
}

CUresult cuGraphExecUpdate(CUgraphExec e, CUgraph g, CUgraphNode *error_node,
                           CUgraphExecUpdateResult *result) {
  CUgraphExecUpdateResultInfo info = {0};
  CUresult r = cuGraphExecUpdate_v2(e, g, &info);
  if (error_node) *error_node = info.errorNode;
  if (result) *result = info.result;
  return r;
}
