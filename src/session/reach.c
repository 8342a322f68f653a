// Computes the address range of a launch's stores (weave/store_reach.c) from the parameters and the
// shape of the launch.
#include "session/written_buffers.h"

typedef struct Interval {
  int64_t low, high;
  bool known;
} Interval;
typedef __int128 Wide;

static Interval made(Wide low, Wide high) {
  const Wide most = (Wide)1 << 62;
  if (low < -most || high > most) return (Interval){.known = false};
  return (Interval){(int64_t)low, (int64_t)high, true};
}

// A 32-bit register holds these values only if all fit, read as signed or all as unsigned.
static Interval fitted(Interval i, uint8_t bytes) {
  if (bytes == 4 && (i.low < INT32_MIN || i.high > UINT32_MAX || (i.low < 0 && i.high > INT32_MAX)))
    i.known = false;
  return i;
}

static Interval product(Interval a, Interval b) {
  Wide x[] = {(Wide)a.low * b.low, (Wide)a.low * b.high, (Wide)a.high * b.low,
              (Wide)a.high * b.high},
       low = x[0], high = x[0];
  for (int i = 1; i < 4; i++) {
    low = MIN(low, x[i]);
    high = MAX(high, x[i]);
  }
  return made(low, high);
}

// The interval as a signed or unsigned operand reads it.
static Interval read_as(Interval i, uint8_t bytes, bool is_signed) {
  if (bytes != 4) return i;
  if (is_signed ? i.high > INT32_MAX : i.low < 0) i.known = false;
  return i;
}

static bool read_param(const WeaveFact *f, uint8_t bytes, const SessionParams *p, Interval *out) {
  int64_t v = 0;
  int32_t w;
  const char *at = NULL;
  if (p->pointers)
    at = p->pointers[f->param] ? (const char *)p->pointers[f->param] + f->param_offset : NULL;
  else if (p->buffer && (size_t)f->param_at + bytes <= p->buffer_bytes)
    at = (const char *)p->buffer + f->param_at;
  if (!at) return false;
  if (bytes == 8) memcpy(&v, at, 8);
  else {
    memcpy(&w, at, 4);
    v = w;
  }
  *out = made(v, v);
  return out->known;
}

static Interval evaluate(const ReachNode *n, const Interval *values, const SessionParams *p,
                         const SessionLaunch *l) {
  Interval a = values[n->a], b = values[n->b], unknown = {.known = false}, v;
  int d = (int)n->value;
  switch (n->op) {
    case REACH_CONST: return made(n->value, n->value);
    case REACH_PARAM: return read_param(&n->param, n->bytes, p, &v) ? v : unknown;
    case REACH_TID: return made(0, (Wide)l->block[d] - 1);
    case REACH_NTID: return made(l->block[d], l->block[d]);
    case REACH_CTAID: return made(0, (Wide)l->grid[d] - 1);
    case REACH_NCTAID: return made(l->grid[d], l->grid[d]);
    default: break;
  }
  if (!a.known || (n->op != REACH_CONVERT && !b.known)) return unknown;
  switch (n->op) {
    case REACH_ADD: return fitted(made((Wide)a.low + b.low, (Wide)a.high + b.high), n->bytes);
    case REACH_SUB: return fitted(made((Wide)a.low - b.high, (Wide)a.high - b.low), n->bytes);
    case REACH_MUL: return fitted(product(a, b), n->bytes);
    case REACH_MUL_WIDE:
      a = read_as(a, 4, n->is_signed);
      b = read_as(b, 4, n->is_signed);
      return a.known && b.known ? product(a, b) : unknown;
    case REACH_SHL:
      return b.low == b.high && b.low >= 0 && b.low < 32
                 ? fitted(product(a, made((Wide)1 << b.low, (Wide)1 << b.low)), n->bytes)
                 : unknown;
    case REACH_OR:
      return a.low >= 0 && b.low >= 0
                 ? fitted(made(MAX(a.low, b.low), (Wide)a.high + b.high), n->bytes)
                 : unknown;
    case REACH_CONVERT: return read_as(a, n->bytes, n->is_signed);
    default: return unknown;
  }
}

bool session_reach(const WovenKernel *code, const WeaveWrite *w, const SessionParams *p,
                   const SessionLaunch *l, uint64_t *from, uint64_t *to) {
  enum { MOST = 400 };
  Interval values[MOST];
  if (!w->nreach || code->nreach_nodes > MOST) return false;
  for (uint32_t i = 0; i < code->nreach_nodes; i++)
    values[i] = evaluate(&code->reach_nodes[i], values, p, l);
  for (uint32_t i = 0; i < w->nreach; i++) {
    Interval v = values[w->reach[i].node];
    if (!v.known || v.low + w->reach[i].offset < 0) return false;
    uint64_t low = (uint64_t)(v.low + w->reach[i].offset),
             high = (uint64_t)(v.high + w->reach[i].offset) + w->reach[i].bytes;
    *from = i ? MIN(*from, low) : low;
    *to = i ? MAX(*to, high) : high;
  }
  return true;
}
