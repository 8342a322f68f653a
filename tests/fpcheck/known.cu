// A program full of NaN: one kernel makes it, another carries it on in place, 40 launches of 70000
// threads. Each of them is counted once for each launch, where it is stored or, in a body that is
// tested everywhere, where it is read: 2800000 in all, by blocks of all multiprocessors. `twin`:
// numbers. Prints a sum of the bits. Run by launches.sh.
#include <cstdio>
#include <cstring>

enum { N = 70000, LAUNCHES = 40 };
__global__ void makes(float *a, float zero) {
  a[blockIdx.x * blockDim.x + threadIdx.x] = 0.0f / zero;
}
__global__ void carries(float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = a[i] * 0.5f + 1.0f;                        // label: carried
}

int main(int argc, char **) {
  static float host[N];
  float *a;
  if (cudaMalloc(&a, (N + 256) * sizeof(float)) != cudaSuccess) return 1;
  makes<<<(N + 255) / 256, 256>>>(a, argc > 1 ? 2.0f : 0.0f);
  for (int i = 0; i < LAUNCHES; i++) carries<<<(N + 255) / 256, 256>>>(a, N);
  if (cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  unsigned sum = 0, bits;
  for (int i = 0; i < N; i++) memcpy(&bits, &host[i], 4), sum = sum * 31 + bits;
  printf("%08x\n", sum);
}
