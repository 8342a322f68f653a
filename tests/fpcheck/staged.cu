// A large launch that doubles what it reads, by way of shared memory: a NaN of the host is seen
// where it leaves, and no instruction makes it or reads it from outside. With an argument there is
// none. Run by launches.sh.
#include <cmath>
#include <cstdio>

__global__ void doubles(float *out, const float *in) {
  __shared__ float tile[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = tile[threadIdx.x ^ 1] * 2.0f;
}

int main(int argc, char **) {
  const int n = 256 * 300;
  static float host[n];
  for (int i = 0; i < n; i++) host[i] = argc == 1 && i == n - 1 ? NAN : (float)i;
  float *in, *out;
  if (cudaMalloc(&in, sizeof host) != cudaSuccess || cudaMalloc(&out, sizeof host) != cudaSuccess)
    return 1;
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  doubles<<<n / 256, 256>>>(out, in);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  printf("%g %g\n", host[0], host[n - 1]);
}
