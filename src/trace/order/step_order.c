// Finds unordered steps (docs/run-file.md, "Order of steps"): for each step those of the last
// STEPS_NEAR before it that may run at the same time.
#include "trace/reader.h"

enum { STEPS_NEAR = 4096, WORDS = STEPS_NEAR / 64 };
// bit i: the step whose number is smaller by i + 1
typedef struct Near {
  uint32_t process, number;
  uint64_t before[WORDS], joins[WORDS];
} Near;
typedef enum { ROW_AFTER, ROW_JOINS, ROW_BACKWARDS } RowKind;
typedef struct Row {
  uint32_t process, step, after;
  RowKind kind;
} Row;
typedef VEC(Row) Rows;

static int by_step(const void *p, const void *q) {
  const Row *a = p, *b = q;
  if (a->process != b->process) return a->process < b->process ? -1 : 1;
  return a->step < b->step ? -1 : a->step > b->step;
}

static bool load_rows(TraceReader *t, Rows *out, Error *err) {
  sqlite3_stmt *s = reader_prepare(t, "SELECT process, step, after, joins FROM step_after", err);
  int code;
  if (!s) return false;
  while ((code = sqlite3_step(s)) == SQLITE_ROW) {
    Row r = {(uint32_t)sqlite3_column_int64(s, 0), (uint32_t)sqlite3_column_int64(s, 1),
             (uint32_t)sqlite3_column_int64(s, 2),
             sqlite3_column_int64(s, 3) ? ROW_JOINS : ROW_AFTER};
    vec_push(out, r);
    // steps of two host threads: ordered, one way or the other
    if (r.after > r.step) vec_push(out, ((Row){r.process, r.after, r.step, ROW_BACKWARDS}));
  }
  sqlite3_finalize(s);
  if (out->len) qsort(out->data, out->len, sizeof(Row), by_step);
  return code == SQLITE_DONE || sql_fail(t->db, err, "the order of steps cannot be read");
}

static void set_bit(uint64_t *bits, uint32_t distance) {
  bits[(distance - 1) / 64] |= 1ull << (distance - 1) % 64;
}
static bool has_bit(const uint64_t *bits, uint32_t distance) {
  return bits[(distance - 1) / 64] >> (distance - 1) % 64 & 1;
}

static void add_shifted(uint64_t *to, const uint64_t *from, uint32_t by) {
  for (uint32_t i = by / 64; i < WORDS; i++) {
    to[i] |= from[i - by / 64] << by % 64;
    if (by % 64 && i > by / 64) to[i] |= from[i - by / 64 - 1] >> (64 - by % 64);
  }
}

static const uint64_t everything[WORDS] = {[0 ... WORDS - 1] = UINT64_MAX};

// Finds the predecessors of a step, from its rows. Without any it comes after everything.
static void place(Near *near, uint32_t process, uint32_t number, const Row *rows, uint32_t n,
                  Near *out) {
  bool all = true;
  *out = (Near){.process = process, .number = number};
  for (uint32_t i = 0; i < n; i++) {
    if (rows[i].kind != ROW_BACKWARDS) all = false;
    if (!rows[i].after || rows[i].after >= number || number - rows[i].after >= STEPS_NEAR) continue;
    uint32_t distance = number - rows[i].after;
    const Near *p = &near[rows[i].after % STEPS_NEAR];
    bool known = p->process == process && p->number == rows[i].after;
    uint64_t *to = rows[i].kind == ROW_JOINS ? out->joins : out->before;
    set_bit(to, distance);
    add_shifted(to, known ? p->before : everything, distance);
    if (known) add_shifted(to, p->joins, distance);
  }
  for (uint32_t i = 0; i < n; i++) all |= rows[i].after > number;
  if (all) memcpy(out->before, everything, sizeof everything);
}

typedef struct Order {
  uint32_t step, process, number;
} Order;  // step: index
static int by_number(const void *p, const void *q) {
  const Order *a = p, *b = q;
  if (a->process != b->process) return a->process < b->process ? -1 : 1;
  return a->number < b->number ? -1 : a->number > b->number;
}

typedef struct Orders {
  Order *list;
  uint32_t n;
} Orders;
static Orders all_steps(const TraceReader *t) {
  Orders o = {.list = mem_alloc(sizeof *o.list * MAX(t->nsteps, 1u))};
  for (uint32_t i = 0; i < t->nsteps; i++)
    if (t->steps[i].number) o.list[o.n++] = (Order){i, t->steps[i].process, t->steps[i].number};
  if (o.n) qsort(o.list, o.n, sizeof *o.list, by_number);
  return o;
}

// Finds the steps before list[at] that are unordered with it, the nearest first.
static uint32_t find_beside(const Order *list, uint32_t at, const Near *near, uint32_t *out) {
  uint32_t n = 0;
  for (uint32_t k = at; k-- && list[k].process == list[at].process;) {
    uint32_t distance = list[at].number - list[k].number;
    if (distance > STEPS_NEAR) break;
    if (distance && !has_bit(near->before, distance)) out[n++] = list[k].step;
  }
  return n;
}

bool trace_knows_order(sqlite3 *db) {
  sqlite3_stmt *s = NULL;
  bool yes = sqlite3_prepare_v2(
                 db, "SELECT 1 FROM sqlite_master WHERE type='table' AND name='step_after'", -1, &s,
                 NULL) == SQLITE_OK &&
             sqlite3_step(s) == SQLITE_ROW;
  sqlite3_finalize(s);
  return yes;
}

const char trace_order_unknown[] =
    "this file was made by an older Warpgrind, which did not keep what orders launches and copies "
    "of different streams: only races within a launch are found";

// A step that was noted and then refused by the driver has rows but did not happen.
static bool visit_all(TraceReader *t, const Rows *rows, const Orders *steps, BesideVisitor *f,
                      void *user, Error *err) {
  const Order *list = steps->list;
  uint32_t n = steps->n;
  Near *near = mem_alloc(sizeof *near * STEPS_NEAR);
  uint32_t *beside = mem_alloc(sizeof *beside * STEPS_NEAR);
  bool ok = true;
  for (uint32_t row = 0, i = 0; ok && row < rows->len;) {
    uint32_t first = row, process = rows->data[row].process, number = rows->data[row].step;
    while (row < rows->len && rows->data[row].process == process && rows->data[row].step == number)
      row++;
    Near *own = &near[number % STEPS_NEAR], now;
    place(near, process, number, rows->data + first, row - first, &now);
    *own = now;
    while (i < n && by_number(&list[i], &(Order){0, process, number}) < 0) i++;
    uint32_t found = i < n && list[i].process == process && list[i].number == number
                         ? find_beside(list, i, own, beside)
                         : 0;
    if (found) ok = f(t, list[i].step, beside, found, user, err);
  }
  free(near);
  free(beside);
  return ok;
}

bool reader_steps_beside(TraceReader *t, BesideVisitor *f, void *user, Error *err) {
  Rows rows = {0};
  if (!trace_knows_order(t->db)) return true;
  bool ok = load_rows(t, &rows, err);
  Orders steps = all_steps(t);
  ok = ok && visit_all(t, &rows, &steps, f, user, err);
  free(steps.list);
  vec_free(&rows);
  return ok;
}
