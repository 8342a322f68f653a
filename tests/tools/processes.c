// processes MODE: one process or several, in the ways programs do it. Every launch is fill over 64
// threads; what is launched in all follows from the mode. Counts are read when a context ends, or
// the process.
#define _GNU_SOURCE
#include <sys/prctl.h>
#include <sys/wait.h>

#include "../driver/driver_test.h"

static void use(int times) {
  start();
  CUmodule m = load(common_ptx);
  CUdeviceptr p = new_ints(64);
  unsigned v = 5;
  for (int i = 0; i < times; i++) OK(LAUNCH(get(m, "fill"), 2, 32, NULL, &p, &v));
  OK(cuCtxSynchronize());
  EXPECT(!times || read_int(p + 4 * 63) == 5);
}

static int wait_for(pid_t p) {
  int status = 0;
  waitpid(p, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "once";
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (!strcmp(mode, "once")) use(argc > 2 ? atoi(argv[2]) : 1);
  else if (!strcmp(mode,
                   "fork-first")) {  // children that use CUDA on their own: 2 + 3 + 1 launches
    for (int i = 0; i < 2; i++) {
      pid_t p = fork();
      if (p == 0) { use(2 + i); exit(finish()); }
      EXPECT(wait_for(p) == 0);
    }
    use(1);
  } else if (!strcmp(
                 mode,
                 "fork-after")) {  // a child that finds CUDA unusable, as on a device: 2 launches
    use(2);
    pid_t p = fork();
    if (p == 0) {
      RETURNS(cuInit(0), CUDA_ERROR_NOT_INITIALIZED);
      exit(failures != 0);
    }
    EXPECT(wait_for(p) == 0);
    use(0);
  } else if (!strcmp(mode, "exec-child")) {  // 1 launch here, 4 in the child if it is followed
    pid_t p = fork();
    if (p == 0) {
      execl("/proc/self/exe", argv[0], "once", "4", (char *)NULL);
      _exit(9);
    }
    wait_for(p);
    use(1);
  } else if (!strcmp(
                 mode,
                 "exec")) {  // CUDA, then another program in the same process: 2 launches, then 3
    use(2);
    execl("/proc/self/exe", argv[0], "once", "3", (char *)NULL);
    return 9;
  } else if (!strcmp(mode, "exec-clean")) {  // the same with the context ended before
    use(2);
    OK(cuDevicePrimaryCtxReset_v2(0));
    execl("/proc/self/exe", argv[0], "once", "3", (char *)NULL);
    return 9;
  } else if (!strcmp(mode, "_exit")) {
    use(2);
    _exit(finish());
  } else if (!strcmp(mode, "crash")) {
    use(2);
    prctl(PR_SET_DUMPABLE, 0);
    abort();
  } else if (!strcmp(
                 mode,
                 "thread-exit")) {  // exit while another thread waits for a kernel that never ends
    use(2);
    CUmodule m = load(common_ptx);
    CUdeviceptr flag = new_ints(2), out = flag + 4;
    OK(LAUNCH(get(m, "spin"), 1, 1, NULL, &flag, &out));
  } else if (!strcmp(mode, "endless")) {  // until it is interrupted
    use(2);
    CUmodule m = load(common_ptx);
    CUdeviceptr flag = new_ints(2), out = flag + 4;
    OK(LAUNCH(get(m, "spin"), 1, 1, NULL, &flag, &out));
    puts("spinning");
    OK(cuCtxSynchronize());
  } else if (!strcmp(mode, "fault")) {
    use(2);
    CUmodule m = load(common_ptx);
    OK(cuLaunchKernel(get(m, "bad"), 3, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    EXPECT(cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
  }
  return finish();
}
