// Each row gets mean 0 and variance 1; a block for each row.
#include "../../../examples/example.h"

#include <math.h>

#define COLUMNS 128
#define ROWS 6

__device__ float sum_of_block(float *s, float mine)
{
    int t = threadIdx.x;
    s[t] = mine;
    __syncthreads();
    for (int d = COLUMNS / 2; d > 0; d /= 2) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    float sum = s[0];
    __syncthreads(); // before s is used again
    return sum;
}

__global__ void normalise(float *out, const float *in)
{
    __shared__ float s[COLUMNS];
    int i = blockIdx.x * COLUMNS + threadIdx.x;
    float x = in[i];
    float mean = sum_of_block(s, x) / COLUMNS;
    float apart = x - mean;
    float variance = sum_of_block(s, apart * apart) / COLUMNS;
    out[i] = apart * rsqrtf(variance + 1e-5f);
}

int main(void)
{
    static float rows[ROWS * COLUMNS], got[ROWS * COLUMNS];
    unsigned seed = 3;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        rows[i] = 40.0f + (float)(next_random(&seed) % 21);
    float *in, *out;
    must(cudaMalloc(&in, sizeof rows), "cudaMalloc");
    must(cudaMalloc(&out, sizeof rows), "cudaMalloc");
    must(cudaMemcpy(in, rows, sizeof rows, cudaMemcpyHostToDevice), "copy to the device");
    normalise<<<ROWS, COLUMNS>>>(out, in);
    must_finish("normalise");
    must(cudaMemcpy(got, out, sizeof rows, cudaMemcpyDeviceToHost), "copy to the host");
    for (int row = 0; row < ROWS; row++) {
        double sum = 0.0, squares = 0.0;
        for (int i = row * COLUMNS; i < (row + 1) * COLUMNS; i++) {
            sum += rows[i];
            squares += (double)rows[i] * rows[i];
        }
        double mean = sum / COLUMNS, variance = squares / COLUMNS - mean * mean;
        for (int i = row * COLUMNS; i < (row + 1) * COLUMNS; i++) {
            double right = (rows[i] - mean) / sqrt(variance);
            if (fabs(got[i] - right) > 0.25) {
                printf("WRONG: out[%d] is %.3f instead of %.3f\n", i, got[i], right);
                return 0;
            }
        }
    }
    printf("right: every row has mean 0 and variance 1\n");
    return 0;
}
