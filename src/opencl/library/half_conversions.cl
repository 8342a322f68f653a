// convert_ from and to half: by the device's own conversions, which know the rounding modes.
#define TO_HALF_AS(to, from, how, register) \
  static half BUILT_IN to(from x) { \
    ushort bits; \
    __asm__("cvt." #how " %0, %1;" : "=h"(bits) : register(x)); \
    return as_half(bits); \
  }
#define FROM_INTEGER(mode, ptx) \
  TO_HALF_AS(half_##mode, int, ptx.f16.s32, "r") \
  TO_HALF_AS(half_##mode, uint, ptx.f16.u32, "r") \
  TO_HALF_AS(half_##mode, long, ptx.f16.s64, "l") \
  TO_HALF_AS(half_##mode, ulong, ptx.f16.u64, "l") \
  TO_HALF_AS(half_##mode, float, ptx.f16.f32, "f") \
  TO_HALF_AS(half_##mode, double, ptx.f16.f64, "d") \
  static half BUILT_IN half_##mode(char x) { return half_##mode((int)x); } \
  static half BUILT_IN half_##mode(uchar x) { return half_##mode((uint)x); } \
  static half BUILT_IN half_##mode(short x) { return half_##mode((int)x); } \
  static half BUILT_IN half_##mode(ushort x) { return half_##mode((uint)x); } \
  static half BUILT_IN half_##mode(half x) { return x; }
FROM_INTEGER(rte, rn)
FROM_INTEGER(rtz, rz)
FROM_INTEGER(rtp, rp)
FROM_INTEGER(rtn, rm)

#define CONVERT_HALF(from, suffix, mode) \
  half BUILT_IN convert_half##suffix(from x) { return half_##mode(x); } \
  half2 BUILT_IN convert_half2##suffix(from##2 x) { \
    return (half2)(half_##mode(x.x), half_##mode(x.y)); \
  } \
  half3 BUILT_IN convert_half3##suffix(from##3 x) { \
    return (half3)(half_##mode(x.x), half_##mode(x.y), half_##mode(x.z)); \
  } \
  half4 BUILT_IN convert_half4##suffix(from##4 x) { \
    return (half4)(convert_half2##suffix(x.lo), convert_half2##suffix(x.hi)); \
  } \
  half8 BUILT_IN convert_half8##suffix(from##8 x) { \
    return (half8)(convert_half4##suffix(x.lo), convert_half4##suffix(x.hi)); \
  } \
  half16 BUILT_IN convert_half16##suffix(from##16 x) { \
    return (half16)(convert_half8##suffix(x.lo), convert_half8##suffix(x.hi)); \
  }
#define CONVERT_HALF_MODES(from) \
  CONVERT_HALF(from, , rte) \
  CONVERT_HALF(from, _rte, rte) \
  CONVERT_HALF(from, _rtz, rtz) \
  CONVERT_HALF(from, _rtp, rtp) \
  CONVERT_HALF(from, _rtn, rtn)
CONVERT_HALF_MODES(char)
CONVERT_HALF_MODES(uchar)
CONVERT_HALF_MODES(short)
CONVERT_HALF_MODES(ushort)
CONVERT_HALF_MODES(int)
CONVERT_HALF_MODES(uint)
CONVERT_HALF_MODES(long)
CONVERT_HALF_MODES(ulong)
CONVERT_HALF_MODES(float)
CONVERT_HALF_MODES(double)
CONVERT_HALF_MODES(half)

// Every half is a float.
#define BY_FLOAT(n, to, suffix) \
  to##n BUILT_IN convert_##to##n##suffix(half##n x) { \
    return convert_##to##n##suffix(TO_FLOAT##n(x)); \
  }
#define BY_FLOAT_MODES(to, prefix) \
  ALL_SIZES(BY_FLOAT, to, prefix) \
  ALL_SIZES(BY_FLOAT, to, prefix##_rte) \
  ALL_SIZES(BY_FLOAT, to, prefix##_rtz) \
  ALL_SIZES(BY_FLOAT, to, prefix##_rtp) \
  ALL_SIZES(BY_FLOAT, to, prefix##_rtn)
#define BY_FLOAT_INTEGER(to) BY_FLOAT_MODES(to, ) BY_FLOAT_MODES(to, _sat)
BY_FLOAT_INTEGER(char)
BY_FLOAT_INTEGER(uchar)
BY_FLOAT_INTEGER(short)
BY_FLOAT_INTEGER(ushort)
BY_FLOAT_INTEGER(int)
BY_FLOAT_INTEGER(uint)
BY_FLOAT_INTEGER(long)
BY_FLOAT_INTEGER(ulong)
BY_FLOAT_MODES(float, )
BY_FLOAT_MODES(double, )
