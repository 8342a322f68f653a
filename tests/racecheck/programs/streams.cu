// Launches that nothing orders.
#include <cstdio>

// finds-next: race group=two_streams
__global__ void fill(int *a, int v) { a[blockIdx.x * blockDim.x + threadIdx.x] = v; }
__global__ void sum(const int *a, int *out) {
  int s = 0;
  // finds-next: race group=two_streams
  for (int i = 0; i < 256; i++) s += a[i];
  out[threadIdx.x] = s;
}

// finds-next: race group=event_too_early
__global__ void other_fill(int *a, int v) { a[blockIdx.x * blockDim.x + threadIdx.x] = v; }
__global__ void other_sum(const int *a, int *out) {
  int s = 0;
  // finds-next: race group=event_too_early
  for (int i = 0; i < 256; i++) s += a[i];
  out[threadIdx.x] = s;
}

// finds-next: race group=not_blocking
__global__ void third_fill(int *a, int v) { a[blockIdx.x * blockDim.x + threadIdx.x] = v; }
__global__ void third_sum(const int *a, int *out) {
  int s = 0;
  // finds-next: race group=not_blocking
  for (int i = 0; i < 256; i++) s += a[i];
  out[threadIdx.x] = s;
}

int main() {
  int *a, *out;
  cudaMalloc(&a, 4096);
  cudaMalloc(&out, 4096);
  cudaMemset(a, 0, 4096);
  cudaMemset(out, 0, 4096);
  cudaStream_t s, t, free_one;
  cudaEvent_t e;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  cudaStreamCreateWithFlags(&free_one, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
  cudaDeviceSynchronize();
  fill<<<4, 64, 0, s>>>(a, 1);
  sum<<<1, 1, 0, t>>>(a, out);
  cudaDeviceSynchronize();
  cudaEventRecord(e, s);                                // before the launch
  other_fill<<<4, 64, 0, s>>>(a, 2);
  cudaStreamWaitEvent(t, e, 0);
  other_sum<<<1, 1, 0, t>>>(a, out);
  cudaDeviceSynchronize();
  third_fill<<<4, 64>>>(a, 3);  // the default stream does not wait for one that was made not to
  third_sum<<<1, 1, 0, free_one>>>(a, out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
