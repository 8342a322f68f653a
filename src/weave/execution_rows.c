// Turns the counters of one module into rows, one for each kernel and source line.
#include "weave/execution_counts.h"
#include "weave/execution_rows.h"

uint64_t count_read(const CountTable *t, const uint64_t *counters, uint32_t i) {
  uint64_t sum = 0;
  for (uint32_t r = 0; i != COUNT_NONE && r < t->replicas; r++)
    sum += counters[i + (uint64_t)r * t->ncounters];
  return sum;
}

uint64_t count_block_threads(const CountTable *t, const uint64_t *counters, uint32_t block) {
  if (block == COUNT_NONE) return 0;
  return count_read(t, counters, block + BLOCK_THREADS) +
         32 * count_read(t, counters, block + BLOCK_FULL);
}

uint64_t count_block_warps(const CountTable *t, const uint64_t *counters, uint32_t block) {
  if (block == COUNT_NONE) return 0;
  return count_read(t, counters, block + BLOCK_WARPS) + count_read(t, counters, block + BLOCK_FULL);
}

static uint64_t item_threads(const CountTable *t, const uint64_t *counters, const CountItem *i) {
  if (i->guard != COUNT_NONE) return count_read(t, counters, i->guard);
  return count_block_threads(t, counters, i->block) - count_block_threads(t, counters, i->but_not);
}

static int compare_text(const char *a, const char *b) {
  return !a || !b ? (a != NULL) - (b != NULL) : strcmp(a, b);
}

static int by_place(const void *x, const void *y) {
  const CountItem *a = *(const CountItem *const *)x, *b = *(const CountItem *const *)y;
  int order = compare_text(a->kernel, b->kernel);
  if (!order) order = compare_text(a->file, b->file);
  return order ? order : (a->line > b->line) - (a->line < b->line);
}

static void add_item(CountRow *row, const CountItem *item, uint64_t threads, uint64_t warps) {
  row->total += threads * item->n;
  row->warp_total += warps * item->n;
  for (unsigned c = 0; c < COUNT_CLASSES; c++) row->instructions[c] += threads * item->by_class[c];
  row->loads += threads * item->loads;
  row->stores += threads * item->stores;
  row->atomics += threads * item->atomics;
  row->load_bytes += threads * item->load_bytes;
  row->store_bytes += threads * item->store_bytes;
  row->atomic_bytes += threads * item->atomic_bytes;
}

static bool ran(const CountTable *t, const uint64_t *counters, const CountItem *const *items,
                uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (count_block_warps(t, counters, items[i]->warps)) return true;
  return false;
}

// The rows of one kernel.
static void kernel_rows(const CountTable *t, const uint64_t *counters,
                        const CountItem *const *items, uint32_t n,
                        void (*each)(void *user, const CountRow *), void *user) {
  CountRow row = {0};
  for (uint32_t i = 0; i < n; i++) {
    const CountItem *item = items[i];
    if (i && by_place(&items[i - 1], &items[i])) {
      each(user, &row);
      row = (CountRow){0};
    }
    row.kernel = item->kernel;
    row.file = item->file;
    row.line = item->line;
    add_item(&row, item, item_threads(t, counters, item),
             count_block_warps(t, counters, item->warps));
  }
  each(user, &row);
}

// Rows come in the order kernel, file, line. A kernel that ran has a row for every line, executed
// or not; one that did not has none.
void count_rows(const Woven *r, const uint64_t *counters,
                void (*each)(void *user, const CountRow *), void *user) {
  const CountTable *t = r->counts;
  if (!t || !t->nitems) return;
  const CountItem **items = mem_alloc(sizeof *items * t->nitems);
  for (uint32_t i = 0; i < t->nitems; i++) items[i] = &t->items[i];
  qsort(items, t->nitems, sizeof *items, by_place);
  for (uint32_t first = 0, end; first < t->nitems; first = end) {
    for (end = first + 1;
         end < t->nitems && !compare_text(items[first]->kernel, items[end]->kernel);)
      end++;
    if (ran(t, counters, items + first, end - first))
      kernel_rows(t, counters, items + first, end - first, each, user);
  }
  free(items);
}
