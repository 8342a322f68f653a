// Every question about recorded operations, against the plain memory of a made-up program.
#include "program.h"

static uint64_t failures;
static uint64_t seed;
#define EXPECT(cond, ...) \
  do { \
    if (!(cond) && failures++ < 20) { \
      printf("seed %llu, line %d: %s: ", (unsigned long long)seed, __LINE__, #cond); \
      printf(__VA_ARGS__); \
      printf("\n"); \
    } \
  } while (0)

static bool same_op(const TraceOp *a, const MOp *m) {
  bool recorded = m->values > 0;
  return a->kind == (TraceKind)m->kind && a->step == m->step && a->launch == m->launch &&
         a->thread == m->thread && a->lane == m->lane && a->site == 1000 + m->site &&
         a->bytes == m->bytes && a->has_address == (m->kind <= TRACE_ATOMIC) &&
         a->address == m->address && a->space == m->shared &&
         (recorded || m->kind == TRACE_SYNC ? a->value_known == recorded && !a->from_replay
                                            : a->value_known == a->from_replay) &&
         (!a->value_known || memcmp(a->value, m->value, 16) == 0) &&
         (m->kind != TRACE_ATOMIC || (a->old_known && memcmp(a->old, m->old, 16) == 0));
}

static void ask_threads(Program *p, TraceReader *t) {
  Error err;
  for (int k = 0; k < 30; k++) {
    MLaunch *l = p->launches.len ? &p->launches.data[below(&p->rng, p->launches.len)] : NULL;
    if (!l) return;
    uint64_t thread = below(&p->rng, l->blocks * l->threads);
    VEC(uint32_t) want = {0};
    for (uint32_t i = 0; i < p->ops.len; i++)
      if (p->ops.data[i].launch == l->id && p->ops.data[i].thread == thread) vec_push(&want, i);
    uint64_t skip = below(&p->rng, 3) ? 0 : below(&p->rng, want.len + 2);
    uint32_t most = below(&p->rng, 2) ? 100000 : 1 + (uint32_t)below(&p->rng, want.len + 2);
    TraceOps o;
    bool ok = trace_of_thread(t, l->id, thread, (TracePage){skip, most}, &o, &err);
    EXPECT(ok, "%s", err.text);
    uint64_t left = want.len > skip ? want.len - skip : 0;
    EXPECT(o.n == MIN(left, most) && o.more == (left > most), "%u of %u", o.n, want.len);
    EXPECT(o.more || (o.total_known && o.total == want.len), "total %llu, %u",
           (unsigned long long)o.total, want.len);
    for (uint32_t i = 0; i < o.n && i < left; i++) {
      const MOp *m = &p->ops.data[want.data[skip + i]];
      EXPECT(same_op(&o.list[i], m),
             "operation %u of thread %llu of launch %u: site %u, step %u %u address %llx %llx", i,
             (unsigned long long)thread, l->id, m->site, o.list[i].step, m->step,
             (unsigned long long)o.list[i].address, (unsigned long long)m->address);
      TraceOp one;
      EXPECT(trace_one(t, o.list[i].record, o.list[i].lane, &one, &err) &&
                 memcmp(&one, &o.list[i], sizeof one) == 0,
             "record %llu", (unsigned long long)o.list[i].record);
      EXPECT(i == 0 || o.list[i].record > o.list[i - 1].record, "order");
    }
    trace_ops_free(&o);
    vec_free(&want);
  }
  TraceOps o;
  EXPECT(!trace_of_thread(t, 999999, 0, (TracePage){0, 10}, &o, &err), "an unknown launch");
}

static bool overlaps(uint64_t a, uint64_t n, uint64_t b, uint64_t m) {
  return a < b + m && b < a + n;
}

// Numbers of an element's operations, and its pages: as in the list of all of them.
static void ask_numbers(Program *p, TraceReader *t, uint32_t buffer, TraceBytes at,
                        const TraceOps *all) {
  Error err;
  Rng rng = {seed + at.address};
  TraceSought sought = {.first = UINT64_MAX, .most = UINT64_MAX};
  int64_t index;
  for (int k = 0; k < 4 && all->n; k++) {
    uint32_t want = (uint32_t)below(&rng, all->n);
    sought.record = all->list[want].record;
    sought.lane = all->list[want].lane;
    EXPECT(trace_element_index(t, buffer, at, &sought, &index, &err) && index == want,
           "number %lld, not %u", (long long)index, want);
    TraceOps some;
    uint32_t most = 1 + (uint32_t)below(&rng, all->n - want);
    EXPECT(trace_of_element(t, buffer, at, (TracePage){want, most}, &some, &err) &&
               some.n == most && some.more == (want + most < all->n),
           "%u from %u on", some.n, want);
    for (uint32_t i = 0; i < some.n; i++)
      EXPECT(memcmp(&some.list[i], &all->list[want + i], sizeof *some.list) == 0, "operation %u",
             want + i);
    trace_ops_free(&some);
  }
  for (int k = 0; k < 4 && p->steps.len; k++) {
    int64_t want = -1;
    sought.record = 0;
    sought.step = k ? p->steps.data[below(&rng, p->steps.len)].id : UINT32_MAX;
    sought.writes_only = k % 2 == 0;
    for (uint32_t i = 0; i < all->n; i++) {
      const TraceOp *a = &all->list[i];
      bool writes = a->kind == TRACE_STORE || a->kind == TRACE_ATOMIC || a->kind == TRACE_SET ||
                    (a->kind == TRACE_COPY && !a->lane);
      if (a->step <= sought.step && (writes || !sought.writes_only)) want = i;
    }
    EXPECT(trace_element_index(t, buffer, at, &sought, &index, &err) && index == want,
           "up to step %u: number %lld, not %lld", sought.step, (long long)index, (long long)want);
  }
}

// Two operations of a launch follow each other as the model executed them.
static void check_order(const Program *p, const TraceOps *o, const TraceOp *a) {
  uint32_t at[2] = {0, 0}, found_at = 0, inside = 0;
  for (uint32_t j = 0; j < o->n; j++) inside += o->list[j].launch == a->launch;
  bool in_launch = inside <= 256;
  for (int side = 0; side < 2; side++)
    for (uint32_t j = 0; j < p->ops.len && in_launch; j++)
      if (p->ops.data[j].launch == a->launch && p->ops.data[j].thread == a[side - 1].thread &&
          same_op(&a[side - 1], &p->ops.data[j]) && (!side || j > at[0])) {
        at[side] = j;
        found_at++;
        break;
      }
  EXPECT(!in_launch || found_at == 2, "order of time");
}

// The value of a copy or set of the host.
static void check_copy(const Program *p, const Buffer *b, const TraceOp *a) {
  const MStep *s = NULL;
  for (uint32_t j = 0; j < p->steps.len; j++)
    if (p->steps.data[j].id == a->step) s = &p->steps.data[j];
  uint64_t n = MIN(a->bytes, 16u);
  bool known = true;
  int which = (int)(b - p->buffers);
  for (uint64_t x = 0; s && x < n; x++) known &= s->known[which][a->address - b->base + x];
  EXPECT(s && a->value_known == known &&
             (!known || memcmp(a->value, s->after[which] + (a->address - b->base), n) == 0),
         "a copy's value");
}

// Threads that touched the bytes in one launch.
static void ask_touching(Program *p, TraceReader *t, TraceBytes at) {
  if (!p->launches.len) return;
  Error err;
  TraceOps o;
  MLaunch *l = &p->launches.data[below(&p->rng, p->launches.len)];
  U64Map threads = {0};
  for (uint32_t i = 0; i < p->ops.len; i++) {
    const MOp *m = &p->ops.data[i];
    if (m->launch == l->id && m->kind <= TRACE_ATOMIC && !m->shared &&
        overlaps(m->address, m->bytes, at.address, at.bytes))
      u64map_put(&threads, m->thread, p);
  }
  EXPECT(trace_touching(t, l->id, at, (TracePage){0, 1000000}, &o, &err) && o.n == threads.len,
         "%u threads of %u", o.n, threads.len);
  trace_ops_free(&o);
  u64map_free(&threads);
}

static void ask_elements(Program *p, TraceReader *t) {
  Error err;
  for (int k = 0; k < 30; k++) {
    Buffer *b = &p->buffers[below(&p->rng, BUFFERS)];
    uint32_t bytes = 1u << below(&p->rng, 4);
    uint64_t address = b->base + below(&p->rng, b->size / bytes) * bytes;
    uint64_t want = 0;
    U64Map seen = {0};
    for (uint32_t i = 0; i < p->ops.len; i++) {
      const MOp *m = &p->ops.data[i];
      want += m->kind <= TRACE_ATOMIC && !m->shared &&
              overlaps(m->address, m->bytes, address, bytes);
    }
    for (uint32_t i = 0; i < p->steps.len; i++) {
      const MStep *s = &p->steps.data[i];
      if (s->launch) continue;
      want += overlaps(s->destination, s->width, address, bytes);
      want += s->kind != 3 && overlaps(s->source, s->width, address, bytes);
    }
    TraceOps o;
    bool ok = trace_of_element(t, b->id, (TraceBytes){address, bytes}, (TracePage){0, 1000000}, &o,
                               &err);
    EXPECT(ok, "%s", err.text);
    EXPECT(o.n == want && !o.more, "element %llx + %u: %u of %llu", (unsigned long long)address,
           bytes, o.n, (unsigned long long)want);
    for (uint32_t i = 0; i < o.n; i++) {
      const TraceOp *a = &o.list[i];
      EXPECT(i == 0 || a->step >= a[-1].step, "order of steps");
      if (i && a->launch && a->launch == a[-1].launch) check_order(p, &o, a);
      if (!a->launch) {
        check_copy(p, b, a);
        continue;
      }
      EXPECT(overlaps(a->address, a->bytes, address, bytes), "elsewhere");
      bool found = false;
      for (uint32_t j = 0; j < p->ops.len && !found; j++) {
        const MOp *m = &p->ops.data[j];
        if (m->launch == a->launch && m->thread == a->thread && !u64map_get(&seen, j + 1) &&
            same_op(a, m)) {
          u64map_put(&seen, j + 1, p);
          found = true;
        }
      }
      EXPECT(found, "an operation nobody did");
    }
    ask_numbers(p, t, b->id, (TraceBytes){address, bytes}, &o);
    trace_ops_free(&o);
    u64map_free(&seen);
    ask_touching(p, t, (TraceBytes){address, bytes});
  }
}

static void ask_contents(Program *p, TraceReader *t) {
  Error err;
  for (int k = 0; k < 20; k++) {
    int which = (int)below(&p->rng, BUFFERS);
    Buffer *b = &p->buffers[which];
    uint32_t at = (uint32_t)below(&p->rng, p->steps.len + 1);
    MStep *s = at == p->steps.len ? NULL : &p->steps.data[at];
    uint64_t offset = below(&p->rng, b->size), n = 1 + below(&p->rng, b->size - offset);
    uint8_t *value = mem_alloc(n), *known = mem_alloc(n);
    EXPECT(trace_contents(t, &(TraceSlice){b->id, s ? s->id : 0, offset, n}, value, known, &err),
           "%s", err.text);
    const uint8_t *data = s ? s->after[which] : b->data, *written = s ? s->known[which] : b->known;
    for (uint64_t i = 0; i < n; i++)
      EXPECT(known[i] == written[offset + i] && (!known[i] || value[i] == data[offset + i]),
             "byte %llu of buffer %d behind step %u: %u %u, %u %u",
             (unsigned long long)(offset + i), which, s ? s->id : 0, known[i], written[offset + i],
             value[i], data[offset + i]);
    free(value);
    free(known);
  }
  uint8_t x, y;
  EXPECT(
      !trace_contents(t, &(TraceSlice){p->buffers[0].id, 0, p->buffers[0].size, 1}, &x, &y, &err),
      "outside");
  EXPECT(!trace_contents(t, &(TraceSlice){1, 0, 0, 1}, &x, &y, &err), "no allocation");
}

// The step that wrote each byte last, as pictures show it.
static void ask_last_writers(Program *p, TraceReader *t) {
  Error err;
  Rng rng = {seed};
  for (int k = 0; k < 12; k++) {
    Buffer *b = &p->buffers[k % BUFFERS];
    uint64_t offset = k < BUFFERS ? 0 : below(&rng, b->size),
             n = k < BUFFERS ? b->size : 1 + below(&rng, b->size - offset);
    uint32_t *step = mem_alloc(sizeof *step * n);
    uint8_t *known = mem_alloc(n);
    EXPECT(trace_last_writers(t, &(TraceSlice){b->id, 0, offset, n}, step, known, &err), "%s",
           err.text);
    for (uint64_t i = 0; i < n; i++) {
      uint32_t writer = b->writer[offset + i], want = 0;
      if (writer & HOST) want = p->steps.data[writer & ~HOST].number;
      else if (writer) {
        for (uint32_t s = 0; s < p->steps.len && !want; s++)
          if (p->steps.data[s].id == p->ops.data[writer - 1].step) want = p->steps.data[s].number;
      }
      EXPECT(step[i] == want, "byte %llu of buffer %d: step %u, not %u",
             (unsigned long long)(offset + i), k % BUFFERS, step[i], want);
    }
    free(step);
    free(known);
  }
}

// The recorded operation that is the model's, found through its thread.
static bool find_op(Program *p, TraceReader *t, uint32_t index, TraceOp *out) {
  const MOp *m = &p->ops.data[index];
  uint64_t before = 0;
  for (uint32_t i = 0; i < index; i++)
    before += p->ops.data[i].launch == m->launch && p->ops.data[i].thread == m->thread;
  TraceOps o;
  Error err;
  if (!trace_of_thread(t, m->launch, m->thread, (TracePage){before, 1}, &o, &err) || o.n != 1)
    return false;
  *out = o.list[0];
  trace_ops_free(&o);
  return same_op(out, m);
}

// Who really wrote it is always among the writers; where they are certain nobody else is.
static bool is_writer(Program *p, TraceReader *t, const TraceOp *a, uint32_t writer) {
  if (writer & HOST) return !a->launch && a->step == p->steps.data[writer & ~HOST].id;
  TraceOp op;
  return find_op(p, t, writer - 1, &op) && op.record == a->record && op.lane == a->lane;
}

static uint64_t certain, asked;
static void ask_writers(Program *p, TraceReader *t) {
  Error err;
  for (int k = 0; k < 60 && p->ops.len; k++) {
    uint32_t index = (uint32_t)below(&p->rng, p->ops.len);
    const MOp *m = &p->ops.data[index];
    TraceOp op;
    if (!find_op(p, t, index, &op)) {
      EXPECT(false, "operation %u is not there", index);
      continue;
    }
    TraceWriters w;
    bool ok = trace_writers(t, op.record, op.lane, false, &w, &err);
    if (m->kind != TRACE_LOAD && m->kind != TRACE_ATOMIC) {
      EXPECT(!ok, "it reads nothing");
      continue;
    }
    EXPECT(ok, "%s", err.text);
    bool any = false;
    asked++;
    certain += !w.ambiguous;
    for (uint32_t b = 0; b < m->bytes; b++) {
      if (!m->saw[b]) continue;
      any = true;
      bool there = false;
      for (uint32_t i = 0; i < w.ops.n && !there; i++)
        there = is_writer(p, t, &w.ops.list[i], m->saw[b]);
      EXPECT(there, "the writer of byte %u of %llx is not among %u (%s)", b,
             (unsigned long long)m->address, w.ops.n, w.why);
    }
    EXPECT(w.ambiguous || w.never_written == !any, "never written: %d, %d", w.never_written, any);
    for (uint32_t i = 0; i < w.ops.n && !w.ambiguous; i++) {
      bool there = false;
      for (uint32_t b = 0; b < m->bytes && !there; b++)
        there = m->saw[b] && is_writer(p, t, &w.ops.list[i], m->saw[b]);
      EXPECT(there, "a writer that it is not: %s", w.why);
    }
    trace_ops_free(&w.ops);
  }
}

static void ask_readers(Program *p, TraceReader *t) {
  Error err;
  for (int k = 0; k < 15 && p->ops.len; k++) {
    uint32_t index = (uint32_t)below(&p->rng, p->ops.len);
    const MOp *m = &p->ops.data[index];
    if (m->kind != TRACE_STORE && m->kind != TRACE_ATOMIC) continue;
    TraceOp op;
    if (!find_op(p, t, index, &op)) continue;
    TraceOps o;
    bool ok = trace_readers(t, (TraceOpId){op.record, op.lane}, (TracePage){0, 100000}, false, &o,
                            &err);
    EXPECT(ok, "%s", err.text);
    for (uint32_t i = 0; ok && i < p->ops.len; i++) {
      bool saw = false;
      for (int b = 0; b < 16; b++) saw |= p->ops.data[i].saw[b] == index + 1;
      if (!saw) continue;
      bool there = false;
      TraceOp reader;
      if (!find_op(p, t, i, &reader)) continue;
      for (uint32_t j = 0; j < o.n && !there; j++)
        there = o.list[j].record == reader.record && o.list[j].lane == reader.lane;
      // some: very many touched it, and only those near it were looked at
      EXPECT(there || o.some, "who read %llx is not among %u", (unsigned long long)m->address, o.n);
    }
    if (ok) trace_ops_free(&o);
  }
}

static void ask_unwritten(Program *p, TraceReader *t) {
  Error err;
  for (int i = 0; i < BUFFERS; i++) {
    const Buffer *b = &p->buffers[i];
    TraceRanges r;
    bool ok = trace_unwritten(t, b->id, 0, 1000000, &r, &err);
    EXPECT(ok, "%s", err.text);
    uint64_t want = 0, got = 0;
    for (uint64_t k = 0; k < b->size; k++) want += !b->writer[k];
    for (uint32_t k = 0; ok && k < r.n; k++)
      for (uint64_t x = 0; x < r.list[k].bytes; x++) got += !b->writer[r.list[k].offset + x];
    EXPECT(want == got && r.bytes == got && !r.more, "%llu bytes, %llu", (unsigned long long)want,
           (unsigned long long)got);
    trace_ranges_free(&r);
  }
}

static uint64_t race_pairs;
static void ask_races(Program *p, TraceReader *t) {
  Error err;
  for (uint32_t n = 0; n < p->launches.len; n++) {
    const MLaunch *l = &p->launches.data[n];
    bool want[SITES][SITES] = {{false}};
    VEC(uint32_t) ops = {0};
    uint32_t *passed = mem_alloc(sizeof *passed * p->ops.len),
             *by_thread = mem_alloc(sizeof *by_thread * l->blocks * l->threads);
    for (uint32_t i = 0; i < p->ops.len; i++) {
      const MOp *m = &p->ops.data[i];
      if (m->launch != l->id) continue;
      passed[i] = by_thread[m->thread];
      if (m->kind == TRACE_SYNC) by_thread[m->thread]++;
      if (m->kind <= TRACE_ATOMIC) vec_push(&ops, i);
    }
    for (uint32_t i = 0; i < ops.len; i++)
      for (uint32_t k = i + 1; k < ops.len; k++) {
        const MOp *a = &p->ops.data[ops.data[i]], *b = &p->ops.data[ops.data[k]];
        if (!overlaps(a->address, a->bytes, b->address, b->bytes) || a->shared != b->shared ||
            (a->shared && a->block != b->block))
          continue;
        if ((a->kind == TRACE_LOAD && b->kind == TRACE_LOAD) ||
            (a->kind == TRACE_ATOMIC && b->kind == TRACE_ATOMIC))
          continue;
        if (a->warp == b->warp && (a->time != b->time || a->lane == b->lane)) continue;
        if (a->block == b->block && passed[ops.data[i]] != passed[ops.data[k]]) continue;
        want[MIN(a->site, b->site)][MAX(a->site, b->site)] = true;
      }
    TraceRaces r;
    bool ok = trace_races(t, l->id, &r, &err);
    EXPECT(ok, "%s", err.text);
    for (uint32_t i = 0; ok && i < r.n; i++) {
      uint32_t a = r.list[i].first.site - 1000, b = r.list[i].second.site - 1000;
      EXPECT(want[MIN(a, b)][MAX(a, b)], "sites %u and %u have no race", a, b);
      race_pairs++;
    }
    for (uint32_t a = 0; ok && a < SITES; a++)
      for (uint32_t b = a; b < SITES; b++) {
        bool got = false;
        for (uint32_t i = 0; i < r.n; i++)
          got |= MIN(r.list[i].first.site, r.list[i].second.site) == 1000 + a &&
                 MAX(r.list[i].first.site, r.list[i].second.site) == 1000 + b;
        EXPECT(got == want[a][b], "the race of sites %u and %u: %d %d", a, b, got, want[a][b]);
      }
    if (ok) trace_races_free(&r);
    free(passed);
    free(by_thread);
    vec_free(&ops);
  }
}

int main(int argc, char **argv) {
  uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1,
           count = argc > 2 ? strtoull(argv[2], NULL, 10) : 20;
  unsigned steps = argc > 3 ? (unsigned)atoi(argv[3]) : 12,
           rounds = argc > 4 ? (unsigned)atoi(argv[4]) : 300;
  for (seed = first; seed < first + count; seed++) {
    sqlite3 *db = program_database(":memory:");
    Error err = {{0}};
    TraceWriter *w = trace_writer_new(&(TraceLimits){.threads = 2}, &err);
    Program p;
    program_make(&p, seed, steps, rounds, db, w);
    bool saved = trace_save(w, db, true, &err);
    EXPECT(saved, "%s", err.text);
    EXPECT(!trace_stopped(w), "%s", trace_stopped(w));
    trace_writer_free(w);
    if (p.launches.len) {
      TraceReader *t = trace_open(db, &err);
      EXPECT(t, "%s", err.text);
      if (t) {
        EXPECT(trace_count(t) == p.ops.len, "%llu operations, %u",
               (unsigned long long)trace_count(t), p.ops.len);
        ask_threads(&p, t);
        ask_elements(&p, t);
        ask_contents(&p, t);
        ask_last_writers(&p, t);
        ask_writers(&p, t);
        ask_readers(&p, t);
        ask_unwritten(&p, t);
        if (rounds <= 1000) ask_races(&p, t);
        trace_close(t);
      }
    }
    program_free(&p);
    sqlite3_close(db);
  }
  printf("%llu of %llu writers are certain, %llu races\n", (unsigned long long)certain,
         (unsigned long long)asked, (unsigned long long)race_pairs);
  printf(failures ? "%llu failures\n" : "all answers are right\n", (unsigned long long)failures);
  return failures != 0;
}
