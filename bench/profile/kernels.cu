// Kernels of usual shapes, each timed by itself: best of five, after one to warm up. Prints
// "NAME MILLISECONDS". bench/profile_gpu runs it plain and under tools.
#include <algorithm>
#include <cstdio>
#include <functional>

enum { N = 2048, ALL = N * N };

__global__ void saxpy(float *y, const float *x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void gemm(float *c, const float *a, const float *b, int n) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
  c[i * n + j] = sum;
}
__global__ void gemm_tiled(float *c, const float *a, const float *b, int n) {
  __shared__ float s[16][16], t[16][16];
  int x = threadIdx.x, y = threadIdx.y, j = blockIdx.x * 16 + x, i = blockIdx.y * 16 + y;
  float sum = 0;
  for (int m = 0; m < n; m += 16) {
    s[y][x] = a[i * n + m + x];
    t[y][x] = b[(m + y) * n + j];
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += s[y][k] * t[k][x];
    __syncthreads();
  }
  c[i * n + j] = sum;
}
__global__ void row_sums(float *out, const float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  if (i >= n) return;
  for (int k = 0; k < n; k++) sum += a[i * n + k];
  out[i] = sum;
}
__global__ void column_sums(float *out, const float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  if (i >= n) return;
  for (int k = 0; k < n; k++) sum += a[k * n + i];
  out[i] = sum;
}
__global__ void stencil(float *out, const float *in, int n) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < 1 || j < 1 || i >= n - 1 || j >= n - 1) return;
  float sum = 0;
  for (int y = -1; y <= 1; y++)
    for (int x = -1; x <= 1; x++) sum += in[(i + y) * n + j + x];
  out[i * n + j] = sum / 9;
}
__global__ void transpose(float *out, const float *in, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) out[(y + i) * n + x] = tile[threadIdx.x][threadIdx.y + i];
}
__global__ void reduce(float *out, const float *in, int n) {
  __shared__ float part[256];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += in[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int s = 128; s; s /= 2) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (!threadIdx.x) out[blockIdx.x] = part[0];
}
__global__ void gather(float *out, const float *in, const int *at, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[at[i]];
}
__global__ void sparse(float *y, const float *values, const int *columns, const int *rows,
                       const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  if (i >= n) return;
  for (int k = rows[i]; k < rows[i + 1]; k++) sum += values[k] * x[columns[k]];
  y[i] = sum;
}
__global__ void histogram(int *bins, const int *keys, int n) {
  __shared__ int own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&own[keys[i] & 255], 1);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
__global__ void bodies(float4 *out, const float4 *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 me = p[i], a = {};
  for (int k = 0; k < n; k++) {
    float4 o = p[k];
    float x = o.x - me.x, y = o.y - me.y, z = o.z - me.z, d = rsqrtf(x * x + y * y + z * z + 1e-3f);
    float f = o.w * d * d * d;
    a.x += x * f;
    a.y += y * f;
    a.z += z * f;
  }
  out[i] = a;
}

__global__ void fill(float *a, int *keys, int *rows, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = (float)(i % 101) / 7;
  keys[i] = (int)((unsigned)i * 2654435761u % (unsigned)n);
  if (i <= n / 16) rows[i] = i * 16;
}

static void time_of(const char *name, const std::function<void()> &launch) {
  cudaEvent_t from, to;
  float best = 1e9f, ms;
  cudaEventCreate(&from);
  cudaEventCreate(&to);
  for (int i = 0; i < 6; i++) {
    cudaEventRecord(from);
    launch();
    cudaEventRecord(to);
    cudaEventSynchronize(to);
    cudaEventElapsedTime(&ms, from, to);
    if (i) best = std::min(best, ms);
  }
  printf("%s %.4f\n", name, best);
}

int main() {
  float *a, *b, *c;
  int *keys, *rows;
  for (float **p : {&a, &b, &c}) cudaMalloc(p, ALL * 4);
  cudaMalloc(&keys, ALL * 4);
  cudaMalloc(&rows, ALL * 4);
  for (float *p : {a, b, c}) fill<<<ALL / 256, 256>>>(p, keys, rows, ALL);
  dim3 grid(N / 32, N / 8), block(32, 8);
  time_of("saxpy", [&] { saxpy<<<ALL / 256, 256>>>(c, a, 2, ALL); });
  time_of("gemm", [&] { gemm<<<grid, block>>>(c, a, b, N); });
  time_of("gemm_tiled", [&] { gemm_tiled<<<dim3(N / 16, N / 16), dim3(16, 16)>>>(c, a, b, N); });
  time_of("row_sums", [&] { row_sums<<<N / 128, 128>>>(c, a, N); });
  time_of("column_sums", [&] { column_sums<<<N / 128, 128>>>(c, a, N); });
  time_of("stencil", [&] { stencil<<<grid, block>>>(c, a, N); });
  time_of("transpose", [&] { transpose<<<dim3(N / 32, N / 32), block>>>(c, a, N); });
  time_of("reduce", [&] { reduce<<<1024, 256>>>(c, a, ALL); });
  time_of("gather", [&] { gather<<<ALL / 256, 256>>>(c, a, keys, ALL); });
  time_of("sparse", [&] { sparse<<<ALL / 16 / 256, 256>>>(c, a, keys, rows, b, ALL / 16); });
  time_of("histogram", [&] { histogram<<<1024, 256>>>(rows, keys, ALL); });
  time_of("bodies", [&] { bodies<<<64, 256>>>((float4 *)c, (float4 *)a, 16384); });
  return cudaDeviceSynchronize() != cudaSuccess;
}
