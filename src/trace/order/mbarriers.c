// Follows the mbarriers of a warp: which of their phases it knows to be complete, and in which
// phase each of its copies completes. Only what is certain counts.
//
// Phases are counted from 0; of each only the parity is recorded. A thread that waits for a parity
// knows that a phase of that parity is over, at least the next one after those it knew of. A thread
// that copies sees the current phase: the next one, if its parity has changed. If the parity is the
// same and the warp has waited in between, the phase may be two further: then it is unknown.
#include "trace/reader.h"

enum { LANES = 32, NONE_OVER = -1 };

static MbarrierSeen *seen_of(Timeline *l, uint32_t place) {
  for (uint32_t i = 0; i < l->mbarriers.len; i++)
    if (l->mbarriers.data[i].place == place) return &l->mbarriers.data[i];
  MbarrierSeen s = {.place = place};
  for (unsigned i = 0; i < LANES; i++) s.over[i] = NONE_OVER;
  vec_push(&l->mbarriers, s);
  return &l->mbarriers.data[l->mbarriers.len - 1];
}

// Adds one event for each set of lanes that know the same phase.
static void push(Timeline *l, const MbarrierSeen *s, uint64_t record, uint32_t lanes,
                 const int32_t *phase, bool copies) {
  while (lanes) {
    uint32_t first = (uint32_t)__builtin_ctz(lanes), same = 0;
    for (uint32_t i = first; i < LANES; i++)
      if (lanes >> i & 1 && phase[i] == phase[first]) same |= 1u << i;
    MbarrierEvent e = {.record = record, .place = s->place, .lanes = same, .phase = phase[first]};
    if (copies) vec_push(&l->told, e);
    else if (e.phase > NONE_OVER) vec_push(&l->met, e);
    lanes &= ~same;
  }
}

static void waited(MbarrierSeen *s, uint32_t lane, uint32_t info) {
  int32_t *over = &s->over[lane];
  bool parity = info & WG_TRACE_MBARRIER_PARITY;
  if (info & WG_TRACE_MBARRIER_KNOWN) *over += (*over & 1) != parity;
  else *over += s->has_arrived >> lane & 1;  // the phase it arrived in itself
  s->has_arrived &= ~(1u << lane);
}

static void asked(const Timeline *l, MbarrierSeen *s, uint32_t lane, uint32_t info) {
  int32_t *phase = &s->asked[lane];
  bool parity = info & WG_TRACE_MBARRIER_PARITY, before = s->has_asked >> lane & 1;
  if (!(info & WG_TRACE_MBARRIER_KNOWN)) *phase = MBARRIER_UNKNOWN;
  else if (!before) *phase = parity;
  else if (*phase != MBARRIER_UNKNOWN && (*phase & 1) != parity) ++*phase;
  else if (s->waits_then[lane] != l->waits) *phase = MBARRIER_UNKNOWN;
  s->has_asked |= 1u << lane;
  s->waits_then[lane] = l->waits;
}

void mbarriers_note(TraceReader *t, const RowRef *r, const ReaderSite *site, Timeline *l) {
  WgOrders orders = site ? site->orders : WG_ORDERS_NOTHING;
  bool is_mbarrier = orders >= WG_ORDERS_MBARRIER_INIT, waits = orders == WG_ORDERS_MBARRIER_WAIT;
  if (!is_mbarrier && !(site && site->told)) {
    l->waits++;  // a barrier, or a wait for copies
    return;
  }
  uint32_t words[LANE_WORDS_MAX], lanes = r->row->lanes, last = UINT32_MAX;
  if (!(r->block->places[r->row->place].has & ROW_VALUES)) return;  // older files have none
  MbarrierSeen *s = NULL;
  for (uint32_t left = lanes, done = 0; left; left &= left - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(left), bit = 1u << lane;
    if (!block_lane_words(t->coder, r->block, r->index, lane, words)) return;
    if (words[1] & WG_TRACE_MBARRIER_REMOTE) continue;
    if (words[0] != last && s) {
      push(l, s, r->record, done, waits ? s->over : s->asked, !is_mbarrier);
      done = 0;
    }
    if (words[0] != last) s = seen_of(l, last = words[0]);
    if (waits) {
      waited(s, lane, words[1]);
      done |= bit;
    } else if (!is_mbarrier) {
      asked(l, s, lane, words[1]);
      done |= bit;
    } else if (orders == WG_ORDERS_MBARRIER_INIT || orders == WG_ORDERS_MBARRIER_INVAL) {
      for (unsigned i = 0; i < LANES; i++) s->over[i] = NONE_OVER;
      s->has_asked = s->has_arrived = 0;
    } else if (orders == WG_ORDERS_MBARRIER_ARRIVE) s->has_arrived |= bit;
    if (!(left & (left - 1)) && done)
      push(l, s, r->record, done, waits ? s->over : s->asked, !is_mbarrier);
  }
  l->waits += waits;
}

static uint32_t first_behind(const MbarrierEvent *list, uint32_t n, uint64_t record) {
  uint32_t low = 0, high = n;
  while (low < high) {
    uint32_t m = (low + high) / 2;
    if (list[m].record <= record) low = m + 1;
    else high = m;
  }
  return low;
}

const MbarrierEvent *mbarriers_told(const Timeline *l, uint64_t record, uint32_t lane) {
  for (uint32_t i = first_behind(l->told.data, l->told.len, record); i < l->told.len; i++)
    if (l->told.data[i].lanes >> lane & 1)
      return l->told.data[i].phase == MBARRIER_UNKNOWN ? NULL : &l->told.data[i];
  return NULL;
}

bool mbarriers_knows(const Timeline *l, const MbarrierEvent *told, uint64_t record) {
  for (uint32_t i = first_behind(l->met.data, l->met.len, record); i--;) {
    const MbarrierEvent *e = &l->met.data[i];
    if (e->record < record && e->place == told->place && e->phase >= told->phase) return true;
  }
  return false;
}
