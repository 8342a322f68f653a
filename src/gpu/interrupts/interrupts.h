// Kernels that call interrupts, on a GPU: interrupts.c.
#ifndef WG_GPU_INTERRUPTS_H
#define WG_GPU_INTERRUPTS_H

#include "gpu/gpu.h"

// --- memory.c ---
typedef struct GpuBuffer {
  CUcontext ctx;
  uint64_t p;
  void *host;  // of the host, not of the device
  size_t size;
  unsigned users;
  // For memory of a launch. kernel, sizes: of the launch that used it last and left zeros where
  // they must be. places, saved: buffers of their own, which belong to it
  const InterruptKernel *kernel;
  InterruptSizes sizes;
  struct GpuBuffer *places, *saved;
  struct GpuRoom *room;  // room.c; NULL: it does not grow
} GpuBuffer;
// Its contents are lost; NULL: there is no memory
GpuBuffer *gpu_buffer_new(CUcontext ctx, size_t size, bool host);
void gpu_buffer_share(GpuBuffer *b);
void gpu_buffer_give_back(GpuBuffer *b);
GpuBuffer *gpu_buffer_of(uint64_t p, const void *host);
// Memory of a launch, with room for places and blocks; NULL: there is none
GpuBuffer *gpu_launch_memory_take(CUcontext ctx, const InterruptSizes *s);

// --- room.c: memory that can grow ---
enum { ROOM_AT_FIRST = 64 << 20 };
// Reserves addresses for `size` bytes, of which b->size are mapped; false: that is not possible
bool gpu_room_make(GpuBuffer *b, size_t size);
bool gpu_room_grow(GpuBuffer *b);  // false: there is no memory
size_t gpu_room_most(const GpuBuffer *b);
void gpu_room_free(GpuBuffer *b);
void gpu_room_forget(GpuBuffer *b);  // its context is gone

typedef struct GpuGate {  // what a launch tells the next and the host: InterruptLaunch.gate
  CUcontext ctx;
  volatile InterruptNews *news;  // memory of the host, at notify for the device
  CUdeviceptr notify, word;
  uint32_t serial;
  unsigned users;
} GpuGate;
GpuGate *gpu_gate_take(CUcontext ctx);  // NULL: there is no memory
void gpu_gate_share(GpuGate *g);
void gpu_gate_give_back(GpuGate *g);
void gpu_interrupt_memory_forget(CUcontext ctx);
void gpu_interrupt_memory_end(void);  // the process ends

// --- interrupts.c ---
// Prepares memory and the added parameter. Waits for earlier launches of the stream, or lines up
// after them. false: it must not be launched, l->refused says why
bool gpu_interrupts_begin(GpuLaunch *l);
InterruptShape gpu_interrupts_shape(const GpuLaunch *l);
// The driver has taken the launch, or not (result). Its interrupts are served by another thread;
// where tools run, before it returns. Frees l->interrupts, then or later.
CUresult gpu_interrupts_end(GpuLaunch *l, CUresult result);
void gpu_interrupts_forget(CUcontext ctx);  // the context is gone

// A launch that has been made; any thread may ask.
bool gpu_interrupts_has_ended(const GpuLaunch *l);         // its first kernel
bool gpu_interrupts_suspended_nobody(const GpuLaunch *l);  // waits for it; false after an error
bool gpu_interrupts_told_nothing(const GpuLaunch *l);      // the same, if it is known to have ended
bool gpu_interrupts_wants_room(const GpuLaunch *l);        // threads wait for memory
bool gpu_interrupts_make_room(const GpuLaunch *l);         // false: there is none; they end
// Both have their first kernels in one stream, one after the other.
bool gpu_interrupts_same_stream(const GpuLaunch *a, const GpuLaunch *b);
// Puts a new launch after l, which is not served yet. false: the new launch must wait
typedef struct GpuFollowing {
  CUcontext ctx;  // of the new launch, and what it is
  const InterruptKernel *kernel;
  const InterruptSizes *sizes;
  bool waits;                  // it follows no launch, but waits until all earlier ones are served
  struct GpuPending *pending;  // the launch that it follows; NULL: all before have been served
  GpuGate *gate;               // … and its gate
  GpuBuffer *memory;           // of a launch before that it can have, too; NULL: none
} GpuFollowing;
bool gpu_interrupts_follow(const GpuLaunch *l, GpuFollowing *f);
void gpu_interrupts_share(const GpuLaunch *l, GpuFollowing *f);  // sets f->memory, if it can
// Serves the launch and frees l->interrupts. SERVE_DROPPED: if it has not begun, it never does
typedef enum { SERVE_NOBODY, SERVE_ALL, SERVE_DROPPED } GpuServing;
CUresult gpu_interrupts_serve(GpuLaunch *l, GpuServing how);

struct GpuInterrupts {
  const InterruptKernel *kernel;
  CUcontext ctx;
  CUstream stream;
  GpuBuffer *memory, *counts, *totals, *calls;  // counts: and sums
  InterruptSizes sizes;
  GpuGate *gate, *before;      // NULL: none
  struct GpuPending *follows;  // … until the driver has taken the launch
  bool in_line;
  InterruptLaunch launch;
  void **params;
  void *list[5];
  size_t size;
  uint8_t *room;  // all parameters
  CUevent ended;  // the first kernel has; NULL: the stream tells
  CUstream own;   // for the rest, if `stream` is the thread's own one; NULL: it is not
  bool alone;     // no service looks at its first kernel
  bool entered;   // the second kernel has been launched
  bool clean;     // … and all its threads have ended
  CUresult result;
};
CUresult gpu_interrupts_wait_for_first(const GpuInterrupts *g);
bool gpu_interrupts_clear_states(GpuInterrupts *g);  // zeroes them, unless they are zero

// --- rounds.c ---
CUresult gpu_interrupts_rounds(GpuLaunch *l);  // until no thread is suspended

// --- pending.c ---
// From now on calls of the driver, but for launches, call gpu_interrupts_wait first. Set before the
// first call.
extern void (*gpu_hold_calls)(void);
// Puts a launch into the queue: it waits until earlier launches are served, or follows an unserved
// one directly. f NULL: it waits. With f no other launch enters the queue until this one has left
// it, by gpu_interrupts_add or gpu_interrupts_give_up.
CUresult gpu_interrupts_line_up(uint64_t stream, GpuFollowing *f);
void gpu_interrupts_give_up(struct GpuPending *follows);
void gpu_interrupts_add(const GpuLaunch *l, bool in_line, struct GpuPending *follows);
// Wait until launches are served: all of the calling thread's (the program's, or those of the
// handler that runs on it), or those that come before work in a stream. Each error is reported
// once.
CUresult gpu_interrupts_wait(void);
CUresult gpu_interrupts_wait_in(uint64_t stream);
bool gpu_interrupts_pending(void);  // some are not served yet

#endif
