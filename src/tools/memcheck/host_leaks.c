// Reports memory that is still allocated when the process ends, by the call stack that allocated
// it (--leak-check).
#include "tools/memcheck/host.h"

typedef struct Place {
  uint64_t stack, bytes, count;
  uint64_t first;  // the oldest of its allocations
} Place;
typedef struct Leaks {
  VEC(Place) places;
  U64Map by_stack;
  uint64_t bytes, count;
} Leaks;

// Variables live as long as their module, registered memory belongs to the program, memory of a
// graph to the graph and imported memory to its exporter.
static bool can_leak(const HeapRange *r) {
  unsigned others = SESSION_BIT(VARIABLE) | SESSION_BIT(REGISTERED) | SESSION_BIT(GRAPH) |
                    SESSION_BIT(IMPORTED);
  return r->memory.state == WG_MEMORY_LIVE && !(others >> r->kind & 1) &&
         r->generation == session_generation();
}

static void add_range(void *user, const HeapRange *r) {
  Leaks *l = user;
  if (!can_leak(r)) return;
  l->bytes += r->memory.size;
  l->count++;
  uintptr_t at = (uintptr_t)u64map_get(&l->by_stack, r->stack + 1);  // index + 1
  if (!at) {
    vec_push(&l->places, (Place){.stack = r->stack, .first = r->order});
    u64map_put(&l->by_stack, r->stack + 1, (void *)(at = l->places.len));
  }
  Place *p = &l->places.data[at - 1];
  p->bytes += r->memory.size;
  p->count++;
  p->first = MIN(p->first, r->order);
}

static int by_age(const void *a, const void *b) {
  const Place *p = a, *q = b;
  return p->first < q->first ? -1 : p->first > q->first;
}

static void report(uint64_t bytes, uint64_t count, uint64_t stack, const char *more) {
  Str text = {0};
  str_printf(&text, "Memory still allocated at exit: %llu bytes in %llu allocation%s%s",
             (unsigned long long)bytes, (unsigned long long)count, count == 1 ? "" : "s", more);
  session_finding(&(SessionFinding){
      .kind = "leak", .text = text.data, .size = bytes, .stack = stack, .no_stack = !stack});
  str_free(&text);
}

void leaks_report(void) {
  const MemcheckOptions *o = memcheck_options();
  if (!o->leaks) return;
  Leaks l = {0};
  session_ranges_each(add_range, &l);
  session_handles_each(add_range, &l);
  if (l.places.len) qsort(l.places.data, l.places.len, sizeof *l.places.data, by_age);
  if (!o->leaks_by_place && l.count) {
    char more[96];
    snprintf(more, sizeof more, ", from %u place%s in the program; --leak-check=full lists them",
             l.places.len, l.places.len == 1 ? "" : "s");
    report(l.bytes, l.count, 0, more);
  }
  for (uint32_t i = 0; o->leaks_by_place && i < l.places.len; i++)
    report(l.places.data[i].bytes, l.places.data[i].count, l.places.data[i].stack, "");
  vec_free(&l.places);
  u64map_free(&l.by_stack);
}
