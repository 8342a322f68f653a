// Calls of CUDA's mathematical libraries: their inputs must have been written; their outputs count
// as initialised from then on.
#include "tools/initcheck/host.h"

// The bytes of one operand that were never written, or come from such bytes.
typedef struct Unwritten {
  uint64_t bytes, first;
} Unwritten;

static void look(uint64_t at, uint64_t n, Unwritten *u) {
  for (uint64_t step; n; at += step, n -= step) {
    Shadow *s;
    ShadowTally t = {0};
    step = shadow_run(at, n, &s);
    if (!s || !s->address || s->whole || !shadow_read_tally(s, at - s->base, step, &t)) continue;
    if (!t.never && !t.derived) continue;
    if (!u->bytes)
      u->first = s->base + (t.never && (!t.derived || t.first_never < t.first_derived)
                                ? t.first_never
                                : t.first_derived);
    u->bytes += t.never + t.derived;
  }
}

// Calls f for each column of each matrix; columns without gaps between them are one.
static void each_column(const Operand *o, void (*f)(uint64_t at, uint64_t n, void *user),
                        void *user) {
  bool flat = o->shape == OPERAND_FULL && o->pitch == o->rows * o->element;
  for (uint64_t k = 0; k < o->batch; k++) {
    uint64_t at = o->address + k * o->slice, first, end;
    if (flat) f(at, o->columns * o->pitch, user);
    for (uint64_t j = 0; !flat && j < o->columns; j++) {
      operand_rows(o, j, &first, &end);
      if (first < end) f(at + j * o->pitch + first * o->element, (end - first) * o->element, user);
    }
  }
}

static void look_at_column(uint64_t at, uint64_t n, void *user) { look(at, n, user); }

static void mark_column(uint64_t at, uint64_t n, void *user) {
  SessionCopy c = {.to = {.kind = SESSION_PLACE_DEVICE, .address = at},
                   .is_set = true,
                   .width = n,
                   .height = 1,
                   .depth = 1};
  shadow_copy_runs(NULL, &c);
}

static void report(const LibraryCall *c, const Operand *o, const Unwritten *u) {
  Str text = {0};
  str_printf(&text, "%s reads %s, of which %llu bytes were never written", c->name, o->name,
             (unsigned long long)u->bytes);
  session_finding(&(SessionFinding){.kind = "uninit-use",
                                    .text = text.data,
                                    .has_address = true,
                                    .address = u->first,
                                    .size = u->bytes,
                                    .stack = c->stack,
                                    .no_stack = true});
  str_free(&text);
}

void init_library_begins(const LibraryCall *c, const Operand *o, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    Unwritten u = {0};
    if (!(o[i].access & OPERAND_READ) || o[i].access & OPERAND_PARTLY) continue;
    shadow_lock();
    each_column(&o[i], look_at_column, &u);
    shadow_unlock();
    if (u.bytes) report(c, &o[i], &u);
  }
  for (uint32_t i = 0; i < n; i++)
    if (o[i].access & OPERAND_WRITE) each_column(&o[i], mark_column, NULL);
}
