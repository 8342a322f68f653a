// A recording reaches its limit while a thread takes records, and mostly waits for room: the thread
// takes whole records until it hears that nothing more is wanted, never the empty room behind them.
// A ring that were read past its records would stay full for ever.
#include "program.h"

#include <pthread.h>

enum { RECORDS = 500, ROOM = 1 << 16 };

typedef struct Taker {
  TraceWriter *w;
  Out out;      // with ROOM bytes of zeros behind the records
  size_t last;  // what trace_take returned last
} Taker;

static void *take(void *user) {
  Taker *t = user;
  do t->last = trace_take(t->w, PROCESS, 0, t->out.data, t->out.len + ROOM, false);
  while (t->last == t->out.len);
  return NULL;
}

static void fill(Out *out) {
  Rng rng = {1};
  for (uint32_t i = 0; i < RECORDS; i++) {
    WarpOp op = {.site = 1,
                 .launch = 1,
                 .lanes = UINT32_MAX,
                 .time = i + 1,
                 .has_address = 1,
                 .planes = 1,
                 .values = 1};
    for (uint32_t lane = 0; lane < 32; lane++) {
      op.address[lane] = 0x10000 + below(&rng, 1 << 20) * 4;
      op.value[0][lane] = below(&rng, 1 << 30);
    }
    record_write(out, &op);
  }
  out->data = mem_realloc(out->data, out->len + ROOM);
  memset(out->data + out->len, 0, ROOM);
}

int main(void) {
  Error err = {{0}};
  sqlite3 *db = program_database(":memory:");
  Taker t = {.w = trace_writer_new(&(TraceLimits){.memory = 1 << 20, .disk = 4 << 20}, &err)};
  CHECK(t.w);
  fill(&t.out);
  pthread_t thread;
  CHECK(!pthread_create(&thread, NULL, take, &t));
  while (!trace_stopped(t.w)) CHECK(trace_save(t.w, db, false, &err));
  pthread_join(thread, NULL);
  if (t.last != SIZE_MAX) printf("took %zu bytes of %zu\n", t.last, t.out.len);
  CHECK(trace_save(t.w, db, true, &err));
  trace_writer_free(t.w);
  sqlite3_close(db);
  free(t.out.data);
  return t.last != SIZE_MAX;
}
