// Functions that CUDA provides to device code without a body in PTX.
#include <inttypes.h>
#include <pthread.h>

#include "vgpu/core.h"

uint64_t builtin_arg(Warp *w, const CallSite *cs, unsigned lane, unsigned i) {
  if (i >= cs->nargs) return 0;
  const struct CallValue *v = &cs->args[i];
  uint64_t x = 0;
  const char *at = v->is_slot ? w->frame->regs + v->where + lane * v->size
                              : w->local + (uint64_t)lane * w->local_bytes + w->frame->local_base +
                                    v->where;
  memcpy(&x, at, MIN(v->size, 8u));
  return x;
}

void builtin_result(Warp *w, const CallSite *cs, unsigned lane, uint64_t value) {
  if (!cs->nrets) return;
  const struct CallValue *v = &cs->rets[0];
  char *at = v->is_slot
                 ? w->frame->regs + v->where + lane * v->size
                 : w->local + (uint64_t)lane * w->local_bytes + w->frame->local_base + v->where;
  memcpy(at, &value, MIN(v->size, 8u));
}

// A NUL-terminated string of device memory; false: part of it is not accessible.
static bool read_string(Warp *w, unsigned lane, uint64_t address, Str *out) {
  for (uint64_t n = 0; n < (1 << 20); n++) {
    const char *c = vgpu_generic_pointer(w, lane, address + n, 1);
    if (!c) return false;
    if (!*c) {
      str_addn(out, "", 0);
      return true;
    }
    str_addc(out, *c);
  }
  return false;
}

typedef struct PrintArgs {
  Warp *w;
  unsigned lane;
  uint64_t next;
} PrintArgs;

// The next value of the argument buffer, aligned to its size; false: not accessible.
static bool next_arg(PrintArgs *a, unsigned size, uint64_t *out) {
  a->next = (a->next + size - 1) / size * size;
  const char *p = vgpu_generic_pointer(a->w, a->lane, a->next, size);
  *out = 0;
  if (!p) return false;
  memcpy(out, p, size);
  a->next += size;
  return true;
}

// Appends a width or precision, at most the megabyte of a printf buffer.
static size_t add_number(char *fmt, int64_t number) {
  enum { MOST = 1 << 20 };
  return (size_t)snprintf(fmt, 12, "%d", (int)MAX(MIN(number, (int64_t)MOST), -(int64_t)MOST));
}

// One conversion, from '%' on; *end is left behind it. CUDA follows C's printf; %n and wide
// characters do not exist.
static bool print_conversion(PrintArgs *a, const char *spec, const char **end, Str *out) {
  char fmt[96];
  size_t n = 0;
  const char *p = spec;
  fmt[n++] = *p++;
  uint64_t v;
  while (*p && strchr("-+ #0123456789.*", *p) && n < 60) {
    if (*p == '*') {
      if (!next_arg(a, 4, &v)) return false;
      n += add_number(fmt + n, (int)v);
      p++;
    } else if (*p >= '1' && *p <= '9') {
      int64_t number = 0;
      for (; *p >= '0' && *p <= '9'; p++)
        number = MIN(number * 10 + (*p - '0'), (int64_t)INT32_MAX);
      n += add_number(fmt + n, number);
    } else fmt[n++] = *p++;
  }
  unsigned longs = 0;
  while (*p && strchr("hlLqjzt", *p)) {
    longs += *p == 'l' || *p == 'q' ? 1 : *p == 'j' || *p == 'z' || *p == 't' ? 1 : 0;
    p++;
  }
  char conv = *p;
  *end = conv ? p + 1 : p;
  Str text = {0};
  switch (conv) {
    case 'd':
    case 'i':
      if (!next_arg(a, longs ? 8 : 4, &v)) return false;
      memcpy(fmt + n, "lld", 4);
      str_printf(out, fmt, longs ? (long long)v : (long long)(int)v);
      return true;
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      if (!next_arg(a, longs ? 8 : 4, &v)) return false;
      memcpy(fmt + n, (char[]){'l', 'l', conv, 0}, 4);
      str_printf(out, fmt, (unsigned long long)v);
      return true;
    case 'c':
      if (!next_arg(a, 4, &v)) return false;
      memcpy(fmt + n, "c", 2);
      str_printf(out, fmt, (int)v);
      return true;
    case 'p':
      if (!next_arg(a, 8, &v)) return false;
      memcpy(fmt + n, "p", 2);
      str_printf(out, fmt, (void *)v);
      return true;
    case 's':
      if (!next_arg(a, 8, &v)) return false;
      memcpy(fmt + n, "s", 2);
      if (v && !read_string(a->w, a->lane, v, &text)) return false;
      str_printf(out, fmt, v ? text.data : "(null)");
      str_free(&text);
      return true;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A': {
      if (!next_arg(a, 8, &v)) return false;
      double d;
      memcpy(&d, &v, 8);
      memcpy(fmt + n, (char[]){conv, 0}, 2);
      str_printf(out, fmt, d);
      return true;
    }
    case '%': str_addc(out, '%'); return true;
    default: str_addn(out, spec, (size_t)(*end - spec)); return true;
  }
}

static const Inst *builtin_vprintf(Warp *w, const Inst *in) {
  const CallSite *cs = in->ptr;
  w->mem_pc = in;
  Str out = {0};
  FOR_LANES(lane, w->exec) {
    Str format = {0};
    PrintArgs args = {w, lane, builtin_arg(w, cs, lane, 1)};
    uint64_t address = builtin_arg(w, cs, lane, 0);
    bool ok = read_string(w, lane, address, &format);
    int conversions = 0;
    for (const char *p = format.data; ok && *p;) {
      const char *percent = strchr(p, '%');
      if (!percent) {
        str_add(&out, p);
        break;
      }
      str_addn(&out, p, (size_t)(percent - p));
      ok = print_conversion(&args, percent, &p, &out);
      conversions++;
    }
    str_free(&format);
    if (!ok) {
      str_free(&out);
      return vgpu_fault(w, in, VGPU_ILLEGAL_ADDRESS, lane, address,
                        "printf reads its format or arguments from an illegal address");
    }
    builtin_result(w, cs, lane, (uint64_t)conversions);
  }
  if (out.len) vgpu_print(w->launch, out.data, out.len);
  str_free(&out);
  return in + 1;
}

static const Inst *builtin_malloc(Warp *w, const Inst *in) {
  FOR_LANES(lane, w->exec)
    builtin_result(w, in->ptr, lane, heap_alloc(builtin_arg(w, in->ptr, lane, 0)));
  return in + 1;
}

static const Inst *builtin_free(Warp *w, const Inst *in) {
  FOR_LANES(lane, w->exec) {
    uint64_t p = builtin_arg(w, in->ptr, lane, 0);
    if (!heap_free(p))
      return vgpu_fault(w, in, VGPU_TRAP, lane, p,
                        "free of 0x%" PRIx64 ", which malloc did not return", p);
  }
  return in + 1;
}

// __assertfail(message, file, line, function, charsize)
static const Inst *builtin_assertfail(Warp *w, const Inst *in) {
  const CallSite *cs = in->ptr;
  w->mem_pc = in;
  FOR_LANES(lane, w->exec) {
    Str text[3] = {{0}};
    const unsigned which[3] = {0, 1, 3};
    for (unsigned i = 0; i < 3; i++) {
      read_string(w, lane, builtin_arg(w, cs, lane, which[i]), &text[i]);
      if (!text[i].data) str_add(&text[i], "?");
    }
    const uint32_t *c = w->block->ctaid;
    // the line CUDA itself prints, on standard error
    fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
            text[1].data, (unsigned)builtin_arg(w, cs, lane, 2), text[2].data, c[0], c[1], c[2],
            w->tid[0][lane], w->tid[1][lane], w->tid[2][lane], text[0].data);
    for (unsigned i = 0; i < 3; i++) str_free(&text[i]);
  }
  return vgpu_fault(w, in, VGPU_ASSERT, (unsigned)__builtin_ctz(w->exec), 0,
                    "a device assertion failed");
}

static const Builtin table[] = {
    {"vprintf", builtin_vprintf},
    {"malloc", builtin_malloc},
    {"free", builtin_free},
    {"__assertfail", builtin_assertfail},
    {NULL, NULL},
};

ExecFn *builtin_find(const char *name) {
  const Builtin *tables[] = {table, device_runtime_builtins};
  for (unsigned t = 0; t < ARRAY_LEN(tables); t++)
    for (const Builtin *b = tables[t]; b->name; b++)
      if (!strcmp(b->name, name)) return b->fn;
  return NULL;
}
