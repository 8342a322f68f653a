// How often the places of a launch were executed, and how much each block did: one pass over its
// rows, without values.
#include "trace/reader.h"

enum { BLOCKS_MOST = 1 << 22, CLOCK = 0x7FFFFFFF };

// took: the block's last access, until all of them are known
typedef struct Counting {
  TraceCounts *out;
  const ReaderLaunch *launch;
  uint32_t first;  // time of the launch's first access
  bool any;
  U64Map of_site;  // index plus 1
  uint32_t cap;
} Counting;

static TraceSiteCount *count_of(Counting *c, uint32_t site) {
  uintptr_t i = (uintptr_t)u64map_get(&c->of_site, site);
  if (!i) {
    if (c->out->n == c->cap) {
      c->cap = MAX(64u, c->cap * 2);
      c->out->sites = mem_realloc(c->out->sites, sizeof *c->out->sites * c->cap);
    }
    c->out->sites[c->out->n] = (TraceSiteCount){.site = site};
    i = ++c->out->n;
    u64map_put(&c->of_site, site, (void *)i);
  }
  return &c->out->sites[i - 1];
}

// Lanes that the warp has: the last one of a block may have fewer than 32.
static uint32_t lanes_of(const ReaderLaunch *l, uint64_t warp) {
  uint32_t threads = l->threads - (uint32_t)(warp % l->warps) * 32;
  return threads >= 32 ? UINT32_MAX : (1u << threads) - 1;
}

// Bank conflicts of a warp's access to shared memory: lanes that need different words of a bank
// wait for each other. Returns the passes beyond the first.
static uint32_t bank_conflicts(const RowRef *r, uint32_t bytes) {
  enum { BANKS = 32 };
  uint64_t words[BANKS][32];
  uint32_t n[BANKS] = {0}, most = 1;
  if (bytes > 4) return 0;  // wide accesses are served half a warp at a time
  for (uint32_t lanes = r->row->lanes; lanes; lanes &= lanes - 1) {
    uint64_t word = row_address(r->block, r->row, (uint32_t)__builtin_ctz(lanes)) / 4,
             bank = word % BANKS;
    bool known = false;
    for (uint32_t i = 0; i < n[bank]; i++) known |= words[bank][i] == word;
    if (known) continue;
    words[bank][n[bank]++] = word;
    most = MAX(most, n[bank]);
  }
  return most - 1;
}

static void note_time(Counting *c, uint64_t block, uint32_t time) {
  uint32_t *began = &c->out->began[block], *last = &c->out->took[block];
  if (!c->any || time_is_later(c->first, time)) c->first = time;
  c->any = true;
  if (*began == UINT32_MAX) *began = *last = time;
  if (time_is_later(*began, time)) *began = time;
  if (time_is_later(time, *last)) *last = time;
}

static ScanResult count(TraceReader *t, const RowRef *r, void *user, Error *err) {
  (void)err;
  Counting *c = user;
  const ReaderSite *site;
  row_kind(t, r, &site);
  if (!site) return SCAN_GO_ON;
  TraceSiteCount *s = count_of(c, site->id);
  uint64_t lanes = (uint64_t)__builtin_popcount(r->row->lanes),
           block = r->row->warp / c->launch->warps;
  s->operations += lanes;
  s->records++;
  if (r->row->lanes != lanes_of(c->launch, r->row->warp)) s->divergent++;
  bool access = r->block->places[r->row->place].has & (ROW_AFFINE | ROW_EACH);
  if (block < c->out->nblocks) {
    c->out->blocks[block] += lanes;
    if (access) note_time(c, block, r->row->time & CLOCK);
  }
  if (site->space == WG_TRACE_SHARED && access) s->passes += bank_conflicts(r, row_bytes(r, site));
  return SCAN_GO_ON;
}

bool trace_counts(TraceReader *t, uint32_t launch, TraceCounts *out, Error *err) {
  const ReaderLaunch *l = reader_launch(t, launch);
  *out = (TraceCounts){0};
  if (!l) return error_set(err, "the run file has no launch %u.", launch);
  out->nblocks = MIN(l->blocks, (uint64_t)BLOCKS_MOST);
  out->blocks = mem_alloc(sizeof *out->blocks * (out->nblocks + 1));
  out->began = mem_alloc(sizeof *out->began * (out->nblocks + 1));
  out->took = mem_alloc(sizeof *out->took * (out->nblocks + 1));
  memset(out->began, 0xFF, sizeof *out->began * out->nblocks);
  memset(out->took, 0xFF, sizeof *out->took * out->nblocks);
  Counting c = {.out = out, .launch = l};
  bool ok = reader_scan_launch(t, l, count, &c, err) != SCAN_FAILED;
  for (uint64_t i = 0; i < out->nblocks; i++) {
    if (out->began[i] == UINT32_MAX) continue;
    out->took[i] = (out->took[i] - out->began[i]) & CLOCK;
    out->began[i] = (out->began[i] - c.first) & CLOCK;
  }
  u64map_free(&c.of_site);
  if (!ok) trace_counts_free(out);
  return ok;
}

void trace_counts_free(TraceCounts *c) {
  free(c->sites);
  free(c->blocks);
  free(c->began);
  free(c->took);
  *c = (TraceCounts){0};
}

// --- operations at one place ---

typedef struct AtSites {
  const uint32_t *sites;
  uint32_t n;
  TraceOpVisitor *f;
  void *user;
} AtSites;

static ScanResult at_site(TraceReader *t, const RowRef *r, void *user, Error *err) {
  AtSites *a = user;
  const ReaderSite *site;
  row_kind(t, r, &site);
  bool wanted = false;
  for (uint32_t i = 0; site && i < a->n; i++) wanted |= a->sites[i] == site->id;
  if (!wanted) return SCAN_GO_ON;
  for (uint32_t lanes = r->row->lanes; lanes; lanes &= lanes - 1) {
    TraceOp op;
    if (!reader_op(t, r, (uint32_t)__builtin_ctz(lanes), &op, err)) return SCAN_FAILED;
    if (!a->f(a->user, &op)) return SCAN_STOP;
  }
  return SCAN_GO_ON;
}

bool trace_at_sites(TraceReader *t, const TraceAtSites *where, TraceOpVisitor *f, void *user,
                    Error *err) {
  const ReaderLaunch *l = reader_launch(t, where->launch);
  if (!l) return error_set(err, "the run file has no launch %u.", where->launch);
  AtSites a = {where->sites, where->n, f, user};
  return reader_scan_launch(t, l, at_site, &a, err) != SCAN_FAILED;
}
