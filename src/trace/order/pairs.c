// Decides whether two accesses of a launch are ordered, for few pairs. races.c looks at all of
// them.
#include "trace/order/races.h"

struct TracePairs {
  TraceReader *reader;
  Timelines lines;
  U64Map blocks;
  bool lanes;  // those of one warp may race, too
};

TracePairs *trace_pairs_new(TraceReader *t, uint32_t launch) {
  const ReaderLaunch *l = reader_launch(t, launch);
  if (!l || !l->nchunks || t->steps[l->step].cut) return NULL;
  TracePairs *p = mem_alloc(sizeof *p);
  p->reader = t;
  p->lines.launch = l;
  p->lanes = timeline_judges_lanes(t, l);
  return p;
}

void trace_pairs_free(TracePairs *p) {
  if (!p) return;
  u64map_free_all(&p->blocks);
  timelines_free(&p->lines);
  free(p);
}

static const BlockOrder *order_of(TracePairs *p, uint64_t block, Error *err) {
  BlockOrder *b = u64map_get(&p->blocks, block);
  if (b) return b;
  u64map_put(&p->blocks, block, b = block_order_new());
  for (uint32_t i = 0; i < p->lines.launch->warps; i++) {
    const Timeline *l = timeline_of(p->reader, &p->lines, block * p->lines.launch->warps + i, err);
    if (!l) return NULL;
    block_order_note(b, l);
  }
  return b;
}

// one of the two
typedef struct End {
  uint64_t record, warp, block, passed;
  uint32_t lane;
  bool strong;
  const Timeline *line;
  const BlockOrder *others;
} End;

static bool look_at(TracePairs *p, const TraceOp *op, bool far, End *out, Error *err) {
  RowRef r;
  const ReaderStep *host;
  const ReaderSite *site = NULL;
  if (!reader_row(p->reader, op->record, &r, &host, err) || host) return false;
  TraceKind kind = row_kind(p->reader, &r, &site);
  *out = (End){.record = op->record,
               .warp = r.row->warp,
               .block = r.row->warp / p->lines.launch->warps,
               .lane = op->lane,
               .strong = touch_flags(kind, site) & (far ? STRONG : STRONG_IN_BLOCK)};
  out->line = timeline_of(p->reader, &p->lines, out->warp, err);
  if (!out->line) return false;
  out->passed = timeline_passed(out->line, op->record, op->lane);
  return !far || (out->others = order_of(p, out->block, err));
}

static bool may_be_before(const End *a, const End *b, bool far) {
  const uint64_t *last = a->line->last_strong, *first = b->line->first_acquire;
  return (last[far] >= a->record ||
          (far && block_passes_on(a->others, last[0] >= a->record, a->passed))) &&
         (first[far] <= b->record ||
          (far && block_is_told(b->others, false, first[0] <= b->record, b->passed)));
}

bool trace_pair_unordered(TracePairs *p, const TraceOp *a, const TraceOp *b) {
  Error err;
  uint32_t block = p->lines.launch->threads;
  bool far = a->thread / block != b->thread / block;
  bool overlap = a->has_address && b->has_address && a->space == b->space &&
                 a->address < b->address + b->bytes && b->address < a->address + a->bytes;
  bool writes = a->kind == TRACE_STORE || a->kind == TRACE_ATOMIC || b->kind == TRACE_STORE ||
                b->kind == TRACE_ATOMIC;
  if (a->launch != b->launch || a->thread == b->thread || a->space == 2 || (a->space && far) ||
      !overlap || !writes)
    return false;
  End x, y;
  if (!look_at(p, a, far, &x, &err) || !look_at(p, b, far, &y, &err)) return false;
  if (x.strong && y.strong) return false;
  if (x.warp == y.warp && x.record == y.record) return true;
  if (x.warp == y.warp &&
      (!p->lanes || timeline_met(x.line, (LaneAt){x.record, x.lane}, (LaneAt){y.record, y.lane})))
    return false;
  if (!far && x.passed != y.passed) return false;
  return !may_be_before(&x, &y, far) && !may_be_before(&y, &x, far);
}
