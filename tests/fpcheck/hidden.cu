// What is known of a kernel must not hide what comes later at the same sink: the first launch is
// good, the second divides by zero, the third also takes the root of a negative number. Threads
// work together, so that none of them can run again.
#include <cstdio>

__global__ void mixes(float *out, const float *in) {
  __shared__ float s[64];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = in[2 * i];
  __syncthreads();
  float quotient = 1 / s[t ^ 1];
  float root = sqrtf(in[2 * i + 1]);
  out[i] = quotient + root;
}

int main() {
  enum { BLOCKS = 16, N = BLOCKS * 64 };
  static float in[2 * N];
  float *dev, *out;
  cudaMalloc(&dev, sizeof in);
  cudaMalloc(&out, N * sizeof *out);
  for (int launch = 0; launch < 3; launch++) {
    for (int i = 0; i < N; i++)
      in[2 * i] = launch && i % 64 == 5 ? 0 : 1,
             in[2 * i + 1] = launch == 2 && i % 64 == 7 ? -1 : 4;
    cudaMemcpy(dev, in, sizeof in, cudaMemcpyHostToDevice);
    mixes<<<BLOCKS, 64>>>(out, dev);
  }
  float last;
  cudaMemcpy(&last, out + N - 1, sizeof last, cudaMemcpyDeviceToHost);
  printf("%g %s\n", last, cudaGetErrorString(cudaGetLastError()));
}
