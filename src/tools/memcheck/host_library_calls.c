// Checks calls of CUDA's mathematical libraries: every operand must lie in one live allocation,
// from its first element to its last.
#include "tools/memcheck/host.h"

#define N(x) ((unsigned long long)(x))

static void report(const LibraryCall *c, const Operand *o, uint64_t address, uint64_t size,
                   const char *what) {
  Str text = {0};
  HeapRange r;
  str_printf(&text, "%s: %s", c->name, what);
  session_finding(
      &(SessionFinding){.kind = "api-misuse",
                        .text = text.data,
                        .has_address = address != 0,
                        .address = address,
                        .size = size,
                        .stack = c->stack,
                        .related = session_ranges_look(o->address, &r) ? r.memory.base : 0});
  str_free(&text);
}

static void describe(Str *text, const Operand *o) {
  if (o->batch > 1) str_printf(text, "%llu of ", N(o->batch));
  if (o->element == 1 && o->columns == 1) str_printf(text, "%llu bytes", N(o->rows));
  else if (o->rows == 1 || o->columns == 1)
    str_printf(text, "%llu elements of %llu bytes", N(o->rows * o->columns), N(o->element));
  else
    str_printf(text, "%llu x %llu elements of %llu bytes", N(o->rows), N(o->columns),
               N(o->element));
  if (o->columns > 1 && o->pitch != o->rows * o->element)
    str_printf(text, o->rows == 1 ? ", %llu apart" : ", leading dimension %llu",
               N(o->pitch / o->element));
  if (o->batch > 1) str_printf(text, ", stride %llu", N(o->slice / o->element));
}

static uint64_t end_of(const HeapRange *r) {
  uint64_t end = r->memory.base + r->memory.size;
  HeapRange next;
  while ((r->kind == SESSION_VIRTUAL || r->kind == SESSION_REGISTERED) &&
         session_ranges_look(end, &next) && next.memory.base == end && next.kind == r->kind &&
         next.memory.state == WG_MEMORY_LIVE)
    end += next.memory.size;
  return end;
}

// may_be_freed: the program may have freed it since it made the call.
static void check(const LibraryCall *c, const Operand *o, bool may_be_freed) {
  uint64_t bytes = operand_extent(o);
  HeapRange r;
  Str text = {0};
  if (!bytes) return;
  if (!session_ranges_look(o->address, &r)) {
    str_printf(&text,
               o->address ? "%s is not device memory: nothing is allocated there"
                          : "%s is a null pointer",
               o->name);
    report(c, o, o->address, 0, text.data);
  } else if (r.memory.state != WG_MEMORY_LIVE) {
    bool certain = !may_be_freed && !c->captured && r.kind != SESSION_GRAPH &&
                   r.kind != SESSION_PINNED && r.kind != SESSION_REGISTERED;
    str_printf(&text, "%s was freed before", o->name);
    if (certain) report(c, o, o->address, bytes, text.data);
  } else if (o->address + bytes > end_of(&r)) {
    uint64_t end = end_of(&r), over = o->address + bytes - end;
    str_printf(&text, "%s %s %llu bytes behind its allocation: ", o->name,
               o->access & OPERAND_WRITE ? "is written up to" : "is read up to", N(over));
    describe(&text, o);
    report(c, o, MAX(end, o->address), over, text.data);
  }
  str_free(&text);
}

void library_call_asked(LibraryCall *c, SessionDevice *on) {
  for (uint32_t i = 0; i < c->noperands; i++) check(c, &c->operands[i], false);
}

void library_call_found(const LibraryCall *c, const Operand *o, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) check(c, &o[i], true);
}

void library_call_wrong(const LibraryCall *c, const char *why) {
  Str text = {0};
  str_printf(&text, "%s: %s", c->name, why);
  session_finding(&(SessionFinding){
      .kind = "api-misuse", .text = text.data, .stack = c->stack, .no_stack = true});
  str_free(&text);
}

void library_call_refused(const char *call, const char *why) {
  Str text = {0};
  str_printf(&text, "%s: %s", call, why);
  session_finding(&(SessionFinding){.kind = "api-misuse", .text = text.data});
  str_free(&text);
}
