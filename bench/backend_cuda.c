/* The benchmarks on CUDA: the kept PTX through the driver API, so that nvcc is not needed. */
#include "backend.h"

#include "../examples/driver.h"

void backend_open(void)
{
    driver_open();
}

void *backend_kernel(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/ptx/%s.ptx", folder, name);
    return driver_kernel(driver_load(path), name);
}

Buffer backend_allocate(size_t size)
{
    return (Buffer){.address = driver_allocate(size)};
}

void backend_free(Buffer buffer)
{
    driver_must(cuMemFree(buffer.address), "cuMemFree");
}

void backend_write(Buffer buffer, const void *from, size_t size)
{
    driver_must(cuMemcpyHtoD(buffer.address, from, size), "cuMemcpyHtoD");
}

void backend_read(void *to, Buffer buffer, size_t size)
{
    driver_must(cuMemcpyDtoH(to, buffer.address, size), "cuMemcpyDtoH");
}

void backend_run(void *kernel, size_t blocks, size_t blocks_y, size_t threads, size_t threads_y,
                 Argument *arguments, int count) {
  void *values[8];
  for (int i = 0; i < count; i++) values[i] = arguments[i].value;
  driver_must(cuLaunchKernel(kernel, (unsigned)blocks, (unsigned)blocks_y, 1, (unsigned)threads,
                             (unsigned)threads_y, 1, 0, NULL, values, NULL),
              "cuLaunchKernel");
  driver_must(cuCtxSynchronize(), "cuCtxSynchronize");
}
