// Which format a kernel of machine code stores through which parameter. The machine code says it
// (src/sass), but for kernels that choose the format when they run.
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

// 0: not a floating-point format, or not what it is taken for
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

// --- all kernels ---

const char *fp_closed_refuses(SessionKernel *k, const SassStores *stores) {
  if (chooses_format(k)) return NULL;
  for (uint32_t i = 0; i < stores->n; i++) {
    const SassStore *s = &stores->list[i];
    uint32_t floats = s->formats & SASS_FLOATS;
    if (floats && !is_one(floats)) return "it stores numbers of several formats at one place";
    if (s->param == SASS_NO_PARAM && floats && s->formats & SASS_BIT(SASS_OTHER))
      return "it stores numbers and other things at places that are not known";
  }
  return NULL;
}

uint32_t fp_closed_formats(const SessionClosedLaunch *l, uint32_t param) {
  const SassStores *s = l->stores;
  for (uint32_t i = 0; i < s->n; i++) {
    if (s->list[i].param != param) continue;
    uint32_t formats = s->list[i].formats, floats = formats & SASS_FLOATS;
    if (!floats || is_one(floats)) return formats;
    return chosen_format(l) | SASS_BIT(SASS_OTHER);
  }
  return 0;
}
