// Scores of samples; between two rounds some of the weights change.
#include "../../../examples/example.h"

#define SAMPLES 512
#define WEIGHTS 64
#define FIRST 16
#define CHANGED 32

__global__ void score(float *scores, const float *samples, const float *weights, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.0f;
    for (int k = 0; k < m; k++)
        sum += samples[k * n + i] * weights[k];
    scores[i] = sum;
}

static void update(float *to, const float *from, size_t first, size_t count)
{
    must(cudaMemcpy(to + first, from + first, count * sizeof *to, cudaMemcpyHostToDevice),
         "copy of weights");
}

int main(void)
{
    static float data[SAMPLES * WEIGHTS], w[WEIGHTS], got[SAMPLES];
    unsigned seed = 5;
    for (int i = 0; i < SAMPLES * WEIGHTS; i++)
        data[i] = (float)(next_random(&seed) % 8);
    for (int k = 0; k < WEIGHTS; k++)
        w[k] = 1.0f;
    float *samples, *weights, *scores;
    must(cudaMalloc(&samples, sizeof data), "cudaMalloc");
    must(cudaMalloc(&weights, sizeof w), "cudaMalloc");
    must(cudaMalloc(&scores, sizeof got), "cudaMalloc");
    must(cudaMemcpy(samples, data, sizeof data, cudaMemcpyHostToDevice), "copy of samples");
    must(cudaMemcpy(weights, w, sizeof w, cudaMemcpyHostToDevice), "copy of weights");
    score<<<SAMPLES / 64, 64>>>(scores, samples, weights, SAMPLES, WEIGHTS);
    for (int k = FIRST; k < FIRST + CHANGED; k++)
        w[k] = 3.0f;
    update(weights, w, FIRST, CHANGED);
    score<<<SAMPLES / 64, 64>>>(scores, samples, weights, SAMPLES, WEIGHTS);
    must_finish("score");
    must(cudaMemcpy(got, scores, sizeof got, cudaMemcpyDeviceToHost), "copy of scores");
    for (int i = 0; i < SAMPLES; i++) {
        float right = 0.0f;
        for (int k = 0; k < WEIGHTS; k++)
            right += data[k * SAMPLES + i] * w[k];
        if (got[i] != right) {
            printf("WRONG: scores[%d] is %g instead of %g\n", i, got[i], right);
            return 0;
        }
    }
    printf("right: all scores\n");
    return 0;
}
