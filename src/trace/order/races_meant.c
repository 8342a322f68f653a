// Races that the program declares benign: by wg_benign_race on the host (table benign_race) or in
// device code (a value at a site of that name). A declaration holds from then on, device code's
// from its launch on.
#include "trace/order/races.h"

typedef VEC(Meant) List;
enum { MANY = 1 << 16 };

static uint64_t space_of_process(uint32_t process) { return (uint64_t)process << 1; }
static uint64_t space_of_block(const ReaderLaunch *l, uint64_t block) {
  return (uint64_t)l->id << 32 | (block & 0x7FFFFFFF) << 1 | 1;
}

static void add(List *list, uint64_t space, uint64_t low, uint64_t bytes, uint64_t since) {
  if (bytes) vec_push(list, ((Meant){space, low & ~3ull, (low + bytes + 3) & ~3ull, since}));
}

static int by_place(const void *p, const void *q) {
  const Meant *a = p, *b = q;
  if (a->space != b->space) return a->space < b->space ? -1 : 1;
  if (a->low != b->low) return a->low < b->low ? -1 : 1;
  return a->since < b->since ? -1 : a->since > b->since;
}

// Ranges that meet become one.
static void settle(List *list) {
  uint32_t n = 0;
  if (list->len) qsort(list->data, list->len, sizeof(Meant), by_place);
  for (uint32_t i = 0; i < list->len; i++) {
    Meant *last = n ? &list->data[n - 1] : NULL, m = list->data[i];
    if (last && last->space == m.space && m.low < last->high) {
      last->high = MAX(last->high, m.high);
      last->since = MIN(last->since, m.since);
    } else list->data[n++] = m;
  }
  list->len = n;
}

static bool says(const ReaderSite *s) { return s && strstr(s->text, "wg_benign_race_n"); }

static ScanResult said(TraceReader *t, const RowRef *r, void *user, Error *err) {
  List *list = user;
  const ReaderSite *site;
  if (row_kind(t, r, &site) != TRACE_VALUE || !says(site)) return SCAN_GO_ON;
  const ReaderLaunch *l = &t->launches[r->chunk->launch];
  for (uint32_t lanes = r->row->lanes; lanes; lanes &= lanes - 1) {
    uint64_t both[2];
    TraceOp op;
    if (!reader_op(t, r, (uint32_t)__builtin_ctz(lanes), &op, err)) return SCAN_FAILED;
    memcpy(both, op.value, sizeof both);
    bool shared = both[0] >> WG_TRACE_SPACE_AT == WG_TRACE_SHARED;
    if (op.value_known)
      add(list, shared ? space_of_block(l, r->row->warp / l->warps) : space_of_process(l->process),
          both[0] & ((1ull << WG_TRACE_SPACE_AT) - 1), both[1], t->steps[l->step].number);
  }
  if (list->len > MANY) settle(list);
  return SCAN_GO_ON;
}

// Whether the launch's chunks have such a site.
static bool may_say(TraceReader *t, const ReaderLaunch *l, Error *err, bool *failed) {
  for (uint32_t i = 0; i < l->nchunks; i++) {
    const ChunkDirectory *d = reader_directory(t, &t->chunks[l->first_chunk + i], err);
    if (!d) {
      *failed = true;
      return false;
    }
    for (uint32_t k = 0; k < d->nplaces; k++)
      if (says(reader_site(t, l->process, d->places[k].site))) return true;
  }
  return false;
}

static bool load_device(TraceReader *t, List *list, Error *err) {
  bool any = false, failed = false;
  for (uint32_t i = 0; i < t->nsites && !any; i++) any = says(&t->sites[i]);
  for (uint32_t i = 0; any && i < t->nlaunches; i++)
    if (may_say(t, &t->launches[i], err, &failed)
            ? reader_scan_launch(t, &t->launches[i], said, list, err) == SCAN_FAILED
            : failed)
      return false;
  return true;
}

static bool load_host(TraceReader *t, List *list, Error *err) {
  if (!trace_knows_order(t->db)) return true;  // such files lack both tables
  sqlite3_stmt *s = reader_prepare(t, "SELECT process, step, address, bytes FROM benign_race", err);
  int code;
  if (!s) return false;
  while ((code = sqlite3_step(s)) == SQLITE_ROW)
    add(list, space_of_process((uint32_t)sqlite3_column_int64(s, 0)),
        (uint64_t)sqlite3_column_int64(s, 2), (uint64_t)sqlite3_column_int64(s, 3),
        (uint64_t)sqlite3_column_int64(s, 1) + 1);
  sqlite3_finalize(s);
  return code == SQLITE_DONE || sql_fail(t->db, err, "races that are meant cannot be read");
}

bool meant_load(TraceReader *t, AllMeant *out, Error *err) {
  List list = {0};
  bool ok = load_host(t, &list, err) && load_device(t, &list, err);
  settle(&list);
  *out = (AllMeant){list.data, list.len};
  return ok;
}

bool meant_has(const TraceReader *t, const AllMeant *m, const TraceOp *second,
               uint64_t word_address) {
  uintptr_t step = (uintptr_t)u64map_get(&t->step_of_id, second->step);
  if (!step) return false;
  const ReaderStep *s = &t->steps[step - 1];
  const ReaderLaunch *l = s->launch ? &t->launches[s->launch - 1] : NULL;
  uint64_t space = second->space == WG_TRACE_SHARED && l
                       ? space_of_block(l, second->thread / l->threads)
                       : space_of_process(s->process);
  uint32_t low = 0, high = m->n;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (by_place(&m->list[middle],
                 &(Meant){.space = space, .low = word_address, .since = UINT64_MAX}) <= 0)
      low = middle + 1;
    else high = middle;
  }
  const Meant *at = low ? &m->list[low - 1] : NULL;
  return at && at->space == space && word_address < at->high && s->number >= at->since;
}
