// Forty launches that write to two large buffers in turn, each to another part of it. In between a
// copy to the host (behind 20), a set (behind 30) and a copy from the host (behind 33).
//   change=K   launch K adds 1 to an element
#include <cstdio>
#include <cstring>

enum { ALL = 1 << 19, PART = 100000 };

__global__ void blend(const float *from, float *to, int first, int n, int changed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = to[first + i] * 0.25f + from[first + i] * 0.5f + (float)(i % 7);
  if (changed && i == PART / 2) v += 1;
  to[first + i] = v;
}

int main(int argc, char **argv) {
  static float host[ALL];
  int changed = 0;
  if (argc > 1) sscanf(argv[1], "change=%d", &changed);
  float *a, *b;
  cudaMalloc(&a, sizeof host);
  cudaMalloc(&b, sizeof host);
  for (int i = 0; i < ALL; i++) host[i] = (float)(i % 100);
  cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(b, 0, sizeof host);
  for (int k = 1; k <= 40; k++) {
    blend<<<(PART + 255) / 256, 256>>>(k % 2 ? a : b, k % 2 ? b : a, k * 5000, PART, k == changed);
    if (k == 20) cudaMemcpy(host, a, sizeof(float), cudaMemcpyDeviceToHost);
    if (k == 30) cudaMemset(b, 1, 4096);
    if (k == 33) cudaMemcpy(a + 300000, host, 5000, cudaMemcpyHostToDevice);
  }
  cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(a);
  cudaFree(b);
  double sum = 0;
  for (int i = 0; i < ALL; i++) sum += host[i] * (i % 13);
  printf("%.6g\n", sum);
  return 0;
}
