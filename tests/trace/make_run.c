// make_run SEED FILE VERSION: the run file of a made-up program, and what questions about it must
// find: name, question and answer, separated by tabs.
#include "program.h"

static bool overlaps(uint64_t a, uint64_t n, uint64_t b, uint64_t m) {
  return a < b + m && b < a + n;
}

static void count_accesses(const Program *p, const MLaunch *l, const Buffer *b) {
  printf("all\tselect count(*) from access\t%u\n", p->ops.len);
  uint64_t in_launch = 0, at = 0, thread = 0, ranged = 0, stores = 0;
  for (uint32_t i = 0; i < p->ops.len; i++) {
    const MOp *m = &p->ops.data[i];
    in_launch += m->launch == l->id;
    thread += m->launch == l->id && m->thread == 5;
    at += m->kind <= TRACE_ATOMIC && !m->shared && m->address == b->base + 16;
    ranged += m->kind <= TRACE_ATOMIC && !m->shared && m->address >= b->base &&
              m->address < b->base + 64;
    stores += m->kind == TRACE_STORE;
  }
  printf("launch\tselect count(*) from access where launch_id = %u\t%llu\n", l->id,
         (unsigned long long)in_launch);
  printf("thread\tselect count(*) from access where launch_id = %u and thread = 5\t%llu\n", l->id,
         (unsigned long long)thread);
  printf("address\tselect count(*) from access where address = %llu\t%llu\n",
         (unsigned long long)(b->base + 16), (unsigned long long)at);
  printf("range\tselect count(*) from access where address >= %llu and address < %llu\t%llu\n",
         (unsigned long long)b->base, (unsigned long long)(b->base + 64),
         (unsigned long long)ranged);
  printf("between\tselect count(*) from access where address between %llu and %llu\t%llu\n",
         (unsigned long long)b->base, (unsigned long long)(b->base + 63),
         (unsigned long long)ranged);
  printf("kind\tselect count(*) from access where kind = 'store'\t%llu\n",
         (unsigned long long)stores);
  printf("threads\tselect count(*) from thread where launch_id = %u\t%llu\n", l->id,
         (unsigned long long)(l->blocks * l->threads));
  printf("one_thread\tselect block_x, thread_x, warp, lane from thread where launch_id = %u and "
         "thread = %u\t%u|%u|%u|%u\n",
         l->id, l->threads - 1, 0, l->threads - 1, (l->threads - 1) / 32, (l->threads - 1) % 32);
}

static void ask_memory(const Buffer *b) {
  uint64_t unwritten = 0, sum = 0;
  for (uint64_t i = 0; i < b->size; i++) unwritten += !b->writer[i];
  for (uint64_t i = 0; i < 64; i++) sum += b->known[i] ? b->data[i] : 0;
  printf("unwritten\tselect total(bytes) from unwritten(%u)\t%llu.0\n", b->id,
         (unsigned long long)unwritten);
  printf("contents\tselect sum(value) from contents(%u, 0, 0, 64)\t%llu\n", b->id,
         (unsigned long long)sum);
}

// A value and its line.
static void ask_value(const Program *p, const MLaunch *l) {
  for (uint32_t i = 0; i < p->ops.len; i++) {
    const MOp *m = &p->ops.data[i];
    if (m->kind != TRACE_STORE || m->bytes != 4 || m->shared || m->launch != l->id) continue;
    uint32_t value, order = 0;
    memcpy(&value, m->value, 4);
    for (uint32_t k = 0; k < i; k++)
      order += p->ops.data[k].launch == m->launch && p->ops.data[k].thread == m->thread;
    printf("value\tselect value, integer, file, line, site from access where launch_id = %u and "
           "thread = %llu limit 1 offset %u\t0x%08x|%d|some.cu|%u|%u\n",
           l->id, (unsigned long long)m->thread, order, value, (int32_t)value, 10 + m->site,
           1000 + m->site);
    return;
  }
}

// Who wrote what was read.
static void ask_writer(const Program *p) {
  for (uint32_t i = 0; i < p->ops.len; i++) {
    const MOp *m = &p->ops.data[i];
    uint32_t order = 0;
    if (m->kind != TRACE_LOAD || m->bytes != 4 || m->shared || !m->saw[0] || m->saw[0] & HOST)
      continue;
    const MOp *by = &p->ops.data[m->saw[0] - 1];
    if (!overlaps(by->address, by->bytes, m->address, 1)) continue;
    for (uint32_t k = 0; k < i; k++)
      order += p->ops.data[k].launch == m->launch && p->ops.data[k].thread == m->thread;
    printf("writer\tselect count(*) > 0 from (select record, lane from access where launch_id = %u "
           "and thread = %llu limit 1 offset %u) a, writer(a.record, a.lane) w where w.thread = "
           "%llu and w.launch_id = %u\t1\n",
           m->launch, (unsigned long long)m->thread, order, (unsigned long long)by->thread,
           by->launch);
    printf("reader\tselect count(*) > 0 from (select w.record, w.lane from (select record, lane "
           "from access where launch_id = %u and thread = %llu limit 1 offset %u) a, "
           "writer(a.record, "
           "a.lane) w "
           "where w.thread = %llu and w.launch_id = %u) x, reader(x.record, x.lane) r where "
           "r.thread "
           "= %llu\t1\n",
           m->launch, (unsigned long long)m->thread, order, (unsigned long long)by->thread,
           by->launch, (unsigned long long)m->thread);
    return;
  }
}

int main(int argc, char **argv) {
  CHECK(argc == 4);
  Error err = {{0}};
  sqlite3 *db = program_database(argv[2]);
  char pragma[100];
  snprintf(pragma, sizeof pragma, "PRAGMA application_id=0x57475246; PRAGMA user_version=%s",
           argv[3]);
  CHECK(sqlite3_exec(db, pragma, NULL, NULL, NULL) == SQLITE_OK);
  TraceWriter *w = trace_writer_new(NULL, &err);
  Program p;
  program_make(&p, strtoull(argv[1], NULL, 10), 10, 300, db, w);
  CHECK(trace_save(w, db, true, &err));
  trace_writer_free(w);
  CHECK(sqlite3_exec(db, "INSERT INTO place SELECT id, 0, 'some.cu', 'k', 10 + number, 1 FROM site",
                     NULL, NULL, NULL) == SQLITE_OK);
  CHECK(p.launches.len);
  const MLaunch *l = &p.launches.data[0];
  const Buffer *b = &p.buffers[1];
  count_accesses(&p, l, b);
  ask_memory(b);
  ask_value(&p, l);
  ask_writer(&p);
  printf("race\tselect count(*) > 0 from race where launch_id = %u\t1\n", l->id);
  program_free(&p);
  sqlite3_close(db);
  return 0;
}
