// Image formats: the supported ones, and the conversion of colors to pixels.
#include "opencl/opencl.h"

#include <math.h>

typedef struct Channels {
  cl_channel_order order;
  unsigned n, which;
} Channels;
typedef struct Type {
  cl_channel_type type;
  unsigned bytes;
  bool is_real;
  float most;
} Type;

static const Channels all_channels[] = {
#define CHANNELS(...) {__VA_ARGS__},
#include "opencl/image_formats.def"
};
static const Type all_types[] = {
#define CHANNELS(...)
#define TYPE(...) {__VA_ARGS__},
#include "opencl/image_formats.def"
};

static bool together(const Channels *c, const Type *t) {
  if (c->which == 1) return t->is_real;
  return c->which != 2 || t->bytes == 1;
}

static bool find(const cl_image_format *f, const Channels **c, const Type **t) {
  *c = NULL;
  *t = NULL;
  for (size_t i = 0; i < ARRAY_LEN(all_channels); i++)
    if (all_channels[i].order == f->image_channel_order) *c = &all_channels[i];
  for (size_t i = 0; i < ARRAY_LEN(all_types); i++)
    if (all_types[i].type == f->image_channel_data_type) *t = &all_types[i];
  return *c && *t;
}

size_t ocl_format_bytes(const cl_image_format *f) {
  const Channels *c;
  const Type *t;
  return find(f, &c, &t) && together(c, t) ? (size_t)c->n * t->bytes : 0;
}

bool ocl_format_exists(const cl_image_format *f) {
  const Channels *c;
  const Type *t;
  if (find(f, &c, &t)) return together(c, t);
  // orders and types of OpenCL that are not in the tables
  return f->image_channel_order >= CL_R && f->image_channel_order <= CL_ABGR &&
         f->image_channel_data_type >= CL_SNORM_INT8 &&
         f->image_channel_data_type <= CL_UNORM_INT_101010_2;
}

cl_int clGetSupportedImageFormats(cl_context context, cl_mem_flags flags, cl_mem_object_type type,
                                  cl_uint room, cl_image_format *out, cl_uint *n) {
  cl_uint count = 0;
  if (!ocl_is(context, OCL_CONTEXT)) return CL_INVALID_CONTEXT;
  bool is_image = type >= CL_MEM_OBJECT_IMAGE2D && type <= CL_MEM_OBJECT_IMAGE1D_BUFFER;
  // kernels may read and write images of all formats
  flags &= ~(cl_mem_flags)CL_MEM_KERNEL_READ_AND_WRITE;
  if (!is_image || (!room && out) || ocl_check_flags(flags, NULL) == CL_INVALID_VALUE)
    return CL_INVALID_VALUE;
  for (size_t c = 0; c < ARRAY_LEN(all_channels); c++)
    for (size_t t = 0; t < ARRAY_LEN(all_types); t++) {
      if (!together(&all_channels[c], &all_types[t])) continue;
      if (out && count < room)
        out[count] = (cl_image_format){all_channels[c].order, all_types[t].type};
      count++;
    }
  if (n) *n = count;
  return CL_SUCCESS;
}

// --- colors ---

// Rounds to the nearest half, ties to even.
static uint16_t half_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  uint16_t sign = bits >> 16 & 0x8000;
  float size = fabsf(value);
  if (isnan(value)) return sign | 0x7e00;
  if (size >= 65520.0f) return sign | 0x7c00;
  if (size < 0x1p-14f) return sign | (uint16_t)lrintf(size * 0x1p24f);
  int exponent;
  float part = frexpf(size, &exponent);  // 0.5 … 1
  return sign | (uint16_t)(((exponent + 13) << 10) + (int)lrintf(part * 2048.0f));
}

static uint32_t channel_bits(const Type *t, const void *color, unsigned i) {
  float number;
  uint32_t bits;
  memcpy(&bits, (const char *)color + 4 * i, sizeof bits);
  memcpy(&number, &bits, sizeof number);
  if (t->type == CL_HALF_FLOAT) return half_of(number);
  if (t->most) {
    bool is_signed = t->type == CL_SNORM_INT8 || t->type == CL_SNORM_INT16;
    float least = is_signed ? -1.0f : 0.0f;
    number = number > 1 ? 1 : number > least ? number : least;  // NaN: the least
    return (uint32_t)(int32_t)rintf(number * t->most);
  }
  if (t->type == CL_SIGNED_INT8 || t->type == CL_SIGNED_INT16) {
    int32_t most = t->bytes == 1 ? 127 : 32767, value = (int32_t)bits;
    return (uint32_t)(value > most ? most : value < -most - 1 ? -most - 1 : value);
  }
  uint32_t most = t->bytes == 1 ? 255 : t->bytes == 2 ? 65535 : UINT32_MAX;
  return t->is_real || t->type == CL_SIGNED_INT32 ? bits : MIN(bits, most);
}

void ocl_format_pixel(const cl_image_format *f, const void *color, unsigned char *out) {
  static const unsigned char bgra[] = {2, 1, 0, 3}, argb[] = {3, 0, 1, 2}, rgba[] = {0, 1, 2, 3},
                             alpha[] = {3};
  const Channels *c;
  const Type *t;
  if (!find(f, &c, &t)) return;
  const unsigned char *from = c->order == CL_BGRA   ? bgra
                              : c->order == CL_ARGB ? argb
                              : c->order == CL_A    ? alpha
                                                    : rgba;
  for (unsigned i = 0; i < c->n; i++) {
    uint32_t bits = channel_bits(t, color, from[i]);
    memcpy(out + i * t->bytes, &bits, t->bytes);
  }
}
