// Shared by the files of the texture family.
#ifndef WG_VGPU_EXEC_TEXTURE_H
#define WG_VGPU_EXEC_TEXTURE_H

#include "vgpu/exec/memory.h"

typedef enum {
  GEOM_1D,
  GEOM_2D,
  GEOM_3D,
  GEOM_A1D,
  GEOM_A2D,
  GEOM_CUBE,
  GEOM_ACUBE,
  GEOM_NONE
} TexGeometry;
static inline bool geometry_has_layers(TexGeometry g) {
  return g == GEOM_A1D || g == GEOM_A2D || g == GEOM_ACUBE;
}
static inline unsigned geometry_dims(TexGeometry g) {  // coordinates besides the layer
  return g == GEOM_1D || g == GEOM_A1D ? 1 : g == GEOM_2D || g == GEOM_A2D ? 2 : 3;
}

// One lane's request to the sampler.
typedef struct TexRequest {
  TexGeometry geometry;
  bool integer;  // coordinates are texel indices, no filtering
  int32_t index[3];
  float at[3];
  int32_t layer;
  float lod;
  bool has_gradient;
  float dx[3], dy[3];
  int32_t offset[3];  // in texels
} TexRequest;

static inline unsigned texture_channel_bytes(const VgpuArray *a) {
  static const uint8_t size[] = {1, 2, 4, 1, 2, 4, 2, 4};
  return size[a->texel];
}

// From the first byte of the array's first texel to the last one's last.
static inline uint64_t texture_array_bytes(const VgpuArray *a) {
  uint64_t slices = (uint64_t)MAX(a->depth, 1u) * MAX(a->layers, 1u);
  return (slices - 1) * a->slice_bytes + (MAX(a->height, 1u) - 1) * (uint64_t)a->row_bytes +
         (uint64_t)a->width * texture_channel_bytes(a) * a->channels;
}

// Four channels: integers as they are, floats as their bits.
void VGPU_NAME(texture_sample)(const VgpuTexture *t, const TexRequest *q, uint32_t out[4]);
// One channel of the four texels a bilinear filter would mix, counter-clockwise from the lower
// left.
void VGPU_NAME(texture_gather)(const VgpuTexture *t, const TexRequest *q, unsigned channel,
                               uint32_t out[4]);

// The same for the executing lanes of a warp where nothing is special (texture_warp.c):
// out[channel][lane]. False: something is, nothing was done.
bool VGPU_NAME(texture_sample_warp)(const VgpuTexture *t, unsigned dims, const float *const *x,
                                    uint32_t exec, uint32_t (*out)[LANES]);
bool VGPU_NAME(texture_fetch_warp)(const VgpuTexture *t, const int32_t *index, uint32_t exec,
                                   uint32_t (*out)[LANES]);

// The handle a lane names: the value itself, or what the texref or surfref variable at that address
// holds.
static inline uint64_t texture_handle(uint64_t value) {
  return vgpu_window_base && vgpu_window_holds(value, 8) ? *(const volatile uint64_t *)value
                                                         : value;
}

TexGeometry VGPU_NAME(texture_geometry)(const PtxInstr *in);
BindFn VGPU_NAME(bind_surface);        // surface.c: suld, sust, sured
BindFn VGPU_NAME(bind_texture_query);  // texture_query.c: txq, suq, istypep

#endif
