// Kernels whose threads share tiles in shared memory, in the usual ways: bench/gpu_tiles runs them
// plain and under tools. One line for each: name, milliseconds of a launch (the best of some), and
// a digest of what it wrote.
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../../tests/lib/tensor_map.h"

enum { N = 1 << 22, SIDE = 1024 };
static float *in, *out;
static int *number;

// --- barriers and tiles ---

__global__ void matmul(float *c, const float *a, const float *b, int n) {
  __shared__ float as[16][16], bs[16][16];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
  float sum = 0;
  for (int t = 0; t < n; t += 16) {
    as[y][x] = a[row * n + t + x];
    bs[y][x] = b[(t + y) * n + col];
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += as[y][k] * bs[k][x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

__global__ void transpose(float *to, const float *from, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) tile[threadIdx.y + i][threadIdx.x] = from[(y + i) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) to[(y + i) * n + x] = tile[threadIdx.x][threadIdx.y + i];
}

__global__ void reduce(float *to, const float *from, int n) {
  __shared__ float s[256];
  float sum = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += from[i];
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int d = 128; d; d >>= 1) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (!threadIdx.x) to[blockIdx.x] = s[0];
}

__global__ void scan(float *to, const float *from) {  // of 512 numbers, as in GPU Gems
  __shared__ float s[512];
  int t = threadIdx.x, offset = 1;
  s[2 * t] = from[blockIdx.x * 512 + 2 * t];
  s[2 * t + 1] = from[blockIdx.x * 512 + 2 * t + 1];
  for (int d = 256; d; d >>= 1) {
    __syncthreads();
    if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (!t) s[511] = 0;
  for (int d = 1; d < 512; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
      float x = s[a];
      s[a] = s[b];
      s[b] += x;
    }
  }
  __syncthreads();
  to[blockIdx.x * 512 + 2 * t] = s[2 * t];
  to[blockIdx.x * 512 + 2 * t + 1] = s[2 * t + 1];
}

__global__ void stencil(float *to, const float *from, int n) {
  __shared__ float s[18][34];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, i = threadIdx.x + 1,
      j = threadIdx.y + 1;
  s[j][i] = from[y * n + x];
  if (threadIdx.x == 0) s[j][0] = x ? from[y * n + x - 1] : 0;
  if (threadIdx.x == 31) s[j][33] = x + 1 < n ? from[y * n + x + 1] : 0;
  if (threadIdx.y == 0) s[0][i] = y ? from[(y - 1) * n + x] : 0;
  if (threadIdx.y == 15) s[17][i] = y + 1 < n ? from[(y + 1) * n + x] : 0;
  __syncthreads();
  to[y * n + x] = s[j][i] - 0.25f * (s[j][i - 1] + s[j][i + 1] + s[j - 1][i] + s[j + 1][i]);
}

__global__ void bitonic(int *keys) {  // 512 keys a block
  __shared__ int s[512];
  int t = threadIdx.x;
  s[t] = keys[blockIdx.x * 512 + t];
  s[t + 256] = keys[blockIdx.x * 512 + t + 256];
  for (int size = 2; size <= 512; size *= 2)
    for (int stride = size / 2; stride; stride /= 2) {
      __syncthreads();
      int at = 2 * t - (t & (stride - 1)), a = s[at], b = s[at + stride];
      bool up = !(t & (size / 2));
      if ((a > b) == up) {
        s[at] = b;
        s[at + stride] = a;
      }
    }
  __syncthreads();
  keys[blockIdx.x * 512 + t] = s[t];
  keys[blockIdx.x * 512 + t + 256] = s[t + 256];
}

__global__ void histogram(int *to, const int *from, int n) {
  __shared__ int s[256];
  s[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
    atomicAdd(&s[from[i] & 255], 1);
  __syncthreads();
  atomicAdd(&to[threadIdx.x], s[threadIdx.x]);
}

// --- LU decomposition of tiles, as in Rodinia ---

__global__ void lu_diagonal(float *m, int n) {
  __shared__ float s[16][16];
  float *at = m + (size_t)blockIdx.x * 16 * n + blockIdx.x * 16;
  int t = threadIdx.x;
  for (int i = 0; i < 16; i++) s[i][t] = at[i * n + t];
  __syncthreads();
  for (int i = 0; i < 15; i++) {
    if (t > i) {
      for (int j = 0; j < i; j++) s[t][i] -= s[t][j] * s[j][i];
      s[t][i] /= s[i][i];
    }
    __syncthreads();
    if (t > i)
      for (int j = 0; j < i + 1; j++) s[i + 1][t] -= s[i + 1][j] * s[j][t];
    __syncthreads();
  }
  for (int i = 1; i < 16; i++) at[i * n + t] = s[i][t];
}

__global__ void lu_perimeter(float *to, const float *m, int n) {
  __shared__ float dia[16][16], row[16][16], col[16][16];
  int t = threadIdx.x & 15;
  size_t at = (size_t)blockIdx.x * 16;
  if (threadIdx.x < 16) {
    for (int i = 0; i < 8; i++) dia[i][t] = m[(size_t)i * n + t];
    for (int i = 0; i < 16; i++) row[i][t] = m[(size_t)i * n + at + t];
  } else {
    for (int i = 8; i < 16; i++) dia[i][t] = m[(size_t)i * n + t];
    for (int i = 0; i < 16; i++) col[i][t] = m[(at + i) * n + t];
  }
  __syncthreads();
  if (threadIdx.x < 16) {
    for (int i = 1; i < 16; i++)
      for (int j = 0; j < i; j++) row[i][t] -= dia[i][j] * row[j][t];
  } else {
    for (int i = 0; i < 16; i++) {
      for (int j = 0; j < i; j++) col[t][i] -= col[t][j] * dia[j][i];
      col[t][i] /= dia[i][i] + 2;
    }
  }
  __syncthreads();
  if (threadIdx.x < 16)
    for (int i = 1; i < 16; i++) to[(size_t)i * n + at + t] = row[i][t];
  else
    for (int i = 0; i < 16; i++) to[(at + i + 16) * n + t] = col[i][t];
}

__global__ void needle(int *m, int n, int diagonal) {  // tiles of one diagonal, Rodinia's nw
  __shared__ int s[17][17], ref[16][16];
  int t = threadIdx.x, by = blockIdx.x, bx = diagonal - by;
  int *at = m + (size_t)by * 16 * n + bx * 16;
  for (int i = 0; i < 16; i++) ref[i][t] = (t * 7 + i * 3) % 10 - 4;
  if (!t) s[0][0] = at[0];
  s[t + 1][0] = at[(t + 1) * n];
  __syncthreads();
  s[0][t + 1] = at[t + 1];
  __syncthreads();
  for (int k = 0; k < 16; k++) {
    if (t <= k) {
      int x = t + 1, y = k - t + 1;
      s[y][x] = max(s[y - 1][x - 1] + ref[y - 1][x - 1], max(s[y][x - 1] - 10, s[y - 1][x] - 10));
    }
    __syncthreads();
  }
  for (int k = 14; k >= 0; k--) {
    if (t <= k) {
      int x = t + 16 - k, y = 16 - t;
      s[y][x] = max(s[y - 1][x - 1] + ref[y - 1][x - 1], max(s[y][x - 1] - 10, s[y - 1][x] - 10));
    }
    __syncthreads();
  }
  for (int i = 0; i < 16; i++) at[(i + 1) * n + t + 1] = s[i + 1][t + 1];
}

// --- warps and blocks together ---

__device__ static float warp_sum(float v) {
  for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(~0u, v, d);
  return v;
}

__device__ static float block_sum(float v, float *s) {
  v = warp_sum(v);
  __syncthreads();
  if (!(threadIdx.x & 31)) s[threadIdx.x >> 5] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x >> 5 ? s[threadIdx.x] : 0;
  if (threadIdx.x < 32) v = warp_sum(v);
  if (!threadIdx.x) s[0] = v;
  __syncthreads();
  return s[0];
}

__global__ void layer_norm(float *to, const float *from, int n) {  // a row for each block
  __shared__ float s[32];
  const float *x = from + (size_t)blockIdx.x * n;
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += x[i];
  float mean = block_sum(sum, s) / n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) squares += (x[i] - mean) * (x[i] - mean);
  float scale = rsqrtf(block_sum(squares, s) / n + 1e-5f);
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    to[(size_t)blockIdx.x * n + i] = (x[i] - mean) * scale;
}

__global__ void softmax_tile(float *to, const float *from, int n) {  // a row in shared memory
  extern __shared__ float row[];
  __shared__ float s[32];
  const float *x = from + (size_t)blockIdx.x * n;
  float most = -1e30f, sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    row[i] = x[i];
    most = fmaxf(most, row[i]);
  }
  for (int d = 16; d; d >>= 1) most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
  if (!(threadIdx.x & 31)) s[threadIdx.x >> 5] = most;
  __syncthreads();
  for (int w = 0; w < blockDim.x >> 5; w++) most = fmaxf(most, s[w]);
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    row[i] = __expf(row[i] - most);
    sum += row[i];
  }
  sum = block_sum(sum, s);
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    to[(size_t)blockIdx.x * n + i] = row[i] / sum;
}

// --- asynchronous copies ---

__device__ static uint32_t shared_at(const void *p) {
  return (uint32_t)__cvta_generic_to_shared(p);
}

__global__ void matmul_cp_async(float *c, const float *a, const float *b, int n) {
  __shared__ alignas(16) float as[2][16][16], bs[2][16][16];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
  float sum = 0;
  auto fetch = [&](int t, int stage) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_at(&as[stage][y][x])),
                 "l"(&a[row * n + t + x]));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_at(&bs[stage][y][x])),
                 "l"(&b[(t + y) * n + col]));
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  fetch(0, 0);
  for (int t = 0, stage = 0; t < n; t += 16, stage ^= 1) {
    if (t + 16 < n) {
      fetch(t + 16, stage ^ 1);
      asm volatile("cp.async.wait_group 1;" ::: "memory");
    } else asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += as[stage][y][k] * bs[stage][k][x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
__device__ static uint64_t descriptor(const void *p) {  // rows of 128 bytes, swizzled
  return (uint64_t)(shared_at(p) >> 4 & 0x3fff) | 1ull << 16 | (uint64_t)(1024 >> 4) << 32 |
         1ull << 62;
}

__device__ static void wait(uint64_t *barrier, uint32_t phase) {
  asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p bra D;"
               " bra W; D: }" ::"r"(shared_at(barrier)), "r"(phase) : "memory");
}

// A tile of 64 by 64 for each block, half precision: one thread copies by tensor maps, four warps
// multiply.
__global__ void __launch_bounds__(128) wgmma_tile(float *c, const __grid_constant__ CUtensorMap a,
                                                  const __grid_constant__ CUtensorMap b, int n) {
  __shared__ alignas(1024) uint16_t as[2][64 * 64], bs[2][64 * 64];
  __shared__ uint64_t full[2];
  float d[32] = {0};
  if (!threadIdx.x)
    for (int i = 0; i < 2; i++)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_at(&full[i])) : "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  auto fetch = [&](int t, int stage) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 16384;" ::"r"(
                     shared_at(&full[stage]))
                 : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_at(as[stage])),
                 "l"(&a), "r"(t), "r"((int)blockIdx.y * 64), "r"(shared_at(&full[stage]))
                 : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_at(bs[stage])),
                 "l"(&b), "r"(t), "r"((int)blockIdx.x * 64), "r"(shared_at(&full[stage]))
                 : "memory");
  };
  if (!threadIdx.x) fetch(0, 0);
  for (int t = 0, turn = 0; t < n; t += 64, turn++) {
    int stage = turn & 1;
    if (!threadIdx.x && t + 64 < n) fetch(t + 64, stage ^ 1);
    wait(&full[stage], turn >> 1 & 1);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < 64; k += 16)
      asm volatile(
          "{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
          "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "
          "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, 1, 0, "
          "0; }"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
            "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
            "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),
            "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]),
            "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
          : "l"(descriptor(as[stage] + k)), "l"(descriptor(bs[stage] + k)));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    __syncthreads();  // both stages may be written again
  }
  float *to = c + ((size_t)(blockIdx.y * gridDim.x + blockIdx.x) * 128 + threadIdx.x) * 32;
  for (int i = 0; i < 32; i++) to[i] = d[i];
}
#else
__global__ void wgmma_tile(float *, const __grid_constant__ CUtensorMap,
                           const __grid_constant__ CUtensorMap, int) {}
#endif

// --- the host ---

__global__ void fill(float *f, int *i, int n) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n) {
    f[at] = (float)((at * 2654435761u >> 20) & 255) / 256 + 0.5f;
    i[at] = (int)(at * 2654435761u >> 8);
  }
}

static CUtensorMap map_of(void *p, int n) {
  TensorMapEncode *encode = tensor_map_encode();
  CUtensorMap map = {};
  cuuint64_t dims[2] = {(cuuint64_t)n, (cuuint64_t)n}, strides[1] = {(cuuint64_t)n * 2};
  cuuint32_t box[2] = {64, 64}, steps[2] = {1, 1};
  if (!encode || encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, p, dims, strides, box, steps,
                        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
    printf("no tensor map\n");
  return map;
}

template <class Launch> static void measure(const char *name, const char *only, Launch launch) {
  if (only && strcmp(only, "all") && strcmp(only, name)) return;
  cudaEvent_t begin, end;
  float best = 1e30f, ms, all = 0;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  for (int round = 0; round < 4 && (round < 2 || all < 500); round++) {
    fill<<<N / 256, 256>>>(in, number, N);
    cudaEventRecord(begin);
    launch();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, begin, end);
    if (round && ms < best) best = ms;  // the first one compiles
    all += ms;
  }
  uint32_t digest = 2166136261u, *copy = (uint32_t *)malloc(N * 4);
  cudaMemcpy(copy, out, N * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < N; i++) digest = (digest ^ copy[i]) * 16777619u;
  cudaMemcpy(copy, number, N * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < N; i++) digest = (digest ^ copy[i]) * 16777619u;
  free(copy);
  cudaError_t error = cudaGetLastError();
  printf("%s %.4f %08x%s%s\n", name, best, digest, error ? " " : "",
         error ? cudaGetErrorName(error) : "");
  fflush(stdout);
}

int main(int argc, char **argv) {
  const char *only = argc > 1 ? argv[1] : nullptr;
  int n = argc > 2 ? atoi(argv[2]) : SIDE, g = n / 16;  // rows and columns
  cudaMalloc(&in, N * 4);
  cudaMalloc(&out, N * 4);
  cudaMalloc(&number, N * 4);
  cudaMemset(out, 0, N * 4);
  dim3 square(16, 16), tall(32, 8), wide(32, 16);
  int all = n * n;
  measure("matmul", only, [&] { matmul<<<dim3(g, g), square>>>(out, in, in, n); });
  measure("transpose", only, [&] { transpose<<<dim3(n / 32, n / 32), tall>>>(out, in, n); });
  measure("reduce", only, [&] { reduce<<<264, 256>>>(out, in, all); });
  measure("scan", only, [&] { scan<<<all / 512, 256>>>(out, in); });
  measure("stencil", only, [&] { stencil<<<dim3(n / 32, n / 16), wide>>>(out, in, n); });
  measure("bitonic", only, [&] { bitonic<<<all / 512, 256>>>(number); });
  measure("histogram", only, [&] { histogram<<<264, 256>>>((int *)out, number, all); });
  measure("lu_diagonal", only, [&] { lu_diagonal<<<g, 16>>>(in, n); });
  measure("lu_perimeter", only, [&] { lu_perimeter<<<g - 1, 32>>>(out, in, n); });
  measure("needle", only, [&] {
    for (int d = 0; d < g - 1; d++) needle<<<d + 1, 16>>>(number, n, d);
  });
  measure("layer_norm", only, [&] { layer_norm<<<n, 256>>>(out, in, n); });
  measure("softmax", only, [&] { softmax_tile<<<n, 256, n * 4>>>(out, in, n); });
  measure("matmul_cp_async", only,
          [&] { matmul_cp_async<<<dim3(g, g), square>>>(out, in, in, n); });
  CUtensorMap map = map_of(in, n);
  measure("wgmma_tile", only,
          [&] { wgmma_tile<<<dim3(n / 64, n / 64), 128>>>(out, map, map, n); });
  return 0;
}
