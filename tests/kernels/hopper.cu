// Copies by tensor map (tiles, edges, swizzles, reductions) and wgmma from the tiles they make.
// arch: compute_90a
// prints: all checks passed
#include <algorithm>
#include <cmath>
#include <cuda.h>
#include <cuda_fp16.h>

#include "../runtime/check.h"

typedef CUresult Encode(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                        const cuuint64_t *, const cuuint32_t *, const cuuint32_t *,
                        CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                        CUtensorMapFloatOOBfill);
static Encode *encode;

static CUtensorMap tile_map(CUtensorMapDataType type, size_t element, void *data, int width,
                            int height, int box_w, int box_h, CUtensorMapSwizzle swizzle) {
  CUtensorMap m;
  cuuint64_t dims[2] = {(cuuint64_t)width, (cuuint64_t)height}, strides[1] = {width * element};
  cuuint32_t box[2] = {(cuuint32_t)box_w, (cuuint32_t)box_h}, ones[2] = {1, 1};
  EXPECT(encode(&m, type, 2, data, dims, strides, box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                CU_TENSOR_MAP_L2_PROMOTION_NONE,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
  return m;
}

static __device__ unsigned address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

static __device__ void barrier_init(unsigned b) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(b) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
static __device__ void barrier_expect(unsigned b, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b), "r"(bytes)
               : "memory");
}
static __device__ void barrier_wait(unsigned b, unsigned phase) {
  asm volatile("{ .reg .pred p;\nagain: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p "
               "bra again; }" ::"r"(b),
               "r"(phase)
               : "memory");
}
static __device__ void load_tile(void *to, const CUtensorMap *map, int x, int y, unsigned b) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2, %3}], [%4];" ::"r"(address(to)),
               "l"(map), "r"(x), "r"(y), "r"(b)
               : "memory");
}

// --- tiles: read at (x, y), add one, write back shifted, and add to a sum; where they are
// negative, which a GPU refuses there, to 0 ---
__global__ void tiles(const __grid_constant__ CUtensorMap in,
                      const __grid_constant__ CUtensorMap out,
                      const __grid_constant__ CUtensorMap sum, int x, int y, float *copy) {
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
  x = max(x, 0), y = max(y, 0);
  if (threadIdx.x == 0) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
            &out),
        "r"(x + 4), "r"(y), "r"(address(s))
        : "memory");
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, "
                 "%2}], [%3];" ::"l"(&sum),
                 "r"(x), "r"(y), "r"(address(s))
                 : "memory");
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
    CUtensorMap mi = tile_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, in, w, h, 16, 8,
                              CU_TENSOR_MAP_SWIZZLE_NONE);
    CUtensorMap mo = tile_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, out, w, h, 16, 8,
                              CU_TENSOR_MAP_SWIZZLE_NONE);
    CUtensorMap ms = tile_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, sum, w, h, 16, 8,
                              CU_TENSOR_MAP_SWIZZLE_NONE);
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
        int j = x - std::max(p[0], 0), i = y - std::max(p[1], 0), jo = j - 4;
        bool row = i >= 0 && i < 8;
        wrong += sum[y * w + x] != (j >= 0 && j < 16 && row ? 1000 + copy[i * 16 + j] + 1 : 1000);
        wrong += out[y * w + x] != (jo >= 0 && jo < 16 && row ? copy[i * 16 + jo] + 1 : -7);
      }
    if (wrong) printf("tile at (%d, %d): %d elements are wrong\n", p[0], p[1], wrong), failures++;
  }
}

// --- wgmma: 64x64 (A) times 64x64 (B), both with k along the lines, in tiles of one swizzle each
// ---
static __device__ unsigned long long descriptor(const void *p, unsigned leading, unsigned stride,
                                                unsigned mode) {
  return (address(p) & 0x3ffff) >> 4 | (unsigned long long)(leading >> 4) << 16 |
         (unsigned long long)(stride >> 4) << 32 | (unsigned long long)mode << 62;
}

#define ACC32 \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%" \
  "25,%26,%27,%28,%29,%30,%31}"
#define ACC_OPERANDS(d) \
  "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), \
      "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), \
      "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), \
      "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), \
      "+f"(d[29]), "+f"(d[30]), "+f"(d[31])

static __device__ void store_result(float *out, const float *d) {
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (unsigned i = 0; i < 32; i++)
    out[(warp * 16 + lane / 4 + (i & 2) * 4) * 64 + i / 4 * 8 + lane % 4 * 2 + (i & 1)] = d[i];
}

template <int MODE, int LINE>
__global__ void product(const __grid_constant__ CUtensorMap ma,
                        const __grid_constant__ CUtensorMap mb, float *out) {
  __shared__ __align__(1024) __half a[64 * 64], b[64 * 64];
  __shared__ __align__(8) unsigned long long barrier;
  unsigned bar = address(&barrier);
  const int halves = LINE / 2;                // of k in one line
  if (threadIdx.x == 0) {
    barrier_init(bar);
    barrier_expect(bar, sizeof a + sizeof b);
    for (int k = 0; k < 64; k += halves)
      load_tile(a + k * 64, &ma, k, 0, bar), load_tile(b + k * 64, &mb, k, 0, bar);
  }
  __syncthreads();
  barrier_wait(bar, 0);
  float d[32];
  for (int i = 0; i < 32; i++) d[i] = 1;
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int k = 0; k < 64; k += 16) {
    const __half *pa = a + k / halves * halves * 64 + k % halves,
                 *pb = b + k / halves * halves * 64 + k % halves;
    unsigned long long da = descriptor(pa, 16, LINE * 8, MODE),
                       db = descriptor(pb, 16, LINE * 8, MODE);
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %34, "
                 "0;\nwgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " ACC32
                 ", %32, %33, p, 1, -1, 0, 0; }"
                 : ACC_OPERANDS(d)
                 : "l"(da), "l"(db), "r"(1));
  }
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  store_result(out, d);
}

// no swizzle: 8x8 pieces by hand; A in registers, B along n ("transposed"), accumulator replaced
// first
__global__ void pieces(const __half *a, const __half *b, float *out) {
  __shared__ __align__(1024) __half s[64 * 64];
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) {
    int k = i / 64, n = i % 64;  // b is [k][n]; a piece is 8 of k by 8 of n, pieces along n first
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
    for (int i = 0; i < 4; i++)
      r[i] = *(const unsigned *)(a + (row + i % 2 * 8) * 64 + k + i / 2 * 8 + lane % 4 * 2);
    unsigned long long db = descriptor(s + k / 8 * 512, 1024, 128, 0);
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %37, "
                 "0;\nwgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " ACC32
                 ", {%32,%33,%34,%35}, %36, p, 1, 1, 1; }"
                 : ACC_OPERANDS(d)
                 : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(db), "r"(k));
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
  for (int i = 0; i < 4096; i++)
    a[i] = __float2half((float)(i * 7 % 13 - 6)), b[i] = __float2half((float)(i * 5 % 11 - 5));
  for (int kind = 0; kind < 4; kind++) {
    CUtensorMapSwizzle swizzle = kind == 1   ? CU_TENSOR_MAP_SWIZZLE_128B
                                 : kind == 2 ? CU_TENSOR_MAP_SWIZZLE_64B
                                             : CU_TENSOR_MAP_SWIZZLE_32B;
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
        for (int k = 0; k < 64; k++)
          sum += __half2float(a[i * 64 + k]) * __half2float(kind ? b[j * 64 + k] : b[k * 64 + j]);
        wrong += out[i * 64 + j] != (kind ? 1 - sum : sum);
      }
    if (wrong) printf("wgmma, layout %d: %d elements are wrong\n", kind, wrong), failures++;
  }
}

// --- wgmma of every type: 64x8, one step of k (32 bytes), pieces of 8 rows of 16 bytes ---
enum { BF16, TF32, E4M3, E5M2, S8, U8, B1, F16_F16, TYPES };
static const char *const type_names[] = {"bf16", "tf32", "e4m3", "e5m2",
                                         "s8",   "u8",   "b1",   "f16 to f16"};

template <int TYPE> __global__ void types(const uint4 *a, const uint4 *b, unsigned *out) {
  __shared__ __align__(128) uint4 sa[128], sb[16];
  for (int i = threadIdx.x; i < 128; i += blockDim.x)
    sa[i / 16 * 16 + i % 2 * 8 + i % 16 / 2] = a[i];  // a: [row][2]
  if (threadIdx.x < 16) sb[threadIdx.x % 2 * 8 + threadIdx.x / 2] = b[threadIdx.x];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  unsigned long long da = descriptor(sa, 128, 256, 0), db = descriptor(sb, 128, 256, 0);
  unsigned d[4] = {0, 0, 0, 0};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#define WGMMA(shape_types, extra) \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 0;\n" \
               "wgmma.mma_async.sync.aligned.m64n8" shape_types \
               " {%0,%1,%2,%3}, %4, %5, p" extra "; }" \
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "l"(da), "l"(db))
#define WGMMA_F(shape_types, extra) \
  do { \
    float f[4] = {0, 0, 0, 0}; \
    asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 0;\n" \
               "wgmma.mma_async.sync.aligned.m64n8" shape_types \
               " {%0,%1,%2,%3}, %4, %5, p" extra "; }" \
                 : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3]) : "l"(da), "l"(db)); \
    asm volatile("wgmma.commit_group.sync.aligned;\n" \
                 "wgmma.wait_group.sync.aligned 0;" ::: "memory"); \
    for (int i = 0; i < 4; i++) d[i] = __float_as_uint(f[i]); \
  } while (0)
  if (TYPE == BF16) WGMMA_F("k16.f32.bf16.bf16", ", 1, 1, 0, 0");
  if (TYPE == TF32) WGMMA_F("k8.f32.tf32.tf32", ", 1, 1");
  if (TYPE == E4M3) WGMMA_F("k32.f32.e4m3.e4m3", ", 1, 1");
  if (TYPE == E5M2) WGMMA_F("k32.f32.e5m2.e5m2", ", 1, 1");
  if (TYPE == S8) WGMMA("k32.s32.s8.s8", "");
  if (TYPE == U8) WGMMA("k32.s32.u8.u8", "");
  if (TYPE == B1) WGMMA("k256.s32.b1.b1.and.popc", "");
  if (TYPE == F16_F16)
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, 1, 0;\nwgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 "
        "{%0,%1}, %2, %3, p, 1, 1, 0, 0; }"
        : "+r"(d[0]), "+r"(d[1])
        : "l"(da), "l"(db));
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = d[i];
}

static float value_of(int type, const unsigned char *row, int k) {
  unsigned short h;
  float f;
  switch (type) {
    case BF16: {
      memcpy(&h, row + 2 * k, 2);
      unsigned u = (unsigned)h << 16;
      memcpy(&f, &u, 4);
      return f;
    }
  case F16_F16: { __half x; memcpy(&x, row + 2 * k, 2); return __half2float(x); }
  case TF32: memcpy(&f, row + 4 * k, 4); return f;
  case E4M3: {
    int e = row[k] >> 3 & 15;
    f = e ? ldexpf(1 + (row[k] & 7) / 8.0f, e - 7) : ldexpf((row[k] & 7) / 8.0f, -6);
    return row[k] & 128 ? -f : f;
  }
  case E5M2: {
    int e = row[k] >> 2 & 31;
    f = e ? ldexpf(1 + (row[k] & 3) / 4.0f, e - 15) : ldexpf((row[k] & 3) / 4.0f, -14);
    return row[k] & 128 ? -f : f;
  }
  case S8: return (float)(signed char)row[k];
  case U8: return row[k];
  default: return row[k / 8] >> k % 8 & 1;
  }
}

// Bytes of small values of the type: whatever the type, sums of 32 products are exact.
static void fill(int type, unsigned char *p, int n, unsigned salt) {
  for (int i = 0; i < n; i++) {
    unsigned r = (unsigned)i * 2654435761u + salt;
    int v = (int)(r >> 20) % 7 - 3;
    float f = (float)v;
    unsigned u;
    memcpy(&u, &f, 4);
    __half h = __float2half(f);
    switch (type) {
    case BF16: if (i % 2 == 0) memcpy(p + i, (char *)&u + 2, 2); break;
    case F16_F16: if (i % 2 == 0) memcpy(p + i, &h, 2); break;
    case TF32: if (i % 4 == 0) memcpy(p + i, &u, 4); break;
    case E4M3: p[i] = (unsigned char)(0x30 + r % 24 + (r >> 7 & 0x80)); break;
    case E5M2: p[i] = (unsigned char)(0x38 + r % 12 + (r >> 7 & 0x80)); break;
    default: p[i] = (unsigned char)(r >> 13); break;
    }
  }
}

static void check_types() {
  unsigned char *a, *b;
  unsigned *out;
  OK(cudaMallocManaged(&a, 2048));
  OK(cudaMallocManaged(&b, 256));
  OK(cudaMallocManaged(&out, 2048));
  for (int type = 0; type < TYPES; type++) {
    fill(type, a, 2048, 17), fill(type, b, 256, 99);
    const uint4 *pa = (const uint4 *)a, *pb = (const uint4 *)b;
    switch (type) {
    case BF16: types<BF16><<<1, 128>>>(pa, pb, out); break;
    case TF32: types<TF32><<<1, 128>>>(pa, pb, out); break;
    case E4M3: types<E4M3><<<1, 128>>>(pa, pb, out); break;
    case E5M2: types<E5M2><<<1, 128>>>(pa, pb, out); break;
    case S8: types<S8><<<1, 128>>>(pa, pb, out); break;
    case U8: types<U8><<<1, 128>>>(pa, pb, out); break;
    case B1: types<B1><<<1, 128>>>(pa, pb, out); break;
    default: types<F16_F16><<<1, 128>>>(pa, pb, out); break;
    }
    OK(cudaDeviceSynchronize());
    int n = type == TF32                      ? 8
            : type == BF16 || type == F16_F16 ? 16
            : type == B1                      ? 256
                                              : 32,
        wrong = 0;
    for (int t = 0; t < 128; t++)
      for (int i = 0; i < 4; i++) {
        int row = t / 32 * 16 + t % 32 / 4 + (i & 2) * 4, col = t % 4 * 2 + (i & 1);
        float sum = 0, got;
        for (int k = 0; k < n; k++)
          sum += value_of(type, a + row * 32, k) * value_of(type, b + col * 32, k);
        if (type == F16_F16) {
          __half h;
          memcpy(&h, (char *)(out + t * 4 + i / 2) + (i & 1) * 2, 2);
          got = __half2float(h);
        } else if (type == S8 || type == U8 || type == B1) got = (float)(int)out[t * 4 + i];
        else memcpy(&got, out + t * 4 + i, 4);
        wrong += got != sum;
      }
    if (wrong) printf("wgmma of %s: %d elements are wrong\n", type_names[type], wrong), failures++;
  }
}

int main() {
  cudaDriverEntryPointQueryResult found;
  OK(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", (void **)&encode, cudaEnableDefault,
                             &found));
  EXPECT(encode && found == cudaDriverEntryPointSuccess);
  check_tiles();
  check_products();
  check_types();
  return finish();
}
