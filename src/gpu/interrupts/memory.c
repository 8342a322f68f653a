// Memory of launches with interrupts. It is reused, since allocating takes longer than a round.
#include "gpu/interrupts/interrupts.h"

static VEC(GpuBuffer *) buffers;
static pthread_mutex_t buffers_lock = PTHREAD_MUTEX_INITIALIZER;

static size_t most_of(const GpuBuffer *b) { return b->room ? gpu_room_most(b) : b->size; }

static GpuBuffer *find_free(CUcontext ctx, size_t size, bool host, bool grows) {
  GpuBuffer *best = NULL;
  for (uint32_t i = 0; i < buffers.len; i++) {
    GpuBuffer *b = buffers.data[i];
    if (b->users || b->ctx != ctx || most_of(b) < size || (b->host != NULL) != host ||
        (b->room != NULL) != grows)
      continue;
    if (!best || most_of(b) < most_of(best)) best = b;
  }
  return best;
}

static bool allocate(GpuBuffer *b, bool host) {
  if (host)
    return gpu_real.cuMemHostAlloc(&b->host, b->size, CU_MEMHOSTALLOC_DEVICEMAP) == CUDA_SUCCESS;
  CUdeviceptr p;
  // tools look at what the kernel writes: they hear of this memory as of the program's own
  CUresult result = session_tools() ? gpu_cuMemAlloc_v2(&p, b->size)
                                    : gpu_real.cuMemAlloc_v2(&p, b->size);
  if (result != CUDA_SUCCESS) return false;
  b->p = p;
  if (session_tools()) session_annotated(SESSION_INITIALISED, p, b->size);
  return true;
}

static void detach(GpuBuffer *b) {
  if (b->places) b->places->users--;
  if (b->saved) b->saved->users--;
  b->places = b->saved = NULL;
}

// Frees buffers that no launch uses; false: there were none
static bool free_idle(CUcontext ctx) {
  bool found = false;
  pthread_mutex_lock(&buffers_lock);
  for (uint32_t i = 0; i < buffers.len; i++)
    if (!buffers.data[i]->users && buffers.data[i]->ctx == ctx) detach(buffers.data[i]);
  for (uint32_t i = 0; i < buffers.len; i++) {
    GpuBuffer *b = buffers.data[i];
    if (b->users || b->ctx != ctx) continue;
    if (b->room) gpu_room_free(b);
    else if (b->host) gpu_real.cuMemFreeHost(b->host);
    else if (session_tools()) gpu_cuMemFree_v2(b->p);
    else gpu_real.cuMemFree_v2(b->p);
    free(b);
    buffers.data[i--] = buffers.data[--buffers.len];
    found = true;
  }
  pthread_mutex_unlock(&buffers_lock);
  return found;
}

static GpuBuffer *take_free(CUcontext ctx, size_t size, bool host, bool grows) {
  pthread_mutex_lock(&buffers_lock);
  GpuBuffer *b = find_free(ctx, size, host, grows);
  if (b) b->users = 1;
  pthread_mutex_unlock(&buffers_lock);
  return b;
}

static GpuBuffer *keep(GpuBuffer *b) {
  pthread_mutex_lock(&buffers_lock);
  vec_push(&buffers, b);
  pthread_mutex_unlock(&buffers_lock);
  return b;
}

static GpuBuffer *take(CUcontext ctx, size_t size, bool host) {
  enum { STEP = 1 << 16 };
  GpuBuffer *b = take_free(ctx, size, host, false);
  if (b) return b;
  b = mem_alloc(sizeof *b);
  *b = (GpuBuffer){.ctx = ctx, .size = (size + STEP) / STEP * STEP, .users = 1};
  if (!allocate(b, host) && !(free_idle(ctx) && allocate(b, host))) {
    free(b);
    return NULL;
  }
  return keep(b);
}

// If tools run, the memory does not grow: they hear of memory only when it is allocated.
static GpuBuffer *take_room(CUcontext ctx, size_t size) {
  if (session_tools() || size <= ROOM_AT_FIRST) return take(ctx, size, false);
  GpuBuffer *b = take_free(ctx, size, false, true);
  if (b) return b;
  b = mem_alloc(sizeof *b);
  *b = (GpuBuffer){.ctx = ctx, .users = 1};
  if (gpu_room_make(b, size) || (free_idle(ctx) && gpu_room_make(b, size))) return keep(b);
  free(b);
  return take(ctx, size, false);
}

static bool attach(CUcontext ctx, GpuBuffer **to, size_t size) {
  if (*to && most_of(*to) >= size) return true;
  if (*to) gpu_buffer_give_back(*to);
  *to = size ? take_room(ctx, size) : NULL;
  return !size || *to;
}

GpuBuffer *gpu_launch_memory_take(CUcontext ctx, const InterruptSizes *s) {
  GpuBuffer *b = take(ctx, s->fixed, false);
  if (!b) return NULL;
  if (attach(ctx, &b->places, s->places) && attach(ctx, &b->saved, s->saved)) return b;
  b->kernel = NULL;
  gpu_buffer_give_back(b);
  return NULL;
}

// The new owner overwrites what the last launch had left zero.
GpuBuffer *gpu_buffer_new(CUcontext ctx, size_t size, bool host) {
  GpuBuffer *b = take(ctx, size, host);
  if (b) b->kernel = NULL;
  return b;
}

void gpu_buffer_share(GpuBuffer *b) {
  pthread_mutex_lock(&buffers_lock);
  b->users++;
  pthread_mutex_unlock(&buffers_lock);
}

void gpu_buffer_give_back(GpuBuffer *b) {
  pthread_mutex_lock(&buffers_lock);
  b->users--;
  pthread_mutex_unlock(&buffers_lock);
}

// Tools know of this memory: it must not count as a leak of the program.
void gpu_interrupt_memory_end(void) {
  if (!session_tools()) return;
  pthread_mutex_lock(&buffers_lock);
  for (uint32_t i = 0; i < buffers.len; i++)
    if (buffers.data[i]->p) session_free(buffers.data[i]->p);
  pthread_mutex_unlock(&buffers_lock);
}

GpuBuffer *gpu_buffer_of(uint64_t p, const void *host) {
  GpuBuffer *found = NULL;
  pthread_mutex_lock(&buffers_lock);
  for (uint32_t i = 0; i < buffers.len && !found; i++)
    if (host ? buffers.data[i]->host == host : buffers.data[i]->p == p) found = buffers.data[i];
  pthread_mutex_unlock(&buffers_lock);
  return found;
}

// --- gates ---

enum { GATES = 1024 };  // that are allocated together
static VEC(GpuGate *) gates;
static uint32_t last_serial;

static bool add_gates(CUcontext ctx) {
  GpuBuffer *host = gpu_buffer_new(ctx, GATES * sizeof(InterruptNews), true),
            *device = gpu_buffer_new(ctx, GATES * sizeof(uint32_t), false);
  CUdeviceptr notify = 0;
  if (!host || !device ||
      gpu_real.cuMemHostGetDevicePointer_v2(&notify, host->host, 0) != CUDA_SUCCESS)
    return false;
  pthread_mutex_lock(&buffers_lock);
  for (unsigned i = 0; i < GATES; i++) {
    GpuGate *g = mem_alloc(sizeof *g);
    *g = (GpuGate){.ctx = ctx,
                   .news = (volatile InterruptNews *)host->host + i,
                   .notify = notify + i * sizeof(InterruptNews),
                   .word = device->p + i * sizeof(uint32_t)};
    vec_push(&gates, g);
  }
  pthread_mutex_unlock(&buffers_lock);
  return true;
}

static GpuGate *free_gate(CUcontext ctx) {
  GpuGate *found = NULL;
  pthread_mutex_lock(&buffers_lock);
  for (uint32_t i = 0; i < gates.len && !found; i++)
    if (!gates.data[i]->users && gates.data[i]->ctx == ctx) found = gates.data[i];
  if (found) {
    found->users = 1;
    found->serial = ++last_serial ? last_serial : ++last_serial;
    *found->news = (InterruptNews){.what = NEWS_NONE};
  }
  pthread_mutex_unlock(&buffers_lock);
  return found;
}

GpuGate *gpu_gate_take(CUcontext ctx) {
  GpuGate *g = free_gate(ctx);
  return g || !add_gates(ctx) ? g : free_gate(ctx);
}

void gpu_gate_share(GpuGate *g) {
  pthread_mutex_lock(&buffers_lock);
  g->users++;
  pthread_mutex_unlock(&buffers_lock);
}

void gpu_gate_give_back(GpuGate *g) {
  pthread_mutex_lock(&buffers_lock);
  g->users--;
  pthread_mutex_unlock(&buffers_lock);
}

void gpu_interrupt_memory_forget(CUcontext ctx) {
  pthread_mutex_lock(&buffers_lock);
  for (uint32_t i = 0; i < buffers.len; i++)
    if (buffers.data[i]->ctx == ctx) {
      if (buffers.data[i]->room) gpu_room_forget(buffers.data[i]);
      free(buffers.data[i]);
      buffers.data[i--] = buffers.data[--buffers.len];
    }
  for (uint32_t i = 0; i < gates.len; i++)
    if (gates.data[i]->ctx == ctx) {
      free(gates.data[i]);
      gates.data[i--] = gates.data[--gates.len];
    }
  pthread_mutex_unlock(&buffers_lock);
}
