// Texture and surface objects: resource, sampling and view descriptions become a VgpuTexture.
#include "driver/driver.h"

typedef struct TextureObject {  // what the getters answer
  CUDA_RESOURCE_DESC resource;
  CUDA_TEXTURE_DESC texture;
  CUDA_RESOURCE_VIEW_DESC view;
  bool has_view, is_surface;
} TextureObject;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map objects;  // handle -> TextureObject

static TextureObject *find(uint64_t handle, bool surface) {
  pthread_mutex_lock(&lock);
  TextureObject *o = u64map_get(&objects, handle);
  pthread_mutex_unlock(&lock);
  return o && o->is_surface == surface ? o : NULL;
}

static CUresult fill_linear(VgpuTexture *t, CUdeviceptr p, CUarray_format format,
                            unsigned channels) {
  unsigned fixed;
  bool normalized;
  if (!p || !array_texel(format, &t->array.texel, &fixed, &normalized))
    return CUDA_ERROR_INVALID_VALUE;
  t->array.channels = fixed ? fixed : channels;
  if (t->array.channels != 1 && t->array.channels != 2 && t->array.channels != 4)
    return CUDA_ERROR_INVALID_VALUE;
  t->array.data = (void *)(uintptr_t)p;
  t->normalized_float |= normalized;
  return CUDA_SUCCESS;
}

static CUresult fill_resource(VgpuTexture *t, const CUDA_RESOURCE_DESC *r) {
  VgpuTexel texel;
  unsigned fixed;
  bool normalized;
  switch ((int)r->resType) {
    case CU_RESOURCE_TYPE_ARRAY: {
      Array *a = object_get(r->res.array.hArray, OBJECT_ARRAY);
      if (!a) return CUDA_ERROR_INVALID_HANDLE;
      t->source = TEX_ARRAY;
      t->array = a->vgpu;
      if (array_texel(a->desc.Format, &texel, &fixed, &normalized))
        t->normalized_float |= normalized;
      return CUDA_SUCCESS;
    }
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: {
      Mipmap *m = object_get(r->res.mipmap.hMipmappedArray, OBJECT_MIPMAP);
      if (!m) return CUDA_ERROR_INVALID_HANDLE;
      t->source = TEX_MIPMAP;
      t->array = m->vgpu_levels[0];
      t->levels = m->vgpu_levels;
      t->nlevels = m->levels.len;
      if (array_texel(m->desc.Format, &texel, &fixed, &normalized))
        t->normalized_float |= normalized;
      return CUDA_SUCCESS;
    }
    case CU_RESOURCE_TYPE_LINEAR: {
      TRY(fill_linear(t, r->res.linear.devPtr, r->res.linear.format, r->res.linear.numChannels));
      size_t element = array_texel_bytes(t->array.texel) * t->array.channels;
      t->source = TEX_LINEAR;
      t->array.width = (uint32_t)MIN(r->res.linear.sizeInBytes / element, 1u << 28);
      t->array.row_bytes = t->array.slice_bytes = r->res.linear.sizeInBytes;
      return CUDA_SUCCESS;
    }
    case CU_RESOURCE_TYPE_PITCH2D:
      TRY(fill_linear(t, r->res.pitch2D.devPtr, r->res.pitch2D.format, r->res.pitch2D.numChannels));
      if (!r->res.pitch2D.width || !r->res.pitch2D.height) return CUDA_ERROR_INVALID_VALUE;
      t->source = TEX_PITCH2D;
      t->array.width = (uint32_t)r->res.pitch2D.width;
      t->array.height = (uint32_t)r->res.pitch2D.height;
      t->array.row_bytes = r->res.pitch2D.pitchInBytes;
      t->array.slice_bytes = t->array.row_bytes * t->array.height;
      return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

// View formats 1 to 0x18 come in threes: 1, 2 and 4 channels of one texel type.
static CUresult fill_view(VgpuTexture *t, const CUDA_RESOURCE_VIEW_DESC *v) {
  static const VgpuTexel types[] = {TEXEL_U8,  TEXEL_S8,  TEXEL_U16, TEXEL_S16,
                                    TEXEL_U32, TEXEL_S32, TEXEL_F16, TEXEL_F32};
  if ((unsigned)v->format > 0x18) {
    log_once("texture view",
             "texture views in block-compressed formats are not supported by the virtual device");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (v->format) {
    unsigned k = (unsigned)v->format - 1;
    t->array.texel = types[k / 3];
    t->array.channels = 1u << k % 3;
    if (v->width) t->array.width = (uint32_t)v->width;
  }
  if (t->source == TEX_MIPMAP && (v->firstMipmapLevel || v->lastMipmapLevel)) {
    if (v->firstMipmapLevel > v->lastMipmapLevel || v->lastMipmapLevel >= t->nlevels)
      return CUDA_ERROR_INVALID_VALUE;
    t->levels += v->firstMipmapLevel;
    t->nlevels = v->lastMipmapLevel - v->firstMipmapLevel + 1;
    t->array = t->levels[0];
  }
  if (t->array.layers && v->lastLayer > v->firstLayer) {
    if (v->lastLayer >= t->array.layers) return CUDA_ERROR_INVALID_VALUE;
    t->array.data = (char *)t->array.data + v->firstLayer * t->array.slice_bytes;
    t->array.layers = v->lastLayer - v->firstLayer + 1;
  }
  return CUDA_SUCCESS;
}

static bool is_float(VgpuTexel t) { return t == TEXEL_F16 || t == TEXEL_F32; }

CUresult texture_describe(const CUDA_RESOURCE_DESC *r, const CUDA_TEXTURE_DESC *d,
                          const CUDA_RESOURCE_VIEW_DESC *v, VgpuTexture *t) {
  *t = (VgpuTexture){0};
  TRY(fill_resource(t, r));
  if (v) TRY(fill_view(t, v));
  for (int i = 0; i < 3; i++) {
    if ((unsigned)d->addressMode[i] > CU_TR_ADDRESS_MODE_BORDER) return CUDA_ERROR_INVALID_VALUE;
    t->address[i] = (VgpuAddressMode)d->addressMode[i];
  }
  t->linear_filter = d->filterMode == CU_TR_FILTER_MODE_LINEAR;
  t->linear_mip_filter = d->mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR;
  t->normalized_coords = d->flags & CU_TRSF_NORMALIZED_COORDINATES;
  t->srgb = d->flags & CU_TRSF_SRGB;
  bool small = array_texel_bytes(t->array.texel) < 4 && !is_float(t->array.texel);
  t->normalized_float |= small && !(d->flags & CU_TRSF_READ_AS_INTEGER);
  if (t->linear_filter && !t->normalized_float && !is_float(t->array.texel))
    return CUDA_ERROR_INVALID_VALUE;
  memcpy(t->border, d->borderColor, sizeof t->border);
  t->mip_bias = d->mipmapLevelBias;
  t->mip_min = d->minMipmapLevelClamp;
  t->mip_max = d->maxMipmapLevelClamp;
  return CUDA_SUCCESS;
}

static uint64_t remember(const VgpuTexture *t, const TextureObject *o) {
  TextureObject *copy = mem_alloc(sizeof *copy);
  *copy = *o;
  uint64_t handle = vgpu_texture_create(t);
  pthread_mutex_lock(&lock);
  u64map_put(&objects, handle, copy);
  pthread_mutex_unlock(&lock);
  return handle;
}

static CUresult destroy(uint64_t handle, bool surface) {
  TRY(driver_check());
  TextureObject *o = find(handle, surface);
  if (!o) return CUDA_ERROR_INVALID_VALUE;
  Context *ctx;
  if (!context_of_thread(&ctx)) context_wait(ctx);
  pthread_mutex_lock(&lock);
  u64map_remove(&objects, handle);
  pthread_mutex_unlock(&lock);
  free(o);
  vgpu_texture_destroy(handle);
  return CUDA_SUCCESS;
}

CUresult cuTexObjectCreate(CUtexObject *out, const CUDA_RESOURCE_DESC *r,
                           const CUDA_TEXTURE_DESC *d, const CUDA_RESOURCE_VIEW_DESC *v) {
  Context *ctx;
  VgpuTexture t;
  TRY(context_current(&ctx));
  if (!out || !r || !d) return CUDA_ERROR_INVALID_VALUE;
  session_texture_check("cuTexObjectCreate", r);
  if (v && (r->resType == CU_RESOURCE_TYPE_LINEAR || r->resType == CU_RESOURCE_TYPE_PITCH2D))
    return CUDA_ERROR_INVALID_VALUE;
  TRY(texture_describe(r, d, v, &t));
  TextureObject o = {.resource = *r, .texture = *d, .has_view = v != NULL};
  if (v) o.view = *v;
  *out = remember(&t, &o);
  session_texture_created(*out, r);
  return CUDA_SUCCESS;
}

CUresult cuSurfObjectCreate(CUsurfObject *out, const CUDA_RESOURCE_DESC *r) {
  Context *ctx;
  VgpuTexture t = {0};
  TRY(context_current(&ctx));
  if (!out || !r || r->resType != CU_RESOURCE_TYPE_ARRAY) return CUDA_ERROR_INVALID_VALUE;
  TRY(fill_resource(&t, r));
  t.is_surface = true;
  *out = remember(&t, &(TextureObject){.resource = *r, .is_surface = true});
  CUDA_ARRAY3D_DESCRIPTOR shape;
  if (cuArray3DGetDescriptor_v2(&shape, r->res.array.hArray) == CUDA_SUCCESS)
    session_surface_created(*out, &shape);
  return CUDA_SUCCESS;
}

CUresult cuTexObjectDestroy(CUtexObject handle) {
  TRY(destroy(handle, false));
  session_texture_destroyed(handle);
  return CUDA_SUCCESS;
}
CUresult cuSurfObjectDestroy(CUsurfObject handle) {
  TRY(destroy(handle, true));
  session_surface_destroyed(handle);
  return CUDA_SUCCESS;
}

#define OBJECT_OR_RETURN(o, handle, surface, out) \
  TRY(driver_check()); \
  TextureObject *o = find(handle, surface); \
  if (!o || !(out)) return CUDA_ERROR_INVALID_VALUE

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *out, CUtexObject handle) {
  OBJECT_OR_RETURN(o, handle, false, out);
  *out = o->resource;
  return CUDA_SUCCESS;
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *out, CUtexObject handle) {
  OBJECT_OR_RETURN(o, handle, false, out);
  *out = o->texture;
  return CUDA_SUCCESS;
}

CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *out, CUtexObject handle) {
  OBJECT_OR_RETURN(o, handle, false, out);
  if (!o->has_view) return CUDA_ERROR_INVALID_VALUE;
  *out = o->view;
  return CUDA_SUCCESS;
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *out, CUsurfObject handle) {
  OBJECT_OR_RETURN(o, handle, true, out);
  *out = o->resource;
  return CUDA_SUCCESS;
}
