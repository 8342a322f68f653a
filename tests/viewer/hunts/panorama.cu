// A panorama is made twice as wide, with positions in fixed point: 16 bits of fraction.
#include "../../../examples/example.h"

#define SOURCE 36000
#define WIDTH 72000
#define HEIGHT 4

__global__ void widen(unsigned char *dst, const unsigned char *src, int from, int to,
                      int h, int step)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= to || y >= h)
        return;
    int column = (x * step) >> 16;
    column = min(max(column, 0), from - 1);
    dst[y * to + x] = src[y * from + column];
}

static unsigned char colour(int x, int y) { return (unsigned char)(1 + (x / 100 + 7 * y) % 250); }

int main(void)
{
    static unsigned char narrow[SOURCE * HEIGHT], wide[WIDTH * HEIGHT];
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < SOURCE; x++)
            narrow[y * SOURCE + x] = colour(x, y);
    unsigned char *src, *dst;
    must(cudaMalloc(&src, sizeof narrow), "cudaMalloc");
    must(cudaMalloc(&dst, sizeof wide), "cudaMalloc");
    must(cudaMemcpy(src, narrow, sizeof narrow, cudaMemcpyHostToDevice), "copy to the device");
    int step = (int)(((long long)SOURCE << 16) / WIDTH);
    widen<<<dim3((WIDTH + 63) / 64, HEIGHT / 2), dim3(64, 2)>>>(dst, src, SOURCE, WIDTH,
                                                                  HEIGHT, step);
    must_finish("widen");
    must(cudaMemcpy(wide, dst, sizeof wide, cudaMemcpyDeviceToHost), "copy to the host");
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        unsigned char right = colour(i % WIDTH / 2, i / WIDTH);
        if (wide[i] != right) {
            printf("WRONG: dst[%d] is %d instead of %d\n", i, wide[i], right);
            return 0;
        }
    }
    printf("right: every pixel is there\n");
    return 0;
}
