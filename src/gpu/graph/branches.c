// Finds pairs of nodes of a graph that no path orders, for the tools.
//
// Nodes are described in topological order. Copies and sets are compared with each other before the
// graph runs, and checked against its kernels afterwards (session_graph_copy_ran).
#include "gpu/gpu.h"

static int by_place(const void *a, const void *b) {
  uint32_t x = ((const GpuGraphNode *)a)->place, y = ((const GpuGraphNode *)b)->place;
  return x < y ? -1 : x > y;
}

static bool dependencies(CUgraphNode node, CUgraphNode *list, size_t *n) {
  if (gpu_real.cuGraphNodeGetDependencies_v2) {
    CUgraphEdgeData *edges = mem_alloc(MAX(*n, 1) * sizeof *edges);
    bool ok = gpu_real.cuGraphNodeGetDependencies_v2(node, list, list ? edges : NULL, n) ==
              CUDA_SUCCESS;
    free(edges);
    return ok;
  }
  return gpu_real.cuGraphNodeGetDependencies(node, list, n) == CUDA_SUCCESS;
}

typedef struct Node {
  CUgraphNode handle;
  uint32_t *deps;
  size_t ndeps;
  uint32_t place;
  bool placed;
} Node;

static bool read_nodes(CUgraph g, Node **out, size_t *count) {
  size_t n = 0;
  if (gpu_real.cuGraphGetNodes(g, NULL, &n) != CUDA_SUCCESS || !n) return false;
  CUgraphNode *handles = mem_alloc(n * sizeof *handles), *before = mem_alloc(n * sizeof *before);
  Node *nodes = mem_alloc(n * sizeof *nodes);
  U64Map index = {0};
  bool ok = gpu_real.cuGraphGetNodes(g, handles, &n) == CUDA_SUCCESS;
  for (size_t i = 0; i < n; i++) u64map_put(&index, (uintptr_t)handles[i], (void *)(i + 1));
  for (size_t i = 0; ok && i < n; i++) {
    Node *node = &nodes[i];
    node->handle = handles[i];
    ok = dependencies(handles[i], NULL, &node->ndeps) && node->ndeps <= n &&
         (!node->ndeps || dependencies(handles[i], before, &node->ndeps));
    node->deps = mem_alloc(MAX(node->ndeps, 1) * sizeof *node->deps);
    for (size_t k = 0; ok && k < node->ndeps; k++) {
      uintptr_t at = (uintptr_t)u64map_get(&index, (uintptr_t)before[k]);
      ok = at != 0;
      node->deps[k] = (uint32_t)at - 1;
    }
  }
  u64map_free(&index);
  free(handles);
  free(before);
  *out = nodes;
  *count = n;
  return ok;
}

// Numbers the nodes so that each comes after its dependencies. false: that is not possible.
static bool place_all(Node *nodes, size_t n, SessionBranches *b) {
  uint32_t place = 0;
  for (bool any = true; any && place < n;) {
    any = false;
    for (size_t i = 0; i < n; i++) {
      bool ready = !nodes[i].placed;
      for (size_t k = 0; ready && k < nodes[i].ndeps; k++) ready = nodes[nodes[i].deps[k]].placed;
      if (!ready) continue;
      for (size_t k = 0; k < nodes[i].ndeps; k++)
        session_branches_edge(b, nodes[nodes[i].deps[k]].place, place);
      nodes[i].placed = any = true;
      nodes[i].place = place++;
    }
  }
  return place == n;
}

SessionBranches *gpu_branches(CUgraph g, GpuGraphNode *list, uint32_t count) {
  Node *nodes = NULL;
  size_t n = 0;
  if (!session_wants(SESSION_WANTS_GRAPH_NODES | SESSION_WANTS_GRAPH_ORDER) || !count ||
      !read_nodes(g, &nodes, &n)) {
    for (size_t i = 0; nodes && i < n; i++) free(nodes[i].deps);
    free(nodes);
    return NULL;
  }
  SessionBranches *b = session_branches_new((uint32_t)n);
  bool ok = b && place_all(nodes, n, b);
  U64Map place = {0};
  for (size_t i = 0; i < n; i++) {
    u64map_put(&place, (uintptr_t)nodes[i].handle, (void *)(uintptr_t)(nodes[i].place + 1));
    free(nodes[i].deps);
  }
  free(nodes);
  for (uint32_t i = 0; ok && i < count; i++)
    list[i].place = (uint32_t)(uintptr_t)u64map_get(&place, (uintptr_t)list[i].node) - 1;
  if (ok) qsort(list, count, sizeof *list, by_place);
  u64map_free(&place);
  session_branches_done(b);
  if (!ok) session_branches_free(b);
  return ok ? b : NULL;
}

// --- copies and sets ---

enum { MOST_COPIES = 64 };  // of one graph that are looked at

bool gpu_graph_copy(const GpuGraphNode *n, CUstream stream, SessionCopy *c) {
  GpuContext *context = gpu_context_of_stream(stream);
  CUDA_MEMCPY3D copy;
  CUDA_MEMSET_NODE_PARAMS set;
  *c = (SessionCopy){.call = n->type == CU_GRAPH_NODE_TYPE_MEMCPY ? "memcpy node" : "memset node",
                     .stream = stream,
                     .async = true,
                     .device = context ? context->device : 0};
  if (n->type == CU_GRAPH_NODE_TYPE_MEMCPY &&
      gpu_real.cuGraphMemcpyNodeGetParams(n->node, &copy) == CUDA_SUCCESS)
    session_copy_of_box(&copy, c);
  else if (n->type == CU_GRAPH_NODE_TYPE_MEMSET &&
           gpu_real.cuGraphMemsetNodeGetParams(n->node, &set) == CUDA_SUCCESS)
    session_copy_of_set(&set, c);
  else return false;
  return true;
}

static void compare(const SessionBranches *b, const GpuGraphNode *nodes, const SessionCopy *copies,
                    const uint32_t *at, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < i; k++)
      if (session_branches_part(b, nodes[at[k]].place, nodes[at[i]].place))
        session_graph_copies_unordered(&copies[k], &copies[i]);
}

GpuGraphLooks *gpu_graph_looks(const GpuGraphRun *run, const SessionNumbers *numbers) {
  const SessionBranches *b = run->branches;
  const GpuGraphNode *nodes = run->nodes;
  CUstream stream = run->stream;
  SessionCopy copies[MOST_COPIES];
  uint32_t at[MOST_COPIES], ncopies = 0;
  GpuGraphLooks *looks = NULL;
  for (uint32_t i = 0; b && i < run->n && ncopies < MOST_COPIES; i++) {
    SessionBeside beside;
    SessionCopy *c = &copies[ncopies];
    if (nodes[i].of || nodes[i].own || !gpu_graph_copy(&nodes[i], stream, c)) continue;
    at[ncopies++] = i;
    session_branches_beside(b, nodes[i].place, NULL, numbers, &beside);
    uint32_t number;
    c->tag = session_graph_copy(run->device, c, &beside, &number);
    if (!c->tag) continue;
    if (!looks) looks = mem_alloc(sizeof *looks + MOST_COPIES * sizeof *looks->copies);
    looks->copies[looks->n] = *c;
    looks->copies[looks->n++].stream = stream ? stream : CU_STREAM_LEGACY;
  }
  if (run->first) compare(b, nodes, copies, at, ncopies);
  return looks;
}

void gpu_graph_look(CUstream stream, GpuGraphLooks *looks) {
  GpuContext *c = looks ? gpu_context_of_stream(stream) : NULL;
  SessionDevice *d = c ? gpu_context_use(c) : NULL;
  for (uint32_t i = 0; d && i < looks->n; i++) session_graph_copy_ran(d, &looks->copies[i]);
  if (d) gpu_context_used(c);
  free(looks);
}
