// Puts the host's facts about a kernel's pointer parameters into the launch record.
#include "session/internal.h"

bool session_fact_pointer(const WeaveFact *f, const SessionParams *p, uint64_t *pointer) {
  if (p->pointers) {
    if (!p->pointers[f->param]) return false;
    memcpy(pointer, (const char *)p->pointers[f->param] + f->param_offset, sizeof *pointer);
    return true;
  }
  if (!p->buffer || (size_t)f->param_at + sizeof *pointer > p->buffer_bytes) return false;
  memcpy(pointer, (const char *)p->buffer + f->param_at, sizeof *pointer);
  return true;
}

static uint32_t index_limit(const WeaveFact *f, const WgMemoryRange *r, uint64_t pointer) {
  // bytes of the allocation before index 0
  int64_t before = (int64_t)(pointer - r->base) + f->offset;
  // bytes from index 0 to the last place where an access still fits
  int64_t room = (int64_t)r->size - before - (int64_t)f->bytes;
  if (before < 0 || room < 0) return 0;
  // a constant may be added to the index
  uint64_t limit = (uint64_t)room / f->scale + 1,
           most = (f->index_signed ? 1u << 31 : UINT32_MAX) - (1u << 20);
  return (uint32_t)MIN(limit, most);
}

static _Thread_local const SessionArgument *arguments;
static _Thread_local uint32_t narguments;

void session_arguments(const SessionArgument *list, uint32_t n) {
  arguments = list;
  narguments = n;
}

// Narrows the range to the part of the allocation that the API names for this argument. Returns
// bits for the range's base: forbidden reads and writes.
static uint64_t narrow(const WeaveFact *f, uint64_t pointer, WgMemoryRange *r) {
  if (f->param >= narguments || f->param_offset) return 0;
  const SessionArgument *a = &arguments[f->param];
  if (a->base != pointer || a->base < r->base || a->size > r->size - (a->base - r->base)) return 0;
  r->base = a->base;
  r->size = a->size;
  return (a->no_reads && f->accesses & FACT_READS ? WG_NO_READS : 0) |
         (a->no_writes && f->accesses & FACT_WRITES ? WG_NO_WRITES : 0);
}

static size_t fact_bytes(WeaveFactKind kind) {
  return kind == FACT_RANGE ? 16 : kind == FACT_INDEX_LIMIT ? 4 : 24;
}

void session_fill_facts(const WovenKernel *code, const SessionParams *params, void *record) {
  uint64_t last_pointer = 0;
  WgMemoryRange r = {0};
  bool found = false;
  for (uint32_t i = 0; i < code->nfacts; i++) {
    const WeaveFact *f = &code->facts[i];
    char *at = (char *)record + f->record_offset;
    uint64_t pointer;
    memset(at, 0, fact_bytes(f->kind));              // not known
    if (f->kind == FACT_RANGE) memset(at, 0xff, 8);  // a range that contains no address, not even 0
    if (!session_fact_pointer(f, params, &pointer) || !pointer) continue;
    if (pointer != last_pointer) found = session_ranges_find(pointer, &r);
    last_pointer = pointer;
    if (!found || (f->align && pointer % f->align)) continue;
    WgMemoryRange part = r;
    uint64_t forbidden = narrow(f, pointer, &part);
    if (f->kind == FACT_RANGE && part.size >= f->bytes)
      memcpy(at, (uint64_t[]){part.base | forbidden, part.size - f->bytes}, 16);
    if (f->kind == FACT_INDEX_LIMIT && !forbidden)
      memcpy(at, &(uint32_t){index_limit(f, &part, pointer)}, 4);
  }
}
