// All accesses of a launch to some bytes, and which of two came first.
#include "trace/reader.h"

enum { LOOKED_AT = 128 };
typedef struct Gather { Accesses *out; const Sought *sought; uint64_t looked_at; bool found, enough; } Gather;

static bool left_it(const Sought *s, const Access *a) {
  bool behind = a->warp == s->reader->warp && (a->record > s->reader->record || (a->record == s->reader->record && a->lane == s->reader->lane));
  return !behind && a->value_known && a->address == s->address && a->bytes == s->bytes && memcmp(a->value, s->value, s->bytes) == 0;
}

static ScanResult gather(TraceReader *t, const RowRef *r, uint32_t lane, uint64_t address, uint32_t bytes, void *user, Error *err) {
  Gather *g = user;
  TraceOp op;
  if (!reader_op(t, r, lane, &op, err)) return SCAN_FAILED;
  if (g->out->len >= ACCESSES_MOST && !g->sought) return SCAN_STOP;
  Access a = {.record = r->record, .warp = r->row->warp, .address = address, .lane = lane, .bytes = bytes, .time = r->row->time, .kind = op.kind, .value_known = op.value_known && bytes <= 16,
              .old_known = op.old_known};
  memcpy(a.value, op.value, 16);
  memcpy(a.old, op.old, 16);
  const ReaderSite *site;
  row_kind(t, r, &site);
  a.told = access_writes(&a) && site && strstr(site->text, "complete_tx");
  if (op.kind == TRACE_ATOMIC) {
    a.value_known = op.value_known && atomic_result(site, op.value, op.old_known ? op.old : NULL, bytes, a.value);
  }
  bool fits = g->sought && left_it(g->sought, &a);
  if (fits || g->out->len < ACCESSES_MOST) vec_push(g->out, a);
  g->found |= fits;
  g->enough = ++g->looked_at >= LOOKED_AT && g->found;
  return g->enough ? SCAN_STOP : SCAN_GO_ON;
}

bool accesses_gather(TraceReader *t, const ReaderLaunch *l, const RangeScan *what, Accesses *out, Error *err) {
  Gather g = {.out = out};
  return reader_scan_range(t, l, what, gather, &g, err) != SCAN_FAILED;
}

static int by_record(const void *p, const void *q) {
  const Access *a = p, *b = q;
  return a->record != b->record ? (a->record < b->record ? -1 : 1) : (a->lane > b->lane) - (a->lane < b->lane);
}

static void keep_fitting(Accesses *all, const Sought *s) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < all->len; i++)
    if (left_it(s, &all->data[i])) all->data[n++] = all->data[i];
  all->len = n;
}

// Chunks are in the order in which rings were emptied, so that those that are near are near in time, too.
bool accesses_gather_near(TraceReader *t, const ReaderLaunch *l, const RangeScan *what, const Sought *sought, Accesses *out, bool *enough, Error *err) {
  Gather g = {.out = out, .sought = sought};
  const ReaderChunk *chunks = &t->chunks[l->first_chunk];
  uint32_t middle = 0, last = l->nchunks - 1;
  while (middle < last && sought->reader->record >= chunks[middle].first_record + chunks[middle].records) middle++;
  bool ok = true;
  reader_begin(t);
  for (uint32_t far = 0; far <= MAX(middle, last - middle) && !g.enough && ok; far++)
    for (int after = 0; after < (far ? 2 : 1) && !g.enough && ok; after++) {
      if (after ? far > last - middle : far > middle) continue;
      const ReaderChunk *c = &chunks[after ? middle + far : middle - far];
      if (!chunk_in_range(c, what)) continue;
      if (!t->scanning) reader_cache_trim(t);
      ok = reader_scan_range_chunk(t, c, what, gather, &g, err) != SCAN_FAILED;
    }
  reader_end(t);
  if (!ok) return false;
  if (g.enough) keep_fitting(out, sought);
  if (out->len) qsort(out->data, out->len, sizeof *out->data, by_record);
  *enough = g.enough;
  return true;
}

// A write that an mbarrier is told of, and something else.
static Relation relation_of_told(TraceReader *t, Timelines *lines, const Access *a, const Access *b, Error *err) {
  bool same_warp = a->warp == b->warp;
  if (same_warp && b->record < a->record) return RELATION_AFTER;
  const Timeline *x = timeline_of(t, lines, a->warp, err), *y = x ? timeline_of(t, lines, b->warp, err) : NULL;
  if (!y) return RELATION_FAILED;
  const MbarrierEvent *told = mbarriers_told(x, a->record, a->lane);
  if (!told && same_warp) return RELATION_BEFORE;
  uint64_t p = timeline_passed(x, a->record, a->lane), q = timeline_passed(y, b->record, b->lane);
  if (p < q || (told && mbarriers_knows(y, told, b->record))) return RELATION_BEFORE;
  return p > q ? RELATION_AFTER : told ? RELATION_NOT_TOLD : RELATION_NONE;
}

static Relation turned(Relation r) { return r == RELATION_BEFORE ? RELATION_AFTER : r == RELATION_AFTER ? RELATION_BEFORE : r; }

Relation access_relation(TraceReader *t, Timelines *lines, const Access *a, const Access *b, Error *err) {
  bool same_block = a->warp / lines->launch->warps == b->warp / lines->launch->warps;
  if (a->told != b->told && same_block) return a->told ? relation_of_told(t, lines, a, b, err) : turned(relation_of_told(t, lines, b, a, err));
  if (a->warp == b->warp) {                  // a warp's rows are in the order in which they happened
    if (a->record != b->record) return a->record < b->record ? RELATION_BEFORE : RELATION_AFTER;
    return RELATION_NONE;
  }
  if (!same_block) return RELATION_NONE;
  const Timeline *x = timeline_of(t, lines, a->warp, err), *y = x ? timeline_of(t, lines, b->warp, err) : NULL;
  if (!y) return RELATION_FAILED;
  uint64_t p = timeline_passed(x, a->record, a->lane), q = timeline_passed(y, b->record, b->lane);
  return p < q ? RELATION_BEFORE : p > q ? RELATION_AFTER : RELATION_NONE;
}
