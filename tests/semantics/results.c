// Results files, and the comparison of two of them by each form's rule.
#include "results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void write_bytes(FILE *f, const void *p, uint32_t n) {
  fwrite(&n, 4, 1, f);
  fwrite(p, 1, n, f);
}
static void *read_bytes(FILE *f, uint32_t *n) {
  if (fread(n, 4, 1, f) != 1) return NULL;
  char *p = calloc(1, (size_t)*n + 1);
  if (fread(p, 1, *n, f) != *n) {
    free(p);
    return NULL;
  }
  return p;
}

// Words are stored column by column, each byte plane apart: that packs well.
void results_write(FILE *f, const Result *r) {
  uint32_t head[3] = {r->state, r->rows, r->ndst};
  write_bytes(f, r->text, (uint32_t)strlen(r->text));
  fwrite(head, sizeof head, 1, f);
  const char *log = r->log ? r->log : "";
  write_bytes(f, log, (uint32_t)strlen(log));
  if (r->state != RESULT_OK) return;
  size_t n = (size_t)r->rows * r->ndst;
  unsigned width = 1;
  for (size_t i = 0; i < n; i++)
    while (width < 8 && r->values[i] >> (8 * width)) width++;
  fputc((int)width, f);
  for (size_t i = 0; i < n; i++) fwrite(&r->values[i], 1, width, f);  // little-endian hosts only
}

bool results_read(FILE *f, Result *r) {
  memset(r, 0, sizeof *r);
  uint32_t n, head[3];
  if (!(r->text = read_bytes(f, &n)) || fread(head, sizeof head, 1, f) != 1 ||
      !(r->log = read_bytes(f, &n)))
    return false;
  r->state = head[0];
  r->rows = head[1];
  r->ndst = head[2];
  if (r->state != RESULT_OK) return true;
  size_t count = (size_t)r->rows * r->ndst;
  r->values = calloc(count, 8);
  int width = fgetc(f);
  for (size_t i = 0; i < count; i++)
    if (width < 1 || fread(&r->values[i], 1, (size_t)width, f) != (size_t)width) return false;
  return true;
}

uint64_t results_hash(const Result *r) {
  uint64_t h = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < (size_t)r->rows * r->ndst; i++) {
    h = (h ^ r->values[i]) * 0x9e3779b97f4a7c15ull;
    h ^= h >> 29;
  }
  return h;
}

static double half_value(uint16_t h) {
  int e = h >> 10 & 31, m = h & 1023;
  double v = e == 31 ? (m ? NAN : INFINITY) : e ? ldexp(m + 1024, e - 25) : ldexp(m, -24);
  return h >> 15 ? -v : v;
}
static double float_value(uint32_t u) {
  float f;
  memcpy(&f, &u, 4);
  return f;
}
// One element as a number, and the gap to the next one of its type.
static double element_value(ValueKind kind, uint64_t v, double *ulp) {
  double x;
  int digits, least;
  switch (kind) {
    case VALUE_F16:
      x = half_value((uint16_t)v);
      digits = 11;
      least = -24;
      break;
    case VALUE_BF16:
      x = float_value((uint32_t)v << 16);
      digits = 8;
      least = -133;
      break;
    case VALUE_F64:
      memcpy(&x, &v, 8);
      digits = 53;
      least = -1074;
      break;
    default:
      x = float_value((uint32_t)v);
      digits = 24;
      least = -149;
      break;
  }
  int e;
  frexp(x, &e);
  *ulp = isfinite(x) ? ldexp(1, e - digits > least ? e - digits : least) : 0;
  return x;
}

static bool element_close(const char *rule, ValueKind kind, uint64_t a, uint64_t b) {
  if (a == b) return true;
  double ulp_a, ulp_b, x = element_value(kind, a, &ulp_a), y = element_value(kind, b, &ulp_b);
  if (isnan(x) || isnan(y) || isinf(x) || isinf(y)) return false;
  double difference = fabs(x - y), ulp = ulp_a > ulp_b ? ulp_a : ulp_b;
  int n = 0;
  if (sscanf(rule, "ulp %d", &n) == 1) return difference <= n * ulp && (x == 0) == (y == 0);
  if (sscanf(rule, "abs %d", &n) == 1) return difference <= ldexp(1, -n);
  if (sscanf(rule, "rel %d", &n) == 1) return difference <= ldexp(fabs(x), -n);
  if (!strcmp(rule, "lg2"))
    return difference <= ldexp(1, -21) ||
           difference <= 3 * ulp;  // the manual: 2^-22 near 1, else 2 ulp
  return false;
}

static bool word_close(const Form *f, unsigned k, uint64_t a, uint64_t b) {
  ValueKind kind = f->ops[k].kind;
  if (a == b) return true;
  if (!strcmp(f->rule, "exact")) return false;
  if (kind == VALUE_F16X2 || kind == VALUE_BF16X2) {
    ValueKind half = kind == VALUE_F16X2 ? VALUE_F16 : VALUE_BF16;
    return element_close(f->rule, half, a & 0xffff, b & 0xffff) &&
           element_close(f->rule, half, a >> 16, b >> 16);
  }
  return element_close(f->rule, kind, a, b);
}

unsigned results_compare(const Form *f, const Result *expected, const Result *got, unsigned show) {
  if (expected->rows != got->rows || expected->ndst != got->ndst || expected->rows != f->rows ||
      expected->ndst != f->ndst) {
    printf("%s: the files hold different numbers of rows\n", f->text);
    return 1;
  }
  uint64_t *in = calloc((size_t)f->rows * f->nsrc, 8);
  forms_fill_inputs(f, in);
  unsigned bad = 0;
  for (unsigned i = 0; i < f->rows; i++) {
    bool ok = true;
    for (unsigned k = 0; k < f->ndst; k++)
      ok &= word_close(f, k, expected->values[(size_t)i * f->ndst + k],
                       got->values[(size_t)i * f->ndst + k]);
    if (ok) continue;
    if (bad++ >= show) continue;
    printf("  %s:", f->text);
    for (unsigned k = 0; k < f->nsrc; k++)
      printf(" %llx", (unsigned long long)in[(size_t)i * f->nsrc + k]);
    printf("  expected");
    for (unsigned k = 0; k < f->ndst; k++)
      printf(" %llx", (unsigned long long)expected->values[(size_t)i * f->ndst + k]);
    printf("  got");
    for (unsigned k = 0; k < f->ndst; k++)
      printf(" %llx", (unsigned long long)got->values[(size_t)i * f->ndst + k]);
    printf("\n");
  }
  free(in);
  return bad;
}
