/* Gram-Schmidt: makes the columns of a matrix orthonormal. One bug: see README.md. */
#include "../example.h"

#include <math.h>

#define ROWS 256
#define COLUMNS 16

/* The length of column k. */
__global__ void length(float *r, const float *a, int k)
{
    if (threadIdx.x != 0)
        return;
    float sum = 0.0f;
    for (int i = 0; i < ROWS; i++)
        sum += a[i * COLUMNS + k] * a[i * COLUMNS + k];
    r[k * COLUMNS + k] = sqrtf(sum);
}

__global__ void scale(float *q, const float *a, const float *r, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    q[i * COLUMNS + k] = a[i * COLUMNS + k] / r[k * COLUMNS + k]; /* bug: a column of zeros has the length 0 */
}

/* Subtracts from the columns after column k their component along it. */
__global__ void subtract(float *a, float *r, const float *q, int k)
{
    int j = threadIdx.x;
    if (j <= k || j >= COLUMNS)
        return;
    float along = 0.0f;
    for (int i = 0; i < ROWS; i++)
        along += q[i * COLUMNS + k] * a[i * COLUMNS + j];
    r[k * COLUMNS + j] = along;
    for (int i = 0; i < ROWS; i++)
        a[i * COLUMNS + j] -= q[i * COLUMNS + k] * along;
}

int main(void)
{
    static float a[ROWS * COLUMNS], q[ROWS * COLUMNS];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            a[i * COLUMNS + j] = j == 5 ? 0.0f : (float)((i * (j + 3)) % 31 + (i == j) * 7) / 31.0f; /* column 5 is zero */
    float *d_a, *d_q, *d_r;
    must(cudaMalloc(&d_a, sizeof a), "cudaMalloc");
    must(cudaMalloc(&d_q, sizeof q), "cudaMalloc");
    must(cudaMalloc(&d_r, COLUMNS * COLUMNS * sizeof(float)), "cudaMalloc");
    must(cudaMemset(d_r, 0, COLUMNS * COLUMNS * sizeof(float)), "cudaMemset");
    must(cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice), "copy to the device");
    for (int k = 0; k < COLUMNS; k++) {
        length<<<1, 32>>>(d_r, d_a, k);
        scale<<<ROWS / 64, 64>>>(d_q, d_a, d_r, k);
        subtract<<<1, 32>>>(d_a, d_r, d_q, k);
    }
    must_finish("Gram-Schmidt");
    must(cudaMemcpy(q, d_q, sizeof q, cudaMemcpyDeviceToHost), "copy to the host");
    must(cudaFree(d_a), "cudaFree");
    must(cudaFree(d_q), "cudaFree");
    must(cudaFree(d_r), "cudaFree");

    int unit = 0, zero = 0, not_a_number = 0;
    for (int j = 0; j < COLUMNS; j++) {
        double sum = 0;
        for (int i = 0; i < ROWS; i++)
            sum += (double)q[i * COLUMNS + j] * q[i * COLUMNS + j];
        not_a_number += sum != sum;
        zero += sum == 0;
        unit += sum > 0.99 && sum < 1.01;
    }
    printf("columns: %d of length 1, %d zero, %d not a number\n", unit, zero, not_a_number);
    return 0;
}
