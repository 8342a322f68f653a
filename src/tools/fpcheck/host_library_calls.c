// Calls of CUDA's mathematical libraries: if a call's results have NaN or infinity and its operands
// have none, these were born in the call.
#include "tools/fpcheck/host.h"

typedef struct Exceptions {
  uint64_t nan, inf, first;
} Exceptions;

enum { KEPT = 64 };
static _Thread_local struct {
  bool tainted;  // an operand of the running call has NaN or infinity already
  Operand written[KEPT];
  uint32_t n;
} running;

static bool is_exception(const unsigned char *p, OperandFormat f, bool *nan) {
  uint16_t h;
  uint32_t w;
  uint64_t d;
  switch (f) {
    case OPERAND_F16:
      memcpy(&h, p, 2);
      *nan = h & 0x3ff;
      return (h & 0x7c00) == 0x7c00;
    case OPERAND_BF16:
      memcpy(&h, p, 2);
      *nan = h & 0x7f;
      return (h & 0x7f80) == 0x7f80;
    case OPERAND_F32:
      memcpy(&w, p, 4);
      *nan = w & 0x7fffff;
      return (w & 0x7f800000) == 0x7f800000;
    case OPERAND_F64:
      memcpy(&d, p, 8);
      *nan = d & 0xfffffffffffff;
      return (d & 0x7ff0000000000000) == 0x7ff0000000000000;
    default: return false;
  }
}

static void scan_column(const Operand *o, uint64_t at, uint64_t bytes, Exceptions *e) {
  static const uint64_t sizes[] = {1, 2, 2, 4, 8};
  for (uint64_t i = 0; i < bytes; i += sizes[o->format]) {
    bool nan;
    if (!is_exception((const unsigned char *)(uintptr_t)(at + i), o->format, &nan)) continue;
    if (!e->nan && !e->inf) e->first = at + i;
    if (nan) e->nan++;
    else e->inf++;
  }
}

static Exceptions scan(const Operand *o) {
  Exceptions e = {0};
  uint64_t first, end;
  if (o->format == OPERAND_OTHER) return e;
  for (uint64_t k = 0; k < o->batch; k++)
    for (uint64_t j = 0; j < o->columns; j++) {
      operand_rows(o, j, &first, &end);
      if (first < end)
        scan_column(o, o->address + k * o->slice + j * o->pitch + first * o->element,
                    (end - first) * o->element, &e);
    }
  return e;
}

void fp_library_begins(const LibraryCall *c, const Operand *o, uint32_t n) {
  if (o == c->operands) {
    running.tainted = false;
    running.n = 0;
  }
  for (uint32_t i = 0; i < n; i++) {
    if (o[i].access & OPERAND_WRITE && running.n < KEPT) running.written[running.n++] = o[i];
    if (!(o[i].access & OPERAND_READ) || running.tainted) continue;
    Exceptions e = scan(&o[i]);
    running.tainted = e.nan || e.inf;
  }
}

static void report(const LibraryCall *c, const Operand *o, const Exceptions *e) {
  Str text = {0};
  str_printf(&text, "%s is born in %s: %llu of the numbers of %s, whose operands have none",
             e->nan ? "NaN" : "Infinity", c->name, (unsigned long long)(e->nan ? e->nan : e->inf),
             o->name);
  session_finding(&(SessionFinding){.kind = e->nan ? "fp-nan" : "fp-inf",
                                    .text = text.data,
                                    .has_address = true,
                                    .address = e->first,
                                    .stack = c->stack,
                                    .no_stack = true});
  str_free(&text);
}

void fp_library_ran(const LibraryCall *c) {
  for (uint32_t i = 0; i < running.n && !running.tainted; i++) {
    Exceptions e = scan(&running.written[i]);
    if (e.nan || e.inf) report(c, &running.written[i], &e);
  }
}
