// Races of a recording. Within a launch: accesses to what it wrote are sorted by word, block and
// barriers passed; neighbours are compared. docs/run-file.md says what orders.
#include "trace/order/races.h"

// INTERVALS: barrier intervals in which a copy without a wait stays pending
enum { FIRST_BLOCKS = 64, SPACE_SHARED = WG_TRACE_SHARED, INTERVALS = 16 };

const char *const trace_race_names[] = {
#define RECORDED_RACE(class, name) [RACE_##class] = name,
#include "tool_recorded_races.def"
#undef RECORDED_RACE
};
_Static_assert(ARRAY_LEN(trace_race_names) == RACE_CLASSES, "every class of races has a name");

typedef struct Racing {
  const ReaderLaunch *launch;
  Timelines lines;
  Touches touches;
  bool full, shared;
  bool lanes;  // accesses of one warp may race, too
  uint64_t low, high;
  RaceList *list;
  bool any_shared;
  U64Map blocks;  // BlockOrder
} Racing;

static ScanResult note(TraceReader *t, const RowRef *r, void *user, Error *err) {
  (void)err;
  Racing *x = user;
  const TracePlace *p = &r->block->places[r->row->place];
  timeline_note(t, r, timelines_at(&x->lines, r->row->warp));
  if (p->has & (ROW_AFFINE | ROW_EACH) && !x->any_shared)
    x->any_shared = row_address(r->block, r->row, (uint32_t)__builtin_ctz(r->row->lanes)) >>
                        WG_TRACE_SPACE_AT ==
                    SPACE_SHARED;
  return SCAN_GO_ON;
}

static void note_blocks(Racing *x) {
  uint32_t it = 0;
  uint64_t warp;
  void *value;
  while (u64map_next(&x->lines.by_warp, &it, &warp, &value)) {
    const Timeline *l = value;
    if (!l->last_strong[1] && !l->last_flag && l->first_acquire[1] == UINT64_MAX &&
        l->first_strong_read[1] == UINT64_MAX)
      continue;
    BlockOrder *b = u64map_get(&x->blocks, warp / x->launch->warps);
    if (!b) u64map_put(&x->blocks, warp / x->launch->warps, b = block_order_new());
    block_order_note(b, l);
  }
}

static ScanResult touch(TraceReader *t, const RowRef *r, const LaneAccess *at, void *user,
                        Error *err) {
  Racing *x = user;
  const ReaderSite *site;
  TraceKind kind = row_kind(t, r, &site);
  const Timeline *l = timeline_of(t, &x->lines, r->row->warp, err);
  if (!l) return SCAN_FAILED;
  Touch a = {.block = r->row->warp / x->launch->warps,
             .warp = r->row->warp,
             .record = r->record,
             .passed = timeline_passed(l, r->record, at->lane),
             .site = r->block->places[r->row->place].site,
             .lane = (uint8_t)at->lane,
             .flags = touch_flags(kind, site)};
  if (x->touches.len >= TOUCHES_MOST) {
    x->full = true;
    return SCAN_STOP;
  }
  if (x->shared && kind == TRACE_STORE && site && site->orders == WG_ORDERS_COPY)
    a.until = timeline_copied(l, r->record, at->lane);
  uint64_t last = a.until ? MIN(timeline_passed(l, a.until, at->lane), a.passed + INTERVALS)
                          : a.passed;
  TouchedWords to = {&x->touches, x->low, x->high, x->shared};
  for (; a.passed <= last; a.passed++)
    if (!touches_add(t, r, at, a, &to, err)) return SCAN_FAILED;
  return SCAN_GO_ON;
}

// Whether one is a copy that may still be pending when the other access is made.
static bool is_under_way(const Touch *a, const Touch *b) {
  return (a->until > b->record && a->record < b->record) ||
         (b->until > a->record && b->record < a->record);
}

// Whether fences and similar operations may order a before b; searches only a few rows. A warp may
// release to another of its block, which then releases to other blocks. told: as if b had acquired
// what it read.
static bool may_be_before(const Racing *x, const Touch *a, const Timeline *of_a, const Touch *b,
                          const Timeline *of_b, bool told) {
  bool far = a->block != b->block;
  const BlockOrder *p = far ? u64map_get(&x->blocks, a->block) : NULL,
                   *q = far ? u64map_get(&x->blocks, b->block) : NULL;
  const uint64_t *last = a->flags & STRONG_IN_BLOCK ? of_a->last_strong : of_a->last_release,
                 *first = told ? of_b->first_strong_read : of_b->first_acquire;
  return (last[far] >= a->record || (p && block_passes_on(p, last[0] >= a->record, a->passed))) &&
         (first[far] <= b->record ||
          (q && block_is_told(q, told, first[0] <= b->record, b->passed)));
}

// Whether a is a read that was over when its block wrote a flag, and b a write by a block that had
// read one. A read has its value at the barrier.
static bool is_read_before(const Racing *x, const Touch *a, const Touch *b, const Timeline *of_b) {
  if (a->flags & WRITES || !(b->flags & WRITES) || a->block == b->block || a->until) return false;
  const BlockOrder *p = u64map_get(&x->blocks, a->block), *q = u64map_get(&x->blocks, b->block);
  return p && q && p->flagged > a->passed &&
         block_is_told(q, true, of_b->first_strong_read[1] <= b->record, b->passed);
}

// Whether two accesses in the same block between the same barriers, or in different blocks, race.
// false: they are ordered, or do not conflict
static bool conflict(TraceReader *t, Racing *x, const Touch *a, const Touch *b, bool *told,
                     Error *err) {
  *told = false;
  if (!(a->mask & b->mask) || !((a->flags | b->flags) & WRITES)) return false;
  uint8_t strong = a->block == b->block ? STRONG_IN_BLOCK : STRONG;
  if (a->flags & b->flags & strong) return false;
  if (a->warp == b->warp && is_under_way(a, b)) return a->site != b->site;
  if (a->warp == b->warp && (a->lane == b->lane || a->record == b->record))
    return a->lane != b->lane;
  const Timeline *l = timeline_of(t, &x->lines, a->warp, err),
                 *m = timeline_of(t, &x->lines, b->warp, err);
  if (a->warp == b->warp &&
      (!x->lanes || !l ||
       timeline_met(l, (LaneAt){a->record, a->lane}, (LaneAt){b->record, b->lane})))
    return false;
  if (!l || !m || may_be_before(x, a, l, b, m, false) || may_be_before(x, b, m, a, l, false) ||
      is_read_before(x, a, b, m) || is_read_before(x, b, a, l))
    return false;
  *told = may_be_before(x, a, l, b, m, true) || may_be_before(x, b, m, a, l, true);
  return true;
}

static bool report(TraceReader *t, Racing *x, const Touch *a, const Touch *b, bool told,
                   Error *err) {
  if (a->record > b->record || (a->record == b->record && a->lane > b->lane)) {
    const Touch *c = a;
    a = b;
    b = c;
  }
  RaceWord w = {.first_record = a->record,
                .second_record = b->record,
                .first_lane = a->lane,
                .second_lane = b->lane,
                .first_side = a->site,
                .second_side = b->site,
                .same_value = touches_same_value(a, b),
                .one_warp = a->warp == b->warp,
                .words = 1,
                .class = told        ? RACE_NO_ACQUIRE
                         : x->shared ? RACE_IN_SHARED
                                     : RACE_IN_GLOBAL};
  w.address = x->shared ? (a->word & 0x3FFFFF) * 4 : a->word * 4;
  return races_add(t, x->list, w, err);
}

static bool compare(TraceReader *t, Racing *x, const Chosen *c, bool blocks, Error *err) {
  bool told;
  for (uint32_t i = 0; i < c->n; i++)
    for (uint32_t k = i + 1; k < c->n; k++)
      if ((c->list[i]->block != c->list[k]->block) == blocks &&
          conflict(t, x, c->list[i], c->list[k], &told, err) &&
          !report(t, x, c->list[i], c->list[k], told, err))
        return false;
  return true;
}

static bool look_at_word(TraceReader *t, Racing *x, const Touch *a, uint32_t n, Error *err) {
  Chosen blocks = {.n = 0};
  for (uint32_t from = 0, to; from < n; from = to) {
    Chosen warps = {.n = 0};
    bool writes = false;
    for (to = from; to < n && a[to].block == a[from].block && a[to].passed == a[from].passed; to++)
      writes |= a[to].flags & WRITES;
    for (uint32_t i = from; i < to; i++) {
      if (writes) touches_choose(&warps, &a[i], false);
      touches_choose(&blocks, &a[i], true);
    }
    if (!compare(t, x, &warps, false, err)) return false;
  }
  return x->shared || compare(t, x, &blocks, true, err);
}

static bool look(TraceReader *t, void *user, Error *err) {
  Racing *x = user;
  bool ok = true;
  for (uint32_t i = 0, from; ok && i < x->touches.len;) {
    bool writes = false, several = false;
    for (from = i; i < x->touches.len && x->touches.data[i].word == x->touches.data[from].word;
         i++) {
      writes |= x->touches.data[i].flags & WRITES;
      several |= x->touches.data[i].record != x->touches.data[from].record ||
                 x->touches.data[i].lane != x->touches.data[from].lane;
    }
    if (writes && several) ok = look_at_word(t, x, x->touches.data + from, i - from, err);
  }
  return ok;
}

static bool fill(TraceReader *t, void *user, uint64_t low, uint64_t high, bool *full, Error *err) {
  Racing *x = user;
  RangeScan scan = {.low = low, .high = high};
  x->full = false;
  x->low = low;
  x->high = high;
  bool ok = reader_scan_range(t, x->launch, &scan, touch, x, err) != SCAN_FAILED;
  *full = x->full;
  return ok;
}

static bool global_races(TraceReader *t, Racing *x, Error *err) {
  TouchRanges ranges = {0};
  bool ok = touch_ranges_of(t, x->launch, &ranges, err) &&
            touch_pieces(t, &ranges, &(Pieces){fill, look, &x->touches, x}, err);
  vec_free(&ranges);
  return ok;
}

static bool shared_races(TraceReader *t, Racing *x, Error *err) {
  x->shared = true;
  uint64_t step = FIRST_BLOCKS, base = (uint64_t)SPACE_SHARED << WG_TRACE_SPACE_AT;
  for (uint64_t block = 0; block < x->launch->blocks;) {
    uint64_t n = MIN(step, x->launch->blocks - block);
    x->touches.len = 0;
    x->full = false;
    RangeScan scan = {.low = base,
                      .high = base + 0xFFFFFF,
                      .first_warp = block * x->launch->warps,
                      .last_warp = (block + n) * x->launch->warps - 1};
    if (reader_scan_range(t, x->launch, &scan, touch, x, err) == SCAN_FAILED) return false;
    if (x->full && n > 1) {
      step = MAX(n / 4, (uint64_t)1);
      continue;
    }
    touches_sort(&x->touches);
    if (!look(t, x, err)) return false;
    if (x->touches.len < TOUCHES_MOST / 16) step *= 2;
    block += n;
  }
  return true;
}

static bool launch_races(TraceReader *t, const ReaderLaunch *l, RaceList *list, Error *err) {
  Racing x = {
      .launch = l, .lines = {.launch = l}, .list = list, .lanes = timeline_judges_lanes(t, l)};
  bool ok = reader_scan_launch(t, l, note, &x, err) != SCAN_FAILED;
  note_blocks(&x);
  ok = ok && global_races(t, &x, err) && (!x.any_shared || shared_races(t, &x, err));
  timelines_free(&x.lines);
  u64map_free_all(&x.blocks);
  vec_free(&x.touches);
  return ok;
}

// --- the list of races ---

enum { HOST_SIDE = 1 << 29 };

uint32_t races_host_side(const ReaderStep *s) {
  return HOST_SIDE | ((s->stack ? s->stack : s->number) & (HOST_SIDE - 1));
}

static bool read_op(TraceReader *t, uint64_t record, uint32_t lane, uint64_t address, TraceOp *out,
                    Error *err) {
  RowRef r;
  const ReaderStep *host = NULL;
  uint64_t at, bytes;
  if (!reader_row(t, record, &r, &host, err)) return false;
  if (host && step_touches(host, lane == 1, address, address + 4, &at, &bytes))
    return reader_host_op(t, host, lane, (HostRange){at, bytes}, out, err);
  return trace_one(t, record, lane, out, err);
}

bool races_add(TraceReader *t, RaceList *list, RaceWord w, Error *err) {
  TraceRace race = {.same_value = w.same_value, .one_warp = w.one_warp, .class = w.class};
  uint64_t key = (uint64_t)MIN(w.first_side, w.second_side) << 34 |
                 (uint64_t)MAX(w.first_side, w.second_side) << 4 | w.class;
  uintptr_t index = (uintptr_t)u64map_get(&list->pairs, key);
  const TraceRace *shown = index ? &list->out->list[index - 1] : NULL;
  // threads of different warps show a race best: nothing suggests an order between them
  bool better = shown && ((shown->same_value && !w.same_value) ||
                          (shown->same_value == w.same_value && shown->one_warp && !w.one_warp));
  if (!index || better || list->meant.n) {
    if (!read_op(t, w.first_record, w.first_lane, w.address, &race.first, err) ||
        !read_op(t, w.second_record, w.second_lane, w.address, &race.second, err))
      return false;
    if (list->meant.n && meant_has(t, &list->meant, &race.second, w.address)) return true;
  }
  if (!index) {
    if (list->out->n == list->cap) {
      list->cap = MAX(16u, list->cap * 2);
      list->out->list = mem_realloc(list->out->list, sizeof *list->out->list * list->cap);
    }
    list->out->list[list->out->n++] = race;
    index = list->out->n;
    u64map_put(&list->pairs, key, (void *)index);
  }
  TraceRace *r = &list->out->list[index - 1];
  if (better) {
    r->first = race.first;
    r->second = race.second;
    r->one_warp = race.one_warp;
  }
  r->count += w.words;
  r->same_value &= w.same_value;
  return true;
}

void trace_races_free(TraceRaces *r) {
  free(r->list);
  *r = (TraceRaces){0};
}

bool trace_races(TraceReader *t, uint32_t launch, TraceRaces *out, Error *err) {
  *out = (TraceRaces){.order_known = trace_knows_order(t->db)};
  RaceList list = {.out = out};
  const ReaderLaunch *asked = launch ? reader_launch(t, launch) : NULL;
  bool ok = !launch || asked || error_set(err, "the run file has no launch %u.", launch);
  // Without its barriers, ordered accesses would look like races.
  if (asked && t->steps[asked->step].cut)
    ok = error_set(err,
                   "launch %u is not recorded: recording was cut short before all its operations "
                   "were in the file.",
                   asked->number);
  ok = ok && meant_load(t, &list.meant, err);
  for (uint32_t i = 0; ok && i < t->nlaunches; i++) {
    const ReaderLaunch *l = &t->launches[i];
    if ((launch && l->id != launch) || !l->nchunks || t->steps[l->step].cut) continue;
    // site numbers belong to a process
    if (l->process != list.process) {
      u64map_free(&list.pairs);
      list.process = l->process;
    }
    ok = launch_races(t, l, &list, err);
  }
  u64map_free(&list.pairs);
  list.process = 0;
  ok = ok && races_between(t, launch, &list, err);
  u64map_free(&list.pairs);
  free(list.meant.list);
  for (uint32_t i = 0; i < out->n; i++)
    if (out->list[i].same_value) out->list[i].class = RACE_SAME_VALUE;
  if (!ok) trace_races_free(out);
  return ok;
}
