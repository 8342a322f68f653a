// Programmatic dependent launches: a kernel may begin before the one in front of it in the stream
// has ended, and waits for it only where it says so.
// arch: 90
#include <cstdio>

__global__ void produce(int *a, int v) {
  asm volatile("griddepcontrol.launch_dependents;");
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  // finds-next: race group=too_early
  a[i] = v + i;
}

__global__ void consume(const int *a, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  // finds-next: race group=too_early
  out[i] = a[n - 1 - i] * 2;
}

// It waits, but the launch behind it is ordered after it only.
__global__ void waits(const int *a, int *out, int n) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = a[n - 1 - i] * 3;
}

template <class... Given, class... Params>
static void launch(bool early, cudaStream_t s, void (*kernel)(Params...), Given... given) {
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = early;
  config.gridDim = 8;
  config.blockDim = 64;
  config.stream = s;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, kernel, Params(given)...);
}

int main() {
  int *a, *out, n = 512;
  cudaStream_t s;
  cudaMalloc(&a, n * sizeof(int));
  cudaMalloc(&out, n * sizeof(int));
  cudaMemset(out, 0, n * sizeof(int));
  cudaStreamCreate(&s);
  launch(false, s, produce, a, 1);
  launch(true, s, waits, a, out, n);
  cudaStreamSynchronize(s);
  launch(false, s, produce, a, 1);
#ifndef CORRECT
  launch(true, s, consume, a, out, n);
#else
  launch(false, s, consume, a, out, n);
#endif
  printf("%s\n", cudaGetErrorString(cudaStreamSynchronize(s)));
}
