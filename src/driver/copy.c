// Copies as work: source, destination and size, checked against the known allocations.
#include "driver/driver.h"

// All of [p, p+n) inside ranges we know; virtual memory may be mapped from several.
static bool known_range(uintptr_t p, size_t n) {
  Alloc a;
  while (alloc_find(p, &a)) {
    if (p + n <= a.base + a.size) return true;
    n -= a.base + a.size - p;
    p = a.base + a.size;
  }
  return false;
}

typedef struct Side {  // one side of a CUDA_MEMCPY3D
  CUmemorytype type;
  uintptr_t address;
  CUarray array;
  size_t x, y, z, pitch, height;
} Side;

static CUresult resolve(const Side *s, const CUDA_MEMCPY3D *d, char **at, size_t *row,
                        size_t *slice) {
  if (s->type == CU_MEMORYTYPE_ARRAY) {
    Array *a = object_get(s->array, OBJECT_ARRAY);
    if (!a) return CUDA_ERROR_INVALID_HANDLE;
    const VgpuArray *v = &a->vgpu;
    size_t rows = MAX(v->height, 1), slices = MAX(MAX(v->depth, v->layers), 1);
    if (s->x + d->WidthInBytes > v->row_bytes || s->y + d->Height > rows ||
        s->z + d->Depth > slices)
      return CUDA_ERROR_INVALID_VALUE;
    *row = v->row_bytes;
    *slice = v->slice_bytes;
    *at = (char *)v->data + s->z * v->slice_bytes + s->y * v->row_bytes + s->x;
    return CUDA_SUCCESS;
  }
  if (s->type != CU_MEMORYTYPE_HOST && s->type != CU_MEMORYTYPE_DEVICE &&
      s->type != CU_MEMORYTYPE_UNIFIED)
    return CUDA_ERROR_INVALID_VALUE;
  size_t pitch = s->pitch ? s->pitch : s->x + d->WidthInBytes;
  size_t height = s->height ? s->height : s->y + d->Height;
  if (pitch < s->x + d->WidthInBytes && (d->Height > 1 || d->Depth > 1))
    return CUDA_ERROR_INVALID_VALUE;
  if (height < s->y + d->Height) return CUDA_ERROR_INVALID_VALUE;  // of one slice, too: H200
  *row = pitch;
  *slice = pitch * height;
  uintptr_t first = s->address + s->z * *slice + s->y * *row + s->x;
  size_t extent = (d->Depth - 1) * *slice + (d->Height - 1) * *row + d->WidthInBytes;
  Alloc a;
  bool must_be_known = s->type == CU_MEMORYTYPE_DEVICE || vgpu_in_window((void *)first) ||
                       alloc_find(first, &a);
  if (must_be_known && !known_range(first, extent)) return CUDA_ERROR_INVALID_VALUE;
  if (!s->address) return CUDA_ERROR_INVALID_VALUE;
  *at = (char *)first;
  return CUDA_SUCCESS;
}

static bool goes_to_host(const void *p) {
  Alloc a;
  return !alloc_find((uintptr_t)p, &a) || a.kind == ALLOC_HOST || a.kind == ALLOC_REGISTERED;
}

CUresult copy_prepare(const CUDA_MEMCPY3D *d, CopyWork *out) {
  *out = (CopyWork){.desc = *d};
  if (!d->WidthInBytes || !d->Height || !d->Depth) return CUDA_SUCCESS;
  Side src = {d->srcMemoryType,
              d->srcMemoryType == CU_MEMORYTYPE_HOST ? (uintptr_t)d->srcHost
                                                     : (uintptr_t)d->srcDevice,
              d->srcArray,
              d->srcXInBytes,
              d->srcY,
              d->srcZ,
              d->srcPitch,
              d->srcHeight};
  Side dst = {d->dstMemoryType,
              d->dstMemoryType == CU_MEMORYTYPE_HOST ? (uintptr_t)d->dstHost
                                                     : (uintptr_t)d->dstDevice,
              d->dstArray,
              d->dstXInBytes,
              d->dstY,
              d->dstZ,
              d->dstPitch,
              d->dstHeight};
  char *from;
  TRY(resolve(&src, d, &from, &out->src_row, &out->src_slice));
  TRY(resolve(&dst, d, &out->dst, &out->dst_row, &out->dst_slice));
  out->src = from;
  out->width = d->WidthInBytes;
  out->height = d->Height;
  out->depth = d->Depth;
  if (session_wants_copies() && goes_to_host(out->dst)) out->stack = session_copy_stack();
  return CUDA_SUCCESS;
}

void copy_run(const CopyWork *c) {
  if (!c->width) return;
  if (c->height == 1 && c->depth == 1) {
    memmove(c->dst, c->src, c->width);
    return;
  }
  for (size_t z = 0; z < c->depth; z++)
    for (size_t y = 0; y < c->height; y++)
      memmove(c->dst + z * c->dst_slice + y * c->dst_row,
              c->src + z * c->src_slice + y * c->src_row, c->width);
}

// --- sets ---

CUresult set_prepare(const CUDA_MEMSET_NODE_PARAMS *p, SetWork *out) {
  if (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4)
    return CUDA_ERROR_INVALID_VALUE;
  *out = (SetWork){.dst = (char *)(uintptr_t)p->dst,
                   .pitch = p->pitch,
                   .width = p->width,
                   .height = p->height,
                   .value = p->value,
                   .element = p->elementSize};
  if (!p->width || !p->height) return CUDA_SUCCESS;
  if (p->dst % p->elementSize) return CUDA_ERROR_INVALID_VALUE;
  size_t row = p->width * p->elementSize;
  if (p->height > 1 && p->pitch < row) return CUDA_ERROR_INVALID_VALUE;
  return known_range(p->dst, (p->height - 1) * p->pitch + row) ? CUDA_SUCCESS
                                                               : CUDA_ERROR_INVALID_VALUE;
}

static void set_row(char *row, size_t n, uint32_t value, uint32_t element) {
  switch (element) {
    case 1: memset(row, (int)(value & 255), n); break;
    case 2:
      for (size_t i = 0; i < n; i++) ((uint16_t *)row)[i] = (uint16_t)value;
      break;
    default:
      for (size_t i = 0; i < n; i++) ((uint32_t *)row)[i] = value;
  }
}

void set_run(const SetWork *s) {
  for (size_t y = 0; y < s->height; y++)
    set_row(s->dst + y * s->pitch, s->width, s->value, s->element);
}
