// Processes: children forked before CUDA is used, a child that starts the program again with exec,
// one that ends with _exit.
// coverage: all
#include <sys/wait.h>
#include <unistd.h>
#include "gpu_test.h"

__global__ void square(int *p) { p[threadIdx.x] *= p[threadIdx.x]; }
static int work(int base) {
  int *d, h[64], bad = 0;
  for (int i = 0; i < 64; i++) h[i] = base + i;
  OK(cudaMalloc(&d, sizeof h));
  OK(cudaMemcpy(d, h, sizeof h, cudaMemcpyDefault));
  square<<<1, 64>>>(d);
  OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDefault));
  for (int i = 0; i < 64; i++) bad += h[i] != (base + i) * (base + i);
  show("work", h, sizeof h);
  fflush(stdout);
  return bad;
}
static int wait_for(pid_t p) {
  int status;
  waitpid(p, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

int main(int argc, char **argv) {
  if (argc > 1) return work(atoi(argv[1])) ? 9 : 21;
  for (int i = 0; i < 3; i++) {
    fflush(stdout);
    pid_t p = fork();
    if (p == 0) {
      int bad = work(i * 10);
      if (i == 0) _exit(bad);
      if (i == 1) exit(bad);
      execl("/proc/self/exe", "processes", "77", (char *)NULL);
      _exit(8);
    }
    int code = wait_for(p);
    printf("child %d ended with %d\n", i, code);
    EXPECT(code == (i == 2 ? 21 : 0));
  }
  EXPECT(work(500) == 0);
  return finish();
}
