// Every kind of texture and surface access, against a reference that follows the programming guide.
// prints: all checks passed
#include <cmath>
#include <cuda_fp16.h>
#include <vector>

#include "../runtime/check.h"

// --- what a texture object over an array should read ---
struct Image {
  int w, h, d;                                // h, d: 1 if there is none; d also layers or faces
  std::vector<float> v;
  float at(int x, int y, int z) const { return v[(size_t)(z * h + y) * w + x]; }
};

static int place(cudaTextureAddressMode mode, int i, int n) {       // -1: border
  if (i >= 0 && i < n) return i;
  if (mode == cudaAddressModeWrap) return ((i % n) + n) % n;
  if (mode == cudaAddressModeBorder) return -1;
  return i < 0 ? 0 : n - 1;
}

static double texels(cudaTextureAddressMode mode, double x, int n, bool normalized) {
  if (!normalized) return x;
  if (mode == cudaAddressModeWrap) x -= floor(x);
  if (mode == cudaAddressModeMirror) {
    double whole = floor(x);
    x = fmod(whole, 2) == 0 ? x - whole : 1 - (x - whole);
  }
  return x * n;
}

static double reference(const Image &m, int dims, cudaTextureAddressMode mode, bool linear,
                        bool normalized, const float *c, int slice) {
  int size[3] = {m.w, m.h, m.d}, first[3] = {0, 0, 0};
  double a[3] = {0, 0, 0};
  for (int i = 0; i < dims; i++) {
    double u = texels(mode, c[i], size[i], normalized);
    if (linear) {
      double b = floor((u - 0.5) * 256 + 0.5) / 256;
      first[i] = (int)floor(b), a[i] = b - floor(b);
    } else first[i] = (int)floor(u);
  }
  double sum = 0;
  for (int k = 0; k < (linear ? 1 << dims : 1); k++) {
    double weight = 1;
    int p[3] = {0, 0, 0};
    bool border = false;
    for (int i = 0; i < dims; i++) {
      weight *= !linear ? 1 : k >> i & 1 ? a[i] : 1 - a[i];
      p[i] = place(mode, first[i] + (k >> i & 1), size[i]);
      border |= p[i] < 0;
    }
    if (!border) sum += weight * m.at(p[0], p[1], dims == 3 ? p[2] : slice);
  }
  return sum;
}

template <int DIMS, bool LAYERED>
__global__ void sample(cudaTextureObject_t t, const float *c, const int *layer, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = c[i * 3], y = c[i * 3 + 1], z = c[i * 3 + 2];
  if (LAYERED)
    out[i] = DIMS == 1 ? tex1DLayered<float>(t, x, layer[i])
                       : tex2DLayered<float>(t, x, y, layer[i]);
  else
    out[i] = DIMS == 1   ? tex1D<float>(t, x)
             : DIMS == 2 ? tex2D<float>(t, x, y)
                         : tex3D<float>(t, x, y, z);
}

static unsigned seed = 3;
static double uniform(double low, double high) {
  seed = seed * 1664525 + 1013904223;
  return low + (high - low) * (seed >> 8) / 16777216.0;
}

static cudaArray_t make_array(const Image &m, int dims, bool layered, unsigned flags = 0) {
  cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
  cudaArray_t a;
  OK(cudaMalloc3DArray(&a, &f,
                       make_cudaExtent(m.w, dims > 1 ? m.h : 0, dims == 3 || layered ? m.d : 0),
                       (layered ? cudaArrayLayered : 0) | flags));
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr((void *)m.v.data(), m.w * sizeof(float), m.w, m.h);
  p.dstArray = a;
  p.extent = make_cudaExtent(m.w, m.h, m.d);
  p.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&p));
  return a;
}

static Image make_image(int w, int h, int d) {
  Image m = {w, h, d, std::vector<float>((size_t)w * h * d)};
  for (float &v : m.v) v = (float)(int)uniform(-500, 500);
  return m;
}

template <int DIMS, bool LAYERED> static void check_sampling(int w, int h, int d) {
  const int n = 500;
  Image m = make_image(w, h, d);
  cudaArray_t array = make_array(m, DIMS, LAYERED);
  float *c, *out;
  int *layer;
  OK(cudaMallocManaged(&c, n * 12));
  OK(cudaMallocManaged(&out, n * 4));
  OK(cudaMallocManaged(&layer, n * 4));
  const cudaTextureAddressMode modes[] = {cudaAddressModeWrap, cudaAddressModeClamp,
                                          cudaAddressModeMirror, cudaAddressModeBorder};
  for (int mode = 0; mode < 4; mode++)
    for (int linear = 0; linear < 2; linear++)
      for (int normalized = 0; normalized < 2; normalized++) {
        if (!normalized && (mode == 0 || mode == 2)) continue;
        cudaResourceDesc r = {};
        r.resType = cudaResourceTypeArray, r.res.array.array = array;
        cudaTextureDesc td = {};
        for (int i = 0; i < 3; i++) td.addressMode[i] = modes[mode];
        td.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
        td.normalizedCoords = normalized;
        cudaTextureObject_t t;
        OK(cudaCreateTextureObject(&t, &r, &td, NULL));
        int size[3] = {w, h, d};
        for (int i = 0; i < n; i++) {
          // on a grid of 1/512 away from the places where a rounding decides
          for (int k = 0; k < 3; k++) {
            double texel = floor(uniform(-2.5, 3.5) * size[k] * 64) / 64 + 1 / 512.0 * 3;
            c[i * 3 + k] = (float)(normalized ? texel / size[k] : texel);
          }
          layer[i] = (int)uniform(-2, d + 2);
        }
        sample<DIMS, LAYERED><<<(n + 127) / 128, 128>>>(t, c, layer, out, n);
        OK(cudaDeviceSynchronize());
        int wrong = 0;
        for (int i = 0; i < n; i++) {
          int slice = LAYERED ? (layer[i] < 0 ? 0 : layer[i] >= d ? d - 1 : layer[i]) : 0;
          double want = reference(m, DIMS, modes[mode], linear, normalized, c + i * 3, slice);
          if (fabs(out[i] - want) > (linear ? 6.0 : 0)) {  // a weight may be one 256th off where
                                                           // the float coordinate falls between
            if (!wrong)
              printf("%dD%s mode %d linear %d normalized %d: (%g, %g, %g) gave %g, not %g\n", DIMS,
                     LAYERED ? " layered" : "", mode, linear, normalized, c[i * 3], c[i * 3 + 1],
                     c[i * 3 + 2], out[i], want);
            wrong++;
          }
        }
        if (wrong) printf("%d of %d wrong\n", wrong, n), failures++;
        OK(cudaDestroyTextureObject(t));
      }
  OK(cudaFreeArray(array));
  cudaFree(c), cudaFree(out), cudaFree(layer);
}

// --- formats ---
template <typename T> __global__ void read_one(cudaTextureObject_t t, T *out, float x, float y) {
  *out = tex2D<T>(t, x, y);
}

template <typename E, typename T>
static T read_format(const E *data, int w, int h, cudaTextureReadMode mode, bool srgb, float x,
                     float y) {
  cudaChannelFormatDesc f = cudaCreateChannelDesc<E>();
  cudaArray_t a;
  OK(cudaMallocArray(&a, &f, w, h));
  OK(cudaMemcpy2DToArray(a, 0, 0, data, w * sizeof(E), w * sizeof(E), h, cudaMemcpyHostToDevice));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray, r.res.array.array = a;
  cudaTextureDesc td = {};
  td.addressMode[0] = td.addressMode[1] = cudaAddressModeClamp;
  td.readMode = mode;
  td.sRGB = srgb;
  cudaTextureObject_t t;
  OK(cudaCreateTextureObject(&t, &r, &td, NULL));
  T *out, got;
  OK(cudaMallocManaged(&out, sizeof(T)));
  read_one<<<1, 1>>>(t, out, x, y);
  OK(cudaDeviceSynchronize());
  got = *out;
  cudaFree(out);
  OK(cudaDestroyTextureObject(t));
  OK(cudaFreeArray(a));
  return got;
}

static void check_formats() {
  uchar4 u8[2] = {make_uchar4(0, 51, 255, 102), make_uchar4(1, 2, 3, 4)};
  float4 f = read_format<uchar4, float4>(u8, 2, 1, cudaReadModeNormalizedFloat, false, 0.5f, 0.5f);
  EXPECT(f.x == 0 && f.y == 0.2f && f.z == 1 && f.w == 0.4f);
  f = read_format<uchar4, float4>(u8, 2, 1, cudaReadModeNormalizedFloat, true, 0.5f, 0.5f);
  EXPECT(f.x == 0 && fabsf(f.y - 0.0331048f) < 1e-5f && f.z == 1 && f.w == 0.4f);
  uchar4 u = read_format<uchar4, uchar4>(u8, 2, 1, cudaReadModeElementType, false, 1.5f, 0.5f);
  EXPECT(u.x == 1 && u.y == 2 && u.z == 3 && u.w == 4);
  char2 s8[1] = {make_char2(-128, 127)};
  float2 g = read_format<char2, float2>(s8, 1, 1, cudaReadModeNormalizedFloat, false, 0.5f, 0.5f);
  EXPECT(g.x == -1 && g.y == 1);
  char2 s = read_format<char2, char2>(s8, 1, 1, cudaReadModeElementType, false, 0.5f, 0.5f);
  EXPECT(s.x == -128 && s.y == 127);
  short s16[1] = {-32767};
  EXPECT((read_format<short, float>(s16, 1, 1, cudaReadModeNormalizedFloat, false, 0.5f, 0.5f)) ==
         -1);
  EXPECT((read_format<short, short>(s16, 1, 1, cudaReadModeElementType, false, 0.5f, 0.5f)) ==
         -32767);
  unsigned short u16[1] = {65535};
  EXPECT((read_format<unsigned short, float>(u16, 1, 1, cudaReadModeNormalizedFloat, false, 0.5f,
                                             0.5f)) == 1);
  int s32[2] = {-5, 1 << 30};
  EXPECT((read_format<int, int>(s32, 2, 1, cudaReadModeElementType, false, 0.5f, 0.5f)) == -5);
  EXPECT((read_format<int, int>(s32, 2, 1, cudaReadModeElementType, false, 1.5f, 0.5f)) == 1 << 30);
}

// --- linear and pitched memory ---
__global__ void fetch(cudaTextureObject_t t, const int *i, float *out, float2 *pairs) {
  out[threadIdx.x] = tex1Dfetch<float>(t, i[threadIdx.x]);
}
__global__ void fetch_pair(cudaTextureObject_t t, const int *i, float2 *out) {
  out[threadIdx.x] = tex1Dfetch<float2>(t, i[threadIdx.x]);
}

static void check_linear() {
  float *data, *out;
  float2 *pairs;
  int *index;
  OK(cudaMallocManaged(&data, 400));
  OK(cudaMallocManaged(&out, 128));
  OK(cudaMallocManaged(&pairs, 256));
  OK(cudaMallocManaged(&index, 128));
  for (int i = 0; i < 100; i++) data[i] = (float)i + 1;
  for (int i = 0; i < 32; i++) index[i] = i * 5 - 10;
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = data;
  r.res.linear.desc = cudaCreateChannelDesc<float>();
  r.res.linear.sizeInBytes = 400;
  cudaTextureDesc td = {};
  cudaTextureObject_t t;
  OK(cudaCreateTextureObject(&t, &r, &td, NULL));
  fetch<<<1, 32>>>(t, index, out, pairs);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; i++)
    EXPECT(out[i] == (index[i] < 0 || index[i] >= 100 ? 0 : (float)index[i] + 1));
  OK(cudaDestroyTextureObject(t));
  r.res.linear.desc = cudaCreateChannelDesc<float2>();
  OK(cudaCreateTextureObject(&t, &r, &td, NULL));
  fetch_pair<<<1, 32>>>(t, index, pairs);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; i++)
    EXPECT(pairs[i].y == (index[i] < 0 || index[i] >= 50 ? 0 : (float)index[i] * 2 + 2));
  OK(cudaDestroyTextureObject(t));
  size_t pitch;
  float *wide, row[10];
  OK(cudaMallocPitch(&wide, &pitch, 40, 5));
  for (int y = 0; y < 5; y++) {
    for (int x = 0; x < 10; x++) row[x] = (float)(x + 100 * y);
    OK(cudaMemcpy((char *)wide + y * pitch, row, 40, cudaMemcpyHostToDevice));
  }
  r = {};
  r.resType = cudaResourceTypePitch2D;
  r.res.pitch2D.devPtr = wide;
  r.res.pitch2D.desc = cudaCreateChannelDesc<float>();
  r.res.pitch2D.width = 10, r.res.pitch2D.height = 5, r.res.pitch2D.pitchInBytes = pitch;
  td.addressMode[0] = td.addressMode[1] = cudaAddressModeClamp;
  td.filterMode = cudaFilterModeLinear;
  OK(cudaCreateTextureObject(&t, &r, &td, NULL));
  read_one<<<1, 1>>>(t, out, 4.0f, 2.75f);
  OK(cudaDeviceSynchronize());
  EXPECT(out[0] == 3.5f + 225);
  OK(cudaDestroyTextureObject(t));
}

// --- gather, cube maps, mipmaps ---
__global__ void gather(cudaTextureObject_t t, float4 *out, float x, float y) {
  *out = tex2Dgather<float4>(t, x, y, 0);
}
__global__ void cube(cudaTextureObject_t t, float *out, float3 v) {
  *out = texCubemap<float>(t, v.x, v.y, v.z);
}
__global__ void cubes(cudaTextureObject_t t, float *out, float3 v, int layer) {
  *out = texCubemapLayered<float>(t, v.x, v.y, v.z, layer);
}
__global__ void level(cudaTextureObject_t t, float *out, float l) {
  *out = tex2DLod<float>(t, 0.5f, 0.5f, l);
}
__global__ void gradient(cudaTextureObject_t t, float *out, float d) {
  *out = tex2DGrad<float>(t, 0.5f, 0.5f, make_float2(d, 0), make_float2(0, d / 2));
}

static void check_special() {
  float *out;
  OK(cudaMallocManaged(&out, 64));
  Image m = make_image(8, 6, 1);
  cudaArray_t a = make_array(m, 2, false, cudaArrayTextureGather);
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray, r.res.array.array = a;
  cudaTextureDesc td = {};
  td.addressMode[0] = td.addressMode[1] = cudaAddressModeClamp;
  cudaTextureObject_t t;
  OK(cudaCreateTextureObject(&t, &r, &td, NULL));
  gather<<<1, 1>>>(t, (float4 *)out, 3.0f, 2.0f);
  OK(cudaDeviceSynchronize());
  EXPECT(out[0] == m.at(2, 2, 0) && out[1] == m.at(3, 2, 0) && out[2] == m.at(3, 1, 0) &&
         out[3] == m.at(2, 1, 0));
  OK(cudaDestroyTextureObject(t));
  OK(cudaFreeArray(a));

  for (int layers = 1; layers <= 2; layers++) {
    m = make_image(4, 4, 6 * layers);
    a = make_array(m, 3, layers > 1, cudaArrayCubemap);
    r.res.array.array = a;
    td = {};
    td.normalizedCoords = 1;
    OK(cudaCreateTextureObject(&t, &r, &td, NULL));
    // towards each face, a quarter to one side
    const float3 v[6] = {{2, 0.5f, -1}, {-2, 0.5f, 1}, {1, 2, 0.5f},
                         {1, -2, 0.5f}, {1, 0.5f, 2},  {1, 0.5f, -2}};
    const int x[6] = {3, 3, 3, 3, 3, 1}, y[6] = {1, 1, 2, 1, 1, 1};
    for (int f = 0; f < 6; f++) {
      if (layers == 1) cube<<<1, 1>>>(t, out, v[f]);
      else cubes<<<1, 1>>>(t, out, v[f], 1);
      OK(cudaDeviceSynchronize());
      EXPECT(*out == m.at(x[f] == 1 ? 1 : x[f], y[f], f + 6 * (layers - 1)));
    }
    OK(cudaDestroyTextureObject(t));
    OK(cudaFreeArray(a));
  }

  cudaMipmappedArray_t mip;
  cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
  OK(cudaMallocMipmappedArray(&mip, &f, make_cudaExtent(8, 8, 0), 4));
  for (int l = 0; l < 4; l++) {
    cudaArray_t at;
    OK(cudaGetMipmappedArrayLevel(&at, mip, l));
    std::vector<float> values((8 >> l) * (8 >> l), 100.0f * (l + 1));
    OK(cudaMemcpy2DToArray(at, 0, 0, values.data(), (8 >> l) * 4, (8 >> l) * 4, 8 >> l,
                           cudaMemcpyHostToDevice));
  }
  r = {};
  r.resType = cudaResourceTypeMipmappedArray, r.res.mipmap.mipmap = mip;
  td = {};
  td.normalizedCoords = 1;
  td.filterMode = cudaFilterModeLinear;
  td.mipmapFilterMode = cudaFilterModeLinear;
  td.maxMipmapLevelClamp = 3;
  OK(cudaCreateTextureObject(&t, &r, &td, NULL));
  const float levels[] = {0, 0.5f, 1.25f, 2, 7, -3}, want[] = {100, 150, 225, 300, 400, 100};
  for (int i = 0; i < 6; i++) {
    level<<<1, 1>>>(t, out, levels[i]);
    OK(cudaDeviceSynchronize());
    EXPECT(*out == want[i]);
  }
  gradient<<<1, 1>>>(t, out, 0.25f);          // two texels for a step: level 1
  OK(cudaDeviceSynchronize());
  EXPECT(*out == 200);
  OK(cudaDestroyTextureObject(t));
  td.mipmapFilterMode = cudaFilterModePoint;
  td.mipmapLevelBias = 0.75f;
  td.minMipmapLevelClamp = 1;
  OK(cudaCreateTextureObject(&t, &r, &td, NULL));
  const float nearest[] = {200, 200, 300, 400, 400, 200};
  for (int i = 0; i < 6; i++) {
    level<<<1, 1>>>(t, out, levels[i]);
    OK(cudaDeviceSynchronize());
    EXPECT(*out == nearest[i]);
  }
  OK(cudaDestroyTextureObject(t));
  OK(cudaFreeMipmappedArray(mip));
}

// --- surfaces ---
__global__ void surfaces2d(cudaSurfaceObject_t s, float *out) {
  int x = threadIdx.x, y = threadIdx.y;
  float v;
  surf2Dread(&v, s, x * 4, y);
  surf2Dwrite(v * 2, s, x * 4, y);
  surf2Dread(&v, s, (x + 100) * 4, y, cudaBoundaryModeZero);
  out[(y * 8 + x) * 2] = v;
  surf2Dread(&v, s, (x + 100) * 4, y - 50, cudaBoundaryModeClamp);
  out[(y * 8 + x) * 2 + 1] = v;
  surf2Dwrite(-1.0f, s, -4, y, cudaBoundaryModeZero);
}
__global__ void surfaces3d(cudaSurfaceObject_t s, float *out) {
  float v;
  surf3Dread(&v, s, threadIdx.x * 4, threadIdx.y, threadIdx.z);
  surf3Dwrite(v + 1, s, threadIdx.x * 4, threadIdx.y, threadIdx.z);
}
__global__ void surfaces_layered(cudaSurfaceObject_t s) {
  float v;
  surf2DLayeredread(&v, s, threadIdx.x * 4, threadIdx.y, threadIdx.z);
  surf2DLayeredwrite(v - 1, s, threadIdx.x * 4, threadIdx.y, threadIdx.z);
}
__global__ void surface_sizes(cudaSurfaceObject_t s, int *bad) {
  if (threadIdx.x) return;
  uchar4 c = make_uchar4(1, 2, 3, 4), c2;
  surf1Dwrite(c, s, 0);
  surf1Dread(&c2, s, 0);
  short2 h = make_short2(-5, 6), h2;
  surf1Dwrite(h, s, 8);
  surf1Dread(&h2, s, 8);
  int4 q = make_int4(1, -2, 3, -4), q2;
  surf1Dwrite(q, s, 16);
  surf1Dread(&q2, s, 16);
  longlong2 l = make_longlong2(-7, 1ll << 40), l2;
  surf1Dwrite(l, s, 32);
  surf1Dread(&l2, s, 32);
  signed char b = -9, b2;
  surf1Dwrite(b, s, 51);
  surf1Dread(&b2, s, 51);
  *bad = (c2.x != 1) + (c2.w != 4) + (h2.x != -5) + (h2.y != 6) + (q2.y != -2) + (q2.w != -4) +
         (l2.x != -7) + (l2.y != 1ll << 40) + (b2 != -9);
}

static std::vector<float> fetch_array(cudaArray_t a, int w, int h, int d) {
  std::vector<float> v((size_t)w * h * d);
  cudaMemcpy3DParms p = {};
  p.dstPtr = make_cudaPitchedPtr(v.data(), w * sizeof(float), w, h);
  p.srcArray = a;
  p.extent = make_cudaExtent(w, h, d);
  p.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&p));
  return v;
}

static void check_surfaces() {
  float *out;
  OK(cudaMallocManaged(&out, 1024));
  Image m = make_image(8, 4, 1);
  cudaArray_t a = make_array(m, 2, false, cudaArraySurfaceLoadStore);
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray, r.res.array.array = a;
  cudaSurfaceObject_t s;
  OK(cudaCreateSurfaceObject(&s, &r));
  surfaces2d<<<1, dim3(8, 4)>>>(s, out);
  OK(cudaDeviceSynchronize());
  std::vector<float> v = fetch_array(a, 8, 4, 1);
  for (int i = 0; i < 32; i++)
    EXPECT(v[i] == 2 * m.v[i] && out[i * 2] == 0 && out[i * 2 + 1] == 2 * m.at(7, 0, 0));
  OK(cudaDestroySurfaceObject(s));
  OK(cudaFreeArray(a));
  for (int layered = 0; layered < 2; layered++) {
    m = make_image(4, 3, 5);
    a = make_array(m, layered ? 2 : 3, layered, cudaArraySurfaceLoadStore);
    r.res.array.array = a;
    OK(cudaCreateSurfaceObject(&s, &r));
    if (layered) surfaces_layered<<<1, dim3(4, 3, 5)>>>(s);
    else surfaces3d<<<1, dim3(4, 3, 5)>>>(s, out);
    OK(cudaDeviceSynchronize());
    v = fetch_array(a, 4, 3, 5);
    for (int i = 0; i < 60; i++) EXPECT(v[i] == m.v[i] + (layered ? -1 : 1));
    OK(cudaDestroySurfaceObject(s));
    OK(cudaFreeArray(a));
  }
  cudaChannelFormatDesc f = cudaCreateChannelDesc<float4>();
  OK(cudaMallocArray(&a, &f, 16, 0, cudaArraySurfaceLoadStore));
  r.res.array.array = a;
  OK(cudaCreateSurfaceObject(&s, &r));
  int *bad = (int *)out;
  surface_sizes<<<1, 32>>>(s, bad);
  OK(cudaDeviceSynchronize());
  EXPECT(*bad == 0);
  OK(cudaDestroySurfaceObject(s));
  OK(cudaFreeArray(a));
}

int main() {
  check_sampling<1, false>(13, 1, 1);
  check_sampling<2, false>(9, 7, 1);
  check_sampling<3, false>(6, 5, 4);
  check_sampling<1, true>(16, 1, 5);
  check_sampling<2, true>(8, 6, 3);
  check_formats();
  check_linear();
  check_special();
  check_surfaces();
  return finish();
}
