// The _ptsz names: what `nvcc --default-stream per-thread` calls. Stream 0 then means the calling
// thread's own stream. (The _ptds names, synchronous calls in that stream, stand beside their
// legacy forms.)
#include "runtime/internal.h"

#define S(stream) STREAM_PTSZ(stream)
#define PTSZ(name, params, args) \
  cudaError_t name params; \
  cudaError_t name##_ptsz params { return name args; }
#define PTSZ_ABI(name, abi, params, args) \
  cudaError_t name##_##abi params; \
  cudaError_t name##_ptsz_##abi params { return name##_##abi args; }

PTSZ(cudaEventRecord, (cudaEvent_t e, cudaStream_t s), (e, S(s)))
PTSZ(cudaEventRecordWithFlags, (cudaEvent_t e, cudaStream_t s, unsigned flags), (e, S(s), flags))
PTSZ(cudaMallocAsync, (void **out, size_t size, cudaStream_t s), (out, size, S(s)))
PTSZ(cudaMallocFromPoolAsync, (void **out, size_t size, cudaMemPool_t pool, cudaStream_t s),
     (out, size, pool, S(s)))
PTSZ(cudaFreeAsync, (void *p, cudaStream_t s), (p, S(s)))
PTSZ(cudaGraphLaunch, (cudaGraphExec_t exec, cudaStream_t s), (exec, S(s)))
PTSZ(cudaGraphUpload, (cudaGraphExec_t exec, cudaStream_t s), (exec, S(s)))

PTSZ(cudaMemcpyAsync, (void *dst, const void *src, size_t n, int kind, cudaStream_t s),
     (dst, src, n, kind, S(s)))
PTSZ(cudaMemcpyToSymbolAsync,
     (const void *symbol, const void *src, size_t n, size_t offset, int kind, cudaStream_t s),
     (symbol, src, n, offset, kind, S(s)))
PTSZ(cudaMemcpyFromSymbolAsync,
     (void *dst, const void *symbol, size_t n, size_t offset, int kind, cudaStream_t s),
     (dst, symbol, n, offset, kind, S(s)))
PTSZ(cudaMemcpy2DAsync,
     (void *dst, size_t dpitch, const void *src, size_t spitch, size_t w, size_t h, int kind,
      cudaStream_t s),
     (dst, dpitch, src, spitch, w, h, kind, S(s)))
PTSZ(cudaMemcpy2DToArrayAsync,
     (cudaArray_t dst, size_t x, size_t y, const void *src, size_t pitch, size_t w, size_t h,
      int kind, cudaStream_t s),
     (dst, x, y, src, pitch, w, h, kind, S(s)))
PTSZ(cudaMemcpy2DFromArrayAsync,
     (void *dst, size_t pitch, cudaArray_t src, size_t x, size_t y, size_t w, size_t h, int kind,
      cudaStream_t s),
     (dst, pitch, src, x, y, w, h, kind, S(s)))
PTSZ(cudaMemcpyToArrayAsync,
     (cudaArray_t dst, size_t x, size_t y, const void *src, size_t n, int kind, cudaStream_t s),
     (dst, x, y, src, n, kind, S(s)))
PTSZ(cudaMemcpyFromArrayAsync,
     (void *dst, cudaArray_t src, size_t x, size_t y, size_t n, int kind, cudaStream_t s),
     (dst, src, x, y, n, kind, S(s)))
PTSZ(cudaMemcpy3DAsync, (const cudaMemcpy3DParms *p, cudaStream_t s), (p, S(s)))
PTSZ(cudaMemcpy3DPeerAsync, (const cudaMemcpy3DPeerParms *p, cudaStream_t s), (p, S(s)))
PTSZ(cudaMemsetAsync, (void *p, int value, size_t n, cudaStream_t s), (p, value, n, S(s)))
PTSZ(cudaMemset2DAsync, (void *p, size_t pitch, int value, size_t w, size_t h, cudaStream_t s),
     (p, pitch, value, w, h, S(s)))
PTSZ(cudaMemset3DAsync, (cudaPitchedPtr p, int value, cudaExtent extent, cudaStream_t s),
     (p, value, extent, S(s)))
PTSZ(cudaMemPrefetchBatchAsync,
     (void **p, size_t *sizes, size_t count, cudaMemLocation *where, size_t *index, size_t n,
      unsigned long long flags, cudaStream_t s),
     (p, sizes, count, where, index, n, flags, S(s)))
PTSZ(cudaMemDiscardAndPrefetchBatchAsync,
     (void **p, size_t *sizes, size_t count, cudaMemLocation *where, size_t *index, size_t n,
      unsigned long long flags, cudaStream_t s),
     (p, sizes, count, where, index, n, flags, S(s)))
PTSZ(cudaMemDiscardBatchAsync,
     (void **p, size_t *sizes, size_t count, unsigned long long flags, cudaStream_t s),
     (p, sizes, count, flags, S(s)))

PTSZ(cudaStreamAttachMemAsync, (cudaStream_t s, void *p, size_t n, unsigned flags),
     (S(s), p, n, flags))
PTSZ(cudaStreamAddCallback, (cudaStream_t s, cudaStreamCallback_t fn, void *user, unsigned flags),
     (S(s), fn, user, flags))
PTSZ(cudaStreamBeginCapture, (cudaStream_t s, int mode), (S(s), mode))
PTSZ(cudaStreamBeginCaptureToGraph,
     (cudaStream_t s, cudaGraph_t graph, const cudaGraphNode_t *deps,
      const cudaGraphEdgeData *edges, size_t n, int mode),
     (S(s), graph, deps, edges, n, mode))
PTSZ(cudaStreamEndCapture, (cudaStream_t s, cudaGraph_t *graph), (S(s), graph))
PTSZ(cudaStreamIsCapturing, (cudaStream_t s, int *status), (S(s), status))
PTSZ(cudaStreamCopyAttributes, (cudaStream_t dst, cudaStream_t src), (S(dst), S(src)))
PTSZ(cudaStreamGetAttribute, (cudaStream_t s, int id, cudaLaunchAttributeValue *value),
     (S(s), id, value))
PTSZ(cudaStreamSetAttribute, (cudaStream_t s, int id, const cudaLaunchAttributeValue *value),
     (S(s), id, value))
PTSZ(cudaStreamGetDevice, (cudaStream_t s, int *device), (S(s), device))
PTSZ(cudaStreamGetFlags, (cudaStream_t s, unsigned *flags), (S(s), flags))
PTSZ(cudaStreamGetId, (cudaStream_t s, unsigned long long *id), (S(s), id))
PTSZ(cudaStreamGetPriority, (cudaStream_t s, int *priority), (S(s), priority))
PTSZ(cudaStreamQuery, (cudaStream_t s), (S(s)))
PTSZ(cudaStreamSynchronize, (cudaStream_t s), (S(s)))
PTSZ(cudaStreamWaitEvent, (cudaStream_t s, cudaEvent_t e, unsigned flags), (S(s), e, flags))

PTSZ_ABI(cudaStreamGetCaptureInfo, abi12, (cudaStream_t s, int *status, unsigned long long *id),
         (S(s), status, id))
PTSZ_ABI(cudaStreamGetCaptureInfo, abi13,
         (cudaStream_t s, int *status, unsigned long long *id, cudaGraph_t *graph,
          const cudaGraphNode_t **deps, const cudaGraphEdgeData **edges, size_t *n),
         (S(s), status, id, graph, deps, edges, n))
PTSZ(cudaStreamGetCaptureInfo_v2,
     (cudaStream_t s, int *status, unsigned long long *id, cudaGraph_t *graph,
      const cudaGraphNode_t **deps, size_t *n),
     (S(s), status, id, graph, deps, n))
PTSZ(cudaStreamGetCaptureInfo_v3,
     (cudaStream_t s, int *status, unsigned long long *id, cudaGraph_t *graph,
      const cudaGraphNode_t **deps, const cudaGraphEdgeData **edges, size_t *n),
     (S(s), status, id, graph, deps, edges, n))
PTSZ_ABI(cudaStreamUpdateCaptureDependencies, abi12,
         (cudaStream_t s, cudaGraphNode_t *deps, size_t n, unsigned flags), (S(s), deps, n, flags))
PTSZ_ABI(cudaStreamUpdateCaptureDependencies, abi13,
         (cudaStream_t s, cudaGraphNode_t *deps, const cudaGraphEdgeData *edges, size_t n,
          unsigned flags),
         (S(s), deps, edges, n, flags))
PTSZ(cudaStreamUpdateCaptureDependencies_v2,
     (cudaStream_t s, cudaGraphNode_t *deps, const cudaGraphEdgeData *edges, size_t n,
      unsigned flags),
     (S(s), deps, edges, n, flags))
