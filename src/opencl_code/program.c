// Programs: the PTX of a platform's compiler with checks in it, and its kernels.
#include "opencl_code/opencl_code.h"

#include "ir/ir.h"
#include "ptx/ptx.h"

#include <pthread.h>

struct OpenclProgram {
  SessionModule *session;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static SessionModule *others;  // all kernels without checks

// The platform's own compiler assembles for the device that the text names.
static PtxModule *read_text(const char *ptx, size_t size, Error *err) {
  PtxModule *m = ptx_parse(ptx, size, "OpenCL program", err);
  if (!m) return NULL;
  if (ptx_verify(m, err) && ir_contract_for(m, 0, NULL, err)) return m;
  ptx_free(m);
  return NULL;
}

OpenclProgram *opencl_weave(const char *ptx, size_t size, char **out, char *why) {
  Error err = {{0}};
  Woven woven = {0};
  Str text = {0};
  PtxModule *m = read_text(ptx, size, &err);
  if (!m || !weave_module(&m, 1, session_plan(), &woven, &err)) {
    snprintf(why, 256, "%.255s", err.text);
    if (m) ptx_free(m);
    return NULL;
  }
  ptx_print(m, &text);
  ptx_free(m);
  *out = text.data;
  OpenclProgram *p = mem_alloc(sizeof *p);
  session_thread_api(API_OPENCL);
  p->session = session_module("OpenCL program", base_hash(ptx, size),
                              "PTX of the installed OpenCL platform");
  session_module_instrumented(p->session, &woven);
  session_thread_api(API_CUDA);
  return p;
}

OpenclKernel *opencl_kernel(OpenclProgram *p, const char *name) {
  session_thread_api(API_OPENCL);
  SessionKernel *k = session_kernel(p->session, name);
  session_thread_api(API_CUDA);
  const WovenKernel *code = session_kernel_code(k);
  if (!code || !code->instrumented || !code->record_bytes) return NULL;
  OpenclKernel *kernel = mem_alloc(sizeof *kernel);
  *kernel = (OpenclKernel){k, code};
  return kernel;
}

OpenclKernel *opencl_unchecked(const char *name, const char *why) {
  OpenclKernel *kernel = mem_alloc(sizeof *kernel);
  session_thread_api(API_OPENCL);
  pthread_mutex_lock(&lock);
  if (!others) others = session_module("OpenCL programs", 0, "code of the installed platform");
  kernel->session = session_kernel(others, name);
  pthread_mutex_unlock(&lock);
  session_thread_api(API_CUDA);
  session_kernel_uncovered(kernel->session, why, NULL);
  return kernel;
}
