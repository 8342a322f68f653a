// Graphs by capture: one stream, forked and joined streams, what is refused, updates and repeated
// launches.
// prints: all checks passed
#include "driver_test.h"

static CUfunction add, fill;
static int calls;
static void count(void *n) { calls += *(int *)n; }

static void simple(void) {
  CUstream s;
  CUgraph g;
  CUgraphExec x;
  size_t n;
  CUdeviceptr p = new_ints(64);
  int one = 1;
  CUstreamCaptureStatus status;
  OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  OK(cuStreamIsCapturing(s, &status));
  EXPECT(status == CU_STREAM_CAPTURE_STATUS_NONE);
  OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  OK(cuStreamIsCapturing(s, &status));
  EXPECT(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
  OK(LAUNCH(add, 1, 64, s, &p, &(unsigned){64}, &(unsigned){2}));
  OK(cuMemcpyDtoDAsync_v2(p, p + 4, 4, s));
  OK(cuMemsetD32Async(p + 8, 9, 1, s));
  OK(cuLaunchHostFunc(s, count, &one));
  OK(cuStreamEndCapture(s, &g));
  EXPECT(read_int(p) == 0 && calls == 0);               // nothing has run
  OK(cuGraphGetNodes(g, NULL, &n));
  EXPECT(n == 4);
  CUgraphNode nodes[4];
  CUgraphNodeType type;
  OK(cuGraphGetNodes(g, nodes, &n));
  OK(cuGraphNodeGetType(nodes[0], &type));
  EXPECT(type == CU_GRAPH_NODE_TYPE_KERNEL);
  OK(cuGraphNodeGetType(nodes[3], &type));
  EXPECT(type == CU_GRAPH_NODE_TYPE_HOST);
  OK(cuGraphGetEdges(g, NULL, NULL, &n));
  EXPECT(n == 3);
  OK(cuGraphGetRootNodes(g, NULL, &n));
  EXPECT(n == 1);
  OK(cuGraphInstantiateWithFlags(&x, g, 0));
  OK(cuGraphDestroy(g));                                // the executable graph stands alone
  for (int i = 0; i < 3; i++) OK(cuGraphLaunch(x, s));
  OK(cuStreamSynchronize(s));
  EXPECT(read_int(p) == 6 && read_int(p + 4) == 6 && read_int(p + 8) == 9 &&
         read_int(p + 12) == 6 && calls == 3);
  OK(cuGraphExecDestroy(x));
  RETURNS(cuGraphLaunch(x, s), CUDA_ERROR_INVALID_VALUE);
  OK(cuStreamDestroy_v2(s));
  OK(cuMemFree_v2(p));
}

// a forks to b and c through an event, and waits for both.
static void fork_and_join(void) {
  CUstream a, b, c;
  CUevent start_, eb, ec;
  CUgraph g;
  CUgraphExec x;
  CUdeviceptr p = new_ints(4);
  CUdeviceptr p1 = p + 4, p2 = p + 8;
  size_t n;
  OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&c, CU_STREAM_DEFAULT));
  OK(cuEventCreate(&start_, CU_EVENT_DISABLE_TIMING));
  OK(cuEventCreate(&eb, CU_EVENT_DISABLE_TIMING));
  OK(cuEventCreate(&ec, CU_EVENT_DISABLE_TIMING));
  OK(cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(LAUNCH(add, 1, 1, a, &p, &(unsigned){1}, &(unsigned){1}));
  OK(cuEventRecord(start_, a));
  OK(cuStreamWaitEvent(b, start_, 0));
  OK(cuStreamWaitEvent(c, start_, 0));
  OK(LAUNCH(add, 1, 1, b, &p1, &(unsigned){1}, &(unsigned){2}));
  OK(LAUNCH(add, 1, 1, c, &p2, &(unsigned){1}, &(unsigned){3}));
  OK(cuEventRecord(eb, b));
  OK(cuEventRecord(ec, c));
  RETURNS(cuEventQuery(eb), CUDA_ERROR_CAPTURED_EVENT);
  // That was a mistake: the capture is lost.
  RETURNS(cuStreamEndCapture(a, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

  // The same again without it.
  OK(cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(LAUNCH(add, 1, 1, a, &p, &(unsigned){1}, &(unsigned){1}));
  OK(cuEventRecord(start_, a));
  OK(cuStreamWaitEvent(b, start_, 0));
  OK(cuStreamWaitEvent(c, start_, 0));
  OK(LAUNCH(add, 1, 1, b, &p1, &(unsigned){1}, &(unsigned){2}));
  OK(LAUNCH(add, 1, 1, c, &p2, &(unsigned){1}, &(unsigned){3}));
  OK(cuEventRecord(eb, b));
  OK(cuEventRecord(ec, c));
  OK(cuStreamWaitEvent(a, eb, 0));
  OK(cuStreamWaitEvent(a, ec, 0));
  CUstreamCaptureStatus status;
  size_t ndeps;
  const CUgraphNode *deps;
  OK(cuStreamGetCaptureInfo_v2(a, &status, NULL, NULL, &deps, &ndeps));
  EXPECT(ndeps == 3 || ndeps == 2);
  OK(cuStreamDestroy_v2(c));                            // joined again: no longer needed
  OK(cuEventDestroy_v2(ec));
  OK(cuMemcpyDtoDAsync_v2(p + 12, p1, 4, a));
  OK(cuStreamEndCapture(a, &g));
  OK(cuGraphGetNodes(g, NULL, &n));
  EXPECT(n == 4);
  OK(cuGraphInstantiateWithFlags(&x, g, 0));
  OK(cuGraphLaunch(x, b));
  OK(cuGraphLaunch(x, NULL));
  OK(cuCtxSynchronize());
  EXPECT(read_int(p) == 2 && read_int(p1) == 4 && read_int(p2) == 6 && read_int(p + 12) == 4);
  OK(cuStreamIsCapturing(b, &status));
  EXPECT(status == CU_STREAM_CAPTURE_STATUS_NONE);

  // A stream that was not joined again.
  OK(cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(cuEventRecord(start_, a));
  OK(cuStreamWaitEvent(b, start_, 0));
  OK(LAUNCH(add, 1, 1, b, &p1, &(unsigned){1}, &(unsigned){2}));
  CUgraph lost;
  RETURNS(cuStreamEndCapture(a, &lost), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  OK(cuGraphExecDestroy(x));
  OK(cuGraphDestroy(g));
  OK(cuMemFree_v2(p));
}

static void refused(void) {
  CUstream s, blocking;
  CUgraph g;
  CUdeviceptr p = new_ints(1), q;
  OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
  RETURNS(cuStreamBeginCapture_v2(NULL, CU_STREAM_CAPTURE_MODE_RELAXED),
          CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  RETURNS(cuStreamEndCapture(s, &g), CUDA_ERROR_ILLEGAL_STATE);
  OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  RETURNS(cuStreamSynchronize(s), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  RETURNS(LAUNCH(add, 1, 1, s, &p, &(unsigned){1}, &(unsigned){1}),
          CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  RETURNS(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  // Allocation during a global capture, and how to allow it.
  OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  OK(cuThreadExchangeStreamCaptureMode(&mode));
  OK(cuMemAlloc_v2(&q, 64));
  OK(cuThreadExchangeStreamCaptureMode(&mode));
  RETURNS(cuMemAlloc_v2(&q, 64), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  RETURNS(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  // The legacy stream while a blocking stream is captured.
  OK(cuStreamBeginCapture_v2(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
  RETURNS(LAUNCH(add, 1, 1, NULL, &p, &(unsigned){1}, &(unsigned){1}),
          CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  RETURNS(cuStreamEndCapture(blocking, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  OK(LAUNCH(add, 1, 1, NULL, &p, &(unsigned){1}, &(unsigned){1}));
  EXPECT(read_int(p) == 1);
}

// Stream-ordered allocation becomes nodes; the update replaces parameters of an executable graph by
// a second capture.
static void memory_and_update(void) {
  CUstream s;
  CUgraph g[2];
  CUgraphExec x;
  CUdeviceptr out = new_ints(4), tmp;
  CUgraphExecUpdateResultInfo info;
  OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  for (unsigned i = 0; i < 2; i++) {
    OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(cuMemAllocAsync(&tmp, 256, s));
    OK(LAUNCH(fill, 1, 4, s, &tmp, &(unsigned){10 + i}));
    OK(cuMemcpyDtoDAsync_v2(out, tmp, 16, s));
    OK(cuMemFreeAsync(tmp, s));
    OK(cuStreamEndCapture(s, &g[i]));
  }
  OK(cuGraphInstantiateWithFlags(&x, g[0], 0));
  OK(cuGraphLaunch(x, s));
  OK(cuStreamSynchronize(s));
  EXPECT(read_int(out + 12) == 10);
  OK(cuGraphExecUpdate_v2(x, g[1], &info));
  EXPECT(info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
  OK(cuGraphLaunch(x, s));
  OK(cuStreamSynchronize(s));
  EXPECT(read_int(out + 12) == 11);
  OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  OK(LAUNCH(fill, 1, 4, s, &out, &(unsigned){1}));
  CUgraph other;
  OK(cuStreamEndCapture(s, &other));
  RETURNS(cuGraphExecUpdate_v2(x, other, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  // A graph launched into a capture becomes a child.
  CUgraphExec y;
  OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  OK(cuGraphLaunch(x, s));
  OK(LAUNCH(add, 1, 4, s, &out, &(unsigned){4}, &(unsigned){5}));
  CUgraph outer;
  OK(cuStreamEndCapture(s, &outer));
  OK(cuGraphInstantiateWithFlags(&y, outer, 0));
  OK(cuGraphLaunch(y, s));
  OK(cuStreamSynchronize(s));
  EXPECT(read_int(out + 12) == 15);
}

int main(void) {
  start();
  CUmodule m = load(common_ptx);
  add = get(m, "add");
  fill = get(m, "fill");
  simple();
  fork_and_join();
  refused();
  memory_and_update();
  return finish();
}
