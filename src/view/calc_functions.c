// The functions of calc_functions.def. One C function serves a whole family (__fadd_rn, __fadd_rz
// …) and reads the variant from the name.
#include "view/calc.h"

#include <fenv.h>
#include <math.h>

static const struct {
  const char *name, *arguments, *what;
} functions[] = {
#define FUNCTION(name, arguments, what) {#name, arguments, what},
#include "view/calc_functions.def"
#undef FUNCTION
};

void calc_list(Str *json) {
  str_add(json, "[");
  for (size_t i = 0; i < ARRAY_LEN(functions); i++)
    str_printf(json, "%s[\"%s\",\"%s\",\"%s\"]", i ? "," : "", functions[i].name,
               functions[i].arguments, functions[i].what);
  str_add(json, "]");
}

static int rounding_of(const char *name) {
  const char *end = strrchr(name, '_');
  if (!end) return FE_TONEAREST;
  return strcmp(end, "_rz") == 0   ? FE_TOWARDZERO
         : strcmp(end, "_ru") == 0 ? FE_UPWARD
         : strcmp(end, "_rd") == 0 ? FE_DOWNWARD
                                   : FE_TONEAREST;
}

static bool starts(const char *name, const char *with) {
  return strncmp(name, with, strlen(with)) == 0;
}

// volatile: the compiler must not compute before the rounding mode is set.
static float float_arithmetic(const char *op, volatile float a, volatile float b,
                              volatile float c) {
  volatile float r = starts(op, "add")    ? a + b
                     : starts(op, "sub")  ? a - b
                     : starts(op, "mul")  ? a * b
                     : starts(op, "div")  ? a / b
                     : starts(op, "rcp")  ? 1.0f / a
                     : starts(op, "sqrt") ? sqrtf(a)
                                          : fmaf(a, b, c);
  return r;
}

static double double_arithmetic(const char *op, volatile double a, volatile double b,
                                volatile double c) {
  volatile double r = starts(op, "add")    ? a + b
                      : starts(op, "sub")  ? a - b
                      : starts(op, "mul")  ? a * b
                      : starts(op, "div")  ? a / b
                      : starts(op, "rcp")  ? 1.0 / a
                      : starts(op, "sqrt") ? sqrt(a)
                                           : fma(a, b, c);
  return r;
}

// __fadd_rn …, __dadd_rn …, __fmaf_rn …, __fma_rn …
static bool rounded_arithmetic(const char *name, const CalcValue *x, CalcValue *out, Str *notes) {
  static const char *const families[] = {"__fadd_",  "__fsub_", "__fmul_",  "__fdiv_", "__frcp_",
                                         "__fsqrt_", "__fmaf_", "__dadd_",  "__dsub_", "__dmul_",
                                         "__ddiv_",  "__drcp_", "__dsqrt_", "__fma_"};
  bool found = false;
  for (size_t i = 0; i < ARRAY_LEN(families); i++) found |= starts(name, families[i]);
  if (!found) return false;
  bool is_double = name[2] == 'd' || starts(name, "__fma_");
  const char *op = starts(name, "__fma") ? "fma" : name + 3;
  int before = fegetround();
  feclearexcept(FE_ALL_EXCEPT);
  fesetround(rounding_of(name));
  double r = is_double ? double_arithmetic(op, x[0].f, x[1].f, x[2].f)
                       : (double)float_arithmetic(op, (float)x[0].f, (float)x[1].f, (float)x[2].f);
  fesetround(before);
  int raised = fetestexcept(FE_ALL_EXCEPT);
  if (raised & FE_OVERFLOW) str_add(notes, "overflow; ");
  if (raised & FE_UNDERFLOW) str_add(notes, "underflow; ");
  if (raised & FE_DIVBYZERO) str_add(notes, "division by zero; ");
  if (raised & FE_INVALID) str_add(notes, "invalid operation; ");
  if (raised & FE_INEXACT) str_add(notes, "rounded; ");
  *out = calc_float(is_double ? CALC_DOUBLE : CALC_FLOAT, r);
  return true;
}

// __float2int_rz …: the type is between the 2 and the last _.
static bool conversion(const char *name, const CalcValue *x, CalcValue *out) {
  static const struct {
    const char *to;
    CalcType type;
  } to[] = {{"2int_", CALC_INT},   {"2uint_", CALC_UINT},      {"2ll_", CALC_LONG},
            {"2ull_", CALC_ULONG}, {"2float_", CALC_FLOAT},    {"2double_", CALC_DOUBLE},
            {"2half_", CALC_HALF}, {"2bfloat16_", CALC_BFLOAT}};
  if (strcmp(name, "__half2float") == 0 || strcmp(name, "__bfloat162float") == 0) {
    *out = calc_convert(x[0], CALC_FLOAT, FE_TONEAREST);
    return true;
  }
  for (size_t i = 0; i < ARRAY_LEN(to); i++)
    if (strstr(name, to[i].to)) {
      *out = calc_convert(x[0], to[i].type, rounding_of(name));
      return true;
    }
  return false;
}

static uint64_t reverse(uint64_t v, int bits) {
  uint64_t r = 0;
  for (int i = 0; i < bits; i++) r |= (v >> i & 1) << (bits - 1 - i);
  return r;
}

static uint64_t byte_perm(uint32_t a, uint32_t b, uint32_t s) {
  uint64_t both = (uint64_t)b << 32 | a;
  uint32_t r = 0;
  for (int i = 0; i < 4; i++) r |= (uint32_t)(both >> ((s >> 4 * i & 7) * 8) & 255) << 8 * i;
  return r;
}

static uint32_t lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t r = 0;
  for (int i = 0; i < 32; i++)
    r |= (table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i;
  return r;
}

static int sign24(int64_t v) { return (int32_t)((uint32_t)v << 8) >> 8; }
#define INT(e) (*out = calc_int(CALC_INT, (uint64_t)(e)), true)
#define UINT(e) (*out = calc_int(CALC_UINT, (uint64_t)(e)), true)
#define LONG(t, e) (*out = calc_int(t, (uint64_t)(e)), true)
#define FLOAT(e) (*out = calc_float(CALC_FLOAT, (e)), true)
#define IS(n) (strcmp(name, n) == 0)
static bool integer_function(const char *name, const CalcValue *x, CalcValue *out) {
  int64_t a = x[0].i, b = x[1].i, c = x[2].i, d = x[3].i;
  if (IS("min")) return INT(MIN(a, b));
  if (IS("max")) return INT(MAX(a, b));
  if (IS("abs")) return INT(a < 0 ? -a : a);
  if (IS("__mulhi")) return INT(a * b >> 32);
  if (IS("__umulhi")) return UINT((uint64_t)a * (uint64_t)b >> 32);
  if (IS("__mul64hi")) return LONG(CALC_LONG, (__int128)a * b >> 64);
  if (IS("__umul64hi")) return LONG(CALC_ULONG, (unsigned __int128)(uint64_t)a * (uint64_t)b >> 64);
  if (IS("__mul24")) return INT((int64_t)sign24(a) * sign24(b));
  if (IS("__umul24")) return UINT((uint64_t)(a & 0xffffff) * (uint64_t)(b & 0xffffff));
  if (IS("__popc") || IS("__popcll")) return INT(__builtin_popcountll((uint64_t)a));
  if (IS("__clz")) return INT((uint32_t)a ? __builtin_clz((uint32_t)a) : 32);
  if (IS("__clzll")) return INT(a ? __builtin_clzll((uint64_t)a) : 64);
  if (IS("__ffs")) return INT(__builtin_ffs((int)a));
  if (IS("__ffsll")) return INT(__builtin_ffsll(a));
  if (IS("__brev")) return UINT(reverse((uint64_t)a, 32));
  if (IS("__brevll")) return LONG(CALC_ULONG, reverse((uint64_t)a, 64));
  if (IS("__byte_perm")) return UINT(byte_perm((uint32_t)a, (uint32_t)b, (uint32_t)c));
  if (IS("__funnelshift_l")) return UINT(((uint64_t)b << 32 | (uint32_t)a) << (c & 31) >> 32);
  if (IS("__funnelshift_r")) return UINT(((uint64_t)b << 32 | (uint32_t)a) >> (c & 31));
  if (IS("__hadd")) return INT((a + b) >> 1);
  if (IS("__rhadd")) return INT((a + b + 1) >> 1);
  if (IS("__sad") || IS("__usad")) return UINT((a < b ? b - a : a - b) + c);
  if (IS("bfe")) return UINT(b > 31 ? 0 : (uint32_t)a >> b & (c > 31 ? UINT32_MAX : (1u << c) - 1));
  if (IS("bfi")) {
    uint32_t mask = c > 31 ? 0 : (d > 31 ? UINT32_MAX : (1u << d) - 1) << c;
    return UINT(((uint32_t)b & ~mask) | ((c > 31 ? 0 : (uint32_t)a << c) & mask));
  }
  if (IS("lop3")) return UINT(lop3((uint32_t)a, (uint32_t)b, (uint32_t)c, (uint32_t)d));
  return false;
}

static bool bits_function(const char *name, const CalcValue *x, CalcValue *out) {
  static const struct {
    const char *name;
    CalcType to;
  } as[] = {{"__int_as_float", CALC_FLOAT},        {"__uint_as_float", CALC_FLOAT},
            {"__float_as_int", CALC_INT},          {"__float_as_uint", CALC_UINT},
            {"__longlong_as_double", CALC_DOUBLE}, {"__double_as_longlong", CALC_LONG},
            {"__ushort_as_half", CALC_HALF},       {"__half_as_ushort", CALC_UINT},
            {"__ushort_as_bfloat16", CALC_BFLOAT}, {"__bfloat16_as_ushort", CALC_UINT}};
  for (size_t i = 0; i < ARRAY_LEN(as); i++)
    if (IS(as[i].name)) {
      *out = calc_from_bits(as[i].to, calc_bits(x[0]));
      return true;
    }
  if (IS("__hiloint2double")) {
    *out = calc_from_bits(CALC_DOUBLE, calc_bits(x[0]) << 32 | calc_bits(x[1]));
    return true;
  }
  if (IS("__double2hiint")) return INT(calc_bits(x[0]) >> 32);
  if (IS("__double2loint")) return INT(calc_bits(x[0]));
  return false;
}

static bool float_function(const char *name, const CalcValue *x, CalcValue *out, Str *notes) {
  float a = (float)x[0].f, b = (float)x[1].f, c = (float)x[2].f;
  if (IS("__fdividef")) {
    if (fabsf(b) > 0x1p126f && !isinf(b)) {
      str_add(notes, "|b| is above 2^126: __fdividef gives 0, or NaN for an infinite a; ");
      return FLOAT(isinf(a) ? NAN
                            : copysignf(0, (signbit(a) != 0) != (signbit(b) != 0) ? -1.0f : 1.0f));
    }
    return FLOAT(a / b);
  }
  if (IS("__sinf")) return FLOAT(sinf(a));
  if (IS("__cosf")) return FLOAT(cosf(a));
  if (IS("__tanf")) return FLOAT(tanf(a));
  if (IS("__tanhf")) return FLOAT(tanhf(a));
  if (IS("__expf")) return FLOAT(expf(a));
  if (IS("__exp10f")) return FLOAT((float)pow(10, a));
  if (IS("exp2f")) return FLOAT(exp2f(a));
  if (IS("__logf")) return FLOAT(logf(a));
  if (IS("__log2f")) return FLOAT(log2f(a));
  if (IS("__log10f")) return FLOAT(log10f(a));
  if (IS("__powf")) return FLOAT(powf(a, b));
  if (IS("rsqrtf")) return FLOAT((float)(1 / sqrt((double)a)));
  if (IS("__saturatef")) return FLOAT(a > 0 ? fminf(a, 1) : 0);
  if (IS("fmaf")) return FLOAT(fmaf(a, b, c));
  if (IS("fma")) {
    *out = calc_float(CALC_DOUBLE, fma(x[0].f, x[1].f, x[2].f));
    return true;
  }
  if (IS("sqrtf")) return FLOAT(sqrtf(a));
  if (IS("sqrt")) {
    *out = calc_float(CALC_DOUBLE, sqrt(x[0].f));
    return true;
  }
  if (IS("floorf")) return FLOAT(floorf(a));
  if (IS("ceilf")) return FLOAT(ceilf(a));
  if (IS("rintf")) return FLOAT(rintf(a));
  if (IS("truncf")) return FLOAT(truncf(a));
  if (IS("fminf")) return FLOAT(fminf(a, b));
  if (IS("fmaxf")) return FLOAT(fmaxf(a, b));
  if (IS("nextafterf")) return FLOAT(nextafterf(a, b));
  return false;
}

static void run_on_device(const char *name, const char *argument_letters, const CalcValue *x,
                          CalcDevice *device, CalcValue *out, Str *notes) {
  Str ptx = {0};
  uint64_t arguments[3] = {calc_bits(x[0]), calc_bits(x[1]), calc_bits(x[2])}, bits;
  if (device && calc_ptx(name, argument_letters, out->type, &ptx)) {
    if (device->run(device->kind, ptx.data, arguments, &bits, device->name, sizeof device->name)) {
      *out = calc_from_bits(out->type, bits);
      device->ran = true;
    } else {
      if (strstr(ptx.data, ".approx")) str_add(notes, "a GPU may differ in the last bits; ");
      device->missed = true;
    }
  }
  str_free(&ptx);
}

bool calc_call(const CalcCall *c, CalcValue *out, Str *notes, Error *err) {
  for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
    const char *f = functions[i].name;
    if (strlen(f) != c->n || strncmp(f, c->name, c->n) != 0) continue;
    if (strlen(functions[i].arguments) != c->count)
      return error_set(err, "%s takes %zu arguments", f, strlen(functions[i].arguments));
    CalcValue x[4] = {{0}};
    for (unsigned k = 0; k < c->count; k++) {
      CalcType type = calc_type_of(functions[i].arguments[k]);
      int rounding = calc_is_float(type) ? FE_TONEAREST : FE_TOWARDZERO;
      x[k] = calc_convert(c->arguments[k], type, rounding);
    }
    bool ok = bits_function(f, x, out) || integer_function(f, x, out) ||
              float_function(f, x, out, notes) || rounded_arithmetic(f, x, out, notes) ||
              conversion(f, x, out);
    CHECK(ok);
    run_on_device(f, functions[i].arguments, x, c->device, out, notes);
    return true;
  }
  return error_set(err, "%.*s is not a function of this calculator", (int)MIN(c->n, 60), c->name);
}
