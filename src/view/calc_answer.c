// Answers of the calculator: the value of an expression, or for each of some values x whether it
// meets a condition.
#include "view/calc.h"
#include "view/internal.h"

static void result_json(CalcValue v, const Str *notes, Str *out) {
  static const char *const names[] = {"int",  "unsigned int", "long long", "unsigned long long",
                                      "half", "bfloat16",     "float",     "double"};
  static const unsigned bits[] = {32, 32, 64, 64, 16, 16, 32, 64},
                        digits[] = {0, 0, 0, 0, 5, 4, 9, 17};
  char text[64];
  json_text(out, "type", names[v.type]);
  if (v.type == CALC_ULONG) snprintf(text, sizeof text, "%llu", (unsigned long long)v.i);
  else if (!calc_is_float(v.type)) snprintf(text, sizeof text, "%lld", (long long)v.i);
  else snprintf(text, sizeof text, "%.*g", (int)digits[v.type], v.f);
  json_text(out, "value", text);
  if (calc_is_float(v.type)) {
    snprintf(text, sizeof text, "%a", v.f);
    json_text(out, "exact", text);
  }
  snprintf(text, sizeof text, "0x%0*llx", (int)bits[v.type] / 4, (unsigned long long)calc_bits(v));
  json_text(out, "hex", text);
  json_number(out, "bits", bits[v.type]);
  if (notes->len > 2) {
    snprintf(text, sizeof text, "%.*s", (int)MIN(notes->len - 2, sizeof text - 1), notes->data);
    Str n = {0};
    str_addn(&n, notes->data, notes->len - 2);
    json_text(out, "notes", n.data);
    str_free(&n);
  }
}

// Values of recorded elements: integers shorter than an int become one, as in C.
static bool value_type(const char *name, CalcType *type, unsigned *bits, bool *is_signed) {
  static const struct {
    const char *name;
    CalcType type;
    unsigned bits;
    bool is_signed;
  } types[] = {{"i8", CALC_INT, 8, true},      {"u8", CALC_INT, 8, false},
               {"bool", CALC_INT, 8, false},   {"i16", CALC_INT, 16, true},
               {"u16", CALC_INT, 16, false},   {"i32", CALC_INT, 32, true},
               {"u32", CALC_UINT, 32, false},  {"i64", CALC_LONG, 64, true},
               {"u64", CALC_ULONG, 64, false}, {"ptr", CALC_ULONG, 64, false},
               {"f16", CALC_HALF, 16, false},  {"bf16", CALC_BFLOAT, 16, false},
               {"f32", CALC_FLOAT, 32, false}, {"f64", CALC_DOUBLE, 64, false}};
  for (size_t i = 0; i < ARRAY_LEN(types); i++)
    if (!strcmp(types[i].name, name)) {
      *type = types[i].type;
      *bits = types[i].bits;
      *is_signed = types[i].is_signed;
      return true;
    }
  return false;
}

// values: bits in hexadecimal, with commas. The answer has a 1 for each that fits, else a 0.
static void answer_fits(const char *text, ViewRequest *q, ViewAnswer *a) {
  const char *name = view_text(q, "type"), *values = view_text(q, "values");
  CalcType type;
  unsigned bits;
  bool is_signed;
  if (!name || !value_type(name, &type, &bits, &is_signed)) {
    view_fail(a, 400, "type: there is no such type");
    return;
  }
  Str fits = {0};
  for (const char *p = values; *p;) {
    char *end;
    uint64_t v = strtoull(p, &end, 16);
    if (end == p || (*end && *end != ',') || strspn(p, "0123456789abcdef") != (size_t)(end - p)) {
      str_free(&fits);
      view_fail(a, 400, "values: bits in hexadecimal, with commas between them");
      return;
    }
    p = *end ? end + 1 : end;
    if (is_signed && bits < 64 && v >> (bits - 1) & 1) v |= ~0ull << bits;
    CalcValue x = calc_from_bits(type, v), out;
    Error err = {{0}};
    if (!calc_evaluate(&(CalcQuestion){.text = text, .x = &x}, &out, NULL, &err)) {
      str_free(&fits);
      view_fail(a, 200, err.text);
      return;
    }
    str_addc(&fits, (calc_is_float(out.type) ? out.f != 0 : out.i != 0) ? '1' : '0');
  }
  str_add(&a->body, "{");
  json_text(&a->body, "fits", fits.data ? fits.data : "");
  str_add(&a->body, "}");
  str_free(&fits);
}

void view_answer_calc(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  const char *text = view_text(q, "expression");
  if (text && view_given(q, "values")) {
    answer_fits(text, q, a);
    return;
  }
  Error err = {{0}};
  Str notes = {0};
  CalcValue v;
  bool gpu = view_one(d, "SELECT value = 'gpu' FROM meta WHERE key = 'device'", "") != 0;
  CalcDevice device = {.run = calc_on_device, .kind = gpu ? "gpu" : "cpu"};
  str_add(&a->body, "{");
  if (!text) {
    json_key(&a->body, "functions");
    calc_list(&a->body);
  } else if (!calc_evaluate(&(CalcQuestion){.text = text, .device = &device}, &v, &notes, &err)) {
    view_fail(a, 200, err.text);  // a mistake in an expression is an answer too
    return;
  } else result_json(v, &notes, &a->body);
  str_free(&notes);
  json_text(
      &a->body, "device",
      device.missed ? "this machine's CPU, in IEEE arithmetic: no device could be started"
      : device.ran
          ? device.name
          : "this machine's CPU: integers, bits and IEEE arithmetic, the same on every device");
  str_add(&a->body, "}");
}
