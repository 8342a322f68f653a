// Every kind of memory operation, with values and addresses that are the same on every device.
#include <cstdio>
#include <cstdint>

struct __align__(8) Pair { int a, b; };

__device__ int table[64] = {1, 2, 3};

__global__ void widths(uint8_t *b, uint16_t *h, uint64_t *d, float4 *v, Pair *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  b[i] = (uint8_t)(i + 1);
  h[i] = (uint16_t)(i * 257);
  d[i] = 0x100000000ull * i + 7;
  v[i] = make_float4(i, 2 * i, 3 * i, 4 * i);
  Pair q = p[i];
  q.a += b[i];
  p[i] = q;
}

__global__ void divergent(int *out, const int *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 3 == 0) out[i] = in[i] + 1;
  else if (i % 3 == 1) out[i] = in[n - 1 - i];
  if (i == 5) out[n] = 0x5A7C3E19;         // what records hide their words with
}

__global__ void shared_sum(int *out, const int *in) {
  __shared__ int s[64];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = s[0];
}

__global__ void atomics(unsigned *sum, unsigned *most, unsigned long long *wide, int *lock) {
  unsigned i = threadIdx.x;
  atomicAdd(&sum[i], i);
  unsigned before = atomicMax(&most[i], i ^ 5);
  unsigned long long old = atomicAdd(&wide[i], (unsigned long long)before << 32);
  if (i == 7) atomicCAS(lock, (int)old, 42);
  if (i == 8) atomicCAS(lock + 1, 99, 42);
}

__global__ void scattered(int *out, const int *in, const int *where, int n) {
  int i = threadIdx.x;
  out[where[i]] = in[where[n - 1 - i]];
}

__global__ void far_apart(int **list) { *list[threadIdx.x] = threadIdx.x; }

__global__ void locals(int *out, const int *in, int k) {
  int a[8];
  for (int i = 0; i < 8; i++) a[i] = i * k;
  for (int i = 0; i < 8; i++) a[(i + k) & 7] += in[i];
  out[threadIdx.x] = a[threadIdx.x & 7];
}

__global__ void variables(int *out) { out[threadIdx.x] = table[threadIdx.x] + 1; }

static void *device(size_t n) {
  void *p;
  cudaMalloc(&p, n);
  cudaMemset(p, 0, n);
  return p;
}

int main() {
  int n = 70, h[128];
  for (int i = 0; i < 128; i++) h[i] = i * i;
  uint8_t *b = (uint8_t *)device(n);
  uint16_t *s = (uint16_t *)device(2 * n);
  uint64_t *d = (uint64_t *)device(8 * n);
  float4 *v = (float4 *)device(16 * n);
  Pair *p = (Pair *)device(8 * n);
  int *in = (int *)device(512), *out = (int *)device(516), *where = (int *)device(512),
      **list = (int **)device(256);
  cudaMemcpy(in, h, 512, cudaMemcpyHostToDevice);
  cudaMemcpy(p, h, 512, cudaMemcpyHostToDevice);
  widths<<<3, 32>>>(b, s, d, v, p, n);
  divergent<<<2, 64>>>(out, in, 128);
  shared_sum<<<1, 64>>>(out, in);
  atomics<<<1, 32>>>((unsigned *)out, (unsigned *)out + 32, (unsigned long long *)d, (int *)p);
  for (int i = 0; i < 32; i++) h[i] = i * 13 % 32;
  cudaMemcpy(where, h, 128, cudaMemcpyHostToDevice);
  scattered<<<1, 32>>>(out, in, where, 32);
  int *far[32];
  for (int i = 0; i < 32; i++) far[i] = i % 2 ? out + i : (int *)v + i * i % 60;
  cudaMemcpy(list, far, 256, cudaMemcpyHostToDevice);
  far_apart<<<1, 32>>>(list);
  locals<<<1, 32>>>(out, in, 3);
  variables<<<1, 32>>>(in);
  uint32_t sum = 0;
  int all[129];
  cudaMemcpy(all, out, 516, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 129; i++) sum = sum * 31 + all[i];
  cudaMemcpy(all, in, 512, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 128; i++) sum = sum * 31 + all[i];
  printf("%08x %s\n", sum, cudaGetErrorString(cudaDeviceSynchronize()));
}
