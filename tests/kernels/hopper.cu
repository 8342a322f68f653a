// Copies by tensor map (tiles, edges, swizzles, reductions) and wgmma from the tiles they make.
// arch: compute_90a
// expect: all checks passed
#include <cuda.h>
#include <cuda_fp16.h>

#include "../runtime/check.h"

typedef CUresult Encode(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                        const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
static Encode *encode;

static CUtensorMap tile_map(CUtensorMapDataType type, size_t element, void *data, int width, int height, int box_w, int box_h, CUtensorMapSwizzle swizzle) {
  CUtensorMap m;
  cuuint64_t dims[2] = {(cuuint64_t)width, (cuuint64_t)height}, strides[1] = {width * element};
  cuuint32_t box[2] = {(cuuint32_t)box_w, (cuuint32_t)box_h}, ones[2] = {1, 1};
  EXPECT(encode(&m, type, 2, data, dims, strides, box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
  return m;
}

static __device__ unsigned address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

static __device__ void barrier_init(unsigned b) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(b) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
static __device__ void barrier_expect(unsigned b, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(b), "r"(bytes) : "memory");
}
static __device__ void barrier_wait(unsigned b, unsigned phase) {
  asm volatile("{ .reg .pred p;\nagain: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra again; }" :: "r"(b), "r"(phase) : "memory");
}
static __device__ void load_tile(void *to, const CUtensorMap *map, int x, int y, unsigned b) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
               :: "r"(address(to)), "l"(map), "r"(x), "r"(y), "r"(b) : "memory");
}

// --- tiles: read at (x, y), add one, write back shifted, and add to a sum ---
__global__ void tiles(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out, const __grid_constant__ CUtensorMap sum, int x, int y, float *copy) {
  __shared__ __align__(128) float s[8][16];
  __shared__ __align__(8) unsigned long long barrier;
  unsigned b = address(&barrier);
  if (threadIdx.x == 0) {
    barrier_init(b);
    barrier_expect(b, sizeof s);
    load_tile(s, &in, x, y, b);
  }
  __syncthreads();
  barrier_wait(b, 0);
  for (int i = threadIdx.x; i < 128; i += blockDim.x) copy[i] = (&s[0][0])[i], (&s[0][0])[i] += 1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" :: "l"(&out), "r"(x + 1), "r"(y), "r"(address(s)) : "memory");
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];" :: "l"(&sum), "r"(x), "r"(y), "r"(address(s)) : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
  }
}

static void check_tiles() {
  const int w = 36, h = 20;
  float *in, *out, *sum, *copy;
  OK(cudaMallocManaged(&in, w * h * 4));
  OK(cudaMallocManaged(&out, w * h * 4));
  OK(cudaMallocManaged(&sum, w * h * 4));
  OK(cudaMallocManaged(&copy, 512));
  const int places[][2] = {{0, 0}, {8, 5}, {28, 15}, {-4, -3}, {100, 0}};
  for (auto &p : places) {
    for (int i = 0; i < w * h; i++) in[i] = (float)i + 1, out[i] = -7, sum[i] = 1000;
    CUtensorMap mi = tile_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, in, w, h, 16, 8, CU_TENSOR_MAP_SWIZZLE_NONE);
    CUtensorMap mo = tile_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, out, w, h, 16, 8, CU_TENSOR_MAP_SWIZZLE_NONE);
    CUtensorMap ms = tile_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, sum, w, h, 16, 8, CU_TENSOR_MAP_SWIZZLE_NONE);
    tiles<<<1, 64>>>(mi, mo, ms, p[0], p[1], copy);
    OK(cudaDeviceSynchronize());
    int wrong = 0;
    for (int i = 0; i < 8; i++)
      for (int j = 0; j < 16; j++) {
        int x = p[0] + j, y = p[1] + i;
        bool inside = x >= 0 && x < w && y >= 0 && y < h;
        wrong += copy[i * 16 + j] != (inside ? in[y * w + x] : 0);
      }
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++) {
        int j = x - p[0], i = y - p[1];
        bool row = i >= 0 && i < 8;
        float value = j >= 0 && j < 16 && row ? in[y * w + x] + 1 : 0;
        wrong += sum[y * w + x] != (j >= 0 && j < 16 && row ? 1000 + value : 1000);
        int jo = j - 1, from = x - 1;
        float shifted = from >= 0 ? in[y * w + from] + 1 : 1;
        wrong += out[y * w + x] != (jo >= 0 && jo < 16 && row ? shifted : -7);
      }
    if (wrong) printf("tile at (%d, %d): %d elements are wrong\n", p[0], p[1], wrong), failures++;
  }
}

// --- wgmma: 64x64 (A) times 64x64 (B), both with k along the lines, in tiles of one swizzle each ---
static __device__ unsigned long long descriptor(const void *p, unsigned leading, unsigned stride, unsigned mode) {
  return (address(p) & 0x3ffff) >> 4 | (unsigned long long)(leading >> 4) << 16 | (unsigned long long)(stride >> 4) << 32 | (unsigned long long)mode << 62;
}

#define ACC32 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}"
#define ACC_OPERANDS(d) \
  "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), \
  "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), \
  "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])

static __device__ void store_result(float *out, const float *d) {
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (unsigned i = 0; i < 32; i++) out[(warp * 16 + lane / 4 + (i & 2) * 4) * 64 + i / 4 * 8 + lane % 4 * 2 + (i & 1)] = d[i];
}

template <int MODE, int LINE> __global__ void product(const __grid_constant__ CUtensorMap ma, const __grid_constant__ CUtensorMap mb, float *out) {
  __shared__ __align__(1024) __half a[64 * 64], b[64 * 64];
  __shared__ __align__(8) unsigned long long barrier;
  unsigned bar = address(&barrier);
  const int halves = LINE / 2;                // of k in one line
  if (threadIdx.x == 0) {
    barrier_init(bar);
    barrier_expect(bar, sizeof a + sizeof b);
    for (int k = 0; k < 64; k += halves) load_tile(a + k * 64, &ma, k, 0, bar), load_tile(b + k * 64, &mb, k, 0, bar);
  }
  __syncthreads();
  barrier_wait(bar, 0);
  float d[32];
  for (int i = 0; i < 32; i++) d[i] = 1;
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int k = 0; k < 64; k += 16) {
    const __half *pa = a + k / halves * halves * 64 + k % halves, *pb = b + k / halves * halves * 64 + k % halves;
    unsigned long long da = descriptor(pa, 16, LINE * 8, MODE), db = descriptor(pb, 16, LINE * 8, MODE);
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %34, 0;\nwgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " ACC32 ", %32, %33, p, 1, -1, 0, 0; }"
                 : ACC_OPERANDS(d) : "l"(da), "l"(db), "r"(1));
  }
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  store_result(out, d);
}

// no swizzle: 8x8 pieces by hand; A in registers, B along n ("transposed"), accumulator replaced first
__global__ void pieces(const __half *a, const __half *b, float *out) {
  __shared__ __align__(1024) __half s[64 * 64];
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) {
    int k = i / 64, n = i % 64;               // b is [k][n]; a piece is 8 of k by 8 of n, pieces along n first
    s[(k / 8 * 8 + n / 8) * 64 + k % 8 * 8 + n % 8] = b[i];
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  float d[32];
  for (int i = 0; i < 32; i++) d[i] = 12345;
  unsigned lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int k = 0; k < 64; k += 16) {
    unsigned r[4];
    for (int i = 0; i < 4; i++) r[i] = *(const unsigned *)(a + (row + i % 2 * 8) * 64 + k + i / 2 * 8 + lane % 4 * 2);
    unsigned long long db = descriptor(s + k / 8 * 512, 1024, 128, 0);
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %37, 0;\nwgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " ACC32 ", {%32,%33,%34,%35}, %36, p, 1, 1, 1; }"
                 : ACC_OPERANDS(d) : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(db), "r"(k));
  }
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  store_result(out, d);
}

static void check_products() {
  __half *a, *b;
  float *out;
  OK(cudaMallocManaged(&a, 8192));
  OK(cudaMallocManaged(&b, 8192));
  OK(cudaMallocManaged(&out, 16384));
  for (int i = 0; i < 4096; i++) a[i] = __float2half((float)(i * 7 % 13 - 6)), b[i] = __float2half((float)(i * 5 % 11 - 5));
  for (int kind = 0; kind < 4; kind++) {
    CUtensorMapSwizzle swizzle = kind == 1 ? CU_TENSOR_MAP_SWIZZLE_128B : kind == 2 ? CU_TENSOR_MAP_SWIZZLE_64B : CU_TENSOR_MAP_SWIZZLE_32B;
    int halves = kind == 1 ? 64 : kind == 2 ? 32 : 16, wrong = 0;
    if (kind) {
      CUtensorMap ma = tile_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, a, 64, 64, halves, 64, swizzle);
      CUtensorMap mb = tile_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, b, 64, 64, halves, 64, swizzle);
      if (kind == 1) product<1, 128><<<1, 128>>>(ma, mb, out);
      if (kind == 2) product<2, 64><<<1, 128>>>(ma, mb, out);
      if (kind == 3) product<3, 32><<<1, 128>>>(ma, mb, out);
    } else pieces<<<1, 128>>>(a, b, out);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++)
      for (int j = 0; j < 64; j++) {
        float sum = 0;
        for (int k = 0; k < 64; k++) sum += __half2float(a[i * 64 + k]) * __half2float(kind ? b[j * 64 + k] : b[k * 64 + j]);
        wrong += out[i * 64 + j] != (kind ? 1 - sum : sum);
      }
    if (wrong) printf("wgmma, layout %d: %d elements are wrong\n", kind, wrong), failures++;
  }
}

int main() {
  cudaDriverEntryPointQueryResult found;
  OK(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", (void **)&encode, cudaEnableDefault, &found));
  EXPECT(encode && found == cudaDriverEntryPointSuccess);
  check_tiles();
  check_products();
  return finish();
}
