// Bounds that an index has, but not those of its array: a mask, a comparison, loops with and
// without a barrier in them.
#include <cstdio>
#include <cstdlib>
#define OK(call) \
  do { \
    cudaError_t e = (call); \
    if (e != cudaSuccess) { \
      printf("%s\n", cudaGetErrorString(e)); \
      exit(1); \
    } \
  } while (0)

__global__ void each(int *out, const int *in, int n, int low) {
  __shared__ int table[256], part[16];
  int i = threadIdx.x, sum = 0;
  for (int k = i; k < 256; k += blockDim.x) table[k] = k;
  if (i < 16) part[i] = i;
  __syncthreads();
  table[in[i] & 511] = i;  // finds: oob-write count=32
  unsigned v = in[i];
  if (v <= 256) out[i] = table[v];  // finds: oob-read count=1
  if (i < 4) table[i - 1] = 3;  // finds: oob-write count=1
  for (int k = 0; k < n; k++) {
    if (i == 5) part[k] = k + n;  // finds: oob-write count=1
    __syncthreads();
  }
  for (int k = 15; k >= low; k--) sum += part[k] * k;  // finds: oob-read count=64
  out[i] += sum;
}

// One lane's bad access must not part it from its warp: the others wait at the barrier.
__global__ void turns(int *out, const int *where, int n) {
  __shared__ int part[64], table[64];
  int i = threadIdx.x, sum = 0;
  for (int k = 0; k < n; k++) {
    part[i] = i + k;
    table[where[k * 64 + i]] = k;  // finds: oob-write count=2
    __syncthreads();
    sum += part[(i + 1) & 63];
    __syncthreads();
  }
  out[i] = sum + (table[i] < 0);
}

int main() {
  int *out, *in, sums[64], where[10 * 64], wrong = 0;
  OK(cudaMalloc(&out, 64 * 4));
  OK(cudaMalloc(&in, sizeof where));
  for (int i = 0; i < 64; i++) where[i] = 8 * i;
  OK(cudaMemcpy(in, where, 64 * 4, cudaMemcpyHostToDevice));
  each<<<1, 64>>>(out, in, 17, -1);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 10 * 64; i++) where[i] = i % 64;
  where[3 * 64 + 7] = 64, where[5 * 64 + 40] = -1;
  OK(cudaMemcpy(in, where, sizeof where, cudaMemcpyHostToDevice));
  turns<<<1, 64>>>(out, in, 10);
  OK(cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 64; i++) wrong += sums[i] != 10 * ((i + 1) & 63) + 45;
  if (wrong) cudaMemset(out, 0, 1 << 20);        // one finding more
  printf("done %d\n", wrong);
}
