// Calls of CUDA's mathematical libraries: each operand leaves entries like a copy that reads or
// writes it. A triangular operand is left out, since all elements of its matrix would count.
#include "session/order.h"
#include "tools/racecheck/host.h"

typedef struct CallTags {
  uint64_t tag[LIBRARY_OPERANDS];
  bool ran;
} CallTags;

// false: its rows are not rows of one box
static bool copy_of(const LibraryCall *c, const Operand *o, SessionCopy *out) {
  SessionPlace place = {.kind = SESSION_PLACE_DEVICE, .address = o->address, .pitch = o->pitch};
  bool slices = o->batch > 1 && o->pitch && o->slice % o->pitch == 0;
  if (o->shape != OPERAND_FULL || (o->batch > 1 && !slices)) return false;
  if (slices) place.rows = o->slice / o->pitch;
  *out = (SessionCopy){.call = c->name,
                       .width = o->rows * o->element,
                       .height = o->columns,
                       .depth = o->batch,
                       .stream = c->stream,
                       .async = true,
                       .device = c->device};
  if (o->access & OPERAND_WRITE) {
    out->to = place;
    out->is_set = true;
  } else {
    out->to.kind = SESSION_PLACE_ARRAY;  // nothing is written
    out->from = place;
  }
  return true;
}

void race_library_asked(LibraryCall *c, SessionDevice *on) {
  if (c->captured || !on || !session_order_concurrent()) return;
  CallTags *tags = mem_alloc(sizeof *tags);
  for (uint32_t i = 0; i < c->noperands; i++) {
    SessionCopy copy;
    if (!copy_of(c, &c->operands[i], &copy)) continue;
    copy.on = on;
    session_order_copy(&copy);
    race_copy_asked(&copy);
    tags->tag[i] = race_copy_tag();
    if (tags->tag[i]) race_copy_begins(tags->tag[i]);
  }
  c->record = tags;
}

static void enter(const LibraryCall *c, bool ran) {
  const CallTags *tags = c->record;
  for (uint32_t i = 0; i < c->noperands; i++) {
    SessionCopy copy = {0};
    if (!tags->tag[i] || !copy_of(c, &c->operands[i], &copy)) continue;
    copy.tag = tags->tag[i];
    if (!ran) copy.width = 0;  // only its number is given back
    race_copy_runs(NULL, &copy);
  }
}

void race_library_ran(const LibraryCall *c) {
  if (!c->record) return;
  enter(c, true);
  ((CallTags *)c->record)->ran = true;
}

void race_library_done(const LibraryCall *c) {
  if (!c->record) return;
  if (!((const CallTags *)c->record)->ran) enter(c, false);
  free((void *)c->record);
}
