// Birds that follow their leaders; one of them is lost.
#include <cmath>
#include <cstdio>
struct Vec { float x, y, z; };
struct Bird { Vec pos, vel; float mass; int flock; bool leads; };
struct Sky { Bird *birds; float *force; int n; };
__global__ void hatch(Bird *b, const int *grams, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  b[i].pos = {i * 0.1f, 1.f, 0.f};
  b[i].vel = {0, 0, 0};
  b[i].mass = grams[i] / 1000;
  b[i].flock = i / 32;
  b[i].leads = i % 32 == 0;
}
__global__ void pull(Sky s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < s.n) s.force[i] = s.birds[i].leads ? 0.f : s.birds[i & ~31].pos.x - s.birds[i].pos.x;
}
__global__ void fly(Sky s, float dt) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  s.birds[i].vel.x += dt * s.force[i] / s.birds[i].mass;
  s.birds[i].pos.x += dt * s.birds[i].vel.x;
}
__global__ void centre(const Bird *b, int n, float *out) {
  __shared__ float part[128];
  int t = threadIdx.x;
  float sum = 0;
  for (int i = t; i < n; i += 128) sum += b[i].pos.x;
  part[t] = sum;
  __syncthreads();
  for (int half = 64; half; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (!t) *out = part[0] / n;
}
int main() {
  const int n = 256;
  int grams[n], *d_grams;
  for (int i = 0; i < n; i++) grams[i] = i == 96 ? 900 : 1000 + 7 * i;
  Sky s = {nullptr, nullptr, n};
  float *out, where;
  cudaMalloc(&s.birds, n * sizeof(Bird));
  cudaMalloc(&s.force, n * 4);
  cudaMalloc(&d_grams, sizeof grams);
  cudaMalloc(&out, 4);
  cudaMemcpy(d_grams, grams, sizeof grams, cudaMemcpyHostToDevice);
  hatch<<<2, 128>>>(s.birds, d_grams, n);
  for (int i = 0; i < 8; i++) {
    pull<<<2, 128>>>(s);
    fly<<<2, 128>>>(s, 0.01f);
  }
  centre<<<1, 128>>>(s.birds, n, out);
  cudaMemcpy(&where, out, 4, cudaMemcpyDeviceToHost);
  printf("%s: the centre is at %g\n", std::isfinite(where) ? "right" : "WRONG", where);
}
