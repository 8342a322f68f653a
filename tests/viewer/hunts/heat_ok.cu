// Heat spreads over a plate from a hot spot in its middle, tile by tile.
#include "../../../examples/example.h"

#define BX 16
#define BY 8
#define WIDTH 64
#define HEIGHT 48
#define STEPS 12

__global__ void spread(float *out, const float *in, int w, int h)
{
    __shared__ float tile[BY + 2][BX + 2];
    int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    tile[ty][tx] = in[y * w + x];
    if (threadIdx.x == 0)
        tile[ty][0] = in[y * w + max(x - 1, 0)];
    if (threadIdx.x == BX - 1)
        tile[ty][BX + 1] = in[y * w + min(x + 1, w - 1)];
    if (threadIdx.y == 0)
        tile[0][tx] = in[max(y - 1, 0) * w + x];
    if (threadIdx.y == BY - 1)
        tile[BY + 1][tx] = in[min(y + 1, h - 1) * w + x];
    __syncthreads();
    float sum = tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx];
    out[y * w + x] = 0.5f * tile[ty][tx] + 0.125f * sum;
}

int main(void)
{
    static float plate[WIDTH * HEIGHT];
    for (int y = HEIGHT / 2 - 4; y < HEIGHT / 2 + 4; y++)
        for (int x = WIDTH / 2 - 14; x < WIDTH / 2 + 14; x++)
            plate[y * WIDTH + x] = 100.0f;
    float *now, *next;
    must(cudaMalloc(&now, sizeof plate), "cudaMalloc");
    must(cudaMalloc(&next, sizeof plate), "cudaMalloc");
    must(cudaMemcpy(now, plate, sizeof plate, cudaMemcpyHostToDevice), "copy to the device");
    for (int i = 0; i < STEPS; i += 2) {
        spread<<<dim3(WIDTH / BX, HEIGHT / BY), dim3(BX, BY)>>>(next, now, WIDTH, HEIGHT);
        spread<<<dim3(WIDTH / BX, HEIGHT / BY), dim3(BX, BY)>>>(now, next, WIDTH, HEIGHT);
    }
    must_finish("spread");
    must(cudaMemcpy(plate, now, sizeof plate, cudaMemcpyDeviceToHost), "copy to the host");

    // The hot spot is symmetric, so the result must be.
    int worst = 0;
    float most = 0.0f;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        float apart = plate[i] - plate[i / WIDTH * WIDTH + WIDTH - 1 - i % WIDTH];
        if (apart < 0.0f && -apart > most) {
            most = -apart;
            worst = i;
        }
    }
    int mirror = worst / WIDTH * WIDTH + WIDTH - 1 - worst % WIDTH;
    if (most > 1e-3f)
        printf("WRONG: now[%d] is %g, its mirror image now[%d] is %g\n", worst, plate[worst],
               mirror, plate[mirror]);
    else
        printf("right: the plate is symmetric\n");
    return 0;
}
