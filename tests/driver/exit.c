// The process ends while a kernel that never ends is running; a forked child may not use CUDA and
// ends normally.
// prints: child ended with 7
// prints: leaving
// timeout: 60
#include "driver_test.h"

#include <sys/wait.h>

static void late(void) {
  CUdeviceptr p;
  printf(cuMemAlloc_v2(&p, 16) ? "no memory at exit\n"
                               : "leaving\n");  // handlers of the program may still use CUDA
}

int main(void) {
  start();
  atexit(late);
  CUmodule m = load(common_ptx);
  unsigned *flag;
  CUdeviceptr out = new_ints(1);
  OK(cuMemAllocHost_v2((void **)&flag, 4));
  *flag = 0;
  OK(LAUNCH(get(m, "spin"), 1, 1, NULL, &flag, &out));
  sleep_ms(20);
  fflush(stdout);
  pid_t pid = fork();
  if (!pid) {
    CUdeviceptr p;
    CUresult r = cuMemAlloc_v2(&p, 16);
    fclose(stdout);
    exit(r == CUDA_ERROR_NOT_INITIALIZED ? 7 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  printf("child ended with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  return failures != 0;
}
