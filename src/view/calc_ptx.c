// Functions of the calculator as PTX: the instructions that nvcc makes of them.
#include "view/calc.h"

static const struct {
  const char *name, *body;
} singles[] = {
    {"__fdividef", "div.approx.f32 %r, %a, %b;"},
    {"__sinf", "sin.approx.f32 %r, %a;"},
    {"__cosf", "cos.approx.f32 %r, %a;"},
    {"__tanf", "sin.approx.f32 %t, %a; cos.approx.f32 %r, %a; div.approx.f32 %r, %t, %r;"},
    {"__tanhf", "tanh.approx.f32 %r, %a;"},
    {"__expf", "mul.f32 %t, %a, 0f3FB8AA3B; ex2.approx.f32 %r, %t;"},
    {"__exp10f", "mul.f32 %t, %a, 0f40549A78; ex2.approx.f32 %r, %t;"},
    {"exp2f", "ex2.approx.f32 %r, %a;"},
    {"__logf", "lg2.approx.f32 %t, %a; mul.f32 %r, %t, 0f3F317218;"},
    {"__log2f", "lg2.approx.f32 %r, %a;"},
    {"__log10f", "lg2.approx.f32 %t, %a; mul.f32 %r, %t, 0f3E9A209B;"},
    {"__powf", "lg2.approx.f32 %t, %a; mul.f32 %t, %t, %b; ex2.approx.f32 %r, %t;"},
    {"rsqrtf", "rsqrt.approx.f32 %r, %a;"},
    {"__saturatef", "cvt.sat.f32.f32 %r, %a;"},
    {"fmaf", "fma.rn.f32 %r, %a, %b, %c;"},
    {"fma", "fma.rn.f64 %r, %a, %b, %c;"},
    {"sqrtf", "sqrt.rn.f32 %r, %a;"},
    {"sqrt", "sqrt.rn.f64 %r, %a;"},
    {"floorf", "cvt.rmi.f32.f32 %r, %a;"},
    {"ceilf", "cvt.rpi.f32.f32 %r, %a;"},
    {"rintf", "cvt.rni.f32.f32 %r, %a;"},
    {"truncf", "cvt.rzi.f32.f32 %r, %a;"},
    {"fminf", "min.f32 %r, %a, %b;"},
    {"fmaxf", "max.f32 %r, %a, %b;"},
    {"__half2float", "cvt.f32.f16 %r, %a;"},
};

static const char *rounding(const char *name) {
  const char *end = strrchr(name, '_');
  return !end                  ? NULL
         : !strcmp(end, "_rn") ? "rn"
         : !strcmp(end, "_rz") ? "rz"
         : !strcmp(end, "_ru") ? "rp"
         : !strcmp(end, "_rd") ? "rm"
                               : NULL;
}

// by CalcType
static const char *const types[] = {"s32", "u32", "s64", "u64", "f16", "bf16", "f32", "f64"};
static const char *const registers[] = {"s32", "u32", "s64", "u64", "b16", "b16", "f32", "f64"};

// __fadd_rn, __ddiv_ru, __fmaf_rz …
static bool arithmetic(const char *name, const char *round, CalcType type, unsigned count,
                       Str *out) {
  static const char *const operations[] = {"add", "sub", "mul", "div", "rcp", "sqrt"};
  const char *operation = !strncmp(name, "__fma_", 6) || !strncmp(name, "__fmaf_", 7) ? "fma"
                                                                                      : NULL;
  for (size_t i = 0; i < ARRAY_LEN(operations) && !operation; i++)
    if ((!strncmp(name, "__f", 3) || !strncmp(name, "__d", 3)) &&
        !strncmp(name + 3, operations[i], strlen(operations[i])) &&
        name[3 + strlen(operations[i])] == '_')
      operation = operations[i];
  if (!operation) return false;
  str_printf(out, "%s.%s.%s %%r, %%a%s%s;", operation, round, types[type], count > 1 ? ", %b" : "",
             count > 2 ? ", %c" : "");
  return true;
}

// __float2int_rz, __ll2double_rn …; not bfloat16: the last bits of its conversions differ between
// devices
static bool conversion(const char *name, const char *round, CalcType from, CalcType to, Str *out) {
  if (!strchr(name, '2') || from == CALC_BFLOAT || to == CALC_BFLOAT) return false;
  str_printf(out, "cvt.%s%s.%s.%s %%r, %%a;", round, calc_is_float(to) ? "" : "i", types[to],
             types[from]);
  return true;
}

static bool body_of(const char *name, const char *letters, CalcType result, Str *out) {
  for (size_t i = 0; i < ARRAY_LEN(singles); i++)
    if (!strcmp(singles[i].name, name)) {
      str_add(out, singles[i].body);
      return true;
    }
  const char *round = rounding(name);
  return round && (arithmetic(name, round, result, (unsigned)strlen(letters), out) ||
                   conversion(name, round, calc_type_of(letters[0]), result, out));
}

bool calc_ptx(const char *name, const char *letters, CalcType result, Str *out) {
  Str body = {0};
  size_t count = strlen(letters);
  if (count > 3 || !body_of(name, letters, result, &body)) {
    str_free(&body);
    return false;
  }
  str_add(out, ".version 7.1 .target sm_75 .address_size 64 .visible .entry calculate(.param .u64 "
               "out, .param .b64 a, .param .b64 b, .param .b64 c) { .reg .b64 %at; ");
  str_printf(out, ".reg .%s %%r; .reg .f32 %%t; ", registers[result]);
  for (size_t i = 0; i < count; i++) {
    CalcType type = calc_type_of(letters[i]);
    str_printf(out, ".reg .%s %%%c; ld.param.%s %%%c, [%c]; ", registers[type], 'a' + (int)i,
               registers[type], 'a' + (int)i, 'a' + (int)i);
  }
  str_printf(out, "%s ld.param.u64 %%at, [out]; st.global.%s [%%at], %%r; ret; }", body.data,
             registers[result]);
  str_free(&body);
  return true;
}
