// Tensor maps: 128 opaque bytes in a format of our own (TensorMap below), checked as the driver
// checks them.
#include "driver/driver.h"

#include "vgpu/tensormap.h"

_Static_assert(sizeof(TensorMap) <= sizeof(CUtensorMap), "a tensor map has 128 bytes");

static unsigned element_bytes(CUtensorMapDataType t) {
  static const unsigned char bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 0, 0, 0};
  return (unsigned)t < sizeof bytes ? bytes[t] : 0;
}

static CUresult fill(TensorMap *m, const SessionTensor *t) {
  CUtensorMapDataType type = (CUtensorMapDataType)t->type;
  uint32_t rank = t->rank;
  const void *address = t->address;
  const uint64_t *dims = t->dims, *strides = t->strides;
  const uint32_t *element_strides = t->element_strides;
  if ((unsigned)type > CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B || rank < 1 || rank > 5 || !dims ||
      !element_strides)
    return CUDA_ERROR_INVALID_VALUE;
  if (!address || (uintptr_t)address % 16 || (rank > 1 && !strides))
    return CUDA_ERROR_INVALID_VALUE;
  *m = (TensorMap){.magic = TENSOR_MAP_MAGIC,
                   .rank = (uint8_t)rank,
                   .type = (uint8_t)type,
                   .element = (uint8_t)element_bytes(type),
                   .address = (uintptr_t)address};
  for (uint32_t i = 0; i < rank; i++) {
    if (!dims[i] || dims[i] > 1ull << 32 || element_strides[i] < 1 || element_strides[i] > 8)
      return CUDA_ERROR_INVALID_VALUE;
    m->dims[i] = (uint32_t)(dims[i] - 1);
    m->element_strides[i] = (uint8_t)element_strides[i];
    if (!i) continue;
    if (strides[i - 1] % 16 || strides[i - 1] >= 1ull << 40) return CUDA_ERROR_INVALID_VALUE;
    m->strides[i - 1] = strides[i - 1] / 16;
  }
  return CUDA_SUCCESS;
}

static CUresult store(CUtensorMap *out, const TensorMap *m) {
  memset(out, 0, sizeof *out);
  memcpy(out, m, sizeof *m);
  return CUDA_SUCCESS;
}

static CUresult finish(CUtensorMap *out, TensorMap *m, CUtensorMapInterleave interleave,
                       CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                       CUtensorMapFloatOOBfill fill_mode) {
  if ((unsigned)interleave > 2 || (unsigned)swizzle > 6 || (unsigned)promotion > 3 ||
      (unsigned)fill_mode > 1)
    return CUDA_ERROR_INVALID_VALUE;
  m->interleave = (uint8_t)interleave;
  m->swizzle = (uint8_t)swizzle;
  m->nan_fill = (uint8_t)fill_mode;
  return store(out, m);
}

CUresult cuTensorMapEncodeTiled(CUtensorMap *out, CUtensorMapDataType type, uint32_t rank,
                                void *address, const uint64_t *dims, const uint64_t *strides,
                                const uint32_t *box, const uint32_t *element_strides,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill fill_mode) {
  TensorMap m;
  TRY(driver_check());
  if (!out || !box) return CUDA_ERROR_INVALID_VALUE;
  SessionTensor tensor = {(int)type,       rank,
                          address,         dims,
                          strides,         box,
                          element_strides, (int)interleave,
                          (int)swizzle,    fill_mode != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE};
  TRY(fill(&m, &tensor));
  for (uint32_t i = 0; i < rank; i++) {
    if (!box[i] || box[i] > 256) return CUDA_ERROR_INVALID_VALUE;
    m.box[i] = (uint16_t)box[i];
  }
  if (interleave == CU_TENSOR_MAP_INTERLEAVE_NONE) {
    static const unsigned inner_limit[] = {0, 32, 64, 128, 128, 128, 128};
    unsigned inner = box[0] * m.element, limit = (unsigned)swizzle <= 6 ? inner_limit[swizzle] : 0;
    if (m.element && (inner % 16 || (limit && inner > limit))) return CUDA_ERROR_INVALID_VALUE;
  }
  m.mode = TENSOR_MAP_TILED;
  TRY(finish(out, &m, interleave, swizzle, promotion, fill_mode));
  session_tensor_map(out, &tensor);
  return CUDA_SUCCESS;
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap *out, CUtensorMapDataType type, uint32_t rank,
                                 void *address, const uint64_t *dims, const uint64_t *strides,
                                 const int *lower, const int *upper, uint32_t channels,
                                 uint32_t pixels, const uint32_t *element_strides,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion promotion,
                                 CUtensorMapFloatOOBfill fill_mode) {
  TensorMap m;
  TRY(driver_check());
  if (!out || !lower || !upper || rank < 3 || channels > 256 || pixels > 1024)
    return CUDA_ERROR_INVALID_VALUE;
  TRY(fill(&m, &(SessionTensor){.type = (int)type,
                                .rank = rank,
                                .address = address,
                                .dims = dims,
                                .strides = strides,
                                .element_strides = element_strides}));
  for (uint32_t i = 0; i + 2 < rank; i++) {
    m.lower[i] = (int16_t)lower[i];
    m.upper[i] = (int16_t)upper[i];
  }
  m.channels = (uint16_t)channels;
  m.pixels = (uint16_t)pixels;
  m.mode = TENSOR_MAP_IM2COL;
  return finish(out, &m, interleave, swizzle, promotion, fill_mode);
}

CUresult cuTensorMapEncodeIm2colWide(CUtensorMap *out, CUtensorMapDataType type, uint32_t rank,
                                     void *address, const uint64_t *dims, const uint64_t *strides,
                                     int lower, int upper, uint32_t channels, uint32_t pixels,
                                     const uint32_t *element_strides,
                                     CUtensorMapInterleave interleave,
                                     CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle,
                                     CUtensorMapL2promotion promotion,
                                     CUtensorMapFloatOOBfill fill_mode) {
  TensorMap m;
  TRY(driver_check());
  if (!out || rank < 3 || channels > 256 || pixels > 1024 || (unsigned)mode > 1)
    return CUDA_ERROR_INVALID_VALUE;
  TRY(fill(&m, &(SessionTensor){.type = (int)type,
                                .rank = rank,
                                .address = address,
                                .dims = dims,
                                .strides = strides,
                                .element_strides = element_strides}));
  m.lower[0] = (int16_t)lower;
  m.upper[0] = (int16_t)upper;
  m.channels = (uint16_t)channels;
  m.pixels = (uint16_t)pixels;
  m.mode = mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W ? TENSOR_MAP_IM2COL_W : TENSOR_MAP_IM2COL_W128;
  return finish(out, &m, interleave, swizzle, promotion, fill_mode);
}

CUresult cuTensorMapReplaceAddress(CUtensorMap *map, void *address) {
  TensorMap m;
  TRY(driver_check());
  if (!map || !address || (uintptr_t)address % 16) return CUDA_ERROR_INVALID_VALUE;
  memcpy(&m, map, sizeof m);
  if (m.magic != TENSOR_MAP_MAGIC) return CUDA_ERROR_INVALID_VALUE;
  m.address = (uintptr_t)address;
  CUtensorMap before = *map;
  store(map, &m);
  session_tensor_map_moved(&before, map, (uintptr_t)address);
  return CUDA_SUCCESS;
}
