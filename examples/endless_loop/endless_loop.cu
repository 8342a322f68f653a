/* A loop over an array in steps of all threads. One bug: see README.md. */
// args: 100
#include "../example.h"

#define LENGTH 1000
#define PARTS 4 /* the grid is divided into this many parts, each with its own share of the work */

/* A cap of 0 means none; otherwise a thread gives up after so many steps. */
__global__ void square(int *out, int length, int cap, int *gave_up)
{
    int threads = blockDim.x * (gridDim.x / PARTS); /* bug: 0 when there are fewer blocks than parts */
    int steps = 0;
    for (int i = threadIdx.x; i < length; i += threads) {
        out[i] = i * i;
        if (cap && ++steps >= cap) {
            atomicAdd(gave_up, 1);
            break;
        }
    }
}

int main(int argc, char **argv)
{
    int cap = argc > 1 ? atoi(argv[1]) : 0;
    static int out[LENGTH];
    int stuck = 0, *d_out, *d_stuck;
    must(cudaMalloc(&d_out, sizeof out), "cudaMalloc");
    must(cudaMalloc(&d_stuck, sizeof stuck), "cudaMalloc");
    must(cudaMemset(d_out, 0, sizeof out), "cudaMemset");
    must(cudaMemset(d_stuck, 0, sizeof stuck), "cudaMemset");
    square<<<2, 64>>>(d_out, LENGTH, cap, d_stuck);
    must_finish("square");
    must(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost), "copy to the host");
    must(cudaMemcpy(&stuck, d_stuck, sizeof stuck, cudaMemcpyDeviceToHost), "copy to the host");
    must(cudaFree(d_out), "cudaFree");
    must(cudaFree(d_stuck), "cudaFree");

    int right = 0;
    for (int i = 0; i < LENGTH; i++)
        right += out[i] == i * i;
    printf("%d of %d squares right, %d threads gave up\n", right, LENGTH, stuck);
    return 0;
}
