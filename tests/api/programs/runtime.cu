// The runtime's calls: directions, errors nobody asks for, copies that are not asynchronous.
#include <cstdio>
#include <thread>

__global__ void touch(int *p) { p[threadIdx.x] = 1; }
__device__ int variable[16];

int main() {
  int *d, host[256] = {0};
  cudaStream_t s;
  cudaMalloc(&d, sizeof host);
  cudaStreamCreate(&s);
// finds: api-misuse text=cuMemcpyHtoD: the source is given as host memory, but is device memory:
//    the direction of the copy is wrong
  cudaMemcpy(host, d, sizeof host, cudaMemcpyHostToDevice);
// finds: api-misuse text=cuMemcpyHtoD: 2048 bytes are written where 1024 are left of the
//    allocation: 1024 too many in the destination
  cudaMemcpy(d, host, 2 * sizeof host, cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(variable, host, 64);
// finds-cpu: api-misuse text=cuMemcpyHtoD: 68 bytes are written where 64 are left of the
//    allocation: 4 too many in the destination
  printf("%s\n", cudaGetErrorName(cudaMemcpyToSymbol(variable, host, 60, 8)));
// finds-cpu: api-misuse text=cuMemcpyDtoH: 104 bytes are read where 64 are left of the allocation:
//    40 too many in the source
  printf("%s\n", cudaGetErrorName(cudaMemcpyFromSymbol(host, variable, 4, 100)));
// finds-cpu: api-misuse text=cuMemcpy3D: the pitch of the source, 60 bytes, is smaller than a row
//    of 64
  printf("%s\n", cudaGetErrorName(cudaMemcpy2D(d, 64, host, 60, 64, 4, cudaMemcpyHostToDevice)));
// finds: api-advice text=asynchronous copy from pageable host memory: it does not run in the
//    background (cudaMallocHost or cudaHostRegister make it so)
  cudaMemcpyAsync(d, host, sizeof host, cudaMemcpyHostToDevice, s);
  touch<<<1, 256, 0, s>>>(d);
  cudaMemcpyAsync(host, d, sizeof host, cudaMemcpyDeviceToHost, s);
  cudaStreamSynchronize(s);
// finds: api-misuse text=launch that cannot work: a block of 2000 x 1 x 1: this device can have
//    1024 in x; the call returns CUDA_ERROR_INVALID_VALUE
// finds-cpu: unchecked-error text=the launch failed with cudaErrorInvalidValue (invalid argument)
//    and the program never checked: no cudaGetLastError or cudaPeekAtLastError follows on this
//    thread
  touch<<<1, 2000>>>(d);
  std::thread([] { cudaGetLastError(); }).join();            // another thread's error
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
