/* Fills an array: the correct twin of overrun.cu. */
#include "../example.h"

#define COUNT 1000

__global__ void fill(int *d, int n)
{
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    for (int i = tid; i < n; i += blockDim.x * gridDim.x)
        d[i] = i;
}

int main(void)
{
    static int host[COUNT];
    int *d;
    must(cudaMalloc(&d, sizeof host), "cudaMalloc");
    fill<<<2, 128>>>(d, COUNT);
    must_finish("fill");
    must(cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost), "copy to the host");
    must(cudaFree(d), "cudaFree");

    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += host[i] != i;
    printf("%d elements filled, %d wrong\n", COUNT, wrong);
    return 0;
}
