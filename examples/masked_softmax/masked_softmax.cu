/* Softmax of partly masked rows. One bug: see README.md. */
#include "../example.h"

#include <math.h>

#define ROWS 64
#define COLUMNS 128

/* One block of COLUMNS threads for each row; positions from `visible[row]` on do not count. */
__global__ void softmax(float *out, const float *in, const int *visible)
{
    __shared__ float values[COLUMNS];
    int row = blockIdx.x, column = threadIdx.x;
    float score = column < visible[row] ? in[row * COLUMNS + column] * 0.125f : -INFINITY;
    values[column] = score;
    __syncthreads();
    for (int step = COLUMNS / 2; step > 0; step /= 2) {
        if (column < step)
            values[column] = fmaxf(values[column], values[column + step]);
        __syncthreads();
    }
    float largest = values[0];
    __syncthreads();
    /* bug: in a row that is masked completely this is -inf minus -inf */
    float weight = expf(score - largest);
    values[column] = weight;
    __syncthreads();
    for (int step = COLUMNS / 2; step > 0; step /= 2) {
        if (column < step)
            values[column] += values[column + step];
        __syncthreads();
    }
    out[row * COLUMNS + column] = weight / values[0];
}

int main(void)
{
    static float in[ROWS * COLUMNS], out[ROWS * COLUMNS];
    static int visible[ROWS];
    unsigned random = 1;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        in[i] = (float)(next_random(&random) % 1000) / 100.0f - 5.0f;
    for (int i = 0; i < ROWS; i++)
        visible[i] = i % 20 == 13 ? 0 : 1 + i * 2; /* some rows see nothing */
    float *d_in, *d_out;
    int *d_visible;
    must(cudaMalloc(&d_in, sizeof in), "cudaMalloc");
    must(cudaMalloc(&d_out, sizeof out), "cudaMalloc");
    must(cudaMalloc(&d_visible, sizeof visible), "cudaMalloc");
    must(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice), "copy to the device");
    must(cudaMemcpy(d_visible, visible, sizeof visible, cudaMemcpyHostToDevice), "copy to the device");
    softmax<<<ROWS, COLUMNS>>>(d_out, d_in, d_visible);
    must_finish("softmax");
    must(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost), "copy to the host");
    must(cudaFree(d_in), "cudaFree");
    must(cudaFree(d_out), "cudaFree");
    must(cudaFree(d_visible), "cudaFree");

    int sum_is_one = 0, all_zero = 0, not_a_number = 0;
    for (int row = 0; row < ROWS; row++) {
        double sum = 0;
        for (int column = 0; column < COLUMNS; column++)
            sum += out[row * COLUMNS + column];
        not_a_number += sum != sum;
        all_zero += sum == 0;
        sum_is_one += sum > 0.999 && sum < 1.001;
    }
    printf("rows: %d sum to 1, %d are zero, %d are not a number\n", sum_is_one, all_zero, not_a_number);
    return 0;
}
