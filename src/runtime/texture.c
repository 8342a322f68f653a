// Texture and surface objects: the runtime's descriptions to the driver's and back.
#include "runtime/internal.h"

static cudaError_t resource(const cudaResourceDesc *in, CUDA_RESOURCE_DESC *out) {
  memset(out, 0, sizeof *out);
  out->resType = (CUresourcetype)in->resType;
  switch (in->resType) {
    case cudaResourceTypeArray: out->res.array.hArray = in->res.array.array; return cudaSuccess;
    case cudaResourceTypeMipmappedArray:
      out->res.mipmap.hMipmappedArray = in->res.mipmap.mipmap;
      return cudaSuccess;
    case cudaResourceTypeLinear:
      out->res.linear.devPtr = (CUdeviceptr)(uintptr_t)in->res.linear.devPtr;
      out->res.linear.sizeInBytes = in->res.linear.sizeInBytes;
      return rt_format_from_channels(&in->res.linear.desc, &out->res.linear.format,
                                     &out->res.linear.numChannels)
                 ? cudaSuccess
                 : cudaErrorInvalidChannelDescriptor;
    case cudaResourceTypePitch2D:
      out->res.pitch2D.devPtr = (CUdeviceptr)(uintptr_t)in->res.pitch2D.devPtr;
      out->res.pitch2D.width = in->res.pitch2D.width;
      out->res.pitch2D.height = in->res.pitch2D.height;
      out->res.pitch2D.pitchInBytes = in->res.pitch2D.pitchInBytes;
      return rt_format_from_channels(&in->res.pitch2D.desc, &out->res.pitch2D.format,
                                     &out->res.pitch2D.numChannels)
                 ? cudaSuccess
                 : cudaErrorInvalidChannelDescriptor;
  }
  return cudaErrorInvalidValue;
}

static void resource_back(const CUDA_RESOURCE_DESC *in, cudaResourceDesc *out) {
  memset(out, 0, sizeof *out);
  out->resType = (int)in->resType;
  switch (in->resType) {
    case CU_RESOURCE_TYPE_ARRAY: out->res.array.array = in->res.array.hArray; break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      out->res.mipmap.mipmap = in->res.mipmap.hMipmappedArray;
      break;
    case CU_RESOURCE_TYPE_LINEAR:
      out->res.linear.devPtr = (void *)(uintptr_t)in->res.linear.devPtr;
      out->res.linear.sizeInBytes = in->res.linear.sizeInBytes;
      rt_channels_from_format(in->res.linear.format, in->res.linear.numChannels,
                              &out->res.linear.desc);
      break;
    case CU_RESOURCE_TYPE_PITCH2D:
      out->res.pitch2D.devPtr = (void *)(uintptr_t)in->res.pitch2D.devPtr;
      out->res.pitch2D.width = in->res.pitch2D.width;
      out->res.pitch2D.height = in->res.pitch2D.height;
      out->res.pitch2D.pitchInBytes = in->res.pitch2D.pitchInBytes;
      rt_channels_from_format(in->res.pitch2D.format, in->res.pitch2D.numChannels,
                              &out->res.pitch2D.desc);
      break;
  }
}

// Whether the resource holds floating-point texels; decides what the default read mode means.
static bool is_float_format(const CUDA_RESOURCE_DESC *r) {
  CUarray_format f = CU_AD_FORMAT_UNSIGNED_INT8;
  CUDA_ARRAY3D_DESCRIPTOR d;
  CUarray level = NULL;
  switch (r->resType) {
    case CU_RESOURCE_TYPE_LINEAR: f = r->res.linear.format; break;
    case CU_RESOURCE_TYPE_PITCH2D: f = r->res.pitch2D.format; break;
    case CU_RESOURCE_TYPE_ARRAY: level = r->res.array.hArray; break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      cuMipmappedArrayGetLevel(&level, r->res.mipmap.hMipmappedArray, 0);
      break;
  }
  if (level && cuArray3DGetDescriptor_v2(&d, level) == CUDA_SUCCESS) f = d.Format;
  return f == CU_AD_FORMAT_FLOAT || f == CU_AD_FORMAT_HALF || f >= CU_AD_FORMAT_UNORM_INT8X1;
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *out, const cudaResourceDesc *res,
                                    const cudaTextureDesc *tex, const cudaResourceViewDesc *view) {
  RT_ENTER();
  if (!out || !res || !tex) return rt_return(cudaErrorInvalidValue);
  CUDA_RESOURCE_DESC r;
  cudaError_t e = resource(res, &r);
  if (e) return rt_return(e);
  CUDA_TEXTURE_DESC t = {.filterMode = (CUfilter_mode)tex->filterMode,
                         .maxAnisotropy = tex->maxAnisotropy,
                         .mipmapFilterMode = (CUfilter_mode)tex->mipmapFilterMode,
                         .mipmapLevelBias = tex->mipmapLevelBias,
                         .minMipmapLevelClamp = tex->minMipmapLevelClamp,
                         .maxMipmapLevelClamp = tex->maxMipmapLevelClamp};
  for (int i = 0; i < 3; i++) t.addressMode[i] = (CUaddress_mode)tex->addressMode[i];
  memcpy(t.borderColor, tex->borderColor, sizeof t.borderColor);
  bool is_float = is_float_format(&r);
  if (tex->readMode == cudaReadModeElementType) {
    if (tex->filterMode == CU_TR_FILTER_MODE_LINEAR && !is_float)
      return rt_return(cudaErrorInvalidFilterSetting);
    if (!is_float) t.flags |= CU_TRSF_READ_AS_INTEGER;
  }
  if (tex->normalizedCoords) t.flags |= CU_TRSF_NORMALIZED_COORDINATES;
  if (tex->sRGB) t.flags |= CU_TRSF_SRGB;
  if (tex->disableTrilinearOptimization) t.flags |= CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
  if (tex->seamlessCubemap) t.flags |= CU_TRSF_SEAMLESS_CUBEMAP;
  CUDA_RESOURCE_VIEW_DESC v;
  if (view)
    v = (CUDA_RESOURCE_VIEW_DESC){(CUresourceViewFormat)view->format,
                                  view->width,
                                  view->height,
                                  view->depth,
                                  view->firstMipmapLevel,
                                  view->lastMipmapLevel,
                                  view->firstLayer,
                                  view->lastLayer,
                                  {0}};
  return rt_done(cuTexObjectCreate(out, &r, &t, view ? &v : NULL));
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t t) {
  RT_ENTER();
  return t ? rt_done(cuTexObjectDestroy(t)) : cudaSuccess;
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc *out, cudaTextureObject_t t) {
  RT_ENTER();
  CUDA_RESOURCE_DESC r;
  cudaError_t e = out ? rt_result(cuTexObjectGetResourceDesc(&r, t)) : cudaErrorInvalidValue;
  if (!e) resource_back(&r, out);
  return rt_return(e);
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc *out, cudaTextureObject_t texture) {
  RT_ENTER();
  CUDA_TEXTURE_DESC t;
  CUDA_RESOURCE_DESC r;
  cudaError_t e = out ? rt_result(cuTexObjectGetTextureDesc(&t, texture)) : cudaErrorInvalidValue;
  if (!e) e = rt_result(cuTexObjectGetResourceDesc(&r, texture));
  if (e) return rt_return(e);
  *out = (cudaTextureDesc){
      .filterMode = (int)t.filterMode,
      .readMode = (t.flags & CU_TRSF_READ_AS_INTEGER) || is_float_format(&r)
                      ? cudaReadModeElementType
                      : cudaReadModeNormalizedFloat,
      .sRGB = !!(t.flags & CU_TRSF_SRGB),
      .normalizedCoords = !!(t.flags & CU_TRSF_NORMALIZED_COORDINATES),
      .maxAnisotropy = t.maxAnisotropy,
      .mipmapFilterMode = (int)t.mipmapFilterMode,
      .mipmapLevelBias = t.mipmapLevelBias,
      .minMipmapLevelClamp = t.minMipmapLevelClamp,
      .maxMipmapLevelClamp = t.maxMipmapLevelClamp,
      .disableTrilinearOptimization = !!(t.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION),
      .seamlessCubemap = !!(t.flags & CU_TRSF_SEAMLESS_CUBEMAP)};
  for (int i = 0; i < 3; i++) out->addressMode[i] = (int)t.addressMode[i];
  memcpy(out->borderColor, t.borderColor, sizeof out->borderColor);
  return cudaSuccess;
}

cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc *out, cudaTextureObject_t t) {
  RT_ENTER();
  CUDA_RESOURCE_VIEW_DESC v;
  cudaError_t e = out ? rt_result(cuTexObjectGetResourceViewDesc(&v, t)) : cudaErrorInvalidValue;
  if (!e)
    *out = (cudaResourceViewDesc){(int)v.format,      v.width,           v.height,     v.depth,
                                  v.firstMipmapLevel, v.lastMipmapLevel, v.firstLayer, v.lastLayer};
  return rt_return(e);
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *out, const cudaResourceDesc *res) {
  RT_ENTER();
  CUDA_RESOURCE_DESC r;
  cudaError_t e = out && res ? resource(res, &r) : cudaErrorInvalidValue;
  return e ? rt_return(e) : rt_done(cuSurfObjectCreate(out, &r));
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t s) {
  RT_ENTER();
  return s ? rt_done(cuSurfObjectDestroy(s)) : cudaSuccess;
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc *out, cudaSurfaceObject_t s) {
  RT_ENTER();
  CUDA_RESOURCE_DESC r;
  cudaError_t e = out ? rt_result(cuSurfObjectGetResourceDesc(&r, s)) : cudaErrorInvalidValue;
  if (!e) resource_back(&r, out);
  return rt_return(e);
}
