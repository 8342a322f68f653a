// Texture and surface references, the older interface, before texture objects: module variables
// that get a texture's handle when a kernel of the module is launched.
#include "driver/driver.h"

struct TexRef {
  ObjectKind kind;
  Module *module;  // NULL: made by cuTexRefCreate
  const char *name;
  uint64_t *slot;  // the module variable
  CUDA_RESOURCE_DESC resource;
  CUDA_TEXTURE_DESC texture;
  CUarray_format format;
  int channels;
  bool bound, changed, is_surface;
  uint64_t handle;
};

void texref_free(TexRef *t) {
  if (t->handle) vgpu_texture_destroy(t->handle);
  object_delete(t);
}

void texref_bind(Module *m) {
  for (uint32_t i = 0; i < m->texrefs.len; i++) {
    TexRef *t = m->texrefs.data[i];
    if (!t->bound || !t->changed || !t->slot) continue;
    VgpuTexture v;
    if (texture_describe(&t->resource, &t->texture, NULL, &v)) continue;
    v.is_surface = t->is_surface;
    if (t->handle) vgpu_texture_destroy(t->handle);
    *t->slot = t->handle = vgpu_texture_create(&v);
    t->changed = false;
  }
}

static TexRef *make(ObjectKind kind) {
  TexRef *t = object_new(kind, sizeof *t);
  t->is_surface = kind == OBJECT_SURFREF;
  t->format = CU_AD_FORMAT_FLOAT;
  t->channels = 1;
  for (int i = 0; i < 3; i++) t->texture.addressMode[i] = CU_TR_ADDRESS_MODE_CLAMP;
  t->texture.maxMipmapLevelClamp = 99;
  return t;
}

static CUresult of_module(Module *m, const char *name, ObjectKind kind, TexRef **out) {
  VgpuGlobal g;
  for (uint32_t i = 0; i < m->texrefs.len; i++)
    if (m->texrefs.data[i]->kind == kind && !strcmp(m->texrefs.data[i]->name, name)) {
      *out = m->texrefs.data[i];
      return CUDA_SUCCESS;
    }
  if (!vgpu_module_global(m->vgpu, name, &g) || g.size < sizeof(uint64_t))
    return CUDA_ERROR_NOT_FOUND;
  TexRef *t = make(kind);
  t->module = m;
  t->name = g.name;
  t->slot = g.address;
  vec_push(&m->texrefs, t);
  *out = t;
  return CUDA_SUCCESS;
}

static CUresult module_ref(void **out, CUmodule handle, const char *name, ObjectKind kind) {
  Context *ctx;
  TexRef *t;
  TRY(context_current(&ctx));
  Module *m = object_get(handle, OBJECT_MODULE);
  if (!m) return CUDA_ERROR_INVALID_HANDLE;
  if (!out || !name) return CUDA_ERROR_INVALID_VALUE;
  TRY(of_module(m, name, kind, &t));
  *out = t;
  return CUDA_SUCCESS;
}

CUresult cuModuleGetTexRef(CUtexref *out, CUmodule m, const char *name) {
  return module_ref((void **)out, m, name, OBJECT_TEXREF);
}
CUresult cuModuleGetSurfRef(CUsurfref *out, CUmodule m, const char *name) {
  return module_ref((void **)out, m, name, OBJECT_SURFREF);
}

CUresult cuTexRefCreate(CUtexref *out) {
  Context *ctx;
  TRY(context_current(&ctx));
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = (CUtexref)make(OBJECT_TEXREF);
  return CUDA_SUCCESS;
}

static CUresult get(const void *handle, ObjectKind kind, TexRef **out) {
  TRY(driver_check());
  *out = object_get(handle, kind);
  return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

#define TEXREF_OR_RETURN(t, handle) \
  TexRef *t; \
  TRY(get(handle, OBJECT_TEXREF, &t))

CUresult cuTexRefDestroy(CUtexref handle) {
  TEXREF_OR_RETURN(t, handle);
  if (t->module) return CUDA_ERROR_INVALID_VALUE;
  texref_free(t);
  return CUDA_SUCCESS;
}

// --- what it reads ---

static CUresult bind_array(TexRef *t, CUarray array) {
  Array *a = object_get(array, OBJECT_ARRAY);
  if (!a) return CUDA_ERROR_INVALID_HANDLE;
  t->resource = (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
  t->format = a->desc.Format;
  t->channels = (int)a->desc.NumChannels;
  t->bound = t->changed = true;
  return CUDA_SUCCESS;
}

CUresult cuTexRefSetArray(CUtexref handle, CUarray array, unsigned flags) {
  TEXREF_OR_RETURN(t, handle);
  return bind_array(t, array);
}

CUresult cuTexRefSetMipmappedArray(CUtexref handle, CUmipmappedArray mipmap, unsigned flags) {
  TEXREF_OR_RETURN(t, handle);
  if (!object_get(mipmap, OBJECT_MIPMAP)) return CUDA_ERROR_INVALID_HANDLE;
  t->resource = (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
                                     .res.mipmap.hMipmappedArray = mipmap};
  t->bound = t->changed = true;
  return CUDA_SUCCESS;
}

CUresult cuTexRefSetAddress_v2(size_t *offset, CUtexref handle, CUdeviceptr p, size_t bytes) {
  TEXREF_OR_RETURN(t, handle);
  t->resource = (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_LINEAR,
                                     .res.linear = {.devPtr = p,
                                                    .format = t->format,
                                                    .numChannels = (unsigned)t->channels,
                                                    .sizeInBytes = bytes}};
  session_texture_check("cuTexRefSetAddress", &t->resource);
  if (offset) *offset = 0;
  t->bound = t->changed = p != 0;
  return CUDA_SUCCESS;
}

CUresult cuTexRefSetAddress2D_v3(CUtexref handle, const CUDA_ARRAY_DESCRIPTOR *d, CUdeviceptr p,
                                 size_t pitch) {
  TEXREF_OR_RETURN(t, handle);
  if (!d || !p) return CUDA_ERROR_INVALID_VALUE;
  t->format = d->Format;
  t->channels = (int)d->NumChannels;
  t->resource = (CUDA_RESOURCE_DESC){
      .resType = CU_RESOURCE_TYPE_PITCH2D,
      .res.pitch2D = {p, d->Format, d->NumChannels, d->Width, d->Height, pitch}};
  session_texture_check("cuTexRefSetAddress2D", &t->resource);
  t->bound = t->changed = true;
  return CUDA_SUCCESS;
}

CUresult cuTexRefSetFormat(CUtexref handle, CUarray_format format, int channels) {
  TEXREF_OR_RETURN(t, handle);
  t->format = format;
  t->channels = channels;
  if (t->resource.resType == CU_RESOURCE_TYPE_LINEAR) {
    t->resource.res.linear.format = format;
    t->resource.res.linear.numChannels = (unsigned)channels;
  }
  t->changed = true;
  return CUDA_SUCCESS;
}

// --- how it reads ---

#define SETTER(name, params, check, assignment) \
  CUresult name params { \
    TEXREF_OR_RETURN(t, handle); \
    if (!(check)) return CUDA_ERROR_INVALID_VALUE; \
    assignment; \
    t->changed = true; \
    return CUDA_SUCCESS; \
  }
#define GETTER(name, params, check, assignment) \
  CUresult name params { \
    TEXREF_OR_RETURN(t, handle); \
    if (!(check)) return CUDA_ERROR_INVALID_VALUE; \
    assignment; \
    return CUDA_SUCCESS; \
  }
SETTER(cuTexRefSetAddressMode, (CUtexref handle, int dim, CUaddress_mode mode), dim >= 0 && dim < 3,
       t->texture.addressMode[dim] = mode)
SETTER(cuTexRefSetFilterMode, (CUtexref handle, CUfilter_mode mode), true,
       t->texture.filterMode = mode)
SETTER(cuTexRefSetMipmapFilterMode, (CUtexref handle, CUfilter_mode mode), true,
       t->texture.mipmapFilterMode = mode)
SETTER(cuTexRefSetMipmapLevelBias, (CUtexref handle, float bias), true,
       t->texture.mipmapLevelBias = bias)
SETTER(cuTexRefSetMipmapLevelClamp, (CUtexref handle, float low, float high), true,
       (t->texture.minMipmapLevelClamp = low, t->texture.maxMipmapLevelClamp = high))
SETTER(cuTexRefSetMaxAnisotropy, (CUtexref handle, unsigned max), true,
       t->texture.maxAnisotropy = max)
SETTER(cuTexRefSetBorderColor, (CUtexref handle, float *color), color != NULL,
       memcpy(t->texture.borderColor, color, 16))
SETTER(cuTexRefSetFlags, (CUtexref handle, unsigned flags), true, t->texture.flags = flags)

GETTER(cuTexRefGetAddress_v2, (CUdeviceptr * out, CUtexref handle),
       out && t->bound && t->resource.resType >= CU_RESOURCE_TYPE_LINEAR,
       *out = t->resource.res.linear.devPtr)
GETTER(cuTexRefGetArray, (CUarray * out, CUtexref handle),
       out && t->bound && t->resource.resType == CU_RESOURCE_TYPE_ARRAY,
       *out = t->resource.res.array.hArray)
GETTER(cuTexRefGetMipmappedArray, (CUmipmappedArray * out, CUtexref handle),
       out && t->bound && t->resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
       *out = t->resource.res.mipmap.hMipmappedArray)
GETTER(cuTexRefGetAddressMode, (CUaddress_mode * out, CUtexref handle, int dim),
       out &&dim >= 0 && dim < 3, *out = t->texture.addressMode[dim])
GETTER(cuTexRefGetFilterMode, (CUfilter_mode * out, CUtexref handle), out != NULL,
       *out = t->texture.filterMode)
GETTER(cuTexRefGetFormat, (CUarray_format * format, int *channels, CUtexref handle),
       format &&channels, (*format = t->format, *channels = t->channels))
GETTER(cuTexRefGetMipmapFilterMode, (CUfilter_mode * out, CUtexref handle), out != NULL,
       *out = t->texture.mipmapFilterMode)
GETTER(cuTexRefGetMipmapLevelBias, (float *out, CUtexref handle), out != NULL,
       *out = t->texture.mipmapLevelBias)
GETTER(cuTexRefGetMipmapLevelClamp, (float *low, float *high, CUtexref handle), low &&high,
       (*low = t->texture.minMipmapLevelClamp, *high = t->texture.maxMipmapLevelClamp))
GETTER(cuTexRefGetMaxAnisotropy, (int *out, CUtexref handle), out != NULL,
       *out = (int)t->texture.maxAnisotropy)
GETTER(cuTexRefGetBorderColor, (float *out, CUtexref handle), out != NULL,
       memcpy(out, t->texture.borderColor, 16))
GETTER(cuTexRefGetFlags, (unsigned *out, CUtexref handle), out != NULL, *out = t->texture.flags)

// --- surface references ---

CUresult cuSurfRefSetArray(CUsurfref handle, CUarray array, unsigned flags) {
  TexRef *t;
  TRY(get(handle, OBJECT_SURFREF, &t));
  return bind_array(t, array);
}

CUresult cuSurfRefGetArray(CUarray *out, CUsurfref handle) {
  TexRef *t;
  TRY(get(handle, OBJECT_SURFREF, &t));
  if (!out || !t->bound) return CUDA_ERROR_INVALID_VALUE;
  *out = t->resource.res.array.hArray;
  return CUDA_SUCCESS;
}
