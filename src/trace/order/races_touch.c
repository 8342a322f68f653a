// Accesses word by word: how they are gathered, sorted, and chosen.
#include "trace/order/races.h"

enum { FIRST_SLICE = 1 << 18, FEW = 3 };

uint8_t touch_flags(TraceKind kind, const ReaderSite *site) {
  uint8_t flags = kind == TRACE_STORE || kind == TRACE_ATOMIC ? WRITES : 0;
  unsigned order = site ? site->access : 0;
  if (kind == TRACE_ATOMIC || order & WG_ACCESS_STRONG)
    flags |= order & WG_ACCESS_OF_BLOCK ? STRONG_IN_BLOCK : STRONG | STRONG_IN_BLOCK;
  return flags;
}

bool touches_add(TraceReader *t, const RowRef *r, const LaneAccess *access, Touch base,
                 const TouchedWords *to, Error *err) {
  uint64_t address = access->address, end = address + access->bytes;
  TraceOp op;
  Touch a = base;
  bool values = a.flags & WRITES;
  if (values && !reader_op(t, r, access->lane, &op, err)) return false;
  for (uint64_t word = address / 4; word <= (end - 1) / 4; word++) {
    if (!to->shared && (word * 4 + 3 < to->low || word * 4 >= to->high)) continue;
    a.word = to->shared ? (a.block << 24 | (word & 0x3FFFFF)) : word;
    a.mask = 0;
    for (unsigned b = 0; b < 4; b++)
      a.mask |= (uint8_t)((word * 4 + b >= address && word * 4 + b < end) << b);
    a.value = 0;
    int64_t at = (int64_t)(word * 4 - address);
    if (values && op.value_known && at >= 0 && at + 4 <= 16) memcpy(&a.value, op.value + at, 4);
    if (values && op.value_known && at < 0) {  // each byte where it is in the word
      memcpy(&a.value, op.value, 4);
      a.value <<= 8 * (unsigned)-at;
    }
    vec_push(to->list, a);
  }
  return true;
}

static int by_word(const void *p, const void *q) {
  const Touch *a = p, *b = q;
#define COMPARE(f) \
  if (a->f != b->f) return a->f < b->f ? -1 : 1
  COMPARE(word);
  COMPARE(side);
  COMPARE(block);
  COMPARE(passed);
  COMPARE(record);
  COMPARE(lane);
  return 0;
}

void touches_sort(Touches *list) {
  if (list->len) qsort(list->data, list->len, sizeof(Touch), by_word);
}

void touches_choose(Chosen *c, const Touch *a, bool by_block) {
  uint32_t alike = 0, together = 0, values = 0;
  bool enough = false, new_value = a->flags & WRITES;
  for (uint32_t i = 0; i < c->n; i++) {
    const Touch *o = c->list[i];
    if (o->side != a->side || o->site != a->site || o->mask != a->mask) continue;
    enough |= by_block ? o->block == a->block : o->warp == a->warp && o->record != a->record;
    together += !by_block && o->warp == a->warp;  // two lanes of a row are enough
    enough |= together == 2 || ++alike == 2 * FEW;
    new_value &= o->value != a->value;
    values++;
  }
  if (enough && !(new_value && values < 4 * FEW)) return;
  if (c->n < TOUCHES_CHOSEN) c->list[c->n++] = a;
}

static int by_offset(const void *p, const void *q) {
  const TraceRange *a = p, *b = q;
  return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void sort_ranges(TouchRanges *list) {
  uint32_t n = 0;
  if (list->len) qsort(list->data, list->len, sizeof(TraceRange), by_offset);
  for (uint32_t i = 0; i < list->len; i++) {
    TraceRange *last = n ? &list->data[n - 1] : NULL, r = list->data[i];
    if (last && r.offset <= last->offset + last->bytes)
      last->bytes = MAX(last->bytes, r.offset + r.bytes - last->offset);
    else list->data[n++] = r;
  }
  list->len = n;
}

static bool written(TraceReader *t, const ReaderChunk *c, const TracePlace *place, uint64_t start,
                    uint64_t end, void *user) {
  (void)t;
  (void)c;
  (void)place;
  TouchRanges *out = user;
  vec_push(out, ((TraceRange){start & ~3ull, ((end + 3) & ~3ull) - (start & ~3ull)}));
  return true;
}

bool touch_ranges_of(TraceReader *t, const ReaderLaunch *l, TouchRanges *out, Error *err) {
  AddressRange global = {0, 1ull << WG_TRACE_SPACE_AT};
  bool ok = reader_written_ranges(t, l, global, written, out, err);
  sort_ranges(out);
  return ok;
}

bool touch_pieces(TraceReader *t, const TouchRanges *ranges, const Pieces *p, Error *err) {
  uint64_t slice = FIRST_SLICE, at = 0;
  for (uint32_t i = 0; i < ranges->len;) {
    at = MAX(at, ranges->data[i].offset);
    // Ranges that are near each other are looked at together.
    uint64_t end = at;
    for (uint32_t k = i; k < ranges->len && ranges->data[k].offset < at + slice; k++)
      end = MAX(end, MIN(at + slice, ranges->data[k].offset + ranges->data[k].bytes));
    if (end > at) {
      bool full = false;
      p->touches->len = 0;
      if (!p->fill(t, p->user, at, end, &full, err)) return false;
      if (full && slice > TOUCH_WORD) {
        slice = MAX(slice / 4, (uint64_t)TOUCH_WORD);
        continue;
      }
      touches_sort(p->touches);
      if (!p->look(t, p->user, err)) return false;
      if (p->touches->len < TOUCHES_MOST / 16 && slice < 1ull << 30) slice *= 2;
    }
    at = end;
    while (i < ranges->len && ranges->data[i].offset + ranges->data[i].bytes <= at) i++;
  }
  return true;
}
