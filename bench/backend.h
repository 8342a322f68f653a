/* The device functions that the benchmark cases (cases.c) use; backend_cuda.c and backend_opencl.c
 * provide them. */
#ifndef BENCH_BACKEND_H
#define BENCH_BACKEND_H

#include <stddef.h>
#include <stdint.h>

typedef union Buffer {
    uint64_t address; /* CUDA */
    void *object;     /* OpenCL */
} Buffer;

typedef struct Argument {
    void *value;
    size_t size;
} Argument;

void backend_open(void);
void *backend_kernel(const char *folder, const char *name);
Buffer backend_allocate(size_t size);
void backend_free(Buffer buffer);
void backend_write(Buffer buffer, const void *from, size_t size);
void backend_read(void *to, Buffer buffer, size_t size);
/* A grid of blocks x blocks_y blocks, each of threads x threads_y threads; returns when it has
 * ended. */
void backend_run(void *kernel, size_t blocks, size_t blocks_y, size_t threads, size_t threads_y,
                 Argument *arguments, int count);

#endif
