// CUDA C++ (compiled by nvcc as such): kernels launched by kernels, cudaDeviceReset, aligned
// structs, addresses of __grid_constant__ parameters. Counts that follow from the source alone:
// stores and atomics.
#include <cstdio>
#include <cstdlib>

#define OK(call) \
  do { \
    cudaError_t e_ = (call); \
    if (e_ != cudaSuccess) { \
      printf("line %d: %s\n", __LINE__, cudaGetErrorString(e_)); \
      exit(1); \
    } \
  } while (0)

extern "C" __global__ void child(int *p) { atomicAdd(p, 1); }
extern "C" __global__ void parent(int *p, int n) {
  if (threadIdx.x == 0)
    for (int i = 0; i < n; i++) child<<<2, 32>>>(p);
}
extern "C" __global__ void recursive(int *p, int depth) {
  atomicAdd(p, depth);
  if (depth > 0) recursive<<<1, 1>>>(p, depth - 1);
}

struct alignas(16) Four { float v[4]; };
struct Mixed { char c; Four four; short s; };
extern "C" __global__ void structs(const __grid_constant__ Mixed m, char d,
                                   const __grid_constant__ Four f, float *out) {
  const Mixed *p = &m;
  const float *q = f.v;
  atomicAdd(out, p->four.v[threadIdx.x] + q[threadIdx.x] + p->c + p->s + d);
}

int main() {
  int *p, h;
  OK(cudaMalloc(&p, 8));
  OK(cudaMemset(p, 0, 8));
  parent<<<1, 32>>>(p, 5);
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(&h, p, 4, cudaMemcpyDefault));
  printf("%d\n", h);
  OK(cudaMemset(p, 0, 8));
  recursive<<<1, 1>>>(p, 6);
  child<<<1, 32>>>(p + 1);                               // launched from both sides
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(&h, p, 4, cudaMemcpyDefault));
  printf("%d\n", h);
  OK(cudaDeviceReset());

  float *out, sum;
  Mixed m = {1, {{10, 20, 30, 40}}, 2};
  Four f = {{100, 200, 300, 400}};
  OK(cudaMalloc(&out, 4));
  OK(cudaMemset(out, 0, 4));
  structs<<<1, 4>>>(m, 3, f, out);
  OK(cudaMemcpy(&sum, out, 4, cudaMemcpyDefault));
  printf("%g\n", sum);                                   // 100 + 1000 + 4 * 6
  OK(cudaDeviceReset());
  if (sum != 1124) return 1;
  printf("only child atomics=%d\nonly recursive atomics=7\nonly parent atomics=0\nonly structs "
         "atomics=4\n",
         5 * 64 + 32);
  printf("launches 4\n");
}
