// Converts copies from the driver's interface to Warpgrind's.
#include "cuda/abi.h"
#include "session/session.h"

static SessionPlace place(CUmemorytype type, const void *host, CUdeviceptr device, CUarray array) {
  switch (type) {
    case CU_MEMORYTYPE_HOST:
      return (SessionPlace){.kind = SESSION_PLACE_HOST, .address = (uintptr_t)host};
    case CU_MEMORYTYPE_DEVICE:
      return (SessionPlace){.kind = SESSION_PLACE_DEVICE, .address = device};
    case CU_MEMORYTYPE_ARRAY:
      return (SessionPlace){.kind = SESSION_PLACE_ARRAY, .address = (uintptr_t)array};
    default: return (SessionPlace){.kind = SESSION_PLACE_UNIFIED, .address = device};
  }
}

static void at(SessionPlace *p, size_t x, size_t y, size_t z, size_t pitch, size_t rows) {
  p->x = x;
  p->y = y;
  p->z = z;
  p->pitch = pitch;
  p->rows = rows;
}

void session_copy_of_rectangle(const CUDA_MEMCPY2D *p, SessionCopy *out) {
  out->from = place(p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray);
  out->to = place(p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray);
  at(&out->from, p->srcXInBytes, p->srcY, 0, p->srcPitch, 0);
  at(&out->to, p->dstXInBytes, p->dstY, 0, p->dstPitch, 0);
  out->width = p->WidthInBytes;
  out->height = p->Height;
  out->depth = 1;
}

void session_copy_of_box(const CUDA_MEMCPY3D *p, SessionCopy *out) {
  out->from = place(p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray);
  out->to = place(p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray);
  at(&out->from, p->srcXInBytes, p->srcY, p->srcZ, p->srcPitch, p->srcHeight);
  at(&out->to, p->dstXInBytes, p->dstY, p->dstZ, p->dstPitch, p->dstHeight);
  out->width = p->WidthInBytes;
  out->height = p->Height;
  out->depth = p->Depth;
}

void session_copy_of_set(const CUDA_MEMSET_NODE_PARAMS *p, SessionCopy *out) {
  out->to = (SessionPlace){.kind = SESSION_PLACE_DEVICE, .address = p->dst, .pitch = p->pitch};
  out->is_set = true;
  out->value = p->value;
  out->value_bytes = p->elementSize;
  out->width = p->width * p->elementSize;
  out->height = p->height;
  out->depth = 1;
}
