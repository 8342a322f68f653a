// Implicit initialisation: the driver, the primary context of the thread's device, the __managed__
// variables.
#include <pthread.h>
#include "runtime/internal.h"

enum { MAX_DEVICES = 64 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool initialised;
static cudaError_t init_error;
static CUcontext primary[MAX_DEVICES];  // retained once by us
static _Thread_local int thread_device;

cudaError_t rt_init(void) {
  if (__atomic_load_n(&initialised, __ATOMIC_ACQUIRE)) return init_error;
  pthread_mutex_lock(&lock);
  if (!initialised) {
    CUresult r = cuInit(0);
    init_error = r == CUDA_SUCCESS           ? cudaSuccess
                 : r == CUDA_ERROR_NO_DEVICE ? cudaErrorNoDevice
                                             : cudaErrorInitializationError;
    __atomic_store_n(&initialised, true, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&lock);
  return init_error;
}

cudaError_t rt_context_of(int device, CUcontext *out) {
  cudaError_t e = rt_init();
  if (e) return e;
  int count = 0;
  cuDeviceGetCount(&count);
  if (device < 0 || device >= count || device >= MAX_DEVICES) return cudaErrorInvalidDevice;
  pthread_mutex_lock(&lock);
  if (!primary[device]) e = rt_result(cuDevicePrimaryCtxRetain(&primary[device], device));
  *out = primary[device];
  pthread_mutex_unlock(&lock);
  return e;
}

// A context made current through the driver API stays current: the runtime then works in it.
cudaError_t rt_enter(void) {
  cudaError_t e = rt_init();
  if (e) return e;
  CUcontext current = NULL;
  cuCtxGetCurrent(&current);
  if (!current) {
    e = rt_context_of(thread_device, &current);
    if (!e) e = rt_result(cuCtxSetCurrent(current));
    if (e) return e;
  }
  return rt_load_managed();
}

cudaError_t rt_set_device(int device) {
  CUcontext context;
  cudaError_t e = rt_context_of(device, &context);
  if (!e) e = rt_result(cuCtxSetCurrent(context));
  if (!e) thread_device = device;
  return e;
}

int rt_device(void) {
  CUcontext current = NULL;
  CUdevice device;
  if (rt_init() == cudaSuccess && cuCtxGetCurrent(&current) == CUDA_SUCCESS && current &&
      cuCtxGetDevice(&device) == CUDA_SUCCESS)
    return device;
  return thread_device;
}

// Destroys everything on the device; the next use loads kernels and variables again.
cudaError_t rt_reset_device(void) {
  cudaError_t e = rt_init();
  if (e) return e;
  int device = rt_device();
  if (device < 0 || device >= MAX_DEVICES) return cudaErrorInvalidDevice;
  CUcontext context;
  // running kernels must end before their modules go; their errors do not matter here
  cuCtxSynchronize();
  rt_unload_all();
  e = rt_result(cuDevicePrimaryCtxReset_v2(device));
  pthread_mutex_lock(&lock);
  primary[device] = NULL;  // a reset takes the references with it
  pthread_mutex_unlock(&lock);
  if (!e) e = rt_context_of(device, &context);
  if (!e) e = rt_result(cuCtxSetCurrent(context));
  rt_clear_errors();
  return e ? e : rt_load_managed();
}
