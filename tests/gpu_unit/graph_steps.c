// Graphs with kernels of machine code: their nodes are executed one by one, in an order that the
// graph allows, with the parameters they had when it was instantiated.
#include "base/runstats.h"
#include "channel/channel.h"
#include "fake_driver.h"
#include "gpu/modules/modules.h"
#include "tools/tool.h"
#include "unit.h"

extern const Tool tool_memcheck;
const Tool *const tool_table[TOOL_COUNT_] = {[TOOL_MEMCHECK] = &tool_memcheck};

// --- a graph ---

enum { MOST = 8 };
typedef struct Graph Graph;
typedef struct Node {
  CUgraphNodeType type;
  CUDA_KERNEL_NODE_PARAMS kernel;
  CUDA_MEMCPY3D copy;
  CUDA_MEMSET_NODE_PARAMS set;
  Graph *child;
  CUevent event;
  struct Node *after[MOST];
  size_t nafter;
} Node;
struct Graph {
  Node *nodes[MOST];
  size_t n;
};

static CUresult get_nodes(CUgraph graph, CUgraphNode *out, size_t *n) {
  Graph *g = (Graph *)graph;
  for (size_t i = 0; out && i < g->n; i++) out[i] = (CUgraphNode)g->nodes[i];
  *n = g->n;
  return CUDA_SUCCESS;
}
static CUresult get_type(CUgraphNode node, CUgraphNodeType *out) {
  *out = ((Node *)node)->type;
  return CUDA_SUCCESS;
}
static CUresult get_dependencies(CUgraphNode node, CUgraphNode *out, size_t *n) {
  Node *of = (Node *)node;
  for (size_t i = 0; out && i < of->nafter; i++) out[i] = (CUgraphNode)of->after[i];
  *n = of->nafter;
  return CUDA_SUCCESS;
}
static CUresult get_kernel(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *out) {
  *out = ((Node *)node)->kernel;
  return CUDA_SUCCESS;
}
static CUresult get_copy(CUgraphNode node, CUDA_MEMCPY3D *out) {
  *out = ((Node *)node)->copy;
  return CUDA_SUCCESS;
}
static CUresult get_set(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *out) {
  *out = ((Node *)node)->set;
  return CUDA_SUCCESS;
}
static CUresult get_child(CUgraphNode node, CUgraph *out) {
  *out = (CUgraph)((Node *)node)->child;
  return CUDA_SUCCESS;
}
static CUresult get_host(CUgraphNode node, CUDA_HOST_NODE_PARAMS *out) {
  *out = (CUDA_HOST_NODE_PARAMS){0};
  return CUDA_SUCCESS;
}
static CUresult get_event(CUgraphNode node, CUevent *out) {
  *out = ((Node *)node)->event;
  return CUDA_SUCCESS;
}
static CUresult get_kernel_param(CUkernel k, size_t i, size_t *offset, size_t *size) {
  *offset = 0;
  *size = 4;
  return i ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
static CUresult get_param(CUfunction f, size_t i, size_t *offset, size_t *size) {
  *offset = 0;
  *size = 4;
  return i ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

// --- what the driver is asked for: a letter for each ---

static char asked[32];
static void note(char c) { asked[strlen(asked)] = c; }
static CUfunction launched;
static CUresult launch(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                       unsigned by, unsigned bz, unsigned shared, CUstream s, void **params,
                       void **extra) {
  launched = f;
  note((char)*(int *)params[0]);
  return gx == 2 && bx == 32 && shared == 16 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
static CUresult copy(const CUDA_MEMCPY3D *p, CUstream s) {
  note('c');
  return CUDA_SUCCESS;
}
static CUresult set(CUdeviceptr d, size_t pitch, unsigned short v, size_t w, size_t h, CUstream s) {
  note('s');
  return CUDA_SUCCESS;
}

static CUresult set_row(CUdeviceptr d, unsigned char v, size_t n, CUstream s) {
  note('r');
  return CUDA_SUCCESS;
}
static CUresult call_host(CUstream s, CUhostFn f, void *user) {
  note('h');
  return CUDA_SUCCESS;
}
static CUresult record(CUevent e, CUstream s) {
  note('e');
  return CUDA_SUCCESS;
}
static CUresult wait_for(CUstream s, CUevent e, unsigned flags) {
  note('w');
  return CUDA_SUCCESS;
}

// --- tests ---

static GpuModule module;
static GpuFunction *closed;
static int handle, kernel_handle, kernel_function;
static Error why;

static CUresult function_of_kernel(CUfunction *out, CUkernel k) {
  *out = (CUfunction)&kernel_function;
  return CUDA_SUCCESS;
}

static Node kernel(int *name) {
  static void *params[MOST];
  static unsigned n;
  params[n % MOST] = name;
  return (Node){.type = CU_GRAPH_NODE_TYPE_KERNEL,
                .kernel = {.func = (CUfunction)&handle,
                           .gridDimX = 2,
                           .gridDimY = 1,
                           .gridDimZ = 1,
                           .blockDimX = 32,
                           .blockDimY = 1,
                           .blockDimZ = 1,
                           .sharedMemBytes = 16,
                           .kernelParams = &params[n++ % MOST]}};
}
static void after(Node *node, Node *before) { node->after[node->nafter++] = before; }

static const char *run(Graph *g) {
  memset(asked, 0, sizeof asked);
  GpuGraphSteps *steps = gpu_graph_steps((CUgraph)g, &why);
  CUstream stream = fake_stream(fake_current());
  if (!steps) return "none";
  EXPECT(gpu_graph_steps_fit(steps, stream));
  EXPECT(gpu_graph_steps_run(steps, stream) == CUDA_SUCCESS);
  gpu_graph_steps_free(steps);
  return asked;
}

static void test_order(void) {
  int a = 'A', b = 'B', d = 'D';
  Node first = kernel(&a), second = kernel(&b), last = kernel(&d);
  Node copies = {.type = CU_GRAPH_NODE_TYPE_MEMCPY},
       sets = {.type = CU_GRAPH_NODE_TYPE_MEMSET, .set = {.elementSize = 2, .height = 2}};
  after(&second, &first);
  after(&copies, &second);
  after(&sets, &copies);
  after(&last, &sets);
  // the driver may list them in any order
  Graph g = {{&last, &sets, &copies, &second, &first}, 5};
  EXPECT(!strcmp(run(&g), "ABcsD"));
}

static void test_branches(void) {
  int a = 'A', b = 'B', c = 'C', d = 'D';
  Node first = kernel(&a), left = kernel(&b), right = kernel(&c), last = kernel(&d);
  after(&left, &first);
  after(&right, &first);
  after(&last, &left);
  after(&last, &right);
  Graph g = {{&last, &right, &left, &first}, 4};
  EXPECT(!strcmp(run(&g), "ACBD") || !strcmp(asked, "ABCD"));
}

static void test_child(void) {
  int a = 'A', b = 'B', c = 'C';
  Node first = kernel(&a), inside = kernel(&b), last = kernel(&c);
  Graph inner = {{&inside}, 1};
  Node child = {.type = CU_GRAPH_NODE_TYPE_GRAPH, .child = &inner};
  after(&child, &first);
  after(&last, &child);
  Graph g = {{&first, &child, &last}, 3};
  EXPECT(!strcmp(run(&g), "ABC"));
}

static void test_parameters_are_kept(void) {
  int a = 'A';
  Node only = kernel(&a);
  Graph g = {{&only}, 1};
  GpuGraphSteps *steps = gpu_graph_steps((CUgraph)&g, &why);
  a = 'Z';
  memset(asked, 0, sizeof asked);
  gpu_graph_steps_run(steps, fake_stream(fake_current()));
  EXPECT(!strcmp(asked, "A"));
  gpu_graph_steps_free(steps);
}

// Kernels of libraries have two names. PyTorch launches by one, and the driver tells the other.
static void test_other_name(void) {
  int a = 'A';
  Node only = kernel(&a);
  GpuFunction *of = gpu_function_register(&module, (CUfunction)&kernel_handle, true, "k");
  gpu_function_target(of);
  of->machine_code = true;
  only.kernel.func = (CUfunction)&kernel_function;
  Graph g = {{&only}, 1};
  EXPECT(!strcmp(run(&g), "A"));
  EXPECT(launched == (CUfunction)&kernel_handle);
}

static void test_other_steps(void) {
  int a = 'A';
  Node only = kernel(&a), host = {.type = CU_GRAPH_NODE_TYPE_HOST};
  Node records = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .event = (CUevent)&a},
       waits = {.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT, .event = (CUevent)&a},
       row = {.type = CU_GRAPH_NODE_TYPE_MEMSET,
              .set = {.elementSize = 1, .height = 1, .width = 4}};
  after(&host, &only);
  after(&records, &host);
  after(&waits, &records);
  after(&row, &waits);
  Graph g = {{&only, &host, &records, &waits, &row}, 5};
  EXPECT(!strcmp(run(&g), "Ahewr"));
}

// The reason is known wherever in the graph the node is.
static void test_other_nodes(void) {
  int a = 'A';
  Node only = kernel(&a), alloc = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
  Graph g = {{&only, &alloc}, 2}, first = {{&alloc, &only}, 2}, no_kernel = {{&alloc}, 1};
  EXPECT(!strcmp(run(&g), "none"));
  EXPECT(!strcmp(why.text, "the graph allocates memory itself"));
  EXPECT(!strcmp(run(&first), "none"));
  EXPECT(!strcmp(why.text, "the graph allocates memory itself"));
  EXPECT(!strcmp(run(&no_kernel), "none"));
  EXPECT(!why.text[0]);
}

// What the program changes in the executable graph.
static void test_changes(void) {
  int a = 'A', b = 'B', z = 'Z';
  Node first = kernel(&a), second = kernel(&b), changed = kernel(&z);
  after(&second, &first);
  Graph g = {{&first, &second}, 2};
  CUstream stream = fake_stream(fake_current());
  GpuGraphSteps *steps = gpu_graph_steps((CUgraph)&g, &why);
  EXPECT(gpu_graph_steps_set_kernel(steps, (CUgraphNode)&second, &changed.kernel));
  z = 'Y';
  memset(asked, 0, sizeof asked);
  EXPECT(gpu_graph_steps_run(steps, stream) == CUDA_SUCCESS);
  EXPECT(!strcmp(asked, "AZ"));
  EXPECT(gpu_graph_steps_enable(steps, (CUgraphNode)&first, false));
  memset(asked, 0, sizeof asked);
  EXPECT(gpu_graph_steps_run(steps, stream) == CUDA_SUCCESS);
  EXPECT(!strcmp(asked, "Z"));
  EXPECT(!gpu_graph_steps_set_kernel(steps, (CUgraphNode)&changed, &changed.kernel));
  EXPECT(!gpu_graph_steps_set_copy(steps, (CUgraphNode)&first, &first.copy));
  gpu_graph_steps_free(steps);
}

// XLA captures calls of libraries anew, and puts them in the place of a graph inside of its own.
static void test_another_child(void) {
  int a = 'A', b = 'B', c = 'C', x = 'X', y = 'Y';
  Node first = kernel(&a), inside = kernel(&b), last = kernel(&c), one = kernel(&x),
       two = kernel(&y), alloc = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
  Graph inner = {{&inside}, 1}, other = {{&one, &two}, 2}, bad = {{&alloc}, 1};
  Node child = {.type = CU_GRAPH_NODE_TYPE_GRAPH, .child = &inner};
  after(&child, &first);
  after(&last, &child);
  after(&two, &one);
  Graph g = {{&first, &child, &last}, 3};
  GpuGraphSteps *steps = gpu_graph_steps((CUgraph)&g, &why);
  EXPECT(gpu_graph_steps_set_child(steps, (CUgraphNode)&child, (CUgraph)&other));
  memset(asked, 0, sizeof asked);
  EXPECT(gpu_graph_steps_run(steps, fake_stream(fake_current())) == CUDA_SUCCESS);
  EXPECT(!strcmp(asked, "AXYC"));
  EXPECT(!gpu_graph_steps_set_child(steps, (CUgraphNode)&child, (CUgraph)&bad));
  EXPECT(!gpu_graph_steps_set_child(steps, (CUgraphNode)&first, (CUgraph)&other));
  gpu_graph_steps_free(steps);
}

static void test_nothing_closed(void) {
  int a = 'A';
  Node only = kernel(&a);
  Graph g = {{&only}, 1};
  closed->machine_code = false;
  EXPECT(!strcmp(run(&g), "none"));
  closed->machine_code = true;
}

// Captured: counted once. Each run counts its own launches, so that the first one takes that back.
static void test_counts(void) {
  int a = 'A', z = 'Z';
  Node only = kernel(&a), changed = kernel(&z);
  Graph g = {{&only}, 1};
  CUstream stream = fake_stream(fake_current());
  _Atomic uint64_t *launches = &channel_kernel_counts(closed->kernel->id)->launches;
  uint64_t before = *launches, all = runstats()->launches;
  session_launch(&(SessionLaunch){.kernel = closed->kernel, .captured = true});
  GpuGraphSteps *steps = gpu_graph_steps((CUgraph)&g, &why);
  for (int i = 0; i < 3; i++) gpu_graph_steps_run(steps, stream);
  EXPECT(*launches == before + 3);
  session_launch(&(SessionLaunch){.kernel = closed->kernel, .captured = true});
  gpu_graph_steps_set_kernel(steps, (CUgraphNode)&only, &changed.kernel);
  gpu_graph_steps_run(steps, stream);
  EXPECT(*launches == before + 4);
  EXPECT(runstats()->launches == all + 4);
  gpu_graph_steps_free(steps);
}

int main(void) {
  setenv("WARPGRIND_TOOL", "memcheck", 1);
  setenv("WARPGRIND_HOST_STACKS", "no", 1);
  session_start("gpu");
  fake_driver_install();
  gpu_real.cuGraphGetNodes = get_nodes;
  gpu_real.cuGraphNodeGetType = get_type;
  gpu_real.cuGraphNodeGetDependencies = get_dependencies;
  gpu_real.cuGraphKernelNodeGetParams_v2 = get_kernel;
  gpu_real.cuGraphMemcpyNodeGetParams = get_copy;
  gpu_real.cuGraphMemsetNodeGetParams = get_set;
  gpu_real.cuGraphChildGraphNodeGetGraph = get_child;
  gpu_real.cuGraphHostNodeGetParams = get_host;
  gpu_real.cuGraphEventRecordNodeGetEvent = get_event;
  gpu_real.cuGraphEventWaitNodeGetEvent = get_event;
  gpu_real.cuKernelGetFunction = function_of_kernel;
  gpu_real.cuKernelGetParamInfo = get_kernel_param;
  gpu_real.cuFuncGetParamInfo = get_param;
  gpu_real.cuLaunchKernel = launch;
  gpu_real.cuMemcpy3DAsync_v2 = copy;
  gpu_real.cuMemsetD2D16Async = set;
  gpu_real.cuMemsetD8Async = set_row;
  gpu_real.cuLaunchHostFunc = call_host;
  gpu_real.cuEventRecord = record;
  gpu_real.cuStreamWaitEvent = wait_for;
  fake_context(0);
  GpuContext *context = gpu_context_current();
  module = (GpuModule){.session = fake_module("m.cu", "k", 0), .context = context->handle};
  closed = gpu_function_register(&module, (CUfunction)&handle, false, "k");
  closed->machine_code = true;
  atomic_store(&closed->target, (CUfunction)&handle);
  SUBJECT(order);
  SUBJECT(branches);
  SUBJECT(child);
  SUBJECT(parameters_are_kept);
  SUBJECT(other_name);
  SUBJECT(other_steps);
  SUBJECT(other_nodes);
  SUBJECT(changes);
  SUBJECT(another_child);
  SUBJECT(nothing_closed);
  SUBJECT(counts);
}
