// convert_T for all pairs of types, with all rounding modes, saturated and not, as scalars and as
// vectors of 16. Results stand `all` numbers apart: the modes of scalars, then those of vectors.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define SCALARS(mode) \
  for (int k = 0; k < 16; k++) out[k] = mode(in[k]); \
  out += all;
#define VECTORS(mode) \
  vstore16(mode(vload16(0, in)), 0, out); \
  out += all;
#define ROUNDED(what, f) \
  what(f) what(f##_rte) what(f##_rtz) what(f##_rtp) what(f##_rtn)
#define KERNEL(A, B, scalars, vectors) \
  kernel void A##_to_##B(global const A *in, global B *out, int all) { \
    in += get_global_id(0) * 16; \
    out += get_global_id(0) * 16; \
    scalars vectors \
  }
#define TO_REAL(A, B) \
  KERNEL(A, B, ROUNDED(SCALARS, convert_##B), ROUNDED(VECTORS, convert_##B##16))
#define TO_INTEGER(A, B) \
  KERNEL(A, B, ROUNDED(SCALARS, convert_##B) ROUNDED(SCALARS, convert_##B##_sat), \
         ROUNDED(VECTORS, convert_##B##16) ROUNDED(VECTORS, convert_##B##16_sat))
#define FROM(A) \
  TO_INTEGER(A, char) TO_INTEGER(A, uchar) TO_INTEGER(A, short) TO_INTEGER(A, ushort) \
  TO_INTEGER(A, int) TO_INTEGER(A, uint) TO_INTEGER(A, long) TO_INTEGER(A, ulong) \
  TO_REAL(A, float) TO_REAL(A, double)
FROM(char) FROM(uchar) FROM(short) FROM(ushort) FROM(int) FROM(uint) FROM(long) FROM(ulong)
FROM(float) FROM(double)
