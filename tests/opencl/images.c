// Images of every type and format, and samplers of every kind, against the same on the CPU. With an
// argument one kernel writes outside of its image.
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cl_context context;
static cl_device_id device;
static cl_command_queue queue;
static cl_program program;
static const char *now = "";
#define MUST(e) \
  do { \
    cl_int e_ = (e); \
    if (e_) printf("FAIL %s: line %d, error %d\n", now, __LINE__, e_), exit(1); \
  } while (0)
#define EXPECT(x) \
  do { \
    if (!(x)) printf("FAIL %s: line %d: %s\n", now, __LINE__, #x), exit(1); \
  } while (0)

static cl_kernel kernel_named(const char *name) {
  cl_int e;
  cl_kernel k = clCreateKernel(program, name, &e);
  MUST(e);
  return k;
}

static cl_mem image(cl_image_format f, cl_image_desc d, cl_mem_flags flags, void *host) {
  cl_int e;
  cl_mem m = clCreateImage(context, flags, &f, &d, host, &e);
  MUST(e);
  return m;
}

static cl_mem buffer(size_t size, void *host) {
  cl_int e;
  cl_mem m = clCreateBuffer(context, host ? CL_MEM_COPY_HOST_PTR : 0, size, host, &e);
  MUST(e);
  return m;
}

// --- formats ---

enum { WIDTH = 7, HEIGHT = 5 };

static float half_number(unsigned h) {
  int exponent = h >> 10 & 31, part = h & 1023;
  float size = exponent ? ldexpf((float)(part + 1024), exponent - 25) : ldexpf((float)part, -24);
  return h & 0x8000 ? -size : size;
}

static unsigned type_bytes(cl_channel_type t) {
  switch (t) {
    case CL_SNORM_INT8: case CL_UNORM_INT8: case CL_SIGNED_INT8: case CL_UNSIGNED_INT8: return 1;
    case CL_SIGNED_INT32: case CL_UNSIGNED_INT32: case CL_FLOAT: return 4;
    default: return 2;
  }
}

// A channel as kernels see it: bits of a float or of an integer.
static unsigned channel(cl_channel_type t, const unsigned char *p) {
  unsigned short h;
  unsigned w;
  float f = 0;
  memcpy(&h, p, 2);
  if (type_bytes(t) == 4) memcpy(&w, p, 4);
  switch (t) {
    case CL_SNORM_INT8: f = fmaxf((signed char)p[0] / 127.0f, -1); break;
    case CL_UNORM_INT8: f = p[0] / 255.0f; break;
    case CL_SNORM_INT16: f = fmaxf((short)h / 32767.0f, -1); break;
    case CL_UNORM_INT16: f = h / 65535.0f; break;
    case CL_HALF_FLOAT: f = half_number(h); break;
    case CL_SIGNED_INT8: return (unsigned)(signed char)p[0];
    case CL_UNSIGNED_INT8: return p[0];
    case CL_SIGNED_INT16: return (unsigned)(short)h;
    case CL_UNSIGNED_INT16: return h;
    default: return w;
  }
  memcpy(&w, &f, 4);
  return w;
}

static void color_of(cl_image_format f, const unsigned char *p, unsigned *out) {
  unsigned n = type_bytes(f.image_channel_data_type), c[4] = {0}, one = 1, channels = 1;
  int real = f.image_channel_data_type < CL_SIGNED_INT8 ||
             f.image_channel_data_type >= CL_HALF_FLOAT;
  float real_one = 1;
  if (real) memcpy(&one, &real_one, 4);
  if (f.image_channel_order == CL_RG) channels = 2;
  if (f.image_channel_order == CL_RGBA || f.image_channel_order == CL_BGRA ||
      f.image_channel_order == CL_ARGB)
    channels = 4;
  for (unsigned i = 0; i < channels; i++) c[i] = channel(f.image_channel_data_type, p + i * n);
  unsigned all[7] = {c[0], c[1], c[2], c[3], 0, one, 0};
  const char *order = f.image_channel_order == CL_R           ? "0445"
                      : f.image_channel_order == CL_RG        ? "0145"
                      : f.image_channel_order == CL_A         ? "4440"
                      : f.image_channel_order == CL_INTENSITY ? "0000"
                      : f.image_channel_order == CL_LUMINANCE ? "0005"
                      : f.image_channel_order == CL_BGRA      ? "2103"
                      : f.image_channel_order == CL_ARGB      ? "1230"
                                                              : "0123";
  for (int i = 0; i < 4; i++) out[i] = all[order[i] - '0'];
}

static void one_format(cl_image_format f) {
  static unsigned char pixels[WIDTH * HEIGHT * 16], back[sizeof pixels];
  unsigned out[WIDTH * HEIGHT][4], want[4];
  cl_image_desc d = {CL_MEM_OBJECT_IMAGE2D, WIDTH, HEIGHT};
  size_t bytes, global[2] = {WIDTH, HEIGHT}, origin[3] = {0}, region[3] = {WIDTH, HEIGHT, 1};
  cl_channel_type t = f.image_channel_data_type;
  for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (unsigned char)(rand() >> 8);
  if (t == CL_HALF_FLOAT)  // no NaN, no infinity
    for (size_t i = 1; i < sizeof pixels; i += 2) pixels[i] &= 0xbb;
  if (t == CL_FLOAT)
    for (size_t i = 3; i < sizeof pixels; i += 4) pixels[i] &= 0xbe;
  cl_mem from = image(f, d, CL_MEM_COPY_HOST_PTR | CL_MEM_READ_ONLY, pixels);
  cl_mem to = image(f, d, CL_MEM_WRITE_ONLY, NULL), colors = buffer(sizeof out, NULL);
  cl_kernel k = kernel_named(t < CL_SIGNED_INT8 || t >= CL_HALF_FLOAT ? "reals"
                             : t < CL_UNSIGNED_INT8                   ? "integers"
                                                                      : "naturals");
  MUST(clGetImageInfo(from, CL_IMAGE_ELEMENT_SIZE, sizeof bytes, &bytes, NULL));
  clSetKernelArg(k, 0, sizeof from, &from);
  clSetKernelArg(k, 1, sizeof to, &to);
  clSetKernelArg(k, 2, sizeof colors, &colors);
  EXPECT(clSetKernelArg(k, 0, sizeof to, &to) == CL_INVALID_ARG_VALUE);
  MUST(clEnqueueNDRangeKernel(queue, k, 2, NULL, global, NULL, 0, NULL, NULL));
  MUST(clEnqueueReadBuffer(queue, colors, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
  MUST(clEnqueueReadImage(queue, to, CL_TRUE, origin, region, 0, 0, back, 0, NULL, NULL));
  for (int i = 0; i < WIDTH * HEIGHT; i++) {
    color_of(f, pixels + i * bytes, want);
    for (int c = 0; c < 4; c++) {
      float a, b;
      memcpy(&a, &out[i][c], 4);
      memcpy(&b, &want[c], 4);
      EXPECT(out[i][c] == want[c] || (t != CL_SIGNED_INT32 && fabsf(a - b) <= 1e-6f));
    }
  }
  // -128 and -127 are both -1
  if (t == CL_SNORM_INT8)
    for (size_t i = 0; i < WIDTH * HEIGHT * bytes; i++)
      if (pixels[i] == 0x80) pixels[i] = 0x81;
  if (t != CL_SNORM_INT16) EXPECT(!memcmp(pixels, back, WIDTH * HEIGHT * bytes));
  clReleaseKernel(k);
  clReleaseMemObject(from);
  clReleaseMemObject(to);
  clReleaseMemObject(colors);
}

static void formats(void) {
  cl_image_format list[128];
  cl_uint n;
  MUST(clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, 128, list,
                                  &n));
  EXPECT(n >= 50 && n <= 128);
  for (cl_uint i = 0; i < n; i++) {
    char name[64];
    snprintf(name, sizeof name, "format %x %x", list[i].image_channel_order,
             list[i].image_channel_data_type);
    now = name;
    one_format(list[i]);
  }
  now = "";
  puts("ok formats");
}

// --- types, and commands ---

typedef unsigned Pixel[4];

static void one_type(const char *name, cl_image_desc d, const size_t *size) {
  static const cl_image_format f = {CL_RGBA, CL_UNSIGNED_INT32};
  enum { GAP = 3 };
  size_t origin[3] = {0}, part[3] = {1, size[1] > 1, size[2] > 1}, region[3], pitch, slice;
  size_t n = size[0] * size[1] * size[2], row = (size[0] + GAP) * sizeof(Pixel);
  cl_int e;
  now = name;
  cl_mem pixels = buffer(n * sizeof(Pixel), NULL);
  if (d.image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER) d.buffer = pixels;
  cl_mem m = image(f, d, 0, NULL), copy = image(f, d, 0, NULL);
  cl_kernel k = kernel_named(name);
  MUST(clSetKernelArg(k, 0, sizeof m, &m));
  MUST(clEnqueueNDRangeKernel(queue, k, 3, NULL, size, NULL, 0, NULL, NULL));
  // with gaps behind rows; layers of a 1-D array are as far apart as the slice pitch says
  Pixel *out = calloc(n + GAP * size[1] * size[2], sizeof *out);
  int layers_are_rows = d.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  MUST(clEnqueueReadImage(queue, m, CL_TRUE, origin, size, layers_are_rows ? 0 : row,
                          layers_are_rows ? row : 0, out, 0, NULL, NULL));
  for (size_t z = 0; z < size[2]; z++)
    for (size_t y = 0; y < size[1]; y++)
      for (size_t x = 0; x < size[0]; x++) {
        unsigned *p = out[(z * size[1] + y) * (size[0] + GAP) + x];
        EXPECT(p[0] == x && p[1] == y && p[2] == z && p[3]);
      }
  // copies: all of it to the other, to a buffer and back
  if (d.image_type != CL_MEM_OBJECT_IMAGE1D_BUFFER) {
    MUST(clEnqueueCopyImageToBuffer(queue, m, pixels, origin, size, 0, 0, NULL, NULL));
    MUST(clEnqueueCopyBufferToImage(queue, pixels, copy, 0, origin, size, 0, NULL, NULL));
    EXPECT(clEnqueueCopyImage(queue, m, m, origin, origin, size, 0, NULL, NULL) ==
           CL_MEM_COPY_OVERLAP);
  }
  EXPECT(clEnqueueReadImage(queue, m, CL_TRUE, size, size, 0, 0, out, 0, NULL, NULL) ==
         CL_INVALID_VALUE);
  // fill a part of the copy, map it, change one pixel
  unsigned color[4] = {11, 12, 13, 14};
  for (int i = 0; i < 3; i++) region[i] = size[i] - part[i];
  MUST(clEnqueueFillImage(queue, copy, color, part, region, 0, NULL, NULL));
  Pixel *mapped = clEnqueueMapImage(queue, copy, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, part, region,
                                    &pitch, &slice, 0, NULL, NULL, &e);
  MUST(e);
  EXPECT(mapped[0][0] == 11 && mapped[region[0] - 1][3] == 14);
  mapped[0][1] = 99;
  MUST(clEnqueueUnmapMemObject(queue, copy, mapped, 0, NULL, NULL));
  memset(out, 0, n * sizeof(Pixel));
  MUST(clEnqueueReadImage(queue, copy, CL_TRUE, origin, size, 0, 0, out, 0, NULL, NULL));
  size_t at = (part[2] * size[1] + part[1]) * size[0] + part[0];
  EXPECT(out[at][0] == 11 && out[at][1] == 99 && out[0][0] == 0 && out[n - 1][2] == 13);
  // back to the first
  MUST(clEnqueueWriteImage(queue, copy, CL_TRUE, origin, size, 0, 0, out, 0, NULL, NULL));
  if (d.image_type != CL_MEM_OBJECT_IMAGE1D_BUFFER)
    MUST(clEnqueueCopyImage(queue, copy, m, part, part, region, 0, NULL, NULL));
  MUST(clEnqueueReadImage(queue, m, CL_TRUE, origin, size, 0, 0, out, 0, NULL, NULL));
  EXPECT(out[at][1] == 99);
  free(out);
  clReleaseKernel(k);
  clReleaseMemObject(m);
  clReleaseMemObject(copy);
  clReleaseMemObject(pixels);
  printf("ok type_%s\n", name);
}

// An image made of host memory has its pixels; pitches leave two pixels between rows.
static void from_host(const char *name, cl_image_desc d, const size_t *size) {
  cl_image_format f = {CL_RGBA, CL_UNSIGNED_INT32};
  static const size_t origin[3];
  enum { ROW = 11, MOST = ROW * 4 * 3 };
  Pixel host[MOST], out[MOST];
  now = name;
  for (unsigned i = 0; i < MOST; i++) host[i][0] = host[i][1] = host[i][2] = host[i][3] = i;
  bool is_row = d.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  d.image_row_pitch = ROW * sizeof(Pixel);
  d.image_slice_pitch = is_row ? d.image_row_pitch : d.image_row_pitch * size[1];
  cl_mem m = image(f, d, CL_MEM_COPY_HOST_PTR, host);
  MUST(clEnqueueReadImage(queue, m, CL_TRUE, origin, size, 0, 0, out, 0, NULL, NULL));
  for (size_t y = 0; y < size[1] * size[2]; y++)
    for (size_t x = 0; x < size[0]; x++) EXPECT(out[y * size[0] + x][3] == y * ROW + x);
  clReleaseMemObject(m);
  printf("ok from_host_%s\n", name);
}

static void types(void) {
  one_type("one", (cl_image_desc){CL_MEM_OBJECT_IMAGE1D, 9}, (size_t[]){9, 1, 1});
  one_type("one_array", (cl_image_desc){CL_MEM_OBJECT_IMAGE1D_ARRAY, 9, .image_array_size = 4},
           (size_t[]){9, 4, 1});
  one_type("two", (cl_image_desc){CL_MEM_OBJECT_IMAGE2D, 9, 4}, (size_t[]){9, 4, 1});
  one_type("two_array", (cl_image_desc){CL_MEM_OBJECT_IMAGE2D_ARRAY, 9, 4, .image_array_size = 3},
           (size_t[]){9, 4, 3});
  one_type("three", (cl_image_desc){CL_MEM_OBJECT_IMAGE3D, 9, 4, 3}, (size_t[]){9, 4, 3});
  one_type("buffer", (cl_image_desc){CL_MEM_OBJECT_IMAGE1D_BUFFER, 9}, (size_t[]){9, 1, 1});
  from_host("one_array", (cl_image_desc){CL_MEM_OBJECT_IMAGE1D_ARRAY, 9, .image_array_size = 4},
            (size_t[]){9, 4, 1});
  from_host("two", (cl_image_desc){CL_MEM_OBJECT_IMAGE2D, 9, 4}, (size_t[]){9, 4, 1});
  from_host("two_array", (cl_image_desc){CL_MEM_OBJECT_IMAGE2D_ARRAY, 9, 4, .image_array_size = 3},
            (size_t[]){9, 4, 3});
  from_host("three", (cl_image_desc){CL_MEM_OBJECT_IMAGE3D, 9, 4, 3}, (size_t[]){9, 4, 3});
}

// --- samplers ---

static float texel(const float *pixels, int x, int y) {
  return x >= 0 && x < WIDTH && y >= 0 && y < HEIGHT ? pixels[y * WIDTH + x] : 0;
}

static float unfold(float s, int size, cl_addressing_mode mode, int normalized) {
  if (mode == CL_ADDRESS_REPEAT) return (s - floorf(s)) * (float)size;
  if (mode == CL_ADDRESS_MIRRORED_REPEAT) return fabsf(s - 2 * rintf(0.5f * s)) * (float)size;
  return normalized ? s * (float)size : s;
}

static int settle(int i, int size, cl_addressing_mode mode) {
  if (mode == CL_ADDRESS_REPEAT) return (i % size + size) % size;
  if (mode == CL_ADDRESS_CLAMP) return i;
  return i < 0 ? 0 : i >= size ? size - 1 : i;
}

static float reference(const float *p, const float *s, cl_addressing_mode mode, int normalized,
                       int linear) {
  float u = unfold(s[0], WIDTH, mode, normalized), v = unfold(s[1], HEIGHT, mode, normalized);
  if (!linear)
    return texel(p, settle((int)floorf(u), WIDTH, mode), settle((int)floorf(v), HEIGHT, mode));
  int x = (int)floorf(u - 0.5f), y = (int)floorf(v - 0.5f);
  float a = u - 0.5f - floorf(u - 0.5f), b = v - 0.5f - floorf(v - 0.5f), sum = 0;
  for (int i = 0; i < 4; i++)
    sum += (i & 1 ? a : 1 - a) * (i & 2 ? b : 1 - b) *
           texel(p, settle(x + (i & 1), WIDTH, mode), settle(y + (i >> 1), HEIGHT, mode));
  return sum;
}

static void one_sampler(cl_addressing_mode mode, int normalized, int linear, const float *pixels,
                        cl_mem m) {
  enum { POINTS = 500 };
  static float points[POINTS][2], out[POINTS][4];
  size_t n = POINTS;
  cl_int e;
  for (int i = 0; i < POINTS; i++) {
    points[i][0] = ((float)(rand() % 4000) / 1000 - 1.5f) * (normalized ? 1 : WIDTH);
    points[i][1] = ((float)(rand() % 4000) / 1000 - 1.5f) * (normalized ? 1 : HEIGHT);
  }
  cl_mem at = buffer(sizeof points, points), to = buffer(sizeof out, NULL);
  cl_sampler s = clCreateSampler(context, normalized, mode,
                                 linear ? CL_FILTER_LINEAR : CL_FILTER_NEAREST, &e);
  MUST(e);
  cl_kernel k = kernel_named("sampled");
  clSetKernelArg(k, 0, sizeof m, &m);
  MUST(clSetKernelArg(k, 1, sizeof s, &s));
  clSetKernelArg(k, 2, sizeof at, &at);
  clSetKernelArg(k, 3, sizeof to, &to);
  MUST(clEnqueueNDRangeKernel(queue, k, 1, NULL, &n, NULL, 0, NULL, NULL));
  MUST(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
  for (int i = 0; i < POINTS; i++)
    EXPECT(fabsf(out[i][0] - reference(pixels, points[i], mode, normalized, linear)) < 1e-3f);
  clReleaseKernel(k);
  clReleaseSampler(s);
  clReleaseMemObject(at);
  clReleaseMemObject(to);
}

static void samplers(void) {
  static const cl_image_format f = {CL_R, CL_FLOAT};
  static const cl_addressing_mode modes[] = {CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_CLAMP,
                                             CL_ADDRESS_REPEAT, CL_ADDRESS_MIRRORED_REPEAT};
  float pixels[WIDTH * HEIGHT], out[4], at[2] = {-3, 100};
  cl_image_desc d = {CL_MEM_OBJECT_IMAGE2D, WIDTH, HEIGHT}, cube = {CL_MEM_OBJECT_IMAGE3D, 2, 2, 2};
  cl_int e;
  size_t one = 1;
  for (int i = 0; i < WIDTH * HEIGHT; i++) pixels[i] = (float)(rand() % 100);
  cl_mem m = image(f, d, CL_MEM_COPY_HOST_PTR, pixels);
  now = "samplers";
  for (int i = 0; i < 16; i++)
    if (i & 1 || (i >> 2) < 2)  // repeated ones have normalized coordinates
      one_sampler(modes[i >> 2], i & 1, i >> 1 & 1, pixels, m);
  cl_mem point = buffer(sizeof at, at), to = buffer(sizeof out, NULL);
  cl_kernel k = kernel_named("literal"), volume = kernel_named("volume");
  clSetKernelArg(k, 0, sizeof m, &m);
  clSetKernelArg(k, 1, sizeof point, &point);
  clSetKernelArg(k, 2, sizeof to, &to);
  MUST(clEnqueueNDRangeKernel(queue, k, 1, NULL, &one, NULL, 0, NULL, NULL));
  MUST(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
  EXPECT(out[0] == pixels[(HEIGHT - 1) * WIDTH] && out[1] == 0 && out[3] == 1);
  // the middle of eight
  cl_mem corner = image(f, cube, CL_MEM_COPY_HOST_PTR, (float[]){0, 8, 16, 24, 32, 40, 48, 56});
  cl_sampler s = clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_LINEAR, &e);
  clSetKernelArg(volume, 0, sizeof corner, &corner);
  clSetKernelArg(volume, 1, sizeof s, &s);
  clSetKernelArg(volume, 2, sizeof to, &to);
  MUST(clEnqueueNDRangeKernel(queue, volume, 1, NULL, &one, NULL, 0, NULL, NULL));
  MUST(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
  EXPECT(out[0] == 28);
  puts("ok samplers");
}

static void beyond(void) {
  cl_image_desc d = {CL_MEM_OBJECT_IMAGE2D, WIDTH, HEIGHT};
  cl_mem m = image((cl_image_format){CL_R, CL_UNSIGNED_INT32}, d, 0, NULL);
  size_t global[2] = {WIDTH, HEIGHT};
  cl_kernel k = kernel_named("beyond");
  clSetKernelArg(k, 0, sizeof m, &m);
  MUST(clEnqueueNDRangeKernel(queue, k, 2, NULL, global, NULL, 0, NULL, NULL));
  MUST(clFinish(queue));
}

int main(int argc, char **argv) {
  static char text[1 << 14];
  const char *source = text;
  cl_platform_id p;
  cl_int e;
  FILE *f = fopen("images.cl", "r");
  if (!f || !fread(text, 1, sizeof text - 1, f)) return 1;
  clGetPlatformIDs(1, &p, NULL);
  MUST(clGetDeviceIDs(p, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &e);
  queue = clCreateCommandQueue(context, device, 0, &e);
  program = clCreateProgramWithSource(context, 1, &source, NULL, &e);
  e = clBuildProgram(program, 0, NULL, "", NULL, NULL);
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof text, text, NULL);
  if (e) puts(text);
  MUST(e);
  if (argc > 1) beyond();
  else {
    formats();
    types();
    samplers();
  }
  return 0;
}
