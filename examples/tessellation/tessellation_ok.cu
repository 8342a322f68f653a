/* Tessellation of a triangle in strips: the correct twin of tessellation.cu. */
#include "../example.h"

#define EPSILON 1e-3f /* above every rounding error, below the distance to the next strip */

struct Vertex {
    float along, across; /* position in the triangle, both 0 to 1 */
};

/* Strip s has 2*s+1 vertices, numbered from s*s on: a vertex finds its strip by a square root. */
__global__ void tessellate(Vertex *vertices, int *strips, int factor)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= factor * factor)
        return;
    float area = (float)id / (float)(factor * factor);
    int strip = (int)floorf(sqrtf(area) * (float)factor + EPSILON);
    int place = id - strip * strip;
    vertices[id].along = (float)strip / (float)factor;
    vertices[id].across = (float)place / (float)(2 * strip + 1);
    strips[id] = strip;
}

static void try_factor(int factor)
{
    int n = factor * factor;
    Vertex *d_vertices, *vertices = (Vertex *)malloc(n * sizeof(Vertex));
    int *d_strips, *strips = (int *)malloc(n * sizeof(int));
    must(cudaMalloc(&d_vertices, n * sizeof(Vertex)), "cudaMalloc");
    must(cudaMalloc(&d_strips, n * sizeof(int)), "cudaMalloc");
    tessellate<<<(n + 127) / 128, 128>>>(d_vertices, d_strips, factor);
    must_finish("tessellate");
    must(cudaMemcpy(vertices, d_vertices, n * sizeof(Vertex), cudaMemcpyDeviceToHost), "copy to the host");
    must(cudaMemcpy(strips, d_strips, n * sizeof(int), cudaMemcpyDeviceToHost), "copy to the host");
    must(cudaFree(d_vertices), "cudaFree");
    must(cudaFree(d_strips), "cudaFree");

    int misplaced = 0, outside = 0;
    for (int id = 0; id < n; id++) {
        int s = strips[id];
        misplaced += id < s * s || id >= (s + 1) * (s + 1);
        outside += !(vertices[id].across >= 0.0f && vertices[id].across < 1.0f);
    }
    printf("factor %3d: %5d vertices, %d in the wrong strip, %d outside the triangle\n", factor, n, misplaced, outside);
    free(vertices);
    free(strips);
}

int main(void)
{
    try_factor(16);
    try_factor(64);
    try_factor(113);
    try_factor(143);
    return 0;
}
