// NaN and infinity in what kernels of machine code write. numbers WHAT [ok]; with ok nothing is
// born.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdio>
#include <cstring>
#include <vector>

enum { N = 10000, THREADS = 256, BLOCKS = (N + THREADS - 1) / THREADS };

template <typename T> __global__ void roots(const T *in, T *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (T)sqrtf((float)in[i]);
}
__global__ void roots_double(const double *in, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = sqrt(in[i]);
}
template <typename T> __global__ void squares(const T *in, T *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (T)((float)in[i] * (float)in[i]);
}
__global__ void copies(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
__global__ void counts(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * 2 - 1;
}
// A value and where it comes from, in two buffers.
__global__ void values_and_places(const float *in, float *value, int *place, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) value[i] = in[i] * 2, place[i] = in[i] > 2 ? i : -1;
}
struct Tensors {
  float *data[2];
  int n;
};
__global__ void by_value(const Tensors t) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < t.n) t.data[0][i] = sqrtf(t.data[1][i]);
}

template <typename T> static T *array(double value, int at = -1, double other = 0, int n = N) {
  std::vector<T> host(n, (T)(float)value);
  if (at >= 0) host[at] = (T)(float)other;
  T *p;
  cudaMalloc(&p, n * sizeof(T));
  cudaMemcpy(p, host.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  bool ok = argc > 2;
  auto is = [&](const char *name) { return !strcmp(what, name); };
  double bad = ok ? 4 : -4;
  if (is("f32")) roots<<<BLOCKS, THREADS>>>(array<float>(1, 77, bad), array<float>(0), N);
  if (is("f64")) roots_double<<<BLOCKS, THREADS>>>(array<double>(1, 77, bad), array<double>(0), N);
  if (is("f16")) roots<<<BLOCKS, THREADS>>>(array<__half>(1, 77, bad), array<__half>(0), N);
  if (is("bf16"))
    roots<<<BLOCKS, THREADS>>>(array<__nv_bfloat16>(1, 77, bad), array<__nv_bfloat16>(0), N);
  if (is("overflow"))
    squares<<<BLOCKS, THREADS>>>(array<float>(1, 77, ok ? 2 : 1e30), array<float>(0), N);
  if (is("overflow-f16"))
    squares<<<BLOCKS, THREADS>>>(array<__half>(1, 77, ok ? 2 : 1000), array<__half>(0), N);
  if (is("struct")) {
    Tensors t = {{array<float>(0), array<float>(1, 77, bad)}, N};
    by_value<<<BLOCKS, THREADS>>>(t);
  }
  // Everything below is correct, whether with ok or without.
  if (is("carried")) {  // NaN of the host goes through two kernels
    float *a = array<float>(1, 77, -4), *b = array<float>(0), *c = array<float>(0);
    const float nan = __builtin_nanf("");
    cudaMemcpy(a + 77, &nan, 4, cudaMemcpyHostToDevice);
    squares<<<BLOCKS, THREADS>>>(a, b, N);
    squares<<<BLOCKS, THREADS>>>(b, c, N);
  }
  if (is("mask")) {  // an infinity that is there on purpose
    float *a = array<float>(1, 77, -INFINITY), *b = array<float>(0);
    copies<<<BLOCKS, THREADS>>>(a, b, N);
    squares<<<BLOCKS, THREADS>>>(b, a, N);
  }
  if (is("integers")) {
    int *a = array<int>(0), *b = array<int>(0), *c = array<int>(0);
    counts<<<BLOCKS, THREADS>>>(a, b, N);
    counts<<<BLOCKS, THREADS>>>(b, c, N);
  }
  if (is("places"))
    values_and_places<<<BLOCKS, THREADS>>>(array<float>(1), array<float>(0), array<int>(0), N);
  if (is("partial")) {  // what it does not write was never a number
    float *out = array<float>(0);
    cudaMemset(out, 0xff, N * 4);
    roots<<<BLOCKS, THREADS>>>(array<float>(1), out, N / 2);
    roots<<<BLOCKS, THREADS>>>(array<float>(1), out, N / 2);
  }
  if (is("again")) {  // memory that held NaN is used for something else
    float *a = array<float>(1), *out = array<float>(0);
    cudaMemset(out, 0xff, N * 4);
    cudaFree(out);
    out = array<float>(2);
    roots<<<BLOCKS, THREADS>>>(a, out, N / 2);
  }
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
