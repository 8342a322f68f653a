// Finds matching operations of one thread among millions: looks at rows without their values, and
// decodes only those of the page in full.
#include "trace/reader.h"

typedef struct Search {
  const TraceThreadSearch *what;
  TraceThreadFound *out;
  uint32_t lane, cap;
} Search;

static bool has_site(const TraceThreadSearch *w, const ReaderSite *s) {
  for (uint32_t i = 0; s && i < w->nsites; i++)
    if (w->sites[i] == s->id) return true;
  return false;
}

static ScanResult row(TraceReader *t, const RowRef *r, void *user, Error *err) {
  Search *s = user;
  const TraceThreadSearch *w = s->what;
  const ReaderSite *site;
  if (!(r->row->lanes >> s->lane & 1)) return SCAN_GO_ON;
  uint64_t number = s->out->all++;
  TraceKind kind = row_kind(t, r, &site);
  if (kind == TRACE_VALUE && row_is_refused(site)) kind = TRACE_STORE;
  if ((w->kinds && !(w->kinds >> kind & 1)) || (w->sites && !has_site(w, site))) return SCAN_GO_ON;
  if (w->high) {
    if (!(r->block->places[r->row->place].has & (ROW_AFFINE | ROW_EACH))) return SCAN_GO_ON;
    uint64_t a = row_address(r->block, r->row, s->lane);
    if (a >= w->high || a + row_bytes(r, site) <= w->low) return SCAN_GO_ON;
  }
  if (s->out->ops.total++ < w->skip) return SCAN_GO_ON;
  if (s->out->ops.n == w->most) {
    s->out->ops.more = true;
    return SCAN_GO_ON;
  }
  TraceOp op;
  if (!reader_op(t, r, s->lane, &op, err) || !reader_fill_load(t, &op, err)) return SCAN_FAILED;
  s->out->numbers[s->out->ops.n] = number;
  ops_push(&s->out->ops, &op, &s->cap);
  return SCAN_GO_ON;
}

bool trace_thread_search(TraceReader *t, const TraceThreadSearch *what, TraceThreadFound *out,
                         Error *err) {
  const ReaderLaunch *l = reader_launch(t, what->launch);
  *out = (TraceThreadFound){0};
  if (!l) return error_set(err, "the run file has no launch %u.", what->launch);
  if (what->thread >= l->blocks * l->threads)
    return error_set(err, "the launch has %llu threads only.",
                     (unsigned long long)(l->blocks * l->threads));
  uint64_t block = what->thread / l->threads, inside = what->thread % l->threads;
  Search s = {.what = what, .out = out, .lane = (uint32_t)(inside % 32)};
  out->numbers = mem_alloc(sizeof *out->numbers * (what->most + 1));
  out->ops.total_known = true;
  if (reader_scan_warp(t, l, block * l->warps + inside / 32, row, &s, err) != SCAN_FAILED)
    return true;
  trace_thread_found_free(out);
  return false;
}

void trace_thread_found_free(TraceThreadFound *f) {
  trace_ops_free(&f->ops);
  free(f->numbers);
  f->numbers = NULL;
}
