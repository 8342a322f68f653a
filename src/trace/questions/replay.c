// The contents of memory after a step. Goes back from there until the last write of every byte is
// found. Within a launch each thread's writes are in order; between unordered threads the device's
// clock decides.
#include "trace/reader.h"

enum { PENDING = 255, DEEPEST = 16 };

// The latest write of a byte so far. There is one for each byte of the range: they are small, so
// that few cache lines are missed. order: number of its record in the launch
typedef struct Best {
  uint32_t time, order;
} Best;
enum { SEEN = 1u << 31 };  // beside a time, which has 31 bits
// Data that all lanes of a row share, looked up once. words NULL: not a plain store.
typedef struct StoreRow {
  uint64_t record;
  const TraceRow *row;
  const uint32_t *words;
  uint32_t planes, plane_words;
  bool one;  // all lanes store the same
} StoreRow;
typedef struct State {
  const Replay *what;
  uint64_t address, bytes, pending;
  uint8_t *value, *known;
  // for bytes of unknown contents: the number of steps after which they were written
  uint32_t *since;
  Best *best;             // zero but for bytes that are in `touched`
  VEC(uint64_t) touched;  // bytes that this launch wrote
  uint64_t first_record;  // of the launch
  uint32_t step;
  bool loads;  // second pass backwards: takes values that loads have seen
  // replays memory before a launch whose inputs were kept: pages that are not among them are as
  // they were last kept
  bool kept;
  StoreRow store;
} State;

static void settle(State *s, uint64_t i, uint8_t known) {
  if (s->known[i] != PENDING) return;
  s->known[i] = known;
  s->since[i] = s->step + 1;
  s->pending--;
}

// --- launches ---
static Best best_of(const State *s, const RowRef *r) {
  return (Best){r->row->time | SEEN, (uint32_t)(r->record - s->first_record)};
}
static bool is_later(Best now, const Best *b) {
  return !b->time || time_is_later(now.time, b->time) ||
         (now.time == b->time && now.order >= b->order);
}

// Most accesses are stores whose values are unpacked: looks at their row once, not lane by lane.
static bool is_plain_store(TraceReader *t, State *s, const RowRef *r) {
  if (s->store.row != r->row || s->store.record != r->record) {
    const TracePlace *p = &r->block->places[r->row->place];
    const ReaderSite *site;
    bool plain = row_kind(t, r, &site) == TRACE_STORE && p->has & ROW_VALUES && r->block->words;
    s->store = (StoreRow){.record = r->record,
                          .row = r->row,
                          .words = plain ? r->block->words + r->row->words : NULL,
                          .planes = p->planes,
                          .plane_words = row_plane_words(p, r->row->lanes),
                          .one = p->has & ROW_ONE};
  }
  return s->store.words != NULL;
}

static ScanResult visit_store(State *s, const RowRef *r, const LaneAccess *at, uint64_t from,
                              uint64_t to) {
  const StoreRow *w = &s->store;
  uint32_t rank = w->one ? 0 : lane_rank(r->row->lanes, at->lane), words[4] = {0};
  for (uint32_t i = 0; i < w->planes; i++) words[i] = w->words[i * w->plane_words + rank];
  Best now = best_of(s, r);
  for (uint64_t a = from; a < to; a++) {
    uint64_t i = a - s->address;
    Best *b = &s->best[i];
    if (s->known[i] != PENDING || !is_later(now, b)) continue;
    if (!b->time) vec_push(&s->touched, i);
    *b = now;
    s->value[i] = ((const uint8_t *)words)[a - at->address];
    s->since[i] = 1;  // temporarily: the value is known
  }
  return SCAN_GO_ON;
}

static ScanResult visit(TraceReader *t, const RowRef *r, const LaneAccess *at, void *user,
                        Error *err) {
  State *s = user;
  uint64_t from = MAX(at->address, s->address),
           to = MIN(at->address + at->bytes, s->address + s->bytes);
  bool wanted = false;
  if (!s->loads && !s->best) s->best = mem_alloc(sizeof *s->best * s->bytes);
  if (!s->loads && at->bytes <= 16 && is_plain_store(t, s, r))
    return visit_store(s, r, at, from, to);
  for (uint64_t a = from; a < to && !wanted; a++) {
    uint64_t i = a - s->address;
    if (s->loads) wanted = s->known[i] == 2 && s->since[i] <= s->step;
    else wanted = s->known[i] == PENDING && is_later(best_of(s, r), &s->best[i]);
  }
  if (!wanted) return SCAN_GO_ON;
  TraceOp op;
  if (!reader_op(t, r, at->lane, &op, err)) return SCAN_FAILED;
  if (s->loads && (op.kind != TRACE_LOAD || !op.value_known || at->bytes > 16)) return SCAN_GO_ON;
  uint8_t result[16];
  bool known = op.value_known && at->bytes <= 16;
  if (op.kind == TRACE_ATOMIC) {
    const ReaderSite *site;
    row_kind(t, r, &site);
    known = op.value_known &&
            atomic_result(site, op.value, op.old_known ? op.old : NULL, at->bytes, result);
  } else {
    memcpy(result, op.value, 16);
  }
  for (uint64_t a = from; a < to; a++) {
    uint64_t i = a - s->address;
    if (s->loads) {
      if (s->known[i] == 2 && s->since[i] <= s->step) {
        s->known[i] = 1;
        s->value[i] = result[a - at->address];
      }
      continue;
    }
    if (s->known[i] != PENDING) continue;
    Best *b = &s->best[i];
    if (!is_later(best_of(s, r), b)) continue;
    if (!b->time) vec_push(&s->touched, i);
    *b = best_of(s, r);
    s->value[i] = known ? result[a - at->address] : 0;
    s->since[i] = known;  // temporarily: whether the value is known
  }
  return SCAN_GO_ON;
}

// Whether an access up to that time may still decide something.
static bool is_any_open(const void *user, uint64_t start, uint64_t end, uint32_t last_time) {
  const State *s = user;
  uint64_t from = MAX(start, s->address), to = MIN(end, s->address + s->bytes);
  for (uint64_t i = from - s->address; i < to - s->address && from < to; i++)
    if (s->known[i] == PENDING &&
        !(s->best && s->best[i].time && time_is_later(s->best[i].time, last_time)))
      return true;
  return false;
}

// A posting is exact if its place's accesses are as wide as their values are kept, and a point
// always begins where its access does. false: blocks must tell which of these bytes were written
static bool settle_posting(State *s, const ChunkDirectory *d, const Posting *p) {
  uint32_t width = place_width(&d->places[p->place]), bytes = d->place_bytes[p->place];
  bool point = p->end - p->start == width && bytes <= width;
  if (!point && bytes != width) return false;
  uint64_t from = MAX(p->start, s->address),
           to = MIN(point ? p->start + bytes : p->end, s->address + s->bytes);
  for (uint64_t a = from; a < to; a++) settle(s, a - s->address, 1);
  return true;
}

// Settles the bytes that a launch wrote, if neither value nor time is asked for: postings tell
// them, without unpacking blocks. *exact: false if postings do not tell all
static bool settle_written(TraceReader *t, State *s, const ReaderLaunch *l, bool *exact,
                           Error *err) {
  RangeScan range = {.low = s->address, .high = s->address + s->bytes, .writes_only = true};
  uint32_t n, ahead = 0, window = 8;
  const ReaderChunk **chunks = reader_chunks_in_range(t, l, &range, &n);
  PostingVec list = {0};
  bool ok = true;
  *exact = true;
  for (uint32_t i = 0; i < n && ok && s->pending; i++) {
    if (!t->scanning) reader_cache_trim(t);
    if (i >= ahead) ahead = reader_chunks_ahead(t, chunks, n, i, &window, &range);
    const ChunkDirectory *d = reader_directory(t, chunks[i], err);
    bool any = false;
    for (uint32_t k = 0; d && k < d->nplaces; k++) {
      any |= d->writes[k] && directory_may_touch(d, k, range.low, range.high);
      if (d->writes[k] && d->place_bytes[k] > place_width(&d->places[k])) *exact = false;
    }
    list.len = 0;
    OpenBytes open = {range.low, range.high, s->known, 0};
    PostingQuery q = {
        .low = range.low, .high = range.high, .places = d ? d->writes : NULL, .open = &open};
    ok = d && (!any || reader_postings(t, chunks[i], &q, &list, err));
    for (uint32_t k = 0; k < list.len && ok; k++)
      if (!settle_posting(s, d, &list.data[k])) *exact = false;
  }
  vec_free(&list);
  free(chunks);
  return ok;
}

static bool after_launch(TraceReader *t, State *s, const ReaderLaunch *l, Error *err) {
  RangeScan scan = {.low = s->address, .high = s->address + s->bytes, .values = true};
  if (s->what->last_writers) {
    bool exact;
    if (!settle_written(t, s, l, &exact, err)) return false;
    if (exact || !s->pending) return true;
  }
  s->first_record = t->chunks[l->first_chunk].id << 16;
  if (s->loads) return reader_scan_range(t, l, &scan, visit, s, err) != SCAN_FAILED;
  LatestScan latest = {.low = s->address,
                       .high = s->address + s->bytes,
                       .state = s->known,
                       .open = is_any_open,
                       .visit = visit,
                       .user = s};
  bool ok = reader_scan_latest(t, l, &latest, err) != SCAN_FAILED;
  // only these: most launches of a long run touch none of the bytes, and must cost nothing
  for (uint32_t k = 0; k < s->touched.len; k++) {
    uint64_t i = s->touched.data[k];
    settle(s, i, s->since[i] ? 1 : 2);
    s->best[i] = (Best){0};
  }
  s->touched.len = 0;
  return ok;
}

// A launch that was not recorded, or only in part, may have written to what its parameters point
// to.
static bool after_unrecorded(TraceReader *t, State *s, const ReaderLaunch *l, Error *err) {
  sqlite3_stmt *q = reader_statement(t,
                                     "SELECT max(a.base, ?2), min(a.base + a.size, ?3) FROM "
                                     "parameter p JOIN allocation a ON a.id = p.allocation "
                                     "WHERE p.launch=?1 AND a.base < ?3 AND a.base + a.size > ?2",
                                     NULL);
  if (!q) return true;  // a file without parameters
  (void)err;
  sqlite3_bind_int64(q, 1, l->id);
  sqlite3_bind_int64(q, 2, (int64_t)s->address);
  sqlite3_bind_int64(q, 3, (int64_t)(s->address + s->bytes));
  while (sqlite3_step(q) == SQLITE_ROW) {
    uint64_t from = (uint64_t)sqlite3_column_int64(q, 0), to = (uint64_t)sqlite3_column_int64(q, 1);
    for (uint64_t a = MAX(from, s->address); a < MIN(to, s->address + s->bytes); a++)
      settle(s, a - s->address, 2);
  }
  reader_done(t, q);
  return true;
}

// --- the host ---
static bool from_contents(TraceReader *t, State *s, const ReaderStep *step, uint64_t from,
                          uint64_t to, Error *err) {
  sqlite3_stmt *q = reader_statement(
      t,
      "SELECT id, address, bytes, data FROM trace_contents WHERE process=? AND step=? AND "
      "address<? AND address+bytes>? ORDER BY id DESC",
      err);
  if (!q) return false;
  sqlite3_bind_int64(q, 1, step->process);
  sqlite3_bind_int64(q, 2, step->number);
  sqlite3_bind_int64(q, 3, (int64_t)to);
  sqlite3_bind_int64(q, 4, (int64_t)from);
  bool ok = true;
  int code = SQLITE_DONE;
  while (ok && s->pending && (code = sqlite3_step(q)) == SQLITE_ROW) {
    uint64_t address = (uint64_t)sqlite3_column_int64(q, 1),
             n = (uint64_t)sqlite3_column_int64(q, 2);
    const uint8_t *bytes = reader_contents(t, (uint64_t)sqlite3_column_int64(q, 0), n, q, 3);
    if (!bytes)
      ok = error_set(err, "the run file is damaged: the contents of step %u cannot be read.",
                     step->id);
    for (uint64_t a = MAX(from, address); ok && a < MIN(to, address + n); a++) {
      uint64_t i = a - s->address;
      if (s->known[i] != PENDING) continue;
      s->value[i] = bytes[a - address];
      settle(s, i, 1);
    }
  }
  if (ok && code != SQLITE_ROW && code != SQLITE_DONE)
    ok = sql_fail(t->db, err, "recorded operations cannot be read");
  reader_done(t, q);
  return ok;
}

static bool in_device_memory(TraceReader *t, const ReaderStep *step, uint64_t address) {
  sqlite3_stmt *q = reader_statement(
      t, "SELECT 1 FROM allocation WHERE process=? AND base<=?2 AND base+size>?2 LIMIT 1", NULL);
  if (!q) return false;
  sqlite3_bind_int64(q, 1, step->process);
  sqlite3_bind_int64(q, 2, (int64_t)address);
  bool yes = sqlite3_step(q) == SQLITE_ROW;
  reader_done(t, q);
  return yes;
}

// Bytes [from, to) of the destination, within one row of the copy.
static bool from_copy(TraceReader *t, State *s, const ReaderStep *step, uint64_t from, uint64_t to,
                      Error *err) {
  uint64_t pitch = step->to_pitch && (step->height > 1 || step->depth > 1) ? step->to_pitch
                                                                           : MAX(step->width, 1ull),
           rows = step->to_rows ? step->to_rows : MAX(step->height, 1ull);
  uint64_t line = (from - step->destination) / pitch, x = (from - step->destination) % pitch,
           z = line / rows, y = line % rows;
  uint64_t source_pitch = step->from_pitch ? step->from_pitch : step->width,
           source_rows = step->from_rows ? step->from_rows : MAX(step->height, 1ull);
  uint64_t source = step->source + (z * source_rows + y) * source_pitch + x, n = to - from;
  if (!step->source || step->from_host || s->what->depth >= DEEPEST ||
      !in_device_memory(t, step, source)) {
    for (uint64_t a = from; a < to; a++) settle(s, a - s->address, 2);
    return true;
  }
  uint8_t *value = mem_alloc(n * 2), *known = value + n;
  Replay before = {.process = step->process,
                   .steps = s->step,
                   .address = source,
                   .bytes = n,
                   .died = UINT64_MAX,
                   .depth = s->what->depth + 1};
  bool ok = reader_replay(t, &before, value, known, err);
  for (uint64_t k = 0; ok && k < n; k++) {
    uint64_t i = from + k - s->address;
    if (s->known[i] != PENDING) continue;
    s->value[i] = value[k];
    settle(s, i, known[k]);
  }
  free(value);
  return ok;
}

static bool after_host(TraceReader *t, State *s, const ReaderStep *step, Error *err) {
  uint64_t end = s->address + s->bytes, from = s->address, at, n;
  for (; from < end && s->pending && step_touches(step, false, from, end, &at, &n); from = at + n) {
    bool any = false;
    for (uint64_t a = at; a < at + n && !any; a++) any = s->known[a - s->address] == PENDING;
    if (!any) continue;
    if (!from_contents(t, s, step, at, at + n, err)) return false;
    if (step->kind == STEP_COPY) {
      any = false;
      for (uint64_t a = at; a < at + n && !any; a++) any = s->known[a - s->address] == PENDING;
      if (any && !from_copy(t, s, step, at, at + n, err)) return false;
      continue;
    }
    for (uint64_t a = at; a < at + n; a++) {
      uint64_t i = a - s->address;
      if (s->known[i] != PENDING) continue;
      uint32_t width = step->value_bytes ? step->value_bytes : 1;
      uint64_t pitch = step->to_pitch && step->height > 1 ? step->to_pitch : UINT64_MAX,
               phase = (a - step->destination) % pitch % width;
      s->value[i] = phase < 8 ? (uint8_t)(step->value >> 8 * phase) : 0;
      settle(s, i, 1);
    }
  }
  return true;
}

// Handles a step that is not wholly in the file: a launch may have written anywhere, a copy to its
// destination. Pages that were kept before a launch are read only together with those kept before
// (State.kept); else they are left out.
static void after_cut(State *s, const ReaderStep *step) {
  uint64_t from = s->address, end = s->address + s->bytes, at, n;
  if (step->kind == STEP_LAUNCH || (step->kind == STEP_INPUTS && s->kept)) {
    for (uint64_t i = 0; i < s->bytes; i++) settle(s, i, 2);
    return;
  }
  for (; from < end && step_touches(step, false, from, end, &at, &n); from = at + n)
    for (uint64_t a = at; a < at + n; a++) settle(s, a - s->address, 2);
}

static bool one_step(TraceReader *t, State *s, Error *err) {
  const ReaderStep *step = &t->steps[s->step];
  if (step->process != s->what->process || step->order < s->what->born ||
      step->order >= s->what->died)
    return true;
  const ReaderLaunch *l = step->launch ? &t->launches[step->launch - 1] : NULL;
  if (step->cut) {
    if (!s->loads) after_cut(s, step);
    return true;
  }
  if (step->kind == STEP_INPUTS)
    return s->loads || from_contents(t, s, step, s->address, s->address + s->bytes, err);
  if (s->kept)
    return l || !step->recorded ||
           (step->kind == STEP_SET
                ? after_host(t, s, step, err)
                : from_contents(t, s, step, s->address, s->address + s->bytes, err));
  if (s->loads) return !l || !l->nchunks || after_launch(t, s, l, err);
  if (!l) return after_host(t, s, step, err);
  return (!l->nchunks || after_launch(t, s, l, err)) &&
         (step->recorded || after_unrecorded(t, s, l, err));
}

bool reader_replay(TraceReader *t, const Replay *what, uint8_t *value, uint8_t *known, Error *err) {
  uint64_t bytes = what->bytes;
  State s = {.what = what,
             .address = what->address,
             .bytes = bytes,
             .pending = bytes,
             .value = value,
             .known = known};
  s.since = what->last_writers ? what->last_writers : mem_alloc(sizeof *s.since * (bytes + 1));
  memset(known, PENDING, bytes);
  memset(value, 0, bytes);
  bool ok = true, unknown = false;
  uint32_t last = MIN(what->steps, t->nsteps);
  reader_begin(t);
  s.kept = last && t->steps[last - 1].kind == STEP_INPUTS && !t->steps[last - 1].value;
  for (uint32_t i = MIN(what->steps, t->nsteps); i-- && ok && s.pending;) {
    s.step = i;
    ok = one_step(t, &s, err);
  }
  for (uint64_t i = 0; i < bytes; i++) {
    if (known[i] == PENDING) {
      known[i] = what->outside ? 2 : 0;
      s.since[i] = 0;
    }
    unknown |= known[i] == 2 && !what->last_writers;
  }
  s.loads = true;
  for (uint32_t i = MIN(what->steps, t->nsteps); unknown && i-- && ok;) {
    s.step = i;
    ok = one_step(t, &s, err);
    if (i % 64 == 0 || t->steps[i].launch) {
      unknown = false;
      for (uint64_t k = 0; k < bytes && !unknown; k++) unknown = known[k] == 2 && s.since[k] <= i;
    }
  }
  reader_end(t);
  if (!what->last_writers) free(s.since);
  free(s.best);
  vec_free(&s.touched);
  return ok;
}

static bool replay_slice(TraceReader *t, const TraceSlice *of, uint8_t *value, uint8_t *known,
                         uint32_t *last_writers, Error *err) {
  Life life;
  if (!reader_life(t, of->allocation, &life, err)) return false;
  if (of->offset > life.size || of->bytes > life.size - of->offset)
    return error_set(err, "the allocation has %llu bytes only.", (unsigned long long)life.size);
  uintptr_t index = of->step ? (uintptr_t)u64map_get(&t->step_of_id, of->step) : t->nsteps;
  if (of->step && !index) return error_set(err, "the run file has no step %u.", of->step);
  bool outside = strcmp(life.kind, "device") != 0 && strcmp(life.kind, "pool") != 0 &&
                 strcmp(life.kind, "virtual") != 0 && strcmp(life.kind, "array") != 0;
  return reader_replay(t,
                       &(Replay){.process = life.process,
                                 .steps = (uint32_t)index,
                                 .address = life.base + of->offset,
                                 .bytes = of->bytes,
                                 .born = life.born,
                                 .died = life.died,
                                 .outside = outside,
                                 .last_writers = last_writers},
                       value, known, err);
}

bool trace_contents(TraceReader *t, const TraceSlice *of, uint8_t *value, uint8_t *known,
                    Error *err) {
  return replay_slice(t, of, value, known, NULL, err);
}

bool trace_last_writers(TraceReader *t, const TraceSlice *of, uint32_t *step, uint8_t *known,
                        Error *err) {
  uint8_t *value = mem_alloc(of->bytes + 1);
  bool ok = replay_slice(t, of, value, known, step, err);
  free(value);
  return ok;
}
