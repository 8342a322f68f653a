// Matrix products through wmma: every shape, type and layout, with values whose sums are exact.
// arch: compute_80
// prints: all checks passed
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include "../runtime/check.h"

using namespace nvcuda;

template <typename T> struct Storage { typedef T type; };
template <> struct Storage<wmma::precision::tf32> { typedef float type; };

template <int M, int N, int K, typename A, typename C, typename LA, typename LB>
__global__ void multiply(const typename Storage<A>::type *a, const typename Storage<A>::type *b,
                         const C *c, C *d, int lda, int ldb, int ldc, wmma::layout_t lc) {
  wmma::fragment<wmma::matrix_a, M, N, K, A, LA> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, A, LB> fb;
  wmma::fragment<wmma::accumulator, M, N, K, C> fc, fd;
  wmma::load_matrix_sync(fa, a, lda);
  wmma::load_matrix_sync(fb, b, ldb);
  wmma::load_matrix_sync(fc, c, ldc, lc);
  wmma::mma_sync(fd, fa, fb, fc);
  for (int i = 0; i < fd.num_elements; i++) fd.x[i] = fd.x[i] + fd.x[i];
  wmma::store_matrix_sync(d, fd, ldc, lc);
}

static unsigned seed = 1;
static int small(int low, int high) {
  seed = seed * 1664525 + 1013904223;
  return low + (int)((seed >> 8) % (unsigned)(high - low + 1));
}

template <int M, int N, int K, typename A, typename C, typename LA, typename LB>
static void check(const char *name, int low, int high, bool c_by_row) {
  typedef typename Storage<A>::type S;
  const bool a_row = std::is_same<LA, wmma::row_major>::value,
             b_row = std::is_same<LB, wmma::row_major>::value;
  const int lda = (a_row ? K : M) + 16, ldb = (b_row ? N : K) + 16, ldc = (c_by_row ? N : M) + 8;
  const int na = lda * (a_row ? M : K), nb = ldb * (b_row ? K : N), nc = ldc * (c_by_row ? M : N);
  S *a, *b;
  C *c, *d;
  OK(cudaMallocManaged(&a, na * sizeof(S)));
  OK(cudaMallocManaged(&b, nb * sizeof(S)));
  OK(cudaMallocManaged(&c, nc * sizeof(C)));
  OK(cudaMallocManaged(&d, nc * sizeof(C)));
  for (int i = 0; i < na; i++) a[i] = (S)(float)small(low, high);
  for (int i = 0; i < nb; i++) b[i] = (S)(float)small(low, high);
  for (int i = 0; i < nc; i++) c[i] = (C)(float)small(-20, 20), d[i] = (C)(float)-1;
  multiply<M, N, K, A, C, LA, LB>
      <<<1, 32>>>(a, b, c, d, lda, ldb, ldc, c_by_row ? wmma::mem_row_major : wmma::mem_col_major);
  OK(cudaDeviceSynchronize());
  int wrong = 0;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      int at = c_by_row ? i * ldc + j : j * ldc + i;
      double sum = (double)(float)c[at];
      for (int k = 0; k < K; k++)
        sum += (double)(float)a[a_row ? i * lda + k : k * lda + i] *
               (double)(float)b[b_row ? k * ldb + j : j * ldb + k];
      wrong += 2 * sum != (double)(float)d[at];
    }
  for (int i = 0; i < nc; i++) {
    bool inside = i % ldc < (c_by_row ? N : M);
    if (!inside) wrong += (float)d[i] != -1;
  }
  if (wrong) printf("%s: %d of %d elements are wrong\n", name, wrong, M * N), failures++;
  cudaFree(a), cudaFree(b), cudaFree(c), cudaFree(d);
}

#define LAYOUTS(M, N, K, A, C, low, high) \
  check<M, N, K, A, C, wmma::row_major, wmma::col_major>( \
      #A " " #C " m" #M "n" #N "k" #K " row col", low, high, true); \
  check<M, N, K, A, C, wmma::row_major, wmma::row_major>( \
      #A " " #C " m" #M "n" #N "k" #K " row row", low, high, false); \
  check<M, N, K, A, C, wmma::col_major, wmma::col_major>( \
      #A " " #C " m" #M "n" #N "k" #K " col col", low, high, true); \
  check<M, N, K, A, C, wmma::col_major, wmma::row_major>( \
      #A " " #C " m" #M "n" #N "k" #K " col row", low, high, false)
#define SHAPES(A, C, low, high) \
  LAYOUTS(16, 16, 16, A, C, low, high); \
  LAYOUTS(8, 32, 16, A, C, low, high); \
  LAYOUTS(32, 8, 16, A, C, low, high)

// One bit and four bits: fixed layouts.
__global__ void bits(const unsigned *a, const unsigned *b, int *d) {
  wmma::fragment<wmma::matrix_a, 8, 8, 128, wmma::experimental::precision::b1, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 128, wmma::experimental::precision::b1, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 128, int> fc;
  wmma::fill_fragment(fc, 5);
  wmma::load_matrix_sync(fa, a, 128);
  wmma::load_matrix_sync(fb, b, 128);
  wmma::bmma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(d, fc, 8, wmma::mem_row_major);
}

__global__ void nibbles(const unsigned *a, const unsigned *b, int *d) {
  wmma::fragment<wmma::matrix_a, 8, 8, 32, wmma::experimental::precision::s4, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 32, wmma::experimental::precision::s4, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 32, int> fc;
  wmma::fill_fragment(fc, -3);
  wmma::load_matrix_sync(fa, a, 32);
  wmma::load_matrix_sync(fb, b, 32);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(d, fc, 8, wmma::mem_row_major);
}

static int nibble(const unsigned *m, int row, int k) {
  int v = m[row * 4 + k / 8] >> k % 8 * 4 & 15;
  return v > 7 ? v - 16 : v;
}

static void check_small_types() {
  unsigned *a, *b;
  int *d;
  OK(cudaMallocManaged(&a, 128));
  OK(cudaMallocManaged(&b, 128));
  OK(cudaMallocManaged(&d, 256));
  for (int i = 0; i < 32; i++)
    a[i] = (unsigned)small(0, 0xffffff) * 2654435761u,
    b[i] = (unsigned)small(0, 0xffffff) * 2654435761u;
  bits<<<1, 32>>>(a, b, d);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) {
      int sum = 5;
      for (int k = 0; k < 4; k++) sum += __builtin_popcount(a[i * 4 + k] ^ b[j * 4 + k]);
      EXPECT(d[i * 8 + j] == sum);
    }
  nibbles<<<1, 32>>>(a, b, d);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) {
      int sum = -3;
      for (int k = 0; k < 32; k++) sum += nibble(a, i, k) * nibble(b, j, k);
      EXPECT(d[i * 8 + j] == sum);
    }
  cudaFree(a), cudaFree(b), cudaFree(d);
}

int main() {
  SHAPES(__half, float, -10, 10);
  SHAPES(__half, __half, -4, 4);
  SHAPES(__nv_bfloat16, float, -10, 10);
  SHAPES(signed char, int, -128, 127);
  SHAPES(unsigned char, int, 0, 255);
  LAYOUTS(16, 16, 8, wmma::precision::tf32, float, -100, 100);
  LAYOUTS(8, 8, 4, double, double, -1000, 1000);
  check_small_types();
  return finish();
}
