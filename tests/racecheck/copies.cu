// Copies and sets against launches on another stream: copies WHAT ORDER. WHAT: read, write, set,
// later (the launch comes second), first (there was no launch before), rows (of a plane, some bytes
// of each), pinned (memory of the host), copies (two of them), waited (by the host), free (a stream
// that does not wait for the default one); ORDER: none, event, host, stream, apart (other bytes).
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void fill(int *p, int v) { p[blockIdx.x * blockDim.x + threadIdx.x] = v; }
__global__ void add(const int *p, int *sum) {
  atomicAdd(sum, p[blockIdx.x * blockDim.x + threadIdx.x]);
}

#define OK(call) \
  do { \
    cudaError_t e_ = (call); \
    if (e_ != cudaSuccess) { \
      printf("%s: %s\n", #call, cudaGetErrorString(e_)); \
      exit(1); \
    } \
  } while (0)
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
  const char *what = argv[1], *how = argv[2];
  if (strcmp(what, "first")) fill<<<1, 1, 0, one>>>(sum, 0);
  OK(cudaDeviceSynchronize());
  size_t away = strcmp(how, "apart") ? 0 : N / 2;
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
  } else if (!strcmp(what, "rows")) {  // the kernel writes words 256 and on, the rows are 16 bytes
                                       // at 1008, 2032 and so on; or at 992
    fill<<<1, 256, 0, one>>>(p + 256, 1);
    cudaStream_t s = order(how);
    int at = away ? 253 - 4 : 253;
    OK(cudaMemcpy2DAsync(host, 16, p + at, 1024, 16, 1, cudaMemcpyDeviceToHost, s));
    OK(cudaMemcpy2DAsync(host + 64, 16, p + at + 2 * 256, 1024, 16, 3, cudaMemcpyDeviceToHost, s));
  } else if (!strcmp(what, "pinned")) {
    fill<<<N / 512, 256, 0, one>>>(host, 1);
    cudaStream_t s = order(how);
    OK(cudaMemcpyAsync(p, host + away, BYTES / 2, cudaMemcpyHostToDevice, s));
  } else if (!strcmp(what, "copies")) {
    OK(cudaMemcpyAsync(p, host, BYTES / 2, cudaMemcpyHostToDevice, one));
    cudaStream_t s = order(how);
    OK(cudaMemsetAsync(p + away, 0, BYTES / 2, s));
  } else if (!strcmp(what, "free")) {
    cudaStream_t own;
    OK(cudaStreamCreateWithFlags(&own, strcmp(how, "stream") ? cudaStreamNonBlocking
                                                             : cudaStreamDefault));
    OK(cudaMemset(p, 0, BYTES / 2));
    OK(cudaEventRecord(event, 0));
    if (!strcmp(how, "event")) OK(cudaStreamWaitEvent(own, event, 0));
    if (!strcmp(how, "host")) OK(cudaEventSynchronize(event));
    fill<<<N / 512, 256, 0, own>>>(p + away, 1);
  } else if (!strcmp(what, "waited")) {  // copies that the host waits for, and what comes after
                                         // them on streams that do not
    cudaStream_t own;
    OK(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
    int *plain = (int *)malloc(BYTES);
    memset(plain, 0, BYTES);
    for (int i = 0; i < 100; i++) {
      OK(cudaMemcpy(p, host, BYTES, cudaMemcpyHostToDevice));
      fill<<<N / 256, 256, 0, own>>>(p, i);
      OK(cudaStreamSynchronize(own));
      OK(cudaMemcpyAsync(p, plain, BYTES, cudaMemcpyHostToDevice, one));
      OK(cudaMemcpyAsync(p, plain, BYTES, cudaMemcpyHostToDevice, two));
    }
    free(plain);
  } else if (!strcmp(what, "first") || away) {
    OK(cudaMemcpyAsync(p, host, BYTES / 2, cudaMemcpyHostToDevice, one));
    cudaStream_t s = order(how);
    fill<<<N / 512, 256, 0, s>>>(p + away, 2);
  } else {
    OK(cudaMemcpyAsync(p, host, BYTES, cudaMemcpyHostToDevice, one));
    cudaStream_t s = order(how);
    fill<<<N / 256, 256, 0, s>>>(p, 2);
  }
  OK(cudaDeviceSynchronize());
  printf("done\n");
  return 0;
}
