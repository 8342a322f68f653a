// Barriers that a warp has passed, and other facts that may order its rows with those of other
// warps.
#include "trace/reader.h"

// A kind of order that the switch below leaves out does not compile.
#pragma GCC diagnostic error "-Wswitch"

// How a site's instruction affects the order: docs/run-file.md, "Order".
typedef enum { SYNC_NOTHING, SYNC_BARRIER, SYNC_FENCE, SYNC_OTHER, SYNC_ACQUIRE } SyncKind;

static SyncKind sync_kind(const ReaderSite *site, TraceKind kind) {
  if (kind == TRACE_ATOMIC) return SYNC_ACQUIRE;
  if (kind == TRACE_LOAD || kind == TRACE_STORE)
    return site && site->access & WG_ACCESS_STRONG ? SYNC_ACQUIRE : SYNC_NOTHING;
  if (kind != TRACE_SYNC) return SYNC_NOTHING;
  switch (site ? site->orders : WG_ORDERS_NOTHING) {
    case WG_ORDERS_WARP: return SYNC_NOTHING;
    case WG_ORDERS_BLOCK: return SYNC_BARRIER;
    case WG_ORDERS_FENCE:
    case WG_ORDERS_OTHER_FENCE: return SYNC_FENCE;
    case WG_ORDERS_PART:
    case WG_ORDERS_PART_ARRIVE:
    case WG_ORDERS_CLUSTER_ARRIVE:
    case WG_ORDERS_CLUSTER_WAIT:
    case WG_ORDERS_LANES:
    case WG_ORDERS_COPY:
    case WG_ORDERS_BULK_COPY:
    case WG_ORDERS_COMMIT:
    case WG_ORDERS_WAIT:
    case WG_ORDERS_WAIT_ALL:
    case WG_ORDERS_BULK_COMMIT:
    case WG_ORDERS_BULK_WAIT:
    case WG_ORDERS_COPIES_ARRIVE:
    case WG_ORDERS_MBARRIER_INIT:
    case WG_ORDERS_MBARRIER_INVAL:
    case WG_ORDERS_MBARRIER_ARRIVE:
    case WG_ORDERS_MBARRIER_WAIT:
    case WG_ORDERS_MBARRIER_COUNT:
    case WG_ORDERS_NOTHING: break;
  }
  return SYNC_OTHER;  // an unknown operation counts as ordering
}

// Notes groups of cp.async. Copies that complete at an mbarrier count as waited for, and so do bulk
// copies, from their issue on.
static bool note_copies(const ReaderSite *site, const RowRef *r, Timeline *l) {
  WgOrders orders = site ? site->orders : WG_ORDERS_NOTHING;
  // groups of bulk copies are ignored
  if (orders == WG_ORDERS_BULK_COMMIT || orders == WG_ORDERS_BULK_WAIT) return true;
  if (orders != WG_ORDERS_COMMIT && orders != WG_ORDERS_WAIT && orders != WG_ORDERS_WAIT_ALL &&
      orders != WG_ORDERS_COPIES_ARRIVE)
    return false;
  CopyEvent e = {.record = r->record,
                 .lanes = r->row->lanes,
                 .commits = orders == WG_ORDERS_COMMIT,
                 .all = orders != WG_ORDERS_WAIT};
  if (orders == WG_ORDERS_WAIT)
    e.leaves = (uint32_t)strtoul(site->text + strcspn(site->text, "0123456789;"), NULL, 10);
  vec_push(&l->copies, e);
  return orders != WG_ORDERS_COPIES_ARRIVE;
}

uint64_t timeline_copied(const Timeline *l, uint64_t record, uint32_t lane) {
  uint32_t closed = 0, low = 0, high = l->copies.len;
  while (low < high) {
    uint32_t m = (low + high) / 2;
    if (l->copies.data[m].record < record) low = m + 1;
    else high = m;
  }
  for (uint32_t i = low; i < l->copies.len; i++) {
    const CopyEvent *e = &l->copies.data[i];
    if (!(e->lanes >> lane & 1)) continue;
    if (e->commits) closed++;
    else if (e->all || closed > e->leaves) return e->record;
  }
  return UINT64_MAX;
}

Timeline *timelines_at(Timelines *all, uint64_t warp) {
  Timeline *l = u64map_get(&all->by_warp, warp);
  if (l) return l;
  l = mem_alloc(sizeof *l);
  *l = (Timeline){.uniform = true,
                  .first_acquire = {UINT64_MAX, UINT64_MAX},
                  .first_strong_read = {UINT64_MAX, UINT64_MAX}};
  u64map_put(&all->by_warp, warp, l);
  return l;
}

// Notes an acquire: a fence or a synchronising operation after an atomic (or volatile, or the like)
// read.
static void note_acquire(Timeline *l, int far, uint64_t record) {
  if (l->strong_read[far]) l->first_acquire[far] = MIN(l->first_acquire[far], record);
}

bool timeline_note(TraceReader *t, const RowRef *r, Timeline *l) {
  const ReaderSite *site;
  TraceKind kind = row_kind(t, r, &site);
  SyncKind sync = sync_kind(site, kind);
  unsigned access = site ? site->access : 0;
  int farthest = !(access & WG_ACCESS_OF_BLOCK);
  if (kind == TRACE_SYNC) mbarriers_note(t, r, site, l);
  if (kind == TRACE_SYNC && note_copies(site, r, l)) return true;
  if (kind == TRACE_SYNC) {
    vec_push(&l->all, (SyncEvent){r->record, r->row->lanes});
    for (int far = 0; far <= (sync == SYNC_FENCE ? farthest : 1); far++)
      note_acquire(l, far, r->record);
  }
  switch (sync) {
    case SYNC_NOTHING: return true;
    case SYNC_BARRIER:
      if (l->barriers.len && l->barriers.data[0].lanes != r->row->lanes) l->uniform = false;
      vec_push(&l->barriers, (SyncEvent){r->record, r->row->lanes});
      return true;
    case SYNC_FENCE:
      for (int far = 0; far <= farthest; far++) l->last_fence[far] = r->record;
      return true;
    case SYNC_OTHER:  // a barrier that not all of the block take part in, or the like
      for (int far = 0; far <= farthest; far++) {
        l->last_fence[far] = l->last_release[far] = l->last_strong[far] = r->record;
        l->first_acquire[far] = MIN(l->first_acquire[far], r->record);
      }
      return true;
    case SYNC_ACQUIRE:
      if (farthest && kind == TRACE_STORE) l->last_flag = r->record;
      for (int far = 0; far <= farthest; far++) {
        if (access & WG_ACCESS_RELEASES) l->last_fence[far] = r->record;
        if (l->last_fence[far]) {
          l->last_release[far] = l->last_fence[far];
          l->last_strong[far] = r->record;
        }
        l->strong_read[far] = true;
        if (kind != TRACE_STORE)
          l->first_strong_read[far] = MIN(l->first_strong_read[far], r->record);
        if (access & WG_ACCESS_ACQUIRES) note_acquire(l, far, r->record);
      }
      return true;
  }
  return true;
}

static ScanResult note(TraceReader *t, const RowRef *r, void *user, Error *err) {
  (void)err;
  timeline_note(t, r, user);
  return SCAN_GO_ON;
}

const Timeline *timeline_of(TraceReader *t, Timelines *all, uint64_t warp, Error *err) {
  Timeline *l = u64map_get(&all->by_warp, warp);
  if (l) return l;
  l = timelines_at(all, warp);
  return reader_scan_warp(t, all->launch, warp, note, l, err) == SCAN_FAILED ? NULL : l;
}

bool timeline_met(const Timeline *l, LaneAt a, LaneAt b) {
  uint64_t from = MIN(a.record, b.record), to = MAX(a.record, b.record);
  uint32_t both = 1u << a.lane | 1u << b.lane, low = 0, high = l->all.len;
  while (low < high) {
    uint32_t m = (low + high) / 2;
    if (l->all.data[m].record <= from) low = m + 1;
    else high = m;
  }
  for (; low < l->all.len && l->all.data[low].record < to; low++)
    if ((l->all.data[low].lanes & both) == both) return true;
  return false;
}

// No, if the kernel or functions that it may call exchange values between lanes: that may order
// lanes in ways that are not recorded.
bool timeline_judges_lanes(TraceReader *t, const ReaderLaunch *l) {
  sqlite3_stmt *s = reader_statement(
      t,
      "SELECT 1 FROM launch l JOIN kernel k ON k.id = l.kernel WHERE l.id = ?1 AND NOT EXISTS "
      "(SELECT 1 FROM site s WHERE s.classes & 8192 AND s.process = l.process AND (s.function = "
      "k.name OR s.function NOT IN (SELECT name FROM kernel)))",
      NULL);
  if (!s) return false;
  sqlite3_bind_int64(s, 1, l->id);
  bool yes = sqlite3_step(s) == SQLITE_ROW;
  reader_done(t, s);
  return yes;
}

uint64_t timeline_passed(const Timeline *l, uint64_t record, uint32_t lane) {
  uint32_t low = 0, high = l->barriers.len;
  while (low < high) {
    uint32_t m = (low + high) / 2;
    if (l->barriers.data[m].record < record) low = m + 1;
    else high = m;
  }
  if (l->uniform) return low;
  uint64_t n = 0;
  for (uint32_t i = 0; i < low; i++) n += l->barriers.data[i].lanes >> lane & 1;
  return n;
}

void timelines_free(Timelines *all) {
  uint32_t it = 0;
  uint64_t key;
  void *value;
  while (u64map_next(&all->by_warp, &it, &key, &value)) {
    Timeline *l = value;
    vec_free(&l->barriers);
    vec_free(&l->all);
    vec_free(&l->copies);
    vec_free(&l->met);
    vec_free(&l->told);
    vec_free(&l->mbarriers);
    free(l);
  }
  u64map_free(&all->by_warp);
}

BlockOrder *block_order_new(void) {
  BlockOrder *b = mem_alloc(sizeof *b);
  b->acquired = b->told = UINT64_MAX;
  return b;
}

void block_order_note(BlockOrder *b, const Timeline *l) {
  if (l->last_strong[1]) {
    b->released = MAX(b->released, timeline_passed(l, l->last_strong[1], 0));
    b->releases = true;
  }
  if (l->last_flag) b->flagged = MAX(b->flagged, timeline_passed(l, l->last_flag, 0));
  if (l->first_strong_read[1] != UINT64_MAX)
    b->told = MIN(b->told, timeline_passed(l, l->first_strong_read[1], 0));
  if (l->first_acquire[1] != UINT64_MAX)
    b->acquired = MIN(b->acquired, timeline_passed(l, l->first_acquire[1], 0));
}

bool block_passes_on(const BlockOrder *b, bool within, uint64_t passed) {
  return b->releases && (within || b->released > passed);
}

bool block_is_told(const BlockOrder *b, bool read_only, bool within, uint64_t passed) {
  uint64_t first = read_only ? b->told : b->acquired;
  return first != UINT64_MAX && (within || first < passed);
}
