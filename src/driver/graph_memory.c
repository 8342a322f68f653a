// Memory of allocation nodes. The address is fixed when the node is made. The memory exists while a
// graph or an executable graph has the node; if the last launch did not free it, the program keeps
// it.
#include "driver/driver.h"

struct GraphMemory {
  int refs;
  bool live;
  CUdeviceptr address;
  size_t bytes;
  Device *device;
  GraphMemory *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static GraphMemory *all;

CUresult graph_memory_new(Context *ctx, size_t bytes, GraphMemory **out) {
  CUdeviceptr p;
  if (!bytes) return CUDA_ERROR_INVALID_VALUE;
  TRY(memory_new(ctx, bytes, ALLOC_GRAPH, 0, NULL, &p));
  GraphMemory *m = mem_alloc(sizeof *m);
  *m = (GraphMemory){.refs = 1, .address = p, .bytes = bytes, .device = ctx->device};
  pthread_mutex_lock(&lock);
  m->next = all;
  all = m;
  pthread_mutex_unlock(&lock);
  *out = m;
  return CUDA_SUCCESS;
}

CUdeviceptr graph_memory_address(const GraphMemory *m) { return m->address; }

void graph_memory_retain(GraphMemory *m) {
  pthread_mutex_lock(&lock);
  m->refs++;
  pthread_mutex_unlock(&lock);
}

static void make_ordinary(Alloc *a, const void *unused) { a->kind = ALLOC_DEVICE; }

void graph_memory_release(GraphMemory *m) {
  pthread_mutex_lock(&lock);
  bool last = !--m->refs;
  if (last) {
    GraphMemory **p = &all;
    while (*p != m) p = &(*p)->next;
    *p = m->next;
  }
  pthread_mutex_unlock(&lock);
  if (!last) return;
  if (m->live) alloc_change(m->address, make_ordinary, NULL);
  else memory_free_now(m->address);
  free(m);
}

static void count(Device *dev, int64_t bytes) {
  uint64_t now = atomic_fetch_add(&dev->graph_used, (uint64_t)bytes) + (uint64_t)bytes;
  if (now > dev->graph_used_high && bytes > 0) dev->graph_used_high = now;
}

void graph_memory_set_live(GraphMemory *m) {
  pthread_mutex_lock(&lock);
  if (!m->live) count(m->device, (int64_t)m->bytes);
  m->live = true;
  pthread_mutex_unlock(&lock);
}

bool graph_memory_freed(CUdeviceptr p) {
  pthread_mutex_lock(&lock);
  GraphMemory *m = all;
  while (m && m->address != p) m = m->next;
  if (m && m->live) count(m->device, -(int64_t)m->bytes);
  if (m) m->live = false;
  pthread_mutex_unlock(&lock);
  return m != NULL;
}

CUresult cuDeviceGraphMemTrim(CUdevice handle) {
  TRY(driver_check());
  return device_get(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice handle, CUgraphMem_attribute which, void *value) {
  TRY(driver_check());
  Device *dev = device_get(handle);
  if (!dev) return CUDA_ERROR_INVALID_DEVICE;
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  switch ((int)which) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
      *(uint64_t *)value = dev->graph_used;
      return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
      *(uint64_t *)value = dev->graph_used_high;
      return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceSetGraphMemAttribute(CUdevice handle, CUgraphMem_attribute which, void *value) {
  TRY(driver_check());
  Device *dev = device_get(handle);
  if (!dev) return CUDA_ERROR_INVALID_DEVICE;
  if (!value ||
      (which != CU_GRAPH_MEM_ATTR_USED_MEM_HIGH && which != CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH))
    return CUDA_ERROR_INVALID_VALUE;
  dev->graph_used_high = dev->graph_used;  // only a reset is possible
  return CUDA_SUCCESS;
}
