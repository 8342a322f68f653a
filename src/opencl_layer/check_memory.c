// Device memory by address, where OpenCL knows only handles. A buffer's address is what a kernel of
// ours gets as its argument. All accesses use a queue of our own, and leave the program's queues
// alone.
#include "opencl_layer/checks.h"

#include <pthread.h>

typedef struct Piece {
  uint64_t address;
  size_t size;
  cl_mem handle;
} Piece;
struct CheckedMemory {
  pthread_mutex_t lock;
  cl_context context;
  cl_command_queue queue;
  cl_kernel tells_address;
  cl_mem answer;
  VEC(Piece) pieces;
};

static const char address_kernel[] = ".version 6.0\n"
                                     ".target sm_50, texmode_independent\n"
                                     ".address_size 64\n"
                                     ".visible .entry wg_address(\n"
                                     "  .param .u64 .ptr .global .align 8 wg_address_out,\n"
                                     "  .param .u64 .ptr .global .align 1 wg_address_of)\n"
                                     "{\n"
                                     "  .reg .b64 %rd<3>;\n"
                                     "  ld.param.u64 %rd1, [wg_address_out];\n"
                                     "  ld.param.u64 %rd2, [wg_address_of];\n"
                                     "  st.global.u64 [%rd1], %rd2;\n"
                                     "  ret;\n"
                                     "}\n";

static cl_kernel make_kernel(cl_context context, cl_device_id device) {
  const unsigned char *text = (const unsigned char *)address_kernel;
  size_t size = sizeof address_kernel - 1;
  cl_int error = CL_SUCCESS;
  cl_program p = checks_below.clCreateProgramWithBinary(context, 1, &device, &size, &text, NULL,
                                                        &error);
  if (!p) return NULL;
  cl_kernel k = NULL;
  if (checks_below.clBuildProgram(p, 1, &device, "", NULL, NULL) == CL_SUCCESS)
    k = checks_below.clCreateKernel(p, "wg_address", &error);
  checks_below.clReleaseProgram(p);
  return k;
}

CheckedMemory *checks_memory_new(cl_context context, cl_device_id device) {
  cl_int error;
  CheckedMemory *m = mem_alloc(sizeof *m);
  pthread_mutex_init(&m->lock, NULL);
  m->context = context;
  m->queue = checks_below.clCreateCommandQueue(context, device, 0, &error);
  if (m->queue) m->tells_address = make_kernel(context, device);
  if (m->tells_address)
    m->answer = checks_below.clCreateBuffer(context, CL_MEM_READ_WRITE, 8, NULL, &error);
  if (m->answer) return m;
  if (m->tells_address) checks_below.clReleaseKernel(m->tells_address);
  if (m->queue) checks_below.clReleaseCommandQueue(m->queue);
  free(m);
  return NULL;
}

// With the lock.
static bool ask_address(CheckedMemory *m, cl_mem buffer, uint64_t *out) {
  static const size_t one = 1;
  const cl_icd_dispatch *p = &checks_below;
  return !p->clSetKernelArg(m->tells_address, 0, sizeof m->answer, &m->answer) &&
         !p->clSetKernelArg(m->tells_address, 1, sizeof buffer, &buffer) &&
         !p->clEnqueueNDRangeKernel(m->queue, m->tells_address, 1, NULL, &one, &one, 0, NULL,
                                    NULL) &&
         !p->clEnqueueReadBuffer(m->queue, m->answer, CL_TRUE, 0, 8, out, 0, NULL, NULL) && *out;
}

bool checks_address(CheckedMemory *m, cl_mem buffer, uint64_t *out) {
  pthread_mutex_lock(&m->lock);
  bool ok = ask_address(m, buffer, out);
  pthread_mutex_unlock(&m->lock);
  return ok;
}

// --- memory of tools ---

// With the lock. NULL: it is not in one of ours.
static const Piece *piece_of(const CheckedMemory *m, uint64_t address, size_t size) {
  for (uint32_t i = 0; i < m->pieces.len; i++) {
    const Piece *p = &m->pieces.data[i];
    uint64_t offset = address - p->address;
    if (address >= p->address && offset <= p->size && size <= p->size - offset) return p;
  }
  return NULL;
}

static uint64_t reach_alloc(void *user, size_t size) {
  CheckedMemory *m = user;
  cl_int error;
  uint64_t address = 0;
  cl_mem b = checks_below.clCreateBuffer(m->context, CL_MEM_READ_WRITE, size, NULL, &error);
  if (!b) return 0;
  pthread_mutex_lock(&m->lock);
  bool ok = !checks_below.clEnqueueFillBuffer(m->queue, b, &(uint8_t){0}, 1, 0, size, 0, NULL,
                                              NULL) &&
            ask_address(m, b, &address);
  if (ok) vec_push(&m->pieces, ((Piece){address, size, b}));
  pthread_mutex_unlock(&m->lock);
  if (!ok) checks_below.clReleaseMemObject(b);
  return ok ? address : 0;
}

static void reach_free(void *user, uint64_t address) {
  CheckedMemory *m = user;
  cl_mem gone = NULL;
  pthread_mutex_lock(&m->lock);
  for (uint32_t i = 0; i < m->pieces.len && !gone; i++) {
    if (m->pieces.data[i].address != address) continue;
    gone = m->pieces.data[i].handle;
    m->pieces.data[i] = m->pieces.data[--m->pieces.len];
  }
  pthread_mutex_unlock(&m->lock);
  if (gone) checks_below.clReleaseMemObject(gone);
}

static bool reach_read(void *user, void *to, uint64_t from, size_t size) {
  CheckedMemory *m = user;
  pthread_mutex_lock(&m->lock);
  const Piece *p = piece_of(m, from, size);
  bool ok = p && !checks_below.clEnqueueReadBuffer(m->queue, p->handle, CL_TRUE, from - p->address,
                                                   size, to, 0, NULL, NULL);
  pthread_mutex_unlock(&m->lock);
  return ok;
}

static bool reach_write(void *user, uint64_t to, const void *from, size_t size) {
  CheckedMemory *m = user;
  pthread_mutex_lock(&m->lock);
  const Piece *p = piece_of(m, to, size);
  bool ok = p && !checks_below.clEnqueueWriteBuffer(m->queue, p->handle, CL_TRUE, to - p->address,
                                                    size, from, 0, NULL, NULL);
  pthread_mutex_unlock(&m->lock);
  return ok;
}

static bool reach_fill(void *user, uint64_t to, uint8_t value, size_t size) {
  CheckedMemory *m = user;
  pthread_mutex_lock(&m->lock);
  const Piece *p = piece_of(m, to, size);
  bool ok = p &&
            !checks_below.clEnqueueFillBuffer(m->queue, p->handle, &value, 1, to - p->address, size,
                                              0, NULL, NULL) &&
            !checks_below.clFinish(m->queue);
  pthread_mutex_unlock(&m->lock);
  return ok;
}

OpenclReach checks_memory_reach(CheckedMemory *m, int ordinal) {
  return (OpenclReach){.user = m,
                       .ordinal = ordinal,
                       .alloc = reach_alloc,
                       .free = reach_free,
                       .read = reach_read,
                       .write = reach_write,
                       .fill = reach_fill};
}
