// Matrix instructions: wmma in several types, and cp.async, ldmatrix and mma by inline assembly.
#include <mma.h>
using namespace nvcuda;
__global__ void tensors(const half *a, const half *b, float *c, const signed char *ia, int *ic) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
  wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> ga;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> gb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> gc;
  wmma::fill_fragment(gc, 1);
  wmma::load_matrix_sync(ga, ia, 16);
  wmma::load_matrix_sync(gb, ia, 16);
  wmma::mma_sync(gc, ga, gb, gc);
  wmma::store_matrix_sync(ic, gc, 16, wmma::mem_col_major);
#if __CUDA_ARCH__ >= 800
  __shared__ alignas(16) half tile[512];
  unsigned at = (unsigned)__cvta_generic_to_shared(tile + threadIdx.x * 8), r[4];
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16;\ncp.async.commit_group;\ncp.async.wait_group 0;" ::
          "r"(at),
      "l"(a + threadIdx.x * 8));
  __syncthreads();
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(at));
  float d[4] = {0, 1, 2, 3};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
               "{%4,%6}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]));
  c[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
#endif
}
