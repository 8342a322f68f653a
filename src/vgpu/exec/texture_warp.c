// The common samples for a whole warp at once: one texture for all lanes, no layers, faces, levels
// or offsets. Everything else, and every rule, is texture_sample.c's; results are the same bit
// for bit.
#include <math.h>

#include "vgpu/exec/texture.h"
#include "vgpu/exec/half.h"

// One axis: the two texels of a filter's footprint (point sampling: the first), -1 for the border,
// and the second's weight.
typedef struct Axis {
  int32_t first[LANES], second[LANES];
  double weight[LANES];
} Axis;

#define FARTHEST 0x1p22  // coordinates beyond it are all the same: no array is that large

static void to_texels(const VgpuTexture *t, VgpuAddressMode mode, int32_t n, const float *x,
                      double *u) {
  double scale = t->normalized_coords ? n : 1;
  if (t->normalized_coords && mode == TEX_WRAP) {
    for (int i = 0; i < LANES; i++) u[i] = (x[i] - floor((double)x[i])) * scale;
  } else if (t->normalized_coords && mode == TEX_MIRROR) {
    for (int i = 0; i < LANES; i++) {
      double whole = floor((double)x[i]), part = x[i] - whole, odd = whole - 2 * floor(whole * 0.5);
      u[i] = (odd != 0 ? 1 - part : part) * scale;
    }
  } else {
    for (int i = 0; i < LANES; i++) u[i] = x[i] * scale;
  }
  for (int i = 0; i < LANES; i++) {
    double v = u[i] != u[i] ? 0 : u[i];
    v = v > FARTHEST ? FARTHEST : v;
    u[i] = v < -FARTHEST ? -FARTHEST : v;
  }
}

static void resolve(VgpuAddressMode mode, int32_t n, int32_t *index) {
  switch (mode) {
    case TEX_WRAP:  // at most one outside: coordinates were wrapped before
      for (int i = 0; i < LANES; i++)
        index[i] = index[i] < 0 ? index[i] + n : index[i] >= n ? index[i] - n : index[i];
      break;
    case TEX_BORDER:
      for (int i = 0; i < LANES; i++) index[i] = index[i] < 0 || index[i] >= n ? -1 : index[i];
      break;
    default:
      for (int i = 0; i < LANES; i++) {
        int32_t v = index[i] < 0 ? 0 : index[i];
        index[i] = v >= n ? n - 1 : v;
      }
      break;
  }
}

static void place_axis(const VgpuTexture *t, VgpuAddressMode mode, int32_t n, bool linear,
                       const float *x, Axis *a) {
  double u[LANES];
  to_texels(t, mode, n, x, u);
  if (!linear) {
    for (int i = 0; i < LANES; i++) a->first[i] = (int32_t)floor(u[i]);
    resolve(mode, n, a->first);
    return;
  }
  for (int i = 0; i < LANES; i++) {
    int32_t fixed = (int32_t)floor((u[i] - 0.5) * 256 + 0.5);
    a->first[i] = fixed >> 8;
    a->second[i] = (fixed >> 8) + 1;
    a->weight[i] = (fixed & 255) / 256.0;
  }
  resolve(mode, n, a->first);
  resolve(mode, n, a->second);
}

// --- texels ---
typedef struct Source {
  const char *data;
  uint64_t row, slice;
  unsigned texel_bytes, channels;
  VgpuTexel texel;
  bool is_float;
  const float *border;
} Source;

static inline double channel_value(const Source *s, const char *p, unsigned c) {
  double v;
  switch (s->texel) {
    case TEXEL_F32: return ((const float *)p)[c];
    case TEXEL_F16: return half_to_float(((const uint16_t *)p)[c]);
    case TEXEL_U8: return (float)(((const uint8_t *)p)[c] / 255.0);
    case TEXEL_U16: return (float)(((const uint16_t *)p)[c] / 65535.0);
    case TEXEL_S8: v = ((const int8_t *)p)[c] / 127.0; return v < -1 ? -1 : (float)v;
    default: v = ((const int16_t *)p)[c] / 32767.0; return v < -1 ? -1 : (float)v;
  }
}

static inline uint32_t channel_bits(const Source *s, const char *p, unsigned c) {
  if (s->texel == TEXEL_F32) return ((const uint32_t *)p)[c];
  if (s->is_float) return half_float_bits((float)channel_value(s, p, c));
  switch (s->texel) {
    case TEXEL_U8: return ((const uint8_t *)p)[c];
    case TEXEL_S8: return (uint32_t)(int32_t)((const int8_t *)p)[c];
    case TEXEL_U16: return ((const uint16_t *)p)[c];
    case TEXEL_S16: return (uint32_t)(int32_t)((const int16_t *)p)[c];
    default: return ((const uint32_t *)p)[c];
  }
}

static uint32_t border_bits(const Source *s, unsigned c) {
  return s->is_float ? half_float_bits(s->border[c]) : (uint32_t)(int64_t)s->border[c];
}

// NULL: the border
static inline const char *texel_at(const Source *s, const int32_t *at, unsigned dims) {
  if ((at[0] | at[1] | at[2]) < 0) return NULL;
  return s->data + (uint64_t)at[2] * s->slice + (uint64_t)at[1] * s->row +
         (uint64_t)at[0] * s->texel_bytes;
}

static void read_points(const Source *s, const Axis *a, unsigned dims, uint32_t exec,
                        uint32_t (*out)[LANES]) {
  FOR_LANES(l, exec) {
    int32_t at[3] = {a[0].first[l], dims > 1 ? a[1].first[l] : 0, dims > 2 ? a[2].first[l] : 0};
    const char *p = texel_at(s, at, dims);
    for (unsigned c = 0; c < s->channels; c++)
      out[c][l] = p ? channel_bits(s, p, c) : border_bits(s, c);
    if (!p)
      for (unsigned c = s->channels; c < 4; c++) out[c][l] = border_bits(s, c);
  }
}

static void read_filtered(const Source *s, const Axis *a, unsigned dims, uint32_t exec,
                          uint32_t (*out)[LANES]) {
  FOR_LANES(l, exec) {
    double sum[4] = {0, 0, 0, 0};
    for (unsigned k = 0; k < 1u << dims; k++) {
      int32_t at[3] = {0, 0, 0};
      double w = 1;
      for (unsigned d = 0; d < dims; d++) {
        bool upper = k >> d & 1;
        at[d] = upper ? a[d].second[l] : a[d].first[l];
        w *= upper ? a[d].weight[l] : 1 - a[d].weight[l];
      }
      if (w == 0) continue;  // texels of no weight may be infinite
      const char *p = texel_at(s, at, dims);
      if (p) {
        for (unsigned c = 0; c < s->channels; c++) sum[c] += w * channel_value(s, p, c);
        if (s->channels < 4) sum[3] += w;
      } else {
        for (unsigned c = 0; c < 4; c++) sum[c] += w * s->border[c];
      }
    }
    for (unsigned c = 0; c < 4; c++) out[c][l] = half_float_bits((float)sum[c]);
  }
}

// 32-bit texels of one channel, nothing of the border: the shapes that dominate.
static bool all_inside(const Axis *a, unsigned dims, bool linear, uint32_t exec) {
  int32_t any = 0;
  for (unsigned d = 0; d < dims; d++)
    FOR_LANES(l, exec) any |= a[d].first[l] | (linear ? a[d].second[l] : 0);
  return any >= 0;
}

static void read_words(const Source *s, const Axis *a, unsigned dims, uint32_t exec,
                       uint32_t *out) {
  FOR_LANES(l, exec) {
    uint64_t at = (uint64_t)a[0].first[l] * 4;
    if (dims > 1) at += (uint64_t)a[1].first[l] * s->row;
    if (dims > 2) at += (uint64_t)a[2].first[l] * s->slice;
    out[l] = *(const uint32_t *)(s->data + at);
  }
}

static void filter_floats_2d(const Source *s, const Axis *a, uint32_t exec, uint32_t *out) {
  double v[4][LANES] = {{0}}, sum[LANES] = {0};
  FOR_LANES(l, exec) {
    const char *row0 = s->data + (uint64_t)a[1].first[l] * s->row,
               *row1 = s->data + (uint64_t)a[1].second[l] * s->row;
    v[0][l] = ((const float *)row0)[a[0].first[l]];
    v[1][l] = ((const float *)row0)[a[0].second[l]];
    v[2][l] = ((const float *)row1)[a[0].first[l]];
    v[3][l] = ((const float *)row1)[a[0].second[l]];
  }
  for (unsigned k = 0; k < 4; k++)
    for (int l = 0; l < LANES; l++) {
      double w = (k & 1 ? a[0].weight[l] : 1 - a[0].weight[l]) *
                 (k & 2 ? a[1].weight[l] : 1 - a[1].weight[l]);
      sum[l] += w == 0 ? 0 : w * v[k][l];
    }
  for (int l = 0; l < LANES; l++) out[l] = half_float_bits((float)sum[l]);
}

// --- the two entrances ---
static bool open_source(const VgpuTexture *t, Source *s) {
  static const uint8_t size[] = {1, 2, 4, 1, 2, 4, 2, 4};
  const VgpuArray *a = &t->array;
  bool wide_int = a->texel == TEXEL_U32 || a->texel == TEXEL_S32;
  *s = (Source){a->data,
                a->row_bytes,
                a->slice_bytes,
                size[a->texel] * a->channels,
                a->channels,
                a->texel,
                a->texel == TEXEL_F16 || a->texel == TEXEL_F32 ||
                    (t->normalized_float && !wide_int),
                t->border};
  return !t->srgb;
}

static void fill_absent(const Source *s, uint32_t (*out)[LANES]) {
  for (unsigned c = s->channels; c < 4; c++)
    for (int l = 0; l < LANES; l++) out[c][l] = c == 3 ? (s->is_float ? half_float_bits(1) : 1) : 0;
}

bool VGPU_NAME(texture_sample_warp)(const VgpuTexture *t, unsigned dims, const float *const *x,
                                    uint32_t exec, uint32_t (*out)[LANES]) {
  Source s;
  if ((t->source != TEX_ARRAY && t->source != TEX_PITCH2D) || !open_source(t, &s)) return false;
  int32_t n[3] = {(int32_t)t->array.width, (int32_t)MAX(t->array.height, 1u),
                  (int32_t)MAX(t->array.depth, 1u)};
  bool linear = t->linear_filter && s.is_float;
  Axis axis[3];
  for (unsigned d = 0; d < dims; d++) {
    VgpuAddressMode m = t->address[d];
    if (!t->normalized_coords && (m == TEX_WRAP || m == TEX_MIRROR)) m = TEX_CLAMP;
    place_axis(t, m, n[d], linear, x[d], &axis[d]);
  }
  fill_absent(&s, out);
  if (s.channels == 1 && s.texel_bytes == 4 && all_inside(axis, dims, linear, exec)) {
    if (!linear) {
      read_words(&s, axis, dims, exec, out[0]);
      return true;
    }
    if (dims == 2 && s.texel == TEXEL_F32) {
      filter_floats_2d(&s, axis, exec, out[0]);
      return true;
    }
  }
  if (linear) read_filtered(&s, axis, dims, exec, out);
  else read_points(&s, axis, dims, exec, out);
  return true;
}

bool VGPU_NAME(texture_fetch_warp)(const VgpuTexture *t, const int32_t *index, uint32_t exec,
                                   uint32_t (*out)[LANES]) {
  Source s;
  if (t->source != TEX_LINEAR || !open_source(t, &s)) return false;
  fill_absent(&s, out);
  FOR_LANES(l, exec) {
    bool inside = index[l] >= 0 && (uint32_t)index[l] < t->array.width;
    const char *p = s.data + (uint64_t)(uint32_t)index[l] * s.texel_bytes;
    for (unsigned c = 0; c < s.channels; c++) out[c][l] = inside ? channel_bits(&s, p, c) : 0;
    if (!inside)
      for (unsigned c = s.channels; c < 4; c++) out[c][l] = 0;
  }
  return true;
}
