// native_ functions of float, by the device's approximations. clang (19) makes no PTX of those that
// libclc (19) has.
#define APPROXIMATE(name, ptx) \
  float BUILT_IN name(float x) { \
    float y; \
    __asm__(#ptx ".approx.f32 %0, %1;" : "=f"(y) : "f"(x)); \
    return y; \
  }
APPROXIMATE(native_cos, cos)
APPROXIMATE(native_exp2, ex2)
APPROXIMATE(native_log2, lg2)
APPROXIMATE(native_recip, rcp)
APPROXIMATE(native_rsqrt, rsqrt)
APPROXIMATE(native_sin, sin)
APPROXIMATE(native_sqrt, sqrt)
float BUILT_IN native_divide(float x, float y) {
  float z;
  __asm__("div.approx.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
  return z;
}
float BUILT_IN native_exp(float x) { return native_exp2(x * M_LOG2E_F); }
float BUILT_IN native_exp10(float x) { return native_exp2(x * (M_LN10_F * M_LOG2E_F)); }
float BUILT_IN native_log(float x) { return native_log2(x) * M_LN2_F; }
float BUILT_IN native_log10(float x) { return native_log2(x) * (M_LN2_F * M_LOG10E_F); }
float BUILT_IN native_powr(float x, float y) { return native_exp2(y * native_log2(x)); }
float BUILT_IN native_tan(float x) { return native_divide(native_sin(x), native_cos(x)); }

#define NATIVE1(f) BY_HALVES(f, float)
#define NATIVE2(f) \
  float2 BUILT_IN f(float2 x, float2 y) { return (float2)(f(x.x, y.x), f(x.y, y.y)); } \
  float3 BUILT_IN f(float3 x, float3 y) { return (float3)(f(x.xy, y.xy), f(x.z, y.z)); } \
  float4 BUILT_IN f(float4 x, float4 y) { return (float4)(f(x.lo, y.lo), f(x.hi, y.hi)); } \
  float8 BUILT_IN f(float8 x, float8 y) { return (float8)(f(x.lo, y.lo), f(x.hi, y.hi)); } \
  float16 BUILT_IN f(float16 x, float16 y) { return (float16)(f(x.lo, y.lo), f(x.hi, y.hi)); }
NATIVE1(native_cos)
NATIVE1(native_exp)
NATIVE1(native_exp2)
NATIVE1(native_exp10)
NATIVE1(native_log)
NATIVE1(native_log2)
NATIVE1(native_log10)
NATIVE1(native_recip)
NATIVE1(native_rsqrt)
NATIVE1(native_sin)
NATIVE1(native_sqrt)
NATIVE1(native_tan)
NATIVE2(native_divide)
NATIVE2(native_powr)
