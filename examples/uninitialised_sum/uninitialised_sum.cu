/* Sums under a mask. One bug: see README.md. */
#include "../example.h"

#define COUNT 256

/* Thread t adds the elements from t on that the mask selects. */
__global__ void masked_sum(int *out, const int *in, const int *mask, int n)
{
    int sum = 0;
    for (int i = threadIdx.x; i < n; i++)
        if (mask[i])
            sum += in[i];
    out[threadIdx.x] = sum;
}

int main(void)
{
    static int in[COUNT], mask[COUNT], out[COUNT];
    for (int i = 0; i < COUNT; i++) {
        in[i] = i;
        mask[i] = i % 3 == 0;
    }
    int *d_in, *d_mask, *d_out;
    must(cudaMalloc(&d_in, sizeof in), "cudaMalloc");
    must(cudaMalloc(&d_mask, sizeof mask), "cudaMalloc");
    must(cudaMalloc(&d_out, sizeof out), "cudaMalloc");
    must(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice), "copy to the device");
    /* bug: only the upper half of the mask is copied, the lower half was never written */
    must(cudaMemcpy(d_mask + COUNT / 2, mask + COUNT / 2, sizeof mask / 2, cudaMemcpyHostToDevice), "copy to the device");
    masked_sum<<<1, COUNT>>>(d_out, d_in, d_mask, COUNT);
    must_finish("masked_sum");
    must(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost), "copy to the host");
    must(cudaFree(d_in), "cudaFree");
    must(cudaFree(d_mask), "cudaFree");
    must(cudaFree(d_out), "cudaFree");

    int expected = 0, wrong_upper = 0;
    for (int i = COUNT - 1; i >= 0; i--) {
        if (mask[i])
            expected += in[i];
        if (i >= COUNT / 2)
            wrong_upper += out[i] != expected;
    }
    printf("upper half of the sums: %d wrong\n", wrong_upper);
    printf("lower half of the sums: depends on memory that nobody wrote\n");
    return 0;
}
