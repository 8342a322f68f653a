// Launches on several streams that are ordered, or that stay apart.
#include <cstdio>

__global__ void fill(int *a, int v) { a[blockIdx.x * blockDim.x + threadIdx.x] = v; }
__global__ void sum(const int *a, int *out) {
  int s = 0;
  for (int i = 0; i < 256; i++) s += a[i];
  out[threadIdx.x] = s;
}

static void CUDART_CB told(void *p) { *(volatile int *)p = 1; }

int main() {
  int *a, *out, *b;
  cudaMalloc(&a, 4096);
  cudaMalloc(&b, 4096);
  cudaMalloc(&out, 4096);
  cudaMemset(a, 0, 4096);
  cudaMemset(out, 0, 4096);
  cudaStream_t s, t, free_one;
  cudaEvent_t e;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  cudaStreamCreateWithFlags(&free_one, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
  fill<<<4, 64, 0, s>>>(a, 1);                          // an event
  cudaEventRecord(e, s);
  cudaStreamWaitEvent(t, e, 0);
  sum<<<1, 1, 0, t>>>(a, out);
  cudaEventRecord(e, t);
  cudaEventSynchronize(e);                              // the host
  fill<<<4, 64, 0, s>>>(a, 2);
  cudaStreamSynchronize(s);
  sum<<<1, 1, 0, free_one>>>(a, out);
  cudaDeviceSynchronize();
  fill<<<4, 64, 0, s>>>(a, 3);                          // the legacy default stream
  sum<<<1, 1>>>(a, out);
  fill<<<4, 64, 0, t>>>(a, 4);
  while (cudaStreamQuery(t) == cudaErrorNotReady) {}    // asked until it was done
  fill<<<4, 64, 0, s>>>(a, 5);
  volatile int flag = 0;
  cudaLaunchHostFunc(s, told, (void *)&flag);           // a function in the stream
  while (!flag) {}
  sum<<<1, 1, 0, t>>>(a, out);
  cudaDeviceSynchronize();
  fill<<<4, 64, 0, s>>>(a, 6);                          // different memory; both read the same
  fill<<<4, 64, 0, t>>>(b, 7);
  cudaDeviceSynchronize();
  sum<<<1, 1, 0, s>>>(a, out);
  sum<<<1, 1, 0, t>>>(a, out + 64);
  cudaDeviceSynchronize();
  fill<<<2, 64, 0, s>>>(a, 8);                          // halves
  fill<<<2, 64, 0, t>>>(a + 128, 9);
  int *freed;
  cudaMalloc(&freed, 4096);
  fill<<<4, 64, 0, s>>>(freed, 1);
  cudaFree(freed);
  cudaMalloc(&freed, 4096);
  fill<<<4, 64, 0, t>>>(freed, 1);
  int host[256];
  fill<<<4, 64, 0, s>>>(a, 10);
  cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost);
  fill<<<4, 64, 0, t>>>(a, 11);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
