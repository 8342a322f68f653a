// Arrays and mipmapped arrays: stored row after row, slice after slice, without gaps.
#include "driver/driver.h"

typedef struct Format {
  CUarray_format format;
  VgpuTexel texel;
  unsigned char channels;
  bool normalized;
} Format;
static const Format formats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, TEXEL_U8, 0, false},
    {CU_AD_FORMAT_UNSIGNED_INT16, TEXEL_U16, 0, false},
    {CU_AD_FORMAT_UNSIGNED_INT32, TEXEL_U32, 0, false},
    {CU_AD_FORMAT_SIGNED_INT8, TEXEL_S8, 0, false},
    {CU_AD_FORMAT_SIGNED_INT16, TEXEL_S16, 0, false},
    {CU_AD_FORMAT_SIGNED_INT32, TEXEL_S32, 0, false},
    {CU_AD_FORMAT_HALF, TEXEL_F16, 0, false},
    {CU_AD_FORMAT_FLOAT, TEXEL_F32, 0, false},
    {CU_AD_FORMAT_UNORM_INT8X1, TEXEL_U8, 1, true},
    {CU_AD_FORMAT_UNORM_INT8X2, TEXEL_U8, 2, true},
    {CU_AD_FORMAT_UNORM_INT8X4, TEXEL_U8, 4, true},
    {CU_AD_FORMAT_UNORM_INT16X1, TEXEL_U16, 1, true},
    {CU_AD_FORMAT_UNORM_INT16X2, TEXEL_U16, 2, true},
    {CU_AD_FORMAT_UNORM_INT16X4, TEXEL_U16, 4, true},
    {CU_AD_FORMAT_SNORM_INT8X1, TEXEL_S8, 1, true},
    {CU_AD_FORMAT_SNORM_INT8X2, TEXEL_S8, 2, true},
    {CU_AD_FORMAT_SNORM_INT8X4, TEXEL_S8, 4, true},
    {CU_AD_FORMAT_SNORM_INT16X1, TEXEL_S16, 1, true},
    {CU_AD_FORMAT_SNORM_INT16X2, TEXEL_S16, 2, true},
    {CU_AD_FORMAT_SNORM_INT16X4, TEXEL_S16, 4, true},
};

bool array_texel(CUarray_format format, VgpuTexel *texel, unsigned *channels, bool *normalized) {
  for (size_t i = 0; i < ARRAY_LEN(formats); i++)
    if (formats[i].format == format) {
      *texel = formats[i].texel;
      *channels = formats[i].channels;
      *normalized = formats[i].normalized;
      return true;
    }
  return false;
}

unsigned array_texel_bytes(VgpuTexel t) {
  switch (t) {
    case TEXEL_U8:
    case TEXEL_S8: return 1;
    case TEXEL_U16:
    case TEXEL_S16:
    case TEXEL_F16: return 2;
    default: return 4;
  }
}

static VEC(void *) all_arrays;  // Array or Mipmap, for contexts that end
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void remember(void *p) {
  pthread_mutex_lock(&lock);
  vec_push(&all_arrays, p);
  pthread_mutex_unlock(&lock);
}

static void forget(void *p) {
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < all_arrays.len; i++)
    if (all_arrays.data[i] == p) {
      all_arrays.data[i] = all_arrays.data[--all_arrays.len];
      break;
    }
  pthread_mutex_unlock(&lock);
}

static CUresult describe(const CUDA_ARRAY3D_DESCRIPTOR *d, VgpuArray *v) {
  unsigned fixed;
  bool normalized;
  if (!array_texel(d->Format, &v->texel, &fixed, &normalized)) {
    log_once("array format", "array format 0x%x is not supported by the virtual device",
             (unsigned)d->Format);
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  unsigned channels = fixed ? fixed : d->NumChannels;
  if (!d->Width || (channels != 1 && channels != 2 && channels != 4))
    return CUDA_ERROR_INVALID_VALUE;
  if (d->Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING))
    return CUDA_ERROR_NOT_SUPPORTED;
  if (d->Width > 1 << 27 || d->Height > 1 << 20 || d->Depth > 1 << 20)
    return CUDA_ERROR_INVALID_VALUE;
  bool layered = d->Flags & CUDA_ARRAY3D_LAYERED;
  v->cubemap = d->Flags & CUDA_ARRAY3D_CUBEMAP;
  if (v->cubemap &&
      (d->Width != d->Height || !d->Depth || d->Depth % 6 || (!layered && d->Depth != 6)))
    return CUDA_ERROR_INVALID_VALUE;
  if (layered && !d->Depth) return CUDA_ERROR_INVALID_VALUE;
  if (!layered && !v->cubemap && d->Depth && !d->Height) return CUDA_ERROR_INVALID_VALUE;
  v->width = (uint32_t)d->Width;
  v->height = (uint32_t)d->Height;
  v->channels = channels;
  if (layered || v->cubemap) v->layers = (uint32_t)d->Depth;
  else v->depth = (uint32_t)d->Depth;
  v->row_bytes = d->Width * channels * array_texel_bytes(v->texel);
  v->slice_bytes = v->row_bytes * MAX(d->Height, 1);
  return CUDA_SUCCESS;
}

static CUresult make(Context *ctx, const CUDA_ARRAY3D_DESCRIPTOR *d, Array **out) {
  VgpuArray v = {0};
  CUdeviceptr p;
  TRY(describe(d, &v));
  size_t bytes = v.slice_bytes * MAX(d->Depth, 1);
  TRY(memory_new(ctx, bytes, ALLOC_ARRAY, 0, NULL, &p));
  v.data = (void *)(uintptr_t)p;
  Array *a = object_new(OBJECT_ARRAY, sizeof *a);
  a->ctx = ctx;
  a->desc = *d;
  a->vgpu = v;
  a->bytes = bytes;
  session_array((uintptr_t)a, &(SessionArray){v.channels * array_texel_bytes(v.texel), v.row_bytes,
                                              MAX(d->Height, 1), MAX(d->Depth, 1), p});
  *out = a;
  return CUDA_SUCCESS;
}

static void destroy(Array *a) {
  session_array_gone((uintptr_t)a);
  memory_free_now((CUdeviceptr)(uintptr_t)a->vgpu.data);
  object_delete(a);
}

static void destroy_mipmap(Mipmap *m) {
  for (uint32_t i = 0; i < m->levels.len; i++) destroy(m->levels.data[i]);
  vec_free(&m->levels);
  free(m->vgpu_levels);
  object_delete(m);
}

// The memory itself is freed with the context's other ranges.
void array_forget_context(Context *ctx) {
  for (;;) {
    void *found = NULL;
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < all_arrays.len && !found; i++) {
      void *p = all_arrays.data[i];
      bool is_array = object_kind(p) == OBJECT_ARRAY;
      if ((is_array ? ((Array *)p)->ctx : ((Mipmap *)p)->ctx) == ctx) found = p;
    }
    pthread_mutex_unlock(&lock);
    if (!found) return;
    forget(found);
    session_handle_gone(found);
    if (object_kind(found) == OBJECT_ARRAY) destroy(found);
    else destroy_mipmap(found);
  }
}

// --- arrays ---

CUresult cuArray3DCreate_v2(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *d) {
  Context *ctx;
  Array *a;
  TRY(context_current(&ctx));
  if (!out || !d) return CUDA_ERROR_INVALID_VALUE;
  TRY(make(ctx, d, &a));
  remember(a);
  session_handle(a);
  *out = (CUarray)a;
  return CUDA_SUCCESS;
}

CUresult cuArrayCreate_v2(CUarray *out, const CUDA_ARRAY_DESCRIPTOR *d) {
  if (!d) return CUDA_ERROR_INVALID_VALUE;
  CUDA_ARRAY3D_DESCRIPTOR d3 = {
      .Width = d->Width, .Height = d->Height, .Format = d->Format, .NumChannels = d->NumChannels};
  return cuArray3DCreate_v2(out, &d3);
}

static CUresult array_get(CUarray handle, Array **out) {
  TRY(driver_check());
  *out = object_get(handle, OBJECT_ARRAY);
  return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuArrayDestroy(CUarray handle) {
  Array *a;
  CUresult found = array_get(handle, &a);
  if (found == CUDA_ERROR_INVALID_HANDLE)
    session_invalid_handle("cuArrayDestroy (cudaFreeArray)", handle);
  TRY(found);
  if (a->is_level) return CUDA_ERROR_INVALID_HANDLE;
  session_handle_gone(a);
  CUresult error = context_wait(a->ctx);
  forget(a);
  destroy(a);
  return error;
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *out, CUarray handle) {
  Array *a;
  TRY(array_get(handle, &a));
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = a->desc;
  return CUDA_SUCCESS;
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *out, CUarray handle) {
  Array *a;
  TRY(array_get(handle, &a));
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = (CUDA_ARRAY_DESCRIPTOR){a->desc.Width, a->desc.Height, a->desc.Format,
                                 a->desc.NumChannels};
  return CUDA_SUCCESS;
}

CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *out, CUarray handle,
                                      CUdevice device) {
  Array *a;
  TRY(array_get(handle, &a));
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = (CUDA_ARRAY_MEMORY_REQUIREMENTS){.size = a->bytes, .alignment = 512};
  return CUDA_SUCCESS;
}

// --- mipmapped arrays ---

CUresult cuMipmappedArrayCreate(CUmipmappedArray *out, const CUDA_ARRAY3D_DESCRIPTOR *d,
                                unsigned levels) {
  Context *ctx;
  TRY(context_current(&ctx));
  if (!out || !d || !levels || !d->Width) return CUDA_ERROR_INVALID_VALUE;
  bool layered = d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
  size_t largest = MAX(MAX(d->Width, d->Height), layered ? 1 : d->Depth);
  unsigned most = 1;
  while (largest >> most) most++;
  Mipmap *m = object_new(OBJECT_MIPMAP, sizeof *m);
  m->ctx = ctx;
  m->desc = *d;
  CUresult result = CUDA_SUCCESS;
  for (unsigned i = 0; i < MIN(levels, most) && !result; i++) {
    CUDA_ARRAY3D_DESCRIPTOR level = *d;
    Array *a;
    level.Width = MAX(d->Width >> i, 1);
    if (d->Height) level.Height = MAX(d->Height >> i, 1);
    if (d->Depth && !layered) level.Depth = MAX(d->Depth >> i, 1);
    result = make(ctx, &level, &a);
    if (result) break;
    a->is_level = true;
    vec_push(&m->levels, a);
  }
  if (result) {
    destroy_mipmap(m);
    return result;
  }
  m->vgpu_levels = mem_alloc(sizeof *m->vgpu_levels * m->levels.len);
  for (uint32_t i = 0; i < m->levels.len; i++) m->vgpu_levels[i] = m->levels.data[i]->vgpu;
  remember(m);
  session_handle(m);
  *out = (CUmipmappedArray)m;
  return CUDA_SUCCESS;
}

static CUresult mipmap_get(CUmipmappedArray handle, Mipmap **out) {
  TRY(driver_check());
  *out = object_get(handle, OBJECT_MIPMAP);
  return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuMipmappedArrayGetLevel(CUarray *out, CUmipmappedArray handle, unsigned level) {
  Mipmap *m;
  TRY(mipmap_get(handle, &m));
  if (!out || level >= m->levels.len) return CUDA_ERROR_INVALID_VALUE;
  *out = (CUarray)m->levels.data[level];
  return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray handle) {
  Mipmap *m;
  CUresult found = mipmap_get(handle, &m);
  if (found == CUDA_ERROR_INVALID_HANDLE)
    session_invalid_handle("cuMipmappedArrayDestroy (cudaFreeMipmappedArray)", handle);
  TRY(found);
  session_handle_gone(m);
  CUresult error = context_wait(m->ctx);
  forget(m);
  destroy_mipmap(m);
  return error;
}

CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *out,
                                               CUmipmappedArray handle, CUdevice device) {
  Mipmap *m;
  TRY(mipmap_get(handle, &m));
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = (CUDA_ARRAY_MEMORY_REQUIREMENTS){.alignment = 512};
  for (uint32_t i = 0; i < m->levels.len; i++) out->size += m->levels.data[i]->bytes;
  return CUDA_SUCCESS;
}
