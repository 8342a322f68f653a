/* An ordinary program that touches the device once and ends. */
#include <cuda_runtime.h>

int main(void)
{
    return cudaFree(0) == cudaSuccess ? 0 : 1;
}
