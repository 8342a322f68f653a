// Work in named ranges: nested ones, in a domain, of two threads, of the process.
#include <cstdio>
#include <thread>

#include <nvtx3/nvToolsExt.h>

__global__ void add(float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] += 1;
}

enum { N = 1000 };

static void step(float *a, float *host) {
  nvtxRangePushA("step");
  nvtxRangePushA("copy");
  cudaMemcpy(a, host, N * sizeof *a, cudaMemcpyHostToDevice);
  nvtxRangePop();
  nvtxRangePushA("compute");
  add<<<4, 256>>>(a, N);
  add<<<4, 256>>>(a, N);
  nvtxRangePop();
  cudaDeviceSynchronize();
  nvtxRangePop();
}

static void named_by_attributes(float *a) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = nvtxDomainRegisterStringA(domain, "reduce");
  nvtxDomainRangePushEx(domain, &attributes);
  add<<<4, 256>>>(a, N);
  nvtxDomainRangePop(domain);
}

int main() {
  static float host[N];
  float *a;
  nvtxRangeId_t all = nvtxRangeStartA("whole run");
  nvtxRangePushW(L"m\u00e4in");  // begins before the first call of CUDA
  cudaMalloc(&a, sizeof host);
  for (int i = 0; i < 3; i++) step(a, host);
  nvtxRangePop();
  named_by_attributes(a);
  std::thread other([&] {
    nvtxRangePushA("other thread");
    add<<<4, 256>>>(a, N);
    cudaDeviceSynchronize();
    nvtxRangePop();
  });
  other.join();
  printf("%d\n", nvtxRangePop());  // none is open
  nvtxRangeEnd(all);
  cudaFree(a);
}
