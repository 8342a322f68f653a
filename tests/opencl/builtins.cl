// A kernel for each built-in of builtins.def and each type; the build appends that file. A work-item
// takes 16 numbers, as scalars and as vectors of 2, 3, 4, 8 and 16; the six results stand `all`
// numbers apart.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define ONE(n) vload##n(k, a)
#define TWO(n) vload##n(k, a), vload##n(k, b)
#define THREE(n) vload##n(k, a), vload##n(k, b), vload##n(k, c)
#define VECTORS(f, n, count, arguments) \
  out += all; \
  for (int k = 0; k < count; k++) vstore##n(f(arguments(n)), k, out);
#define KERNEL(name, f, T, R, arguments, ...) \
  kernel void name(global const T *a, global const T *b, global const T *c, global R *out, \
                   int all) { \
    size_t first = get_global_id(0) * 16; \
    a += first; \
    b += first; \
    c += first; \
    out += first; \
    for (int k = 0; k < 16; k++) out[k] = f(__VA_ARGS__); \
    VECTORS(f, 2, 8, arguments) \
    VECTORS(f, 3, 5, arguments) \
    VECTORS(f, 4, 4, arguments) \
    VECTORS(f, 8, 2, arguments) \
    VECTORS(f, 16, 1, arguments) \
  }
#define REALS(f, ...) \
  KERNEL(f##_float, f, float, float, __VA_ARGS__) \
  KERNEL(f##_double, f, double, double, __VA_ARGS__)
#define MATH1(f, reference, ulp) REALS(f, ONE, a[k])
#define MATH2(f, reference, ulp) REALS(f, TWO, a[k], b[k])
#define MATH3(f, reference, ulp) REALS(f, THREE, a[k], b[k], c[k])
#define INTEGERS(f, ...) \
  KERNEL(f##_char, f, char, char, __VA_ARGS__) \
  KERNEL(f##_uchar, f, uchar, uchar, __VA_ARGS__) \
  KERNEL(f##_short, f, short, short, __VA_ARGS__) \
  KERNEL(f##_ushort, f, ushort, ushort, __VA_ARGS__) \
  KERNEL(f##_int, f, int, int, __VA_ARGS__) \
  KERNEL(f##_uint, f, uint, uint, __VA_ARGS__) \
  KERNEL(f##_long, f, long, long, __VA_ARGS__) \
  KERNEL(f##_ulong, f, ulong, ulong, __VA_ARGS__)
#define INTEGER1(f) INTEGERS(f, ONE, a[k])
#define INTEGER2(f) INTEGERS(f, TWO, a[k], b[k])
#define INTEGER3(f) INTEGERS(f, THREE, a[k], b[k], c[k])
#define UNSIGNED(f, ...) \
  KERNEL(f##_char, f, char, uchar, __VA_ARGS__) \
  KERNEL(f##_uchar, f, uchar, uchar, __VA_ARGS__) \
  KERNEL(f##_short, f, short, ushort, __VA_ARGS__) \
  KERNEL(f##_ushort, f, ushort, ushort, __VA_ARGS__) \
  KERNEL(f##_int, f, int, uint, __VA_ARGS__) \
  KERNEL(f##_uint, f, uint, uint, __VA_ARGS__) \
  KERNEL(f##_long, f, long, ulong, __VA_ARGS__) \
  KERNEL(f##_ulong, f, ulong, ulong, __VA_ARGS__)
#define UNSIGNED1(f) UNSIGNED(f, ONE, a[k])
#define UNSIGNED2(f) UNSIGNED(f, TWO, a[k], b[k])
#define WORDS(f, ...) \
  KERNEL(f##_int, f, int, int, __VA_ARGS__) \
  KERNEL(f##_uint, f, uint, uint, __VA_ARGS__)
#define WORD2(f) WORDS(f, TWO, a[k], b[k])
#define WORD3(f) WORDS(f, THREE, a[k], b[k], c[k])
