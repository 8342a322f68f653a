/* Bilateral filter over a 7x7 window. One bug: see README.md. */
#include "../example.h"

#include <math.h>

#define WIDTH 128
#define HEIGHT 96
#define RADIUS 3

__global__ void denoise(float *dst, int *samples, const float *src, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float centre = src[y * w + x], sum = 0.0f, weights = 0.0f;
    int seen = 0;
    for (int i = -RADIUS; i <= RADIUS; i++) {
        for (int j = -RADIUS; i <= RADIUS; i++) { /* bug: i instead of j, twice */
            float c = src[min(max(y + i, 0), h - 1) * w + min(max(x + j, 0), w - 1)];
            float apart = c - centre;
            float weight = expf(-(i * i + j * j) / 18.0f - apart * apart / 3200.0f);
            sum += weight * c;
            weights += weight;
            seen++;
        }
    }
    dst[y * w + x] = sum / weights;
    samples[y * w + x] = seen;
}

/* The picture without noise: a bright disc on a dark ground. */
static float ideal(int x, int y)
{
    int dx = x - WIDTH / 2, dy = y - HEIGHT / 2;
    return dx * dx + dy * dy < 900 ? 180.0f : 60.0f;
}

static double noise_of(const float *picture)
{
    double sum = 0.0;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            double off = picture[y * WIDTH + x] - ideal(x, y);
            sum += off * off;
        }
    return sqrt(sum / (WIDTH * HEIGHT));
}

int main(void)
{
    static float noisy[WIDTH * HEIGHT], clean[WIDTH * HEIGHT];
    static int samples[WIDTH * HEIGHT];
    unsigned seed = 7;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            noisy[y * WIDTH + x] = ideal(x, y) + (float)(next_random(&seed) % 41) - 20.0f;

    float *src, *dst;
    int *d_samples;
    must(cudaMalloc(&src, sizeof noisy), "cudaMalloc");
    must(cudaMalloc(&dst, sizeof noisy), "cudaMalloc");
    must(cudaMalloc(&d_samples, sizeof samples), "cudaMalloc");
    must(cudaMemcpy(src, noisy, sizeof noisy, cudaMemcpyHostToDevice), "copy to the device");
    denoise<<<dim3((WIDTH + 15) / 16, (HEIGHT + 7) / 8), dim3(16, 8)>>>(dst, d_samples, src, WIDTH, HEIGHT);
    must_finish("denoise");
    must(cudaMemcpy(clean, dst, sizeof clean, cudaMemcpyDeviceToHost), "copy to the host");
    must(cudaMemcpy(samples, d_samples, sizeof samples, cudaMemcpyDeviceToHost), "copy to the host");
    must(cudaFree(src), "cudaFree");
    must(cudaFree(dst), "cudaFree");
    must(cudaFree(d_samples), "cudaFree");

    printf("samples for each pixel: %d\n", samples[WIDTH * HEIGHT / 2]);
    printf("noise before: %.1f, after: %.1f\n", noise_of(noisy), noise_of(clean));
    return 0;
}
