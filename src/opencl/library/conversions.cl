// Conversions toward zero in place of libclc's (19), which are wrong for the largest numbers.
#define TOWARD_ZERO(to, from, machine) \
  to BUILT_IN convert_##to##_rtz(from x) { return machine(x); } \
  to##2 BUILT_IN convert_##to##2_rtz(from##2 x) { return (to##2)(machine(x.x), machine(x.y)); } \
  to##3 BUILT_IN convert_##to##3_rtz(from##3 x) { \
    return (to##3)(machine(x.x), machine(x.y), machine(x.z)); \
  } \
  to##4 BUILT_IN convert_##to##4_rtz(from##4 x) { \
    return (to##4)(convert_##to##2_rtz(x.lo), convert_##to##2_rtz(x.hi)); \
  } \
  to##8 BUILT_IN convert_##to##8_rtz(from##8 x) { \
    return (to##8)(convert_##to##4_rtz(x.lo), convert_##to##4_rtz(x.hi)); \
  } \
  to##16 BUILT_IN convert_##to##16_rtz(from##16 x) { \
    return (to##16)(convert_##to##8_rtz(x.lo), convert_##to##8_rtz(x.hi)); \
  }
TOWARD_ZERO(float, uint, __nvvm_ui2f_rz)
TOWARD_ZERO(float, ulong, __nvvm_ull2f_rz)
TOWARD_ZERO(double, ulong, __nvvm_ull2d_rz)
