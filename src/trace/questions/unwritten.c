// Finds bytes that were never written: one bit for each byte, a slice of the allocation at a time.
#include "trace/reader.h"

static const uint64_t SLICE = 64ull << 20;

typedef struct Written {
  uint8_t *bits;
  uint64_t low, high;
  bool inexact;
  const ReaderLaunch *launch;
} Written;

static void mark(Written *w, uint64_t from, uint64_t to) {
  from = MAX(from, w->low) - w->low;
  to = MIN(to, w->high) - w->low;
  for (; from < to && from % 8; from++) w->bits[from / 8] |= (uint8_t)(1u << from % 8);
  for (; to > from && to % 8; to--) w->bits[(to - 1) / 8] |= (uint8_t)(1u << (to - 1) % 8);
  if (to > from) memset(w->bits + from / 8, 255, (to - from) / 8);
}

// Postings are exact unless the site wrote fewer bytes, or more, than the record tells.
static bool range(TraceReader *t, const ReaderChunk *c, const TracePlace *place, uint64_t start,
                  uint64_t end, void *user) {
  (void)c;
  Written *w = user;
  const ReaderSite *site = reader_site(t, w->launch->process, place->site);
  if (site && site->bytes && site->bytes != place_width(place)) w->inexact = true;
  else mark(w, start, end);
  return true;
}

static ScanResult lane(TraceReader *t, const RowRef *r, const LaneAccess *at, void *user,
                       Error *err) {
  (void)t;
  (void)r;
  (void)err;
  mark(user, at->address, at->address + at->bytes);
  return SCAN_GO_ON;
}

static bool launch(TraceReader *t, const ReaderLaunch *l, Written *w, Error *err) {
  w->launch = l;
  w->inexact = false;
  AddressRange within = {w->low, w->high};
  if (!reader_written_ranges(t, l, within, range, w, err)) return false;
  RangeScan scan = {.low = w->low, .high = w->high, .writes_only = true};
  return !w->inexact || reader_scan_range(t, l, &scan, lane, w, err) != SCAN_FAILED;
}

void trace_ranges_free(TraceRanges *r) {
  free(r->list);
  *r = (TraceRanges){0};
}

static void add(TraceRanges *out, uint32_t *cap, uint32_t most, uint64_t offset, uint64_t bytes) {
  out->bytes += bytes;
  if (out->n && out->list[out->n - 1].offset + out->list[out->n - 1].bytes == offset) {
    out->list[out->n - 1].bytes += bytes;
    return;
  }
  if (out->n == most) {
    out->more = true;
    return;
  }
  if (out->n == *cap) {
    *cap = MAX(64u, *cap * 2);
    out->list = mem_realloc(out->list, sizeof *out->list * *cap);
  }
  out->list[out->n++] = (TraceRange){offset, bytes};
}

// The part of the allocation in which anything can have been written: reservations may be larger
// than all memory.
static TraceRange touched(const TraceReader *t, const Life *life, uint32_t steps) {
  uint64_t low = UINT64_MAX, high = 0, end = life->base + life->size;
  for (uint32_t i = 0; i < steps; i++) {
    const ReaderStep *s = &t->steps[i];
    uint64_t at, n, height = MAX(s->height, 1ull), depth = MAX(s->depth, 1ull),
                    rows = MAX(s->to_rows, height);
    if (s->process != life->process || s->order < life->born || s->order >= life->died) continue;
    if (!s->launch && step_touches(s, false, life->base, end, &at, &n)) {
      low = MIN(low, at);
      high = MAX(high, MIN(end, s->destination + MAX(s->to_pitch, s->width) * rows * depth));
    }
    for (uint32_t k = 0; s->launch && k < t->launches[s->launch - 1].nchunks; k++) {
      const ReaderChunk *c = &t->chunks[t->launches[s->launch - 1].first_chunk + k];
      if (c->has_global && c->low < end && c->high > life->base) {
        low = MIN(low, MAX(c->low, life->base));
        high = MAX(high, MIN(c->high, end));
      }
    }
  }
  return low < high ? (TraceRange){low - life->base, high - low} : (TraceRange){life->size, 0};
}

// Whether something that is not in the file may have written anywhere in the allocation.
static bool is_unknown(TraceReader *t, const Life *life, uint32_t steps) {
  for (uint32_t i = 0; i < steps; i++) {
    const ReaderStep *s = &t->steps[i];
    if (!s->launch || s->recorded || s->process != life->process || s->order < life->born ||
        s->order >= life->died)
      continue;
    if (s->cut || reader_may_have_written(t, &t->launches[s->launch - 1], life->base)) return true;
  }
  return false;
}

bool trace_unwritten(TraceReader *t, uint32_t allocation, uint32_t step, uint32_t most,
                     TraceRanges *out, Error *err) {
  *out = (TraceRanges){0};
  Life life;
  if (!reader_life(t, allocation, &life, err)) return false;
  uintptr_t steps = step ? (uintptr_t)u64map_get(&t->step_of_id, step) : t->nsteps;
  if (step && !steps) return error_set(err, "the run file has no step %u.", step);
  if (is_unknown(t, &life, (uint32_t)steps)) return true;
  uint32_t cap = 0;
  bool ok = true;
  TraceRange part = touched(t, &life, (uint32_t)steps);
  uint64_t end = part.offset + part.bytes;
  if (part.bytes >> 42)
    return error_set(err, "the run file says that memory of more than 4 TB was written to.");
  if (part.offset) add(out, &cap, most, 0, part.offset);
  Written w = {.bits = mem_alloc(MIN(part.bytes, SLICE) / 8 + 1)};
  for (uint64_t at = part.offset; ok && at < end; at += SLICE) {
    w.low = life.base + at;
    w.high = life.base + MIN(end, at + SLICE);
    memset(w.bits, 0, MIN(part.bytes, SLICE) / 8 + 1);
    for (uint32_t i = 0; ok && i < steps; i++) {
      const ReaderStep *s = &t->steps[i];
      if (s->process != life.process || s->order < life.born || s->order >= life.died) continue;
      uint64_t from = w.low, n, address;
      for (; !s->launch && from < w.high && step_touches(s, false, from, w.high, &address, &n);
           from = address + n)
        mark(&w, address, address + n);
      if (s->launch && t->launches[s->launch - 1].nchunks)
        ok = launch(t, &t->launches[s->launch - 1], &w, err);
    }
    for (uint64_t i = 0, n = w.high - w.low; ok && i < n;) {
      uint64_t from = i;
      while (i < n && !(w.bits[i / 8] >> i % 8 & 1))
        i += w.bits[i / 8] == 0 && i % 8 == 0 && n - i >= 8 ? 8 : 1;
      if (i > from) add(out, &cap, most, at + from, i - from);
      while (i < n && w.bits[i / 8] >> i % 8 & 1)
        i += w.bits[i / 8] == 255 && i % 8 == 0 && n - i >= 8 ? 8 : 1;
    }
  }
  free(w.bits);
  if (ok && end > part.offset && end < life.size) add(out, &cap, most, end, life.size - end);
  if (!ok) trace_ranges_free(out);
  return ok;
}
