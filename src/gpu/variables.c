// The session hears of a module's variables as of other memory: where they are, how large, and their names.
#include "gpu/modules.h"

void gpu_variables_tell(GpuModule *m, const GpuPiece *p) {
  GpuContext *c = gpu_context_current();
  if (!c || !session_wants_launches()) return;
  for (uint32_t i = 0; i < p->nvars; i++) {
    CUdeviceptr base = 0;
    size_t size = 0;
    CUresult result = p->loaded.module ? gpu_real.cuModuleGetGlobal_v2(&base, &size, p->loaded.module, p->vars[i])
                                       : gpu_real.cuLibraryGetGlobal(&base, &size, p->loaded.library, p->vars[i]);
    if (result != CUDA_SUCCESS || !base || !size) continue;      // texture references have no address
    session_alloc(base, size, SESSION_VARIABLE, c->device, p->vars[i]);
    pthread_mutex_lock(&m->lock);
    vec_push(&m->variables, base);
    pthread_mutex_unlock(&m->lock);
  }
}

void gpu_variables_gone(GpuModule *m) {
  for (uint32_t i = 0; i < m->variables.len; i++) session_free(m->variables.data[i]);
  vec_free(&m->variables);
}
