/* Normals of triangles, some of which have no area. One bug: see README.md. */
#include "../example.h"

#include <math.h>

#define TRIANGLES 1000

__device__ float3 minus(float3 a, float3 b)
{
    return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}

__device__ float3 cross(float3 a, float3 b)
{
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

__device__ float dot(float3 a, float3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

__device__ float3 scale(float3 a, float s)
{
    return make_float3(a.x * s, a.y * s, a.z * s);
}

__global__ void calcnormal(float3 *normals, const float3 *points, int n)
{
    int id = threadIdx.x + blockIdx.x * blockDim.x;
    if (id >= n)
        return;
    float3 v0 = points[id * 3];
    float3 v1 = minus(points[id * 3 + 1], v0);
    float3 v2 = minus(points[id * 3 + 2], v0);
    float3 normal = cross(v1, v2);
    /* bug: a triangle without area has the normal 0, and 0 times 1/0 is NaN */
    normals[id] = scale(normal, 1.0f / sqrtf(dot(normal, normal)));
}

int main(void)
{
    static float3 points[3 * TRIANGLES], normals[TRIANGLES];
    for (int i = 0; i < TRIANGLES; i++) {
        float x = (float)(i % 40), y = (float)(i / 40);
        points[i * 3] = make_float3(x, y, 0.0f);
        points[i * 3 + 1] = make_float3(x + 1.0f, y, 0.0f);
        points[i * 3 + 2] = make_float3(x, y + 1.0f, 0.0f);
        if (i % 250 == 7) /* the three corners on one line */
            points[i * 3 + 2] = make_float3(x + 2.0f, y, 0.0f);
    }
    float3 *d_points, *d_normals;
    must(cudaMalloc(&d_points, sizeof points), "cudaMalloc");
    must(cudaMalloc(&d_normals, sizeof normals), "cudaMalloc");
    must(cudaMemcpy(d_points, points, sizeof points, cudaMemcpyHostToDevice), "copy to the device");
    calcnormal<<<(TRIANGLES + 127) / 128, 128>>>(d_normals, d_points, TRIANGLES);
    must_finish("calcnormal");
    must(cudaMemcpy(normals, d_normals, sizeof normals, cudaMemcpyDeviceToHost), "copy to the host");
    must(cudaFree(d_points), "cudaFree");
    must(cudaFree(d_normals), "cudaFree");

    int nan = 0, zero = 0, up = 0;
    double sum = 0.0;
    for (int i = 0; i < TRIANGLES; i++) {
        nan += isnan(normals[i].z) != 0;
        zero += normals[i].z == 0.0f;
        up += normals[i].z == 1.0f;
        sum += normals[i].z;
    }
    printf("normals of %d triangles: %d up, %d zero, %d not a number\n", TRIANGLES, up, zero, nan);
    if (isnan(sum))
        printf("mean z: not a number\n");
    else
        printf("mean z: %.3f\n", sum / TRIANGLES);
    return 0;
}
