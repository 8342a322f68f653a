// Copies and sets against launches on another stream: copies WHAT ORDER. WHAT: read, write, set, later (the launch comes second); ORDER: none, event, host, stream.
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void fill(int *p, int v) { p[blockIdx.x * blockDim.x + threadIdx.x] = v; }
__global__ void add(const int *p, int *sum) { atomicAdd(sum, p[blockIdx.x * blockDim.x + threadIdx.x]); }

#define OK(call) do { cudaError_t e_ = (call); if (e_ != cudaSuccess) { printf("%s: %s\n", #call, cudaGetErrorString(e_)); exit(1); } } while (0)
enum { N = 4096, BYTES = N * 4 };
static cudaStream_t one, two;
static cudaEvent_t event;

static cudaStream_t order(const char *how) {
  if (!strcmp(how, "event")) {
    OK(cudaEventRecord(event, one));
    OK(cudaStreamWaitEvent(two, event, 0));
  } else if (!strcmp(how, "host")) OK(cudaStreamSynchronize(one));
  else if (!strcmp(how, "stream")) return one;
  return two;
}

int main(int argc, char **argv) {
  int *p, *sum, *host;
  OK(cudaMalloc(&p, BYTES));
  OK(cudaMalloc(&sum, 4));
  OK(cudaMallocHost(&host, BYTES));
  OK(cudaMemset(p, 0, BYTES));
  OK(cudaMemset(sum, 0, 4));
  memset(host, 0, BYTES);
  OK(cudaStreamCreate(&one));
  OK(cudaStreamCreate(&two));
  OK(cudaEventCreate(&event));
  fill<<<1, 1, 0, one>>>(sum, 0);          // copies before the first launch are not followed
  OK(cudaDeviceSynchronize());
  const char *what = argv[1], *how = argv[2];
  if (!strcmp(what, "read")) {
    fill<<<N / 256, 256, 0, one>>>(p, 1);
    cudaStream_t s = order(how);
    OK(cudaMemcpyAsync(host, p, BYTES, cudaMemcpyDeviceToHost, s));
  } else if (!strcmp(what, "write")) {
    add<<<N / 256, 256, 0, one>>>(p, sum);
    cudaStream_t s = order(how);
    OK(cudaMemcpyAsync(p, host, BYTES, cudaMemcpyHostToDevice, s));
  } else if (!strcmp(what, "set")) {
    fill<<<N / 256, 256, 0, one>>>(p, 1);
    cudaStream_t s = order(how);
    OK(cudaMemsetAsync(p, 0, BYTES, s));
  } else {
    OK(cudaMemcpyAsync(p, host, BYTES, cudaMemcpyHostToDevice, one));
    cudaStream_t s = order(how);
    fill<<<N / 256, 256, 0, s>>>(p, 2);
  }
  OK(cudaDeviceSynchronize());
  printf("done\n");
  return 0;
}
