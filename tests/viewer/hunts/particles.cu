// Particles in a list that grows: when it is full, all move into a larger one.
#include "../../../examples/example.h"

#define ROUNDS 6
#define PER_ROUND 48

struct Particle
{
    float x, v;
    int round;
};
struct List
{
    Particle *items;
    int size, room;
};

__global__ void emit(List list, int round)
{
    int i = threadIdx.x;
    if (list.size + i < list.room)
        list.items[list.size + i] = {0.0f, 1.0f + 0.01f * (float)i, round};
}

__global__ void move(List list, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < list.size)
        list.items[i].x += dt * list.items[i].v;
}

static void grow(List *list, int room)
{
    Particle *larger;
    must(cudaMalloc(&larger, room * sizeof *larger), "cudaMalloc");
    must(cudaMemset(larger, 0, room * sizeof *larger), "cudaMemset");
    if (list->items)
        must(cudaMemcpy(larger, list->items, list->size * sizeof *larger,
                        cudaMemcpyDeviceToDevice), "copy on the device");
    list->items = larger;
    list->room = room;
}

int main(void)
{
    static Particle result[ROUNDS * PER_ROUND];
    List list = {NULL, 0, 0};
    grow(&list, 128);
    for (int round = 0; round < ROUNDS; round++) {
        List before = list;
        if (list.size + PER_ROUND > list.room)
            grow(&list, 2 * list.room);
        emit<<<1, PER_ROUND>>>(before, round);
        list.size += PER_ROUND;
        move<<<(list.size + 63) / 64, 64>>>(list, 0.5f);
    }
    must_finish("move");
    must(cudaMemcpy(result, list.items, sizeof result, cudaMemcpyDeviceToHost),
         "copy to the host");
    for (int i = 0; i < ROUNDS * PER_ROUND; i++)
        if (result[i].v == 0.0f) {
            printf("WRONG: particle %d of %d does not move\n", i, ROUNDS * PER_ROUND);
            return 0;
        }
    printf("right: all particles move\n");
    return 0;
}
