// Memory for suspended threads, whose number is not known in advance. We reserve addresses for all
// threads, and map memory there when it is needed, while the kernel runs.
#include "gpu/interrupts/interrupts.h"

typedef struct GpuRoom {
  size_t reserved;
  int device;
  VEC(CUmemGenericAllocationHandle) parts;
} GpuRoom;

static CUmemAllocationProp kind_of(int device) {
  return (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                               .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device}};
}

static bool has_functions(void) {
  return gpu_real.cuMemAddressReserve && gpu_real.cuMemCreate && gpu_real.cuMemMap &&
         gpu_real.cuMemSetAccess && gpu_real.cuMemGetAllocationGranularity &&
         gpu_real.cuMemAddressFree && gpu_real.cuMemUnmap && gpu_real.cuMemRelease;
}

static bool add_part(GpuBuffer *b, size_t bytes) {
  CUmemAllocationProp kind = kind_of(b->room->device);
  CUmemAccessDesc access = {kind.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CUmemGenericAllocationHandle part;
  if (gpu_real.cuMemCreate(&part, bytes, &kind, 0) != CUDA_SUCCESS) return false;
  if (gpu_real.cuMemMap(b->p + b->size, bytes, 0, part, 0) != CUDA_SUCCESS) {
    gpu_real.cuMemRelease(part);
    return false;
  }
  if (gpu_real.cuMemSetAccess(b->p + b->size, bytes, &access, 1) != CUDA_SUCCESS) {
    gpu_real.cuMemUnmap(b->p + b->size, bytes);
    gpu_real.cuMemRelease(part);
    return false;
  }
  vec_push(&b->room->parts, part);
  b->size += bytes;
  return true;
}

// Refuses, before the launch, a size that exceeds the memory of the device.
bool gpu_room_make(GpuBuffer *b, size_t size) {
  CUdevice device;
  size_t step = 0, left, all;
  CUdeviceptr p = 0;
  if (!has_functions() || gpu_real.cuCtxGetDevice(&device) != CUDA_SUCCESS ||
      gpu_real.cuMemGetInfo_v2(&left, &all) != CUDA_SUCCESS || size > all)
    return false;
  CUmemAllocationProp kind = kind_of(device);
  if (gpu_real.cuMemGetAllocationGranularity(&step, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM) !=
          CUDA_SUCCESS ||
      !step)
    return false;
  size_t reserved = (size + step - 1) / step * step;
  if (gpu_real.cuMemAddressReserve(&p, reserved, 0, 0, 0) != CUDA_SUCCESS) return false;
  b->room = mem_alloc(sizeof *b->room);
  *b->room = (GpuRoom){.reserved = reserved, .device = device};
  b->p = p;
  b->size = 0;
  if (add_part(b, MIN(reserved, (ROOM_AT_FIRST + step - 1) / step * step))) return true;
  gpu_room_free(b);
  return false;
}

bool gpu_room_grow(GpuBuffer *b) {
  if (!b || !b->room || b->size == b->room->reserved) return false;
  return add_part(b, MIN(b->size, b->room->reserved - b->size));
}

size_t gpu_room_most(const GpuBuffer *b) { return b->room->reserved; }

void gpu_room_forget(GpuBuffer *b) {
  vec_free(&b->room->parts);
  free(b->room);
  b->room = NULL;
}

void gpu_room_free(GpuBuffer *b) {
  if (b->size) gpu_real.cuMemUnmap(b->p, b->size);
  for (uint32_t i = 0; i < b->room->parts.len; i++) gpu_real.cuMemRelease(b->room->parts.data[i]);
  gpu_real.cuMemAddressFree(b->p, b->room->reserved);
  gpu_room_forget(b);
}
