// Races within a block, in shared and global memory. Comments mark the accesses of each race: it
// must be found, and nothing else.
#include <cstdio>

__global__ void reduce(const int *in, int *out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int d = 128; d > 0; d /= 2)
    if (t < d) s[t] += s[t + d];                                        // finds: race group=reduce
  if (t == 0) out[blockIdx.x] = s[0];                                   // finds: race group=reduce
}

__global__ void loop_end(const int *in,
                         int *out) {  // the barrier at the end of the loop is missing
  __shared__ int tile[128];
  int t = threadIdx.x, sum = 0;
  for (int i = 0; i < 4; i++) {
    // finds-next: race group=loop_end
    tile[t] = in[i * 128 + t];
    __syncthreads();
    // finds-next: race group=loop_end
    sum += tile[(t + 37) % 128];
  }
  out[blockIdx.x * 128 + t] = sum;
}

__global__ void bytes(unsigned char *out) {  // neighbours in one word, of which one byte is shared
  __shared__ unsigned char s[256];
  int t = threadIdx.x;
  s[t] = (unsigned char)t;                                              // finds: race group=bytes
  unsigned char v = s[t ^ 32];                                          // finds: race group=bytes
  out[blockIdx.x * 256 + t] = v;
}

__global__ void in_warp(int *out) {                                     // no __syncwarp
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;                                         // finds: race group=in_warp
  out[blockIdx.x * 32 + threadIdx.x] = s[31 - threadIdx.x];             // finds: race group=in_warp
}

__global__ void same_instruction(int *out) {
  __shared__ int last;
  // finds-next: race group=same_instruction
  last = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = last;
}

__global__ void global_in_block(int *a) {
  int i = blockIdx.x * 64 + threadIdx.x;
  // finds-next: race group=global_in_block
  a[i] = i;
  // finds-next: race group=global_in_block
  a[i] = a[blockIdx.x * 64 + (threadIdx.x + 33) % 64];
}

__global__ void dynamic(int *out, int n) {
  extern __shared__ int d[];
  d[threadIdx.x] = threadIdx.x;
  __syncthreads();
  int v = d[n - 1 - threadIdx.x];                                       // finds: race group=dynamic
  d[threadIdx.x] = v;                                                   // finds: race group=dynamic
  __syncthreads();
  out[blockIdx.x * n + threadIdx.x] = d[threadIdx.x];
}

__global__ void vector(float4 *out) {                                   // one of four elements
  __shared__ __align__(16) float s[256];
  ((float4 *)s)[threadIdx.x] = make_float4(1, 2, 3, 4);                 // finds: race group=vector
  // finds-next: race group=vector
  out[blockIdx.x * 64 + threadIdx.x] = make_float4(s[255 - 4 * threadIdx.x], 0, 0, 0);
}

__global__ void plain_with_atomic(int *out) {
  __shared__ int count;
  // finds-next: race group=plain_with_atomic
  if (threadIdx.x == 0) count = 0;
  // finds-next: race group=plain_with_atomic
  atomicAdd(&count, 1);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = count;
}

__global__ void same_value(int *flag, const int *in) {
  // finds-next: race-same-value group=same_value
  if (in[threadIdx.x] >= 0) *flag = 1;
}

__global__ void same_computed(int *out, const int *in) {
  __shared__ bool found;
  // finds-next: race-same-value group=same_computed
  found = in[0] == 7;
  __syncthreads();
  // finds-next: race-same-value group=same_computed_global
  out[blockIdx.x] = in[2] + found;
}

__global__ void same_but_one(int *out) {
  // finds-next: race group=same_but_one
  *out = threadIdx.x == 37;
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 1 << 16);
  cudaMalloc(&out, 1 << 16);
  cudaMemset(in, 0, 1 << 16);
  cudaMemset(out, 0, 1 << 16);
  reduce<<<4, 256>>>(in, out);
  loop_end<<<4, 128>>>(in, out);
  bytes<<<4, 256>>>((unsigned char *)out);
  in_warp<<<4, 32>>>(out);
  same_instruction<<<4, 96>>>(out);
  global_in_block<<<4, 64>>>(out);
  dynamic<<<4, 192, 192 * 4>>>(out, 192);
  vector<<<4, 64>>>((float4 *)out);
  plain_with_atomic<<<4, 96>>>(out);
  same_value<<<1, 64>>>(out, in);
  same_computed<<<2, 64>>>(out, in);
  same_but_one<<<1, 64>>>(out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
