// Variables in shared and local memory whose types and sizes are parameters of a template.
#include <cstdio>
template <typename T> struct Pair {
  T first;
  int second;
};
template <typename T, int N = 4, bool Twice = false>
__global__ void tiles(const T *in, T *out) {
  __shared__ T s[N], tile[N][N + 1];
  __shared__ Pair<T> pairs[N];
  int t = threadIdx.x;
  s[t] = in[t];
  pairs[t] = {in[t], t};
  for (int i = 0; i < N; i++) tile[t][i] = in[t] * T(i);
  __syncthreads();
  T mine[N];
  for (int i = 0; i < N; i++) mine[(i + (int)in[0]) % N] = tile[i][t];
  out[t] = s[N - 1 - t] + mine[(int)in[t] % N] + pairs[N - 1 - t].first * (Twice ? 2 : 1);
}
template <class... Ts> __global__ void pack(double *out, Ts... ts) {
  __shared__ double kept[sizeof...(Ts)];
  kept[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = kept[1 - threadIdx.x];
}
int main() {
  volatile Pair<float> one = {1, 2};  // the host's debug information describes it
  float *f;
  double *d;
  cudaMalloc(&f, 64);
  cudaMalloc(&d, 64);
  cudaMemset(f, 0, 64);
  cudaMemset(d, 0, 64);
  tiles<float><<<1, 4>>>(f, f + 8);
  tiles<double, 8, true><<<1, 8>>>(d, d);
  if (one.second == 3) return 1;
  pack<int, int><<<1, 2>>>(d, 1, 2);
  puts(cudaGetErrorString(cudaDeviceSynchronize()));
}
