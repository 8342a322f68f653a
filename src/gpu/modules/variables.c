// Reports a module's variables to the session like other memory: addresses, sizes and names.
#include "gpu/modules/modules.h"

// Reads what a variable holds before the first kernel runs, in a stream of our own, which nothing
// of the program waits for.
static void tell_contents(GpuContext *c, CUdeviceptr base, size_t size) {
  enum { MOST = 64 << 20 };
  if (!session_wants(SESSION_WANTS_VARIABLES) || size > MOST || !c->stream) return;
  void *bytes = mem_alloc(size);
  GpuEntered e = gpu_context_enter(c);
  bool ok = e.ok && gpu_real.cuMemcpyDtoHAsync_v2(bytes, base, size, c->stream) == CUDA_SUCCESS &&
            gpu_real.cuStreamSynchronize(c->stream) == CUDA_SUCCESS;
  gpu_context_leave(e);
  if (ok) session_variable_loaded(&(SessionVariable){base, bytes, size, c->device});
  free(bytes);
}

static void tell(GpuModule *m, GpuContext *c, CUdeviceptr base, size_t size, const char *name) {
  session_alloc(base, size, SESSION_VARIABLE, c->device, name);
  tell_contents(c, base, size);
  pthread_mutex_lock(&m->lock);
  vec_push(&m->variables, base);
  pthread_mutex_unlock(&m->lock);
}

void gpu_variable_asked(GpuModule *m, CUdeviceptr base, size_t size, const char *name) {
  GpuContext *c = m && base && size && session_wants_launches() ? gpu_context_current() : NULL;
  if (!c) return;
  bool known = false;
  pthread_mutex_lock(&m->lock);
  for (uint32_t i = 0; i < m->variables.len; i++) known |= m->variables.data[i] == base;
  pthread_mutex_unlock(&m->lock);
  if (!known) tell(m, c, base, size, name);
}

void gpu_variables_tell(GpuModule *m, const GpuPiece *p) {
  GpuContext *c = gpu_context_current();
  if (!c || !session_wants_launches()) return;
  for (uint32_t i = 0; i < p->nvars; i++) {
    CUdeviceptr base = 0;
    size_t size = 0;
    CUresult result = p->loaded.module ? gpu_real.cuModuleGetGlobal_v2(&base, &size,
                                                                       p->loaded.module, p->vars[i])
                                       : gpu_real.cuLibraryGetGlobal(&base, &size,
                                                                     p->loaded.library, p->vars[i]);
    if (result != CUDA_SUCCESS || !base || !size) continue;  // texture references have no address
    tell(m, c, base, size, p->vars[i]);
  }
}

void gpu_variables_gone(GpuModule *m) {
  for (uint32_t i = 0; i < m->variables.len; i++) session_free(m->variables.data[i]);
  vec_free(&m->variables);
}
