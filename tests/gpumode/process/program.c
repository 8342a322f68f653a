// What processes, threads and libraries do around a driver that is loaded at the first call: one
// case for each word.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>

#include "driver_test.h"

static void use_device(void) {
  CUdevice device;
  CUcontext ctx;
  OK(cuInit(0));
  OK(cuDeviceGet(&device, 0));
  OK(cuCtxCreate_v2(&ctx, 0, device));
  CUmodule m = load(common_ptx);
  CUfunction fill = get(m, "fill");
  CUdeviceptr p = new_ints(32);
  OK(LAUNCH(fill, 1, 32, NULL, &p, &(unsigned){5}));
  EXPECT(read_int(p + 124) == 5);
}

static int exit_code(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void *first_call(void *count) {
  int devices = 0;
  OK(cuInit(0));
  OK(cuDeviceGetCount(&devices));
  *(int *)count = devices;
  return NULL;
}

static void use_primary_context(void) {
  CUcontext ctx;
  OK(cuInit(0));
  for (int i = 0; i < 3; i++) {
    OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    OK(cuCtxSetCurrent(ctx));
    CUfunction fill = get(load(common_ptx), "fill");
    CUdeviceptr p = new_ints(32);
    OK(LAUNCH(fill, 1, 32, NULL, &p, &(unsigned){5}));
    EXPECT(read_int(p) == 5);
    if (i == 0) OK(cuDevicePrimaryCtxReset_v2(0));
    if (i == 1) OK(cuDevicePrimaryCtxRelease_v2(0));
  }
}

int main(int argc, char **argv) {
  const char *word = argc > 1 ? argv[1] : "";
  // both names of the library, opened by name, are the one that is preloaded
  if (!strcmp(word, "names")) {
    void *one = dlopen("libcuda.so.1", RTLD_NOW), *other = dlopen("libcuda.so", RTLD_NOW);
    EXPECT(one && other && dlsym(one, "cuInit") == (void *)cuInit &&
           dlsym(other, "cuInit") == (void *)cuInit);
    use_device();
  } else if (!strcmp(word, "threads")) {  // all of them make the first call
    enum { THREADS = 16 };
    pthread_t t[THREADS];
    int counts[THREADS] = {0};
    for (int i = 0; i < THREADS; i++) pthread_create(&t[i], NULL, first_call, &counts[i]);
    for (int i = 0; i < THREADS; i++) {
      pthread_join(t[i], NULL);
      EXPECT(counts[i] == 1);
    }
    use_device();
  } else if (!strcmp(word, "plugin")) {  // a library whose constructor makes the first call
    EXPECT(dlopen(argv[2], RTLD_NOW | RTLD_LOCAL) != NULL);
    use_device();
  } else if (!strcmp(word, "fork_before")) {  // the child is a CUDA program of its own
    pid_t pid = fork();
    use_device();
    if (!pid) exit(failures ? 1 : 7);
    EXPECT(exit_code(pid) == 7);
  } else if (!strcmp(word, "fork_after")) {  // the child may not use CUDA, and ends in order
    use_device();
    pid_t pid = fork();
    if (!pid) {
      RETURNS(cuCtxSynchronize(), CUDA_ERROR_NOT_INITIALIZED);
      exit(failures ? 1 : 7);
    }
    EXPECT(exit_code(pid) == 7);
    OK(cuCtxSynchronize());
  } else if (!strcmp(word, "exec")) {
    use_device();
    if (failures) return finish();
    execl("/proc/self/exe", argv[0], "names", (char *)NULL);
    return 1;
  } else if (!strcmp(word, "_exit")) {
    use_device();
    finish();
    fflush(stdout);
    _exit(failures != 0);
  } else if (!strcmp(word, "abort")) {
    use_device();
    finish();
    fflush(stdout);
    abort();
  } else if (!strcmp(word, "running")) {  // the program ends while a kernel is waiting for it
    CUdeviceptr flag;
    use_device();
    flag = new_ints(2);
    CUfunction spin = get(load(common_ptx), "spin");
    CUdeviceptr out = flag + 4;
    OK(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&flag, &out}, NULL));
  } else if (!strcmp(word, "primary")) {  // reset, released, used again
    use_primary_context();
  } else if (!strcmp(word, "missing")) {  // with a driver that has a handful of functions
    CUcontext ctx;
    OK(cuInit(0));
    RETURNS(cuCtxGetCurrent(&ctx), CUDA_ERROR_NOT_SUPPORTED);
    RETURNS(cuCtxGetCurrent(&ctx), CUDA_ERROR_NOT_SUPPORTED);
  } else {
    return 2;
  }
  return finish();
}
