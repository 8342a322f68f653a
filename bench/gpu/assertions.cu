// Table 3 of Hou, Zhou and Guo: a program with wg_assert against the same one without, in frames.
// bench/gpu_interrupts runs it. A frame is one launch; times are those of the host, the best of
// several turns of FRAMES frames.
//   tessellation   triangles of factor 143. With an epsilon of 1e-3 the assertion holds; with
//                  1e-6 rounding is wrong, and it fails in every frame (examples/interrupts)
//   relief         the same for fewer triangles, whose vertices are lifted by a sum of waves
//   normals        no triangle is degenerate, and one in 4096 is
#include <chrono>
#include <cstdio>
#include <cstring>

#include "warpgrind_functions.h"

static size_t failures;
static FILE *messages;

// Reports the place and the values of each frame's first failure, as wg_assert does.
static void report(wg_interrupt *call, void *) {
  wg_callers callers = {call};
  wg_list<double> a = {call, 1, nullptr}, b = {call, 2, nullptr};
  failures += callers.size();
  fprintf(messages, "%s:%u: assertion failed in %zu threads, first with %g, %g\n", callers[0].file,
          callers[0].line, callers.size(), a[0], b[0]);
}

// --- tessellation: vertices are numbered strip by strip ---

__device__ int strip_of(int vertex, int rows, float epsilon) {
  float x = (float)(rows * rows - vertex);
  return (int)floorf((float)rows - x * rsqrtf(x) + epsilon);
}

template <bool CHECK>
__global__ void tessellate(float2 *out, int factor, float epsilon, int waves) {
  int v = threadIdx.x + blockIdx.x * blockDim.x, rows = factor + 1, all = rows * rows - 1;
  if (v >= all) return;
  int strip = strip_of(v, rows, epsilon), first = strip * (2 * rows - strip);
  if (CHECK) wg_assert(v >= first && v < first + 2 * (rows - strip) - 1, v, strip);
  float x = (float)strip / rows, y = (float)(v - first) / rows, height = 0;
  for (int k = 1; k <= waves; k++) height += __sinf(x * k) * __cosf(y * k) / k;
  out[v + (size_t)blockIdx.y * all] = make_float2(x + height, y - height);
}

// --- normals ---

template <bool CHECK> __global__ void normals(float3 *out, const float3 *p, int n, int degenerate) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= n) return;
  float3 a = p[3 * i], b = p[3 * i + 1], c = p[3 * i + 2];
  float scale = degenerate && i % degenerate == 7 ? 0.f : 1.f;
  float3 u = make_float3(b.x - a.x + scale, b.y - a.y, b.z - a.z);
  float3 v = make_float3(c.x - a.x, c.y - a.y + 1, c.z - a.z);
  float3 m = make_float3(u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x);
  float length = sqrtf(m.x * m.x + m.y * m.y + m.z * m.z);
  if (CHECK) wg_assert(length > 0, i, length);
  float to = length > 0 ? 1 / length : 0;
  out[i] = make_float3(m.x * to, m.y * to, m.z * to);
}

// --- frames ---

static int frames = 100, turns = 5;

template <class F> static double frame_ms(F launch) {
  double least = 1e30;
  for (int t = 0; t < turns; t++) {
    cudaDeviceSynchronize();
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < frames; i++) launch();
    cudaDeviceSynchronize();
    std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    if (took.count() < least) least = took.count();
  }
  return least / frames;
}

static void say(const char *name, double plain, double checked) {
  printf("%-28s %.4f ms a frame, with wg_assert %.4f, ratio %.2f; failed %zu times a frame\n", name,
         plain, checked, checked / plain, failures / (size_t)(frames * turns));
  failures = 0;
}

static void tessellation(float2 *out, int triangles, int waves, float epsilon) {
  enum { FACTOR = 143 };
  if (waves && triangles > 1) triangles /= 8;
  dim3 grid(((FACTOR + 1) * (FACTOR + 1) + 127) / 128, (unsigned)triangles);
  char name[64];
  snprintf(name, sizeof name, "%s, epsilon %g", waves ? "relief" : "tessellation", epsilon);
  double plain = frame_ms([&] { tessellate<false><<<grid, 128>>>(out, FACTOR, epsilon, waves); });
  say(name, plain, frame_ms([&] { tessellate<true><<<grid, 128>>>(out, FACTOR, epsilon, waves); }));
}

int main(int argc, char **argv) {
  bool small = argc > 1 && !strcmp(argv[1], "small");
  int triangles = small ? 1 : 1024, n = small ? 1 << 12 : 1 << 23;
  if (small) frames = turns = 2;
  messages = fopen("/dev/null", "w");
  wg_interrupt_handler("wg_assert_failed", report, nullptr);
  float2 *vertices;
  float3 *p, *out;
  cudaMalloc(&vertices, (size_t)triangles * 144 * 144 * sizeof *vertices);
  cudaMalloc(&p, (size_t)n * 3 * sizeof *p);
  cudaMalloc(&out, (size_t)n * sizeof *out);
  cudaMemset(p, 0, (size_t)n * 3 * sizeof *p);
  for (int waves : {0, 64})
    for (float epsilon : {1e-3f, 1e-6f}) tessellation(vertices, triangles, waves, epsilon);
  for (int degenerate : {0, 4096}) {
    unsigned grid = (unsigned)(n + 127) / 128;
    double plain = frame_ms([&] { normals<false><<<grid, 128>>>(out, p, n, degenerate); });
    say(degenerate ? "normals, some degenerate" : "normals", plain,
        frame_ms([&] { normals<true><<<grid, 128>>>(out, p, n, degenerate); }));
  }
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
