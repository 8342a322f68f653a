// A buffer as numbers for pixels. Each pixel stands for pool_x elements of pool_y rows; of those it says the smallest and the largest, so that one
// element that is unlike the others is seen however small the picture is.
#include "view/internal.h"

#include <math.h>

enum { CONTENTS_MOST = 4 << 20, PIXELS_MOST = 4 << 20, SLICE = 1 << 20 };

static const ViewAllocation *buffer(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  const ViewAllocation *b = view_allocation(d, (uint32_t)view_number(q, "allocation", UINT32_MAX));
  if (q->error.text[0]) return NULL;
  if (!d->trace) view_fail(a, 404, "nothing was recorded in this run");
  else if (!b) view_fail(a, 404, "there is no such buffer");
  return d->trace ? b : NULL;
}

void view_answer_contents(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  uint32_t step = (uint32_t)view_number_or(q, "step", 0, UINT32_MAX);
  uint64_t offset = view_number_or(q, "offset", 0, UINT64_MAX), bytes = view_number(q, "bytes", CONTENTS_MOST);
  const ViewAllocation *b = buffer(d, q, a);
  if (!b) return;
  if (offset >= b->size || bytes > b->size - offset) { view_fail(a, 400, "that is outside of the buffer"); return; }
  uint8_t *value = mem_alloc(bytes + 1), *known = mem_alloc(bytes + 1);
  Error err = {{0}};
  if (!trace_contents(d->trace, b->id, step, offset, bytes, value, known, &err)) view_fail(a, 500, err.text);
  else {
    a->type = "application/octet-stream";
    str_addn(&a->body, (char *)value, bytes);
    str_addn(&a->body, (char *)known, bytes);
  }
  free(value);
  free(known);
}

typedef enum { U8, I8, U16, I16, U32, I32, U64, I64, F16, BF16, F32, F64, TYPE_COUNT } ElementType;
static const struct { const char *name; unsigned bytes; } types[TYPE_COUNT] = {
  [U8] = {"u8", 1}, [I8] = {"i8", 1}, [U16] = {"u16", 2}, [I16] = {"i16", 2}, [U32] = {"u32", 4}, [I32] = {"i32", 4}, [U64] = {"u64", 8}, [I64] = {"i64", 8},
  [F16] = {"f16", 2}, [BF16] = {"bf16", 2}, [F32] = {"f32", 4}, [F64] = {"f64", 8}};

static double half_value(uint16_t h) {
  int exponent = h >> 10 & 31, fraction = h & 1023;
  double v = exponent == 31 ? (fraction ? NAN : INFINITY) : exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
  return h & 0x8000 ? -v : v;
}

#define TAKE(T) ({ T take_; memcpy(&take_, p, sizeof take_); take_; })
static double number_at(const uint8_t *p, ElementType t) {
  switch (t) {
    case U8: return TAKE(uint8_t);
    case I8: return TAKE(int8_t);
    case U16: return TAKE(uint16_t);
    case I16: return TAKE(int16_t);
    case U32: return TAKE(uint32_t);
    case I32: return TAKE(int32_t);
    case U64: return (double)TAKE(uint64_t);
    case I64: return (double)TAKE(int64_t);
    case F16: return half_value(TAKE(uint16_t));
    case BF16: { uint32_t bits = (uint32_t)TAKE(uint16_t) << 16; float f; memcpy(&f, &bits, 4); return f; }
    case F32: return TAKE(float);
    default: return TAKE(double);
  }
}

// Bits of a pixel's flags: something in it is …
enum { HAS_NUMBER = 1, HAS_NAN = 2, HAS_PLUS_INF = 4, HAS_MINUS_INF = 8, HAS_UNWRITTEN = 16, HAS_UNRECORDED = 32, HAS_NOTHING = 64 };
typedef struct Pixel { double low, high, sum; uint32_t n; uint8_t flags; } Pixel;

static void add(Pixel *p, const uint8_t *value, const uint8_t *known, ElementType t) {
  bool unwritten = false, unrecorded = false;
  for (unsigned i = 0; i < types[t].bytes; i++) unwritten |= known[i] == 0, unrecorded |= known[i] > 1;
  if (unwritten || unrecorded) { p->flags |= unwritten ? HAS_UNWRITTEN : HAS_UNRECORDED; return; }
  double v = number_at(value, t);
  if (isnan(v)) p->flags |= HAS_NAN;
  else if (isinf(v)) p->flags |= v > 0 ? HAS_PLUS_INF : HAS_MINUS_INF;
  else {
    if (!(p->flags & HAS_NUMBER) || v < p->low) p->low = v;
    if (!(p->flags & HAS_NUMBER) || v > p->high) p->high = v;
    p->sum += v, p->n++, p->flags |= HAS_NUMBER;
  }
}

// The answer: two 32-bit numbers (columns, rows), two doubles (smallest and largest of all), then for each pixel a float (smallest), for each a float
// (largest), for each a float (mean), for each a byte (flags).
void view_answer_picture(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  const char *name = view_text(q, "type");
  int type = 0;
  while (type < TYPE_COUNT && (!name || strcmp(types[type].name, name) != 0)) type++;
  uint64_t components = view_number_or(q, "components", 1, 4096), component = view_number_or(q, "component", 0, 4095);
  uint64_t width = view_number(q, "width", 1 << 24), rows = view_number(q, "rows", 1 << 24), first = view_number_or(q, "first", 0, UINT32_MAX);
  uint64_t pool_x = view_number_or(q, "pool_x", 1, 1 << 24), pool_y = view_number_or(q, "pool_y", 1, 1 << 24);
  uint32_t step = (uint32_t)view_number_or(q, "step", 0, UINT32_MAX);
  const ViewAllocation *b = buffer(d, q, a);
  if (!b) return;
  if (type == TYPE_COUNT) { view_fail(a, 400, "type: there is no such type"); return; }
  if (!width || !rows || !pool_x || !pool_y || !components || component >= components) { view_fail(a, 400, "the numbers of the picture do not fit together"); return; }
  uint64_t nx = (width + pool_x - 1) / pool_x, ny = (rows + pool_y - 1) / pool_y, stride = types[type].bytes * components;
  if (nx * ny > PIXELS_MOST) { view_fail(a, 400, "the picture is too large"); return; }
  uint64_t begin = first * stride, end = MIN(b->size / stride * stride, begin + width * rows * stride);
  Pixel *pixels = mem_alloc(nx * ny * sizeof *pixels);
  uint8_t *value = mem_alloc(SLICE), *known = mem_alloc(SLICE);
  uint64_t slice = SLICE / stride * stride;
  Error err = {{0}};
  bool ok = true;
  for (uint64_t at = begin; ok && at < end; at += slice) {
    uint64_t n = MIN(slice, end - at);
    ok = trace_contents(d->trace, b->id, step, at, n, value, known, &err);
    for (uint64_t i = 0; ok && i < n; i += stride) {
      uint64_t element = (at - begin + i) / stride, x = element % width / pool_x, y = element / width / pool_y;
      add(&pixels[y * nx + x], value + i + component * types[type].bytes, known + i + component * types[type].bytes, (ElementType)type);
    }
  }
  if (!ok) view_fail(a, 500, err.text);
  else {
    double low = NAN, high = NAN;
    uint32_t size[2] = {(uint32_t)nx, (uint32_t)ny};
    for (uint64_t i = 0; i < nx * ny; i++) {
      if (!(pixels[i].flags & HAS_NUMBER)) continue;
      if (!(pixels[i].low >= low)) low = pixels[i].low;
      if (!(pixels[i].high <= high)) high = pixels[i].high;
    }
    a->type = "application/octet-stream";
    str_addn(&a->body, (char *)size, 8);
    str_addn(&a->body, (char *)&low, 8);
    str_addn(&a->body, (char *)&high, 8);
    for (int part = 0; part < 3; part++) {
      for (uint64_t i = 0; i < nx * ny; i++) {
        const Pixel *p = &pixels[i];
        float f = (float)(part == 0 ? p->low : part == 1 ? p->high : p->n ? p->sum / p->n : 0);
        str_addn(&a->body, (char *)&f, 4);
      }
    }
    for (uint64_t i = 0; i < nx * ny; i++) str_addc(&a->body, (char)(pixels[i].flags ? pixels[i].flags : HAS_NOTHING));
  }
  free(pixels);
  free(value);
  free(known);
}
