// Races between unordered steps: two launches, a launch and a copy or set, or two copies or sets.
#include "trace/order/races.h"

// a step is compared with at most so many unordered steps that touch the same bytes, the latest of
// them
enum { PARTNERS = 16 };
typedef struct Between {
  RaceList *list;
  uint32_t launch;                  // launch: id; 0: all
  const ReaderLaunch *launches[2];  // sides
  const ReaderStep *host;           // in place of the second
  bool host_reads;                  // compares what it reads, else what it writes
  Touches touches;
  uint64_t low, high;
  uint8_t side;
  bool full, met;
  // of two launches: compares the first's reads with the second's writes, else the first's writes
  // with all accesses of the second
  bool second_writes;
  U64Map written;  // of launches, by index plus 1: TouchRanges
  uint64_t life_low, life_high;
  const ReaderStep *life_of[2];
  bool same_life;
} Between;

// --- what a launch touches ---

static const TouchRanges *written_by(TraceReader *t, Between *b, const ReaderLaunch *l,
                                     Error *err) {
  uint64_t key = (uint64_t)(l - t->launches) + 1;
  TouchRanges *w = u64map_get(&b->written, key);
  if (w) return w;
  w = mem_alloc(sizeof *w);
  u64map_put(&b->written, key, w);
  return touch_ranges_of(t, l, w, err) ? w : NULL;
}

static bool bounds(const TraceReader *t, const ReaderLaunch *l, uint64_t *low, uint64_t *high) {
  *low = UINT64_MAX;
  *high = 0;
  for (uint32_t i = 0; i < l->nchunks; i++) {
    const ReaderChunk *c = &t->chunks[l->first_chunk + i];
    if (c->has_global) {
      *low = MIN(*low, c->low & ~3ull);
      *high = MAX(*high, c->high + 64);
    }
  }
  return *low < *high;
}

static void add_within(TouchRanges *to, const TouchRanges *from, uint64_t low, uint64_t high) {
  for (uint32_t i = 0; i < from->len; i++) {
    uint64_t first = MAX(from->data[i].offset, low),
             end = MIN(from->data[i].offset + from->data[i].bytes, high);
    if (first < end) vec_push(to, ((TraceRange){first, end - first}));
  }
}

static ScanResult touch(TraceReader *t, const RowRef *r, const LaneAccess *at, void *user,
                        Error *err) {
  Between *b = user;
  const ReaderSite *site;
  TraceKind kind = row_kind(t, r, &site);
  Touch a = {.warp = r->row->warp,
             .record = r->record,
             .site = r->block->places[r->row->place].site,
             .lane = (uint8_t)at->lane,
             .flags = touch_flags(kind, site),
             .side = b->side};
  a.block = a.warp / t->launches[r->chunk->launch].warps;
  if (b->second_writes && !a.side && a.flags & WRITES) return SCAN_GO_ON;
  if (b->touches.len >= TOUCHES_MOST) {
    b->full = true;
    return SCAN_STOP;
  }
  return touches_add(t, r, at, a, &(TouchedWords){&b->touches, b->low, b->high, false}, err)
             ? SCAN_GO_ON
             : SCAN_FAILED;
}

static bool fill(TraceReader *t, void *user, uint64_t low, uint64_t high, bool *full, Error *err) {
  Between *b = user;
  b->low = low;
  b->high = high;
  b->full = false;
  // Scans first the launch that need not write there: mostly it does not touch the range at all.
  for (uint32_t i = 0; i < (b->host ? 1 : 2) && (!i || b->touches.len) && !b->full; i++) {
    b->side = b->host || b->second_writes ? (uint8_t)i : (uint8_t)!i;
    RangeScan scan = {.low = low, .high = high, .writes_only = b->host ? b->host_reads : i == 1};
    if (reader_scan_range(t, b->launches[b->side], &scan, touch, b, err) == SCAN_FAILED)
      return false;
  }
  *full = b->full;
  return true;
}

// --- comparing accesses ---

// Whether both steps used the same allocation there: a step that uses reused memory comes after the
// free, and so after all steps that used the old allocation.
static bool in_same_life(TraceReader *t, Between *b, const ReaderStep *p, const ReaderStep *q,
                         uint64_t address) {
  if (b->life_of[0] == p && b->life_of[1] == q && address >= b->life_low && address < b->life_high)
    return b->same_life;
  uint32_t first = reader_allocation_at(t, p->process, address, p->order),
           second = reader_allocation_at(t, q->process, address, q->order);
  Life life = {.base = address, .size = 4};
  if (first) reader_life(t, first, &life, NULL);
  b->life_of[0] = p;
  b->life_of[1] = q;
  b->life_low = life.base;
  b->life_high = life.base + life.size;
  return b->same_life = first == second && (first || !b->host);
}

static bool look_at_word(TraceReader *t, Between *b, const Chosen *c, Error *err) {
  const ReaderStep *first = &t->steps[b->launches[0]->step],
                   *second = b->host ? b->host : &t->steps[b->launches[1]->step];
  for (uint32_t i = 0; i < c->n; i++)
    for (uint32_t k = i + 1; k < c->n; k++) {
      const Touch *p = c->list[i], *q = c->list[k];
      if (p->side == q->side || !(p->mask & q->mask) || !((p->flags | q->flags) & WRITES) ||
          p->flags & q->flags & STRONG || !in_same_life(t, b, first, second, p->word * 4))
        continue;
      RaceWord w = {.first_record = p->record,
                    .second_record = q->record,
                    .first_lane = p->lane,
                    .second_lane = q->lane,
                    .first_side = p->site,
                    .second_side = q->site,
                    .address = p->word * 4,
                    .class = RACE_BETWEEN_STEPS,
                    .same_value = touches_same_value(p, q),
                    .words = 1};
      if (!races_add(t, b->list, w, err)) return false;
    }
  return true;
}

static RaceWord with_host(const ReaderStep *host, uint32_t lane, const Touch *a) {
  RaceWord w = {.first_record = a->record,
                .first_lane = a->lane,
                .first_side = a->site,
                .second_record = host->first_record,
                .second_lane = lane,
                .second_side = races_host_side(host),
                .address = a->word * 4,
                .class = RACE_BETWEEN_STEPS,
                .words = 1};
  if (host->first_record > a->record) return w;
  RaceWord other = w;
  other.first_record = w.second_record;
  other.first_lane = w.second_lane;
  other.first_side = w.second_side;
  other.second_record = w.first_record;
  other.second_lane = w.first_lane;
  other.second_side = w.first_side;
  return other;
}

static bool look_with_host(TraceReader *t, Between *b, const Chosen *c, Error *err) {
  uint64_t address, bytes;
  for (uint32_t i = 0; i < c->n; i++) {
    const Touch *a = c->list[i];
    bool again = false;
    for (uint32_t k = 0; k < i; k++) again |= c->list[k]->site == a->site;
    if (again ||
        !step_touches(b->host, b->host_reads, a->word * 4, a->word * 4 + 4, &address, &bytes))
      continue;
    uint8_t mask = (uint8_t)(((1u << bytes) - 1) << (address - a->word * 4));
    if (a->mask & mask &&
        in_same_life(t, b, &t->steps[b->launches[0]->step], b->host, a->word * 4) &&
        !races_add(t, b->list, with_host(b->host, b->host_reads, a), err))
      return false;
  }
  return true;
}

static bool look(TraceReader *t, void *user, Error *err) {
  Between *b = user;
  for (uint32_t i = 0, from; i < b->touches.len;) {
    Chosen c = {.n = 0};
    const Touch *a = b->touches.data;
    for (from = i; i < b->touches.len && a[i].word == a[from].word; i++) continue;
    if (!b->host && a[from].side == a[i - 1].side) continue;
    b->met = true;
    for (uint32_t k = from; k < i; k++) touches_choose(&c, &a[k], true);
    if (!(b->host ? look_with_host : look_at_word)(t, b, &c, err)) return false;
  }
  return true;
}

// --- pairs of steps ---

static bool two_launches(TraceReader *t, Between *b, const ReaderLaunch *first,
                         const ReaderLaunch *second, Error *err) {
  uint64_t low[2], high[2];
  if (!bounds(t, first, &low[0], &high[0]) || !bounds(t, second, &low[1], &high[1]) ||
      low[0] >= high[1] || low[1] >= high[0])
    return true;
  b->launches[0] = first;
  b->launches[1] = second;
  b->host = NULL;
  bool ok = true;
  for (int k = 0; ok && k < 2; k++) {
    TouchRanges ranges = {0};
    const TouchRanges *written = written_by(t, b, k ? second : first, err);
    if (written) add_within(&ranges, written, low[!k], high[!k]);
    b->second_writes = k;
    ok = written && touch_pieces(t, &ranges, &(Pieces){fill, look, &b->touches, b}, err);
    vec_free(&ranges);
  }
  return ok;
}

// Bounds of all that a copy or set reads or writes.
static bool host_bounds(const ReaderStep *s, bool reads, uint64_t *low, uint64_t *high) {
  uint64_t bytes;
  if (!s->recorded) return false;  // of an array
  if (!step_touches(s, reads, 0, UINT64_MAX, low, &bytes)) return false;
  uint64_t pitch = MAX(reads ? s->from_pitch : s->to_pitch, s->width),
           rows = MAX(reads ? s->from_rows : s->to_rows, s->height);
  *high = *low + (MAX(s->depth, 1ull) * MAX(rows, 1ull) - 1) * pitch + s->width;
  return true;
}

static bool launch_and_host(TraceReader *t, Between *b, const ReaderLaunch *l,
                            const ReaderStep *host, Error *err) {
  uint64_t low, high, from, to;
  for (int reads = 0; reads < 2; reads++) {
    TouchRanges ranges = {0};
    if (!bounds(t, l, &low, &high) || !host_bounds(host, reads, &from, &to) || low >= to ||
        from >= high)
      continue;
    vec_push(&ranges,
             ((TraceRange){MAX(low, from) & ~3ull, MIN(high, to) - (MAX(low, from) & ~3ull)}));
    b->launches[0] = l;
    b->launches[1] = NULL;
    b->host = host;
    b->host_reads = reads;
    b->second_writes = false;
    bool ok = touch_pieces(t, &ranges, &(Pieces){fill, look, &b->touches, b}, err);
    vec_free(&ranges);
    if (!ok) return false;
  }
  return true;
}

// Counts the bytes that both touch, row by row of the first; *at: the first address.
static uint64_t common(const ReaderStep *p, bool p_reads, const ReaderStep *q, bool q_reads,
                       uint64_t *at) {
  uint64_t low, high, all = 0, next = 0, row, bytes, address, n;
  if (!host_bounds(p, p_reads, &low, &high) || !host_bounds(q, q_reads, &address, &n)) return 0;
  for (uint32_t rows = 0; rows < 65536 && step_touches(p, p_reads, next, UINT64_MAX, &row, &bytes);
       rows++, next = row + bytes)
    for (uint64_t from = row; step_touches(q, q_reads, from, row + bytes, &address, &n);
         from = address + n) {
      if (!all) *at = address;
      all += n;
    }
  return all;
}

static bool two_hosts(TraceReader *t, Between *b, const ReaderStep *first, const ReaderStep *second,
                      Error *err) {
  for (int k = 0; k < 3; k++) {
    bool p_reads = k == 1, q_reads = k == 2;
    uint64_t at, bytes = common(first, p_reads, second, q_reads, &at);
    b->host = second;
    if (!bytes || !in_same_life(t, b, first, second, at)) continue;
    b->met = true;
    RaceWord w = {.first_record = first->first_record,
                  .second_record = second->first_record,
                  .first_lane = p_reads,
                  .second_lane = q_reads,
                  .first_side = races_host_side(first),
                  .second_side = races_host_side(second),
                  .address = at & ~3ull,
                  .class = RACE_BETWEEN_STEPS,
                  .words = (bytes + 3) / 4};
    return races_add(t, b->list, w, err);
  }
  return true;
}

static bool is_wanted(const TraceReader *t, const Between *b, const ReaderStep *s) {
  return !b->launch || (s->launch && t->launches[s->launch - 1].id == b->launch);
}

static bool visit(TraceReader *t, uint32_t step, const uint32_t *beside, uint32_t n, void *user,
                  Error *err) {
  Between *b = user;
  const ReaderStep *s = &t->steps[step];
  if (s->process != b->list->process) {
    u64map_free(&b->list->pairs);
    b->list->process = s->process;
  }
  uint32_t partners = 0;
  for (uint32_t i = 0; i < n && partners < PARTNERS; i++) {
    const ReaderStep *o = &t->steps[beside[i]];
    bool ok;
    b->met = false;
    if ((!is_wanted(t, b, s) && !is_wanted(t, b, o)) || s->cut || o->cut) continue;
    const ReaderLaunch *first = o->launch ? &t->launches[o->launch - 1] : NULL,
                       *second = s->launch ? &t->launches[s->launch - 1] : NULL;
    if (first && second) ok = two_launches(t, b, first, second, err);
    else if (first || second)
      ok = launch_and_host(t, b, first ? first : second, first ? s : o, err);
    else ok = two_hosts(t, b, o, s, err);
    if (!ok) return false;
    partners += b->met;
  }
  return true;
}

bool races_between(TraceReader *t, uint32_t launch, RaceList *list, Error *err) {
  Between b = {.list = list, .launch = launch};
  bool ok = reader_steps_beside(t, visit, &b, err);
  uint32_t it = 0;
  uint64_t key;
  void *value;
  while (u64map_next(&b.written, &it, &key, &value)) {
    vec_free((TouchRanges *)value);
    free(value);
  }
  u64map_free(&b.written);
  vec_free(&b.touches);
  return ok;
}
