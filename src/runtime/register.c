// Registration: nvcc's start-up code in the program passes us its fat binaries, and the kernels and
// variables in them.
//
// A fat binary is loaded by the driver at the first use of anything in it. A kernel is known by the
// address of its host stub; templates make several objects share one stub, so each address has a
// list. Records live until the process ends: programs keep pointers to them in static variables.
#include <pthread.h>
#include "runtime/internal.h"

typedef struct FatBinary FatBinary;
typedef struct Kernel Kernel;
typedef struct Variable Variable;

struct Kernel {
  FatBinary *fat;
  const char *name;
  const void *stub;
  CUkernel handle;  // NULL: not looked up since the last load
  Kernel *same_stub, *next;
};

struct Variable {
  FatBinary *fat;
  const char *name;
  void *host;  // the shadow variable; for __managed__ the pointer the program reads through
  size_t size;
  bool managed;
  CUdeviceptr managed_address;
  Variable *same_host, *next;
};

struct FatBinary {
  const void *image;
  CUlibrary library;
  cudaError_t load_error;
  bool loaded, registered, has_managed;
  Kernel *kernels;
  Variable *variables;
  FatBinary *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FatBinary *fat_binaries;
static bool managed_pending;  // read without the lock: set only while objects are being loaded
// kernels_by_handle: both Kernel* and CUkernel
static U64Map kernels_by_stub, variables_by_host, kernels_by_handle;
#define KEY(p) ((uint64_t)(uintptr_t)(p))

static cudaError_t load(FatBinary *fat) {
  if (fat->loaded) return fat->load_error;
  fat->loaded = true;
  fat->load_error = rt_result(
      cuLibraryLoadData(&fat->library, fat->image, NULL, NULL, 0, NULL, NULL, 0));
  if (fat->load_error) return fat->load_error;
  for (Variable *v = fat->variables; v; v = v->next) {
    if (!v->managed) continue;
    size_t size;
    if (cuLibraryGetManaged(&v->managed_address, &size, fat->library, v->name) == CUDA_SUCCESS ||
        cuLibraryGetGlobal(&v->managed_address, &size, fat->library, v->name) == CUDA_SUCCESS)
      *(void **)v->host = (void *)(uintptr_t)v->managed_address;
    else return fat->load_error = cudaErrorInvalidSymbol;
  }
  return cudaSuccess;
}

static cudaError_t resolve(Kernel *k) {
  if (k->handle) return cudaSuccess;
  cudaError_t e = load(k->fat);
  if (e) return e;
  if (cuLibraryGetKernel(&k->handle, k->fat->library, k->name) != CUDA_SUCCESS) {
    k->handle = NULL;
    return cudaErrorInvalidDeviceFunction;
  }
  u64map_put(&kernels_by_handle, KEY(k->handle), k);
  return cudaSuccess;
}

static Kernel *find_record(const void *func) {
  Kernel *k = u64map_get(&kernels_by_stub, KEY(func));
  return k ? k : u64map_get(&kernels_by_handle, KEY(func));
}

cudaError_t rt_find_kernel(const void *func, CUkernel *out) {
  if (!func) return cudaErrorInvalidDeviceFunction;
  pthread_mutex_lock(&lock);
  cudaError_t e = cudaErrorInvalidDeviceFunction;
  Kernel *k = find_record(func);
  // a stub shared by several objects: the first whose code has the kernel
  for (Kernel *c = k; c; c = c->same_stub) {
    e = resolve(c);
    *out = c->handle;
    if (!e) break;
  }
  pthread_mutex_unlock(&lock);
  if (k) return e;
  const char *name;  // perhaps a handle the program got from the library or driver API
  if (cuKernelGetName(&name, (CUkernel)func) != CUDA_SUCCESS &&
      cuFuncGetName(&name, (CUfunction)func) != CUDA_SUCCESS)
    return cudaErrorInvalidDeviceFunction;
  *out = (CUkernel)func;
  return cudaSuccess;
}

const void *rt_host_stub(CUkernel kernel) {
  pthread_mutex_lock(&lock);
  Kernel *k = u64map_get(&kernels_by_handle, KEY(kernel));
  pthread_mutex_unlock(&lock);
  return k ? k->stub : NULL;
}

static Variable *find_variable(const void *symbol) {
  Variable *v = u64map_get(&variables_by_host, KEY(symbol));
  if (v) return v;
  // the address of a __managed__ variable is its managed memory
  for (FatBinary *f = fat_binaries; f; f = f->next)
    if (f->has_managed)
      for (v = f->variables; v; v = v->next)
        if (v->managed && v->managed_address && (void *)(uintptr_t)v->managed_address == symbol)
          return v;
  return NULL;
}

cudaError_t rt_find_symbol(const void *symbol, CUdeviceptr *address, size_t *size) {
  pthread_mutex_lock(&lock);
  cudaError_t e = cudaErrorInvalidSymbol;
  for (Variable *v = symbol ? find_variable(symbol) : NULL; v; v = v->same_host) {
    e = load(v->fat);
    if (e) continue;
    *size = v->size;
    if (v->managed) {
      *address = v->managed_address;
    } else {
      size_t bytes;
      e = cuLibraryGetGlobal(address, &bytes, v->fat->library, v->name) == CUDA_SUCCESS
              ? cudaSuccess
              : cudaErrorInvalidSymbol;
      if (!e) *size = bytes;
    }
    if (!e) break;
  }
  pthread_mutex_unlock(&lock);
  return e;
}

cudaError_t rt_load_managed(void) {
  if (!__atomic_load_n(&managed_pending, __ATOMIC_ACQUIRE)) return cudaSuccess;
  pthread_mutex_lock(&lock);
  cudaError_t e = cudaSuccess;
  if (managed_pending) {
    for (FatBinary *f = fat_binaries; f; f = f->next)
      if (f->has_managed && !f->loaded) {
        cudaError_t failed = load(f);
        if (failed) e = failed;
      }
    __atomic_store_n(&managed_pending, false, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&lock);
  return e;
}

static void unload(FatBinary *f) {
  if (f->loaded && !f->load_error) cuLibraryUnload(f->library);
  for (Kernel *k = f->kernels; k; k = k->next) {
    if (k->handle) u64map_remove(&kernels_by_handle, KEY(k->handle));
    k->handle = NULL;
  }
  for (Variable *v = f->variables; v; v = v->next) v->managed_address = 0;
  f->loaded = false;
  f->library = NULL;
}

void rt_unload_all(void) {
  pthread_mutex_lock(&lock);
  for (FatBinary *f = fat_binaries; f; f = f->next) {
    unload(f);
    if (f->has_managed && f->registered) __atomic_store_n(&managed_pending, true, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&lock);
}

// --- the entry points nvcc's start-up code calls ---

void **__cudaRegisterFatBinary(void *image) {
  FatBinary *f = mem_alloc(sizeof *f);
  f->image = image;
  f->registered = true;
  pthread_mutex_lock(&lock);
  f->next = fat_binaries;
  fat_binaries = f;
  pthread_mutex_unlock(&lock);
  return (void **)f;
}

void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }

void __cudaRegisterFunction(void **handle, const char *stub, char *device_fun, const char *name,
                            int thread_limit, void *tid, void *bid, void *block_dim, void *grid_dim,
                            int *warp_size) {
  Kernel *k = mem_alloc(sizeof *k);
  k->fat = (FatBinary *)handle;
  k->stub = stub;
  k->name = name;
  pthread_mutex_lock(&lock);
  k->next = k->fat->kernels;
  k->fat->kernels = k;
  k->same_stub = u64map_get(&kernels_by_stub, KEY(stub));
  u64map_put(&kernels_by_stub, KEY(stub), k);
  pthread_mutex_unlock(&lock);
}

static void add_variable(void **handle, void *host, const char *name, size_t size, bool managed) {
  Variable *v = mem_alloc(sizeof *v);
  v->fat = (FatBinary *)handle;
  v->host = host;
  v->name = name;
  v->size = size;
  v->managed = managed;
  pthread_mutex_lock(&lock);
  v->next = v->fat->variables;
  v->fat->variables = v;
  v->same_host = u64map_get(&variables_by_host, KEY(host));
  u64map_put(&variables_by_host, KEY(host), v);
  if (managed) {
    v->fat->has_managed = true;
    __atomic_store_n(&managed_pending, true, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&lock);
}

void __cudaRegisterVar(void **handle, char *host, char *device_address, const char *name, int ext,
                       size_t size, int constant, int global) {
  add_variable(handle, host, name, size, false);
}

void __cudaRegisterManagedVar(void **handle, void **host_pointer, char *device_address,
                              const char *name, int ext, size_t size, int constant, int global) {
  add_variable(handle, host_pointer, name, size, true);
}

// A host variable that device code may reach on machines with one page table for both: the virtual
// device reads host memory only where it was registered, so register it.
void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size) {
  cuMemHostRegister_v2(host, size, 0);
}

// Texture and surface references left the language with toolkit 12; an object that still has one
// cannot be served.
void __cudaRegisterTexture(void **handle, const void *host, const void **device, const char *name,
                           int dim, int norm, int ext) {
  log_once(name,
           "texture reference '%s' is not supported: use texture objects (cudaCreateTextureObject)",
           name);
}
void __cudaRegisterSurface(void **handle, const void *host, const void **device, const char *name,
                           int dim, int ext) {
  log_once(name,
           "surface reference '%s' is not supported: use surface objects (cudaCreateSurfaceObject)",
           name);
}
void __cudaRegisterUnifiedTable(void **handle, void *table) { (void)handle; }

char __cudaInitModule(void **handle) { return rt_enter() == cudaSuccess; }

static Kernel **stub_list_slot(Kernel **slot, Kernel *k) {
  while (*slot && *slot != k) slot = &(*slot)->same_stub;
  return slot;
}

// The object is going away (dlclose, or the end of the process): its stubs and variables must not
// be found any more.
void __cudaUnregisterFatBinary(void **handle) {
  FatBinary *f = (FatBinary *)handle;
  if (!f) return;
  pthread_mutex_lock(&lock);
  unload(f);
  f->registered = false;
  f->has_managed = false;
  // records may still be asked for: answer with an error instead of the dead image
  f->loaded = true;
  f->load_error = cudaErrorInvalidDeviceFunction;
  for (Kernel *k = f->kernels; k; k = k->next) {
    Kernel *first = u64map_get(&kernels_by_stub, KEY(k->stub));
    Kernel **slot = stub_list_slot(&first, k);
    if (*slot) *slot = k->same_stub;
    if (first) u64map_put(&kernels_by_stub, KEY(k->stub), first);
    else u64map_remove(&kernels_by_stub, KEY(k->stub));
  }
  for (Variable *v = f->variables; v; v = v->next) {
    Variable *first = u64map_get(&variables_by_host, KEY(v->host)), **slot = &first;
    while (*slot && *slot != v) slot = &(*slot)->same_host;
    if (*slot) *slot = v->same_host;
    if (first) u64map_put(&variables_by_host, KEY(v->host), first);
    else u64map_remove(&variables_by_host, KEY(v->host));
  }
  pthread_mutex_unlock(&lock);
}

// The stub keeps this handle in a static variable for good, across cudaDeviceReset: hand out our
// record, not the driver's.
cudaError_t __cudaGetKernel(CUkernel *out, const void *stub) {
  pthread_mutex_lock(&lock);
  Kernel *k = u64map_get(&kernels_by_stub, KEY(stub));
  if (k) u64map_put(&kernels_by_handle, KEY(k), k);
  pthread_mutex_unlock(&lock);
  if (!k) return rt_return(cudaErrorInvalidDeviceFunction);
  *out = (CUkernel)k;
  return cudaSuccess;
}
