// Images. A kernel gets the address of an Image, which images.c fills; samplers are numbers, as
// OpenCL C writes them. If the sampler has no addressing mode, coordinates outside of an image are
// moved into a register whose name the tools know, as in ../index_tests.c.
typedef struct Image {  // OclImageHead in ../opencl.h
  ulong pixels, row, slice;
  int width, height, depth, layers;  // 0: it has none
  uint order, type, bytes, unused;
} Image;
typedef global const Image *ImageAt;

ImageAt __attribute__((always_inline)) image_itself(ImageAt p) __asm__("__wgcl_image");
ImageAt __attribute__((always_inline)) image_itself(ImageAt p) { return p; }
uint __attribute__((always_inline)) sampler_itself(constant char *s) __asm__("__wgcl_sampler");
uint __attribute__((always_inline)) sampler_itself(constant char *s) { return (uint)(ulong)s; }
uint sampler_bits(sampler_t s) __asm__("__wgcl_sampler");
constant char *__attribute__((always_inline)) __translate_sampler_initializer(uint bits) {
  return (constant char *)(ulong)bits;
}

enum {
  SAMPLER_NORMALIZED = 1,
  SAMPLER_EDGE = 2,
  SAMPLER_CLAMP = 4,
  SAMPLER_REPEAT = 6,
  SAMPLER_MIRRORED = 8,
  SAMPLER_ADDRESSING = 14,
  SAMPLER_LINEAR = 0x20
};

// --- pixels ---

#define OUTSIDE(coordinate) \
  __asm__ volatile("{\n\t.reg .b64 wg_index_outside;\n\tmov.b64 wg_index_outside, %0;\n\t}" ::"l"( \
      (ulong)(uint)(coordinate)))

static bool BUILT_IN pixel_is_inside(ImageAt m, int4 at) {
  return (uint)at.x < (uint)m->width && (uint)at.y < (uint)m->height && (uint)at.z < (uint)m->depth;
}

static ulong BUILT_IN pixel_at(ImageAt m, int4 at) {
  return m->pixels + (ulong)at.z * m->slice + (ulong)at.y * m->row + (ulong)at.x * m->bytes;
}

static int BUILT_IN channels_of(uint order) {
  switch (order) {
    case CLK_RG: return 2;
    case CLK_RGBA:
    case CLK_BGRA:
    case CLK_ARGB: return 4;
    default: return 1;
  }
}

// One channel, its bits.
static uint BUILT_IN load_channel(ulong at, uint type, int i) {
  switch (type) {
    case CLK_SNORM_INT8:
    case CLK_SIGNED_INT8: return (uint)(int)((global const char *)at)[i];
    case CLK_UNORM_INT8:
    case CLK_UNSIGNED_INT8: return ((global const uchar *)at)[i];
    case CLK_SNORM_INT16:
    case CLK_SIGNED_INT16: return (uint)(int)((global const short *)at)[i];
    case CLK_UNORM_INT16:
    case CLK_UNSIGNED_INT16: return ((global const ushort *)at)[i];
    case CLK_HALF_FLOAT: return as_uint(vload_half(i, (global const half *)at));
    default: return ((global const uint *)at)[i];
  }
}

static uint4 BUILT_IN load_channels(ulong at, uint type, int n) {
  uint4 c = 0;
  c.x = load_channel(at, type, 0);
  if (n > 1) c.y = load_channel(at, type, 1);
  if (n > 2) c.z = load_channel(at, type, 2);
  if (n > 3) c.w = load_channel(at, type, 3);
  return c;
}

static float4 BUILT_IN as_numbers(uint4 bits, uint type) {
  switch (type) {
    case CLK_SNORM_INT8: return max(convert_float4(as_int4(bits)) / 127.0f, -1.0f);
    case CLK_UNORM_INT8: return convert_float4(bits) / 255.0f;
    case CLK_SNORM_INT16: return max(convert_float4(as_int4(bits)) / 32767.0f, -1.0f);
    case CLK_UNORM_INT16: return convert_float4(bits) / 65535.0f;
    default: return as_float4(bits);
  }
}

#define IN_ORDER(type, c, order, one) \
  ((order) == CLK_R           ? (type)((c).x, 0, 0, one) \
   : (order) == CLK_RG        ? (type)((c).x, (c).y, 0, one) \
   : (order) == CLK_A         ? (type)(0, 0, 0, (c).x) \
   : (order) == CLK_INTENSITY ? (c).xxxx \
   : (order) == CLK_LUMINANCE ? (type)((c).x, (c).x, (c).x, one) \
   : (order) == CLK_BGRA      ? (c).zyxw \
   : (order) == CLK_ARGB      ? (c).yzwx \
                              : (c))

static float4 __attribute__((noinline)) fetch_float(ImageAt m, int4 at) {
  uint4 bits = load_channels(pixel_at(m, at), m->type, channels_of(m->order));
  float4 c = as_numbers(bits, m->type);
  return IN_ORDER(float4, c, m->order, 1.0f);
}

static uint4 __attribute__((noinline)) fetch_bits(ImageAt m, int4 at) {
  uint4 c = load_channels(pixel_at(m, at), m->type, channels_of(m->order));
  return IN_ORDER(uint4, c, m->order, 1u);
}

static uint BUILT_IN border_alpha(ImageAt m) {
  return m->order == CLK_R || m->order == CLK_RG || m->order == CLK_LUMINANCE;
}

// Pixels outside are the border; without an addressing mode, reading them is a mistake.
static float4 BUILT_IN fetch_or_border(ImageAt m, int4 at, uint sampler) {
  if (pixel_is_inside(m, at)) return fetch_float(m, at);
  if (!(sampler & SAMPLER_ADDRESSING)) OUTSIDE(at.x);
  return (float4)(0, 0, 0, border_alpha(m));
}

static uint4 BUILT_IN bits_or_border(ImageAt m, int4 at, uint sampler) {
  if (pixel_is_inside(m, at)) return fetch_bits(m, at);
  if (!(sampler & SAMPLER_ADDRESSING)) OUTSIDE(at.x);
  return (uint4)(0, 0, 0, border_alpha(m));
}

// --- coordinates: section 8.2 of the specification of OpenCL C ---

// The pixel that an integer coordinate addresses.
static int BUILT_IN place(int i, int size, uint sampler) {
  switch (sampler & SAMPLER_ADDRESSING) {
    case SAMPLER_EDGE: return clamp(i, 0, size - 1);
    case SAMPLER_CLAMP: return clamp(i, -1, size);
    default: return i;
  }
}

// Scales a coordinate to pixels; repeat and mirrored addressing first fold it into one copy of the
// image.
static float BUILT_IN unfold(float s, int size, uint sampler) {
  switch (sampler & SAMPLER_ADDRESSING) {
    case SAMPLER_REPEAT: return (s - floor(s)) * size;
    case SAMPLER_MIRRORED: return fabs(s - 2.0f * rint(0.5f * s)) * size;
    default: return sampler & SAMPLER_NORMALIZED ? s * size : s;
  }
}

static int BUILT_IN nearest(float s, int size, uint sampler) {
  int i = convert_int_sat(floor(unfold(s, size, sampler)));
  if ((sampler & SAMPLER_ADDRESSING) == SAMPLER_REPEAT) return i >= size ? i - size : i;
  if ((sampler & SAMPLER_ADDRESSING) == SAMPLER_MIRRORED) return min(i, size - 1);
  return place(i, size, sampler);
}

// The pixels on both sides of a coordinate, and the share of the second.
static float BUILT_IN between(float s, int size, uint sampler, private int *a, private int *b) {
  float u = unfold(s, size, sampler) - 0.5f;
  int i = convert_int_sat(floor(u));
  *a = i;
  *b = i + 1;
  if ((sampler & SAMPLER_ADDRESSING) == SAMPLER_REPEAT) {
    if (*a < 0) *a += size;
    if (*b >= size) *b -= size;
  } else if ((sampler & SAMPLER_ADDRESSING) == SAMPLER_MIRRORED) {
    *a = max(*a, 0);
    *b = min(*b, size - 1);
  } else {
    *a = place(*a, size, sampler);
    *b = place(*b, size, sampler);
  }
  return u - floor(u);
}

static int BUILT_IN layer_of(float s, int layers) {
  return clamp(convert_int_sat(rint(s)), 0, layers - 1);
}

// --- reads. dimensions: of the coordinate that is sampled; the layer follows them ---

static int4 BUILT_IN nearest_pixel(ImageAt m, float4 s, int dimensions, uint sampler) {
  int4 at = 0;
  at.x = nearest(s.x, m->width, sampler);
  if (dimensions > 1) at.y = nearest(s.y, m->height, sampler);
  if (dimensions > 2) at.z = nearest(s.z, m->depth, sampler);
  if (m->layers) at.z = layer_of(dimensions == 1 ? s.y : s.z, m->layers);
  return at;
}

static float4 __attribute__((noinline)) sample_linear(ImageAt m, float4 s, int dimensions,
                                                      uint sampler) {
  int x[2], y[2] = {0, 0}, z[2] = {0, 0};
  float a = between(s.x, m->width, sampler, x, x + 1), b = 0, c = 0;
  if (dimensions > 1) b = between(s.y, m->height, sampler, y, y + 1);
  if (dimensions > 2) c = between(s.z, m->depth, sampler, z, z + 1);
  if (m->layers) z[0] = z[1] = layer_of(dimensions == 1 ? s.y : s.z, m->layers);
  float4 sum = 0;
  for (int i = 0; i < 1 << dimensions; i++) {
    int4 at = (int4)(x[i & 1], y[i >> 1 & 1], z[i >> 2 & 1], 0);
    float share = (i & 1 ? a : 1 - a) * (dimensions < 2 ? 1 : i & 2 ? b : 1 - b) *
                  (dimensions < 3 ? 1 : i & 4 ? c : 1 - c);
    sum += share * fetch_or_border(m, at, sampler);
  }
  return sum;
}

static float4 BUILT_IN sample(ImageAt m, float4 s, int dimensions, uint sampler) {
  if (sampler & SAMPLER_LINEAR) return sample_linear(m, s, dimensions, sampler);
  return fetch_or_border(m, nearest_pixel(m, s, dimensions, sampler), sampler);
}

static uint4 BUILT_IN sample_bits(ImageAt m, float4 s, int dimensions, uint sampler) {
  return bits_or_border(m, nearest_pixel(m, s, dimensions, sampler), sampler);
}

static int4 BUILT_IN whole_pixel(ImageAt m, int4 c, int dimensions, uint sampler) {
  int4 at = 0;
  at.x = place(c.x, m->width, sampler);
  if (dimensions > 1) at.y = place(c.y, m->height, sampler);
  if (dimensions > 2) at.z = place(c.z, m->depth, sampler);
  if (m->layers) at.z = clamp(dimensions == 1 ? c.y : c.z, 0, m->layers - 1);
  return at;
}

// --- writes ---

static void BUILT_IN store_channel(ulong at, uint type, int i, uint bits) {
  switch (type) {
    case CLK_SNORM_INT8:
    case CLK_SIGNED_INT8:
    case CLK_UNORM_INT8:
    case CLK_UNSIGNED_INT8: ((global uchar *)at)[i] = (uchar)bits; return;
    case CLK_SNORM_INT16:
    case CLK_SIGNED_INT16:
    case CLK_UNORM_INT16:
    case CLK_UNSIGNED_INT16: ((global ushort *)at)[i] = (ushort)bits; return;
    case CLK_HALF_FLOAT: vstore_half(as_float(bits), i, (global half *)at); return;
    default: ((global uint *)at)[i] = bits; return;
  }
}

static uint4 BUILT_IN number_bits(float4 c, uint type) {
  switch (type) {
    case CLK_SNORM_INT8: return as_uint4(convert_int4_sat_rte(clamp(c, -1.0f, 1.0f) * 127.0f));
    case CLK_UNORM_INT8: return convert_uint4_sat_rte(clamp(c, 0.0f, 1.0f) * 255.0f);
    case CLK_SNORM_INT16: return as_uint4(convert_int4_sat_rte(clamp(c, -1.0f, 1.0f) * 32767.0f));
    case CLK_UNORM_INT16: return convert_uint4_sat_rte(clamp(c, 0.0f, 1.0f) * 65535.0f);
    default: return as_uint4(c);
  }
}

// Integers that do not fit are clamped.
static uint4 BUILT_IN fit_signed(int4 c, uint type) {
  if (type == CLK_SIGNED_INT8) c = clamp(c, -128, 127);
  if (type == CLK_SIGNED_INT16) c = clamp(c, -32768, 32767);
  return as_uint4(c);
}
static uint4 BUILT_IN fit_unsigned(uint4 c, uint type) {
  if (type == CLK_UNSIGNED_INT8) c = min(c, 255u);
  if (type == CLK_UNSIGNED_INT16) c = min(c, 65535u);
  return c;
}

static void __attribute__((noinline)) store_bits(ImageAt m, int4 at, uint4 c) {
  int n = channels_of(m->order);
  ulong to = pixel_at(m, at);
  if (m->order == CLK_A) c.x = c.w;
  if (m->order == CLK_BGRA) c = c.zyxw;
  if (m->order == CLK_ARGB) c = c.wxyz;
  store_channel(to, m->type, 0, c.x);
  if (n > 1) store_channel(to, m->type, 1, c.y);
  if (n > 2) store_channel(to, m->type, 2, c.z);
  if (n > 3) store_channel(to, m->type, 3, c.w);
}

static void BUILT_IN put_bits(ImageAt m, int4 at, uint4 c) {
  if (pixel_is_inside(m, at)) store_bits(m, at, c);
  else OUTSIDE((uint)at.x >= (uint)m->width     ? at.x
               : (uint)at.y >= (uint)m->height ? at.y
                                               : at.z);
}

// Brings a coordinate without a sampler into the common form: the layer comes third.
static int4 BUILT_IN own_pixel(ImageAt m, int4 c, int dimensions) {
  return m->layers && dimensions == 1 ? (int4)(c.x, 0, c.y, 0) : c;
}

// --- the functions of OpenCL C, for each type of image ---

#define COORDINATE1(type, c) ((type)((c), 0, 0, 0))
#define COORDINATE2(type, c) ((type)((c), 0, 0))
#define COORDINATE4(type, c) (c)

#define IMAGE_OF(image) ImageAt __attribute__((overloadable)) image_of(image m) __asm__("__wgcl_image");

#define READS_SAMPLED(image, dimensions, n, ints, floats) \
  float4 BUILT_IN read_imagef(image m, sampler_t s, ints c) { \
    ImageAt at = image_of(m); \
    uint b = sampler_bits(s); \
    return fetch_or_border(at, whole_pixel(at, COORDINATE##n(int4, c), dimensions, b), b); \
  } \
  int4 BUILT_IN read_imagei(image m, sampler_t s, ints c) { \
    ImageAt at = image_of(m); \
    uint b = sampler_bits(s); \
    return as_int4(bits_or_border(at, whole_pixel(at, COORDINATE##n(int4, c), dimensions, b), b)); \
  } \
  uint4 BUILT_IN read_imageui(image m, sampler_t s, ints c) { \
    ImageAt at = image_of(m); \
    uint b = sampler_bits(s); \
    return bits_or_border(at, whole_pixel(at, COORDINATE##n(int4, c), dimensions, b), b); \
  } \
  float4 BUILT_IN read_imagef(image m, sampler_t s, floats c) { \
    return sample(image_of(m), COORDINATE##n(float4, c), dimensions, sampler_bits(s)); \
  } \
  int4 BUILT_IN read_imagei(image m, sampler_t s, floats c) { \
    return as_int4(sample_bits(image_of(m), COORDINATE##n(float4, c), dimensions, \
                               sampler_bits(s))); \
  } \
  uint4 BUILT_IN read_imageui(image m, sampler_t s, floats c) { \
    return sample_bits(image_of(m), COORDINATE##n(float4, c), dimensions, sampler_bits(s)); \
  }

#define READS(image, dimensions, n, ints) \
  float4 BUILT_IN read_imagef(image m, ints c) { \
    ImageAt at = image_of(m); \
    return fetch_or_border(at, own_pixel(at, COORDINATE##n(int4, c), dimensions), 0); \
  } \
  int4 BUILT_IN read_imagei(image m, ints c) { \
    ImageAt at = image_of(m); \
    return as_int4(bits_or_border(at, own_pixel(at, COORDINATE##n(int4, c), dimensions), 0)); \
  } \
  uint4 BUILT_IN read_imageui(image m, ints c) { \
    ImageAt at = image_of(m); \
    return bits_or_border(at, own_pixel(at, COORDINATE##n(int4, c), dimensions), 0); \
  }

#define WRITES(image, dimensions, n, ints) \
  void BUILT_IN write_imagef(image m, ints c, float4 color) { \
    ImageAt at = image_of(m); \
    put_bits(at, own_pixel(at, COORDINATE##n(int4, c), dimensions), number_bits(color, at->type)); \
  } \
  void BUILT_IN write_imagei(image m, ints c, int4 color) { \
    ImageAt at = image_of(m); \
    put_bits(at, own_pixel(at, COORDINATE##n(int4, c), dimensions), fit_signed(color, at->type)); \
  } \
  void BUILT_IN write_imageui(image m, ints c, uint4 color) { \
    ImageAt at = image_of(m); \
    put_bits(at, own_pixel(at, COORDINATE##n(int4, c), dimensions), \
             fit_unsigned(color, at->type)); \
  }

#define ASKS(image) \
  int BUILT_IN get_image_width(image m) { return image_of(m)->width; } \
  int BUILT_IN get_image_channel_data_type(image m) { return (int)image_of(m)->type; } \
  int BUILT_IN get_image_channel_order(image m) { return (int)image_of(m)->order; }
#define ASKS_HEIGHT(image) \
  int BUILT_IN get_image_height(image m) { return image_of(m)->height; } \
  int2 BUILT_IN get_image_dim(image m) { return (int2)(image_of(m)->width, image_of(m)->height); }
#define ASKS_DEPTH(image) \
  int BUILT_IN get_image_height(image m) { return image_of(m)->height; } \
  int BUILT_IN get_image_depth(image m) { return image_of(m)->depth; } \
  int4 BUILT_IN get_image_dim(image m) { \
    return (int4)(image_of(m)->width, image_of(m)->height, image_of(m)->depth, 0); \
  }
#define ASKS_LAYERS(image) \
  size_t BUILT_IN get_image_array_size(image m) { return (size_t)image_of(m)->layers; }

#define ALL_OF(type, dimensions, n, ints, floats) \
  IMAGE_OF(read_only type) \
  IMAGE_OF(write_only type) \
  IMAGE_OF(read_write type) \
  READS_SAMPLED(read_only type, dimensions, n, ints, floats) \
  READS(read_only type, dimensions, n, ints) \
  READS(read_write type, dimensions, n, ints) \
  WRITES(write_only type, dimensions, n, ints) \
  WRITES(read_write type, dimensions, n, ints) \
  ASKS(read_only type) \
  ASKS(write_only type) \
  ASKS(read_write type)
#define FOR_ACCESSES(what, type) what(read_only type) what(write_only type) what(read_write type)

ALL_OF(image1d_t, 1, 1, int, float)
ALL_OF(image1d_array_t, 1, 2, int2, float2)
ALL_OF(image2d_t, 2, 2, int2, float2)
ALL_OF(image2d_array_t, 2, 4, int4, float4)
ALL_OF(image3d_t, 3, 4, int4, float4)
FOR_ACCESSES(ASKS_HEIGHT, image2d_t)
FOR_ACCESSES(ASKS_HEIGHT, image2d_array_t)
FOR_ACCESSES(ASKS_DEPTH, image3d_t)
FOR_ACCESSES(ASKS_LAYERS, image1d_array_t)
FOR_ACCESSES(ASKS_LAYERS, image2d_array_t)

IMAGE_OF(read_only image1d_buffer_t)
IMAGE_OF(write_only image1d_buffer_t)
IMAGE_OF(read_write image1d_buffer_t)
READS(read_only image1d_buffer_t, 1, 1, int)
READS(read_write image1d_buffer_t, 1, 1, int)
WRITES(write_only image1d_buffer_t, 1, 1, int)
WRITES(read_write image1d_buffer_t, 1, 1, int)
FOR_ACCESSES(ASKS, image1d_buffer_t)
