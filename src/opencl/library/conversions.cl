// Conversions of unsigned integers that round down, which is also toward zero. libclc's (19) are
// wrong for the largest numbers. The result is the nearest number, or the next lower one if the
// nearest is too large.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

static float BUILT_IN float_below(uint x) {
  float y = (float)x;
  return (double)y > (double)x ? as_float(as_uint(y) - 1) : y;
}
static float BUILT_IN float_below(ulong x) {
  float y = (float)x;
  bool is_larger = y >= 0x1p64f || (ulong)y > x;
  return is_larger ? as_float(as_uint(y) - 1) : y;
}
static double BUILT_IN double_below(ulong x) {
  double y = (double)x;
  bool is_larger = y >= 0x1p64 || (ulong)y > x;
  return is_larger ? as_double(as_ulong(y) - 1) : y;
}

#define DOWNWARD(to, from, machine, mode) \
  to BUILT_IN convert_##to##_##mode(from x) { return machine(x); } \
  to##2 BUILT_IN convert_##to##2_##mode(from##2 x) { return (to##2)(machine(x.x), machine(x.y)); } \
  to##3 BUILT_IN convert_##to##3_##mode(from##3 x) { \
    return (to##3)(machine(x.x), machine(x.y), machine(x.z)); \
  } \
  to##4 BUILT_IN convert_##to##4_##mode(from##4 x) { \
    return (to##4)(convert_##to##2_##mode(x.lo), convert_##to##2_##mode(x.hi)); \
  } \
  to##8 BUILT_IN convert_##to##8_##mode(from##8 x) { \
    return (to##8)(convert_##to##4_##mode(x.lo), convert_##to##4_##mode(x.hi)); \
  } \
  to##16 BUILT_IN convert_##to##16_##mode(from##16 x) { \
    return (to##16)(convert_##to##8_##mode(x.lo), convert_##to##8_##mode(x.hi)); \
  }
DOWNWARD(float, uint, float_below, rtz)
DOWNWARD(float, uint, float_below, rtn)
DOWNWARD(float, ulong, float_below, rtz)
DOWNWARD(float, ulong, float_below, rtn)
DOWNWARD(double, ulong, double_below, rtz)
DOWNWARD(double, ulong, double_below, rtn)
