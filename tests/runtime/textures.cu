// Texture and surface objects over arrays, linear and pitched memory, mipmaps.
// prints: all checks passed
#include "check.h"

__global__ void read2d(cudaTextureObject_t t, float *out, float x, float y) {
  *out = tex2D<float>(t, x, y);
}
__global__ void fetch(cudaTextureObject_t t, int4 *out, int i) { *out = tex1Dfetch<int4>(t, i); }
__global__ void bytes(cudaTextureObject_t t, float *out) { *out = tex2D<float>(t, 0.5f, 0.5f); }
__global__ void surface(cudaSurfaceObject_t s) {
  surf2Dwrite(threadIdx.x + 10.0f * threadIdx.y, s, threadIdx.x * 4, threadIdx.y);
}
__global__ void level(cudaTextureObject_t t, float *out, float l) {
  *out = tex2DLod<float>(t, 0.5f, 0.5f, l);
}

static float *out, h;
static cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();

static void array() {
  float data[4][8];
  for (int y = 0; y < 4; y++) for (int x = 0; x < 8; x++) data[y][x] = x + 10 * y;
  cudaArray_t a;
  OK(cudaMallocArray(&a, &f, 8, 4, cudaArraySurfaceLoadStore));
  OK(cudaMemcpy2DToArray(a, 0, 0, data, sizeof data[0], sizeof data[0], 4, cudaMemcpyHostToDevice));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  cudaTextureDesc d = {};
  d.addressMode[0] = d.addressMode[1] = cudaAddressModeClamp;
  d.filterMode = cudaFilterModePoint;
  cudaTextureObject_t t;
  OK(cudaCreateTextureObject(&t, &r, &d, NULL));
  read2d<<<1, 1>>>(t, out, 3.5f, 2.5f);
  OK(cudaMemcpy(&h, out, 4, cudaMemcpyDeviceToHost));
  EXPECT(h == 23);
  read2d<<<1, 1>>>(t, out, 100.0f, -5.0f);
  OK(cudaMemcpy(&h, out, 4, cudaMemcpyDeviceToHost));
  EXPECT(h == 7);
  cudaResourceDesc r2;
  cudaTextureDesc d2;
  OK(cudaGetTextureObjectResourceDesc(&r2, t));
  OK(cudaGetTextureObjectTextureDesc(&d2, t));
  EXPECT(r2.resType == cudaResourceTypeArray && r2.res.array.array == a &&
         d2.addressMode[1] == cudaAddressModeClamp && d2.readMode == cudaReadModeElementType);
  OK(cudaDestroyTextureObject(t));

  d.filterMode = cudaFilterModeLinear;
  d.normalizedCoords = 1;
  OK(cudaCreateTextureObject(&t, &r, &d, NULL));
  read2d<<<1, 1>>>(t, out, 4.0f / 8, 2.0f / 4);
  OK(cudaMemcpy(&h, out, 4, cudaMemcpyDeviceToHost));
  EXPECT(h == (13 + 14 + 23 + 24) / 4.0f);
  OK(cudaDestroyTextureObject(t));

  cudaSurfaceObject_t s;
  OK(cudaCreateSurfaceObject(&s, &r));
  surface<<<1, dim3(8, 4)>>>(s);
  OK(cudaDeviceSynchronize());
  memset(data, 0, sizeof data);
  OK(cudaMemcpy2DFromArray(data, sizeof data[0], a, 0, 0, sizeof data[0], 4,
                           cudaMemcpyDeviceToHost));
  EXPECT(data[3][7] == 37 && data[0][1] == 1);
  OK(cudaDestroySurfaceObject(s));
  OK(cudaFreeArray(a));
}

static void linear_and_pitched() {
  cudaTextureObject_t t;
  int4 *line, got;
  int values[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  OK(cudaMalloc(&line, sizeof values));
  OK(cudaMemcpy(line, values, sizeof values, cudaMemcpyHostToDevice));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = line;
  r.res.linear.sizeInBytes = sizeof values;
  r.res.linear.desc = cudaCreateChannelDesc<int4>();
  cudaTextureDesc d = {};
  OK(cudaCreateTextureObject(&t, &r, &d, NULL));
  fetch<<<1, 1>>>(t, (int4 *)out, 2);
  OK(cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost));
  EXPECT(got.x == 9 && got.y == 10 && got.z == 11 && got.w == 12);
  OK(cudaDestroyTextureObject(t));
  d.filterMode = cudaFilterModeLinear;
  RETURNS(cudaCreateTextureObject(&t, &r, &d, NULL), cudaErrorInvalidFilterSetting);

  unsigned char *pitched;
  size_t pitch;
  OK(cudaMallocPitch(&pitched, &pitch, 16, 4));
  OK(cudaMemset2D(pitched, pitch, 51, 16, 4));
  r = cudaResourceDesc();
  r.resType = cudaResourceTypePitch2D;
  r.res.pitch2D.devPtr = pitched;
  r.res.pitch2D.width = 16;
  r.res.pitch2D.height = 4;
  r.res.pitch2D.pitchInBytes = pitch;
  r.res.pitch2D.desc = cudaCreateChannelDesc<unsigned char>();
  d = cudaTextureDesc();
  d.readMode = cudaReadModeNormalizedFloat;
  OK(cudaCreateTextureObject(&t, &r, &d, NULL));
  bytes<<<1, 1>>>(t, out);
  OK(cudaMemcpy(&h, out, 4, cudaMemcpyDeviceToHost));
  EXPECT(h > 0.1999f && h < 0.2001f);
  OK(cudaDestroyTextureObject(t));
}

static void mipmaps() {
  cudaTextureObject_t t;
  cudaMipmappedArray_t m;
  OK(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(8, 8, 0), 3));
  for (int l = 0; l < 3; l++) {
    cudaArray_t one;
    OK(cudaGetMipmappedArrayLevel(&one, m, l));
    float fill[64];
    for (float &x : fill) x = 100 + l;
    OK(cudaMemcpy2DToArray(one, 0, 0, fill, (8 >> l) * 4, (8 >> l) * 4, 8 >> l,
                           cudaMemcpyHostToDevice));
  }
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeMipmappedArray;
  r.res.mipmap.mipmap = m;
  cudaTextureDesc d = {};
  d.normalizedCoords = 1;
  d.maxMipmapLevelClamp = 2;
  OK(cudaCreateTextureObject(&t, &r, &d, NULL));
  level<<<1, 1>>>(t, out, 2.0f);
  OK(cudaMemcpy(&h, out, 4, cudaMemcpyDeviceToHost));
  EXPECT(h == 102);
  OK(cudaDestroyTextureObject(t));
  OK(cudaFreeMipmappedArray(m));
}

int main() {
  OK(cudaMalloc(&out, 64));
  array();
  linear_and_pitched();
  mipmaps();
  cudaGetLastError();
  return finish();
}
