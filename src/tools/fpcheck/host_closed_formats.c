// Tells which format a kernel of machine code stores through which parameter. The machine code
// (src/sass) says so, except for kernels that choose the format at run time.
#include "tools/fpcheck/host_closed.h"

static bool is_one(uint32_t bits) { return bits && !(bits & (bits - 1)); }

// --- PyTorch's kernels that convert: at::native::memory::StoreWithCast<1> is their last parameter,
// a c10::ScalarType and the size of an element ---

typedef struct StoreWithCast {
  int8_t type;
  uint32_t bytes;
} StoreWithCast;

static bool chooses_format(const SessionKernel *k) {
  return strstr(k->name, "13StoreWithCastILi1EE") != NULL;
}

// 0: not a floating-point format, or not a StoreWithCast after all
static uint32_t chosen_format(const SessionClosedLaunch *l) {
  static const struct {
    int8_t type;
    uint8_t bytes, format;
  } types[] = {{5, 2, SASS_F16}, {6, 4, SASS_F32}, {7, 8, SASS_F64}, {15, 2, SASS_BF16}};
  StoreWithCast s;
  if (!chooses_format(l->kernel) || l->last_bytes != sizeof s) return 0;
  memcpy(&s, l->last, sizeof s);
  for (size_t i = 0; i < ARRAY_LEN(types); i++)
    if (types[i].type == s.type && types[i].bytes == s.bytes) return SASS_BIT(types[i].format);
  return 0;
}

// --- matrix products of NVIDIA's libraries, whose names say what they store ---

static const struct {
  const char *text;
  SassFormat format;
} names_of_formats[] = {{"bf16", SASS_BF16},
                        {"tf32", SASS_F32},
                        {"f16", SASS_F16},
                        {"f32", SASS_F32},
                        {"f64", SASS_F64}};

// xmma_gemm_<A><B>_<result><sums>_<factors>: the third of these
static uint32_t format_of_xmma(const char *name) {
  const char *at = strstr(name, "xmma_gemm_");
  SassFormat format = SASS_OTHER;
  if (!at) return 0;
  at += strlen("xmma_gemm_");
  for (unsigned n = 0; n < 3; n++) {
    if (*at == '_') at++;
    size_t i = 0;
    while (i < ARRAY_LEN(names_of_formats) &&
           strncmp(at, names_of_formats[i].text, strlen(names_of_formats[i].text)))
      i++;
    if (i == ARRAY_LEN(names_of_formats)) return 0;
    at += strlen(names_of_formats[i].text);
    format = names_of_formats[i].format;
  }
  return SASS_BIT(format);
}

static uint32_t format_of_name(const SessionKernel *k) {
  uint32_t format = format_of_xmma(k->name);
  if (format) return format;
  if (strstr(k->name, "sgemm") || strstr(k->name, "sgemv")) return SASS_BIT(SASS_F32);
  return strstr(k->name, "dgemm") || strstr(k->name, "dgemv") ? SASS_BIT(SASS_F64) : 0;
}

// --- all kernels ---

const char *fp_closed_refuses(SessionKernel *k, const SassStores *stores) {
  if (chooses_format(k)) return NULL;
  for (uint32_t i = 0; i < stores->n; i++) {
    const SassStore *s = &stores->list[i];
    if (s->param == SASS_NO_PARAM && s->formats & SASS_FLOATS &&
        s->formats & SASS_BIT(SASS_OTHER) && !(s->formats & format_of_name(k)))
      return "it stores numbers and other things at places that are not known";
  }
  return NULL;
}

uint32_t fp_closed_formats(const SessionClosedLaunch *l, uint32_t param) {
  const SassStores *s = l->stores;
  for (uint32_t i = 0; i < s->n; i++) {
    if (s->list[i].param != param) continue;
    uint32_t formats = s->list[i].formats, floats = formats & SASS_FLOATS,
             named = formats & format_of_name(l->kernel);
    if (!floats || is_one(floats)) return formats;
    if (chooses_format(l->kernel)) return chosen_format(l) | SASS_BIT(SASS_OTHER);
    return named ? named | SASS_BIT(SASS_OTHER) : formats;
  }
  return 0;
}
