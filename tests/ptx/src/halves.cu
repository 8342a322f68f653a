// arch: 80 90
// Half, bfloat16 and fp8 arithmetic and conversion; packed integers; math functions with and
// without ftz.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
__global__ void halves(__half2 *h, __nv_bfloat162 *b, __nv_fp8_e4m3 *q, float *f, int n) {
  int i = threadIdx.x;
  __half2 x = h[i], y = h[i + 1];
  h[i] = __hfma2(x, y, __hmul2(x, __hadd2(x, y)));
  h[i + 2] = __hmax2(h2exp2(x), __hneg2(hrint(__low2half(y)) > __half(1) ? x : y) );
  b[i] = __hfma2(b[i], b[i + 1], b[i + 2]);
  q[i] = __nv_fp8_e4m3(f[i]);
  f[i] = float(q[i + 1]) + __half2float(__low2half(x)) + __bfloat162float(__high2bfloat16(b[i]));
  f[i + 1] = sinf(f[i]) + expf(f[i]) * rsqrtf(f[i + 2]) + fmodf(f[i], 3.0f) +
             __fdividef(f[i], f[i + 3]) + erff(f[i]) + powf(f[i], f[i + 1]);
  f[i + 2] = (float)(sin((double)f[i]) + sqrt((double)f[i]) / cbrt((double)f[i + 1])) +
             __dmul_ru(f[i], f[i]);
  f[i + 3] = __vaddss2(n, i) + __dp4a(n, i, 3) + __funnelshift_l(n, i, 5) + __popc(n) + __brev(n) +
             __clzll(n) + __mul24(n, i) + __sad(n, i, 1);
}
