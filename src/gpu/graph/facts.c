// Gives the kernel nodes of an executable graph new records when it is launched: memory may have
// been allocated and freed since they were captured. The driver names the nodes to change by those
// of the graph that was instantiated, so that graph is kept as long as the executable one
// (graph.c). Some nodes keep their records: those of child graphs, those that cuGraphExecUpdate or
// the program itself has set since, and all nodes in programs whose graphs own memory.
#include "gpu/gpu.h"

// The record among the node's parameters; NULL: it has none, or nothing is checked in it.
static void *record_of(const CUDA_KERNEL_NODE_PARAMS *p, const WovenKernel *code,
                       SessionParams *given) {
  uint8_t *record = NULL;
  *given = (SessionParams){p->kernelParams, NULL, 0};
  if (p->kernelParams) record = p->kernelParams[code->user_params];
  else if (p->extra && gpu_launch_extra(p->extra, &given->buffer, &given->buffer_bytes) &&
           given->buffer_bytes >= code->record_offset + code->record_bytes) {
    record = (uint8_t *)(uintptr_t)given->buffer + code->record_offset;
    given->buffer_bytes = code->user_param_bytes;
  }
  return record && ((const WgLaunch *)record)->channel ? record : NULL;
}

// Sets the node's list or buffer of parameters with another record in it.
static CUresult set_record(CUgraphExec exec, CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p,
                           const WovenKernel *code, void *record) {
  if (p->kernelParams) {
    void **list = mem_alloc((code->user_params + 1) * sizeof *list);
    memcpy(list, p->kernelParams, code->user_params * sizeof *list);
    list[code->user_params] = record;
    p->kernelParams = list;
    CUresult result = gpu_real.cuGraphExecKernelNodeSetParams_v2(exec, node, p);
    free(list);
    return result;
  }
  const void *buffer;
  size_t size;
  if (!gpu_launch_extra(p->extra, &buffer, &size)) return CUDA_ERROR_INVALID_VALUE;
  uint8_t *copy = mem_alloc(size);
  memcpy(copy, buffer, size);
  memcpy(copy + code->record_offset, record, code->record_bytes);
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, copy, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  p->extra = extra;
  CUresult result = gpu_real.cuGraphExecKernelNodeSetParams_v2(exec, node, p);
  free(copy);
  return result;
}

// Reports a copy or set of this run. Tools look at the host's memory now.
static void tell_copy(const GpuGraphNode *n, CUstream stream) {
  SessionCopy c;
  if (!gpu_graph_copy(n, stream, &c)) return;
  c.step = session_copy_number(&c);
  session_copy_taken(&c);
  session_copy_contents(&c);
}

// Most launches of one graph that have numbers at the same time; there must be room for others.
enum { MOST_NUMBERS = 200 };

GpuGraphLooks *gpu_graph_refresh(const GpuGraphRun *run) {
  const GpuGraphNode *nodes = run->nodes;
  const SessionBranches *branches = run->branches;
  CUstream stream = run->stream;
  uint32_t n = run->n;
  SessionNumberList list = {0};
  uint32_t places = 0;
  for (uint32_t i = 0; i < n; i++) places = MAX(places, nodes[i].place + 1);
  SessionNumbers *numbers = mem_alloc(session_branches_size(branches, places) * sizeof *numbers);
  session_graph_begin(branches, session_branches_size(branches, places), stream);
  GpuQuiet q = gpu_quiet_begin();
  for (uint32_t i = 0; i < n; i++) {
    CUDA_KERNEL_NODE_PARAMS p = {0};
    SessionParams given;
    session_graph_node(nodes[i].place);
    if (!nodes[i].of) {
      if (!nodes[i].own && session_wants(SESSION_WANTS_GRAPH_NODES)) tell_copy(&nodes[i], stream);
      continue;
    }
    const WovenKernel *code = nodes[i].of->code;
    if (nodes[i].own || gpu_real.cuGraphKernelNodeGetParams_v2(nodes[i].node, &p) != CUDA_SUCCESS)
      continue;
    const void *old = record_of(&p, code, &given);
    if (!old) continue;
    SessionBeside beside;
    session_branches_beside(branches, nodes[i].place, NULL, numbers, &beside);
    void *record = mem_alloc(code->record_bytes);
    memcpy(record, old, code->record_bytes);
    const SessionLaunch shape = {.kernel = nodes[i].of->kernel,
                                 .grid = {p.gridDimX, p.gridDimY, p.gridDimZ},
                                 .block = {p.blockDimX, p.blockDimY, p.blockDimZ},
                                 .cluster = {1, 1, 1},
                                 .shared = p.sharedMemBytes,
                                 .stream = stream,
                                 .beside = &beside};
    uint32_t number = session_device_refresh(run->device, nodes[i].of->kernel, &given,
                                             list.len < MOST_NUMBERS ? &shape : NULL, record);
    if (set_record(run->exec, nodes[i].node, &p, code, record) != CUDA_SUCCESS)
      log_verbose("a kernel of a graph keeps the limits it was captured with");
    if (number) {
      numbers[nodes[i].place] = (SessionNumbers){&list, list.len, list.len + 1};
      vec_push(&list, number);
    }
    free(record);
  }
  gpu_quiet_end(q);
  session_graph_end();
  GpuGraphLooks *looks = branches && session_wants(SESSION_WANTS_GRAPH_ORDER)
                             ? gpu_graph_looks(run, numbers)
                             : NULL;
  free(numbers);
  vec_free(&list);
  return looks;
}
