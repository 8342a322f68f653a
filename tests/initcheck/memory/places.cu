// Two devices, arrays, symbols, words written by a stream.
// devices: 2
// nvcc: -lcuda
#include "check.h"

__device__ int variable[64];
static int host[64];

int main() {
  int *a, *b;
  CHECK(cudaSetDevice(0));
  CHECK(cudaMalloc(&a, 256));
  CHECK(cudaMemcpy(a, host, 128, cudaMemcpyHostToDevice));
  CHECK(cudaSetDevice(1));
  CHECK(cudaMalloc(&b, 256));
  CHECK(cudaMemcpyPeer(b, 1, a, 0, 256));
  CHECK(cudaMemcpy(host, b, 128, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(host, b, 256, cudaMemcpyDeviceToHost));  // finds: uninit-copy bytes=128
  CHECK(cudaSetDevice(0));

  // an array counts as initialised, whatever went in; so does what comes out of it
  cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &format, 64, 1));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, a, 256, 256, 1, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemcpy2DFromArray(host, 256, array, 0, 0, 256, 1, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy2DFromArray(a, 256, array, 0, 0, 256, 1, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemcpy(host, a, 256, cudaMemcpyDeviceToHost));

  // variables begin with zeros
  CHECK(cudaMemcpyFromSymbol(host, variable, 256));
  CHECK(cudaMemcpyToSymbol(variable, host, 100));
  CHECK(cudaMemcpyFromSymbol(host, variable, 256));

  cudaStream_t s;
  CHECK(cudaStreamCreate(&s));
  CHECK(cudaFree(a));
  CHECK(cudaMalloc(&a, 256));
  CHECK(cuStreamWriteValue32(s, (CUdeviceptr)(a + 1), 7, 0));
  CHECK(cudaStreamSynchronize(s));
  CHECK(cudaMemcpy(host, a + 1, 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(host, a, 256, cudaMemcpyDeviceToHost));  // finds: uninit-copy bytes=252
  printf("done\n");
  return 0;
}
