// nvcc: -Iinclude
// Triangle normals with degeneracy detection: listings 1 and 3 of Hou, Zhou and Guo, in today's CUDA.
// assertfail gets the number of each thread that failed; check() also knows file, line and text,
// which stay on the host.
#include <cstdio>
#include <cstdlib>

#include "warpgrind.h"

// --- listing 1 ---

WG_INTERRUPT(assertfail, void(int rank));

__device__ void assert_true(bool flag) {
  if (!flag) assertfail((int)(threadIdx.x + blockIdx.x * blockDim.x));
}

WG_HANDLER(assertfail, wg_callers &callers, wg_list<int> rank) {
  printf("%zu threads failed:", callers.size());
  for (int r : rank) printf(" %d", r);
  printf("\n");
}

// --- listing 3: parameters that come from the host. The description of a call is constant data of
// the program: the handler reads the place of the call from it, and no thread carries it. ---

WG_INTERRUPT(fail, void(int rank));

#define check(condition) \
  do { \
    static __device__ const wg_interrupt_info_ place = \
        WG_INTERRUPT_INFO_("fail", wg_type_of_fail, 0, __FILE__, __LINE__, #condition); \
    if (!(condition)) \
      wg_function_<wg_type_of_fail>::plain(&place, false, threadIdx.x + blockIdx.x * blockDim.x); \
  } while (0)

WG_HANDLER(fail, wg_callers &callers, wg_list<int> rank) {
  printf("%s:%u: %zu threads, first %d: %s\n", callers[0].file, callers[0].line, callers.size(),
         rank[0], callers[0].text);
}

// --- both in one kernel ---

__device__ float3 operator-(float3 a, float3 b) {
  return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}
__device__ float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ float3 cross(float3 a, float3 b) {
  return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

__global__ void calcnormal(float3 *N, const float3 *P, int n) {
  int id = threadIdx.x + blockIdx.x * blockDim.x;
  if (id >= n) return;
  float3 v0 = P[id * 3], v1 = P[id * 3 + 1] - v0, v2 = P[id * 3 + 2] - v0;
  float3 n0 = cross(v1, v2);
  float length = sqrtf(dot(n0, n0));
  assert_true(length > 1e-5f * (dot(v1, v1) + dot(v2, v2)));
  check(length > 0);
  float scale = length > 0 ? 1 / length : 0;
  N[id] = make_float3(n0.x * scale, n0.y * scale, n0.z * scale);
}

int main() {
  enum { TRIANGLES = 1000 };
  static float3 p[3 * TRIANGLES], n[TRIANGLES];
  float3 *P, *N;
  for (int i = 0; i < TRIANGLES; i++) {
    p[3 * i] = make_float3(i, 0, 0);
    p[3 * i + 1] = make_float3(i + 1, 0, 0);
    p[3 * i + 2] = i % 250 == 7 ? p[3 * i + 1] : make_float3(i, 2, 0);  // two corners in one place
  }
  cudaMalloc(&P, sizeof p);
  cudaMalloc(&N, sizeof n);
  cudaMemcpy(P, p, sizeof p, cudaMemcpyHostToDevice);
  calcnormal<<<(TRIANGLES + 127) / 128, 128>>>(N, P, TRIANGLES);
  cudaMemcpy(n, N, sizeof n, cudaMemcpyDeviceToHost);
  printf("normal 6: %g %g %g, normal 7: %g %g %g, %s\n", n[6].x, n[6].y, n[6].z, n[7].x, n[7].y,
         n[7].z, cudaGetErrorString(cudaGetLastError()));
  cudaFree(P);
  cudaFree(N);
}
