// Threads ask the host for a number and go on with it.
#include "warpgrind.h"

#include <stdio.h>

WG_INTERRUPT_OR(lookup, int(int key, float weight), -1);

__global__ void ask(int *out, const int *keys, int n)
{
    int i = threadIdx.x;
    if (i < n)
        out[i] = lookup(keys[i], 0.5f * i) + 1;
}

WG_HANDLER(lookup, wg_callers &callers, wg_list<int> key, wg_list<float> weight,
           wg_results<int> found)
{
    for (size_t i = 0; i < callers.size(); i++)
        found[i] = 100 * key[i];
}

int main(void)
{
    int host[8], *out, *keys;
    for (int i = 0; i < 8; i++)
        host[i] = i + 3;
    cudaMalloc(&out, sizeof host);
    cudaMalloc(&keys, sizeof host);
    cudaMemcpy(keys, host, sizeof host, cudaMemcpyHostToDevice);
    ask<<<1, 8>>>(out, keys, 8);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d %d\n", host[0], host[7]);
    return 0;
}
