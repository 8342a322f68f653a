// Textures over linear memory, and surfaces, for checks.
#include "gpu/gpu.h"

CUresult gpu_cuTexObjectCreate(CUtexObject *out, const CUDA_RESOURCE_DESC *r,
                               const CUDA_TEXTURE_DESC *t, const CUDA_RESOURCE_VIEW_DESC *v) {
  session_texture_check("cuTexObjectCreate", r);
  GPU_TRY(gpu_real.cuTexObjectCreate(out, r, t, v));
  session_texture_created(*out, r);
  return CUDA_SUCCESS;
}

CUresult gpu_cuTexObjectDestroy(CUtexObject handle) {
  GPU_TRY(gpu_real.cuTexObjectDestroy(handle));
  session_texture_destroyed(handle);
  return CUDA_SUCCESS;
}

CUresult gpu_cuSurfObjectCreate(CUsurfObject *out, const CUDA_RESOURCE_DESC *r) {
  GPU_TRY(gpu_real.cuSurfObjectCreate(out, r));
  CUDA_ARRAY3D_DESCRIPTOR d;
  if (r->resType == CU_RESOURCE_TYPE_ARRAY &&
      gpu_real.cuArray3DGetDescriptor_v2(&d, r->res.array.hArray) == CUDA_SUCCESS)
    session_surface_created(*out, &d);
  return CUDA_SUCCESS;
}

CUresult gpu_cuSurfObjectDestroy(CUsurfObject handle) {
  GPU_TRY(gpu_real.cuSurfObjectDestroy(handle));
  session_surface_destroyed(handle);
  return CUDA_SUCCESS;
}

CUresult gpu_cuTexRefSetAddress_v2(size_t *offset, CUtexref ref, CUdeviceptr p, size_t bytes) {
  session_texture_check("cuTexRefSetAddress",
                        &(CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_LINEAR,
                                              .res.linear = {.devPtr = p, .sizeInBytes = bytes}});
  return gpu_real.cuTexRefSetAddress_v2(offset, ref, p, bytes);
}

static void check_2d(const CUDA_ARRAY_DESCRIPTOR *d, CUdeviceptr p, size_t pitch) {
  if (d)
    session_texture_check("cuTexRefSetAddress2D",
                          &(CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_PITCH2D,
                                                .res.pitch2D = {p, d->Format, d->NumChannels,
                                                                d->Width, d->Height, pitch}});
}

CUresult gpu_cuTexRefSetAddress2D_v2(CUtexref ref, const CUDA_ARRAY_DESCRIPTOR *d, CUdeviceptr p,
                                     size_t pitch) {
  check_2d(d, p, pitch);
  return gpu_real.cuTexRefSetAddress2D_v2(ref, d, p, pitch);
}

CUresult gpu_cuTexRefSetAddress2D_v3(CUtexref ref, const CUDA_ARRAY_DESCRIPTOR *d, CUdeviceptr p,
                                     size_t pitch) {
  check_2d(d, p, pitch);
  return gpu_real.cuTexRefSetAddress2D_v3(ref, d, p, pitch);
}
