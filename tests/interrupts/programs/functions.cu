// nvcc: -Iinclude
// args: FOLDER
// tools: none
// The functions of warpgrind_functions.h. What goes to standard error reaches standard output.
// With a tool failed assertions are findings: findings.sh.
#include <cstdio>
#include <cstring>

#include "warpgrind_functions.h"

enum { BAD_INPUT = 7, TOO_LARGE = 9 };

__global__ void asserts(int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  wg_assert(i < n, i, n);
  wg_assert(i != 3);
}
__global__ void prints() {
  int i = threadIdx.x;
  wg_printf("thread %d of %u: %5.2f|%-6s|%c %lld%%\n", i,
            blockDim.x, i / 4.0, i % 2 ? "odd" : "even", 'a' + i, 1ll << (30 + i));
  if (i == 2) wg_printf("no values\n");
  if (i == 1) wg_printf("%*d|%.3s|%hhd|%e\n", 8, i, "abcdef", 300, 12345.678f);
}
__global__ void errors() {
  int i = threadIdx.x + blockIdx.x * 32;
  if (i % 3 == 0) wg_error(BAD_INPUT, i * 0.5);
  if (i > 28) wg_error(TOO_LARGE, i);
  if (i == 5) wg_break();
}
__device__ const char written[] = "written by the device\n";
__global__ void files(char *path, char *buffer, long long *done) {
  done[0] = wg_file_write(path, 0, written, sizeof written - 1);
  done[1] = wg_file_read(path, 8, buffer, 6);
  buffer[6] = 0;
  done[2] = wg_file_read("/no/such/file", 0, buffer + 8, 4);
}
__global__ void memory(long long *sum) {
  int i = threadIdx.x;
  int *p = static_cast<int *>(wg_malloc(4ull * (i + 1)));
  for (int k = 0; k <= i; k++) p[k] = k;
  long long s = 0;
  for (int k = 0; k <= i; k++) s += p[k];
  sum[i] = s;
  wg_free(p);
}

int main(int argc, char **argv) {
  char *path, *buffer, host[16], name[512];
  long long *done, counts[64];
  setvbuf(stdout, nullptr, _IONBF, 0);
  dup2(1, 2);
  asserts<<<2, 8>>>(9);
  cudaDeviceSynchronize();
  wg_assert_ends() = true;
  asserts<<<1, 8>>>(0);
  cudaDeviceSynchronize();
  prints<<<1, 4>>>();
  errors<<<1, 32>>>();
  errors<<<2, 3>>>();
  snprintf(name, sizeof name, "%s/interrupts_file", argc > 1 ? argv[1] : "/tmp");
  cudaMalloc(&path, sizeof name);
  cudaMalloc(&buffer, sizeof host);
  cudaMalloc(&done, sizeof counts);
  cudaMemcpy(path, name, sizeof name, cudaMemcpyHostToDevice);
  files<<<1, 1>>>(path, buffer, done);
  cudaMemcpy(host, buffer, 7, cudaMemcpyDeviceToHost);
  cudaMemcpy(counts, done, 24, cudaMemcpyDeviceToHost);
  printf("wrote %lld, read %lld: %s, and %lld\n", counts[0], counts[1], host, counts[2]);
  remove(name);
  memory<<<1, 64>>>(done);
  cudaMemcpy(counts, done, sizeof counts, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < 64; i++) wrong += counts[i] != i * (i + 1) / 2;
  printf("memory: %d wrong, %s\n", wrong, cudaGetErrorString(cudaGetLastError()));
  cudaFree(path);
  cudaFree(buffer);
  cudaFree(done);
}
