/* A device function that all threads of a block must call. One bug: see README.md. */
#include "../example.h"

#define VALUES 128
#define ITEMS 300
#define THREADS 128
#define ROUNDS ((ITEMS + THREADS - 1) / THREADS)

/* Copies the block's answer to global memory. All threads of the block must call it: they share the work. */
__device__ void copy_out(int *out, const int *values)
{
    for (int i = threadIdx.x; i < VALUES; i += blockDim.x)
        out[i] = values[i];
}

/* Each round handles THREADS items and leaves a copy of the answer. */
__global__ void process(int *out, int *work, int items)
{
    __shared__ int values[VALUES];
    for (int i = threadIdx.x; i < VALUES; i += blockDim.x)
        values[i] = 1000 + i;
    __syncthreads();

    int round = 0;
    for (int t = threadIdx.x; t < items; t += blockDim.x, round++) {
        work[t] = 2 * t;
        copy_out(&out[round * VALUES], values); /* bug: in the last round only the threads with t < items are here */
    }
}

int main(void)
{
    static int out[ROUNDS * VALUES];
    int *d_out, *d_work;
    must(cudaMalloc(&d_out, sizeof out), "cudaMalloc");
    must(cudaMalloc(&d_work, ITEMS * sizeof(int)), "cudaMalloc");
    must(cudaMemset(d_out, 0, sizeof out), "cudaMemset");
    process<<<1, THREADS>>>(d_out, d_work, ITEMS);
    must_finish("process");
    must(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost), "copy to the host");
    must(cudaFree(d_out), "cudaFree");
    must(cudaFree(d_work), "cudaFree");

    for (int round = 0; round < ROUNDS; round++) {
        int copied = 0;
        for (int i = 0; i < VALUES; i++)
            copied += out[round * VALUES + i] == 1000 + i;
        printf("round %d: %d of %d values copied\n", round, copied, VALUES);
    }
    return 0;
}
