// Ends as its argument says: killed while a kernel runs, with two contexts, as a forked child, with
// a fault.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <csignal>
#include <unistd.h>
#include <sys/wait.h>

__global__ void fill(int *out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = i;
}
__global__ void slow(int *out, volatile int *runs, volatile int *go) {
  out[threadIdx.x] = 7;
  *runs = 1;
  while (!*go) {}
}
__global__ void fault(int *out) {
  out[threadIdx.x] = 3;
  __syncthreads();
  if (threadIdx.x == 1) *(int *)0 = 1;
}

static int run(int n) {
  int *out, h[64];
  cudaMalloc(&out, n * 4);
  fill<<<1, 64>>>(out, n);
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
  return h[5];
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  if (!strcmp(how, "kill")) {
    int *out, *go, *runs;
    run(4096);
    cudaMalloc(&out, 256);
    cudaMalloc(&go, 4);
    cudaMemset(go, 0, 4);
    cudaMallocHost(&runs, 4);
    *runs = 0;
    slow<<<1, 32>>>(out, runs, go);
    while (!*(volatile int *)runs) usleep(1000);
    kill(getpid(), SIGKILL);
  }
  if (!strcmp(how, "devices")) {
    int sum = 0;
    for (int i = 0; i < 2; i++) cudaSetDevice(i), sum += run(1000 + i);
    printf("%d\n", sum);
  }
  if (!strcmp(how, "fork")) {
    pid_t child = fork();
    int got = run(child ? 100 : 200), status = 0;
    if (!child) return got;
    waitpid(child, &status, 0);
    printf("%d %d\n", got, WEXITSTATUS(status));
  }
  if (!strcmp(how, "reset")) {
    int sum = 0;
    for (int i = 0; i < 20; i++) sum += run(100), cudaDeviceReset();
    printf("%d\n", sum);
  }
  if (!strcmp(how, "fault")) {
    int *out;
    cudaMalloc(&out, 256);
    fault<<<1, 32>>>(out);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  }
}
