// Textures and surfaces: linear memory, arrays, filters and borders, objects passed by value and
// kept in constant memory.
// coverage: all
#include "gpu_test.h"

__constant__ cudaTextureObject_t kept;
__global__ void read(cudaTextureObject_t line, cudaTextureObject_t plane, float *out) {
  int x = threadIdx.x, y = threadIdx.y, i = y * 16 + x;
  out[i] = tex1Dfetch<float>(line, i);
  out[256 + i] = tex2D<float>(plane, x + 0.5f, y + 0.5f);
  out[512 + i] = tex2D<float>(plane, x * 1.25f - 2, y * 1.25f - 2);
  out[768 + i] = tex2D<float>(kept, x + 0.5f, y + 0.5f) * 2;
}
__global__ void write(cudaSurfaceObject_t s) {
  float v;
  surf2Dread(&v, s, threadIdx.x * 4, threadIdx.y);
  surf2Dwrite(v + 1000, s, threadIdx.x * 4, threadIdx.y);
}
int main() {
  static float h[256], r[1024];
  float *linear, *out;
  for (int i = 0; i < 256; i++) h[i] = i * 4;
  OK(cudaMalloc(&linear, sizeof h));
  OK(cudaMalloc(&out, sizeof r));
  OK(cudaMemcpy(linear, h, sizeof h, cudaMemcpyDefault));
  cudaArray_t array;
  cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
  OK(cudaMallocArray(&array, &f, 16, 16, cudaArraySurfaceLoadStore));
  OK(cudaMemcpy2DToArray(array, 0, 0, h, 64, 64, 16, cudaMemcpyHostToDevice));
  cudaResourceDesc l = {}, a = {};
  cudaTextureDesc t = {};
  l.resType = cudaResourceTypeLinear, l.res.linear.devPtr = linear, l.res.linear.desc = f,
  l.res.linear.sizeInBytes = sizeof h;
  a.resType = cudaResourceTypeArray, a.res.array.array = array;
  t.readMode = cudaReadModeElementType;
  cudaTextureObject_t line, plane;
  cudaSurfaceObject_t surface;
  OK(cudaCreateTextureObject(&line, &l, &t, 0));
  t.filterMode = cudaFilterModeLinear, t.addressMode[0] = cudaAddressModeClamp,
  t.addressMode[1] = cudaAddressModeBorder;
  OK(cudaCreateTextureObject(&plane, &a, &t, 0));
  OK(cudaCreateSurfaceObject(&surface, &a));
  OK(cudaMemcpyToSymbol(kept, &plane, sizeof plane));
  read<<<1, dim3(16, 16)>>>(line, plane, out);
  OK(cudaMemcpy(r, out, sizeof r, cudaMemcpyDefault));
  for (int i = 0; i < 256; i++)
    EXPECT(r[i] == h[i] && r[256 + i] == h[i] && r[768 + i] == 2 * h[i]);
  show("read", r, sizeof r);
  write<<<1, dim3(16, 16)>>>(surface);
  read<<<1, dim3(16, 16)>>>(line, plane, out);
  OK(cudaMemcpy(r, out, sizeof r, cudaMemcpyDefault));
  for (int i = 0; i < 256; i++) EXPECT(r[256 + i] == h[i] + 1000);
  show("written", r, sizeof r);
  return finish();
}
