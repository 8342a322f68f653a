// The sampler: addressing, filtering, cube faces, mipmap levels, as the CUDA programming guide
// describes them.
//
// A linear filter takes its weights from coordinates rounded to 8 fractional bits, as the hardware
// does; the weighted sum itself is made in double and rounded once.
#include <math.h>

#include "vgpu/exec/texture.h"
#include "vgpu/exec/half.h"

typedef struct Texel {
  bool is_float;
  uint32_t bits[4];
  double value[4];
} Texel;

// --- one texel ---
static uint32_t float_bits(double v) { return half_float_bits((float)v); }

static double srgb_to_linear(double v) {
  return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static void set_float(const VgpuTexture *t, Texel *out, unsigned c, double v) {
  out->value[c] = v;
  out->bits[c] = float_bits(v);
}

static void set_int(const VgpuTexture *t, Texel *out, unsigned c, int64_t v, double most) {
  if (!t->normalized_float || most == 0) {
    out->bits[c] = (uint32_t)v;
    return;
  }
  double f = (double)v / most;
  if (f < -1) f = -1;
  if (t->srgb && most == 255 && c < 3) f = srgb_to_linear(f);
  set_float(t, out, c, (float)f);
}

static bool yields_float(const VgpuTexture *t, VgpuTexel texel) {
  return texel == TEXEL_F16 || texel == TEXEL_F32 ||
         (t->normalized_float && texel != TEXEL_U32 && texel != TEXEL_S32);
}

static void read_texel(const VgpuTexture *t, const VgpuArray *a, const char *p, Texel *out) {
  out->is_float = yields_float(t, a->texel);
  for (unsigned c = 0; c < 4; c++) {
    if (c >= a->channels) {  // absent channels: 0, and 1 for the last
      out->value[c] = c == 3;
      out->bits[c] = c == 3 ? (out->is_float ? float_bits(1) : 1) : 0;
      continue;
    }
    switch (a->texel) {
      case TEXEL_U8: set_int(t, out, c, ((const uint8_t *)p)[c], 255); break;
      case TEXEL_S8: set_int(t, out, c, ((const int8_t *)p)[c], 127); break;
      case TEXEL_U16: set_int(t, out, c, ((const uint16_t *)p)[c], 65535); break;
      case TEXEL_S16: set_int(t, out, c, ((const int16_t *)p)[c], 32767); break;
      case TEXEL_U32:
      case TEXEL_S32: set_int(t, out, c, ((const int32_t *)p)[c], 0); break;
      case TEXEL_F16: set_float(t, out, c, half_to_float(((const uint16_t *)p)[c])); break;
      case TEXEL_F32:
        out->bits[c] = ((const uint32_t *)p)[c];
        out->value[c] = ((const float *)p)[c];
        break;
    }
  }
}

static unsigned texel_bytes(const VgpuArray *a) {
  static const uint8_t size[] = {1, 2, 4, 1, 2, 4, 2, 4};
  return size[a->texel] * a->channels;
}

// --- addressing ---
typedef struct Place {
  const VgpuArray *array;
  unsigned dims;
  int64_t size[3];
  VgpuAddressMode mode[3];
  uint64_t slice;
} Place;

// Wrapping and mirroring exist for normalized coordinates only; otherwise they clamp.
static VgpuAddressMode mode_of(const VgpuTexture *t, unsigned axis) {
  VgpuAddressMode m = t->address[axis];
  return !t->normalized_coords && (m == TEX_WRAP || m == TEX_MIRROR) ? TEX_CLAMP : m;
}

static int64_t resolve(VgpuAddressMode mode, int64_t i, int64_t n) {  // -1: the border
  if (i >= 0 && i < n) return i;
  switch (mode) {
    case TEX_WRAP: return (i % n + n) % n;
    case TEX_BORDER: return -1;
    default: return i < 0 ? 0 : n - 1;
  }
}

static void fetch(const VgpuTexture *t, const Place *p, const int64_t *index, Texel *out) {
  const VgpuArray *a = p->array;
  uint64_t at[3] = {0};
  for (unsigned d = 0; d < p->dims; d++) {
    int64_t i = resolve(p->mode[d], index[d], p->size[d]);
    if (i < 0) {
      out->is_float = yields_float(t, a->texel);
      for (unsigned c = 0; c < 4; c++) {
        out->value[c] = t->border[c];
        out->bits[c] = out->is_float ? half_float_bits(t->border[c])
                                     : (uint32_t)(int64_t)t->border[c];
      }
      return;
    }
    at[d] = (uint64_t)i;
  }
  const char *data = (const char *)a->data + p->slice * a->slice_bytes + at[2] * a->slice_bytes +
                     at[1] * a->row_bytes + at[0] * texel_bytes(a);
  read_texel(t, a, data, out);
}

// Coordinate along one axis, in texels.
static double to_texels(const VgpuTexture *t, VgpuAddressMode mode, float x, int64_t n,
                        bool normalized) {
  if (x != x) return 0;
  double u = x;
  if (normalized) {
    if (mode == TEX_WRAP) u = u - floor(u);
    else if (mode == TEX_MIRROR) {
      double whole = floor(u);
      u -= whole;
      if (fmod(whole, 2) != 0) u = 1 - u;
    }
    u *= (double)n;
  }
  return u < -0x1p30 ? -0x1p30 : u > 0x1p30 ? 0x1p30 : u;
}

static int64_t floor_div(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

// First texel of the filter's footprint, and the weight of the second in 1/256.
static int64_t footprint(double u, unsigned *weight) {
  int64_t fixed = (int64_t)floor((u - 0.5) * 256 + 0.5), i = floor_div(fixed, 256);
  *weight = (unsigned)(fixed - i * 256);
  return i;
}

// --- cube maps ---
static unsigned cube_face(const float *v, float *s, float *t) {
  float x = v[0], y = v[1], z = v[2], ax = fabsf(x), ay = fabsf(y), az = fabsf(z), m, sc, tc;
  unsigned face;
  if (az >= ax && az >= ay) {
    face = z >= 0 ? 4 : 5;
    m = az;
    sc = z >= 0 ? x : -x;
    tc = -y;
  } else if (ay >= ax) {
    face = y >= 0 ? 2 : 3;
    m = ay;
    sc = x;
    tc = y >= 0 ? z : -z;
  } else {
    face = x >= 0 ? 0 : 1;
    m = ax;
    sc = x >= 0 ? -z : z;
    tc = -y;
  }
  *s = (sc / m + 1) / 2;
  *t = (tc / m + 1) / 2;
  return face;
}

// The request with cube coordinates made plain, and the slice it reads.
typedef struct Plain {
  Place place;
  float at[3];
  bool normalized;
} Plain;

static void make_plain(const VgpuTexture *t, const TexRequest *q, const VgpuArray *a, Plain *p) {
  bool cube = q->geometry == GEOM_CUBE || q->geometry == GEOM_ACUBE;
  p->place.array = a;
  p->place.dims = cube ? 2 : geometry_dims(q->geometry);
  p->place.size[0] = a->width;
  p->place.size[1] = MAX(a->height, 1u);
  p->place.size[2] = MAX(a->depth, 1u);
  p->place.slice = 0;
  p->normalized = t->normalized_coords || cube;
  memcpy(p->at, q->at, sizeof p->at);
  uint32_t layers = MAX(a->layers, 1u);
  if (cube) {
    float s, r;
    unsigned face = cube_face(q->at, &s, &r);
    p->at[0] = s;
    p->at[1] = r;
    uint32_t cubes = MAX(layers / 6, 1u);
    uint32_t layer = q->layer < 0                  ? 0
                     : (uint32_t)q->layer >= cubes ? cubes - 1
                                                   : (uint32_t)q->layer;
    p->place.slice = layer * 6 + face;
  } else if (geometry_has_layers(q->geometry)) {
    p->place.slice = q->layer < 0                   ? 0
                     : (uint32_t)q->layer >= layers ? layers - 1
                                                    : (uint32_t)q->layer;
  }
  // the array may have no cube faces at all
  p->place.slice = MIN(p->place.slice, (uint64_t)layers - 1);
  for (unsigned d = 0; d < 3; d++) p->place.mode[d] = cube ? TEX_CLAMP : mode_of(t, d);
}

// --- one level ---
static void sample_point(const VgpuTexture *t, const TexRequest *q, const Plain *p, Texel *out) {
  int64_t index[3] = {0};
  for (unsigned d = 0; d < p->place.dims; d++)
    index[d] = (q->integer ? q->index[d]
                           : (int64_t)floor(to_texels(t, p->place.mode[d], p->at[d],
                                                      p->place.size[d], p->normalized))) +
               q->offset[d];
  fetch(t, &p->place, index, out);
}

static void sample_linear(const VgpuTexture *t, const TexRequest *q, const Plain *p, Texel *out) {
  int64_t first[3] = {0};
  unsigned weight[3] = {0}, dims = p->place.dims;
  for (unsigned d = 0; d < dims; d++)
    first[d] = footprint(to_texels(t, p->place.mode[d], p->at[d], p->place.size[d], p->normalized),
                         &weight[d]) +
               q->offset[d];
  double sum[4] = {0};
  for (unsigned corner = 0; corner < 1u << dims; corner++) {
    int64_t index[3] = {0};
    double w = 1;
    for (unsigned d = 0; d < dims; d++) {
      unsigned upper = corner >> d & 1;
      index[d] = first[d] + upper;
      w *= (upper ? weight[d] : 256 - weight[d]) / 256.0;
    }
    if (w == 0) continue;  // texels of no weight may be infinite
    Texel x;
    fetch(t, &p->place, index, &x);
    for (unsigned c = 0; c < 4; c++) sum[c] += w * x.value[c];
  }
  out->is_float = true;
  for (unsigned c = 0; c < 4; c++) {
    out->value[c] = sum[c];
    out->bits[c] = float_bits(sum[c]);
  }
}

static void sample_level(const VgpuTexture *t, const TexRequest *q, const VgpuArray *a,
                         Texel *out) {
  Plain p;
  make_plain(t, q, a, &p);
  if (t->linear_filter && !q->integer && yields_float(t, a->texel)) sample_linear(t, q, &p, out);
  else sample_point(t, q, &p, out);
}

// --- levels ---
static double gradient_lod(const VgpuTexture *t, const TexRequest *q) {
  const VgpuArray *a = &t->levels[0];
  double size[3] = {a->width, MAX(a->height, 1u), MAX(a->depth, 1u)}, lx = 0, ly = 0;
  for (unsigned d = 0; d < geometry_dims(q->geometry); d++) {
    double dx = q->dx[d] * size[d], dy = q->dy[d] * size[d];
    lx += dx * dx;
    ly += dy * dy;
  }
  double longest = MAX(lx, ly);
  return longest > 0 ? 0.5 * log2(longest) : -1000;
}

static void sample_mipmap(const VgpuTexture *t, const TexRequest *q, Texel *out) {
  double lod = q->has_gradient ? gradient_lod(t, q) : q->lod;
  lod += t->mip_bias;
  if (lod != lod || lod < t->mip_min) lod = t->mip_min;
  if (lod > t->mip_max) lod = t->mip_max;
  double last = (double)t->nlevels - 1;
  if (lod < 0) lod = 0;
  if (lod > last) lod = last;
  if (!t->linear_mip_filter) {
    sample_level(t, q, &t->levels[(uint32_t)floor(lod + 0.5)], out);
    return;
  }
  uint32_t fixed = (uint32_t)floor(lod * 256 + 0.5), level = fixed / 256, weight = fixed % 256;
  sample_level(t, q, &t->levels[level], out);
  if (!weight || !out->is_float) return;
  Texel next;
  sample_level(t, q, &t->levels[level + 1], &next);
  for (unsigned c = 0; c < 4; c++) {
    out->value[c] = out->value[c] * (256 - weight) / 256.0 + next.value[c] * weight / 256.0;
    out->bits[c] = float_bits(out->value[c]);
  }
}

// Linear memory has no addressing modes: what lies outside reads as zero.
static void sample_linear_memory(const VgpuTexture *t, const TexRequest *q, Texel *out) {
  int64_t i = q->integer ? q->index[0]
                         : (int64_t)floor(to_texels(t, TEX_CLAMP, q->at[0], t->array.width, false));
  i += q->offset[0];
  memset(out, 0, sizeof *out);
  if (i < 0 || i >= t->array.width) return;
  read_texel(t, &t->array, (const char *)t->array.data + (uint64_t)i * texel_bytes(&t->array), out);
}

void VGPU_NAME(texture_sample)(const VgpuTexture *t, const TexRequest *q, uint32_t out[4]) {
  Texel x;
  if (t->source == TEX_LINEAR) sample_linear_memory(t, q, &x);
  else if (t->source == TEX_MIPMAP && t->nlevels) sample_mipmap(t, q, &x);
  else sample_level(t, q, &t->array, &x);
  memcpy(out, x.bits, sizeof x.bits);
}

void VGPU_NAME(texture_gather)(const VgpuTexture *t, const TexRequest *q, unsigned channel,
                               uint32_t out[4]) {
  static const uint8_t dx[4] = {0, 1, 1, 0}, dy[4] = {1, 1, 0, 0};
  Plain p;
  make_plain(t, q, t->source == TEX_MIPMAP ? &t->levels[0] : &t->array, &p);
  int64_t first[2];
  unsigned weight;
  for (unsigned d = 0; d < 2; d++)
    first[d] = footprint(to_texels(t, p.place.mode[d], p.at[d], p.place.size[d], p.normalized),
                         &weight) +
               q->offset[d];
  for (unsigned k = 0; k < 4; k++) {
    Texel x;
    int64_t index[3] = {first[0] + dx[k], first[1] + dy[k], 0};
    fetch(t, &p.place, index, &x);
    out[k] = x.bits[channel];
  }
}
