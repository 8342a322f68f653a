// The buffers that a graph may write, for --hash and --dump-buffers: from its kernels and their
// parameters when it was instantiated, or as the program changed them since. Kernels in bodies of
// conditional nodes are not known.
#include "gpu/gpu.h"

typedef struct Kernel {
  CUgraphNode node;
  GpuFunction *of;
  void *params;
  size_t bytes;
} Kernel;
typedef struct Known {
  VEC(Kernel) kernels;
} Known;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map execs;  // CUgraphExec -> Known

// In one buffer, as the kernel has them.
static void copy_params(Kernel *k, const CUDA_KERNEL_NODE_PARAMS *p) {
  const void *buffer;
  size_t size, offset;
  if (!p->kernelParams) {
    if (!gpu_launch_extra(p->extra, &buffer, &size) || !size) return;
    k->params = mem_alloc(size);
    memcpy(k->params, buffer, size);
    k->bytes = size;
    return;
  }
  for (uint32_t i = 0; gpu_launch_param(k->of, i, &offset, &size); i++)
    k->bytes = MAX(k->bytes, offset + size);
  if (!k->bytes) return;
  k->params = mem_alloc(k->bytes);
  for (uint32_t i = 0; gpu_launch_param(k->of, i, &offset, &size); i++)
    if (p->kernelParams[i]) memcpy((char *)k->params + offset, p->kernelParams[i], size);
}

static GpuFunction *function_of(const CUDA_KERNEL_NODE_PARAMS *p) {
  CUfunction f = p->func ? p->func : (CUfunction)p->kern;
  GpuFunction *of = gpu_function_of_target(f);
  return of ? of : gpu_function(f);
}

static void add_node(void *user, CUgraphNode node, CUgraphNodeType type, bool inside) {
  Known *known = user;
  CUDA_KERNEL_NODE_PARAMS p = {0};
  if (type != CU_GRAPH_NODE_TYPE_KERNEL || !gpu_real.cuGraphKernelNodeGetParams_v2 ||
      gpu_real.cuGraphKernelNodeGetParams_v2(node, &p) != CUDA_SUCCESS)
    return;
  Kernel k = {.node = node, .of = function_of(&p)};
  if (!k.of) return;
  copy_params(&k, &p);
  vec_push(&known->kernels, k);
}

static void forget(Known *known) {
  for (uint32_t i = 0; known && i < known->kernels.len; i++) free(known->kernels.data[i].params);
  if (known) vec_free(&known->kernels);
  free(known);
}

void gpu_graph_outputs_made(CUgraphExec exec, CUgraph g) {
  if (!session_wants_outputs()) return;
  Known *known = mem_alloc(sizeof *known);
  gpu_graph_each_node(g, false, add_node, known);
  pthread_mutex_lock(&lock);
  forget(u64map_remove(&execs, (uintptr_t)exec));
  u64map_put(&execs, (uintptr_t)exec, known);
  pthread_mutex_unlock(&lock);
}

void gpu_graph_outputs_changed(CUgraphExec exec, CUgraphNode node,
                               const CUDA_KERNEL_NODE_PARAMS *given) {
  if (!session_wants_outputs()) return;
  pthread_mutex_lock(&lock);
  Known *known = u64map_get(&execs, (uintptr_t)exec);
  for (uint32_t i = 0; known && i < known->kernels.len; i++) {
    Kernel *k = &known->kernels.data[i];
    GpuFunction *of = function_of(given);
    if (k->node != node || !of) continue;
    free(k->params);
    *k = (Kernel){.node = node, .of = of};
    copy_params(k, given);
  }
  pthread_mutex_unlock(&lock);
}

void gpu_graph_outputs_gone(CUgraphExec exec) {
  if (!session_wants_outputs()) return;
  pthread_mutex_lock(&lock);
  forget(execs.len ? u64map_remove(&execs, (uintptr_t)exec) : NULL);
  pthread_mutex_unlock(&lock);
}

SessionOutputs *gpu_graph_outputs(CUgraphExec exec, CUstream stream) {
  if (!session_wants_outputs() || gpu_is_capturing(stream)) return NULL;
  GpuContext *c = gpu_context_of_stream(stream);
  if (!c) return NULL;
  SessionOutputs *o = session_outputs_begin(0, c->device);
  pthread_mutex_lock(&lock);
  const Known *known = u64map_get(&execs, (uintptr_t)exec);
  for (uint32_t i = 0; known && i < known->kernels.len; i++) {
    const Kernel *k = &known->kernels.data[i];
    session_outputs_add(o, k->of->kernel,
                        &(SessionParams){.buffer = k->params, .buffer_bytes = k->bytes}, NULL,
                        NULL);
  }
  pthread_mutex_unlock(&lock);
  o = session_outputs_close(o, stream);
  if (o) session_outputs_tell(o);
  return o;
}
