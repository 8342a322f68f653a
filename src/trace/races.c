// Races of a recorded launch: accesses to what it wrote are sorted by word, block and barriers passed; neighbours are compared. docs/run-file.md says what orders.
#include "trace/reader.h"

enum { MOST = 4 << 20, FIRST_SLICE = 1 << 18, FIRST_BLOCKS = 64, SPACE_SHARED = WG_TRACE_SHARED };
enum { WRITES = 1, STRONG = 2, STRONG_IN_BLOCK = 4 };      // strong: atomic, or volatile and the like

typedef struct Touch { uint64_t word, block, warp, record, passed; uint32_t site, value; uint8_t lane, mask, flags; } Touch;     // mask: bytes of the word
typedef struct Racing {
  const ReaderLaunch *launch;
  Timelines lines;
  VEC(Touch) touches;
  bool full, shared;
  bool lanes;                                // those of one warp, too
  uint64_t low, high;
  U64Map *pairs;
  TraceRaces *out; uint32_t cap;
  bool any_shared;
  U64Map blocks;                             // BlockOrder
  VEC(TraceRange) written;
} Racing;

static ScanResult note(TraceReader *t, const RowRef *r, void *user, Error *err) {
  (void)err;
  Racing *x = user;
  const TracePlace *p = &r->block->places[r->row->place];
  timeline_note(t, r, timelines_at(&x->lines, r->row->warp));
  if (p->has & (ROW_AFFINE | ROW_EACH) && !x->any_shared) x->any_shared = row_address(r->block, r->row, (uint32_t)__builtin_ctz(r->row->lanes)) >> WG_TRACE_SPACE_AT == SPACE_SHARED;
  return SCAN_GO_ON;
}

// Barriers of the block behind which one of its warps told everybody something last, and before which one was told first.
typedef struct BlockOrder { uint64_t released, acquired; bool releases; } BlockOrder;

static void note_blocks(Racing *x) {
  uint32_t it = 0;
  uint64_t warp;
  void *value;
  while (u64map_next(&x->lines.by_warp, &it, &warp, &value)) {
    const Timeline *l = value;
    if (!l->last_strong[1] && l->first_acquire[1] == UINT64_MAX) continue;
    BlockOrder *b = u64map_get(&x->blocks, warp / x->launch->warps);
    if (!b) {
      b = mem_alloc(sizeof *b);
      b->acquired = UINT64_MAX;
      u64map_put(&x->blocks, warp / x->launch->warps, b);
    }
    if (l->last_strong[1]) b->released = MAX(b->released, timeline_passed(l, l->last_strong[1], 0)), b->releases = true;
    if (l->first_acquire[1] != UINT64_MAX) b->acquired = MIN(b->acquired, timeline_passed(l, l->first_acquire[1], 0));
  }
}

static uint8_t flags_of(TraceKind kind, const ReaderSite *site) {
  const char *text = site ? site->text : "";
  uint8_t flags = kind == TRACE_STORE || kind == TRACE_ATOMIC ? WRITES : 0;
  if (kind == TRACE_ATOMIC || strstr(text, ".volatile") || strstr(text, ".relaxed") || strstr(text, ".acquire") || strstr(text, ".release") || strstr(text, ".mmio"))
    flags |= strstr(text, ".cta") ? STRONG_IN_BLOCK : STRONG | STRONG_IN_BLOCK;
  return flags;
}

static ScanResult touch(TraceReader *t, const RowRef *r, uint32_t lane, uint64_t address, uint32_t bytes, void *user, Error *err) {
  Racing *x = user;
  const ReaderSite *site;
  TraceKind kind = row_kind(t, r, &site);
  const Timeline *l = timeline_of(t, &x->lines, r->row->warp, err);
  TraceOp op;
  if (!l) return SCAN_FAILED;
  Touch a = {.block = r->row->warp / x->launch->warps, .warp = r->row->warp, .record = r->record, .passed = timeline_passed(l, r->record, lane), .site = r->block->places[r->row->place].site, .lane = (uint8_t)lane,
             .flags = flags_of(kind, site)};
  bool values = a.flags & WRITES;
  if (values && !reader_op(t, r, lane, &op, err)) return SCAN_FAILED;
  for (uint64_t word = address / 4; word <= (address + bytes - 1) / 4; word++) {
    if (!x->shared && (word * 4 + 3 < x->low || word * 4 >= x->high)) continue;
    a.word = x->shared ? (a.block << 24 | (word & 0x3FFFFF)) : word;
    a.mask = 0;
    for (unsigned b = 0; b < 4; b++) a.mask |= (uint8_t)((word * 4 + b >= address && word * 4 + b < address + bytes) << b);
    a.value = 0;
    int64_t from = (int64_t)(word * 4 - address);
    if (values && op.value_known && from >= 0 && from + 4 <= 16) memcpy(&a.value, op.value + from, 4);
    if (values && op.value_known && from < 0) memcpy(&a.value, op.value, 4);
    if (x->touches.len >= MOST) {
      x->full = true;
      return SCAN_STOP;
    }
    vec_push(&x->touches, a);
  }
  return SCAN_GO_ON;
}

static int by_word(const void *p, const void *q) {
  const Touch *a = p, *b = q;
#define COMPARE(f) if (a->f != b->f) return a->f < b->f ? -1 : 1
  COMPARE(word);
  COMPARE(block);
  COMPARE(passed);
  COMPARE(record);
  COMPARE(lane);
  return 0;
}

// Whether a may have come before b by fences and the like: as far as can be seen from here, which is not far.
static bool may_be_before(const Racing *x, const Touch *a, const Timeline *of_a, const Touch *b, const Timeline *of_b) {
  bool far = a->block != b->block;
  const BlockOrder *p = far ? u64map_get(&x->blocks, a->block) : NULL, *q = far ? u64map_get(&x->blocks, b->block) : NULL;
  bool released = (a->flags & STRONG_IN_BLOCK ? of_a->last_strong : of_a->last_release)[far] >= a->record || (p && p->releases && p->released > a->passed);
  bool acquired = of_b->first_acquire[far] <= b->record || (q && q->acquired < b->passed);
  return released && acquired;
}

// Whether both lanes of a warp came to something between two of its records that lets them wait for each other.
static bool met_between(const Timeline *l, const Touch *a, const Touch *b) {
  uint64_t from = MIN(a->record, b->record), to = MAX(a->record, b->record);
  uint32_t both = 1u << a->lane | 1u << b->lane, low = 0, high = l->all.len;
  while (low < high) {
    uint32_t m = (low + high) / 2;
    if (l->all.data[m].record <= from) low = m + 1;
    else high = m;
  }
  for (; low < l->all.len && l->all.data[low].record < to; low++)
    if ((l->all.data[low].lanes & both) == both) return true;
  return false;
}

// They are in the same block between the same barriers, or in different blocks. false: something orders them, or they do not conflict
static bool conflict(TraceReader *t, Racing *x, const Touch *a, const Touch *b, Error *err) {
  if (!(a->mask & b->mask) || !((a->flags | b->flags) & WRITES)) return false;
  uint8_t strong = a->block == b->block ? STRONG_IN_BLOCK : STRONG;
  if (a->flags & b->flags & strong) return false;
  if (a->warp == b->warp && (a->lane == b->lane || a->record == b->record)) return a->lane != b->lane;
  const Timeline *l = timeline_of(t, &x->lines, a->warp, err), *m = timeline_of(t, &x->lines, b->warp, err);
  if (a->warp == b->warp && (!x->lanes || !l || met_between(l, a, b))) return false;
  return l && m && !may_be_before(x, a, l, b, m) && !may_be_before(x, b, m, a, l);
}

static bool report(TraceReader *t, Racing *x, const Touch *a, const Touch *b, Error *err) {
  if (a->record > b->record || (a->record == b->record && a->lane > b->lane)) {
    const Touch *c = a;
    a = b, b = c;
  }
  uint64_t key = (uint64_t)MIN(a->site, b->site) << 32 | MAX(a->site, b->site) << 1 | x->shared;
  bool same = a->flags & b->flags & WRITES && !((a->flags | b->flags) & STRONG_IN_BLOCK) && a->value == b->value && a->mask == b->mask;
  uintptr_t index = (uintptr_t)u64map_get(x->pairs, key);
  if (!index) {
    TraceRace race = {.same_value = same};
    if (!trace_one(t, a->record, a->lane, &race.first, err) || !trace_one(t, b->record, b->lane, &race.second, err)) return false;
    if (x->out->n == x->cap) x->cap = MAX(16u, x->cap * 2), x->out->list = mem_realloc(x->out->list, sizeof *x->out->list * x->cap);
    x->out->list[x->out->n++] = race;
    index = x->out->n;
    u64map_put(x->pairs, key, (void *)index);
  }
  TraceRace *race = &x->out->list[index - 1];
  if (race->same_value && !same && trace_one(t, a->record, a->lane, &race->first, err)) (void)trace_one(t, b->record, b->lane, &race->second, err);
  race->count++;
  race->same_value &= same;
  return true;
}

// Of the accesses to one word a few stand for all: of each site, some of different blocks, or within a block and barrier interval some of different warps.
enum { FEW = 3, CHOSEN = 96 };
typedef struct Chosen { const Touch *list[CHOSEN]; uint32_t n; } Chosen;

static void choose(Chosen *c, const Touch *a, bool by_block) {
  uint32_t alike = 0, together = 0;
  for (uint32_t i = 0; i < c->n; i++) {
    const Touch *o = c->list[i];
    if (o->site != a->site || o->mask != a->mask) continue;
    if (by_block ? o->block == a->block : o->warp == a->warp && o->record != a->record) return;
    together += !by_block && o->warp == a->warp;             // two lanes of a row are enough
    if (together == 2 || ++alike == 2 * FEW) return;
  }
  if (c->n < CHOSEN) c->list[c->n++] = a;
}

static bool compare(TraceReader *t, Racing *x, const Chosen *c, bool blocks, Error *err) {
  for (uint32_t i = 0; i < c->n; i++)
    for (uint32_t k = i + 1; k < c->n; k++)
      if ((c->list[i]->block != c->list[k]->block) == blocks && conflict(t, x, c->list[i], c->list[k], err) && !report(t, x, c->list[i], c->list[k], err)) return false;
  return true;
}

static bool look_at_word(TraceReader *t, Racing *x, const Touch *a, uint32_t n, Error *err) {
  Chosen blocks = {.n = 0};
  for (uint32_t from = 0, to; from < n; from = to) {
    Chosen warps = {.n = 0};
    bool writes = false;
    for (to = from; to < n && a[to].block == a[from].block && a[to].passed == a[from].passed; to++) writes |= a[to].flags & WRITES;
    for (uint32_t i = from; i < to; i++) {
      if (writes) choose(&warps, &a[i], false);
      choose(&blocks, &a[i], true);
    }
    if (!compare(t, x, &warps, false, err)) return false;
  }
  return x->shared || compare(t, x, &blocks, true, err);
}

static bool look(TraceReader *t, Racing *x, Error *err) {
  if (x->touches.len) qsort(x->touches.data, x->touches.len, sizeof(Touch), by_word);
  bool ok = true;
  for (uint32_t i = 0, from; ok && i < x->touches.len;) {
    bool writes = false, several = false;
    for (from = i; i < x->touches.len && x->touches.data[i].word == x->touches.data[from].word; i++) {
      writes |= x->touches.data[i].flags & WRITES;
      several |= x->touches.data[i].record != x->touches.data[from].record || x->touches.data[i].lane != x->touches.data[from].lane;
    }
    if (writes && several) ok = look_at_word(t, x, x->touches.data + from, i - from, err);
  }
  return ok;
}

static bool written(TraceReader *t, const ReaderChunk *c, const TracePlace *place, uint64_t start, uint64_t end, void *user) {
  (void)t, (void)c, (void)place;
  Racing *x = user;
  vec_push(&x->written, (TraceRange){start & ~3ull, ((end + 3) & ~3ull) - (start & ~3ull)});
  return true;
}

static int by_offset(const void *p, const void *q) {
  const TraceRange *a = p, *b = q;
  return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static bool global_races(TraceReader *t, Racing *x, Error *err) {
  if (!reader_written_ranges(t, x->launch, 0, 1ull << WG_TRACE_SPACE_AT, written, x, err)) return false;
  if (x->written.len) qsort(x->written.data, x->written.len, sizeof(TraceRange), by_offset);
  uint64_t slice = FIRST_SLICE, at = 0;
  for (uint32_t i = 0; i < x->written.len;) {
    at = MAX(at, x->written.data[i].offset);
    // Written ranges that are near each other are looked at together.
    uint64_t end = at;
    for (uint32_t k = i; k < x->written.len && x->written.data[k].offset < at + slice; k++) end = MAX(end, MIN(at + slice, x->written.data[k].offset + x->written.data[k].bytes));
    if (end > at) {
      x->touches.len = 0, x->full = false, x->low = at, x->high = end;
      RangeScan scan = {.low = at, .high = end};
      if (reader_scan_range(t, x->launch, &scan, touch, x, err) == SCAN_FAILED) return false;
      if (x->full && slice > 4) {
        slice = MAX(slice / 4, (uint64_t)4);
        continue;
      }
      if (!look(t, x, err)) return false;
      if (x->touches.len < MOST / 16 && slice < 1ull << 30) slice *= 2;
    }
    at = end;
    while (i < x->written.len && x->written.data[i].offset + x->written.data[i].bytes <= at) i++;
  }
  return true;
}

static bool shared_races(TraceReader *t, Racing *x, Error *err) {
  x->shared = true;
  uint64_t step = FIRST_BLOCKS, base = (uint64_t)SPACE_SHARED << WG_TRACE_SPACE_AT;
  for (uint64_t block = 0; block < x->launch->blocks;) {
    uint64_t n = MIN(step, x->launch->blocks - block);
    x->touches.len = 0, x->full = false;
    RangeScan scan = {.low = base, .high = base + 0xFFFFFF, .first_warp = block * x->launch->warps, .last_warp = (block + n) * x->launch->warps - 1};
    if (reader_scan_range(t, x->launch, &scan, touch, x, err) == SCAN_FAILED) return false;
    if (x->full && n > 1) {
      step = MAX(n / 4, (uint64_t)1);
      continue;
    }
    if (!look(t, x, err)) return false;
    if (x->touches.len < MOST / 16) step *= 2;
    block += n;
  }
  return true;
}

// Where lanes may exchange something nobody knows what that orders. Functions that are no kernels may be called by this one.
static bool lanes_can_be_judged(TraceReader *t, const ReaderLaunch *l) {
  sqlite3_stmt *s = reader_statement(t, "SELECT 1 FROM launch l JOIN kernel k ON k.id = l.kernel WHERE l.id = ?1 AND NOT EXISTS "
                                        "(SELECT 1 FROM site s WHERE s.classes & 8192 AND s.process = l.process AND (s.function = k.name OR s.function NOT IN (SELECT name FROM kernel)))", NULL);
  if (!s) return false;
  sqlite3_bind_int64(s, 1, l->id);
  bool yes = sqlite3_step(s) == SQLITE_ROW;
  reader_done(t, s);
  return yes;
}

static bool launch_races(TraceReader *t, const ReaderLaunch *l, TraceRaces *out, uint32_t *cap, U64Map *pairs, Error *err) {
  Racing x = {.launch = l, .lines = {.launch = l}, .out = out, .cap = *cap, .pairs = pairs, .lanes = lanes_can_be_judged(t, l)};
  bool ok = reader_scan_launch(t, l, note, &x, err) != SCAN_FAILED;
  note_blocks(&x);
  ok = ok && global_races(t, &x, err) && (!x.any_shared || shared_races(t, &x, err));
  *cap = x.cap;
  timelines_free(&x.lines);
  uint32_t it = 0;
  uint64_t key;
  void *value;
  while (u64map_next(&x.blocks, &it, &key, &value)) free(value);
  u64map_free(&x.blocks);
  vec_free(&x.touches);
  vec_free(&x.written);
  return ok;
}

void trace_races_free(TraceRaces *r) {
  free(r->list);
  *r = (TraceRaces){0};
}

bool trace_races(TraceReader *t, uint32_t launch, TraceRaces *out, Error *err) {
  *out = (TraceRaces){0};
  uint32_t cap = 0;
  bool ok = !launch || reader_launch(t, launch) || error_set(err, "the run file has no launch %u.", launch);
  U64Map pairs = {0};
  uint32_t process = 0;
  for (uint32_t i = 0; ok && i < t->nlaunches; i++) {
    const ReaderLaunch *l = &t->launches[i];
    if ((launch && l->id != launch) || !l->nchunks) continue;
    if (l->process != process) u64map_free(&pairs), process = l->process;         // sites have numbers of their process
    ok = launch_races(t, l, out, &cap, &pairs, err);
  }
  u64map_free(&pairs);
  if (!ok) trace_races_free(out);
  return ok;
}
