// What a viewer must not guess: pointers in structs, pointers to pointers and variables of the
// device; structs of mixed fields; arrays in shared and local memory; launches of two dimensions;
// several allocations in a line; a thread that does very much.
#include <cmath>
#include <cstdio>
#include <warpgrind.h>
struct Vec { float x, y, z; };
struct Particle { Vec pos, vel; int id; bool alive; double mass; };
struct View { float *data; int n; };
__device__ float table[64];
__device__ int counter;
__global__ void through_struct(View v, float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < v.n) v.data[i] = i * 2 + 0 * (scale == scale);
}
__global__ void through_pointers(float **list, int n) {
  for (int k = 0; k < n; k++) list[k][threadIdx.x] += k;
}
__global__ void through_variable() {
  table[threadIdx.x] = threadIdx.x;
  if (threadIdx.x == 0) counter++;
}
__global__ void move(Particle *p) {
  int i = threadIdx.x;
  p[i].pos.x = i; p[i].vel.z = .5f * i; p[i].id = i; p[i].alive = i % 2; p[i].mass = 1.5;
}
__global__ void look(const Particle *p, int *out) {
  Particle mine = p[threadIdx.x];
  out[threadIdx.x] = mine.id + mine.alive;
}
__global__ void reduce(float *out, const float *in) {
  __shared__ float s[256];
  __shared__ int tile[4][8];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  if (t < 32) tile[t / 8][t % 8] = t;
  __syncthreads();
  for (int half = 128; half; half /= 2) {
    if (t < half) s[t] += s[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0] + tile[1][2];
}
__global__ void race(int *out) {
  __shared__ int last[8];
  last[threadIdx.x % 8] = threadIdx.x;
  out[threadIdx.x] = last[(threadIdx.x + 1) % 8];
}
__global__ void local(int *out, int k) {
  int a[16];
  for (int i = 0; i < 16; i++) a[(i * k) & 15] = i * threadIdx.x;
  out[threadIdx.x] = a[k & 15] + a[(k + 3) & 15];
}
__global__ void field(float *u, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float v = x + 100 * y;
  wg_watch(v * 2);
  if (x < w && y < h) u[y * w + x] = v;
}
__global__ void step(int *n) { n[threadIdx.x] += 1; }
__global__ void much(int *sum, int turns) {
  volatile int *p = sum;
  for (int i = 0; i < turns; i++) p[i & 3] = p[(i + 1) & 3] + 1;
}
__global__ void beyond(int *to, const int *from, int n) { to[threadIdx.x] = from[threadIdx.x + n]; }
__global__ void skipped(float *u) { u[0] = 1; }
int main() {
  float *data; cudaMalloc(&data, 4096);
  through_struct<<<4, 256>>>(View{data, 1024}, nanf(""));
  float *parts[40], **list;
  for (int i = 0; i < 40; i++) {
    cudaMalloc(&parts[i], 256);
    cudaMemset(parts[i], 0, 256);
  }
  cudaMalloc(&list, sizeof parts);
  cudaMemcpy(list, parts, sizeof parts, cudaMemcpyHostToDevice);
  through_pointers<<<1, 64>>>(list, 40);
  through_variable<<<1, 64>>>();
  Particle *p; cudaMalloc(&p, 32 * sizeof(Particle));
  move<<<1, 32>>>(p);
  int *seen; cudaMalloc(&seen, 128);
  look<<<1, 32>>>(p, seen);
  float *a, *b, *c, *d;
  cudaMalloc(&a, 4096); cudaMalloc(&b, 64); cudaMalloc(&c, 64); cudaMalloc(&d, 64);
  float ones[1024];
  for (int i = 0; i < 1024; i++) ones[i] = 1;
  cudaMemcpy(a, ones, sizeof ones, cudaMemcpyHostToDevice);
  reduce<<<4, 256>>>(b, a);
  int *r; cudaMalloc(&r, 1024);
  race<<<1, 64>>>(r);
  local<<<1, 32>>>(r, 5);
  float *u; cudaMalloc(&u, 32 * 24 * 4);
  field<<<dim3(4, 3), dim3(8, 8)>>>(u, 32, 24);
  int *n; cudaMalloc(&n, 128);
  cudaMemset(n, 0, 128);
  for (int i = 0; i < 9; i++) step<<<1, 32>>>(n);
  int *sum; cudaMalloc(&sum, 16);
  cudaMemset(sum, 0, 16);
  much<<<1, 1>>>(sum, 20000);
  int *small; cudaMalloc(&small, 64);
  cudaMemset(small, 0, 64);
  beyond<<<1, 20>>>(seen, small, 8);
  skipped<<<1, 1>>>(c);
  cudaDeviceSynchronize();
  puts(cudaGetErrorString(cudaGetLastError()));
  return 0;
}
