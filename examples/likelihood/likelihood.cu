/* How likely sequences are: the product of many probabilities. One bug: see README.md. */
#include "../example.h"

#include <math.h>

#define SEQUENCES 256
#define LENGTH 100

/* One thread for each sequence. */
__global__ void likelihood(float *out, const float *probabilities)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    float product = 1.0f;
    for (int k = 0; k < LENGTH; k++)
        product *= probabilities[id * LENGTH + k]; /* bug: too small for a float in the end */
    out[id] = logf(product);
}

int main(void)
{
    static float probabilities[SEQUENCES * LENGTH], out[SEQUENCES];
    for (int i = 0; i < SEQUENCES; i++)
        for (int k = 0; k < LENGTH; k++) /* most sequences are likely, a few are not */
            probabilities[i * LENGTH + k] = i % 64 == 3 ? 0.3f : 0.95f;
    float *d_probabilities, *d_out;
    must(cudaMalloc(&d_probabilities, sizeof probabilities), "cudaMalloc");
    must(cudaMalloc(&d_out, sizeof out), "cudaMalloc");
    must(cudaMemcpy(d_probabilities, probabilities, sizeof probabilities, cudaMemcpyHostToDevice), "copy to the device");
    likelihood<<<SEQUENCES / 64, 64>>>(d_out, d_probabilities);
    must_finish("likelihood");
    must(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost), "copy to the host");
    must(cudaFree(d_probabilities), "cudaFree");
    must(cudaFree(d_out), "cudaFree");

    int finite = 0;
    for (int i = 0; i < SEQUENCES; i++)
        finite += isfinite(out[i]) != 0;
    printf("%d of %d likelihoods are finite\n", finite, SEQUENCES);
    return 0;
}
