// Every question about recorded operations, against the plain memory of a made-up program.
#include "program.h"

static uint64_t failures;
static uint64_t seed;
#define EXPECT(cond, ...) \
  do { \
    if (!(cond) && failures++ < 20) { printf("seed %llu, line %d: %s: ", (unsigned long long)seed, __LINE__, #cond); printf(__VA_ARGS__); printf("\n"); } \
  } while (0)

static bool same_op(const TraceOp *a, const MOp *m) {
  bool recorded = m->values > 0;
  return a->kind == (TraceKind)m->kind && a->step == m->step && a->launch == m->launch && a->thread == m->thread && a->lane == m->lane && a->site == 1000 + m->site && a->bytes == m->bytes &&
         a->has_address == (m->kind <= TRACE_ATOMIC) && a->address == m->address && a->space == m->shared && (!recorded || (a->value_known && memcmp(a->value, m->value, 16) == 0)) &&
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
    bool ok = trace_of_thread(t, l->id, thread, skip, most, &o, &err);
    EXPECT(ok, "%s", err.text);
    uint64_t left = want.len > skip ? want.len - skip : 0;
    EXPECT(o.n == MIN(left, most) && o.more == (left > most), "%u of %u", o.n, want.len);
    EXPECT(o.more || (o.total_known && o.total == want.len), "total %llu, %u", (unsigned long long)o.total, want.len);
    for (uint32_t i = 0; i < o.n && i < left; i++) {
      const MOp *m = &p->ops.data[want.data[skip + i]];
      EXPECT(same_op(&o.list[i], m), "operation %u of thread %llu of launch %u: site %u, step %u %u address %llx %llx", i, (unsigned long long)thread, l->id, m->site, o.list[i].step, m->step,
             (unsigned long long)o.list[i].address, (unsigned long long)m->address);
      TraceOp one;
      EXPECT(trace_one(t, o.list[i].record, o.list[i].lane, &one, &err) && memcmp(&one, &o.list[i], sizeof one) == 0, "record %llu", (unsigned long long)o.list[i].record);
      EXPECT(i == 0 || o.list[i].record > o.list[i - 1].record, "order");
    }
    trace_ops_free(&o);
    vec_free(&want);
  }
  TraceOps o;
  EXPECT(!trace_of_thread(t, 999999, 0, 0, 10, &o, &err), "an unknown launch");
}

static bool overlaps(uint64_t a, uint64_t n, uint64_t b, uint64_t m) { return a < b + m && b < a + n; }

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
      want += m->kind <= TRACE_ATOMIC && !m->shared && overlaps(m->address, m->bytes, address, bytes);
    }
    for (uint32_t i = 0; i < p->steps.len; i++) {
      const MStep *s = &p->steps.data[i];
      if (s->launch) continue;
      want += overlaps(s->destination, s->width, address, bytes);
      want += s->kind != 3 && overlaps(s->source, s->width, address, bytes);
    }
    TraceOps o;
    bool ok = trace_of_element(t, b->id, address, bytes, 0, 1000000, &o, &err);
    EXPECT(ok, "%s", err.text);
    EXPECT(o.n == want && !o.more, "element %llx + %u: %u of %llu", (unsigned long long)address, bytes, o.n, (unsigned long long)want);
    for (uint32_t i = 0; i < o.n; i++) {
      const TraceOp *a = &o.list[i];
      EXPECT(i == 0 || a->record > a[-1].record || (a->record == a[-1].record && a->lane > a[-1].lane), "order");
      if (!a->launch) {
        const MStep *s = NULL;
        for (uint32_t j = 0; j < p->steps.len; j++)
          if (p->steps.data[j].id == a->step) s = &p->steps.data[j];
        uint64_t n = MIN(a->bytes, 16u);
        bool known = true;
        int which = (int)(b - p->buffers);
        for (uint64_t x = 0; s && x < n; x++) known &= s->known[which][a->address - b->base + x];
        EXPECT(s && a->value_known == known && (!known || memcmp(a->value, s->after[which] + (a->address - b->base), n) == 0), "a copy's value");
        continue;
      }
      EXPECT(overlaps(a->address, a->bytes, address, bytes), "elsewhere");
      bool found = false;
      for (uint32_t j = 0; j < p->ops.len && !found; j++) {
        const MOp *m = &p->ops.data[j];
        if (m->launch == a->launch && m->thread == a->thread && !u64map_get(&seen, j + 1) && same_op(a, m)) u64map_put(&seen, j + 1, p), found = true;
      }
      EXPECT(found, "an operation nobody did");
    }
    trace_ops_free(&o);
    u64map_free(&seen);
    // threads that touched it in one launch
    if (!p->launches.len) continue;
    MLaunch *l = &p->launches.data[below(&p->rng, p->launches.len)];
    U64Map threads = {0};
    for (uint32_t i = 0; i < p->ops.len; i++) {
      const MOp *m = &p->ops.data[i];
      if (m->launch == l->id && m->kind <= TRACE_ATOMIC && !m->shared && overlaps(m->address, m->bytes, address, bytes)) u64map_put(&threads, m->thread, p);
    }
    EXPECT(trace_touching(t, l->id, address, bytes, 0, 1000000, &o, &err) && o.n == threads.len, "%u threads of %u", o.n, threads.len);
    trace_ops_free(&o);
    u64map_free(&threads);
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
    EXPECT(trace_contents(t, b->id, s ? s->id : 0, offset, n, value, known, &err), "%s", err.text);
    const uint8_t *data = s ? s->after[which] : b->data, *written = s ? s->known[which] : b->known;
    for (uint64_t i = 0; i < n; i++)
      EXPECT(known[i] == written[offset + i] && (!known[i] || value[i] == data[offset + i]), "byte %llu of buffer %d behind step %u: %u %u, %u %u", (unsigned long long)(offset + i), which,
             s ? s->id : 0, known[i], written[offset + i], value[i], data[offset + i]);
    free(value);
    free(known);
  }
  uint8_t x, y;
  EXPECT(!trace_contents(t, p->buffers[0].id, 0, p->buffers[0].size, 1, &x, &y, &err), "outside");
  EXPECT(!trace_contents(t, 1, 0, 0, 1, &x, &y, &err), "no allocation");
}

int main(int argc, char **argv) {
  uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 2 ? strtoull(argv[2], NULL, 10) : 20;
  unsigned steps = argc > 3 ? (unsigned)atoi(argv[3]) : 12, rounds = argc > 4 ? (unsigned)atoi(argv[4]) : 300;
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
        EXPECT(trace_count(t) == p.ops.len, "%llu operations, %u", (unsigned long long)trace_count(t), p.ops.len);
        ask_threads(&p, t);
        ask_elements(&p, t);
        ask_contents(&p, t);
        trace_close(t);
      }
    }
    program_free(&p);
    sqlite3_close(db);
  }
  printf(failures ? "%llu failures\n" : "all answers are right\n", (unsigned long long)failures);
  return failures != 0;
}
