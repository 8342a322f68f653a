// Copies and sets as the program asks for them: whether both places have the room, are what the
// call says they are, and lie apart. Memory that nobody told us of (the stack, malloc, other
// processes') is not judged.
#include "session/order.h"
#include "session/written_buffers.h"
#include "tools/tool.h"

typedef struct Side {
  const SessionCopy *copy;
  const SessionPlace *place;
  bool to;
  uint64_t first, bytes;  // from the first byte that is copied to the last, gaps included
  HeapRange range;        // that the address is in
  bool known;
} Side;

static _Thread_local bool said;  // of the call that is going on

static const char *name_of(const Side *s) {
  return s->copy->is_set ? "memory that is set" : s->to ? "destination" : "source";
}
static bool is_host_memory(SessionMemoryKind k) {
  return k == SESSION_PINNED || k == SESSION_REGISTERED;
}

// "cuMemcpyHtoDAsync_v2_ptsz" is cuMemcpyHtoDAsync to a reader.
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
  said = true;
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

// Addresses of the host may have been given to the program by others since; a graph's memory is
// allocated again by its next launch.
static bool check_freed(const Side *s) {
  if (!s->known || s->range.memory.state != WG_MEMORY_FREED || s->copy->captured) return false;
  if (s->range.kind == SESSION_GRAPH || is_host_memory(s->range.kind)) return false;
  if (s->place->kind != SESSION_PLACE_DEVICE &&
      !session_quarantine_holds(s->range.device, s->range.memory.base))
    return false;
  MISUSE(s, s->first, s->bytes, "the %s was freed before", name_of(s));
  return true;
}

// Pools and mapped memory may lie on the host: only memory of which it is certain is called the
// device's.
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

// Where the memory that starts in this range ends: mapped and registered memory goes on in the next
// range.
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

// Rows that are as far apart as the allocation's, or a multiple of it, follow it. Anything else may
// be meant.
static void check_own_pitch(const Side *s) {
  uint64_t pitch = s->known ? session_pitch_find(s->range.memory.base) : 0;
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

// Bytes that are read and written; rows as far apart on both sides, or one row. A copy of something
// onto itself changes nothing.
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

void session_copy_check(const SessionCopy *c) {
  session_order_copy(c);
  session_outputs_copy(c);
  EACH_RUNNING_TOOL(t, tool)
    if (tool->copy_asked) tool->copy_asked(c);
  said = false;
  if (!(session_tools() & TOOL_BIT(MEMCHECK))) return;
  session_pageable_other();
  Side to = side_of(c, &c->to, true), from = side_of(c, &c->from, false);
  if (c->to.kind == SESSION_PLACE_ARRAY) check_array(&to);
  else check_linear(&to);
  if (c->is_set) return;
  if (c->from.kind == SESSION_PLACE_ARRAY) check_array(&from);
  else check_linear(&from);
  // One that leaves its allocation overlaps whatever the driver put behind it.
  if (!said && c->to.kind != SESSION_PLACE_ARRAY && c->from.kind != SESSION_PLACE_ARRAY)
    check_overlap(&to, &from);
  if (!said) session_pageable_check(c, is_pageable(&to), is_pageable(&from));
}

// --- what the driver refused although we saw nothing ---

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

void session_copy_refused(const SessionCopy *c) {
  if (said || !(session_tools() & TOOL_BIT(MEMCHECK))) return;
  Side to = side_of(c, &c->to, true), from = side_of(c, &c->from, false);
  if (!explain(&to) && !c->is_set) explain(&from);
}
