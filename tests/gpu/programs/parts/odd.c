// odd WAY: a driver-API program that behaves in an unusual way; tests/gpu/trouble.sh.
//   plain    only the work        close    closes every file it does not know first
//   daemon   its child works on after it has ended; the result goes to the file named next
//   threads  ends with _exit while other threads launch        vfork    starts a program with vfork
//   in between
#include <cuda.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../gpu_test.h"

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry add(.param .u64 p, .param .u32 v) {\n .reg .b64 %rd<3>; .reg .b32 %r<5>;\n "
    "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v];\n"
    " cvta.to.global.u64 %rd2, %rd1; atom.global.add.u32 %r2, [%rd2], %r1; ret;\n}\n";
static CUfunction f;
static CUdeviceptr out;
static CUcontext context;
static void start(void) {
  CUdevice d;
  CUmodule m;
  CU(cuInit(0));
  CU(cuDeviceGet(&d, 0));
  CU(cuDevicePrimaryCtxRetain(&context, d));
  CU(cuCtxSetCurrent(context));
  CU(cuModuleLoadData(&m, ptx));
  CU(cuModuleGetFunction(&f, m, "add"));
  CU(cuMemAlloc(&out, 4));
  CU(cuMemsetD32(out, 0, 1));
}
static unsigned work(void) {
  unsigned v = 3, r = 0;
  void *args[] = {&out, &v};
  for (int i = 0; i < 10; i++) CU(cuLaunchKernel(f, 2, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
  CU(cuMemcpyDtoH(&r, out, 4));
  return r;
}
static void *launch_for_ever(void *unused) {
  cuCtxSetCurrent(context);
  unsigned v = 1;
  void *args[] = {&out, &v};
  for (;;) if (cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL) != CUDA_SUCCESS) pause();
  return unused;
}
int main(int argc, char **argv) {
  const char *way = argc > 1 ? argv[1] : "plain";
  if (!strcmp(way, "close")) for (int fd = 3; fd < 1024; fd++) close(fd);
  if (!strcmp(way, "daemon")) {
    if (fork()) return 0;
    setsid();
    usleep(400000);
  }
  start();
  unsigned r = work();
  if (!strcmp(way, "vfork")) {
    pid_t p = vfork();
    if (p == 0) { execl("/bin/true", "true", (char *)NULL); _exit(9); }
    int status;
    EXPECT(waitpid(p, &status, 0) == p && status == 0);
    r = work() - r;
  }
  if (!strcmp(way, "threads")) {
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, launch_for_ever, NULL);
    usleep(20000);
    printf("%u\n", r);
    fflush(stdout);
    _exit(4);
  }
  EXPECT(r == 1920);
  if (!strcmp(way, "daemon")) {
    FILE *file = fopen(argv[2], "w");
    fprintf(file, "%u\n", r);
    return fclose(file);
  }
  printf("%u\n", r);
  return finish();
}
