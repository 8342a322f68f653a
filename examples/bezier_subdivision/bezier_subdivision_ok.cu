/* Adaptive subdivision of a Bezier patch: the correct twin of bezier_subdivision.cu. */
#include "../example.h"

#include <math.h>

#define MOST_PATCHES 1024
#define WIDEST 0.30f

struct Patch {
    float3 point[4][4]; /* [v][u] */
};

__device__ float3 middle(float3 a, float3 b)
{
    return make_float3(0.5f * (a.x + b.x), 0.5f * (a.y + b.y), 0.5f * (a.z + b.z));
}

/* Splits one cubic Bezier curve in its middle. */
__device__ void de_casteljau(const float3 a[4], float3 side0[4], float3 side1[4])
{
    float3 p = middle(a[0], a[1]), q = middle(a[1], a[2]), r = middle(a[2], a[3]);
    float3 u = middle(p, q), v = middle(q, r);
    float3 w = middle(u, v);
    side0[0] = a[0];
    side0[1] = p;
    side0[2] = u;
    side0[3] = w;
    side1[0] = w;
    side1[1] = v;
    side1[2] = r;
    side1[3] = a[3];
}

/* Patches wider than WIDEST are split in two along u, the others are copied; result goes to a compact list. */
__global__ void bound_and_split(Patch *out, int *out_count, const Patch *in, int n, int *split)
{
    int id = threadIdx.x + blockIdx.x * blockDim.x;
    if (id >= n)
        return;
    const Patch *patch = &in[id];
    float low = patch->point[0][0].x, high = low;
    for (int v = 0; v < 4; v++)
        for (int u = 0; u < 4; u++) {
            low = fminf(low, patch->point[v][u].x);
            high = fmaxf(high, patch->point[v][u].x);
        }
    if (high - low <= WIDEST) {
        out[atomicAdd(out_count, 1)] = *patch;
        return;
    }
    int place = atomicAdd(out_count, 2);
    for (int v = 0; v < 4; v++)
        de_casteljau(patch->point[v], out[place].point[v], out[place + 1].point[v]);
    atomicExch(split, 1);
}

/* The side that a patch faces: the sign of z of dP/du x dP/dv at its first corner. */
__global__ void shade(int *facing, const Patch *patches, int n)
{
    int id = threadIdx.x + blockIdx.x * blockDim.x;
    if (id >= n)
        return;
    float3 corner = patches[id].point[0][0], pu = patches[id].point[0][3], pv = patches[id].point[3][0];
    float ux = pu.x - corner.x, uy = pu.y - corner.y, vx = pv.x - corner.x, vy = pv.y - corner.y;
    facing[id] = ux * vy - uy * vx > 0.0f ? 1 : -1;
}

int main(void)
{
    /* One patch over the unit square that looks up everywhere. */
    static Patch start;
    for (int v = 0; v < 4; v++)
        for (int u = 0; u < 4; u++) {
            start.point[v][u].x = 4.0f * u / 3.0f;
            start.point[v][u].y = 2.0f * v / 3.0f;
            start.point[v][u].z = (float)(u * (3 - u) + v * (3 - v));
        }
    Patch *in, *out;
    int *counters, *facing;
    must(cudaMalloc(&in, MOST_PATCHES * sizeof(Patch)), "cudaMalloc");
    must(cudaMalloc(&out, MOST_PATCHES * sizeof(Patch)), "cudaMalloc");
    must(cudaMalloc(&counters, 2 * sizeof(int)), "cudaMalloc");
    must(cudaMalloc(&facing, MOST_PATCHES * sizeof(int)), "cudaMalloc");
    must(cudaMemcpy(in, &start, sizeof start, cudaMemcpyHostToDevice), "copy to the device");

    int n = 1, rounds = 0, state[2];
    do {
        must(cudaMemset(counters, 0, sizeof state), "cudaMemset");
        bound_and_split<<<(n + 63) / 64, 64>>>(out, &counters[0], in, n, &counters[1]);
        must_finish("bound_and_split");
        must(cudaMemcpy(state, counters, sizeof state, cudaMemcpyDeviceToHost), "copy to the host");
        n = state[0];
        rounds++;
        Patch *swap = in;
        in = out;
        out = swap;
    } while (state[1]);

    static int looks[MOST_PATCHES];
    shade<<<(n + 63) / 64, 64>>>(facing, in, n);
    must_finish("shade");
    must(cudaMemcpy(looks, facing, n * sizeof(int), cudaMemcpyDeviceToHost), "copy to the host");
    must(cudaFree(in), "cudaFree");
    must(cudaFree(out), "cudaFree");
    must(cudaFree(counters), "cudaFree");
    must(cudaFree(facing), "cudaFree");

    int up = 0;
    for (int i = 0; i < n; i++)
        up += looks[i] > 0;
    printf("%d patches after %d rounds: %d look up, %d look down\n", n, rounds, up, n - up);
    return 0;
}
