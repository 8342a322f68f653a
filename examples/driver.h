/* The few functions of the CUDA driver API that the plain C hosts use, found at run time, so that neither nvcc nor the
 * CUDA headers are needed. Include in one file of the program only. */
#ifndef EXAMPLE_DRIVER_H
#define EXAMPLE_DRIVER_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef uint64_t DevicePointer;

static int (*cuInit)(unsigned flags);
static int (*cuDeviceGet)(int *device, int ordinal);
static int (*cuDevicePrimaryCtxRetain)(void **context, int device);
static int (*cuCtxSetCurrent)(void *context);
static int (*cuCtxSynchronize)(void);
static int (*cuModuleLoadData)(void **module, const void *image);
static int (*cuModuleGetFunction)(void **function, void *module, const char *name);
static int (*cuMemAlloc)(DevicePointer *pointer, size_t size);
static int (*cuMemFree)(DevicePointer pointer);
static int (*cuMemcpyHtoD)(DevicePointer to, const void *from, size_t size);
static int (*cuMemcpyDtoH)(void *to, DevicePointer from, size_t size);
static int (*cuMemcpyDtoD)(DevicePointer to, DevicePointer from, size_t size);
static int (*cuMemsetD32)(DevicePointer to, unsigned value, size_t count);
static int (*cuGetErrorString)(int status, const char **text);
static int (*cuLaunchKernel)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                             unsigned block_y, unsigned block_z, unsigned shared_size, void *stream, void **parameters,
                             void **extra);

/* Name in this file, name in the library. */
#define DRIVER_FUNCTIONS(F) \
    F(cuInit, "cuInit") \
    F(cuDeviceGet, "cuDeviceGet") \
    F(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain") \
    F(cuCtxSetCurrent, "cuCtxSetCurrent") \
    F(cuCtxSynchronize, "cuCtxSynchronize") \
    F(cuModuleLoadData, "cuModuleLoadData") \
    F(cuModuleGetFunction, "cuModuleGetFunction") \
    F(cuMemAlloc, "cuMemAlloc_v2") \
    F(cuMemFree, "cuMemFree_v2") \
    F(cuMemcpyHtoD, "cuMemcpyHtoD_v2") \
    F(cuMemcpyDtoH, "cuMemcpyDtoH_v2") \
    F(cuMemcpyDtoD, "cuMemcpyDtoD_v2") \
    F(cuMemsetD32, "cuMemsetD32_v2") \
    F(cuGetErrorString, "cuGetErrorString") \
    F(cuLaunchKernel, "cuLaunchKernel")

static inline void driver_must(int status, const char *what)
{
    const char *text = NULL;
    if (status == 0)
        return;
    if (cuGetErrorString)
        cuGetErrorString(status, &text);
    fprintf(stderr, "%s: %s (%d)\n", what, text ? text : "error", status);
    exit(1);
}

/* Opens the driver and makes the first device's context current. */
static inline void driver_open(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        fprintf(stderr, "no CUDA driver: %s\n", dlerror());
        exit(1);
    }
#define FIND(variable, name) \
    *(void **)&variable = dlsym(library, name); \
    if (!variable) { \
        fprintf(stderr, "the CUDA driver has no " name "\n"); \
        exit(1); \
    }
    DRIVER_FUNCTIONS(FIND)
#undef FIND
    int device;
    void *context;
    driver_must(cuInit(0), "cuInit");
    driver_must(cuDeviceGet(&device, 0), "cuDeviceGet");
    driver_must(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    driver_must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

/* Loads a PTX file. */
static inline void *driver_load(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = (char *)malloc((size_t)size + 1);
    if (!text || fread(text, 1, (size_t)size, file) != (size_t)size) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    text[size] = 0;
    fclose(file);
    void *module;
    driver_must(cuModuleLoadData(&module, text), path);
    free(text);
    return module;
}

static inline void *driver_kernel(void *module, const char *name)
{
    void *function;
    driver_must(cuModuleGetFunction(&function, module, name), name);
    return function;
}

static inline DevicePointer driver_allocate(size_t size)
{
    DevicePointer pointer;
    driver_must(cuMemAlloc(&pointer, size), "cuMemAlloc");
    return pointer;
}

#endif
