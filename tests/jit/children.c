/* A program that waits for all its children, counts SIGCHLD, and forks: the compiler of the virtual
 * device is no child of it, and a child of it goes on with the code that is there. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../examples/driver.h"

enum { COUNT = 1024 };
static volatile int ended;
static void on_child(int sig) { ended++; }

static void launch(void *kernel, DevicePointer x, DevicePointer y) {
  float a = 2, out[COUNT];
  int n = COUNT;
  void *values[] = {&y, &x, &a, &n};
  for (int i = 0; i < COUNT; i++) out[i] = (float)i;
  driver_must(cuMemcpyHtoD(x, out, sizeof out), "copy");
  driver_must(cuMemcpyHtoD(y, out, sizeof out), "copy");
  driver_must(cuLaunchKernel(kernel, COUNT / 128, 1, 1, 128, 1, 1, 0, NULL, values, NULL),
              "launch");
  driver_must(cuCtxSynchronize(), "synchronize");
  driver_must(cuMemcpyDtoH(out, y, sizeof out), "copy");
  for (int i = 0; i < COUNT; i++)
    if (out[i] != 3 * (float)i) {
      printf("element %d is %g\n", i, out[i]);
      exit(1);
    }
}

int main(int argc, char **argv) {
  signal(SIGCHLD, on_child);
  driver_open();
  void *kernel = driver_kernel(driver_load("bench/ptx/saxpy.ptx"), "saxpy");
  DevicePointer x = driver_allocate(sizeof(float[COUNT])),
                y = driver_allocate(sizeof(float[COUNT]));
  launch(kernel, x, y);
  int status;
  if (waitpid(-1, &status, WNOHANG) != -1 || errno != ECHILD || ended) {
    printf("there is a child that the program did not start\n");
    return 1;
  }
  pid_t child = fork();
  if (child == 0) _exit(7);
  if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7) return 1;
  launch(kernel, x, y);
  return 0;
}
