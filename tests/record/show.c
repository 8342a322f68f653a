// show FILE [LAUNCH [FIRST LAST]]: what a run file holds of each thread, one line for each
// operation, in words that do not depend on addresses:
//   launch thread kind line memory+offset = value was what an atomic found; ~ where the value was
//   not recorded but follows
// A buffer is named by the number of its allocation. FILE alone: all launches, all threads.
#include <stdio.h>

#include "trace/trace.h"

typedef struct Buffer { uint64_t base, size; } Buffer;
static Buffer *buffers;
static uint32_t nbuffers;
static sqlite3 *db;

static sqlite3_stmt *ask(const char *sql) {
  sqlite3_stmt *s;
  if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) {
    fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
    exit(1);
  }
  return s;
}

static void read_buffers(void) {
  sqlite3_stmt *s = ask(
      "SELECT base, size FROM allocation WHERE kind NOT IN ('pinned', 'registered') ORDER BY id");
  while (sqlite3_step(s) == SQLITE_ROW) {
    buffers = realloc(buffers, sizeof *buffers * (nbuffers + 1));
    buffers[nbuffers++] = (Buffer){(uint64_t)sqlite3_column_int64(s, 0),
                                   (uint64_t)sqlite3_column_int64(s, 1)};
  }
  sqlite3_finalize(s);
}

static void print_place(const TraceOp *o) {
  static const char *const spaces[] = {"global", "shared", "local"};
  if (!o->has_address) return;
  for (uint32_t i = 0; i < nbuffers && o->space == 0; i++)
    if (o->address - buffers[i].base < buffers[i].size) {
      printf(" buffer%u+%llu", i, (unsigned long long)(o->address - buffers[i].base));
      return;
    }
  // Where shared memory begins is the device's own affair.
  if (o->space == 1) printf(" shared+%llu", (unsigned long long)(o->address & 0xffffff) - 1024);
  else printf(" %s", spaces[o->space]);
}

// Pointers differ from device to device.
static void print_bytes(const uint8_t *bytes, uint32_t n) {
  uint64_t pointer = 0;
  if (n == 8) memcpy(&pointer, bytes, 8);
  for (uint32_t i = 0; i < nbuffers && n == 8; i++)
    if (pointer - buffers[i].base < buffers[i].size) {
      printf("buffer%u+%llu", i, (unsigned long long)(pointer - buffers[i].base));
      return;
    }
  for (uint32_t i = n; i > 0; i--) printf("%02x", bytes[i - 1]);
}

static void print_op(const TraceOp *o, int launch, int line) {
  static const char *const kinds[] = {"load", "store", "atomic", "sync", "value", "copy", "set"};
  printf("%d %llu %s %d", launch, (unsigned long long)o->thread, kinds[o->kind], line);
  print_place(o);
  if (o->value_known) {
    printf(o->from_replay ? " ~ " : " = ");
    print_bytes(o->value, o->bytes);
  }
  if (o->old_known) {
    printf(" was ");
    print_bytes(o->old, o->bytes);
  }
  printf("\n");
}

int main(int argc, char **argv) {
  Error err = {{0}};
  if (argc < 2 || sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) return 1;
  TraceReader *t = trace_open(db, &err);
  if (!t) {
    fprintf(stderr, "%s\n", err.text);
    return 1;
  }
  read_buffers();
  sqlite3_stmt *launches = ask("SELECT id, number, grid_x * grid_y * grid_z * block_x * block_y * "
                               "block_z FROM launch ORDER BY number");
  sqlite3_stmt *lines = ask("SELECT line FROM place WHERE site = ? AND depth = 0");
  while (sqlite3_step(launches) == SQLITE_ROW) {
    int number = sqlite3_column_int(launches, 1);
    if (argc > 2 && number != atoi(argv[2])) continue;
    uint64_t first = argc > 4 ? strtoull(argv[3], NULL, 10) : 0,
             last = argc > 4 ? strtoull(argv[4], NULL, 10)
                             : (uint64_t)sqlite3_column_int64(launches, 2) - 1;
    for (uint64_t thread = first; thread <= last; thread++) {
      TraceOps ops = {0};
      if (!trace_of_thread(t, (uint32_t)sqlite3_column_int(launches, 0), thread,
                           (TracePage){0, 100000}, &ops, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
      }
      for (uint32_t i = 0; i < ops.n; i++) {
        sqlite3_reset(lines);
        sqlite3_bind_int64(lines, 1, ops.list[i].site);
        int line = sqlite3_step(lines) == SQLITE_ROW ? sqlite3_column_int(lines, 0) : 0;
        print_op(&ops.list[i], number, line);
      }
      trace_ops_free(&ops);
    }
  }
  sqlite3_finalize(launches);
  sqlite3_finalize(lines);
  trace_close(t);
  sqlite3_close(db);
  free(buffers);
  return 0;
}
