// Waves on a pond: each cell is a struct, and its neighbours push it.
#include "../../../examples/example.h"

#define WIDTH 96
#define HEIGHT 64
#define STEPS 10

struct Cell {
    float height, vx, vy;
    int wet;
};
struct Grid {
    Cell *cells;
    int w, h;
};

__device__ int place(const Grid &g, int x, int y) { return y * g.w + x; }

__global__ void drop(Grid g, int cx, int cy)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int dx = x - cx, dy = y - cy;
    Cell c = {dx * dx + dy * dy < 16 ? 2.0f : 1.0f, 0, 0, 1};
    g.cells[place(g, x, y)] = c;
}

__global__ void flow(Grid next, Grid now, float dt)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    Cell c = now.cells[place(now, x, y)];
    if (x > 0 && y > 0 && x < now.w - 1 && y < now.h - 1) {
        float above = now.cells[place(now, x, y - 1)].height;
        float below = now.cells[place(now, x, y + 1)].height;
        c.vx += dt * (now.cells[place(now, x - 1, y)].height -
                      now.cells[place(now, x + 1, y)].height);
        c.vy += dt * (above - below);
        c.height += dt * (now.cells[place(now, x - 1, y)].vx - now.cells[place(now, x + 1, y)].vx);
        c.height += dt * (now.cells[place(now, x, y - 1)].vy - now.cells[place(now, x, y + 1)].vy);
    }
    next.cells[place(next, x, y)] = c;
}

int main(void)
{
    static Cell result[WIDTH * HEIGHT];
    Grid now = {0, WIDTH, HEIGHT}, next = {0, WIDTH, HEIGHT};
    must(cudaMalloc(&now.cells, sizeof result), "cudaMalloc");
    must(cudaMalloc(&next.cells, sizeof result), "cudaMalloc");
    dim3 block(16, 8), grid(WIDTH / 16, HEIGHT / 8);
    drop<<<grid, block>>>(now, 48, 32);
    for (int i = 0; i < STEPS; i++) {
        flow<<<grid, block>>>(next, now, 0.1f);
        Grid t = now;
        now = next;
        next = t;
    }
    must_finish("flow");
    must(cudaMemcpy(result, now.cells, sizeof result, cudaMemcpyDeviceToHost), "copy to the host");
    for (int y = HEIGHT / 2; y < HEIGHT - 1; y++)
        for (int x = 1; x < WIDTH - 1; x++) {
            float h = result[y * WIDTH + x].height;
            float mirror = result[(HEIGHT - y) * WIDTH + x].height;
            if (fabsf(h - mirror) > 1e-4f) {
                printf("WRONG: cells[%d] has height %g, its mirror image %g\n", y * WIDTH + x, h,
                       mirror);
                return 0;
            }
        }
    printf("right: the wave is its own mirror image\n");
    return 0;
}
