// Kernels of machine code on streams that nothing orders. races WHAT [ok]; -DCLOSED compiles the
// half without PTX.
#include <cstdio>
#include <cstring>

enum { N = 1 << 20, THREADS = 256, BLOCKS = N / THREADS };
void launch_closed(const float *in, float *out, cudaStream_t stream);

#ifdef CLOSED
extern "C" __global__ void closed_scale(const float *in, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] * 2;
}
void launch_closed(const float *in, float *out, cudaStream_t stream) {
  closed_scale<<<BLOCKS, THREADS, 0, stream>>>(in, out);
}
#else
__global__ void add_one(float *a) { a[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  bool ok = argc > 2;
  float *x, *y, *z, *host;
  cudaStream_t a, b;
  cudaEvent_t done;
  cudaMalloc(&x, N * 4);
  cudaMalloc(&y, N * 4);
  cudaMalloc(&z, N * 4);
  cudaMallocHost(&host, N * 4);
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  cudaEventCreate(&done);
  cudaMemset(x, 0, N * 4);
  cudaMemset(y, 0, N * 4);
  cudaDeviceSynchronize();
  auto order = [&] {
    if (!ok) return;
    cudaEventRecord(done, a);
    cudaStreamWaitEvent(b, done, 0);
  };
  if (!strcmp(what, "launches")) {  // two closed kernels
    launch_closed(x, y, a);
    order();
    launch_closed(y, z, b);
  }
  if (!strcmp(what, "woven")) {  // a closed kernel and one with PTX
    launch_closed(x, y, a);
    order();
    add_one<<<BLOCKS, THREADS, 0, b>>>(y);
  }
  if (!strcmp(what, "behind")) {  // the other way round
    add_one<<<BLOCKS, THREADS, 0, a>>>(y);
    order();
    launch_closed(y, z, b);
  }
  if (!strcmp(what, "copy")) {
    launch_closed(x, y, a);
    order();
    cudaMemcpyAsync(host, y, N * 4, cudaMemcpyDeviceToHost, b);
  }
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
#endif
