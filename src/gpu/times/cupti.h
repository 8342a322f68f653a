// The part of CUPTI, NVIDIA's documented interface to the times of a device, that Warpgrind uses.
// It is opened while the program runs; these are our own declarations. The fields have been at
// these places since
// CUDA 9, and new ones were added after them.
#ifndef WG_GPU_CUPTI_H
#define WG_GPU_CUPTI_H

#include "cuda/abi.h"

enum {
  CUPTI_COPY = 1,
  CUPTI_SET = 2,
  CUPTI_KERNEL = 10,
};
enum { CUPTI_FLUSH_FORCED = 1 };

typedef struct CuptiRecord {
  uint32_t kind;
} CuptiRecord;
typedef struct CuptiKernel {
  uint32_t kind;
  uint8_t cache, shared_config;
  uint16_t registers;
  uint32_t partitioned[2];
  uint64_t start, end, completed;
  uint32_t device, context, stream;
  int32_t grid[3], block[3], static_shared, dynamic_shared;
  uint32_t local, local_total, correlation;
  int64_t grid_id;
  const char *name;
  void *reserved;
  uint64_t queued, submitted;
  uint8_t launch_type, carveout[3];
  uint32_t shared_executed;
  uint64_t graph_node;  // 0: none
} CuptiKernel;
typedef struct CuptiCopy {  // of a set, too
  uint32_t kind, what;
  uint64_t bytes, start, end;
  uint32_t device, context, stream, correlation;
} CuptiCopy;
typedef void CuptiWant(uint8_t **buffer, size_t *bytes, size_t *most_records);
typedef void CuptiFilled(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
                         size_t valid);
// each returns 0 on success
#define CUPTI_FUNCTIONS \
  FUNCTION(cuptiActivityRegisterTimestampCallback, (uint64_t(*clock)(void))) \
  FUNCTION(cuptiActivityEnableLatencyTimestamps, (uint8_t yes)) \
  FUNCTION(cuptiActivityRegisterCallbacks, (CuptiWant * want, CuptiFilled * filled)) \
  FUNCTION(cuptiActivityEnable, (uint32_t kind)) \
  FUNCTION(cuptiActivityFlushPeriod, (uint32_t milliseconds)) \
  FUNCTION(cuptiActivityFlushAll, (uint32_t flags)) \
  FUNCTION(cuptiActivityGetNextRecord, (uint8_t * buffer, size_t valid, CuptiRecord * *record)) \
  FUNCTION(cuptiGetContextId, (CUcontext context, uint32_t * id)) \
  FUNCTION(cuptiGetStreamIdEx, (CUcontext context, CUstream s, uint8_t per_thread, uint32_t * id))
typedef struct Cupti {
#define FUNCTION(name, parameters) int(*name) parameters;
  CUPTI_FUNCTIONS
#undef FUNCTION
} Cupti;

#endif
