// From launch to launch: across [large] [good] [keep]. `makes` divides zero by zero at one element,
// `carries` reads it and writes it on, `uses` turns it into something else, and what `carries`
// wrote is copied to the host (but with keep). Run by across.sh.
#include <cstdio>
#include <cstring>

#define CHECK(call) \
  do { \
    cudaError_t e_ = (call); \
    if (e_ != cudaSuccess) { \
      printf("%s: %s\n", #call, cudaGetErrorString(e_)); \
      return 1; \
    } \
  } while (0)

__global__ void makes(float *b, const float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i] / a[i];                                // label: makes
}
__global__ void carries(double *c, const float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = b[i] * 2.0f;                                // label: carries
}
__global__ void uses(float *d, const double *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d[i] = fmaxf((float)c[i] + 1.0f, 0.0f);            // label: uses
}

int main(int argc, char **argv) {
  int n = 1000;
  bool good = false, keep = false, async = false;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "large")) n = 150000;
    if (!strcmp(argv[i], "good")) good = true;
    if (!strcmp(argv[i], "keep")) keep = true;
    if (!strcmp(argv[i], "async")) async = true;
  }
  float *a, *b, *d, *host;
  double *c, *out;
  CHECK(cudaMallocHost(&host, n * 4));
  CHECK(cudaMallocHost(&out, n * 8));
  for (int i = 0; i < n; i++) host[i] = i == 77 && !good ? 0.0f : (float)(i % 5 + 1);
  CHECK(cudaMalloc(&a, n * 4));
  CHECK(cudaMalloc(&b, n * 4));
  CHECK(cudaMalloc(&c, n * 8));
  CHECK(cudaMalloc(&d, n * 4));
  CHECK(cudaMemcpy(a, host, n * 4, cudaMemcpyHostToDevice));
  int blocks = (n + 255) / 256;
  makes<<<blocks, 256>>>(b, a, n);
  carries<<<blocks, 256>>>(c, b, n);
  uses<<<blocks, 256>>>(d, c, n);
  if (async) {
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpyAsync(out, c, n * 8, cudaMemcpyDeviceToHost, s));
    CHECK(cudaStreamSynchronize(s));
  } else if (!keep) CHECK(cudaMemcpy(out, c, n * 8, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(host, d, n * 4, cudaMemcpyDeviceToHost));
  unsigned sum = 0;
  for (int i = 0; i < n; i++) {
    unsigned bits;
    memcpy(&bits, &host[i], 4);
    sum = sum * 31 + bits;
  }
  printf("%08x\n", sum);
  return 0;
}
