/* Helpers of all examples: a CUDA call that fails ends the program, which then names the call. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <stdio.h>
#include <stdlib.h>

static inline void must(cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    exit(1);
}

/* For use right after a kernel launch: reports a launch that failed and waits for the kernel to end. */
static inline void must_finish(const char *kernel)
{
    must(cudaGetLastError(), kernel);
    must(cudaDeviceSynchronize(), kernel);
}

/* A small random generator, so that every machine sees the same numbers. */
static inline unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

#endif
