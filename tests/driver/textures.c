// Texture and surface objects and references: what kernels read and write through them.
// prints: all checks passed
#include "driver_test.h"

// read2d(tex, x, y, out): one float texel.  write2d(surf, x_bytes, y, value).  read_ref(x, out):
// through a reference.
static const char ptx[] = PTX_HEADER
    ".global .texref old_texture;\n"
    ".visible .entry read2d(.param .u64 tex, .param .f32 x, .param .f32 y, .param .u64 out) {\n"
    "  .reg .f32 %f<7>; .reg .b64 %a<3>;\n"
    "  ld.param.u64 %a1, [tex]; ld.param.f32 %f1, [x]; ld.param.f32 %f2, [y]; ld.param.u64 %a2, "
    "[out];\n"
    "  tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%a1, {%f1, %f2}];\n"
    "  st.global.f32 [%a2], %f3; st.global.f32 [%a2+4], %f4; ret;\n}\n"
    ".visible .entry read1d(.param .u64 tex, .param .s32 x, .param .u64 out) {\n"
    "  .reg .b32 %r<6>; .reg .b64 %a<3>;\n"
    "  ld.param.u64 %a1, [tex]; ld.param.s32 %r1, [x]; ld.param.u64 %a2, [out];\n"
    "  tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%a1, {%r1}];\n"
    "  st.global.u32 [%a2], %r2; ret;\n}\n"
    ".visible .entry write2d(.param .u64 surf, .param .s32 x, .param .s32 y, .param .u32 v) {\n"
    "  .reg .b32 %r<4>; .reg .b64 %a;\n"
    "  ld.param.u64 %a, [surf]; ld.param.s32 %r1, [x]; ld.param.s32 %r2, [y]; ld.param.u32 %r3, "
    "[v];\n"
    "  sust.b.2d.b32.trap [%a, {%r1, %r2}], {%r3}; ret;\n}\n"
    ".visible .entry read_ref(.param .s32 x, .param .u64 out) {\n"
    "  .reg .b32 %r<6>; .reg .b64 %a;\n"
    "  ld.param.s32 %r1, [x]; ld.param.u64 %a, [out];\n"
    "  tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [old_texture, {%r1}];\n"
    "  st.global.u32 [%a], %r2; ret;\n}\n";

static CUfunction read2d, read1d;
static CUdeviceptr out;

static float sample(CUtexObject t, float x, float y) {
  float v[2];
  OK(LAUNCH(read2d, 1, 1, NULL, &t, &x, &y, &out));
  OK(cuMemcpyDtoH_v2(v, out, sizeof v));
  return v[0];
}

static unsigned fetch(CUtexObject t, int x) {
  OK(LAUNCH(read1d, 1, 1, NULL, &t, &x, &out));
  return read_int(out);
}

static void array_texture(void) {
  float data[4][8];
  for (int y = 0; y < 4; y++)
    for (int x = 0; x < 8; x++) data[y][x] = (float)(y * 10 + x);
  CUarray a;
  CUDA_ARRAY_DESCRIPTOR d = {8, 4, CU_AD_FORMAT_FLOAT, 1};
  OK(cuArrayCreate_v2(&a, &d));
  CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                     .srcHost = data,
                     .srcPitch = 32,
                     .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                     .dstArray = a,
                     .WidthInBytes = 32,
                     .Height = 4};
  OK(cuMemcpy2D_v2(&c));
  CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = a};
  CUDA_TEXTURE_DESC t = {.addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP}};
  CUtexObject point, linear, normal;
  OK(cuTexObjectCreate(&point, &r, &t, NULL));
  EXPECT(sample(point, 3.5f, 2.5f) == 23);
  EXPECT(sample(point, -5, 100) == 30);
  t.filterMode = CU_TR_FILTER_MODE_LINEAR;
  OK(cuTexObjectCreate(&linear, &r, &t, NULL));
  EXPECT(sample(linear, 4.0f, 2.5f) == 23.5f);
  EXPECT(sample(linear, 4.0f, 3.0f) == 28.5f);
  t.filterMode = CU_TR_FILTER_MODE_POINT;
  t.flags = CU_TRSF_NORMALIZED_COORDINATES;
  t.addressMode[0] = t.addressMode[1] = CU_TR_ADDRESS_MODE_WRAP;
  OK(cuTexObjectCreate(&normal, &r, &t, NULL));
  EXPECT(sample(normal, 1.0f + 2.5f / 8, 1.5f / 4) == 12);
  CUDA_TEXTURE_DESC back;
  CUDA_RESOURCE_DESC back_r;
  OK(cuTexObjectGetTextureDesc(&back, normal));
  OK(cuTexObjectGetResourceDesc(&back_r, normal));
  EXPECT(back.flags == CU_TRSF_NORMALIZED_COORDINATES && back_r.res.array.hArray == a);
  OK(cuTexObjectDestroy(point));
  RETURNS(cuTexObjectDestroy(point), CUDA_ERROR_INVALID_VALUE);
  OK(cuTexObjectDestroy(linear));
  OK(cuTexObjectDestroy(normal));
  OK(cuArrayDestroy(a));
}

static void linear_memory(CUmodule m) {
  unsigned data[16];
  for (unsigned i = 0; i < 16; i++) data[i] = i * i;
  CUdeviceptr p = new_ints(16);
  OK(cuMemcpyHtoD_v2(p, data, sizeof data));
  CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_LINEAR,
                          .res.linear = {.devPtr = p,
                                         .format = CU_AD_FORMAT_UNSIGNED_INT32,
                                         .numChannels = 1,
                                         .sizeInBytes = sizeof data}};
  CUDA_TEXTURE_DESC t = {.flags = CU_TRSF_READ_AS_INTEGER};
  CUtexObject o;
  OK(cuTexObjectCreate(&o, &r, &t, NULL));
  EXPECT(fetch(o, 7) == 49);
  EXPECT(fetch(o, 15) == 225);
  OK(cuTexObjectDestroy(o));
  // A texture reference bound to the same memory, one element further on.
  CUtexref ref;
  CUdeviceptr bound;
  OK(cuModuleGetTexRef(&ref, m, "old_texture"));
  OK(cuTexRefSetFormat(ref, CU_AD_FORMAT_UNSIGNED_INT32, 1));
  OK(cuTexRefSetFlags(ref, CU_TRSF_READ_AS_INTEGER));
  OK(cuTexRefSetAddress_v2(NULL, ref, p, sizeof data));
  OK(cuTexRefGetAddress_v2(&bound, ref));
  EXPECT(bound == p);
  OK(LAUNCH(get(m, "read_ref"), 1, 1, NULL, &(int){9}, &out));
  EXPECT(read_int(out) == 81);
  RETURNS(cuModuleGetTexRef(&ref, m, "no_such"), CUDA_ERROR_NOT_FOUND);
  OK(cuMemFree_v2(p));
}

static void surface(CUmodule m) {
  CUarray a;
  CUsurfObject s;
  CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 8,
                               .Height = 4,
                               .Format = CU_AD_FORMAT_UNSIGNED_INT32,
                               .NumChannels = 1,
                               .Flags = CUDA_ARRAY3D_SURFACE_LDST};
  OK(cuArray3DCreate_v2(&a, &d));
  CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = a};
  OK(cuSurfObjectCreate(&s, &r));
  OK(LAUNCH(get(m, "write2d"), 1, 1, NULL, &s, &(int){5 * 4}, &(int){2}, &(unsigned){1234}));
  unsigned data[4][8];
  CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                     .srcArray = a,
                     .dstMemoryType = CU_MEMORYTYPE_HOST,
                     .dstHost = data,
                     .dstPitch = 32,
                     .WidthInBytes = 32,
                     .Height = 4};
  OK(cuMemcpy2D_v2(&c));
  EXPECT(data[2][5] == 1234 && data[2][4] == 0);
  OK(cuSurfObjectDestroy(s));
  OK(cuArrayDestroy(a));
}

int main(void) {
  start();
  CUmodule m = load(ptx);
  read2d = get(m, "read2d");
  read1d = get(m, "read1d");
  out = new_ints(2);
  array_texture();
  linear_memory(m);
  surface(m);
  return finish();
}
