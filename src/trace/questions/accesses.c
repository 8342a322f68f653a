// Accesses of a launch to some bytes, and which of two came first.
#include "trace/reader.h"

enum { ENOUGH = 128, KEPT_MOST = 1 << 16, LOOKED_AT_MOST = 1 << 18 };
typedef struct Gather {
  Accesses *out;
  const Sought *sought;
  const TraceBlock *block;
  uint64_t looked_at, nblocks, most;
  bool found, enough, too_many;
} Gather;

static bool left_it(const Sought *s, const Access *a) {
  bool behind = s->near && a->warp == s->near->warp &&
                (a->record > s->near->record ||
                 (a->record == s->near->record && a->lane == s->near->lane));
  return s->value && !behind && a->value_known && a->address == s->address &&
         a->bytes == s->bytes && memcmp(a->value, s->value, s->bytes) == 0;
}

bool access_of(TraceReader *t, const RowRef *r, const LaneAccess *at, Access *out, Error *err) {
  TraceOp op;
  if (!reader_op(t, r, at->lane, &op, err)) return false;
  *out = (Access){.record = r->record,
                  .warp = r->row->warp,
                  .address = at->address,
                  .lane = at->lane,
                  .bytes = at->bytes,
                  .time = r->row->time,
                  .kind = op.kind,
                  .value_known = op.value_known && at->bytes <= 16,
                  .old_known = op.old_known};
  memcpy(out->value, op.value, 16);
  memcpy(out->old, op.old, 16);
  const ReaderSite *site;
  row_kind(t, r, &site);
  out->told = site && site->told && access_writes(out);
  if (op.kind == TRACE_ATOMIC)
    out->value_known = op.value_known && atomic_result(site, op.value, op.old_known ? op.old : NULL,
                                                       at->bytes, out->value);
  return true;
}

static ScanResult gather(TraceReader *t, const RowRef *r, const LaneAccess *at, void *user,
                         Error *err) {
  Gather *g = user;
  Access a;
  if (r->block != g->block) {
    g->block = r->block;
    g->nblocks++;
  }
  bool full = g->out->len >= g->most, by_value = g->sought && g->sought->value;
  bool far = g->sought && g->nblocks > GATHERED_BLOCKS_MOST;
  g->too_many |= full || far;
  // even if the list is full, an access that left the value may still come
  if (far || (full && (!by_value || g->looked_at >= LOOKED_AT_MOST))) return SCAN_STOP;
  if (!access_of(t, r, at, &a, err)) return SCAN_FAILED;
  bool fits = by_value && left_it(g->sought, &a);
  if (fits || !full) vec_push(g->out, a);
  g->found |= fits;
  g->enough = ++g->looked_at >= ENOUGH && g->found;
  return g->enough ? SCAN_STOP : SCAN_GO_ON;
}

static int by_record(const void *p, const void *q) {
  const Access *a = p, *b = q;
  return a->record != b->record ? (a->record < b->record ? -1 : 1)
                                : (a->lane > b->lane) - (a->lane < b->lane);
}

void accesses_sort(Accesses *all) {
  if (all->len) qsort(all->data, all->len, sizeof *all->data, by_record);
}

static void keep_fitting(Accesses *all, const Sought *s) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < all->len; i++)
    if (left_it(s, &all->data[i])) all->data[n++] = all->data[i];
  all->len = n;
}

// Chunks are in the order in which rings were emptied: chunks near each other are near in time,
// too.
const ReaderChunk **reader_chunks_near(const TraceReader *t, const ReaderLaunch *l,
                                       const RangeScan *what, const Access *near, uint32_t *n) {
  const ReaderChunk **all = reader_chunks_in_range(t, l, what, n),
                    **list = mem_alloc(sizeof *list * (*n + 1));
  uint32_t after = 0, k = 0;
  while (after < *n && (!near || near->record >= all[after]->first_record + all[after]->records))
    after++;
  for (uint32_t before = after; k < *n;) {
    if (after < *n) list[k++] = all[after++];
    if (before) list[k++] = all[--before];
  }
  free(all);
  return list;
}

bool accesses_gather(TraceReader *t, const ReaderLaunch *l, const RangeScan *what,
                     const Sought *sought, GatheredAccesses *out, Error *err) {
  Gather g = {.out = &out->list,
              .sought = sought,
              .most = !sought        ? (uint64_t)ACCESSES_MOST
                      : sought->most ? sought->most
                                     : (uint64_t)KEPT_MOST};
  uint32_t n;
  const ReaderChunk **chunks = sought ? reader_chunks_near(t, l, what, sought->near, &n)
                                      : reader_chunks_in_range(t, l, what, &n);
  bool ok = reader_scan_chunks(t, chunks, n, what, &(LaneCall){gather, &g}, err) != SCAN_FAILED;
  free(chunks);
  if (g.found && (g.enough || g.too_many)) keep_fitting(&out->list, sought);
  accesses_sort(&out->list);
  out->how = !g.enough && !g.too_many ? GATHERED_ALL : g.found ? GATHERED_FITTING : GATHERED_SOME;
  return ok;
}

// The order of a write that completes on an mbarrier and another access.
static Relation relation_of_told(TraceReader *t, Timelines *lines, const Access *a, const Access *b,
                                 Error *err) {
  bool same_warp = a->warp == b->warp;
  if (same_warp && b->record < a->record) return RELATION_AFTER;
  const Timeline *x = timeline_of(t, lines, a->warp, err),
                 *y = x ? timeline_of(t, lines, b->warp, err) : NULL;
  if (!y) return RELATION_FAILED;
  const MbarrierEvent *told = mbarriers_told(x, a->record, a->lane);
  if (!told && same_warp) return RELATION_BEFORE;
  uint64_t p = timeline_passed(x, a->record, a->lane), q = timeline_passed(y, b->record, b->lane);
  if (p < q || (told && mbarriers_knows(y, told, b->record))) return RELATION_BEFORE;
  return p > q ? RELATION_AFTER : told ? RELATION_NOT_TOLD : RELATION_NONE;
}

static Relation turned(Relation r) {
  return r == RELATION_BEFORE ? RELATION_AFTER : r == RELATION_AFTER ? RELATION_BEFORE : r;
}

Relation access_relation(TraceReader *t, Timelines *lines, const Access *a, const Access *b,
                         Error *err) {
  bool same_block = a->warp / lines->launch->warps == b->warp / lines->launch->warps;
  if (a->told != b->told && same_block)
    return a->told ? relation_of_told(t, lines, a, b, err)
                   : turned(relation_of_told(t, lines, b, a, err));
  if (a->warp == b->warp) {  // a warp's rows are in the order in which they happened
    if (a->record != b->record) return a->record < b->record ? RELATION_BEFORE : RELATION_AFTER;
    return RELATION_NONE;
  }
  if (!same_block) return RELATION_NONE;
  const Timeline *x = timeline_of(t, lines, a->warp, err),
                 *y = x ? timeline_of(t, lines, b->warp, err) : NULL;
  if (!y) return RELATION_FAILED;
  uint64_t p = timeline_passed(x, a->record, a->lane), q = timeline_passed(y, b->record, b->lane);
  return p < q ? RELATION_BEFORE : p > q ? RELATION_AFTER : RELATION_NONE;
}
