// Waves on a torus: what leaves the field on one side comes back on the other.
#include "../../../examples/example.h"

#define WIDTH 48
#define HEIGHT 80
#define TILE 16
#define ROUNDS 2

// Neighbours across the edge of the tile are read from memory, all others from the tile.
__global__ void spread(float *next, const float *now, int w, int h)
{
    __shared__ float tile[TILE + 2][TILE + 2];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    int left = (x + w - 1) % w, right = (x + 1) % w;
    int above = (y + h - 1) % h, below = (y + 1) % w;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    tile[ty][tx] = now[y * w + x];
    if (threadIdx.x == 0)
        tile[ty][0] = now[y * w + left];
    if (threadIdx.x == TILE - 1)
        tile[ty][TILE + 1] = now[y * w + right];
    if (threadIdx.y == 0)
        tile[0][tx] = now[above * w + x];
    if (threadIdx.y == TILE - 1)
        tile[TILE + 1][tx] = now[below * w + x];
    __syncthreads();
    next[y * w + x] = 0.5f * tile[ty][tx] + 0.125f * (tile[ty][tx - 1] + tile[ty][tx + 1] +
                                                      tile[ty - 1][tx] + tile[ty + 1][tx]);
}

static float wrapped(const float *field, int x, int y)
{
    return field[(y + HEIGHT) % HEIGHT * WIDTH + (x + WIDTH) % WIDTH];
}

static void spread_on_host(float *next, const float *now)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            next[y * WIDTH + x] =
                0.5f * now[y * WIDTH + x] +
                0.125f * (wrapped(now, x - 1, y) + wrapped(now, x + 1, y) + wrapped(now, x, y - 1) +
                          wrapped(now, x, y + 1));
}

int main(void)
{
    static float field[ROUNDS + 1][HEIGHT * WIDTH], result[HEIGHT * WIDTH];
    float *now, *next;
    field[0][47 * WIDTH + 20] = 64.0f;
    must(cudaMalloc(&now, sizeof result), "cudaMalloc");
    must(cudaMalloc(&next, sizeof result), "cudaMalloc");
    must(cudaMemcpy(now, field[0], sizeof result, cudaMemcpyHostToDevice), "copy to the device");
    for (int i = 0; i < ROUNDS; i++) {
        spread<<<dim3(WIDTH / TILE, HEIGHT / TILE), dim3(TILE, TILE)>>>(next, now, WIDTH, HEIGHT);
        spread_on_host(field[i + 1], field[i]);
        float *other = now;
        now = next;
        next = other;
    }
    must_finish("spread");
    must(cudaMemcpy(result, now, sizeof result, cudaMemcpyDeviceToHost), "copy to the host");
    for (int i = 0; i < HEIGHT * WIDTH; i++)
        if (result[i] != field[ROUNDS][i]) {
            printf("WRONG: now[%d] is %g instead of %g\n", i, result[i], field[ROUNDS][i]);
            return 0;
        }
    printf("right: all elements are as on the host\n");
    return 0;
}
