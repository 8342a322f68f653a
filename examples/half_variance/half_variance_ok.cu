/* Mean and deviation of rows of half-precision numbers. The correct twin. */
#include "../example.h"

#include <cuda_fp16.h>

#define ROWS 32
#define COLUMNS 512

/* One thread for each row. */
__global__ void deviation(float *out, const __half *in)
{
    const __half *row = in + (blockIdx.x * blockDim.x + threadIdx.x) * COLUMNS;
    float sum = 0.0f, squares = 0.0f;
    for (int i = 0; i < COLUMNS; i++)
        sum += __half2float(row[i]);
    float mean = sum / COLUMNS;
    for (int i = 0; i < COLUMNS; i++) {
        float difference = __half2float(row[i]) - mean;
        squares += difference * difference;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sqrtf(squares / COLUMNS);
}

int main(void)
{
    static __half in[ROWS * COLUMNS];
    static float out[ROWS];
    for (int row = 0; row < ROWS; row++)
        for (int i = 0; i < COLUMNS; i++) /* the last rows hold larger numbers */
            in[row * COLUMNS + i] = __float2half((float)((i * 7) % 16) / 4.0f + (row >= ROWS - 3 ? 100.0f : 0.0f));
    __half *d_in;
    float *d_out;
    must(cudaMalloc(&d_in, sizeof in), "cudaMalloc");
    must(cudaMalloc(&d_out, sizeof out), "cudaMalloc");
    must(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice), "copy to the device");
    deviation<<<1, ROWS>>>(d_out, d_in);
    must_finish("deviation");
    must(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost), "copy to the host");
    must(cudaFree(d_in), "cudaFree");
    must(cudaFree(d_out), "cudaFree");

    int right = 0;
    for (int row = 0; row < ROWS; row++)
        right += out[row] > 1.1f && out[row] < 1.2f;
    printf("%d of %d deviations are right\n", right, ROWS);
    return 0;
}
