// For warpgrind gold. Which of its runs this is the name of the run file tells; in those on the
// second device, by the argument:
//   plant        one element is one ULP larger
//   approximate  what approximate instructions compute differs by some ULP, as it may
//   far          … by more than it may
//   sum          a sum by atomic additions differs a little, as it may
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void exact(float *x, int n, int changed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = i * 0.25f + 1.0f;
  if (i == changed) v = __int_as_float(__float_as_int(v) + 1);
  x[i] = v;
}
__global__ void approximate(const float *x, float *y, int n, int more) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __int_as_float(__float_as_int(__fdividef(1.0f, x[i])) + more);
}
__global__ void total(const float *y, float *sum, int n, int more) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(sum, y[i]);
  if (i == 0 && more) atomicAdd(sum, 1e-6f * more);
}
__global__ void after(const float *sum, const float *y, float *z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = y[i] / *sum;
}

int main(int argc, char **argv) {
  const char *file = getenv("WARPGRIND_OUTPUT"), *what = argc > 1 ? argv[1] : "";
  bool second = file && strstr(file, "/2-");
  int n = 512, changed = second && !strcmp(what, "plant") ? 77 : -1,
      more = second && !strcmp(what, "approximate") ? 3 : 0,
      far = second && !strcmp(what, "far") ? 5000 : 0;
  int order = second && !strcmp(what, "sum") ? 2 : 0;
  float *x, *y, *z, *sum, s;
  cudaMalloc(&x, n * 4);
  cudaMalloc(&y, n * 4);
  cudaMalloc(&z, n * 4);
  cudaMalloc(&sum, 4);
  cudaMemset(sum, 0, 4);
  exact<<<2, 256>>>(x, n, changed);
  approximate<<<2, 256>>>(x, y, n, more + far);
  total<<<2, 256>>>(y, sum, n, order);
  after<<<2, 256>>>(sum, y, z, n);
  cudaMemcpy(&s, sum, 4, cudaMemcpyDeviceToHost);
  printf("%.3f\n", s);
  return 0;
}
