// Finds who wrote what a read saw. Unordered writes are candidates; the value may decide between
// them.
#include "trace/reader.h"

enum { BYTES_MOST = 16 };

typedef struct Wanted {    // the bytes in question
  uint32_t process, step;  // step: index of the read's own
  uint64_t address;
  uint32_t bytes;
  bool known;
  const uint8_t *value;  // what it saw
  const Access *self;    // NULL: by the host
  uint64_t block;
  bool all;          // even if there are very many accesses
  WritesKept *kept;  // not NULL: writes to these bytes were gathered before, and will be again
} Wanted;

// op: with bytes 0, only its record and lane are set. covers, differs: bytes that are asked for,
// one bit each, that it wrote (covers) with another value than was read (differs). early: the read
// would have seen it before waiting for it
typedef struct Candidate {
  TraceOp op;
  uint32_t covers, differs;
  bool early;
} Candidate;
// own, earlier: writes of the launch itself, and of those before
typedef struct Found {
  VEC(Candidate) list;
  bool pending[BYTES_MOST];
  uint32_t left;
  bool other_stream, unrecorded, in_part, other_block;
  Gathered own, earlier;
} Found;

static bool overlap(uint64_t a, uint64_t n, uint64_t b, uint64_t m) {
  return a < b + m && b < a + n;
}
static uint64_t first_byte(const Wanted *w, uint64_t address) {
  return MAX(address, w->address) - w->address;
}
static uint64_t end_byte(const Wanted *w, uint64_t address, uint64_t bytes) {
  return MIN(address + bytes, w->address + w->bytes) - w->address;
}

static bool touches_pending(const Found *f, const Wanted *w, uint64_t address, uint64_t bytes) {
  if (!overlap(address, bytes, w->address, w->bytes)) return false;
  for (uint64_t i = first_byte(w, address); i < end_byte(w, address, bytes); i++)
    if (f->pending[i]) return true;
  return false;
}

static void settle(Found *f, const Wanted *w, uint64_t address, uint64_t bytes) {
  for (uint64_t i = first_byte(w, address); i < end_byte(w, address, bytes); i++)
    if (f->pending[i]) {
      f->pending[i] = false;
      f->left--;
    }
}

// The bytes that a candidate wrote. known: its value is known; overwritten: bytes that are asked
// for, one bit each, that later ordered writes of the same launch overwrote
typedef struct Written {
  uint64_t address;
  uint32_t bytes, overwritten;
  const uint8_t *value;
  bool known, early;
} Written;
static void add_candidate(Found *f, const Wanted *w, const TraceOp *op, const Written *x) {
  Candidate c = {.op = *op, .early = x->early};
  for (uint64_t i = first_byte(w, x->address); i < end_byte(w, x->address, x->bytes); i++) {
    // a later step overwrote it, or a later write of the launch
    if (!f->pending[i] || x->overwritten >> i & 1) continue;
    c.covers |= 1u << i;
    if (w->known && x->known && x->value[w->address + i - x->address] != w->value[i])
      c.differs |= 1u << i;
  }
  if (c.covers) vec_push(&f->list, c);
}

// The writes of a launch that may be the last before the read, or, for a read of a later step, the
// last of the launch.
typedef struct Writes {
  Accesses all;
  Gathered how;
  bool none_hidden;  // too many to find out which are overwritten
  bool *before, *early;
  uint32_t *overwritten;
  Timelines lines;
} Writes;

static bool may_be_seen(TraceReader *t, const Wanted *w, const Found *f, Writes *x, bool inside,
                        Error *err) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < x->all.len; i++) {
    const Access *a = &x->all.data[i], *self = w->self;
    if (!touches_pending(f, w, a->address, a->bytes)) continue;
    // local memory is the thread's own
    if (w->address >> (WG_TRACE_SPACE_AT + 1) && (a->warp != self->warp || a->lane != self->lane))
      continue;
    Relation relation = RELATION_BEFORE;
    // lanes of one row: only atomic operations see each other
    if (inside && a->record == self->record) {
      if (a->lane == self->lane || a->kind != TRACE_ATOMIC) continue;
      relation = RELATION_NONE;
    } else if (inside) {
      relation = access_relation(t, &x->lines, a, self, err);
    }
    if (relation == RELATION_FAILED) return false;
    if (relation == RELATION_AFTER) continue;
    x->all.data[n] = *a;
    x->early[n] = relation == RELATION_NOT_TOLD;
    x->before[n++] = relation == RELATION_BEFORE;
  }
  x->all.len = n;
  return true;
}

static bool find_overwritten(TraceReader *t, const Wanted *w, const Found *f, Writes *x,
                             Error *err) {
  uint32_t *bytes = mem_alloc(sizeof *bytes * (x->all.len + 1));
  for (uint32_t i = 0; i < x->all.len; i++)
    for (uint64_t j = first_byte(w, x->all.data[i].address);
         j < end_byte(w, x->all.data[i].address, x->all.data[i].bytes); j++)
      bytes[i] |= (uint32_t)f->pending[j] << j;
  WritesToHide writes = {&x->all, x->before, bytes, x->overwritten};
  bool ok = accesses_hide(t, &x->lines, &writes, err);
  free(bytes);
  return ok;
}

static bool gather(TraceReader *t, const Wanted *w, bool inside, Writes *x, Error *err) {
  const ReaderLaunch *l = x->lines.launch;
  RangeScan scan = {
      .low = w->address, .high = w->address + w->bytes, .writes_only = true, .values = true};
  if (w->address >> WG_TRACE_SPACE_AT) {
    scan.first_warp = w->block * l->warps;
    scan.last_warp = scan.first_warp + l->warps - 1;
  }
  bool kept = w->kept && w->kept->low == scan.low && w->kept->high == scan.high;
  Sought sought = {inside ? w->self : NULL, w->address, w->bytes, w->known ? w->value : NULL, 0};
  GatheredAccesses found = {0};
  bool ok = kept ? writes_kept(w->kept, l, inside, &scan, &found, err)
                 : accesses_gather(t, l, &scan, w->all ? NULL : &sought, &found, err);
  x->none_hidden = kept && !inside && w->kept->many;
  x->all = found.list;
  x->how = found.how;
  return ok;
}

static bool last_writes(TraceReader *t, const Wanted *w, Found *f, const ReaderLaunch *l,
                        bool inside, Error *err) {
  Writes x = {.lines = {.launch = l}};
  bool ok = gather(t, w, inside, &x, err);
  if (inside) f->own = x.how;
  else f->earlier = MAX(f->earlier, x.how);
  x.before = mem_alloc(x.all.len + 1);
  x.overwritten = mem_alloc(sizeof *x.overwritten * (x.all.len + 1));
  x.early = mem_alloc(x.all.len + 1);
  ok = ok && may_be_seen(t, w, f, &x, inside, err) &&
       (x.none_hidden || find_overwritten(t, w, f, &x, err));
  for (uint32_t i = 0; ok && i < x.all.len; i++) {
    const Access *a = &x.all.data[i];
    add_candidate(f, w, &(TraceOp){.record = a->record, .lane = a->lane},
                  &(Written){.address = a->address,
                             .bytes = a->bytes,
                             .overwritten = x.overwritten[i],
                             .value = a->value,
                             .known = a->value_known,
                             .early = x.early[i]});
  }
  for (uint32_t i = 0; i < x.all.len; i++)
    if (x.before[i]) settle(f, w, x.all.data[i].address, x.all.data[i].bytes);
  free(x.before);
  free(x.overwritten);
  free(x.early);
  vec_free(&x.all);
  timelines_free(&x.lines);
  return ok;
}

static bool host_write(TraceReader *t, const Wanted *w, Found *f, const ReaderStep *s, Error *err) {
  uint64_t low = w->address, high = w->address + w->bytes, at, n;
  for (; low < high && step_touches(s, false, low, high, &at, &n); low = at + n) {
    if (!touches_pending(f, w, at, n)) continue;
    TraceOp op;
    if (!reader_host_op(t, s, 0, (HostRange){at, n}, &op, err)) return false;
    add_candidate(
        f, w, &op,
        &(Written){
            .address = at, .bytes = (uint32_t)n, .value = op.value, .known = op.value_known});
    settle(f, w, at, n);
  }
  return true;
}

// The bytes that candidates without a write to this byte wrote with the value that was read.
static uint32_t written_beside(const Found *f, uint32_t byte) {
  uint32_t bytes = 0;
  for (uint32_t k = 0; k < f->list.len; k++)
    if (!(f->list.data[k].covers >> byte & 1))
      bytes |= f->list.data[k].covers & ~f->list.data[k].differs;
  return bytes;
}

// Whether the candidate may have written the byte: it wrote the value that was read. If it wrote
// other values, candidates without a write to this byte may have written afterwards.
static bool may_have_given(const Candidate *c, uint32_t byte, uint32_t beside) {
  return c->covers >> byte & 1 && !(c->differs >> byte & 1) && !(c->differs & ~beside);
}

static bool choose(TraceReader *t, const Wanted *w, Found *f, TraceWriters *out, Error *err) {
  uint32_t cap = 0;
  bool unordered = false, none_fits = false, ok = true, *keep = mem_alloc(f->list.len + 1);
  for (uint32_t byte = 0; byte < w->bytes; byte++) {
    uint32_t covering = 0, fitting = 0, beside = written_beside(f, byte);
    bool waited = false;  // one that fits was done before the read
    for (uint32_t i = 0; i < f->list.len && !waited; i++)
      waited = !f->list.data[i].early && may_have_given(&f->list.data[i], byte, beside);
    for (uint32_t i = 0; i < f->list.len; i++) {
      const Candidate *c = &f->list.data[i];
      bool fits = may_have_given(c, byte, beside) && !(waited && c->early);
      covering += c->covers >> byte & 1;
      fitting += fits;
      keep[i] |= fits;
    }
    unordered |= fitting + f->pending[byte] > 1;  // pending: it may be unwritten
    if (!covering || fitting) continue;
    none_fits |= !f->pending[byte];
    for (uint32_t i = 0; i < f->list.len && !f->pending[byte]; i++)
      keep[i] |= f->list.data[i].covers >> byte & 1;
  }
  for (uint32_t i = 0; i < f->list.len && ok; i++) {
    Candidate *c = &f->list.data[i];
    if (!keep[i]) continue;
    ok = c->op.bytes || trace_one(t, c->op.record, c->op.lane, &c->op, err);
    c->op.gave = (uint16_t)c->covers;
    if (ok) ops_push(&out->ops, &c->op, &cap);
  }
  free(keep);
  if (!ok) trace_ops_free(&out->ops);
  out->ops.total = out->ops.n;
  out->ops.total_known = true;
  out->some = f->own != GATHERED_ALL || f->earlier != GATHERED_ALL;
  // it is not known whose shared memory an operation of another block accesses
  bool other_block = f->other_block && (out->ops.n == 0 || none_fits);
  bool unrecorded = f->unrecorded || (f->in_part && (out->ops.n == 0 || none_fits));
  out->never_written = out->ops.n == 0 && !unrecorded && !other_block && !out->some;
  out->ambiguous = unordered || none_fits || unrecorded || other_block || out->some;
  out->why =
      f->own == GATHERED_FITTING ? "very many operations touched it: of those recorded near the "
                                   "read these wrote what it saw, the others were not looked at"
      : f->own == GATHERED_SOME
          ? "very many operations touched it: only those recorded near the read were looked at"
      : f->earlier == GATHERED_FITTING
          ? "very many operations touched it: of those recorded last in their launch these wrote "
            "what was read, the others were not looked at"
      : f->earlier == GATHERED_SOME ? "very many operations touched it: only those recorded last "
                                      "in their launch were looked at"
      : unrecorded         ? "a launch that was not recorded, or in part, may have written there"
      : other_block        ? "another block of the cluster may have written there"
      : out->never_written ? (w->address >> WG_TRACE_SPACE_AT ? "nobody wrote there before"
                                                              : "nothing wrote there before")
      : none_fits          ? "nothing that is recorded wrote what was read"
      : unordered
          ? (w->known ? "nothing orders these writes, and the value that was read does not decide"
                      : "nothing orders these writes, and what was read was not recorded")
      : f->other_stream ? "the last write before it, in another stream: steps are taken in the "
                          "order in which the program asked for them"
                        : "the last write before it";
  return ok;
}

bool reader_may_have_written(TraceReader *t, const ReaderLaunch *l, uint64_t address) {
  sqlite3_stmt *q = reader_statement(
      t,
      "SELECT 1 FROM parameter p JOIN allocation a ON a.id = p.allocation WHERE p.launch=?1 AND "
      "a.base<=?2 AND a.base+a.size>?2",
      NULL);
  if (!q) return false;
  sqlite3_bind_int64(q, 1, l->id);
  sqlite3_bind_int64(q, 2, (int64_t)address);
  bool yes = sqlite3_step(q) == SQLITE_ROW;
  reader_done(t, q);
  return yes;
}

static bool find_writers(TraceReader *t, const Wanted *w, TraceWriters *out, Error *err) {
  Found f = {.left = w->bytes};
  for (uint32_t i = 0; i < w->bytes; i++) f.pending[i] = true;
  const ReaderStep *own = &t->steps[w->step];
  f.in_part = w->self && !own->recorded;
  f.unrecorded = w->self && own->cut;
  f.other_block = w->self && w->address >> WG_TRACE_SPACE_AT == WG_TRACE_SHARED &&
                  t->launches[own->launch - 1].cluster;
  bool global = !(w->address >> WG_TRACE_SPACE_AT),
       ok = !w->self || last_writes(t, w, &f, &t->launches[own->launch - 1], true, err);
  // earlier steps matter only if the read can have seen no write of its own launch
  if (ok && f.own != GATHERED_ALL && !w->all && !w->kept) {
    Wanted all = *w;
    bool none = f.own == GATHERED_FITTING && !f.list.len;
    ok = none || choose(t, w, &f, out, err);
    vec_free(&f.list);
    all.all = true;
    return none ? find_writers(t, &all, out, err) : ok;
  }
  uint32_t allocation = global ? reader_allocation_at(t, w->process, w->address, own->order) : 0;
  for (uint32_t i = w->step; ok && global && f.left && i--;) {
    const ReaderStep *s = &t->steps[i];
    if (s->process != w->process || s->order < allocation) continue;
    uint32_t n = f.list.len;
    const ReaderLaunch *l = s->launch ? &t->launches[s->launch - 1] : NULL;
    if (!l) ok = host_write(t, w, &f, s, err);
    else if (l->nchunks) ok = last_writes(t, w, &f, l, false, err);
    f.unrecorded |= l && s->cut;
    if (l && !s->recorded && (l->nchunks ? !f.in_part : !f.unrecorded) &&
        reader_may_have_written(t, l, w->address)) {
      if (l->nchunks) f.in_part = true;
      else f.unrecorded = true;
    }
    if (f.list.len > n && s->stream != own->stream) f.other_stream = true;
  }
  ok = ok && choose(t, w, &f, out, err);
  vec_free(&f.list);
  return ok;
}

bool reader_writers_of(TraceReader *t, const TraceOp *op, bool all, WritesKept *kept,
                       TraceWriters *out, Error *err) {
  RowRef r;
  const ReaderStep *host;
  *out = (TraceWriters){.why = ""};
  if (!reader_row(t, op->record, &r, &host, err)) return false;
  if (op->kind != TRACE_LOAD && op->kind != TRACE_ATOMIC && op->kind != TRACE_COPY)
    return error_set(err, "this operation reads no memory.");
  if (host) {
    if (host->from_host || !host->source)
      return error_set(err, "this copy comes from memory of the host.");
    Wanted w = {.process = host->process,
                .step = (uint32_t)(host - t->steps),
                .address = op->lane ? op->address : host->source,
                .bytes = (uint32_t)MIN(host->width, (uint64_t)BYTES_MOST),
                .all = all,
                .kept = kept};
    return find_writers(t, &w, out, err);
  }
  const ReaderLaunch *l = &t->launches[r.chunk->launch];
  Access self = {.record = op->record,
                 .warp = r.row->warp,
                 .address = row_address(r.block, r.row, op->lane),
                 .lane = op->lane,
                 .bytes = op->bytes,
                 .time = r.row->time,
                 .kind = op->kind};
  bool atomic = op->kind == TRACE_ATOMIC;
  Wanted w = {.process = l->process,
              .step = l->step,
              .address = self.address,
              .bytes = MIN(op->bytes, (uint32_t)BYTES_MOST),
              .known = atomic ? op->old_known : op->value_known && !op->from_replay,
              .value = atomic ? op->old : op->value,
              .self = &self,
              .block = self.warp / l->warps,
              .all = all,
              .kept = kept};
  return find_writers(t, &w, out, err);
}

bool trace_writers(TraceReader *t, uint64_t record, uint32_t lane, bool all, TraceWriters *out,
                   Error *err) {
  TraceOp op;
  *out = (TraceWriters){.why = ""};
  return trace_one(t, record, lane, &op, err) && reader_writers_of(t, &op, all, NULL, out, err);
}

bool reader_fill_load(TraceReader *t, TraceOp *op, Error *err) {
  if (op->kind != TRACE_LOAD || op->value_known || op->bytes > BYTES_MOST) return true;
  TraceWriters w;
  if (!reader_writers_of(t, op, false, NULL, &w, err)) return false;
  uint8_t value[BYTES_MOST] = {0};
  uint32_t have = 0;
  for (uint32_t i = 0; i < w.ops.n && !w.ambiguous; i++) {
    const TraceOp *o = &w.ops.list[i];
    // the value of an atomic operation is only its operand
    if (!o->value_known || o->kind == TRACE_ATOMIC) continue;
    for (uint32_t k = 0; k < op->bytes; k++) {
      uint64_t at = op->address + k - o->address;
      if (o->gave >> k & 1 && at < MIN(o->bytes, (uint32_t)BYTES_MOST)) {
        value[k] = o->value[at];
        have |= 1u << k;
      }
    }
  }
  trace_ops_free(&w.ops);
  if (w.ambiguous || have != (1u << op->bytes) - 1) return true;
  memcpy(op->value, value, sizeof value);
  op->value_known = op->from_replay = true;
  return true;
}
