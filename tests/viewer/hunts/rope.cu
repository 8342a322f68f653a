// A rope of particles: those that leave the box are removed, and the rest move up.
#include "../../../examples/example.h"

#define COUNT 256
#define BLOCK 64

__global__ void find_alive(int *alive, const float *pos, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        alive[i] = pos[i] >= 0.0f && (i < 40 || i >= 72);
}

// Where each particle goes: how many before it are alive. One block.
__global__ void find_slots(int *slot, const int *alive, int n)
{
    __shared__ int s[COUNT];
    int i = threadIdx.x;
    s[i] = i < n ? alive[i] : 0;
    __syncthreads();
    for (int d = 1; d < COUNT; d *= 2) {
        int before = i >= d ? s[i - d] : 0;
        __syncthreads();
        s[i] += before;
        __syncthreads();
    }
    if (i < n)
        slot[i] = s[i] - alive[i];
}

__global__ void move_up(float *new_pos, int *new_partner, const float *pos, const int *partner,
                        const int *alive, const int *slot, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || !alive[i])
        return;
    new_pos[slot[i]] = pos[i];
    new_partner[slot[i]] = partner[i];
}

__global__ void stretch_of(float *stretch, const float *pos, const int *partner, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        stretch[i] = fabsf(pos[partner[i]] - pos[i]);
}

int main(void)
{
    static float place[COUNT], result[COUNT];
    static int other[COUNT];
    for (int i = 0; i < COUNT; i++) {
        place[i] = 0.5f * (float)i;
        other[i] = i ^ 1;
    }
    float *pos, *new_pos, *stretch;
    int *partner, *new_partner, *alive, *slot;
    must(cudaMalloc(&pos, sizeof place), "cudaMalloc");
    must(cudaMalloc(&new_pos, sizeof place), "cudaMalloc");
    must(cudaMalloc(&stretch, sizeof place), "cudaMalloc");
    must(cudaMalloc(&partner, sizeof other), "cudaMalloc");
    must(cudaMalloc(&new_partner, sizeof other), "cudaMalloc");
    must(cudaMalloc(&alive, sizeof other), "cudaMalloc");
    must(cudaMalloc(&slot, sizeof other), "cudaMalloc");
    must(cudaMemcpy(pos, place, sizeof place, cudaMemcpyHostToDevice), "copy to the device");
    must(cudaMemcpy(new_pos, place, sizeof place, cudaMemcpyHostToDevice), "copy to the device");
    must(cudaMemcpy(partner, other, sizeof other, cudaMemcpyHostToDevice), "copy to the device");
    find_alive<<<COUNT / BLOCK, BLOCK>>>(alive, pos, COUNT);
    find_slots<<<1, COUNT>>>(slot, alive, COUNT);
    move_up<<<COUNT / BLOCK, BLOCK>>>(new_pos, new_partner, pos, partner, alive, slot, COUNT);
    int left = COUNT - 32;
    stretch_of<<<(left + BLOCK - 1) / BLOCK, BLOCK>>>(stretch, new_pos, new_partner, left);
    must_finish("stretch_of");
    must(cudaMemcpy(result, stretch, left * sizeof *result, cudaMemcpyDeviceToHost),
         "copy to the host");
    for (int i = 0; i < left; i++)
        if (result[i] > 0.5f) {
            printf("WRONG: stretch[%d] is %g, no spring is longer than 0.5\n", i, result[i]);
            return 0;
        }
    printf("right: no spring is longer than 0.5\n");
    return 0;
}
