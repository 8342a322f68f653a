// The tiles of counted_ok.cu with a mistake each.
#include <cstdio>

__global__ void halo(int *out, const int *in) {  // the border is written over an element
  __shared__ int s[10][34];
  int x = threadIdx.x, y = threadIdx.y;
  // finds-next: race group=halo
  s[y + 1][x + 1] = in[y * 32 + x];
  // finds-next: race group=halo
  if (x == 0) s[y + 1][32] = y + 100;
  __syncthreads();
  out[y * 32 + x] = s[y + 1][x + 1];
}

__global__ void exchange(int *keys) {  // pairs overlap
  __shared__ int s[512];
  int t = threadIdx.x, at = 2 * t - (t & 15);
  s[t] = keys[t];
  s[t + 256] = keys[t + 256];
  __syncthreads();
  // finds-next: race group=exchange
  int a = s[at], b = s[at + 8];
  // finds-next: race group=exchange
  s[at] = a + b;
  // finds-next: race group=exchange
  s[at + 8] = a - b;
  __syncthreads();
  keys[t] = s[t];
  keys[t + 256] = s[t + 256];
}

__global__ void leaders(float *out) {  // two threads of each warp write
  __shared__ float sums[8];
  // finds-next: race group=leaders
  if (!(threadIdx.x & 15)) sums[threadIdx.x >> 5] = threadIdx.x;
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
  leaders<<<1, 256>>>((float *)out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
