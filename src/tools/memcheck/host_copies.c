// Checks copies and sets when the program makes the call: the extent and the kind of both sides,
// and that they do not overlap. Memory that no CUDA call allocated (the stack, malloc, memory of
// other processes) is not checked.
#include "tools/memcheck/host.h"

typedef struct Side {
  const SessionCopy *copy;
  const SessionPlace *place;
  bool to;
  uint64_t first, bytes;  // from the first byte that is copied to the last, gaps included
  HeapRange range;        // the allocation that the address is in
  bool known;             // an allocation was found
} Side;

static _Thread_local bool reported;  // something is wrong with the thread's current call

static const char *name_of(const Side *s) {
  return s->copy->is_set ? "memory that is set" : s->to ? "destination" : "source";
}
static bool is_host_memory(SessionMemoryKind k) {
  return k == SESSION_PINNED || k == SESSION_REGISTERED;
}

// Findings name the function without its version: cuMemcpyHtoDAsync for
// "cuMemcpyHtoDAsync_v2_ptsz".
static int name_length(const char *call) {
  const char *end = strchr(call, '_');
  return end ? (int)(end - call) : (int)strlen(call);
}

static void report(const Side *s, const char *kind, uint64_t address, uint64_t size,
                   const char *fmt, ...) PRINTF_LIKE(5, 6);
static void report(const Side *s, const char *kind, uint64_t address, uint64_t size,
                   const char *fmt, ...) {
  char words[512], text[640];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(words, sizeof words, fmt, ap);
  va_end(ap);
  snprintf(text, sizeof text, "%.*s: %s", name_length(s->copy->call), s->copy->call, words);
  reported = true;
  session_finding(&(SessionFinding){.kind = kind,
                                    .text = text,
                                    .has_address = address != 0,
                                    .address = address,
                                    .size = size,
                                    .related = s->known ? s->range.memory.base : 0});
}
#define MISUSE(s, address, size, ...) report(s, "api-misuse", address, size, __VA_ARGS__)
#define N(x) ((unsigned long long)(x))

static uint64_t times(uint64_t a, uint64_t b) {
  uint64_t n;
  return __builtin_mul_overflow(a, b, &n) ? UINT64_MAX / 4 : MIN(n, UINT64_MAX / 4);
}

// --- linear memory ---

static size_t pitch_of(const Side *s) {
  return s->place->pitch ? s->place->pitch : s->place->x + s->copy->width;
}
static size_t rows_of(const Side *s) {
  return s->place->rows ? s->place->rows : s->place->y + s->copy->height;
}

static void measure(Side *s) {
  const SessionPlace *p = s->place;
  const SessionCopy *c = s->copy;
  uint64_t row = pitch_of(s), slice = times(row, rows_of(s));
  s->first = p->address + times(p->z, slice) + times(p->y, row) + p->x;
  s->bytes = times(c->depth - 1, slice) + times(c->height - 1, row) + c->width;
  s->known = session_ranges_look(p->address, &s->range);
}

// Host addresses may have been reused by other allocators since; the next launch of a graph
// allocates its memory again.
static bool check_freed(const Side *s) {
  if (!s->known || s->range.memory.state != WG_MEMORY_FREED || s->copy->captured) return false;
  if (s->range.kind == SESSION_GRAPH || is_host_memory(s->range.kind)) return false;
  if (s->place->kind != SESSION_PLACE_DEVICE &&
      !quarantine_holds(s->range.device, s->range.memory.base))
    return false;
  MISUSE(s, s->first, s->bytes, "the %s was freed before", name_of(s));
  return true;
}

// Pools and mapped memory may lie on the host: only plain device memory is certain.
static bool check_direction(const Side *s) {
  if (!s->known || s->range.memory.state != WG_MEMORY_LIVE ||
      s->place->kind != SESSION_PLACE_HOST || s->range.kind != SESSION_DEVICE)
    return false;
  MISUSE(s, s->first, 0,
         "the %s is given as host memory, but is device memory: the direction of the copy is wrong",
         name_of(s));
  return true;
}

static bool check_pitch(const Side *s) {
  const SessionCopy *c = s->copy;
  size_t row = s->place->x + c->width;
  if ((c->height > 1 || c->depth > 1) && pitch_of(s) < row) {
    MISUSE(s, s->first, 0, "the pitch of the %s, %zu bytes, is smaller than a row of %zu",
           name_of(s), pitch_of(s), row);
    return true;
  }
  if (c->depth > 1 && rows_of(s) < s->place->y + c->height) {
    MISUSE(s, s->first, 0, "a slice of the %s has %zu rows, fewer than the %zu that are copied",
           name_of(s), rows_of(s), s->place->y + c->height);
    return true;
  }
  return false;
}

// The end of the memory that starts in this range: adjacent mappings and registrations count as
// one.
static uint64_t end_of(const HeapRange *r) {
  uint64_t end = r->memory.base + r->memory.size;
  bool goes_on = r->kind == SESSION_VIRTUAL || r->kind == SESSION_REGISTERED;
  HeapRange next;
  while (goes_on && session_ranges_look(end, &next) && next.memory.base == end &&
         next.kind == r->kind && next.memory.state == WG_MEMORY_LIVE)
    end += next.memory.size;
  return end;
}

static bool check_extent(const Side *s) {
  if (!s->known || s->range.memory.state != WG_MEMORY_LIVE) return false;
  uint64_t end = end_of(&s->range), last = s->first + s->bytes;
  if (last <= end && s->first >= s->range.memory.base) return false;
  uint64_t left = s->first < end ? end - s->first : 0, over = last - end;
  const SessionCopy *c = s->copy;
  const char *does = c->is_set ? "set" : s->to ? "written" : "read";
  if (c->height == 1 && c->depth == 1)
    MISUSE(s, MAX(end, s->first), over,
           "%llu bytes are %s where %llu are left of the allocation: %llu too many in the %s",
           N(c->width), does, N(left), N(over), name_of(s));
  else if (c->depth == 1)
    MISUSE(s, MAX(end, s->first), over,
           "%zu rows of %zu bytes, %zu apart, are %s: they end %llu bytes behind the allocation of "
           "the %s",
           c->height, c->width, pitch_of(s), does, N(over), name_of(s));
  else
    MISUSE(s, MAX(end, s->first), over,
           "%zu slices of %zu rows of %zu bytes, the rows %zu apart, %zu in a slice, are %s: they "
           "end %llu bytes behind the allocation of the %s",
           c->depth, c->height, c->width, pitch_of(s), rows_of(s), does, N(over), name_of(s));
  return true;
}

// A pitch other than that of the allocation, or a multiple of it, may be intended: only advice.
static void check_own_pitch(const Side *s) {
  uint64_t pitch = s->known ? pitches_find(s->range.memory.base) : 0;
  if (!pitch || s->copy->height == 1 || pitch_of(s) % pitch == 0) return;
  report(s, "api-advice", s->first, 0,
         "the rows of the %s are taken to be %zu bytes apart, but it was allocated with a pitch of "
         "%llu",
         name_of(s), pitch_of(s), N(pitch));
}

static void check_linear(Side *s) {
  if (check_freed(s) || check_direction(s) || check_pitch(s) || check_extent(s)) return;
  check_own_pitch(s);
}

// --- arrays ---

// A one-dimensional copy may run from one row into the next.
static void check_array(const Side *s) {
  SessionArray a;
  const SessionPlace *p = s->place;
  const SessionCopy *c = s->copy;
  if (!session_array_find(p->address, &a)) return;
  uint64_t all = times(times(a.row_bytes, a.rows), a.slices),
           flat = times(times(p->z, a.rows) + p->y, a.row_bytes) + p->x;
  bool fits = c->height == 1 && c->depth == 1
                  ? flat + c->width <= all
                  : p->x + c->width <= a.row_bytes && p->y + c->height <= a.rows &&
                        p->z + c->depth <= a.slices;
  if (fits) return;
  MISUSE(s, a.memory, 0,
         "%zu x %zu x %zu (bytes, rows, slices) from (%zu, %zu, %zu) of an array of %zu x %zu x "
         "%zu: more than the %s has",
         c->width, c->height, c->depth, p->x, p->y, p->z, a.row_bytes, a.rows, a.slices,
         name_of(s));
}

// --- both sides ---

// Bytes that are both read and written. Rows must have the same pitch on both sides, or be one
// row. A copy onto itself changes nothing and is not an overlap.
static uint64_t overlap(const Side *a, const Side *b) {
  const SessionCopy *c = a->copy;
  uint64_t apart = a->first > b->first ? a->first - b->first : b->first - a->first;
  if (!apart || c->depth > 1) return 0;
  if (c->height == 1) return apart < c->width ? c->width - apart : 0;
  uint64_t pitch = pitch_of(a);
  if (pitch != pitch_of(b) || pitch < c->width) return 0;
  uint64_t rows = apart / pitch, x = apart % pitch;
  uint64_t same = rows < c->height && x < c->width ? (c->height - rows) * (c->width - x) : 0;
  uint64_t next = rows + 1 < c->height && pitch - x < c->width
                      ? (c->height - rows - 1) * (c->width - (pitch - x))
                      : 0;
  return same + next;
}

static void check_overlap(const Side *to, const Side *from) {
  uint64_t n = overlap(to, from);
  if (n)
    MISUSE(to, MAX(to->first, from->first), 0, "source and destination overlap by %llu bytes",
           N(n));
}

static bool is_pageable(const Side *s) {
  return s->place->kind == SESSION_PLACE_HOST &&
         (!s->known || s->range.memory.state != WG_MEMORY_LIVE);
}

static Side side_of(const SessionCopy *c, const SessionPlace *p, bool to) {
  Side s = {.copy = c, .place = p, .to = to};
  if (p->kind != SESSION_PLACE_ARRAY) measure(&s);
  return s;
}

void copies_asked(const SessionCopy *c) {
  reported = false;
  pageable_next_copy();
  Side to = side_of(c, &c->to, true), from = side_of(c, &c->from, false);
  if (c->to.kind == SESSION_PLACE_ARRAY) check_array(&to);
  else check_linear(&to);
  if (c->is_set) return;
  if (c->from.kind == SESSION_PLACE_ARRAY) check_array(&from);
  else check_linear(&from);
  // A copy that leaves its allocation may overlap whatever lies after it.
  if (!reported && c->to.kind != SESSION_PLACE_ARRAY && c->from.kind != SESSION_PLACE_ARRAY)
    check_overlap(&to, &from);
  if (!reported) pageable_copy(c, is_pageable(&to), is_pageable(&from));
}

// --- copies that the driver refuses although the checks found nothing ---

static bool explain(const Side *s) {
  const SessionPlace *p = s->place;
  if (p->kind == SESSION_PLACE_ARRAY) return false;
  if (!p->address) {
    MISUSE(s, 0, 0, "the %s is a null pointer", name_of(s));
    return true;
  }
  if (s->known && s->range.memory.state == WG_MEMORY_FREED) {
    MISUSE(s, s->first, s->bytes, "the %s was freed before", name_of(s));
    return true;
  }
  if (p->kind != SESSION_PLACE_DEVICE || s->known) return false;
  MISUSE(s, p->address, 0, "the %s is given as device memory, but nothing is allocated there",
         name_of(s));
  return true;
}

void copies_refused(const SessionCopy *c) {
  if (reported) return;
  Side to = side_of(c, &c->to, true), from = side_of(c, &c->from, false);
  if (!explain(&to) && !c->is_set) explain(&from);
}
