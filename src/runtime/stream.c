// Streams, events, capture.
#include "runtime/internal.h"

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority) {
  RT_ENTER();
  return rt_done(cuStreamCreateWithPriority(out, flags, priority));
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags) {
  RT_ENTER();
  return rt_done(cuStreamCreate(out, flags));
}
cudaError_t cudaStreamCreate(cudaStream_t *out) {
  return cudaStreamCreateWithFlags(out, CU_STREAM_DEFAULT);
}
cudaError_t cudaStreamDestroy(cudaStream_t s) {
  RT_ENTER();
  return !s ? rt_return(cudaErrorInvalidResourceHandle) : rt_done(cuStreamDestroy_v2(s));
}
cudaError_t cudaStreamSynchronize(cudaStream_t s) {
  RT_ENTER();
  return rt_done(cuStreamSynchronize(s));
}
cudaError_t cudaStreamQuery(cudaStream_t s) {
  RT_ENTER();
  return rt_done(cuStreamQuery(s));
}
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t event, unsigned flags) {
  RT_ENTER();
  return rt_done(cuStreamWaitEvent(s, event, flags));
}
cudaError_t cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t fn, void *user,
                                  unsigned flags) {
  RT_ENTER();
  // the status is a number in both
  return rt_done(cuStreamAddCallback(s, (CUstreamCallback)(void (*)(void))fn, user, flags));
}
cudaError_t cudaStreamGetPriority(cudaStream_t s, int *priority) {
  RT_ENTER();
  return rt_done(cuStreamGetPriority(s, priority));
}
cudaError_t cudaStreamGetFlags(cudaStream_t s, unsigned *flags) {
  RT_ENTER();
  return rt_done(cuStreamGetFlags(s, flags));
}
cudaError_t cudaStreamGetId(cudaStream_t s, unsigned long long *id) {
  RT_ENTER();
  return rt_done(cuStreamGetId(s, id));
}
cudaError_t cudaStreamGetDevice(cudaStream_t s, int *device) {
  RT_ENTER();
  return rt_done(cuStreamGetDevice(s, device));
}
cudaError_t cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src) {
  RT_ENTER();
  return rt_done(cuStreamCopyAttributes(dst, src));
}
cudaError_t cudaStreamGetAttribute(cudaStream_t s, int id, cudaLaunchAttributeValue *value) {
  RT_ENTER();
  return rt_done(cuStreamGetAttribute(s, (CUstreamAttrID)id, (CUstreamAttrValue *)value));
}
cudaError_t cudaStreamSetAttribute(cudaStream_t s, int id, const cudaLaunchAttributeValue *value) {
  RT_ENTER();
  return rt_done(cuStreamSetAttribute(s, (CUstreamAttrID)id, (const CUstreamAttrValue *)value));
}

// --- capture ---

cudaError_t cudaStreamBeginCapture(cudaStream_t s, int mode) {
  RT_ENTER();
  return rt_done(cuStreamBeginCapture_v2(s, (CUstreamCaptureMode)mode));
}
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t s, cudaGraph_t graph,
                                          const cudaGraphNode_t *deps,
                                          const cudaGraphEdgeData *edges, size_t n, int mode) {
  RT_ENTER();
  return rt_done(cuStreamBeginCaptureToGraph(s, graph, deps, edges, n, (CUstreamCaptureMode)mode));
}
cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *graph) {
  RT_ENTER();
  return rt_done(cuStreamEndCapture(s, graph));
}
cudaError_t cudaStreamIsCapturing(cudaStream_t s, int *status) {
  RT_ENTER();
  return rt_done(cuStreamIsCapturing(s, (CUstreamCaptureStatus *)status));
}
cudaError_t cudaThreadExchangeStreamCaptureMode(int *mode) {
  RT_ENTER();
  return rt_done(cuThreadExchangeStreamCaptureMode((CUstreamCaptureMode *)mode));
}
// Toolkit 12: the plain name keeps the form of toolkit 10, _v2 adds the graph, _v3 the edges.
// Toolkit 13: the plain name is _v3.
cudaError_t cudaStreamGetCaptureInfo_abi12(cudaStream_t s, int *status, unsigned long long *id) {
  RT_ENTER();
  return rt_done(cuStreamGetCaptureInfo(s, (CUstreamCaptureStatus *)status, (uint64_t *)id));
}
cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t s, int *status, unsigned long long *id,
                                        cudaGraph_t *graph, const cudaGraphNode_t **deps,
                                        size_t *n) {
  RT_ENTER();
  return rt_done(cuStreamGetCaptureInfo_v2(s, (CUstreamCaptureStatus *)status, (uint64_t *)id,
                                           graph, deps, n));
}
cudaError_t cudaStreamGetCaptureInfo_v3(cudaStream_t s, int *status, unsigned long long *id,
                                        cudaGraph_t *graph, const cudaGraphNode_t **deps,
                                        const cudaGraphEdgeData **edges, size_t *n) {
  RT_ENTER();
  return rt_done(cuStreamGetCaptureInfo_v3(s, (CUstreamCaptureStatus *)status, (uint64_t *)id,
                                           graph, deps, edges, n));
}
cudaError_t cudaStreamGetCaptureInfo_abi13(cudaStream_t s, int *status, unsigned long long *id,
                                           cudaGraph_t *graph, const cudaGraphNode_t **deps,
                                           const cudaGraphEdgeData **edges, size_t *n) {
  return cudaStreamGetCaptureInfo_v3(s, status, id, graph, deps, edges, n);
}
cudaError_t cudaStreamUpdateCaptureDependencies_abi12(cudaStream_t s, cudaGraphNode_t *deps,
                                                      size_t n, unsigned flags) {
  RT_ENTER();
  return rt_done(cuStreamUpdateCaptureDependencies(s, deps, n, flags));
}
cudaError_t cudaStreamUpdateCaptureDependencies_v2(cudaStream_t s, cudaGraphNode_t *deps,
                                                   const cudaGraphEdgeData *edges, size_t n,
                                                   unsigned flags) {
  RT_ENTER();
  return rt_done(cuStreamUpdateCaptureDependencies_v2(s, deps, edges, n, flags));
}
cudaError_t cudaStreamUpdateCaptureDependencies_abi13(cudaStream_t s, cudaGraphNode_t *deps,
                                                      const cudaGraphEdgeData *edges, size_t n,
                                                      unsigned flags) {
  return cudaStreamUpdateCaptureDependencies_v2(s, deps, edges, n, flags);
}

// --- events ---

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags) {
  RT_ENTER();
  return rt_done(cuEventCreate(out, flags));
}
cudaError_t cudaEventCreate(cudaEvent_t *out) {
  return cudaEventCreateWithFlags(out, CU_EVENT_DEFAULT);
}
cudaError_t cudaEventDestroy(cudaEvent_t e) {
  RT_ENTER();
  return rt_done(cuEventDestroy_v2(e));
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
  RT_ENTER();
  return rt_done(cuEventRecord(e, s));
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t e, cudaStream_t s, unsigned flags) {
  RT_ENTER();
  return rt_done(cuEventRecordWithFlags(e, s, flags));
}
cudaError_t cudaEventQuery(cudaEvent_t e) {
  RT_ENTER();
  return rt_done(cuEventQuery(e));
}
cudaError_t cudaEventSynchronize(cudaEvent_t e) {
  RT_ENTER();
  return rt_done(cuEventSynchronize(e));
}
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end) {
  RT_ENTER();
  return rt_done(cuEventElapsedTime_v2(ms, start, end));
}
cudaError_t cudaEventElapsedTime_v2(float *ms, cudaEvent_t start, cudaEvent_t end) {
  return cudaEventElapsedTime(ms, start, end);
}
