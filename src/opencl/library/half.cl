// Functions of half numbers (cl_khr_fp16), which libclc (19) lacks for these devices. Most compute
// in float and round once: float has over twice the digits, so that even square roots are exact.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define TO_HALF(x) ((half)(x))
#define TO_HALF2(x) __builtin_convertvector(x, half2)
#define TO_HALF3(x) __builtin_convertvector(x, half3)
#define TO_HALF4(x) __builtin_convertvector(x, half4)
#define TO_HALF8(x) __builtin_convertvector(x, half8)
#define TO_HALF16(x) __builtin_convertvector(x, half16)
#define TO_FLOAT(x) ((float)(x))
#define TO_FLOAT2(x) __builtin_convertvector(x, float2)
#define TO_FLOAT3(x) __builtin_convertvector(x, float3)
#define TO_FLOAT4(x) __builtin_convertvector(x, float4)
#define TO_FLOAT8(x) __builtin_convertvector(x, float8)
// clang (19) leaves the conversion out where it loads 16 halves for it.
#define TO_FLOAT16(x) ((float16)(TO_FLOAT8((x).lo), TO_FLOAT8((x).hi)))
#define VECTOR_SIZES(what, ...) \
  what(2, __VA_ARGS__) what(3, __VA_ARGS__) what(4, __VA_ARGS__) what(8, __VA_ARGS__) \
      what(16, __VA_ARGS__)
#define ALL_SIZES(what, ...) what(, __VA_ARGS__) VECTOR_SIZES(what, __VA_ARGS__)

// --- numbers to numbers ---

#define HALF1(n, f) \
  half##n BUILT_IN f(half##n x) { return TO_HALF##n(f(TO_FLOAT##n(x))); }
#define HALF2(n, f) \
  half##n BUILT_IN f(half##n x, half##n y) { \
    return TO_HALF##n(f(TO_FLOAT##n(x), TO_FLOAT##n(y))); \
  }
#define HALF3(n, f) \
  half##n BUILT_IN f(half##n x, half##n y, half##n z) { \
    return TO_HALF##n(f(TO_FLOAT##n(x), TO_FLOAT##n(y), TO_FLOAT##n(z))); \
  }
#define HALF_INT(n, f) \
  half##n BUILT_IN f(half##n x, int##n y) { return TO_HALF##n(f(TO_FLOAT##n(x), y)); }
ALL_SIZES(HALF1, acos)
ALL_SIZES(HALF1, acosh)
ALL_SIZES(HALF1, acospi)
ALL_SIZES(HALF1, asin)
ALL_SIZES(HALF1, asinh)
ALL_SIZES(HALF1, asinpi)
ALL_SIZES(HALF1, atan)
ALL_SIZES(HALF1, atanh)
ALL_SIZES(HALF1, atanpi)
ALL_SIZES(HALF1, cbrt)
ALL_SIZES(HALF1, ceil)
ALL_SIZES(HALF1, cos)
ALL_SIZES(HALF1, cosh)
ALL_SIZES(HALF1, cospi)
ALL_SIZES(HALF1, degrees)
ALL_SIZES(HALF1, erf)
ALL_SIZES(HALF1, erfc)
ALL_SIZES(HALF1, exp)
ALL_SIZES(HALF1, exp2)
ALL_SIZES(HALF1, exp10)
ALL_SIZES(HALF1, expm1)
ALL_SIZES(HALF1, fabs)
ALL_SIZES(HALF1, floor)
ALL_SIZES(HALF1, lgamma)
ALL_SIZES(HALF1, log)
ALL_SIZES(HALF1, log2)
ALL_SIZES(HALF1, log10)
ALL_SIZES(HALF1, log1p)
ALL_SIZES(HALF1, logb)
ALL_SIZES(HALF1, radians)
ALL_SIZES(HALF1, rint)
ALL_SIZES(HALF1, round)
ALL_SIZES(HALF1, rsqrt)
ALL_SIZES(HALF1, sign)
ALL_SIZES(HALF1, sin)
ALL_SIZES(HALF1, sinh)
ALL_SIZES(HALF1, sinpi)
ALL_SIZES(HALF1, sqrt)
ALL_SIZES(HALF1, tan)
ALL_SIZES(HALF1, tanh)
ALL_SIZES(HALF1, tanpi)
ALL_SIZES(HALF1, tgamma)
ALL_SIZES(HALF1, trunc)
ALL_SIZES(HALF2, atan2)
ALL_SIZES(HALF2, atan2pi)
ALL_SIZES(HALF2, copysign)
ALL_SIZES(HALF2, fdim)
ALL_SIZES(HALF2, fmax)
ALL_SIZES(HALF2, fmin)
ALL_SIZES(HALF2, fmod)
ALL_SIZES(HALF2, hypot)
ALL_SIZES(HALF2, max)
ALL_SIZES(HALF2, maxmag)
ALL_SIZES(HALF2, min)
ALL_SIZES(HALF2, minmag)
ALL_SIZES(HALF2, pow)
ALL_SIZES(HALF2, powr)
ALL_SIZES(HALF2, remainder)
ALL_SIZES(HALF2, step)
ALL_SIZES(HALF3, clamp)
ALL_SIZES(HALF3, mad)
ALL_SIZES(HALF3, mix)
ALL_SIZES(HALF3, smoothstep)
ALL_SIZES(HALF_INT, ldexp)
ALL_SIZES(HALF_INT, pown)
ALL_SIZES(HALF_INT, rootn)

// fma does not compute in float: a sum that loses digits there would be rounded twice.
#define HALF_FMA(n, unused) \
  half##n BUILT_IN fma(half##n x, half##n y, half##n z) { \
    return __builtin_elementwise_fma(x, y, z); \
  }
ALL_SIZES(HALF_FMA, )

// A vector and scalars.
#define MIXED(n, unused) \
  half##n BUILT_IN fmax(half##n x, half y) { return fmax(x, (half##n)y); } \
  half##n BUILT_IN fmin(half##n x, half y) { return fmin(x, (half##n)y); } \
  half##n BUILT_IN max(half##n x, half y) { return max(x, (half##n)y); } \
  half##n BUILT_IN min(half##n x, half y) { return min(x, (half##n)y); } \
  half##n BUILT_IN ldexp(half##n x, int y) { return ldexp(x, (int##n)y); } \
  half##n BUILT_IN step(half x, half##n y) { return step((half##n)x, y); } \
  half##n BUILT_IN mix(half##n x, half##n y, half a) { return mix(x, y, (half##n)a); } \
  half##n BUILT_IN clamp(half##n x, half y, half z) { return clamp(x, (half##n)y, (half##n)z); } \
  half##n BUILT_IN smoothstep(half x, half y, half##n z) { \
    return smoothstep((half##n)x, (half##n)y, z); \
  }
VECTOR_SIZES(MIXED, )

#define ILOGB(n, unused) int##n BUILT_IN ilogb(half##n x) { return ilogb(TO_FLOAT##n(x)); }
ALL_SIZES(ILOGB, )
#define NAN_OF(n, unused) \
  half##n BUILT_IN nan(ushort##n code) { return as_half##n((ushort##n)(code | (ushort)0x7e00)); }
ALL_SIZES(NAN_OF, )

// Halves of one sign have the same order as their bits.
half BUILT_IN nextafter(half x, half y) {
  short bits = as_short(x);
  if (isnan((float)x) || isnan((float)y)) return as_half((short)0x7e00);
  if (x == y) return y;
  if (x == 0) return as_half((short)(y > 0 ? 1 : 0x8001));
  return as_half((short)(bits + ((y > x) == (x > 0) ? 1 : -1)));
}
half2 BUILT_IN nextafter(half2 x, half2 y) {
  return (half2)(nextafter(x.x, y.x), nextafter(x.y, y.y));
}
half3 BUILT_IN nextafter(half3 x, half3 y) {
  return (half3)(nextafter(x.xy, y.xy), nextafter(x.z, y.z));
}
#define NEXT_BY_HALVES(n) \
  half##n BUILT_IN nextafter(half##n x, half##n y) { \
    return (half##n)(nextafter(x.lo, y.lo), nextafter(x.hi, y.hi)); \
  }
NEXT_BY_HALVES(4)
NEXT_BY_HALVES(8)
NEXT_BY_HALVES(16)

// --- a second result by a pointer ---

#define POINTER(n, space) \
  half##n BUILT_IN fract(half##n x, space half##n *p) { \
    float##n whole, part = fract(TO_FLOAT##n(x), &whole); \
    *p = TO_HALF##n(whole); \
    return TO_HALF##n(fmin(part, (float##n)0x1.ffcp-1f)); /* below 1 */ \
  } \
  half##n BUILT_IN modf(half##n x, space half##n *p) { \
    float##n whole, part = modf(TO_FLOAT##n(x), &whole); \
    *p = TO_HALF##n(whole); \
    return TO_HALF##n(part); \
  } \
  half##n BUILT_IN sincos(half##n x, space half##n *p) { \
    float##n c, s = sincos(TO_FLOAT##n(x), &c); \
    *p = TO_HALF##n(c); \
    return TO_HALF##n(s); \
  } \
  half##n BUILT_IN frexp(half##n x, space int##n *p) { \
    int##n exponent; \
    float##n part = frexp(TO_FLOAT##n(x), (generic int##n *)&exponent); \
    *p = exponent; \
    return TO_HALF##n(part); \
  } \
  half##n BUILT_IN lgamma_r(half##n x, space int##n *p) { \
    int##n sign; \
    float##n value = lgamma_r(TO_FLOAT##n(x), (generic int##n *)&sign); \
    *p = sign; \
    return TO_HALF##n(value); \
  } \
  half##n BUILT_IN remquo(half##n x, half##n y, space int##n *p) { \
    int##n quotient; \
    float##n rest = \
        remquo(TO_FLOAT##n(x), TO_FLOAT##n(y), (generic int##n *)&quotient); \
    *p = quotient; \
    return TO_HALF##n(rest); \
  }
ALL_SIZES(POINTER, global)
ALL_SIZES(POINTER, local)
ALL_SIZES(POINTER, private)

// --- relational functions: scalars give int, vectors short ---

// Element by element: clang (19) makes no PTX of comparisons of vectors of half.
#define BY_ELEMENTS(f, takes, first, low, high) \
  short2 BUILT_IN f takes(2) { return (short2)(-f first(x), -f first(y)); } \
  short3 BUILT_IN f takes(3) { return (short3)(-f first(x), -f first(y), -f first(z)); } \
  short4 BUILT_IN f takes(4) { return (short4)(f low, f high); } \
  short8 BUILT_IN f takes(8) { return (short8)(f low, f high); } \
  short16 BUILT_IN f takes(16) { return (short16)(f low, f high); }
#define TAKES_TWO(n) (half##n p, half##n q)
#define TAKES_ONE(n) (half##n p)
#define ELEMENTS_OF_TWO(i) (p.i, q.i)
#define ELEMENT_OF_ONE(i) (p.i)
#define RELATION(f) \
  int BUILT_IN f(half p, half q) { return f((float)p, (float)q); } \
  BY_ELEMENTS(f, TAKES_TWO, ELEMENTS_OF_TWO, (p.lo, q.lo), (p.hi, q.hi))
#define PROPERTY(f, value) \
  int BUILT_IN f(half p) { return value; } \
  BY_ELEMENTS(f, TAKES_ONE, ELEMENT_OF_ONE, (p.lo), (p.hi))
RELATION(isequal)
RELATION(isnotequal)
RELATION(isgreater)
RELATION(isgreaterequal)
RELATION(isless)
RELATION(islessequal)
RELATION(islessgreater)
RELATION(isordered)
RELATION(isunordered)
PROPERTY(isfinite, (as_ushort(p) & 0x7c00) != 0x7c00)
PROPERTY(isinf, (as_ushort(p) & 0x7fff) == 0x7c00)
PROPERTY(isnan, (as_ushort(p) & 0x7fff) > 0x7c00)
PROPERTY(isnormal, (as_ushort(p) & 0x7fff) >= 0x0400 && (as_ushort(p) & 0x7c00) != 0x7c00)
PROPERTY(signbit, as_ushort(p) >> 15)

// --- bits of halves, and vectors as such ---

#define CHOICES(n, unused) \
  half##n BUILT_IN bitselect(half##n x, half##n y, half##n z) { \
    return as_half##n(bitselect(as_ushort##n(x), as_ushort##n(y), as_ushort##n(z))); \
  } \
  half##n BUILT_IN select(half##n x, half##n y, short##n z) { \
    return as_half##n(select(as_ushort##n(x), as_ushort##n(y), z)); \
  } \
  half##n BUILT_IN select(half##n x, half##n y, ushort##n z) { \
    return as_half##n(select(as_ushort##n(x), as_ushort##n(y), z)); \
  }
ALL_SIZES(CHOICES, )

#define SHUFFLE(m, n) \
  half##m BUILT_IN shuffle(half##n x, ushort##m mask) { \
    return as_half##m(shuffle(as_ushort##n(x), mask)); \
  } \
  half##m BUILT_IN shuffle2(half##n x, half##n y, ushort##m mask) { \
    return as_half##m(shuffle2(as_ushort##n(x), as_ushort##n(y), mask)); \
  }
#define SHUFFLES(n) SHUFFLE(2, n) SHUFFLE(4, n) SHUFFLE(8, n) SHUFFLE(16, n)
SHUFFLES(2)
SHUFFLES(4)
SHUFFLES(8)
SHUFFLES(16)

#define LOAD(n, space) \
  half##n BUILT_IN vload##n(size_t i, const space half *p) { \
    return as_half##n(vload##n(i, (const space ushort *)p)); \
  }
#define STORE(n, space) \
  void BUILT_IN vstore##n(half##n x, size_t i, space half *p) { \
    vstore##n(as_ushort##n(x), i, (space ushort *)p); \
  }
VECTOR_SIZES(LOAD, global)
VECTOR_SIZES(LOAD, local)
VECTOR_SIZES(LOAD, private)
VECTOR_SIZES(LOAD, constant)
VECTOR_SIZES(STORE, global)
VECTOR_SIZES(STORE, local)
VECTOR_SIZES(STORE, private)

ALL_WIDTHS(COPIES, half)
ALL_WIDTHS(PREFETCH_NOTHING, half)

// --- geometry ---

#define GEOMETRY(n, unused) \
  half BUILT_IN dot(half##n x, half##n y) { return (half)dot(TO_FLOAT##n(x), TO_FLOAT##n(y)); } \
  half BUILT_IN length(half##n x) { return (half)length(TO_FLOAT##n(x)); } \
  half##n BUILT_IN normalize(half##n x) { return TO_HALF##n(normalize(TO_FLOAT##n(x))); } \
  half BUILT_IN distance(half##n x, half##n y) { \
    return (half)distance(TO_FLOAT##n(x), TO_FLOAT##n(y)); \
  }
GEOMETRY(, )
GEOMETRY(2, )
GEOMETRY(3, )
GEOMETRY(4, )
HALF2(3, cross)
HALF2(4, cross)
