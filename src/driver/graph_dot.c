// cuGraphDebugDotPrint: a graph as a picture for dot(1).
#include "driver/driver.h"

static const char *type_name(CUgraphNodeType t) {
  static const char *const names[] = {"kernel",
                                      "memcpy",
                                      "memset",
                                      "host",
                                      "graph",
                                      "empty",
                                      "event wait",
                                      "event record",
                                      "semaphore signal",
                                      "semaphore wait",
                                      "alloc",
                                      "free",
                                      "memory operations",
                                      "conditional"};
  return (unsigned)t < ARRAY_LEN(names) ? names[t] : "?";
}

static void describe(Str *s, const Node *n, unsigned *counter) {
  str_printf(s, "  n%llu [shape=box, label=\"%u: %s", (unsigned long long)n->id, (*counter)++,
             type_name(n->type));
  const Work *w = &n->work;
  switch (w->kind) {
    case WORK_KERNEL:
      str_printf(s, "\\n%s\\ngrid %u,%u,%u block %u,%u,%u shared %u",
                 w->kernel.function->info->name, w->kernel.grid[0], w->kernel.grid[1],
                 w->kernel.grid[2], w->kernel.block[0], w->kernel.block[1], w->kernel.block[2],
                 w->kernel.shared);
      break;
    case WORK_COPY:
      str_printf(s, "\\n%zu x %zu x %zu bytes", w->copy.width, w->copy.height, w->copy.depth);
      break;
    case WORK_SET:
      str_printf(s, "\\n%zu x %zu of %u bytes = 0x%x", w->set.width, w->set.height, w->set.element,
                 w->set.value);
      break;
    case WORK_ALLOC: str_printf(s, "\\n%zu bytes", w->alloc.bytes); break;
    default: break;
  }
  str_add(s, "\"];\n");
}

static void print(Str *s, const Graph *g, unsigned *counter) {
  for (uint32_t i = 0; i < g->nodes.len; i++) describe(s, g->nodes.data[i], counter);
  for (uint32_t i = 0; i < g->nodes.len; i++) {
    const Node *n = g->nodes.data[i];
    for (uint32_t k = 0; k < n->deps.len; k++)
      str_printf(s, "  n%llu -> n%llu;\n", (unsigned long long)n->deps.data[k]->id,
                 (unsigned long long)n->id);
    for (uint32_t k = 0; k < n->bodies.len; k++) {
      str_printf(s, "  subgraph cluster_%llu_%u {\n", (unsigned long long)n->id, k);
      print(s, n->bodies.data[k], counter);
      str_add(s, "  }\n");
    }
  }
}

CUresult cuGraphDebugDotPrint(CUgraph handle, const char *path, unsigned flags) {
  Graph *g;
  TRY(graph_get(handle, &g));
  if (!path) return CUDA_ERROR_INVALID_VALUE;
  Str s = {0};
  Error err = {{0}};
  unsigned counter = 0;
  str_add(&s, "digraph graph_0 {\n");
  print(&s, g, &counter);
  str_add(&s, "}\n");
  bool ok = file_write(path, s.data, s.len, &err);
  str_free(&s);
  return ok ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}
