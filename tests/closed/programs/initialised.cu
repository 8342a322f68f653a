// Machine code between kernels with PTX: what it writes counts as written, all else stays as it
// was. initialised WHAT [ok]; -DCLOSED compiles its half without PTX.
#include <cstdio>
#include <cstring>

enum { N = 4096, THREADS = 256, BLOCKS = N / THREADS };
extern "C" __global__ void closed_scale(const float *in, float *out);
void launch_closed(const float *in, float *out);

#ifdef CLOSED
extern "C" __global__ void closed_scale(const float *in, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] * 2;
}
void launch_closed(const float *in, float *out) { closed_scale<<<BLOCKS, THREADS>>>(in, out); }
#else
__global__ void positive(const float *in, int *count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] > 0) atomicAdd(count, 1);
}
int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  bool ok = argc > 2;
  float *a, *b, *c;
  int *count;
  cudaMalloc(&a, N * 4);
  cudaMalloc(&b, N * 4);
  cudaMalloc(&c, N * 4);
  cudaMalloc(&count, 4);
  cudaMemset(count, 0, 4);
  if (!strcmp(what, "input")) {  // the closed kernel reads what nobody wrote
    if (ok) cudaMemset(a, 0, N * 4);
    launch_closed(a, b);
    positive<<<BLOCKS, THREADS>>>(b, count);
  }
  if (!strcmp(what, "other")) {  // it writes b; c was never written
    cudaMemset(a, 0, N * 4);
    launch_closed(a, b);
    positive<<<BLOCKS, THREADS>>>(ok ? b : c, count);
  }
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
#endif
