// Several variables in the local memory of a kernel and of a function that it calls, compiled with
// -G: debug information says which is where.
#include <stdio.h>

struct Pair {
    int a;
    float b;
};

__device__ __noinline__ float mix(const float *t, int v)
{
    Pair inner[2];
    inner[v & 1].a = v;
    inner[1].b = t[v & 3];
    inner[0].b = 1.0f;
    return inner[v & 1].b + inner[1].b;
}

__global__ void kernel(float *out, int n)
{
    int i = threadIdx.x;
    float table[2][2];
    Pair p;
    p.a = i;
    p.b = 2.0f;
    for (int k = 0; k < 4; k++)
        table[k / 2][k % 2] = i + k;
    if (i < n)
        out[i] = mix(&table[0][0], i) + p.b;
}

int main(void)
{
    float *out;
    cudaMalloc(&out, 128);
    kernel<<<1, 32>>>(out, 32);
    return cudaDeviceSynchronize() != cudaSuccess;
}
