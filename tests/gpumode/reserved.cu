// What PyTorch does when it captures without its cache: it allocates in relaxed mode or in that of
// the capture, frees in the mode of the capture, which the driver does not allow, and launches the
// graph when everything it has to do with is freed.
#include <cstdio>
#include <cstdlib>
static int failed;
#define OK(call) \
  do { \
    cudaError_t e_ = (call); \
    if (e_ != cudaSuccess) { \
      printf("%s: %s\n", #call, cudaGetErrorName(e_)); \
      failed = 1; \
      cudaGetLastError(); \
    } \
  } while (0)
__global__ void add(int *to, const int *a, int n) {
  int i = threadIdx.x;
  if (i < n) to[i] += a[i] + 1;
}

static int *allocate(size_t bytes) {
  int *p; cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  OK(cudaThreadExchangeStreamCaptureMode(&mode));
  OK(cudaMalloc(&p, bytes));
  OK(cudaThreadExchangeStreamCaptureMode(&mode));
  return p;
}

int main(int argc, char **argv) {
  cudaStream_t s; cudaGraph_t g; cudaGraphExec_t x; int *out, *before, result[32], *others[50];
  OK(cudaStreamCreate(&s));
  OK(cudaMalloc(&out, 128));
  OK(cudaMalloc(&before, 128));
  OK(cudaMemset(out, 0, 128));
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  int *t = allocate(128), *u;
  OK(cudaMalloc(&u, 128));
  OK(cudaMemsetAsync(t, 0, 128, s)); OK(cudaMemsetAsync(u, 0, 128, s));
  add<<<1, 32, 0, s>>>(t, u, 32);
  OK(cudaFree(u)); OK(cudaFree(before));
  add<<<1, 32, 0, s>>>(out, t, 32);
  OK(cudaFree(t));
  OK(cudaStreamEndCapture(s, &g)); OK(cudaGraphInstantiate(&x, g, 0));
  for (int i = 0; i < 50; i++) {
    OK(cudaMalloc(&others[i], 128));
    OK(cudaMemset(others[i], 255, 128));
  }
  for (int i = 0; i < 3; i++) OK(cudaGraphLaunch(x, s));
  OK(cudaStreamSynchronize(s));
  OK(cudaMemcpy(result, out, 128, cudaMemcpyDefault));
  for (int i = 0; i < 50; i++) OK(cudaFree(others[i]));
  if (argc > 1) add<<<1, 32>>>(out, before, 32);
  if (argc > 1) cudaFree(u);
  OK(cudaDeviceSynchronize());
  printf("%d %d %s\n", result[0], result[31], failed ? "bad" : "good");
  return failed;
}
