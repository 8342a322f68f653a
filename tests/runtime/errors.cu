// The last error of each thread; names and texts; errors that stay until the device is reset.
// prints: all checks passed
#include <thread>
#include "check.h"

__global__ void fine(int *p) { *p = 7; }
__global__ void bad(int *p) { p[threadIdx.x + (1ull << 40)] = 1; }

int main() {
  EXPECT(!strcmp(cudaGetErrorName(cudaSuccess), "cudaSuccess"));
  EXPECT(!strcmp(cudaGetErrorString(cudaSuccess), "no error"));
  EXPECT(!strcmp(cudaGetErrorString(cudaErrorIllegalAddress),
                 "an illegal memory access was encountered"));
  EXPECT(!strcmp(cudaGetErrorName(cudaErrorInvalidConfiguration), "cudaErrorInvalidConfiguration"));
  EXPECT(!strcmp(cudaGetErrorString((cudaError_t)12345), "unrecognized error code"));

  int *p;
  OK(cudaMalloc(&p, 128));
  RETURNS(cudaMemcpy(p, p, 4, (cudaMemcpyKind)17), cudaErrorInvalidMemcpyDirection);
  RETURNS(cudaPeekAtLastError(), cudaErrorInvalidMemcpyDirection);
  std::thread([] { RETURNS(cudaGetLastError(), cudaSuccess); }).join();
  RETURNS(cudaGetLastError(), cudaErrorInvalidMemcpyDirection);
  RETURNS(cudaGetLastError(), cudaSuccess);

  fine<<<1, 2048>>>(p);
  RETURNS(cudaGetLastError(), cudaErrorInvalidValue);
  fine<<<0, 32>>>(p);
  RETURNS(cudaGetLastError(), cudaErrorInvalidValue);
  fine<<<1, 32, 1 << 20>>>(p);
  RETURNS(cudaGetLastError(), cudaErrorInvalidValue);
  RETURNS(cudaFree((void *)0x10), cudaErrorInvalidValue);
  RETURNS(cudaFree(p + 1), cudaErrorInvalidValue);
  RETURNS(cudaStreamSynchronize((cudaStream_t)p), cudaErrorInvalidResourceHandle);
  cudaGetLastError();

  fine<<<1, 1>>>(p);
  OK(cudaDeviceSynchronize());
  bad<<<1, 32>>>(p);
  RETURNS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  RETURNS(cudaGetLastError(), cudaErrorIllegalAddress);
  RETURNS(cudaMalloc(&p, 4), cudaErrorIllegalAddress);
  OK(cudaDeviceReset());
  RETURNS(cudaGetLastError(), cudaSuccess);
  OK(cudaMalloc(&p, 128));
  fine<<<1, 1>>>(p);
  int x = 0;
  OK(cudaMemcpy(&x, p, 4, cudaMemcpyDeviceToHost));
  EXPECT(x == 7);
  return finish();
}
