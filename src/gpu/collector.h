// A thread of ours that collects what kernels of all contexts have written to host memory. Only
// kernels whose ring is full wait for it.
#ifndef WG_GPU_COLLECTOR_H
#define WG_GPU_COLLECTOR_H

#include "gpu/gpu.h"

// IDLE: nothing can come before gpu_collector_wake. WAITS: nothing has come yet
typedef enum { GPU_IDLE, GPU_WAITS, GPU_TOOK } GpuTaken;

// the first member of the structure that a context has for a collector
typedef struct GpuCollected {
  GpuContext *context;
  struct GpuCollected *next;
} GpuCollected;
typedef struct GpuCollector {
  GpuTaken (*take)(GpuCollected *one);  // with the lock held
  void (*after)(void);                  // without it, when something was taken; may be NULL
  long pause_us;                        // when nothing was taken
  pthread_mutex_t lock;
  pthread_cond_t more;
  GpuCollected *all;
  bool started;
} GpuCollector;
#define GPU_COLLECTOR(take, after, pause_us) \
  { take, after, pause_us, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, false }

void gpu_collector_add(GpuCollector *k, GpuCollected *one);
// with the lock held: the thread does not see it any more
void gpu_collector_remove(GpuCollector *k, GpuCollected *one);
void gpu_collector_wake(GpuCollector *k);

#endif
