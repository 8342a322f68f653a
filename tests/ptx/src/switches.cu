// Branches: jump tables (brx.idx), nested loops, early exits, goto, unrolled and not.
__device__ __noinline__ int pick(int k, int x) {
  switch (k) {
    case 0: return x + 1;
    case 1: return x * 3;
    case 2: return x ^ 0x55;
    case 3: return x << 3;
    case 4: return x / 7;
    case 5: return x % 11;
    case 6: return -x;
    case 7: return ~x;
    case 8: return x - 100;
    case 9: return x >> 2;
    default: return 0;
  }
}
__global__ void switches(int *data, int n, int limit) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int x = data[i];
  for (int k = 0; k < limit; k++) {
    if (x == k) continue;
    x = pick(k % 12, x);
    if (x > 1000000) break;
#pragma unroll 4
    for (int j = 0; j < (k & 7); j++) x += data[(i + j) % n];
#pragma unroll 1
    for (int j = 0; j < 3; j++) {
      if (x & (1 << j)) goto out;
      x ^= j;
    }
  }
out:
  data[i] = x;
}
