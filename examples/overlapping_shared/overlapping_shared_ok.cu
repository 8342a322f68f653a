/* Two arrays cut out of the dynamic shared memory: the correct twin of overlapping_shared.cu. */
#include "../example.h"

#define MOST 800

/* Reverses n numbers: the data and the places they go to lie one after the other in the block's shared memory. */
__global__ void reorder(int *out, const int *in, int n)
{
    extern __shared__ int shared[];
    int *s_count = &shared[0];
    int *s_data = &shared[1];
    int *s_place = &s_data[MOST];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        s_data[i] = in[i];
    if (threadIdx.x == 0)
        *s_count = n;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        s_place[i] = *s_count - 1 - i;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[s_place[i]] = s_data[i];
}

static void try_size(int n)
{
    static int in[MOST], out[MOST];
    int *d_in, *d_out;
    for (int i = 0; i < n; i++)
        in[i] = 5000 + 3 * i;
    must(cudaMalloc(&d_in, n * sizeof(int)), "cudaMalloc");
    must(cudaMalloc(&d_out, n * sizeof(int)), "cudaMalloc");
    must(cudaMemcpy(d_in, in, n * sizeof(int), cudaMemcpyHostToDevice), "copy to the device");
    reorder<<<1, 128, (1 + 2 * MOST) * sizeof(int)>>>(d_out, d_in, n);
    must_finish("reorder");
    must(cudaMemcpy(out, d_out, n * sizeof(int), cudaMemcpyDeviceToHost), "copy to the host");
    must(cudaFree(d_in), "cudaFree");
    must(cudaFree(d_out), "cudaFree");

    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += out[i] != in[n - 1 - i];
    printf("%d numbers: %d wrong\n", n, wrong);
}

int main(void)
{
    try_size(400);
    try_size(600);
    try_size(800);
    return 0;
}
