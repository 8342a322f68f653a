/* half_variance_host PTX: the host part of half_variance.cu in plain C, for machines without nvcc. */
#include "../driver.h"

#define ROWS 32
#define COLUMNS 512

/* The bits of a half that is a multiple of 1/4 between 0 and 128. */
static unsigned short half_of(int quarters)
{
    if (quarters == 0)
        return 0;
    int exponent = 0;
    while (quarters >> (exponent + 1))
        exponent++;
    return (unsigned short)((exponent - 2 + 15) << 10 | ((quarters << (10 - exponent)) & 0x3ff));
}

int main(int argc, char **argv)
{
    static unsigned short in[ROWS * COLUMNS];
    static float out[ROWS];
    if (argc != 2) {
        fprintf(stderr, "usage: %s FILE.ptx\n", argv[0]);
        return 2;
    }
    for (int row = 0; row < ROWS; row++)
        for (int i = 0; i < COLUMNS; i++)
            in[row * COLUMNS + i] = half_of((i * 7) % 16 + (row >= ROWS - 3 ? 400 : 0));
    driver_open();
    void *kernel = driver_kernel(driver_load(argv[1]), "_Z9deviationPfPK6__half");
    DevicePointer d_in = driver_allocate(sizeof in), d_out = driver_allocate(sizeof out);
    driver_must(cuMemcpyHtoD(d_in, in, sizeof in), "copy to the device");
    void *parameters[] = {&d_out, &d_in};
    driver_must(cuLaunchKernel(kernel, 1, 1, 1, ROWS, 1, 1, 0, NULL, parameters, NULL), "deviation");
    driver_must(cuCtxSynchronize(), "deviation");
    driver_must(cuMemcpyDtoH(out, d_out, sizeof out), "copy to the host");
    driver_must(cuMemFree(d_in), "cuMemFree");
    driver_must(cuMemFree(d_out), "cuMemFree");

    int right = 0;
    for (int row = 0; row < ROWS; row++)
        right += out[row] > 1.1f && out[row] < 1.2f;
    printf("%d of %d deviations are right\n", right, ROWS);
    return 0;
}
