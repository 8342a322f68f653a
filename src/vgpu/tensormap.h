// What the 128 bytes of a CUtensorMap hold on the virtual device.
#ifndef WG_VGPU_TENSORMAP_H
#define WG_VGPU_TENSORMAP_H

#include <stdint.h>

#define TENSOR_MAP_MAGIC 0x5747544du  // "WGTM"
enum { TENSOR_MAP_TILED, TENSOR_MAP_IM2COL, TENSOR_MAP_IM2COL_W, TENSOR_MAP_IM2COL_W128 };

typedef struct TensorMap {
  uint32_t magic;
  // type: CUtensorMapDataType; element: bytes, 0 for packed sub-byte types
  uint8_t mode, rank, type, element;
  uint64_t address;
  uint32_t dims[5];  // elements minus one
  uint8_t interleave, swizzle, nan_fill, reserved;
  uint64_t strides[4];  // of dimensions 1 to 4, in units of 16 bytes
  uint8_t element_strides[5];
  uint8_t reserved2;
  union {
    uint16_t box[5];  // TENSOR_MAP_TILED
    struct {
      int16_t lower[3], upper[3];
      uint16_t channels, pixels;
    };
  };
} TensorMap;

#endif
