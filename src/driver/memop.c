// cuStreamWaitValue, cuStreamWriteValue, cuStreamBatchMemOp: a stream waits for or writes a word of
// memory.
#include "driver/driver.h"

#include <sched.h>
#include <time.h>

static uint64_t load(const CUstreamBatchMemOpParams *op, bool wide) {
  return wide ? __atomic_load_n((uint64_t *)(uintptr_t)op->waitValue.address, __ATOMIC_ACQUIRE)
              : __atomic_load_n((uint32_t *)(uintptr_t)op->waitValue.address, __ATOMIC_ACQUIRE);
}

static bool satisfied(const CUstreamBatchMemOpParams *op, bool wide) {
  uint64_t now = load(op, wide);
  uint64_t value = wide ? op->waitValue.value64 : op->waitValue.value;
  switch (op->waitValue.flags & 3) {
    case CU_STREAM_WAIT_VALUE_GEQ:
      return wide ? (int64_t)(now - value) >= 0 : (int32_t)((uint32_t)now - (uint32_t)value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ: return now == value;
    case CU_STREAM_WAIT_VALUE_AND: return (now & value) != 0;
    default: return wide ? ~(now | value) != 0 : (uint32_t) ~(now | value) != 0;
  }
}

CUresult memops_run(const CUstreamBatchMemOpParams *ops, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    const CUstreamBatchMemOpParams *op = &ops[i];
    bool wide = op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 ||
                op->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
    switch ((int)op->operation) {
      case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        for (unsigned spins = 0; !satisfied(op, wide); spins++) {
          if (driver_ending()) return CUDA_ERROR_DEINITIALIZED;
          if (spins < 100) sched_yield();
          else nanosleep(&(struct timespec){0, 50000}, NULL);
        }
        break;
      case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        __atomic_store_n((uint32_t *)(uintptr_t)op->writeValue.address, op->writeValue.value,
                         __ATOMIC_SEQ_CST);
        events_written((void *)(uintptr_t)op->writeValue.address, 0, 4, 1);
        break;
      case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        __atomic_store_n((uint64_t *)(uintptr_t)op->writeValue.address, op->writeValue.value64,
                         __ATOMIC_SEQ_CST);
        events_written((void *)(uintptr_t)op->writeValue.address, 0, 8, 1);
        break;
      default: __atomic_thread_fence(__ATOMIC_SEQ_CST);
    }
  }
  return CUDA_SUCCESS;
}

static CUresult check(const CUstreamBatchMemOpParams *op) {
  Alloc a;
  size_t size = 4;
  switch ((int)op->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64: size = 8; break;
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_32: break;
    case CU_STREAM_MEM_OP_BARRIER:
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES: return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
  uintptr_t p = (uintptr_t)op->waitValue.address;
  if (p % size || !alloc_find(p, &a) || p + size > a.base + a.size) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

CUresult cuStreamBatchMemOp_v2(CUstream handle, unsigned count, CUstreamBatchMemOpParams *ops,
                               unsigned flags) {
  Stream *s;
  TRY(stream_get(handle, &s));
  if (flags || count > 256 || (count && !ops)) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; i++) TRY(check(&ops[i]));
  session_order_waits_for_something(s->legacy ? NULL : s);
  session_order_host_saw(s->legacy ? NULL : s);  // others may wait for the value it writes
  Work w = {.kind = WORK_MEMOPS, .memops = {mem_alloc(sizeof *ops * MAX(count, 1)), count, flags}};
  if (count) memcpy(w.memops.ops, ops, sizeof *ops * count);
  return queue_submit(s, &w, 0);
}

static CUresult one(CUstream handle, CUstreamBatchMemOpType type, CUdeviceptr p, uint64_t value,
                    unsigned flags) {
  CUstreamBatchMemOpParams op = {
      .waitValue = {.operation = type, .address = p, .value64 = value, .flags = flags}};
  return cuStreamBatchMemOp_v2(handle, 1, &op, 0);
}

CUresult cuStreamWaitValue32_v2(CUstream s, CUdeviceptr p, uint32_t v, unsigned f) {
  return one(s, CU_STREAM_MEM_OP_WAIT_VALUE_32, p, v, f);
}
CUresult cuStreamWaitValue64_v2(CUstream s, CUdeviceptr p, uint64_t v, unsigned f) {
  return one(s, CU_STREAM_MEM_OP_WAIT_VALUE_64, p, v, f);
}
CUresult cuStreamWriteValue32_v2(CUstream s, CUdeviceptr p, uint32_t v, unsigned f) {
  return one(s, CU_STREAM_MEM_OP_WRITE_VALUE_32, p, v, f);
}
CUresult cuStreamWriteValue64_v2(CUstream s, CUdeviceptr p, uint64_t v, unsigned f) {
  return one(s, CU_STREAM_MEM_OP_WRITE_VALUE_64, p, v, f);
}
