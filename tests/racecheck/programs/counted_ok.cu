// Tiles of which each thread writes bytes of its own by no simple rule: what every thread accesses
// is counted (host_enumerate.c).
#include <cstdio>

__global__ void halo(int *out, const int *in) {  // some threads write the borders, too
  __shared__ int s[10][34];
  int x = threadIdx.x, y = threadIdx.y;
  s[y + 1][x + 1] = in[y * 32 + x];
  if (x == 0) s[y + 1][0] = y;
  if (x == 31) s[y + 1][33] = y;
  if (y == 0) s[0][x + 1] = x;
  if (y == 7) s[9][x + 1] = x;
  __syncthreads();
  out[y * 32 + x] = s[y][x + 1] + s[y + 2][x + 1] + s[y + 1][x] + s[y + 1][x + 2];
}

__global__ void exchange(int *keys) {  // pairs that are 16 apart
  __shared__ int s[512];
  int t = threadIdx.x, at = 2 * t - (t & 15);
  s[t] = keys[t];
  s[t + 256] = keys[t + 256];
  __syncthreads();
  int a = s[at], b = s[at + 16];
  s[at] = min(a, b);
  s[at + 16] = max(a, b);
  __syncthreads();
  keys[t] = s[t];
  keys[t + 256] = s[t + 256];
}

__global__ void leaders(float *out, const float *in) {  // one thread of each warp writes
  __shared__ float sums[8];
  float v = in[threadIdx.x];
  for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(~0u, v, d);
  if (!(threadIdx.x & 31)) sums[threadIdx.x >> 5] = v;
  __syncthreads();
  out[threadIdx.x] = sums[threadIdx.x & 7];
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 4096);
  cudaMalloc(&out, 4096);
  cudaMemset(in, 1, 4096);
  halo<<<1, dim3(32, 8)>>>(out, in);
  exchange<<<1, 256>>>(in);
  leaders<<<1, 256>>>((float *)out, (float *)in);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
