// The virtual memory API: physical memory (a memfd), reserved addresses, and mappings of one into
// the other.
#define _GNU_SOURCE
#include <sys/mman.h>

#include "driver/driver.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GRANULARITY = 2 << 20 };

typedef struct Physical {
  ObjectKind kind;
  int fd;
  size_t size;
  CUmemAllocationProp prop;
  Device *device;
  int refs;  // handle (and retains), mappings
  int handles;
  bool foreign;  // another process writes to it, too
} Physical;
typedef struct Mapping {
  uintptr_t base;
  size_t size;
  Physical *physical;
  int access;
} Mapping;
typedef struct Reservation {
  uintptr_t base;
  size_t size;
} Reservation;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static VEC(Mapping) mappings;
static VEC(Reservation) reservations;

static void unref(Physical *p) {
  if (--p->refs) return;
  session_memory_event(&(SessionMemoryEvent){PHYSICAL_GONE, .physical = p});
  close(p->fd);
  if (p->prop.location.type == CU_MEM_LOCATION_TYPE_DEVICE)
    atomic_fetch_sub(&p->device->used, p->size);
  free(p);
}

static bool aligned(uint64_t x) { return x % GRANULARITY == 0; }

static CUresult check_prop(const CUmemAllocationProp *prop) {
  if (!prop || (prop->type != CU_MEM_ALLOCATION_TYPE_PINNED)) return CUDA_ERROR_INVALID_VALUE;
  if ((unsigned)prop->requestedHandleTypes & ~(unsigned)CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
    return CUDA_ERROR_NOT_SUPPORTED;
  switch (prop->location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      return device_get(prop->location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT: return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuMemGetAllocationGranularity(size_t *out, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option) {
  TRY(driver_check());
  TRY(check_prop(prop));
  if (!out || (unsigned)option > 1) return CUDA_ERROR_INVALID_VALUE;
  *out = GRANULARITY;
  return CUDA_SUCCESS;
}

// --- physical memory ---

static Physical *physical_new(int fd, size_t size, const CUmemAllocationProp *prop) {
  Physical *p = object_new(OBJECT_PHYSICAL, sizeof *p);
  p->fd = fd;
  p->size = size;
  p->prop = *prop;
  p->device = device_get(prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE ? prop->location.id
                                                                            : 0);
  p->refs = p->handles = 1;
  session_handle(p);
  return p;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *out, size_t size,
                     const CUmemAllocationProp *prop, unsigned long long flags) {
  TRY(driver_check());
  TRY(check_prop(prop));
  if (!out || !size || !aligned(size) || flags) return CUDA_ERROR_INVALID_VALUE;
  bool on_device = prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  Device *dev = device_get(on_device ? prop->location.id : 0);
  if (on_device && atomic_fetch_add(&dev->used, size) + size > dev->memory) {
    atomic_fetch_sub(&dev->used, size);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  int fd = memfd_create("warpgrind device memory", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, (off_t)size)) {
    if (fd >= 0) close(fd);
    if (on_device) atomic_fetch_sub(&dev->used, size);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *out = (CUmemGenericAllocationHandle)(uintptr_t)physical_new(fd, size, prop);
  return CUDA_SUCCESS;
}

static CUresult physical_get(CUmemGenericAllocationHandle handle, Physical **out) {
  TRY(driver_check());
  *out = object_get((void *)(uintptr_t)handle, OBJECT_PHYSICAL);
  return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  Physical *p;
  CUresult found = physical_get(handle, &p);
  if (found == CUDA_ERROR_INVALID_VALUE)
    session_invalid_handle("cuMemRelease", (void *)(uintptr_t)handle);
  TRY(found);
  if (p->handles == 1) session_handle_gone(p);
  pthread_mutex_lock(&lock);
  if (!--p->handles) object_forget(p);
  unref(p);
  pthread_mutex_unlock(&lock);
  return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *out,
                                                CUmemGenericAllocationHandle handle) {
  Physical *p;
  TRY(physical_get(handle, &p));
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = p->prop;
  return CUDA_SUCCESS;
}

CUresult cuMemExportToShareableHandle(void *out, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags) {
  Physical *p;
  TRY(physical_get(handle, &p));
  if (!out || flags || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
    return CUDA_ERROR_INVALID_VALUE;
  if (!(p->prop.requestedHandleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
    return CUDA_ERROR_INVALID_VALUE;
  int fd = fcntl(p->fd, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return CUDA_ERROR_OPERATING_SYSTEM;
  *(int *)out = fd;
  p->foreign = true;
  session_memory_event(&(SessionMemoryEvent){PHYSICAL_SHARED, .physical = p});
  return CUDA_SUCCESS;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *out, void *os_handle,
                                        CUmemAllocationHandleType type) {
  TRY(driver_check());
  if (!out || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_INVALID_VALUE;
  struct stat st;
  int fd = fcntl((int)(intptr_t)os_handle, F_DUPFD_CLOEXEC, 0);
  if (fd < 0 || fstat(fd, &st) || !st.st_size || !aligned((uint64_t)st.st_size)) {
    if (fd >= 0) close(fd);
    return CUDA_ERROR_INVALID_VALUE;
  }
  CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                              .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                              .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
  Physical *p = physical_new(fd, (size_t)st.st_size, &prop);
  p->foreign = true;
  atomic_fetch_add(&p->device->used, p->size);
  *out = (CUmemGenericAllocationHandle)(uintptr_t)p;
  return CUDA_SUCCESS;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *out, void *address) {
  TRY(driver_check());
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < mappings.len; i++) {
    Mapping *m = &mappings.data[i];
    if ((uintptr_t)address - m->base >= m->size || !m->physical->handles) continue;
    m->physical->refs++;
    m->physical->handles++;
    *out = (CUmemGenericAllocationHandle)(uintptr_t)m->physical;
    result = CUDA_SUCCESS;
  }
  pthread_mutex_unlock(&lock);
  return result;
}

// --- addresses ---

CUresult cuMemAddressReserve(CUdeviceptr *out, size_t size, size_t alignment, CUdeviceptr hint,
                             unsigned long long flags) {
  TRY(driver_check());
  if (!out || !size || !aligned(size) || flags || (alignment & (alignment - 1)))
    return CUDA_ERROR_INVALID_VALUE;
  bool at_hint = hint && aligned(hint) && hint % MAX(alignment, (size_t)1) == 0 &&
                 vgpu_vm_reserve_at((void *)(uintptr_t)hint, size);
  void *p = at_hint ? (void *)(uintptr_t)hint
                    : vgpu_vm_reserve(size, MAX(alignment, (size_t)GRANULARITY));
  if (!p) return CUDA_ERROR_OUT_OF_MEMORY;
  pthread_mutex_lock(&lock);
  vec_push(&reservations, (Reservation){(uintptr_t)p, size});
  pthread_mutex_unlock(&lock);
  *out = (CUdeviceptr)(uintptr_t)p;
  return CUDA_SUCCESS;
}

static bool overlaps_mapping(uintptr_t p, size_t size) {
  for (uint32_t i = 0; i < mappings.len; i++)
    if (p < mappings.data[i].base + mappings.data[i].size && mappings.data[i].base < p + size)
      return true;
  return false;
}

CUresult cuMemAddressFree(CUdeviceptr p, size_t size) {
  TRY(driver_check());
  CUresult result = CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < reservations.len; i++) {
    Reservation *r = &reservations.data[i];
    if (r->base != p || r->size != size || overlaps_mapping(p, size)) continue;
    *r = reservations.data[--reservations.len];
    vgpu_vm_release((void *)(uintptr_t)p, size);
    result = CUDA_SUCCESS;
    break;
  }
  pthread_mutex_unlock(&lock);
  return result;
}

static bool reserved(uintptr_t p, size_t size) {
  for (uint32_t i = 0; i < reservations.len; i++)
    if (p >= reservations.data[i].base &&
        p + size <= reservations.data[i].base + reservations.data[i].size)
      return true;
  return false;
}

CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  Physical *p;
  TRY(physical_get(handle, &p));
  if (!size || !aligned(size) || !aligned(ptr) || !aligned(offset) || flags ||
      offset + size > p->size)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult result = CUDA_SUCCESS;
  pthread_mutex_lock(&lock);
  if (!reserved(ptr, size) || overlaps_mapping(ptr, size)) result = CUDA_ERROR_INVALID_VALUE;
  else if (mmap((void *)(uintptr_t)ptr, size, PROT_NONE, MAP_SHARED | MAP_FIXED, p->fd,
                (off_t)offset) == MAP_FAILED)
    result = CUDA_ERROR_OUT_OF_MEMORY;
  else {
    p->refs++;
    vec_push(&mappings, (Mapping){ptr, size, p, 0});
    alloc_add(&(Alloc){.base = ptr, .size = size, .kind = ALLOC_MAPPED, .device = p->device});
    events_map(ptr, size, p, offset, p->size,
               !p->foreign && p->prop.location.type == CU_MEM_LOCATION_TYPE_DEVICE);
  }
  pthread_mutex_unlock(&lock);
  return result;
}

// Ranges are whole mappings, one or several that follow each other.
static CUresult each_mapping(uintptr_t p, size_t size, void (*f)(Mapping *m, int arg), int arg) {
  size_t covered = 0;
  for (uint32_t i = 0; i < mappings.len; i++)
    if (mappings.data[i].base >= p && mappings.data[i].base + mappings.data[i].size <= p + size)
      covered += mappings.data[i].size;
  if (covered != size) return CUDA_ERROR_INVALID_VALUE;
  for (uint32_t i = mappings.len; i-- > 0;) {
    Mapping *m = &mappings.data[i];
    if (m->base >= p && m->base + m->size <= p + size) f(m, arg);
  }
  return CUDA_SUCCESS;
}

static void unmap(Mapping *m, int unused) {
  Alloc gone;
  mmap((void *)m->base, m->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
       -1, 0);
  alloc_remove(m->base, &gone);
  unref(m->physical);
  *m = mappings.data[--mappings.len];
}

CUresult cuMemUnmap(CUdeviceptr p, size_t size) {
  Context *ctx;
  TRY(driver_check());
  if (!size || !aligned(size) || !aligned(p)) return CUDA_ERROR_INVALID_VALUE;
  if (!context_of_thread(&ctx)) context_wait(ctx);  // queued work may still use it
  pthread_mutex_lock(&lock);
  CUresult result = each_mapping(p, size, unmap, 0);
  pthread_mutex_unlock(&lock);
  if (result) session_invalid_free("cuMemUnmap", p, SESSION_BIT(VIRTUAL));
  return result;
}

static void protect(Mapping *m, int access) {
  int prot = access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ? PROT_READ | PROT_WRITE
             : access == CU_MEM_ACCESS_FLAGS_PROT_READ    ? PROT_READ
                                                          : PROT_NONE;
  mprotect((void *)m->base, m->size, prot);
  m->access = access;
}

CUresult cuMemSetAccess(CUdeviceptr p, size_t size, const CUmemAccessDesc *desc, size_t count) {
  TRY(driver_check());
  if (!size || !aligned(size) || !desc || !count) return CUDA_ERROR_INVALID_VALUE;
  int access = 0;
  for (size_t i = 0; i < count; i++) {
    if (desc[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE && !device_get(desc[i].location.id))
      return CUDA_ERROR_INVALID_DEVICE;
    access |= (int)desc[i].flags;
  }
  pthread_mutex_lock(&lock);
  CUresult result = each_mapping(p, size, protect, access);
  pthread_mutex_unlock(&lock);
  return result;
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr p) {
  TRY(driver_check());
  if (!flags || !location) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < mappings.len; i++)
    if (p - mappings.data[i].base < mappings.data[i].size) {
      *flags = (unsigned long long)mappings.data[i].access;
      result = CUDA_SUCCESS;
    }
  pthread_mutex_unlock(&lock);
  return result;
}
