// Changes of executable graphs other than those of kernels, copies and sets. The driver has made
// the change; a graph that we execute node by node must follow it, or be launched as it is.
#include "gpu/gpu.h"

static bool enable(GpuGraphSteps *steps, CUgraphNode node, const void *params) {
  return gpu_graph_steps_enable(steps, node, *(const unsigned *)params != 0);
}

static bool set_child(GpuGraphSteps *steps, CUgraphNode node, const void *params) {
  return gpu_graph_steps_set_child(steps, node, *(const CUgraph *)params);
}

#define CHANGES(name, params, args, change, value) \
  CUresult gpu_##name params { \
    CUresult result = gpu_real.name args; \
    if (result == CUDA_SUCCESS) gpu_graph_exec_changed(exec, node, change, value); \
    return gpu_checked(result); \
  }

CHANGES(cuGraphNodeSetEnabled, (CUgraphExec exec, CUgraphNode node, unsigned on), (exec, node, on),
        enable, &on)
CHANGES(cuGraphExecHostNodeSetParams,
        (CUgraphExec exec, CUgraphNode node, const CUDA_HOST_NODE_PARAMS *p), (exec, node, p), NULL,
        NULL)
CHANGES(cuGraphExecEventRecordNodeSetEvent, (CUgraphExec exec, CUgraphNode node, CUevent e),
        (exec, node, e), NULL, NULL)
CHANGES(cuGraphExecEventWaitNodeSetEvent, (CUgraphExec exec, CUgraphNode node, CUevent e),
        (exec, node, e), NULL, NULL)
CHANGES(cuGraphExecChildGraphNodeSetParams, (CUgraphExec exec, CUgraphNode node, CUgraph child),
        (exec, node, child), set_child, &child)
