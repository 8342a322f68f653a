// Values of wg_watch and wg_record: the values that the threads of a launch recorded at a site.
#include "trace/reader.h"

typedef struct Visit {
  const ReaderLaunch *launch;
  uint32_t site;
  TraceValueVisitor *f;
  void *user;
} Visit;

static ScanResult visit(TraceReader *t, const RowRef *r, void *user, Error *err) {
  Visit *v = user;
  const ReaderSite *site;
  if (row_kind(t, r, &site) != TRACE_VALUE || !site || site->id != v->site) return SCAN_GO_ON;
  for (uint32_t lanes = r->row->lanes; lanes; lanes &= lanes - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(lanes);
    TraceOp op;
    if (!reader_op(t, r, lane, &op, err)) return SCAN_FAILED;
    if (op.value_known) v->f(v->user, op.thread, op.value);
  }
  return SCAN_GO_ON;
}

bool trace_values_of(TraceReader *t, uint32_t launch, uint32_t site, TraceValueVisitor *f,
                     void *user, Error *err) {
  const ReaderLaunch *l = reader_launch(t, launch);
  if (!l) return error_set(err, "the run file has no launch %u.", launch);
  return reader_scan_launch(t, l, visit, &(Visit){l, site, f, user}, err) != SCAN_FAILED;
}
