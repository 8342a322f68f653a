// Questions to textures, surfaces and addresses, reductions on surfaces, and hints that need a
// compute_90a target.
// arch: compute_90a
// prints: texture 24 x 10
// prints: surface 24 x 10
// prints: reduced 33 max 9
// prints: rank 0
// prints: kept 5
#include <cstdio>

__global__ void ask(cudaTextureObject_t tex, cudaSurfaceObject_t surf, unsigned *out) {
  unsigned w, h, sw, sh;
  asm("txq.width.b32 %0, [%1];" : "=r"(w) : "l"(tex));
  asm("txq.height.b32 %0, [%1];" : "=r"(h) : "l"(tex));
  asm("suq.width.b32 %0, [%1];" : "=r"(sw) : "l"(surf));
  asm("suq.height.b32 %0, [%1];" : "=r"(sh) : "l"(surf));
  if (threadIdx.x == 0) out[0] = w, out[1] = h, out[2] = sw, out[3] = sh;
}

__global__ void reduce(cudaSurfaceObject_t surf) {
  int x = 3, y = 2;
  unsigned v = 1, t = threadIdx.x % 10;
  asm volatile("sured.b.add.2d.u32.trap [%0, {%1, %2}], %3;" ::"l"(surf), "r"(x * 4), "r"(y), "r"(v)
               : "memory");
  asm volatile("sured.b.max.2d.u32.trap [%0, {%1, %2}], %3;" ::"l"(surf), "r"((x + 1) * 4), "r"(y),
               "r"(t)
               : "memory");
}

__global__ void addresses(unsigned *out, unsigned *scratch) {
  __shared__ unsigned word;
  unsigned rank, address = (unsigned)__cvta_generic_to_shared(&word);
  asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(rank) : "r"(address));
  asm volatile("discard.global.L2 [%0], 128;" ::"l"(scratch) : "memory");
  if (threadIdx.x == 0) out[4] = rank;
}

__global__ void __launch_bounds__(128) registers(unsigned *out) {
  unsigned v = threadIdx.x + 5;
  asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
  if (threadIdx.x == 0) out[5] = v;
}

int main() {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned>();
  cudaArray_t array;
  cudaMallocArray(&array, &format, 24, 10, cudaArraySurfaceLoadStore);
  unsigned zero[240] = {0}, back[240], h[8], *out, *scratch;
  cudaMemcpy2DToArray(array, 0, 0, zero, 96, 96, 10, cudaMemcpyHostToDevice);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how = {};
  cudaTextureObject_t tex;
  cudaSurfaceObject_t surf;
  cudaCreateTextureObject(&tex, &resource, &how, nullptr);
  cudaCreateSurfaceObject(&surf, &resource);
  cudaMalloc(&out, 64);
  cudaMalloc(&scratch, 4096);
  ask<<<1, 32>>>(tex, surf, out);
  reduce<<<1, 33>>>(surf);
  addresses<<<1, 32>>>(out, scratch);
  registers<<<1, 128>>>(out);
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
  cudaMemcpy2DFromArray(back, 96, array, 0, 0, 96, 10, cudaMemcpyDeviceToHost);
  printf("texture %u x %u\nsurface %u x %u\n", h[0], h[1], h[2], h[3]);
  printf("reduced %u max %u\n", back[2 * 24 + 3], back[2 * 24 + 4]);
  printf("rank %u\nkept %u\n", h[4], h[5]);
  return cudaGetLastError() != cudaSuccess;
}
