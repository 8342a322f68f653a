// The LLVM intrinsics that the text of a compiled function calls: each is declared for one value
// and for 32.
#include "vgpu/region/region.h"

static const char *const float_calls[] = {"sqrt", "fabs", "rint", "trunc", "floor", "ceil"};
static const char *const int_calls[] = {"ctpop", "bitreverse"};

static void declare_floats(Region *r, Form f, unsigned bits) {
  const char *v = f == FORM_VECTOR ? "v32" : "", *t = region_float(f, bits);
  for (size_t k = 0; k < ARRAY_LEN(float_calls); k++)
    str_printf(r->to, "declare %s @llvm.%s.%sf%u(%s)\n", t, float_calls[k], v, bits, t);
  str_printf(r->to, "declare %s @llvm.fma.%sf%u(%s, %s, %s)\n", t, v, bits, t, t, t);
  for (unsigned to = 32; to <= 64; to += 32)
    for (unsigned s = 0; s < 2; s++)
      str_printf(r->to, "declare %s @llvm.fpto%ci.sat.%si%u.%sf%u(%s)\n", region_int(f, to),
                 s ? 's' : 'u', v, to, v, bits, t);
}

static void declare_ints(Region *r, Form f, unsigned bits) {
  const char *v = f == FORM_VECTOR ? "v32" : "", *t = region_int(f, bits);
  for (size_t k = 0; k < ARRAY_LEN(int_calls); k++)
    str_printf(r->to, "declare %s @llvm.%s.%si%u(%s)\n", t, int_calls[k], v, bits, t);
  str_printf(r->to, "declare %s @llvm.ctlz.%si%u(%s, i1)\n", t, v, bits, t);
  for (const char *way = "lr"; bits == 32 && *way; way++)
    str_printf(r->to, "declare %s @llvm.fsh%c.%si32(%s, %s, %s)\n", t, *way, v, t, t, t);
}

void region_declare_calls(Region *r) {
  for (unsigned k = 0; k < 4; k++) {
    Form f = k & 1 ? FORM_VECTOR : FORM_SAME;
    unsigned bits = k & 2 ? 64 : 32;
    declare_floats(r, f, bits);
    declare_ints(r, f, bits);
  }
  for (unsigned bits = 32; bits <= 64; bits += 32) {
    str_printf(r->to,
               "declare <32 x i%u> @llvm.masked.gather.v32i%u.v32p0(<32 x ptr>, i32, <32 x i1>, "
               "<32 x i%u>)\n",
               bits, bits, bits);
    str_printf(r->to,
               "declare void @llvm.masked.scatter.v32i%u.v32p0(<32 x i%u>, <32 x ptr>, i32, "
               "<32 x i1>)\n",
               bits, bits);
  }
  str_add(r->to, "declare i64 @llvm.cttz.i64(i64, i1)\n"
                 "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)\n");
}
