/* A hash table in shared memory. One bug: see README.md. */
#include "../example.h"

#define SLOTS 256
#define BEFORE 128
#define KEYS 120

#define FOUND 0
#define ABSENT 1
#define BELOW_ZERO 2

/* The top byte of the key says where the search starts. */
__host__ __device__ int hash(int key)
{
    return key >> 24; /* bug: copies the sign, so keys with the top bit set start below zero */
}

/* Looks up keys in an open hash table, copied to shared memory after other data of the block. */
__global__ void look_up(int *result, const int *keys, int n, const int *table)
{
    __shared__ int shared[BEFORE + SLOTS];
    int *s_table = &shared[BEFORE];
    for (int i = threadIdx.x; i < BEFORE; i += blockDim.x)
        shared[i] = -1;
    for (int i = threadIdx.x; i < SLOTS; i += blockDim.x)
        s_table[i] = table[i];
    __syncthreads();

    int t = threadIdx.x;
    if (t >= n)
        return;
    int found = -1, free_slot = -1, tries = 0;
    int i = hash(keys[t]);
    bool below_zero = i < 0;
    do {
        if (s_table[i] == keys[t]) {
            found = i;
            break;
        }
        if (s_table[i] == 0) {
            free_slot = i;
            break;
        }
        if (++i >= SLOTS)
            i = 0;
    } while (tries++ < SLOTS);
    result[t] = found >= 0 ? FOUND : below_zero ? BELOW_ZERO : ABSENT;
    if (found < 0 && free_slot < 0)
        result[t] = ABSENT;
}

int main(void)
{
    static int keys[KEYS], table[SLOTS], result[KEYS];
    unsigned seed = 3;
    for (int k = 0; k < KEYS; k++) {
        unsigned key = next_random(&seed) << 8 | (unsigned)(k + 1);
        unsigned slot = key >> 24;
        while (table[slot])
            slot = (slot + 1) % SLOTS;
        table[slot] = keys[k] = (int)key;
    }
    int *d_keys, *d_table, *d_result;
    must(cudaMalloc(&d_keys, sizeof keys), "cudaMalloc");
    must(cudaMalloc(&d_table, sizeof table), "cudaMalloc");
    must(cudaMalloc(&d_result, sizeof result), "cudaMalloc");
    must(cudaMemcpy(d_keys, keys, sizeof keys, cudaMemcpyHostToDevice), "copy to the device");
    must(cudaMemcpy(d_table, table, sizeof table, cudaMemcpyHostToDevice), "copy to the device");
    look_up<<<1, 128>>>(d_result, d_keys, KEYS, d_table);
    must_finish("look_up");
    must(cudaMemcpy(result, d_result, sizeof result, cudaMemcpyDeviceToHost), "copy to the host");
    must(cudaFree(d_keys), "cudaFree");
    must(cudaFree(d_table), "cudaFree");
    must(cudaFree(d_result), "cudaFree");

    int count[3] = {0, 0, 0};
    for (int k = 0; k < KEYS; k++)
        count[result[k]]++;
    printf("%d keys are in the table: %d found, %d not found\n", KEYS, count[FOUND], count[ABSENT] + count[BELOW_ZERO]);
    printf("lost because the search began below zero: %d\n", count[BELOW_ZERO]);
    return 0;
}
