// One run with what names can stand for: structs with room between fields, pointers to pointers
// that the host wrote itself, structs of pointers as parameters, an array in dynamic shared memory.
#include <cstdio>
#include <cuda_runtime.h>
struct Vec { float x, y, z; };
struct Body { Vec pos; double mass; bool alive; short tag; int hits[3]; };
template <class T> struct Span { T *data; int n; };
struct Scene { Span<Body> bodies; float **rows; int begin, end; };
__global__ void init(Scene s, float *heights) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.bodies.n) return;
  Body b{};
  b.pos = {float(i), 1.5f * i, -1.f};
  b.mass = i * 0.25, b.alive = i % 3 != 0, b.tag = -i;
  for (int k = 0; k < 3; k++) b.hits[k] = i * 10 + k;
  s.bodies.data[i] = b;
  heights[i] = i % 3 ? i : nanf("");
}
__global__ void fill(float **r, int h, int w) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) r[y][x] = x * y;
}
__global__ void reduce(const float *in, float *out, int n) {
  extern __shared__ float part[];
  int t = threadIdx.x;
  part[t] = t < n ? in[t] : 0;
  __syncthreads();
  for (int half = 64; half > 16; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t < 16) { part[t] += part[t + 16]; part[t] += part[t + 8]; part[t] += part[t + 4]; }
  if (t == 0) *out = part[0];
}
__global__ void gather(Scene s, int *counts) {
  int i = threadIdx.x;
  for (int k = s.begin; k < s.end; k++) s.bodies.data[i].mass += s.rows[k][i] * 0.5;
  counts[i] = (int)s.bodies.data[i].mass;
}
int main() {
  const int n = 96;
  Body *bodies;
  float *heights, *out, *row[12], **rows;
  int *counts;
  cudaMalloc(&bodies, n * sizeof(Body));
  cudaMalloc(&heights, n * 4);
  cudaMalloc(&out, 4);
  cudaMalloc(&counts, n * 4);
  cudaMallocManaged(&rows, sizeof row);
  for (int i = 0; i < 12; i++) {
    cudaMalloc(&row[i], 128 * 4);
    rows[i] = row[i];
  }
  Scene s = {{bodies, n}, rows, 3, 6};
  init<<<2, 64>>>(s, heights);
  fill<<<dim3(8, 3), dim3(16, 4)>>>(rows, 12, 128);
  reduce<<<1, 128, 512>>>(heights, out, n);
  gather<<<1, n>>>(s, counts);
  cudaDeviceSynchronize();
}
