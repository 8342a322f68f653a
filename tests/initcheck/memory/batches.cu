// Batches of copies carry along which bytes were written, as the copies they are made of would.
// nvcc: -lcuda
#include "check.h"

static char host[1 << 12];

static CUmemcpyAttributes in_order() {
  CUmemcpyAttributes how = {};
  how.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  return how;
}

static CUresult batch(CUdeviceptr *to, CUdeviceptr *from, size_t *bytes, size_t n, CUstream s) {
  CUmemcpyAttributes how = in_order();
  size_t first = 0;
#if CUDA_VERSION >= 13000
  return cuMemcpyBatchAsync(to, from, bytes, n, &how, &first, 1, s);
#else
  size_t failed;
  return cuMemcpyBatchAsync(to, from, bytes, n, &how, &first, 1, &failed, s);
#endif
}

int main() {
  char *a, *b;
  cudaStream_t s;
  CHECK(cudaStreamCreate(&s));
  CHECK(cudaMalloc(&a, 4096));
  CHECK(cudaMalloc(&b, 4096));
  // from the host, and what was never written: on it goes
  CUdeviceptr to[3] = {(CUdeviceptr)a, (CUdeviceptr)(a + 1024), (CUdeviceptr)b},
              from[3] = {(CUdeviceptr)host, (CUdeviceptr)(host + 100), (CUdeviceptr)(a + 2048)};
  size_t bytes[3] = {512, 256, 128};
  CHECK(batch(to, from, bytes, 3, s));
  CHECK(cudaStreamSynchronize(s));
  CHECK(cudaMemcpy(host, a, 512, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(host, a + 1024, 256, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(host, a, 1280, cudaMemcpyDeviceToHost));  // finds: uninit-copy bytes=512
  CHECK(cudaMemcpy(host, b, 128, cudaMemcpyDeviceToHost));  // finds: uninit-copy bytes=128
  // from device to device
  CUdeviceptr there[2] = {(CUdeviceptr)b, (CUdeviceptr)(b + 512)},
              here[2] = {(CUdeviceptr)a, (CUdeviceptr)(a + 1024)};
  size_t more[2] = {512, 512};
  CHECK(batch(there, here, more, 2, s));
  CHECK(cudaStreamSynchronize(s));
  CHECK(cudaMemcpy(host, b, 768, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(host, b, 1024, cudaMemcpyDeviceToHost));  // finds: uninit-copy bytes=256
  puts("done");
}
