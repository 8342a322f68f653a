// Arrays and mipmapped arrays; channel descriptions and the driver's texel formats.
#include "cuda/format.h"
#include "runtime/internal.h"
#include "session/session.h"

// The normalised kinds name format and channel count at once, in the order of the driver's numbers.
static const unsigned char normalized_channels[3] = {1, 2, 4};
enum {
  NORMALIZED_FIRST = cudaChannelFormatKindUnsignedNormalized8X1,
  NORMALIZED_LAST = cudaChannelFormatKindSignedNormalized16X4
};

unsigned rt_format_bytes(CUarray_format format) {
  switch (format) {
    case CU_AD_FORMAT_UNORM_INT8X1:
    case CU_AD_FORMAT_UNORM_INT8X2:
    case CU_AD_FORMAT_UNORM_INT8X4:
    case CU_AD_FORMAT_SNORM_INT8X1:
    case CU_AD_FORMAT_SNORM_INT8X2:
    case CU_AD_FORMAT_SNORM_INT8X4: return 1;
    case CU_AD_FORMAT_UNORM_INT16X1:
    case CU_AD_FORMAT_UNORM_INT16X2:
    case CU_AD_FORMAT_UNORM_INT16X4:
    case CU_AD_FORMAT_SNORM_INT16X1:
    case CU_AD_FORMAT_SNORM_INT16X2:
    case CU_AD_FORMAT_SNORM_INT16X4: return 2;
    default: return (unsigned)cuda_format_bytes((int)format);
  }
}

bool rt_format_from_channels(const cudaChannelFormatDesc *d, CUarray_format *format,
                             unsigned *channels) {
  if (d->f >= NORMALIZED_FIRST && d->f <= NORMALIZED_LAST) {
    int i = d->f - NORMALIZED_FIRST;
    *format = (CUarray_format)(CU_AD_FORMAT_UNORM_INT8X1 + i);
    *channels = normalized_channels[i % 3];
    return true;
  }
  int bits[4] = {d->x, d->y, d->z, d->w}, n = 0;
  while (n < 4 && bits[n]) n++;
  for (int i = 0; i < 4; i++)
    if (bits[i] != (i < n ? d->x : 0)) return false;
  if (n != 1 && n != 2 && n != 4) return false;
  bool is_signed = d->f == cudaChannelFormatKindSigned;
  if (d->f == cudaChannelFormatKindFloat) {
    if (d->x == 32) *format = CU_AD_FORMAT_FLOAT;
    else if (d->x == 16) *format = CU_AD_FORMAT_HALF;
    else return false;
  } else if (is_signed || d->f == cudaChannelFormatKindUnsigned) {
    if (d->x == 8) *format = is_signed ? CU_AD_FORMAT_SIGNED_INT8 : CU_AD_FORMAT_UNSIGNED_INT8;
    else if (d->x == 16)
      *format = is_signed ? CU_AD_FORMAT_SIGNED_INT16 : CU_AD_FORMAT_UNSIGNED_INT16;
    else if (d->x == 32)
      *format = is_signed ? CU_AD_FORMAT_SIGNED_INT32 : CU_AD_FORMAT_UNSIGNED_INT32;
    else return false;
  } else {
    return false;
  }
  *channels = (unsigned)n;
  return true;
}

void rt_channels_from_format(CUarray_format format, unsigned channels, cudaChannelFormatDesc *d) {
  int bits = (int)rt_format_bytes(format) * 8, kind = cudaChannelFormatKindUnsigned;
  if (format >= CU_AD_FORMAT_UNORM_INT8X1 && format <= CU_AD_FORMAT_SNORM_INT16X4)
    kind = NORMALIZED_FIRST + (int)(format - CU_AD_FORMAT_UNORM_INT8X1);
  else if (format == CU_AD_FORMAT_FLOAT || format == CU_AD_FORMAT_HALF)
    kind = cudaChannelFormatKindFloat;
  else if (format == CU_AD_FORMAT_SIGNED_INT8 || format == CU_AD_FORMAT_SIGNED_INT16 ||
           format == CU_AD_FORMAT_SIGNED_INT32)
    kind = cudaChannelFormatKindSigned;
  *d = (cudaChannelFormatDesc){bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0,
                               channels > 3 ? bits : 0, kind};
}

size_t rt_array_element_bytes(cudaArray_t a) {
  CUDA_ARRAY3D_DESCRIPTOR d;
  if (cuArray3DGetDescriptor_v2(&d, a) != CUDA_SUCCESS) return 0;
  return (size_t)rt_format_bytes(d.Format) * d.NumChannels;
}

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return (cudaChannelFormatDesc){x, y, z, w, kind};
}

static cudaError_t describe(const cudaChannelFormatDesc *desc, cudaExtent extent, unsigned flags,
                            CUDA_ARRAY3D_DESCRIPTOR *out) {
  if (!desc) return cudaErrorInvalidValue;
  *out = (CUDA_ARRAY3D_DESCRIPTOR){
      .Width = extent.width, .Height = extent.height, .Depth = extent.depth, .Flags = flags};
  return rt_format_from_channels(desc, &out->Format, &out->NumChannels)
             ? cudaSuccess
             : cudaErrorInvalidChannelDescriptor;
}

cudaError_t cudaMalloc3DArray(cudaArray_t *out, const cudaChannelFormatDesc *desc,
                              cudaExtent extent, unsigned flags) {
  RT_ENTER();
  CUDA_ARRAY3D_DESCRIPTOR d;
  cudaError_t e = out ? describe(desc, extent, flags, &d) : cudaErrorInvalidValue;
  return e ? rt_return(e) : rt_done(cuArray3DCreate_v2(out, &d));
}

cudaError_t cudaMallocArray(cudaArray_t *out, const cudaChannelFormatDesc *desc, size_t width,
                            size_t height, unsigned flags) {
  return cudaMalloc3DArray(out, desc, (cudaExtent){width, height, 0}, flags);
}

cudaError_t cudaFreeArray(cudaArray_t a) {
  RT_ENTER();
  return a ? rt_done(cuArrayDestroy(a)) : cudaSuccess;
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *out, const cudaChannelFormatDesc *desc,
                                     cudaExtent extent, unsigned levels, unsigned flags) {
  RT_ENTER();
  CUDA_ARRAY3D_DESCRIPTOR d;
  cudaError_t e = out ? describe(desc, extent, flags, &d) : cudaErrorInvalidValue;
  return e ? rt_return(e) : rt_done(cuMipmappedArrayCreate(out, &d, levels));
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t m) {
  RT_ENTER();
  return m ? rt_done(cuMipmappedArrayDestroy(m)) : cudaSuccess;
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *out, cudaMipmappedArray_t m, unsigned level) {
  RT_ENTER();
  return rt_done(cuMipmappedArrayGetLevel(out, m, level));
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc *desc, cudaExtent *extent, unsigned *flags,
                             cudaArray_t a) {
  RT_ENTER();
  CUDA_ARRAY3D_DESCRIPTOR d;
  cudaError_t e = rt_result(cuArray3DGetDescriptor_v2(&d, a));
  if (e) return rt_return(e);
  if (desc) rt_channels_from_format(d.Format, d.NumChannels, desc);
  if (extent) *extent = (cudaExtent){d.Width, d.Height, d.Depth};
  if (flags) *flags = d.Flags;
  return cudaSuccess;
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc *desc, cudaArray_t a) {
  if (!desc) return rt_return(cudaErrorInvalidValue);
  return cudaArrayGetInfo(desc, NULL, NULL, a);
}

cudaError_t cudaArrayGetMemoryRequirements(cudaArrayMemoryRequirements *out, cudaArray_t a,
                                           int device) {
  RT_ENTER();
  return rt_done(cuArrayGetMemoryRequirements((CUDA_ARRAY_MEMORY_REQUIREMENTS *)out, a, device));
}

cudaError_t cudaMipmappedArrayGetMemoryRequirements(cudaArrayMemoryRequirements *out,
                                                    cudaMipmappedArray_t m, int device) {
  RT_ENTER();
  return rt_done(
      cuMipmappedArrayGetMemoryRequirements((CUDA_ARRAY_MEMORY_REQUIREMENTS *)out, m, device));
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *width, const cudaChannelFormatDesc *desc,
                                                 int device) {
  RT_ENTER();
  CUarray_format format;
  unsigned channels;
  if (!width || !desc) return rt_return(cudaErrorInvalidValue);
  if (!rt_format_from_channels(desc, &format, &channels))
    return rt_return(cudaErrorInvalidChannelDescriptor);
  return rt_done(cuDeviceGetTexture1DLinearMaxWidth(width, format, channels, device));
}
